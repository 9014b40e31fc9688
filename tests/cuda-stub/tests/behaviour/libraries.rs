// SPDX-License-Identifier: Apache-2.0
//! Libraries, kernels, and images of each form.

use crate::stub::{DEVICE_0, DEVICE_1, Stub, got, handle};
use kernpack_cuda_stub::argument::{Code, LibraryOptions, Options, Out, Text};
use kernpack_cuda_stub::c_types::{CUcontext, CUdevice, CUfunction, CUkernel, CUlibrary, CUmodule};
use kernpack_cuda_stub::status::Status;
use std::ffi::CStr;
use std::path::Path;
use std::ptr::null_mut;

const TWO: &str =
    "KPSTUB sm_90a\nkernel add_one params 8 8 4 threads 256\nkernel other static 1024";

fn function(stub: &Stub, kernel: CUkernel) -> Result<CUfunction, Status> {
    handle(CUfunction, |out| stub.cuKernelGetFunction(out, kernel))
}

fn module(stub: &Stub, library: CUlibrary) -> Result<CUmodule, Status> {
    handle(CUmodule, |out| stub.cuLibraryGetModule(out, library))
}

/// Offset and size of each parameter.
fn params(stub: &Stub, kernel: CUkernel) -> Vec<(usize, usize)> {
    let param = |index| {
        let (mut offset, mut size) = (0, 0);
        let status = stub.cuKernelGetParamInfo(kernel, index, Out(&mut offset), Out(&mut size));
        match status {
            Status::SUCCESS => Some((offset, size)),
            status => {
                assert_eq!(status, Status::INVALID_VALUE);
                None
            }
        }
    };
    (0..).map_while(param).collect()
}

#[test]
fn kernels_are_found_by_name() {
    let (stub, _) = Stub::ready("");
    let library = stub.load(TWO).unwrap();
    let kernel = stub.kernel(library, "add_one").unwrap();
    assert_eq!(stub.kernel(library, "add_one"), Ok(kernel));
    assert_eq!(stub.kernel(library, "nothing"), Err(Status::NOT_FOUND));
    assert_eq!(params(&stub, kernel), [(0, 8), (8, 8), (16, 4)]);
    let mut name = Text(std::ptr::null());
    assert_eq!(stub.cuKernelGetName(Out(&mut name), kernel), Status::SUCCESS);
    // SAFETY: The stub wrote a text.
    assert_eq!(unsafe { CStr::from_ptr(name.0) }, c"add_one");
    let no_name =
        handle(CUkernel, |out| stub.cuLibraryGetKernel(out, library, Text(std::ptr::null())));
    assert_eq!(no_name, Err(Status::INVALID_VALUE));
    assert_eq!(stub.kernel(CUlibrary(0), "add_one"), Err(Status::INVALID_HANDLE));
    let nothing = Code(std::ptr::null());
    let options = (Options(null_mut()), LibraryOptions(null_mut()));
    let none = crate::stub::NONE;
    let place = Out(&mut CUlibrary(0));
    let refused = stub.cuLibraryLoadData(place, nothing, options.0, none, 0, options.1, none, 0);
    assert_eq!(refused, Status::INVALID_VALUE);
}

#[test]
fn an_unloaded_library_takes_its_kernels_with_it() {
    let (stub, _) = Stub::ready("");
    let library = stub.load(TWO).unwrap();
    let kernel = stub.kernel(library, "other").unwrap();
    let in_context = function(&stub, kernel).unwrap();
    module(&stub, library).unwrap();
    assert_eq!(stub.counts()["libraries"], 1);
    assert_eq!(stub.cuLibraryUnload(library), Status::SUCCESS);
    assert_eq!(stub.counts()["libraries"], 0);
    // The real driver follows these.
    assert_eq!(stub.cuLibraryUnload(library), Status::INVALID_HANDLE);
    assert_eq!(stub.cuLibraryUnload(CUlibrary(0)), Status::INVALID_HANDLE);
    assert_eq!(function(&stub, kernel), Err(Status::INVALID_HANDLE));
    let value = got(|out| stub.cuFuncGetAttribute(out, 0, in_context));
    assert_eq!(value, Err(Status::INVALID_HANDLE));
}

#[test]
fn functions_and_modules_need_a_context_and_libraries_none() {
    let (stub, context) = Stub::ready("");
    assert_eq!(stub.cuCtxSetCurrent(CUcontext(0)), Status::SUCCESS);
    let library = stub.load(TWO).unwrap();
    let kernel = stub.kernel(library, "other").unwrap();
    assert_eq!(function(&stub, kernel), Err(Status::INVALID_CONTEXT));
    assert_eq!(module(&stub, library), Err(Status::INVALID_CONTEXT));
    assert_eq!(got(|out| stub.cuKernelGetAttribute(out, 0, kernel, DEVICE_0)), Ok(1024));
    assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
    assert_eq!(function(&stub, kernel), function(&stub, kernel));
    assert_eq!(module(&stub, library), module(&stub, library));
    let here = function(&stub, kernel);
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    assert_ne!(function(&stub, kernel), here);
}

#[test]
fn an_image_runs_where_it_has_code() {
    let (stub, context) = Stub::ready("device 1 compute 10.3");
    let blackwell = stub.load("KPSTUB sm_100f\nkernel k").unwrap();
    let kernel = stub.kernel(blackwell, "k").unwrap();
    assert_eq!(function(&stub, kernel), Err(Status::NO_BINARY_FOR_GPU));
    assert_eq!(module(&stub, blackwell), Err(Status::NO_BINARY_FOR_GPU));
    assert_eq!(stub.launch(kernel, crate::stub::NULL_STREAM), Status::NO_BINARY_FOR_GPU);
    assert_eq!(stub.cuCtxSetCurrent(stub.primary(DEVICE_1)), Status::SUCCESS);
    assert!(function(&stub, kernel).is_ok());
    assert_eq!(stub.cuCtxSetCurrent(context), Status::SUCCESS);
    let nowhere = stub.load("KPSTUB sm_80\nkernel k").unwrap();
    assert_eq!(stub.kernel(nowhere, "k"), Err(Status::NO_BINARY_FOR_GPU));
}

#[test]
fn attributes_are_of_a_kernel_on_a_device() {
    let (stub, _) = Stub::ready("");
    let kernel = stub.only_kernel("threads 256 static 1024 registers 40");
    let get = |number, device| got(|out| stub.cuKernelGetAttribute(out, number, kernel, device));
    let values = [0, 1, 2, 4, 5, 6, 8, 9, 14].map(|number| get(number, DEVICE_0).unwrap());
    assert_eq!(values, [256, 1024, 0, 40, 90, 90, 48128, -1, 0]);
    assert_eq!(get(16, DEVICE_0), Err(Status::INVALID_VALUE));
    assert_eq!(get(0, CUdevice(9)), Err(Status::INVALID_DEVICE));
    let set = |number, value, device| stub.cuKernelSetAttribute(number, value, kernel, device);
    assert_eq!(set(8, 231_424, DEVICE_1), Status::SUCCESS);
    assert_eq!(set(8, 231_425, DEVICE_1), Status::INVALID_VALUE);
    assert_eq!(set(8, -1, DEVICE_1), Status::INVALID_VALUE);
    assert_eq!(set(0, 1, DEVICE_1), Status::INVALID_VALUE);
    let allowed = [(9, -1), (9, 100), (11, 0), (13, 232_449), (14, -1), (15, 1)];
    for (number, value) in allowed {
        assert_eq!(set(number, value, DEVICE_1), Status::SUCCESS);
    }
    let refused = [(9, -2), (9, 101), (10, 1), (11, -1), (12, -1), (13, -1), (15, -1), (15, 3)];
    for (number, value) in refused {
        assert_eq!(set(number, value, DEVICE_1), Status::INVALID_VALUE);
    }
    assert_eq!(set(14, 0, DEVICE_1), Status::SUCCESS);
    assert_eq!(set(8, 1, CUdevice(9)), Status::INVALID_DEVICE);
    assert_eq!((get(8, DEVICE_0), get(8, DEVICE_1)), (Ok(48128), Ok(231_424)));
    assert_eq!(stub.cuKernelSetAttribute(8, 1, CUkernel(0), DEVICE_0), Status::INVALID_HANDLE);
    let function = function(&stub, kernel).unwrap();
    assert_eq!(stub.cuFuncSetAttribute(function, 14, 1), Status::SUCCESS);
    assert_eq!(got(|out| stub.cuFuncGetAttribute(out, 14, function)), Ok(1));
    assert_eq!((get(14, DEVICE_0), get(14, DEVICE_1)), (Ok(1), Ok(0)));
}

#[test]
fn what_is_no_image_shows_when_a_kernel_is_wanted() {
    let (stub, _) = Stub::ready("");
    let text = stub.load("garbage").unwrap();
    assert_eq!(stub.kernel(text, "k"), Err(Status::INVALID_IMAGE));
    let ptx = stub.load(".version 8.0").unwrap();
    assert_eq!(stub.kernel(ptx, "k"), Err(Status::INVALID_PTX));
    let mut elf = b"\x7fELF garbage".to_vec();
    elf.resize(128, 0);
    let elf = stub.load_bytes(&elf).unwrap();
    assert_eq!(stub.kernel(elf, "k"), Err(Status::INVALID_IMAGE));
    assert_eq!(module(&stub, elf), Err(Status::INVALID_IMAGE));
}

const PTX: &str = "
.version 8.0
.target TARGET
.address_size 64
.visible .entry add_one(.param .u64 a, .param .u64 b, .param .u32 n, .param .align 64 .b8 map[128])
.maxntid 128, 2, 1
{ ret; }
.visible .entry second(.param .u8 x, .param .u16 y)
{
    .shared .align 4 .b8 s[1000];
    .reg .u32 %r;
    ld.shared.u32 %r, [s];
    st.shared.u32 [s+4], %r;
    ret;
}
";

/// `map_offset` is where the fourth parameter lies: ptxas aligns its place in the constant bank,
/// and that begins with 352, 528 or 896 bytes of other things.
fn expect_both_kernels(stub: &Stub, library: CUlibrary, map_offset: usize) {
    let kernel = stub.kernel(library, "add_one").unwrap();
    assert_eq!(params(stub, kernel), [(0, 8), (8, 8), (16, 4), (map_offset, 128)]);
    assert_eq!(got(|out| stub.cuKernelGetAttribute(out, 0, kernel, DEVICE_0)), Ok(256));
    let second = stub.kernel(library, "second").unwrap();
    assert_eq!(params(stub, second), [(0, 1), (2, 2)]);
    assert_eq!(got(|out| stub.cuKernelGetAttribute(out, 1, second, DEVICE_0)), Ok(1000));
    assert_eq!(got(|out| stub.cuKernelGetAttribute(out, 1, kernel, DEVICE_0)), Ok(0));
    assert_eq!(stub.kernel(library, "x"), Err(Status::NOT_FOUND));
}

#[test]
fn ptx_runs_on_what_comes_later() {
    let (stub, _) = Stub::ready("");
    expect_both_kernels(&stub, stub.load(&PTX.replace("TARGET", "sm_80")).unwrap(), 64);
    let later = stub.load(&PTX.replace("TARGET", "sm_100")).unwrap();
    assert_eq!(stub.kernel(later, "second"), Err(Status::INVALID_PTX));
    assert_eq!(module(&stub, later), Err(Status::INVALID_PTX));
}

/// The ptxas that comes with Triton, in the environment of the Python tests.
fn cubin(target: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("KERNPACK_PYTHON").map(std::path::PathBuf::from);
    let python = python.unwrap_or_else(|| root.join(".venv/bin/python"));
    let find =
        "import importlib.util as u; print(u.find_spec('triton').submodule_search_locations[0])";
    let triton = std::process::Command::new(python).args(["-c", find]).output().unwrap();
    let triton = String::from_utf8(triton.stdout).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (ptx, out) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
    let version = if target.starts_with("sm_1") { "8.7" } else { "8.0" };
    std::fs::write(&ptx, PTX.replace("TARGET", target).replace("8.0", version)).unwrap();
    let ptxas = Path::new(triton.trim()).join("backends/nvidia/bin/ptxas");
    let mut command = std::process::Command::new(ptxas);
    let output = command.args(["--gpu-name", target, "-o"]).arg(&out).arg(&ptx).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(out).unwrap()
}

#[test]
fn cubins_run_on_their_architecture() {
    // Per target, where the fourth parameter lies, and the devices that run it.
    let targets = [
        ("sm_80", 32, &["8.0", "8.6"][..]),
        ("sm_90", 48, &["9.0"]),
        ("sm_90a", 48, &["9.0"]),
        ("sm_100", 64, &["10.0", "10.3"]),
        ("sm_100a", 64, &["10.0"]),
    ];
    for (target, map_offset, runs) in targets {
        let image = cubin(target);
        for device in ["8.0", "8.6", "9.0", "10.0", "10.3", "12.0"] {
            let (stub, _) = Stub::ready(&format!("devices 1\ndevice 0 compute {device}"));
            let library = stub.load_bytes(&image).unwrap();
            if runs.contains(&device) {
                expect_both_kernels(&stub, library, map_offset);
            } else {
                let refused = stub.kernel(library, "second");
                assert_eq!(refused, Err(Status::NO_BINARY_FOR_GPU), "{target} on {device}");
            }
        }
    }
}
