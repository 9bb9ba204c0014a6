//! Standard output.

use std::io::{self, Write};

use crate::error::{Exit, Failure, Result};

/// Writes `text` to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|e| Failure::writing(&e).at("standard output"))
}

/// Writes the summary of finished work. A closed pipe is not a failure here.
pub fn report(text: &str) -> Result<()> {
    match print(text) {
        Err(failure) if failure.exit() == Exit::Pipe => Ok(()),
        printed => printed,
    }
}
