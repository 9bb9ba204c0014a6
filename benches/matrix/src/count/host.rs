//! Builds the program and the plugin, starts QEMU, and joins what both left behind.

use super::{LENGTHS, scaled, steps};
use crate::{
    cells::Mode,
    results::{Results, Store},
    run::Selection,
};
use lanecast::{DType, Tier};
use serde::Deserialize;
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The guest's option for casts of fewer elements.
const SHORTER: &str = "--shorter";

/// The subcommand of this program that is the guest.
pub const GUEST: &str = "count-guest";

/// The target that this program was built for.
pub const HOST: &str = env!("LANECAST_BENCH_TARGET");

/// What is emulated.
#[derive(Clone, Debug)]
pub struct Target {
    /// The target triple.
    pub triple: String,
    /// The CPU, as QEMU's `-cpu` names it; `None` for one with everything that QEMU knows.
    pub cpu: Option<String>,
}

impl Target {
    /// The architecture as Rust names it.
    fn arch(&self) -> &str {
        self.triple.split('-').next().unwrap_or_default()
    }

    /// The architecture as GNU tools name it.
    fn gnu(&self) -> &str {
        match self.arch() {
            "riscv64gc" | "riscv64a23" => "riscv64",
            arch => arch,
        }
    }

    /// The name of its emulator.
    fn emulator(&self) -> String {
        let arch = match self.gnu() {
            "powerpc64le" => "ppc64le",
            "i586" | "i686" => "i386",
            arch => arch,
        };
        format!("qemu-{arch}")
    }

    /// The CPU for QEMU.
    fn cpu(&self) -> &str {
        match (&self.cpu, self.gnu()) {
            (Some(cpu), _) => cpu,
            // Without the features that make `memcpy` of the C library one instruction that repeats itself: how often that
            // would count says nothing, and not the same in all versions of QEMU.
            (None, "x86_64" | "i586" | "i686") => "max,-erms,-fsrm",
            // Earlier versions have no `max` there.
            (None, "riscv64") => "rv64",
            (None, _) => "max",
        }
    }
}

/// The tier that QEMU does not emulate.
const STEPPED: Tier = Tier::Avx512;

/// Counts the instructions of the selected casts: under emulation, and if it is selected, step by step for the tier that cannot be
/// emulated.
///
/// # Errors
///
/// If something cannot be built or started, or an answer is wrong.
pub fn count(target: &Target, selection: &Selection) -> Result<Vec<Results>, String> {
    let (stepped, emulated): (Vec<Tier>, _) = selection.tiers.iter().partition(|tier| **tier == STEPPED);
    let mut runs = Vec::new();
    if selection.tiers.is_empty() || !emulated.is_empty() {
        runs.push(count_emulated(target, &Selection { tiers: emulated, ..selection.clone() })?);
    }
    if !stepped.is_empty() {
        if target.triple != HOST || target.cpu.is_some() || !STEPPED.is_available() {
            return Err(format!("{STEPPED}: QEMU does not emulate it; it is counted on a CPU that has it"));
        }
        runs.push(count_steps(target, &Selection { tiers: vec![STEPPED], ..selection.clone() })?);
    }
    Ok(runs)
}

/// Counts on this CPU.
fn count_steps(target: &Target, selection: &Selection) -> Result<Results, String> {
    let path = build_guest(target)?;
    let mut guest = guest(Command::new(name_in_folder(&path)?.1), &path, selection)?;
    guest.arg(SHORTER);
    // The copies of the C library that all CPUs with AVX2 have.
    guest.env("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-ERMS,-FSRM,-RTM");
    let (results, counts) = steps::run(guest)?;
    let features = STEPPED.features().join(", ");
    joined(&results, &counts, &format!("{}, {STEPPED} with {features}", steps::NAME))
}

/// Counts under emulation.
fn count_emulated(target: &Target, selection: &Selection) -> Result<Results, String> {
    let version = version(&target.emulator())?;
    let guest = build_guest(target)?;
    let plugin = build(&["-p", "lanecast-counter"], None, |made| made.filenames.into_iter().next())?;
    let out = plugin.with_extension(format!("{}.counts", std::process::id()));
    let (results, counts) = emulate(target, &guest, &plugin, &out, selection)?;
    joined(&results, &counts, &format!("{version}, -cpu {}", target.cpu()))
}

/// What the guest printed, with its counts.
fn joined(results: &[u8], counts: &str, emulator: &str) -> Result<Results, String> {
    let mut results: Results =
        serde_json::from_slice(results).map_err(|error| format!("the program's output: {error}"))?;
    join(&mut results, counts)?;
    results.machine.cpu = emulator.into();
    results.machine.cpu_id = "emulated".into();
    results.machine.caches.clear();
    if let Some(counting) = &mut results.counting {
        counting.emulator = emulator.into();
    }
    Ok(results)
}

/// The emulator's name and version.
fn version(emulator: &str) -> Result<String, String> {
    let run = |argument: &str| {
        let output = Command::new(emulator).arg(argument).output();
        let output = output.map_err(|error| format!("{emulator} (Debian: qemu-user): {error}"))?;
        Ok::<_, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    if !run("-help")?.contains("-plugin") {
        return Err(format!("this {emulator} knows no plugins, as statically linked ones do"));
    }
    // "qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"
    let line = run("--version")?;
    let number = line.split_whitespace().nth(2).unwrap_or("of unknown version");
    Ok(format!("{emulator} {number}"))
}

/// A line of what cargo says in JSON.
#[derive(Deserialize)]
struct Made {
    reason: String,
    #[serde(default)]
    target: MadeTarget,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

#[derive(Default, Deserialize)]
struct MadeTarget {
    name: String,
}

fn build_guest(target: &Target) -> Result<PathBuf, String> {
    // The host's own program is the one that runs, so most often it is there.
    let triple = (target.triple != HOST).then_some(target);
    build(&["-p", "lanecast-bench", "--bin", "lanecast-bench"], triple, |made| made.executable)
}

/// Builds a package of this workspace, for the host without a target, and finds what was made.
fn build(
    package: &[&str],
    target: Option<&Target>,
    found: fn(Made) -> Option<PathBuf>,
) -> Result<PathBuf, String> {
    let name = package.last().copied().unwrap_or_default();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "--quiet", "--release", "--message-format=json-render-diagnostics"]).args(package);
    cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
    // Other options make other instructions.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Some(target) = target {
        cargo.arg("--target").arg(&target.triple);
        let linker = format!("CARGO_TARGET_{}_LINKER", target.triple.to_uppercase().replace(['-', '.'], "_"));
        if env::var_os(&linker).is_none() {
            cargo.env(linker, format!("{}-linux-gnu-gcc", target.gnu()));
        }
    }
    // Warnings about a target that has no vector kernels are nothing to a reader of counts.
    eprintln!("building {name} for {}", target.map_or(HOST, |target| &target.triple));
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("{name} could not be built:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let made = said.lines().filter_map(|line| serde_json::from_str::<Made>(line).ok());
    let of_package = |made: &Made| {
        made.reason == "compiler-artifact" && made.target.name.replace('_', "-") == name.replace('_', "-")
    };
    made.filter(of_package).find_map(found).ok_or_else(|| format!("cargo does not say where {name} is"))
}

/// Runs the guest: what it printed, and what the plugin noted.
fn emulate(
    target: &Target,
    guest: &Path,
    plugin: &Path,
    out: &Path,
    selection: &Selection,
) -> Result<(Vec<u8>, String), String> {
    let mut qemu = Command::new(target.emulator());
    qemu.arg("-cpu").arg(target.cpu());
    let root = format!("/usr/{}-linux-gnu", target.gnu());
    if target.triple != HOST && Path::new(&root).is_dir() {
        qemu.args(["-L", &root]);
    }
    qemu.arg("-plugin").arg(plugin_option(plugin, out));
    qemu.args(["-U", "PATH"]).arg(name_in_folder(guest)?.1);
    let mut qemu = self::guest(qemu, guest, selection)?;
    qemu.envs(env::var_os("PATH").map(|path| ("PATH", path)));
    let output = qemu.output().map_err(|error| format!("{}: {error}", target.emulator()))?;
    let counts = fs::read_to_string(out);
    let _ = fs::remove_file(out);
    if !output.status.success() {
        return Err(format!("{} under {}: {}", guest.display(), target.emulator(), output.status));
    }
    let counts = counts.map_err(|error| format!("{}: {error}", out.display()))?;
    Ok((output.stdout, counts))
}

/// The folder of a program, and its name there.
fn name_in_folder(program: &Path) -> Result<(&Path, String), String> {
    match (program.parent(), program.file_name().and_then(|name| name.to_str())) {
        (Some(folder), Some(name)) => Ok((folder, format!("./{name}"))),
        _ => Err(format!("{}: not the path of a program", program.display())),
    }
}

/// A command that ends in the program, with what the program is to do.
///
/// The name of the program and the environment lie on the stack of the guest and move what comes after them. So that they are the same
/// everywhere, the name is relative and the environment is empty.
fn guest(mut command: Command, program: &Path, selection: &Selection) -> Result<Command, String> {
    command.env_clear().current_dir(name_in_folder(program)?.0);
    command.arg(GUEST).args(arguments(selection)).stderr(Stdio::inherit());
    Ok(command)
}

/// The option that loads the plugin. A comma within a path is doubled.
fn plugin_option(plugin: &Path, out: &Path) -> OsString {
    let escaped = |path: &Path| path.to_string_lossy().replace(',', ",,");
    format!("{},out={}", escaped(plugin), escaped(out)).into()
}

/// A selection as arguments of the guest.
fn arguments(selection: &Selection) -> Vec<String> {
    let side = |dtype: Option<DType>| dtype.map_or("*", DType::name);
    let pairs = selection.pairs.iter().map(|&(from, to)| format!("--pair={}:{}", side(from), side(to)));
    let classes = selection.classes.iter().map(|class| format!("--class={}", class.name));
    let tiers = selection.tiers.iter().map(|tier| format!("--tier={tier}"));
    let modes = selection.modes.iter().map(|mode: &Mode| format!("--mode={mode}"));
    let storages = selection.storages.iter().map(|store| match store {
        Store::Byte => "--storage=byte".to_owned(),
        Store::Packed => "--storage=packed".to_owned(),
    });
    let scheme = selection.scheme.iter().map(|scheme| format!("--scheme={scheme}"));
    pairs.chain(classes).chain(tiers).chain(modes).chain(storages).chain(scheme).collect()
}

/// Puts the counts in their places: between the first two marks nothing was done, which tells what marks themselves take, and
/// then three calls were counted for every cast.
fn join(results: &mut Results, counts: &str) -> Result<(), String> {
    let marks: Vec<u64> = counts.lines().filter_map(|line| line.parse().ok()).collect();
    let between: Vec<u64> = marks.chunks_exact(2).map(|pair| pair[1] - pair[0]).collect();
    let Some((&empty, calls)) = between.split_first() else {
        return Err("the plugin saw no mark".into());
    };
    let lengths = results.counting.as_ref().map_or(LENGTHS, |counting| counting.elements);
    if !marks.len().is_multiple_of(2) || calls.len() != 3 * results.counts.len() {
        return Err(format!("{} marks for {} casts", marks.len(), results.counts.len()));
    }
    for (count, calls) in results.counts.iter_mut().zip(calls.chunks_exact(3)) {
        let [call, short, long] = [calls[0], calls[1], calls[2]];
        let [few, many] = if count.class == scaled::CLASS { LENGTHS } else { lengths };
        let elements = (many - few) as f64;
        count.instructions_of_call = call.saturating_sub(empty);
        count.instructions_per_element = (long as f64 - short as f64) / elements;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::tests::count;

    #[test]
    fn names_of_targets() {
        let target = |triple: &str| Target { triple: triple.into(), cpu: None };
        assert_eq!(target("riscv64gc-unknown-linux-gnu").emulator(), "qemu-riscv64");
        assert_eq!(target("aarch64-unknown-linux-gnu").gnu(), "aarch64");
        assert_eq!(target("aarch64-unknown-linux-gnu").cpu(), "max");
        assert!(target("x86_64-unknown-linux-gnu").cpu().starts_with("max,"));
        assert_eq!(plugin_option(Path::new("/a,b/c.so"), Path::new("o")), "/a,,b/c.so,out=o");
    }

    #[test]
    fn marks_become_instructions() {
        let mut results =
            Results { counts: vec![count("float32", "bool", Tier::Scalar, 0.0)], ..Results::default() };
        // Seven for the marks themselves; 64 elements, 1024, and 5120.
        join(&mut results, "100\n107\n200\n300\n400\n2500\n3000\n9244\n").expect("four intervals");
        assert_eq!(results.counts[0].instructions_of_call, 93);
        assert_eq!(results.counts[0].instructions_per_element, (6244.0 - 2100.0) / 4096.0);
        assert!(join(&mut results, "1\n2\n3\n4\n").is_err());
        assert!(join(&mut results, "").is_err());
    }

    #[test]
    fn a_selection_reaches_the_guest() {
        let selection = Selection {
            pairs: vec![(Some(DType::Float32), None)],
            tiers: vec![Tier::Scalar],
            modes: vec![Mode::Wrap],
            storages: vec![Store::Packed],
            ..Selection::default()
        };
        assert_eq!(
            arguments(&selection),
            ["--pair=float32:*", "--tier=scalar", "--mode=wrap", "--storage=packed"]
        );
        let selection = Selection { scheme: Some("mx".into()), ..Selection::default() };
        assert_eq!(arguments(&selection), ["--scheme=mx"]);
    }
}
