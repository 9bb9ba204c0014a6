//! Counting without an emulator: the guest runs on this CPU, one instruction at a time.
//!
//! No emulator at hand knows AVX-512. The kernel of Linux can stop a program after every instruction, so between two marks the host
//! lets the guest take single steps and counts them; elsewhere the guest runs freely. A step takes microseconds, and the counts are as exact as
//! those of an emulator, but of this CPU: its finer features choose kernels, so the record names them.

/// What stands in a record in place of an emulator's name.
pub const NAME: &str = "single steps";

/// Runs a guest: what it printed, and a line for each mark with the instructions that were counted until then.
///
/// # Errors
///
/// If it cannot be traced, or fails.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub fn run(_: std::process::Command) -> Result<(Vec<u8>, String), String> {
    Err("instructions are counted by single steps on x86-64 Linux only".into())
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub use linux::run;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use crate::count::mark::MARK;
    use std::{
        ffi::c_long,
        fmt::Write as _,
        io::{self, Read},
        os::unix::process::CommandExt,
        process::{Command, Stdio},
        ptr, thread,
    };

    /// A stop for a system call, by `PTRACE_O_TRACESYSGOOD`.
    const SYSTEM_CALL: i32 = libc::SIGTRAP | 0x80;

    /// Runs a guest: what it printed, and a line for each mark with the instructions that were counted until then.
    ///
    /// # Errors
    ///
    /// If it cannot be traced, or fails.
    pub fn run(mut guest: Command) -> Result<(Vec<u8>, String), String> {
        // SAFETY: both are system calls, which may be made between `fork` and `exec`.
        unsafe {
            guest.pre_exec(|| {
                // Stacks at other addresses have other alignments. Where that is forbidden, counts of two runs may differ.
                libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                request(libc::PTRACE_TRACEME, 0, 0, 0).map(drop)
            });
        }
        let mut child =
            guest.stdout(Stdio::piped()).spawn().map_err(|error| format!("the guest: {error}"))?;
        let mut out = child.stdout.take().ok_or("the guest has no output")?;
        // A guest whose output nobody takes waits for ever.
        let reader = thread::spawn(move || {
            let mut printed = Vec::new();
            out.read_to_end(&mut printed).map(|_| printed)
        });
        let traced = Guest { id: child.id() as libc::pid_t }.trace();
        if traced.is_err() {
            let _ = child.kill();
        }
        let marks = traced.map_err(|error| format!("the guest, step by step: {error}"))?;
        let printed = reader.join().map_err(|_| "the reader of the guest's output panicked")?;
        Ok((printed.map_err(|error| format!("the guest's output: {error}"))?, marks))
    }

    /// A request of `ptrace`, whose answer may be negative only if it fails.
    ///
    /// # Safety
    ///
    /// `data` is what the request takes there.
    unsafe fn request(
        request: libc::c_uint,
        id: libc::pid_t,
        address: usize,
        data: usize,
    ) -> io::Result<c_long> {
        // SAFETY: as the caller promises.
        let answer = unsafe { libc::ptrace(request, id, address, data) };
        if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
    }

    struct Guest {
        id: libc::pid_t,
    }

    impl Guest {
        fn trace(&self) -> io::Result<String> {
            // It stops when its program has been loaded.
            self.wait()?;
            let options = libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
            // SAFETY: the options are a number.
            unsafe { request(libc::PTRACE_SETOPTIONS, self.id, 0, options as usize)? };
            let (mut marks, mut steps, mut counting, mut signal) = (String::new(), 0_u64, false, 0);
            loop {
                // While it counts, a system call is not made, only seen: the marks are the only ones.
                let next = if counting { libc::PTRACE_SYSEMU_SINGLESTEP } else { libc::PTRACE_SYSCALL };
                // SAFETY: the signal is a number.
                unsafe { request(next, self.id, 0, signal as usize)? };
                let status = self.wait()?;
                signal = 0;
                if libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 {
                    return Ok(marks);
                }
                if !libc::WIFSTOPPED(status) {
                    return Err(io::Error::other(format!("it ended with the wait status {status:#x}")));
                }
                match libc::WSTOPSIG(status) {
                    libc::SIGTRAP => steps += u64::from(counting),
                    SYSTEM_CALL => match self.begins_call()? {
                        Some(call) if call == MARK as u64 => {
                            let _ = writeln!(marks, "{steps}");
                            counting = !counting;
                        }
                        Some(call) if counting => {
                            return Err(io::Error::other(format!("a cast makes the system call {call}")));
                        }
                        _ => {}
                    },
                    other => signal = other,
                }
            }
        }

        /// Waits for the guest to stop or to end.
        fn wait(&self) -> io::Result<i32> {
            let mut status = 0;
            // SAFETY: `status` is what the call writes to.
            match unsafe { libc::waitpid(self.id, &mut status, 0) } {
                -1 => Err(io::Error::last_os_error()),
                _ => Ok(status),
            }
        }

        /// The system call that begins; `None` if one ends.
        fn begins_call(&self) -> io::Result<Option<u64>> {
            // `struct ptrace_syscall_info`: the kind of stop in the first byte, the number of the call from byte 24 on.
            let mut info = [0_u64; 11];
            // SAFETY: `info` has as many bytes as the request is told.
            unsafe {
                let address = ptr::from_mut(&mut info).addr();
                request(libc::PTRACE_GET_SYSCALL_INFO, self.id, size_of_val(&info), address)?;
            }
            let begins = info[0].to_ne_bytes()[0] == libc::PTRACE_SYSCALL_INFO_ENTRY;
            Ok(begins.then_some(info[3]))
        }
    }
}
