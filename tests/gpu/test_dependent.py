# SPDX-License-Identifier: Apache-2.0
"""Dependent launches compute what launches one behind another do, with other arguments from call to
call. `gpu-test` submits them each way.
"""

import dependent_kernels as kernels
import pytest
import torch

pytestmark = pytest.mark.skipif(
    torch.cuda.get_device_capability() < (9, 0), reason="dependent launches need sm_90"
)


def numbers(n):
    return torch.randn(n, device="cuda"), torch.rand(n, device="cuda")


@pytest.mark.parametrize("name", ["dependent", "behind", "mixed"])
@pytest.mark.parametrize("n", [1, 1000, 1 << 20])
def test_a_chain_computes_what_one_behind_another_does(name, n):
    call = getattr(kernels, name)
    pairs = [numbers(n) for _ in range(3)]
    for _ in range(8):
        for x, w in pairs:
            given, y = x.clone(), torch.empty_like(x)
            call(given, w, y)
            torch.testing.assert_close(given, kernels.expected(x, w), rtol=0, atol=0)
