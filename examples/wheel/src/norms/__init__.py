# SPDX-License-Identifier: Apache-2.0
"""Norms that check their arguments."""

from ._kernels import rms

__all__ = ["rms"]
