# SPDX-License-Identifier: Apache-2.0
"""Uses the wheel: the function, and the operator if kernpack is installed too."""

import norms
import torch

x, w = torch.randn(2, 3, 8), torch.randn(8)
expected = torch.nn.functional.rms_norm(x, (8,), w, 1e-6)
torch.testing.assert_close(norms.rms(x, w), expected)
try:
    norms.rms(x, w[:7])
except ValueError as error:
    print(error)

try:
    import kernpack
except ImportError:
    print("kernpack is not installed: no operator")
else:
    import norms.operators

    torch.testing.assert_close(norms.rms(w=w, x=x), expected)
    model = torch.compile(
        lambda x, w: norms.operators.rms(x, w) * 2, fullgraph=True, backend="aot_eager"
    )
    torch.testing.assert_close(model(x, w), expected * 2)
    torch.autograd.gradcheck(
        norms.operators.rms,
        (x.requires_grad_(), w.requires_grad_()),
        eps=1e-2,
        atol=1e-2,
        rtol=1e-2,
    )
    print(f"kernpack {kernpack.__version__}: torch.ops.norms.rms")
