# SPDX-License-Identifier: Apache-2.0
"""Values of kernels, where Python names them: in annotations. Not here: what they have, which the
stub beside this file tells editors.
"""

from __future__ import annotations

from typing import NoReturn


class Tensor:
    """A tensor in a kernel or a jit function: `x: kp.Tensor` says it of a parameter to editors and
    type checkers, and nothing to the compiler.
    """

    def __new__(cls) -> NoReturn:
        raise TypeError("`kp.Tensor` is an annotation: calls are given arrays of any framework")
