//! Standard output.

use std::io::{self, Write};

use crate::error::{Failure, Result};

/// Writes `text` to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Failure::writing(&e).at("standard output"))
}
