//! Times two ways to do the same cast, for all programs.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The head of the table whose rows [`compare`] prints.
pub fn head(theirs: &str) {
    println!("\n| cast | lanecast, µs | {theirs}, µs | times as fast |\n|---|---|---|---|");
}

/// Times two casts of the same values by turns, and prints the median of either, and the median ratio of a round.
pub fn compare<A, B>(name: &str, mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) {
    let mut rounds = [Vec::new(), Vec::new(), Vec::new()];
    let (calls, other_calls) = (calls(&mut ours), calls(&mut theirs));
    for _ in 0..31 {
        let (a, b) = (time(&mut ours, calls), time(&mut theirs, other_calls));
        for (times, value) in rounds.iter_mut().zip([a, b, b / a]) {
            times.push(value);
        }
    }
    let [ours, theirs, ratio] = rounds.map(median);
    println!("| {name} | {ours:.0} | {theirs:.0} | {ratio:.1} |");
}

/// Microseconds of a call.
fn time<T>(cast: &mut impl FnMut() -> T, calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(cast());
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

/// How many calls take a millisecond.
fn calls<T>(cast: &mut impl FnMut() -> T) -> u32 {
    let start = Instant::now();
    let mut calls = 0;
    while start.elapsed() < Duration::from_millis(1) {
        black_box(cast());
        calls += 1;
    }
    calls
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Numbers from -1 to 1, as weights of models are, the same in every run.
pub fn numbers(n: usize) -> impl Iterator<Item = f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    (0..n).map(move |_| {
        // Marsaglia's xorshift64.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as i64 as f64 / 2_f64.powi(63)
    })
}
