//! What becomes of a fault: [`Checkpoint::open`](crate::Checkpoint::open) fails at the first one, and [`check`](crate::check()) collects all.

use lanecast_files::{Error, Result};

/// The faults that were found.
#[derive(Debug)]
pub(crate) struct Faults {
    errors: Vec<Error>,
    fatal: bool,
}

impl Faults {
    /// The first fault ends the work.
    pub(crate) fn fatal() -> Self {
        Self { errors: Vec::new(), fatal: true }
    }

    /// Faults are kept, and the work continues without the faulty part.
    pub(crate) fn collected() -> Self {
        Self { errors: Vec::new(), fatal: false }
    }

    /// Keeps the error, or returns it.
    pub(crate) fn add(&mut self, error: Error) -> Result<()> {
        if self.fatal {
            return Err(error);
        }
        self.errors.push(error);
        Ok(())
    }

    /// The value, or `None` if its error is kept.
    pub(crate) fn value<T>(&mut self, result: Result<T>) -> Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => self.add(error).map(|()| None),
        }
    }

    /// The errors that were kept.
    pub(crate) fn into_errors(self) -> Vec<Error> {
        self.errors
    }
}
