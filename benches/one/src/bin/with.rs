//! One typed cast.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let mut out = vec![lanecast::half::bf16::ZERO; numbers.len()];
    if lanecast::cast(&numbers, &mut out).is_err() {
        return Ok(());
    }
    out.iter().try_for_each(|x| std::io::stdout().write_all(&x.to_le_bytes()))
}
