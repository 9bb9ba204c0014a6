//! What a call through the C interface costs: `lanecast_run` of the shared library, found by `dlopen` so that nothing of it can be
//! inlined, beside `CastPlan::run` of the Rust library, and beside numkong's C function on the pairs that both have.
//!
//! All of them run on the same buffers, in turn. The cost of the interface is the median of the differences within a round.

use clap::Parser;
use lanecast::{Bytes, BytesMut, CastOptions, CastPlan, DType, Encoding, Tier};
use lanecast_bench::{
    inputs::{self, Inputs, Range},
    machine::Machine,
    measure::{Contender, Effort, measure},
    pool::{PAGE, Pool},
};
use libloading::{Library, Symbol};
// For its C library, of which it keeps the functions private.
use ::numkong as _;
use std::{
    cell::RefCell,
    ffi::{CString, c_char, c_void},
    hint::black_box,
    path::PathBuf,
    process::ExitCode,
    ptr,
    time::Duration,
};

/// `lanecast_plan` of `lanecast.h`.
type Plan = [u64; 16];
/// `lanecast_plan_init`; options are NULL.
type Init = unsafe extern "C" fn(*mut Plan, u32, u32, *const c_void, *mut c_void) -> i32;
/// `lanecast_run`.
type Run =
    unsafe extern "C" fn(*const Plan, *const c_void, *mut c_void, usize, *const c_void, *mut c_void) -> i32;
/// `lanecast_force_tier`.
type Force = unsafe extern "C" fn(*const c_char, *mut c_void) -> i32;

unsafe extern "C" {
    fn nk_cast(from: *const c_void, from_type: u32, n: usize, to: *mut c_void, to_type: u32);
}

/// The number that numkong has for a dtype (`nk_dtype_t`).
fn numkong(dtype: DType) -> Option<u32> {
    use DType::*;
    Some(match dtype {
        Int8 => 1 << 2,
        Int16 => 1 << 3,
        Int32 => 1 << 4,
        Int64 => 1 << 5,
        UInt8 => 1 << 6,
        UInt16 => 1 << 7,
        UInt32 => 1 << 8,
        UInt64 => 1 << 9,
        Float64 => 1 << 10,
        Float32 => 1 << 11,
        Float16 => 1 << 12,
        BFloat16 => 1 << 13,
        Float8E4M3FN => 1 << 14,
        Float8E5M2 => 1 << 15,
        _ => return None,
    })
}

/// Times calls through the C interface beside calls in Rust.
#[derive(Parser)]
#[command(name = "c_interface")]
struct Cli {
    /// The shared library.
    #[arg(long, default_value = "../../target/release/liblanecast_capi.so")]
    library: PathBuf,
    /// A pair such as `f32:bf16`; may be given several times.
    #[arg(long, default_values = ["f32:bf16", "bf16:f32", "f32:f16", "f32:f64", "f32:e4m3fn", "i32:f32", "f32:u8", "i64:i32"])]
    pair: Vec<String>,
    /// Tiers [default: avx512 and avx2 as far as they are here, or the strongest].
    #[arg(long, value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Elements.
    #[arg(long, value_delimiter = ',', default_value = "1,8,64,1024,65536,1048576")]
    size: Vec<usize>,
    /// Milliseconds per pair and size.
    #[arg(long, default_value_t = 150)]
    budget: u64,
    /// Fails if a call of at most 1024 elements costs more nanoseconds than this over the Rust plan.
    #[arg(long)]
    limit: Option<f64>,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: a call costs more than the limit");
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

/// The functions of the shared library.
struct Interface<'a> {
    init: Symbol<'a, Init>,
    run: Symbol<'a, Run>,
    force: Symbol<'a, Force>,
}

impl<'a> Interface<'a> {
    fn new(library: &'a Library) -> Result<Self, String> {
        // SAFETY: the types are those of `lanecast.h`.
        let found = unsafe {
            (
                library.get(b"lanecast_plan_init"),
                library.get(b"lanecast_run"),
                library.get(b"lanecast_force_tier"),
            )
        };
        let text = |error: libloading::Error| error.to_string();
        Ok(Interface {
            init: found.0.map_err(text)?,
            run: found.1.map_err(text)?,
            force: found.2.map_err(text)?,
        })
    }

    /// A plan of a tier.
    fn plan(&self, from: DType, to: DType, tier: Tier) -> Result<Plan, String> {
        let name = CString::new(tier.name()).map_err(|error| error.to_string())?;
        let mut plan = [0; 16];
        // SAFETY: the name ends with 0, the plan can be written, and all else may be NULL.
        let done = unsafe {
            match (self.force)(name.as_ptr(), ptr::null_mut()) {
                0 => (self.init)(
                    &raw mut plan,
                    from.code().into(),
                    to.code().into(),
                    ptr::null(),
                    ptr::null_mut(),
                ),
                failed => failed,
            }
        };
        if done == 0 { Ok(plan) } else { Err(format!("{from} to {to}: no plan of {tier}: status {done}")) }
    }
}

/// A pair of one tier at one size.
struct Row {
    plan: f64,
    interface: f64,
    over: f64,
    numkong: Option<f64>,
}

fn run(cli: &Cli) -> Result<bool, String> {
    // SAFETY: what it does when it is loaded is what Rust's standard library does.
    let library = unsafe { Library::new(&cli.library) };
    let library =
        library.map_err(|error| format!("{error}; cargo build --release -p lanecast-capi makes it"))?;
    let interface = Interface::new(&library)?;
    let mut tiers = cli.tier.clone();
    if tiers.is_empty() {
        tiers.extend([Tier::Avx512, Tier::Avx2].into_iter().filter(|tier| tier.is_available()));
    }
    if tiers.is_empty() {
        tiers.push(Tier::best());
    }
    let most = cli.size.iter().max().ok_or("no sizes")?;
    let mut memory = [Pool::new(8 * most + PAGE), Pool::new(8 * most + PAGE)];
    println!("{}, load {}", Machine::detect().cpu, load());
    println!("Nanoseconds of a call: the Rust plan, the C interface, what it adds, numkong.\n");
    println!(
        "| pair | tier | elements | plan | interface | added | numkong |\n|---|---|---|---|---|---|---|"
    );
    let mut worst = f64::NEG_INFINITY;
    for pair in &cli.pair {
        let (from, to) = pair.split_once(':').ok_or("a pair is FROM:TO")?;
        let dtype = |name: &str| name.parse::<DType>().map_err(|error| error.to_string());
        let (from, to) = (dtype(from)?, dtype(to)?);
        for &tier in &tiers {
            for &n in &cli.size {
                let row = contest(&interface, from, to, tier, n, &mut memory, cli.budget)?;
                let theirs = row.numkong.map_or("".into(), |time| format!("{time:.1}"));
                let Row { plan, interface, over, .. } = row;
                println!(
                    "| {from} to {to} | {tier} | {n} | {plan:.1} | {interface:.1} | {over:+.1} | {theirs} |"
                );
                if n <= 1024 {
                    worst = worst.max(over);
                }
            }
        }
    }
    println!(
        "\nThe most that the interface adds to a call of at most 1024 elements: {worst:.1} ns; load {}",
        load()
    );
    Ok(cli.limit.is_none_or(|limit| worst <= limit))
}

/// How many processes want to run, on average over a minute, if the system tells.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|word| !word.is_empty()).unwrap_or("unknown").into()
}

/// Times the plan, the interface and numkong on one pair.
fn contest(
    interface: &Interface<'_>,
    from: DType,
    to: DType,
    tier: Tier,
    n: usize,
    memory: &mut [Pool; 2],
    budget: u64,
) -> Result<Row, String> {
    let period = inputs::period(from.into(), Range::new(from, to, Inputs::Normal));
    let (read, written) = (n * from.size(), n * to.size());
    let [src, dst] = memory;
    let src = &mut src.bytes()[..read.next_multiple_of(PAGE)];
    inputs::repeat(&period, src);
    let src = &src[..read];
    let dst = RefCell::new(&mut dst.bytes()[..written]);

    let ours = CastPlan::with_tier(Encoding::new(from), Encoding::new(to), &CastOptions::RUST, tier)
        .map_err(|error| error.to_string())?;
    let plan = interface.plan(from, to, tier)?;
    let call = *interface.run;
    let mut error = [0_u64; 32];
    let through = |calls: usize| {
        let dst = dst.borrow_mut().as_mut_ptr();
        let mut status = 0;
        for _ in 0..calls {
            // SAFETY: the buffers have `n` elements and are different ones; the plan is the library's, and 256 bytes of an error can be
            // written.
            status |= unsafe {
                black_box(call)(
                    black_box(&raw const plan),
                    black_box(src.as_ptr().cast()),
                    black_box(dst.cast()),
                    black_box(n),
                    ptr::null(),
                    black_box((&raw mut error).cast()),
                )
            };
        }
        assert_eq!(status, 0, "the arguments are right");
    };
    let mut through = Box::new(through) as Contender<'_>;
    let direct = |calls: usize| {
        let mut dst = dst.borrow_mut();
        for _ in 0..calls {
            let n = black_box(n);
            let (src, dst) = (black_box(src), black_box(&mut **dst));
            let done = black_box(&ours).run(Bytes::new(src, n), BytesMut::new(dst, n));
            assert!(done.is_ok(), "the buffers are long enough");
        }
    };
    let mut direct = Box::new(direct) as Contender<'_>;
    let mut answers = Vec::new();
    for contender in [&mut direct, &mut through] {
        dst.borrow_mut().fill(0xEE);
        contender(1);
        answers.push(dst.borrow().to_vec());
    }
    if answers[0] != answers[1] {
        return Err(format!("{from} to {to}: the interface has another answer than the plan"));
    }

    let mut contenders = vec![direct, through];
    if let (Some(from), Some(to)) = (numkong(from), numkong(to)) {
        let dst = &dst;
        contenders.push(Box::new(move |calls| {
            let dst = dst.borrow_mut().as_mut_ptr();
            for _ in 0..calls {
                // SAFETY: the buffers have `n` elements of these types and are different ones.
                unsafe {
                    nk_cast(
                        black_box(src.as_ptr().cast()),
                        black_box(from),
                        black_box(n),
                        black_box(dst.cast()),
                        black_box(to),
                    );
                }
            }
        }));
    }
    let effort = Effort {
        budget: Duration::from_millis(budget),
        min_rounds: 15,
        max_rounds: 2000,
        turn: Duration::from_micros(20),
    };
    let rounds = measure(&mut contenders, &effort);
    Ok(Row {
        plan: rounds.time(0),
        interface: rounds.time(1),
        over: rounds.difference(1, 0),
        numkong: (contenders.len() > 2).then(|| rounds.time(2)),
    })
}
