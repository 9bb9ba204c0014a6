//! Loops of other crates, compiled for the vectors of a tier.

/// A loop that the compiler vectorises.
///
/// [`run`](Self::run), and the functions that it calls in its loop, must be `#[inline(always)]`: only inlined code is compiled for the tier.
pub trait Work {
    /// What the loop reads.
    type Source: ?Sized;
    /// What the loop writes. It is a separate argument, so that the compiler knows that it does not overlap the source.
    type Destination: ?Sized;
    /// What the loop returns.
    type Output;

    /// Runs the loop.
    fn run(src: &Self::Source, dst: &mut Self::Destination) -> Self::Output;
}
