//! The exit codes.

/// The exit codes of the program. 0 is success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// `check` found something, or `diff` found more than `--fail-above` allows.
    Findings = 1,
    /// The command line is wrong: it names something that does not exist, or contradicts itself.
    Usage = 2,
    /// Reading or writing failed, or the output exists already.
    Io = 3,
    /// The input is invalid: truncated, corrupt or hostile.
    Format = 4,
    /// The input is valid, but the request is not supported.
    Unsupported = 5,
    /// The target cannot hold a value, and `--on-loss` or `--max-underflow` refuses that.
    Loss = 6,
    /// SIGHUP ended the program.
    Hangup = 129,
    /// SIGINT ended the program.
    Interrupt = 130,
    /// The output pipe was closed by its reader; the code is the one of SIGPIPE.
    Pipe = 141,
    /// SIGTERM ended the program.
    Terminate = 143,
}
