//! Other crates on the casts that they have, beside ours: the same buffers, in turn, in one process.
//!
//! The answers are compared too. Where they differ the peer solves another problem (rounds twice, flushes, leaves overflow
//! open); its time stands in the results all the same, with the share of elements that differ.

mod arrow;
mod loops;
mod others;

use clap::Parser;
use lanecast::{Bytes, BytesMut, CastPlan, DType, Encoding, Tier};
use lanecast_bench::{
    cells::{self, Mode},
    inputs::{self, Inputs, Range},
    machine::Machine,
    measure::{Contender, Effort, measure},
    pool::{PAGE, Pool},
    report::peers::{PeerCell, PeerResults},
    results::Size,
};
use std::{
    cell::RefCell, collections::BTreeMap, hint::black_box, path::PathBuf, process::ExitCode, time::Duration,
};

/// A peer's cast of one pair: from the first `n` elements of the source to those of the destination. The buffers are
/// aligned to a page.
pub type PeerCast<'a> = Box<dyn FnMut(&mut [u8], usize) + 'a>;

/// A peer.
pub struct Peer {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The tier of ours that it is compared with; without one, the strongest.
    pub tier: Option<Tier>,
    /// Its cast of a pair from this source, if it has one.
    pub cast: for<'a> fn(DType, DType, &'a [u8]) -> Option<PeerCast<'a>>,
}

const PEERS: &[Peer] = &[
    Peer { name: "numkong", version: "7.8", tier: None, cast: others::numkong },
    Peer { name: "half", version: "2.7", tier: None, cast: others::half },
    Peer { name: "float8", version: "0.7", tier: None, cast: others::float8 },
    Peer { name: "arrow-cast", version: "60", tier: None, cast: arrow::cast },
    #[cfg(target_arch = "x86_64")]
    Peer { name: "as loop (avx2)", version: RUSTC, tier: Some(Tier::Avx2), cast: loops::avx2 },
    #[cfg(target_arch = "x86_64")]
    Peer { name: "as loop (avx512)", version: RUSTC, tier: Some(Tier::Avx512), cast: loops::avx512 },
    #[cfg(target_arch = "aarch64")]
    Peer { name: "as loop (neon)", version: RUSTC, tier: Some(Tier::Neon), cast: loops::baseline },
];

const RUSTC: &str = "of the compiler";

/// Times other crates on the casts that they have, beside ours.
#[derive(Parser)]
#[command(name = "lanecast-peers")]
struct Cli {
    /// Where the results go.
    #[arg(short, long, default_value = "peers.json")]
    output: PathBuf,
    /// A pair such as `f32:bf16`; may be given several times [default: all].
    #[arg(long)]
    pair: Vec<String>,
    /// Only peers whose name begins so; may be given several times.
    #[arg(long)]
    peer: Vec<String>,
    /// Sizes: l1, l2, dram.
    #[arg(long, value_delimiter = ',', value_enum, default_value = "l1,l2,dram")]
    size: Vec<Size>,
    /// Milliseconds per peer and size.
    #[arg(long, default_value_t = 25)]
    budget: u64,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: &Cli) -> Result<(), String> {
    let machine = Machine::detect();
    let dram = (4 * machine.last_cache()).clamp(128 << 20, 384 << 20);
    let mut wanted = Vec::new();
    for pair in &cli.pair {
        let (from, to) = pair.split_once(':').ok_or("a pair is FROM:TO")?;
        let dtype = |name: &str| name.parse::<DType>().map_err(|error| error.to_string());
        wanted.push((dtype(from)?, dtype(to)?));
    }
    let peers: Vec<&Peer> = PEERS
        .iter()
        .filter(|peer| peer.tier.is_none_or(Tier::is_available))
        .filter(|peer| cli.peer.is_empty() || cli.peer.iter().any(|name| peer.name.starts_with(&**name)))
        .collect();
    let mut memory = Memory { src: Pool::new(dram + PAGE), dst: Pool::new(dram + PAGE), small: Pool::new(1) };
    let mut rows = Vec::new();
    for &from in DType::ALL {
        eprintln!("from {from}");
        for &to in DType::ALL {
            if from == to || !(wanted.is_empty() || wanted.contains(&(from, to))) {
                continue;
            }
            let range = Range::new(from, to, Inputs::Normal);
            let period = inputs::period(from.into(), range);
            for &size in &cli.size {
                let footprint = match size {
                    Size::L1 => 24 << 10,
                    Size::L2 => 512 << 10,
                    Size::Dram => dram,
                    // As many elements as it says.
                    _ => 0,
                };
                rows.extend(contest(from, to, size, footprint, &period, &mut memory, &peers, cli.budget)?);
            }
        }
    }
    let versions: BTreeMap<String, String> =
        peers.iter().map(|peer| (peer.name.into(), peer.version.into())).collect();
    let results = PeerResults { machine, versions, rows };
    let json = serde_json::to_string_pretty(&results).map_err(|error| error.to_string())?;
    std::fs::write(&cli.output, json).map_err(|error| format!("{}: {error}", cli.output.display()))
}

/// As in the matrix: one piece for what fits into the second cache, two large ones beyond.
struct Memory {
    src: Pool,
    dst: Pool,
    small: Pool,
}

/// Times all peers that have a pair at one size, and our tiers among them.
#[expect(clippy::too_many_arguments, reason = "one call, from the loops over these")]
fn contest(
    from: DType,
    to: DType,
    size: Size,
    footprint: usize,
    period: &[u8],
    memory: &mut Memory,
    peers: &[&Peer],
    budget: u64,
) -> Result<Vec<PeerCell>, String> {
    let (source, target) = (Encoding::new(from), Encoding::new(to));
    let step = cells::step(source, target);
    let n = size.elements().unwrap_or(footprint / (from.size() + to.size()) / step * step);
    let [read, written] = [n * from.size(), n * to.size()];
    let half = (read + written) / 2;
    let longer = read.max(half).next_multiple_of(PAGE);
    let (src, dst) = match size {
        Size::Dram => (memory.src.bytes(), memory.dst.bytes()),
        _ => memory.small.bytes().split_at_mut(longer),
    };
    inputs::repeat(period, &mut src[..longer]);
    let src = &*src;
    let casts: Vec<(&Peer, PeerCast<'_>)> =
        peers.iter().filter_map(|peer| Some((*peer, (peer.cast)(from, to, &src[..read])?))).collect();
    if casts.is_empty() {
        return Ok(Vec::new());
    }

    // Ours: the strongest tier, and those that a peer is compared with.
    let mut tiers: Vec<Tier> = casts.iter().map(|(peer, _)| peer.tier.unwrap_or(Tier::best())).collect();
    tiers.sort();
    tiers.dedup();
    let options = Mode::of(from, to)[0].options();
    let plans = tiers.iter().map(|&tier| CastPlan::with_tier(source, target, &options, tier));
    let plans = plans.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;

    let dst = RefCell::new(&mut dst[..written.max(half)]);
    let mut answer = vec![0; written];
    plans[0]
        .run(Bytes::new(&src[..read], n), BytesMut::new(&mut answer, n))
        .map_err(|error| error.to_string())?;
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    contenders.push(Box::new(|calls| {
        let dst = &mut dst.borrow_mut()[..half];
        for _ in 0..calls {
            black_box(&mut *dst).copy_from_slice(black_box(&src[..half]));
        }
    }));
    for plan in &plans {
        let dst = &dst;
        contenders.push(Box::new(move |calls| {
            let dst = &mut dst.borrow_mut()[..written];
            for _ in 0..calls {
                let n = black_box(n);
                let (src, dst) = (black_box(&src[..read]), black_box(&mut *dst));
                let done = black_box(plan).run(Bytes::new(src, n), BytesMut::new(dst, n));
                debug_assert!(done.is_ok(), "it ran before");
            }
        }));
    }
    let mut differing = Vec::new();
    let mut names = Vec::new();
    for (peer, mut cast) in casts {
        let dst = &dst;
        dst.borrow_mut()[..written].fill(0xEE);
        cast(&mut dst.borrow_mut()[..written], n);
        let theirs = dst.borrow();
        let pairs = answer.chunks(to.size()).zip(theirs[..written].chunks(to.size()));
        differing.push(pairs.filter(|(ours, theirs)| ours != theirs).count() as f64 / n as f64);
        drop(theirs);
        names.push(peer);
        contenders.push(Box::new(move |calls| {
            let dst = &mut dst.borrow_mut()[..written];
            for _ in 0..calls {
                cast(black_box(&mut *dst), black_box(n));
            }
        }));
    }
    let dram = size == Size::Dram;
    let effort = Effort {
        budget: Duration::from_millis(budget * contenders.len() as u64),
        min_rounds: if dram { 2 } else { 5 },
        max_rounds: 500,
        turn: Duration::from_micros(if dram { 0 } else { 20 }),
    };
    let rounds = measure(&mut contenders, &effort);
    let row = |(k, peer): (usize, &&Peer)| {
        let tier = peer.tier.unwrap_or(Tier::best());
        let ours = tiers.iter().position(|other| *other == tier).unwrap_or(0);
        let place = 1 + plans.len() + k;
        PeerCell {
            peer: peer.name.into(),
            from: from.name().into(),
            to: to.name().into(),
            size,
            tier: Some(tier.name().into()),
            elements: Some(n),
            peer_ns: rounds.time(place),
            copy_ns: rounds.time(0),
            // So that the quotient of the two is the median of the rounds' own.
            cast_ns: Some(rounds.time(place) / rounds.ratio(place, 1 + ours)),
            differing: Some(differing[k]),
        }
    };
    Ok(names.iter().enumerate().map(row).collect())
}
