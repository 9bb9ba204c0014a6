//! Casts a large buffer over several threads and shows how far it is.
//!
//! `cargo run --release --example parallel_cast -- [MILLIONS OF ELEMENTS] [THREADS]`
//!
//! The caller cuts the cast into pieces of a few milliseconds. Each piece is one call, whose plan shares it among the threads of the host:
//! here threads that the program starts itself, through the trait that a library implements for its own pool. Another thread prints
//! the counter of finished elements.

use lanecast::{CastError, CastOptions, CastPlan, F8E4M3FN, ParallelFor, Threads};
use std::error::Error;
use std::io::{IsTerminal, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

/// Elements between two steps of the counter.
const PIECE: usize = 4 << 20;

/// A host with this number of threads.
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
    let threads = args.next().map_or(Ok(cores), |text| text.parse())?;
    let n = millions.checked_mul(1_000_000).ok_or("too many elements")?;

    let weights: Vec<f32> = (0..n).map(|i| (i % 1000) as f32 / 500.0 - 1.0).collect();
    let mut small = vec![F8E4M3FN::default(); n];
    let plan = CastPlan::of::<f32, F8E4M3FN>(&CastOptions::RUST);
    let on_host = plan.with_threads(Threads::Host(Arc::new(Host(threads))));

    let done = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| show(&done, n));
        let mut pieces = weights.chunks(PIECE).zip(small.chunks_mut(PIECE));
        let result = pieces.try_for_each(|(src, dst)| {
            on_host.run(src, dst)?;
            done.fetch_add(src.len(), Ordering::Relaxed);
            Ok::<(), CastError>(())
        });
        // After an error as well: the other thread waits for the end.
        done.store(n, Ordering::Relaxed);
        result
    })?;
    let seconds = start.elapsed().as_secs_f64();
    println!("{millions} million elements in {:.0} ms on {} threads", 1e3 * seconds, threads.max(1));

    // The same in one call on rayon's pool: the same bytes.
    let again: Vec<F8E4M3FN> = plan.with_threads(Threads::Rayon).run_to_vec(&weights)?;
    let same = small.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits());
    if same { Ok(()) } else { Err("the results on rayon's pool differ".into()) }
}

/// Prints the progress until the cast has ended, if someone can see it.
fn show(done: &AtomicUsize, all: usize) {
    while stderr().is_terminal() {
        let now = done.load(Ordering::Relaxed);
        eprint!("\r{:3} %", 100 * now / all.max(1));
        if now >= all {
            return eprintln!();
        }
        thread::sleep(Duration::from_millis(5));
    }
}
