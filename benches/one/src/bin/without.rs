//! The program `with` without its cast.

use std::io::{self, Read, Write};

fn main() -> io::Result<()> {
    let mut bytes = Vec::new();
    io::stdin().read_to_end(&mut bytes)?;
    let source = vec![0.0_f32; bytes.len()];
    let out = source.clone();
    writeln!(io::stdout(), "{} {}", bytes.len(), out.len())
}
