//! Standard output.

use std::io::{self, Write};

use crate::{
    error::{Failure, Result},
    exit::Exit,
};

/// Writes `text` to standard output.
pub fn print(text: &str) -> Result<()> {
    write(&mut io::stdout().lock(), text)
}

/// Writes `text`, which may have escape sequences, to standard output.
pub fn print_styled(text: &str) -> Result<()> {
    write(&mut anstream::stdout().lock(), text)
}

fn write(out: &mut dyn Write, text: &str) -> Result<()> {
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
