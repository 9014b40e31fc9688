// SPDX-License-Identifier: Apache-2.0
//! Makes the objects that lie in `objects/`: rustc to LLVM IR once, then opt and llc for each host
//! architecture.
//!
//! LLVM's tools and not rustc make the objects, so that no Rust target but the builder's own has to
//! be installed. That works because the code is the same for every 64-bit little-endian Linux: it
//! has no `cfg` on the architecture, and its functions pass only scalars and pointers. Once the
//! lines and attributes that name rustc's target are gone, nothing in the IR depends on it.

use std::{
    env,
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kernpack_runtime::HostArch;

/// Names an installation of LLVM; inkwell's build reads the same variable.
const PREFIX_VARIABLE: &str = "LLVM_SYS_221_PREFIX";

/// The objects of the source in the crate's folder, with the names of their files.
pub fn objects(own: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let folder = tempfile::tempdir().map_err(|error| file_problem(&env::temp_dir(), error))?;
    let llvm = Llvm::find()?;
    let mut objects = Vec::new();
    for arch in HostArch::ALL {
        for part in ["runtime", "cuda"] {
            let ir = write_ir(own, folder.path(), part, arch)?;
            let name = format!("{part}-{}.o", arch.name());
            let object = folder.path().join(&name);
            llvm.compile(arch, &ir, &object)?;
            let bytes = fs::read(&object).map_err(|error| file_problem(&object, error))?;
            objects.push((name, bytes));
        }
    }
    Ok(objects)
}

/// The compiler that cargo runs.
pub fn rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or("rustc".into())
}

/// Compiles one part of the freestanding build to IR for a host architecture, and returns the file.
fn write_ir(own: &Path, folder: &Path, part: &str, arch: HostArch) -> Result<PathBuf, String> {
    let ir = folder.join(format!("{part}-{}.ll", arch.name()));
    let part_cfg = if part == "cuda" { "kernpack_cuda" } else { "kernpack_checks" };
    let mut rustc = Command::new(rustc());
    rustc.current_dir(own).args(["--crate-name", "kernpack_runtime"]);
    rustc.args(["--crate-type", "lib", "--edition", "2024", "--cfg", "kernpack_freestanding"]);
    rustc.args(["--cfg", part_cfg, "--cfg", &format!("kernpack_arch={:?}", arch.name())]);
    // It travels in every package. What an accepted call runs of it is the driver's time, and a
    // refused one has an exception made of it.
    rustc.args(["-C", "opt-level=z", "-C", "codegen-units=1", "-C", "debuginfo=0"]);
    rustc.args(["-C", "panic=abort", "-C", "overflow-checks=off", "-C", "relocation-model=pic"]);
    rustc.args(["--remap-path-prefix", &format!("{}=kernpack-runtime", own.display())]);
    rustc.args(["--emit=llvm-ir", "src/lib.rs"]).arg("-o").arg(&ir);
    run(&mut rustc)?;

    let text = fs::read_to_string(&ir).map_err(|error| file_problem(&ir, error))?;
    fs::write(&ir, with_intrinsics(&without_target(&text), arch))
        .map_err(|error| file_problem(&ir, error))?;
    Ok(ir)
}

/// Drops the triple, the data layout and what names features of one architecture.
fn without_target(ir: &str) -> String {
    let lines = ir.lines().filter(|line| !line.starts_with("target "));
    let neutral = lines.map(|line| match line.starts_with("attributes ") {
        true => line.split(' ').filter(|word| !names_target(word)).collect::<Vec<_>>().join(" "),
        false => line.to_owned(),
    });
    neutral.map(|line| line + "\n").collect()
}

/// Puts LLVM's intrinsics where the code calls for what Rust has none for: to fetch memory ahead,
/// and to read the processor's counter. On aarch64 that is the counter of time, which everybody may
/// read; LLVM has an intrinsic for the one of x86-64 only.
fn with_intrinsics(ir: &str, arch: HostArch) -> String {
    let ir = ir.replace("@kernpack_prefetch", "@llvm.prefetch.p0");
    let read = match arch {
        HostArch::X86_64 => return ir.replace("@kernpack_ticks", "@llvm.readcyclecounter"),
        HostArch::Aarch64 => "asm sideeffect \"mrs $0, cntvct_el0\", \"=r\"()",
    };
    let is_declared =
        |line: &&str| line.starts_with("declare ") && line.contains("@kernpack_ticks");
    let lines = ir.lines().filter(|line| !is_declared(line));
    lines.map(|line| line.replace("@kernpack_ticks()", read) + "\n").collect()
}

/// How a function says that it may have to clean up behind a panic, for which it has a table, too.
/// There are no panics.
const PERSONALITY: &str = " personality ptr @rust_eh_personality";

/// The functions that a launch on a GPU goes through, but for the first, as parts of their symbols.
const LAUNCHING: [&str; 4] = [
    "kernpack_rt_cuda_submit",
    "4cuda6submit7plainly",
    "4cuda7prepare4call",
    "4cuda7prepare14call_at_length",
];

/// Drops the tables for walking the stack, but of what is below a launch: profilers tell from there
/// who made it.
fn without_unwinding(ir: &str) -> String {
    let is_other = |line: &str| {
        let name = line.split(['@', '(']).nth(1).unwrap_or_default();
        line.starts_with("define ") && !LAUNCHING.iter().any(|part| name.contains(part))
    };
    let rename = |line: &str| line.replacen(" #", " #9999", 1).replace(PERSONALITY, "");
    let functions = ir.lines().map(|line| if is_other(line) { rename(line) } else { line.into() });
    let groups = ir.lines().filter(|line| line.starts_with("attributes #"));
    let groups = groups.map(|line| rename(line).replace(" uwtable", "").replace(" nounwind", ""));
    // LLVM would keep the table of a function that may throw for all it knows. None does.
    let groups = groups.map(|line| line.replacen("{ ", "{ nounwind ", 1));
    functions.chain(groups).map(|line| line + "\n").collect()
}

fn names_target(attribute: &str) -> bool {
    ["\"target-cpu\"=", "\"target-features\"=", "\"tune-cpu\"=", "\"probe-stack\"="]
        .iter()
        .any(|name| attribute.starts_with(name))
}

/// The tools of one LLVM installation.
struct Llvm {
    opt: PathBuf,
    llc: PathBuf,
}

impl Llvm {
    /// Asks llvm-config, in the prefix if one is set, where the tools are.
    fn find() -> Result<Self, String> {
        let (config, looked) = match env::var_os(PREFIX_VARIABLE) {
            Some(prefix) => {
                let config = Path::new(&prefix).join("bin/llvm-config");
                let looked = format!("at {}, as {PREFIX_VARIABLE} says", config.display());
                (config, looked)
            }
            None => ("llvm-config-22".into(), "for llvm-config-22 in PATH".to_owned()),
        };
        let ask = |option| {
            let answer = run(Command::new(&config).arg(option));
            answer.map_err(|problem| no_llvm(&format!("looked {looked}: {problem}")))
        };
        let version = ask("--version")?;
        if !version.starts_with("22.") {
            return Err(no_llvm(&format!("looked {looked}: found LLVM {}", version.trim())));
        }
        let bin_dir = ask("--bindir")?;
        let tool = |name| {
            let tool = Path::new(bin_dir.trim()).join(name);
            let missing = || no_llvm(&format!("looked for {}: no such file", tool.display()));
            tool.is_file().then_some(&tool).cloned().ok_or_else(missing)
        };
        Ok(Self { opt: tool("opt")?, llc: tool("llc")? })
    }

    /// Compiles `ir` for `arch` with nothing exported but the runtime's functions.
    fn compile(&self, arch: HostArch, ir: &Path, object: &Path) -> Result<(), String> {
        let triple = format!("-mtriple={}-unknown-linux-gnu", arch.name());
        let local = object.with_extension("ll");
        let mut opt = Command::new(&self.opt);
        opt.args([&triple, "-S", "-passes=internalize,default<O2>"]);
        opt.arg("-internalize-public-api-list=kernpack_rt_*");
        run(opt.arg(ir).arg("-o").arg(&local))?;
        let text = fs::read_to_string(&local).map_err(|error| file_problem(&local, error))?;
        let text = without_unwinding(&text);
        fs::write(&local, text).map_err(|error| file_problem(&local, error))?;

        let mut llc = Command::new(&self.llc);
        llc.args([&triple, "-filetype=obj", "-relocation-model=pic", "-O2", "--function-sections"]);
        llc.arg("--data-sections");
        match arch {
            HostArch::X86_64 => {}
            // Outlined atomics are calls into libgcc.
            HostArch::Aarch64 => _ = llc.arg("-mattr=-outline-atomics"),
        }
        run(llc.arg(&local).arg("-o").arg(object))?;
        Ok(())
    }
}

fn no_llvm(problem: &str) -> String {
    format!(
        "the kernpack runtime's objects are made with the opt and llc of LLVM 22, which were not found\n\
         {problem}\n\
         install LLVM 22 (on Debian the package llvm-22-dev), or set {PREFIX_VARIABLE} to its folder"
    )
}

/// Runs a tool and returns what it printed.
fn run(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_owned();
    let output = command.output().map_err(|error| file_problem(&program, error))?;
    let printed = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match output.status.success() {
        true => Ok(printed(&output.stdout)),
        false => Err(format!("{command:?}: {}\n{}", output.status, printed(&output.stderr))),
    }
}

fn file_problem(file: &(impl AsRef<OsStr> + ?Sized), error: std::io::Error) -> String {
    format!("{}: {error}", file.as_ref().display())
}
