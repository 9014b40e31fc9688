# SPDX-License-Identifier: Apache-2.0
"""PyTorch: with_torch.py rms_norm.so"""

import sys

import report
import torch
import tvm_ffi


def tensor(values, dtype=torch.float16):
    return torch.from_numpy(values).to("cuda", dtype)


def checksum(out):
    return report.checksum(out.view(torch.int16).cpu().numpy().view("uint16"))


def hold_up():
    """Gives the current stream work that takes long, so that what does not wait for it is found
    out.
    """
    busy = torch.eye(8192, device="cuda")
    for _ in range(3):
        busy = busy @ busy


def normed(module, dtype, rows, d, *eps):
    x, w = report.x(rows, d), report.w(d)
    out = torch.empty(rows, d, dtype=dtype, device="cuda")
    module.rms(tensor(x, dtype), tensor(w, dtype), out, *eps)  # on PyTorch's current stream
    report.expect_close(str(dtype).removeprefix("torch."), out.double().cpu(), x, w, *eps)
    return checksum(out)


def main():
    module = tvm_ffi.load_module(sys.argv[1])
    report.show("loaded ahead", report.outcome(module.kernpack_preload_rms_norm, 0))
    report.show("float16", normed(module, torch.float16, 4, 136))
    report.show("bfloat16", normed(module, torch.bfloat16, 3, 4104, 0.5))
    odd = tensor(report.x(4, 100))
    report.show("refused", report.outcome(module.rms, odd, tensor(report.w(100)), odd))

    w, inputs = tensor(report.w(1024)), [tensor(report.x(8, 1024, shift)) for shift in (11, 22, 33)]
    x = torch.zeros_like(inputs[0])
    out = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        hold_up()
        x.copy_(inputs[0])
        module.rms(x, w, out)  # tvm_ffi sees PyTorch tensors, and so sets this stream
        report.show("own stream", checksum(out))

    # Nothing is passed to a prepared call that tells tvm_ffi of a stream: it is told here.
    prepared = module.kernpack_prepare_rms(x, w, out)
    torch.cuda.synchronize()
    sums = []
    with tvm_ffi.use_torch_stream(torch.cuda.stream(torch.cuda.Stream())):
        for values in inputs[1:]:
            hold_up()
            x.copy_(values)
            prepared()
            sums.append(checksum(out))
    report.show("prepared", " ".join(sums))


main()
