//! The same without a cast.

use std::io::{Read, Write};

fn main() -> std::io::Result<()> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let out = vec![0_u16; numbers.len()];
    out.iter().try_for_each(|x| std::io::stdout().write_all(&x.to_le_bytes()))
}
