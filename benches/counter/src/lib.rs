//! A plugin for QEMU's emulation of Linux programs that counts executed instructions between marks.
//!
//! The law: a count is the number of instructions of the guest, the same in every run of the same program, on whatever
//! machine QEMU itself runs and wherever the program's code lies. Every instruction counts itself when it is executed: one that
//! repeats itself (`rep movsb`) does so for each repetition. To count whole blocks would be quicker and wrong: versions of QEMU say
//! that a block has one instruction more than it has if the next one would have crossed the end of a page.
//!
//! A program sets a mark by a system call that does not exist, number `MARK`: it returns an error and does nothing, with or
//! without QEMU. The plugin notes the count at that moment, and when the program exits it writes all notes, one per line, to
//! the file of its argument `out=FILE`.
//!
//! It counts for one thread. Instructions of others would be counted as well, and now and then lost.

#![cfg(target_os = "linux")]

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    fmt::Write,
    fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicI32, AtomicU64, Ordering::Relaxed},
    },
};

/// The number of the system call that marks; `lanecast_bench::count::mark` calls it.
const MARK: i64 = 0x1A4E;

/// The plugin API that QEMU looks for before it calls anything. All that is used here is the same in versions 1 to 4, but
/// QEMU 9 and later refuse version 1, and earlier ones know no other.
#[unsafe(export_name = "qemu_plugin_version")]
static VERSION: AtomicI32 = AtomicI32::new(1);

/// Runs when the library is loaded, which is before QEMU reads the version.
#[used]
#[unsafe(link_section = ".init_array")]
static SET_VERSION: extern "C" fn() = set_version;

extern "C" fn set_version() {
    // A function that version 2 brought.
    // SAFETY: the name ends in a zero byte; looking it up has no effect.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"qemu_plugin_scoreboard_new".as_ptr()) };
    if !found.is_null() {
        VERSION.store(2, Relaxed);
    }
}

// From qemu-plugin.h. Identifiers are 64-bit numbers; blocks are opaque.
type Id = u64;
#[repr(C)]
struct Block {
    _opaque: [u8; 0],
}
#[repr(C)]
struct Instruction {
    _opaque: [u8; 0],
}
type BlockTranslated = extern "C" fn(Id, *mut Block);
type Executed = extern "C" fn(c_uint, *mut c_void);
type SystemCall = extern "C" fn(Id, c_uint, i64, u64, u64, u64, u64, u64, u64, u64, u64);
type AtExit = extern "C" fn(Id, *mut c_void);
/// `QEMU_PLUGIN_CB_NO_REGS`: the callback neither reads nor writes registers of the guest.
const NO_REGISTERS: c_int = 0;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: Id, callback: BlockTranslated);
    fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    fn qemu_plugin_tb_get_insn(block: *const Block, index: usize) -> *mut Instruction;
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        callback: Executed,
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_vcpu_syscall_cb(id: Id, callback: SystemCall);
    fn qemu_plugin_register_atexit_cb(id: Id, callback: AtExit, data: *mut c_void);
}

/// Instructions so far.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The file for the notes, and the notes.
static NOTES: Mutex<(String, Vec<u64>)> = Mutex::new((String::new(), Vec::new()));

extern "C" fn translated(_: Id, block: *mut Block) {
    // SAFETY: QEMU calls this with a block that is valid until it returns, as its instructions are.
    unsafe {
        for index in 0..qemu_plugin_tb_n_insns(block) {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, NO_REGISTERS, std::ptr::null_mut());
        }
    }
}

extern "C" fn executed(_: c_uint, _: *mut c_void) {
    // Not `fetch_add`: the instruction for that takes several times as long, and there is one thread.
    COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
}

extern "C" fn system_call(
    _: Id,
    _: c_uint,
    number: i64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
    _: u64,
) {
    if number == MARK {
        NOTES.lock().unwrap_or_else(PoisonError::into_inner).1.push(COUNT.load(Relaxed));
    }
}

extern "C" fn exit(_: Id, _: *mut c_void) {
    let notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut text = String::new();
    for note in &notes.1 {
        let _ = writeln!(text, "{note}");
    }
    if let Err(error) = fs::write(&notes.0, text) {
        eprintln!("lanecast-counter: {}: {error}", notes.0);
    }
}

/// What QEMU calls first. Returns 0, or what is not 0 to end it.
///
/// # Safety
///
/// `arguments` are `count` strings that end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: Id,
    _: *const c_void,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    let argument = |k: usize| {
        // SAFETY: by the caller, there are so many strings, and they are strings.
        unsafe { CStr::from_ptr(*arguments.add(k)) }.to_string_lossy().into_owned()
    };
    let out = (0..count as usize).find_map(|k| argument(k).strip_prefix("out=").map(str::to_owned));
    let Some(out) = out else {
        eprintln!("lanecast-counter: no argument out=FILE");
        return 1;
    };
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).0 = out;
    // SAFETY: these may be called from here with the identifier that QEMU gave, and the functions live as long as the library.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_vcpu_syscall_cb(id, system_call);
        qemu_plugin_register_atexit_cb(id, exit, std::ptr::null_mut());
    }
    0
}
