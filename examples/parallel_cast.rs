//! Casts a large buffer over several threads and shows how far it is.
//!
//! `cargo run --release --example parallel_cast -- [MILLIONS OF ELEMENTS] [THREADS]`
//!
//! The cast is cut by the caller, into pieces of a few milliseconds, and each piece is one call that shares itself among the threads of
//! the host: here threads that the program starts itself, behind the same hook with which a library gives its own pool. A counter
//! that all can read is what another thread prints.

use lanecast::bulk::{ParallelFor, Threads};
use lanecast::{CastOptions, CastPlan, DType, F8E4M3FN};
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

/// Elements between two steps of the counter.
const PIECE: usize = 4 << 20;

/// A host with so many threads.
struct Host(usize);

impl ParallelFor for Host {
    fn threads(&self) -> usize {
        self.0
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| {
            // The calling thread is one of them.
            for index in 1..tasks {
                scope.spawn(move || task(index));
            }
            task(0);
        });
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let millions: usize = args.next().map_or(Ok(50), |text| text.parse())?;
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let host = Host(args.next().map_or(Ok(cores), |text| text.parse())?);
    let n = millions.checked_mul(1_000_000).ok_or("too many elements")?;

    let weights: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 / 500.0 - 1.0).collect();
    let mut small = vec![F8E4M3FN::default(); n];
    let plan = CastPlan::new(DType::Float32, DType::Float8E4M3FN, &CastOptions::RUST)?;

    let done = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| show(&done, n));
        let pieces = weights.chunks(PIECE).zip(small.chunks_mut(PIECE));
        let result = pieces.into_iter().try_for_each(|(src, dst)| {
            plan.par_run_slice(src, dst, Threads::Custom(&host))?;
            done.fetch_add(src.len(), Ordering::Relaxed);
            Ok::<(), lanecast::CastError>(())
        });
        // Also if something went wrong: whoever shows the progress waits for the end.
        done.store(n, Ordering::Relaxed);
        result
    })?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{millions} million elements in {:.0} ms on {} threads", 1e3 * seconds, host.0.max(1));

    // The same in one call and in the pool of rayon: the same bytes.
    let again: Vec<F8E4M3FN> = lanecast::bulk::par_cast_to_vec(&weights, Threads::Rayon);
    let same = small.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits());
    println!("the pool of rayon gives {} bytes", if same { "the same" } else { "OTHER" });
    if same { Ok(()) } else { Err("casts differ".into()) }
}

/// Prints the share that is done until all is.
fn show(done: &AtomicUsize, all: usize) {
    let mut out = std::io::stderr();
    let terminal = out.is_terminal();
    loop {
        let now = done.load(Ordering::Relaxed);
        if terminal {
            let _ = write!(out, "\r{:3} %", 100 * now / all.max(1));
        }
        if now >= all {
            break;
        }
        thread::sleep(Duration::from_millis(5));
    }
    if terminal {
        let _ = writeln!(out);
    }
}
