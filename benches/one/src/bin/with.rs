//! One typed cast of what standard input holds.

use std::io::{self, Read, Write};

#[cfg(not(any(feature = "narrow", feature = "look_up")))]
type Pair = (f32, lanecast::half::bf16);
#[cfg(feature = "narrow")]
type Pair = (i64, lanecast::F4E2M1FN);
#[cfg(all(feature = "look_up", not(feature = "narrow")))]
type Pair = (lanecast::F8E4M3FN, i16);

fn main() -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let source = vec![<Pair as Types>::From::default(); bytes.len()];
    let out: Vec<<Pair as Types>::To> = lanecast::cast_to_vec(&source);
    writeln!(io::stdout(), "{} {}", bytes.len(), out.len())
}

/// The types of a pair.
trait Types {
    type From: lanecast::Element + Default;
    type To: lanecast::Element;
}

impl<S: lanecast::Element + Default, D: lanecast::Element> Types for (S, D) {
    type From = S;
    type To = D;
}
