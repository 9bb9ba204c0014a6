//! Signals that end the program: SIGHUP, SIGINT and SIGTERM.
//!
//! The first signal cancels the work between two blocks ([`ended`] is the hook), which removes the temporary file. The program then
//! prints one line and exits with 128 plus the number of the signal. If the work does not reach its next block, because it waits for
//! a pipe or a disk, a thread does the same after [`GRACE`], or at once on a second signal. Signals that were ignored when the
//! program started stay ignored, as `nohup` requires.

#[cfg(unix)]
pub use unix::{ended, exit, leave, line, watch};

#[cfg(unix)]
mod unix {
    use std::{
        io::{self, IsTerminal, Write},
        sync::{
            atomic::{AtomicBool, AtomicI32, Ordering},
            mpsc,
        },
        thread,
        time::Duration,
    };

    use signal_hook::{
        consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ},
        iterator::Signals,
    };

    use crate::{exit::Exit, terminal};

    /// How long the work may take to reach its next block.
    const GRACE: Duration = Duration::from_millis(300);

    /// The signals, their names and the exit codes.
    const ENDING: [(i32, &str, Exit); 3] = [
        (SIGHUP, "SIGHUP", Exit::Hangup),
        (SIGINT, "SIGINT", Exit::Interrupt),
        (SIGTERM, "SIGTERM", Exit::Terminate),
    ];

    /// The first signal, 0 before there is one.
    static FIRST: AtomicI32 = AtomicI32::new(0);
    /// Whether a thread has begun to print the line.
    static SAID: AtomicBool = AtomicBool::new(false);

    /// Installs the handlers: signals end the work, and a write beyond the limit on file sizes fails as on a full disk.
    pub fn watch() {
        let (ready, watching) = mpsc::channel();
        let watcher = thread::Builder::new().name("signals".into()).spawn(move || {
            let ignored = ignored();
            let ending =
                ENDING.iter().map(|(signal, ..)| *signal).filter(|signal| ignored >> (signal - 1) & 1 == 0);
            // With a handler for SIGXFSZ, `write` returns an error instead; the handler itself has nothing to do.
            let signals = Signals::new(ending.chain([SIGXFSZ]));
            let _ = ready.send(());
            let Ok(mut signals) = signals else { return };
            for signal in signals.forever().filter(|signal| *signal != SIGXFSZ) {
                if FIRST.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                    end();
                }
                let late = thread::Builder::new().spawn(|| {
                    thread::sleep(GRACE);
                    end()
                });
                if late.is_err() {
                    end();
                }
            }
        });
        if watcher.is_ok() {
            let _ = watching.recv();
        }
    }

    /// The ignored signals, as a bit set. (The portable system call for this is unsafe.)
    fn ignored() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }

    /// Whether a signal ended the work.
    pub fn ended() -> bool {
        FIRST.load(Ordering::SeqCst) != 0
    }

    fn first() -> (&'static str, Exit) {
        let first = FIRST.load(Ordering::SeqCst);
        let found = ENDING.iter().find(|(signal, ..)| *signal == first);
        found.map_or(("the caller", Exit::Interrupt), |(_, name, exit)| (name, *exit))
    }

    /// The exit code of the signal.
    pub fn exit() -> Exit {
        first().1
    }

    /// The line to print about it.
    pub fn line() -> String {
        format!("ended by {}", first().0)
    }

    /// Waits for the end of the program if another thread is printing the line.
    pub fn leave() {
        while SAID.swap(true, Ordering::SeqCst) {
            thread::park();
        }
    }

    /// Ends the program, whatever the work is doing.
    fn end() -> ! {
        lanecast_files::abandon();
        leave();
        if io::stderr().is_terminal() {
            // The progress bar is on the line.
            let _ = io::stderr().write_all(b"\r\x1b[2K");
        }
        let _ = terminal::error(&format!("lanecast: {}\n", line()));
        std::process::exit(i32::from(exit() as u8))
    }
}

#[cfg(not(unix))]
pub use other::{ended, exit, leave, line, watch};

/// On other systems a signal ends the program, and the next run reports the leftover.
#[cfg(not(unix))]
mod other {
    use crate::exit::Exit;

    pub fn watch() {}

    pub fn ended() -> bool {
        false
    }

    pub fn exit() -> Exit {
        Exit::Interrupt
    }

    pub fn line() -> String {
        "cancelled".into()
    }

    pub fn leave() {}
}
