# SPDX-License-Identifier: Apache-2.0
"""JAX, where calls are made inside of compiled programs, on XLA's stream: with_jax.py rms_norm.so"""

import os
import sys

os.environ.setdefault(
    "XLA_PYTHON_CLIENT_PREALLOCATE", "false"
)  # XLA takes most of a GPU's memory otherwise

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy
import report
import tvm_ffi


def checksum(out):
    return report.checksum(numpy.asarray(out).view("uint16"))


def rms(x, w, eps=1e-6):
    # jax_tvm_ffi makes XLA's stream the environment's for the call.
    return jax.ffi.ffi_call("rms", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, w, eps=eps)


@jax.jit
def after_long_work(identity, x, w):
    """A program whose work before the call takes long, so that a call that does not wait for it is
    found out.
    """
    for _ in range(3):
        identity = identity @ identity
    return rms(x * identity[0, 0].astype(x.dtype), w)


def normed(dtype, rows, d, **eps):
    x, w = report.x(rows, d), report.w(d)
    out = jax.jit(lambda x, w: rms(x, w, **eps))(jnp.asarray(x, dtype), jnp.asarray(w, dtype))
    report.expect_close(out.dtype.name, out, x, w, *eps.values())
    return checksum(out)


def main():
    module = tvm_ffi.load_module(sys.argv[1])
    report.show("loaded ahead", report.outcome(module.kernpack_preload_rms_norm, 0))
    jax_tvm_ffi.register_ffi_target(
        "rms", module.rms, ["args", "rets", "attrs.eps"], platform="gpu"
    )
    report.show("float16", normed("float16", 4, 136))
    report.show("bfloat16", normed("bfloat16", 3, 4104, eps=0.5))
    odd = jnp.asarray(report.x(4, 100), "float16")
    refused = report.outcome(
        lambda: rms(odd, jnp.asarray(report.w(100), "float16")).block_until_ready()
    )
    # XLA says `INTERNAL` for the kind, and its newer versions append the program's name.
    report.show(
        "refused",
        refused.removeprefix("JaxRuntimeError: INTERNAL: ").removesuffix(
            " [executable_name='jit_ffi_call']"
        ),
    )

    x, w = jnp.asarray(report.x(8, 1024, 11), "float16"), jnp.asarray(report.w(1024), "float16")
    report.show("own stream", checksum(after_long_work(jnp.eye(8192), x, w)))
    report.show(
        "prepared", "not expressible: XLA chooses the memory anew for every run of a program"
    )


main()
