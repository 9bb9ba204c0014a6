//! The machine code of kernels, by `objdump` of this program.
//!
//! Clocks are not the same from one machine to the next; instructions are. For every representative pair and tier the loop
//! that does the work has to contain vector registers and no call. How many instructions of each name it has is on record,
//! and a change of the source that changes a loop shows in the record's diff. A record holds for one compiler: of another one
//! the sizes of the loops can be compared.

use crate::cells::PAIRS;
use lanecast::{DType, Tier, TierStatus};
use lanecast_kernels::{Encoding, Kernel, Rules};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// An instruction: where it stands, and its text.
struct Instruction {
    address: usize,
    text: String,
}

impl Instruction {
    fn name(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }
    /// Where it jumps to, if it does.
    #[cfg(target_arch = "aarch64")]
    fn jump(&self) -> Option<usize> {
        let jumps =
            matches!(self.name(), "b" | "cbz" | "cbnz" | "tbz" | "tbnz") || self.name().starts_with("b.");
        let target = self.text.split('<').next()?.split_whitespace().last().filter(|_| jumps)?;
        usize::from_str_radix(target, 16).ok()
    }
    /// Where it jumps to, if it does.
    #[cfg(not(target_arch = "aarch64"))]
    fn jump(&self) -> Option<usize> {
        use std::os::unix::fs::FileExt;
        let target = self.text.split_whitespace().nth(1).filter(|_| self.name().starts_with('j'))?;
        if !target.starts_with('*') {
            return usize::from_str_radix(target, 16).ok();
        }
        // Through a word of this program's memory, whose address is noted behind it.
        let word = self.text.split_once("# ")?.1.split_whitespace().next()?;
        let base = base().ok()?;
        let mut bytes = [0; size_of::<usize>()];
        let memory = fs::File::open("/proc/self/mem").ok()?;
        memory.read_exact_at(&mut bytes, (base + usize::from_str_radix(word, 16).ok()?) as u64).ok()?;
        usize::from_ne_bytes(bytes).checked_sub(base)
    }
    fn is_call(&self) -> bool {
        self.name().starts_with("call") || matches!(self.name(), "bl" | "blr")
    }
    #[cfg(target_arch = "aarch64")]
    fn is_vector(&self) -> bool {
        // An operand that names its lanes, or all of a register.
        let lanes = [".16b", ".8h", ".4s", ".2d", ".8b", ".4h", ".2s", "\tq", ", q"];
        lanes.iter().any(|lanes| self.text.contains(lanes))
    }
    #[cfg(not(target_arch = "aarch64"))]
    fn is_vector(&self) -> bool {
        // `y` after the name: 32 bytes of memory.
        let wide = ["%ymm", "%zmm"].iter().any(|register| self.text.contains(register));
        wide || (self.name().starts_with('v') && self.name().ends_with('y'))
    }
}

/// Checks all pairs, or writes the record. With a `margin`, a record of another compiler is one of sizes, which may grow by this
/// share.
///
/// # Errors
///
/// What is wrong with which kernel; or that there is no `objdump`.
pub fn check(record: &Path, bless: bool, margin: Option<f64>, objdump: &str) -> Result<(), String> {
    let program = Program::read(objdump)?;
    let mut text = format!("{}\n", env!("LANECAST_BENCH_RUSTC"));
    let old = if bless {
        None
    } else {
        Some(fs::read_to_string(record).map_err(|error| format!("{}: {error}", record.display()))?)
    };
    for tier in tiers() {
        // Kernels depend on the finer features, too.
        let features = tier.features().join(", ");
        let kind = if features.is_empty() { tier.to_string() } else { format!("{tier} with {features}") };
        if old.as_ref().is_some_and(|old| !old.contains(&format!(", {kind}: "))) {
            println!("SKIPPED: loops of {kind} are not on record");
            continue;
        }
        for &(from, to) in PAIRS {
            let name = format!("{from} -> {to}, {kind}");
            let kernel = Kernel::new(tier, from.into(), to.into(), &Rules::common(to, true));
            let body = vector_loop(&program, &kernel.ok_or("no kernel")?);
            let body = body.map_err(|error| format!("{name}: {error}"))?;
            let _ = writeln!(text, "{name}: {}", histogram(body));
        }
    }
    let Some(old) = old else {
        return fs::write(record, text).map_err(|error| format!("{}: {error}", record.display()));
    };
    if old.lines().next() != text.lines().next() {
        if let Some(margin) = margin {
            return compare_sizes(&old, &text, margin);
        }
        println!("SKIPPED: the record of loops is for {}", old.lines().next().unwrap_or_default());
        return Ok(());
    }
    // A machine that lacks a tier has fewer lines.
    let changed: Vec<_> = text.lines().filter(|line| !old.lines().any(|o| o == *line)).collect();
    if changed.is_empty() {
        println!("{} loops are vector code and as on record", text.lines().count() - 1);
        return Ok(());
    }
    Err(format!(
        "loops that differ from the record (`lanecast-bench loops --bless` if so meant):\n{}",
        changed.join("\n")
    ))
}

/// Compares the sizes of loops of two compilers.
fn compare_sizes(old: &str, new: &str, margin: f64) -> Result<(), String> {
    fn sizes(text: &str) -> BTreeMap<&str, f64> {
        let size = |line| {
            let (name, loops) = str::split_once(line, ": ")?;
            Some((name, loops.split(' ').next()?.parse().ok()?))
        };
        text.lines().filter_map(size).collect()
    }
    let (before, after) = (sizes(old), sizes(new));
    let both = || after.iter().filter_map(|(name, after)| Some((name, before.get(name)?, after)));
    let grown: Vec<_> = both()
        .filter(|(_, before, after)| **after > **before * (1.0 + margin))
        .map(|(name, before, after)| format!("  {name}: {before} -> {after} instructions"))
        .collect();
    println!(
        "{} loops of another compiler: {} grew by more than {:.0} %",
        both().count(),
        grown.len(),
        100.0 * margin
    );
    if grown.is_empty() { Ok(()) } else { Err(format!("loops that grew:\n{}", grown.join("\n"))) }
}

/// Checks every pair in all storages and with both answers to overflow: the loop of its kernel has to be vector code. A pair that
/// is staged is looked at in byte storage.
///
/// # Errors
///
/// Which ones are not, and why; or that there is no `objdump`.
pub fn check_every_pair(objdump: &str) -> Result<(), String> {
    let program = Program::read(objdump)?;
    let types = || DType::ALL.iter().flat_map(|&dtype| [Encoding::new(dtype), Encoding::packed(dtype)]);
    let (mut kernels, mut faults) = (BTreeMap::new(), Vec::new());
    for tier in tiers() {
        for (from, to) in types().flat_map(|from| types().map(move |to| (from, to))) {
            if (from.dtype(), to.dtype()) == (DType::Float8E8M0FNU, DType::Bool) {
                // Never zero, so the compiler may fill the buffer by `memset`.
                continue;
            }
            for saturate in [false, true] {
                let rules = Rules::common(to.dtype(), saturate);
                let kernel = Kernel::new(tier, from, to, &rules).ok_or("no kernel")?;
                kernels.entry(kernel.address()).or_insert((tier, from, to, saturate, kernel));
            }
        }
    }
    for (tier, from, to, saturate, kernel) in kernels.values() {
        if let Err(error) = vector_loop(&program, kernel) {
            faults.push(format!("{from} -> {to}, saturate {saturate}, {tier}: {error}"));
        }
    }
    if faults.is_empty() {
        println!("the kernels of all pairs are vector code: {}", kernels.len());
        return Ok(());
    }
    Err(format!("{} of {} kernels:\n{}", faults.len(), kernels.len(), faults.join("\n")))
}

/// The tiers that have vectors and that can run here; of those that this architecture has and this CPU lacks it is said.
fn tiers() -> impl Iterator<Item = Tier> {
    let of_this_architecture = |tier: &Tier| tier.status() != TierStatus::OtherArchitecture;
    Tier::ALL.iter().copied().filter(of_this_architecture).filter(|&tier| {
        if !tier.is_available() {
            println!("SKIPPED: loops of {tier}: {}", tier.status());
        }
        tier != Tier::Scalar && tier.is_available()
    })
}

/// The loop of a kernel that does the work, if it is vector code without a call.
fn vector_loop<'a>(program: &'a Program, kernel: &Kernel) -> Result<&'a [Instruction], String> {
    let body = work_loop(program, kernel)?;
    if !body.iter().any(Instruction::is_vector) {
        return Err("the loop is not vector code".into());
    }
    match body.iter().find(|i| i.is_call()) {
        Some(call) => Err(format!("the loop calls a function: {}", call.text)),
        None => Ok(body),
    }
}

/// How often each instruction occurs.
fn histogram(body: &[Instruction]) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    body.iter().for_each(|i| *counts.entry(i.name()).or_default() += 1);
    let mut text = format!("{} instructions:", body.len());
    counts.iter().for_each(|(name, count)| {
        let _ = write!(text, " {name} {count}");
    });
    text
}

/// The innermost loop of a kernel with the most vector instructions.
fn work_loop<'a>(program: &'a Program, kernel: &Kernel) -> Result<&'a [Instruction], String> {
    let mut code = program.function(kernel.address() - base()?)?;
    // A kernel that only brings its table to a body that many share, or parts short casts from others, ends in jumps out of itself.
    for _ in 0..3 {
        let (Some(first), Some(last)) = (code.first(), code.last()) else { return Err("no code".into()) };
        let inside = first.address..=last.address;
        let outside: Vec<usize> =
            code.iter().rev().filter_map(|i| i.jump().filter(|target| !inside.contains(target))).collect();
        let is_work = |&&target: &&usize| {
            program.function(target).is_ok_and(|code| code.iter().any(Instruction::is_vector))
        };
        match outside.iter().find(is_work).or(outside.first()) {
            Some(&target) if !code.iter().any(Instruction::is_vector) => code = program.function(target)?,
            _ => break,
        }
    }
    let position = |address| code.iter().position(|i| i.address == address);
    let loops: Vec<(usize, usize)> = code
        .iter()
        .enumerate()
        .filter_map(|(end, i)| Some((position(i.jump()?)?, end)))
        // A jump back past the end of the function closes no loop.
        .filter(|&(start, end)| start <= end && !code[start..=end].iter().any(|i| i.name() == "ret"))
        .collect();
    let innermost = |&&(start, end): &&(usize, usize)| {
        !loops.iter().any(|&(s, e)| (s, e) != (start, end) && start <= s && e <= end)
    };
    let vectors =
        |&&(start, end): &&(usize, usize)| code[start..=end].iter().filter(|i| i.is_vector()).count();
    let (start, end) = *loops.iter().filter(innermost).max_by_key(vectors).ok_or("it has no loop")?;
    Ok(&code[start..=end])
}

/// Where this program's file stands in its memory.
fn base() -> Result<usize, String> {
    let maps = fs::read_to_string("/proc/self/maps").map_err(|error| format!("/proc/self/maps: {error}"))?;
    let base = maps.split('-').next().and_then(|base| usize::from_str_radix(base, 16).ok());
    base.ok_or("/proc/self/maps begins with no address".into())
}

/// The machine code of this program, by the addresses of its functions.
struct Program(BTreeMap<usize, Vec<Instruction>>);

impl Program {
    fn read(objdump: &str) -> Result<Program, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut objdump = Command::new(objdump)
            .args(["-d", "--no-show-raw-insn"])
            .arg(program)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("objdump: {error}"))?;
        let mut functions = BTreeMap::<usize, Vec<Instruction>>::new();
        let mut code = None;
        for line in objdump.stdout.take().into_iter().flat_map(|out| BufReader::new(out).lines()) {
            let line = line.map_err(|error| format!("objdump: {error}"))?;
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            if let Some((address, _)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
                code = number(address).map(|address| functions.entry(address).or_default());
            } else if let (Some(code), Some((address, text))) = (&mut code, line.trim().split_once(":\t")) {
                let instruction =
                    number(address).map(|address| Instruction { address, text: text.trim().into() });
                code.extend(instruction.filter(|i| !i.name().starts_with("nop")));
            }
        }
        let status = objdump.wait().map_err(|error| format!("objdump: {error}"))?;
        if status.success() { Ok(Program(functions)) } else { Err(format!("objdump: {status}")) }
    }

    fn function(&self, address: usize) -> Result<&[Instruction], String> {
        self.0.get(&address).map(Vec::as_slice).ok_or(format!("no function begins at {address:#x}"))
    }
}
