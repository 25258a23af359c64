//! Signals that end the program: Ctrl+C everywhere, SIGTERM and SIGHUP on Unix.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static IS_HANDLED: AtomicBool = AtomicBool::new(false);

/// Calls `handler` with the number of each signal, on a thread of its own, instead of ending the program.
///
/// # Errors
/// Returns an I/O error if the signals have a handler already, which then decides how the program ends.
pub(crate) fn handle(handler: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    if IS_HANDLED.swap(true, Ordering::Relaxed) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    listen(handler)
}

#[cfg(unix)]
fn listen(handler: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored_signals();
    let all = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let mut signals = signal_hook::iterator::Signals::new(all)?;
    std::thread::spawn(move || signals.forever().for_each(handler));
    Ok(())
}

/// Returns the signals that this process was started to ignore, as `nohup` does with SIGHUP: bit 0 stands for signal 1.
/// Known on Linux only.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn listen(mut handler: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    /// Number of SIGINT. This system has no numbers for its events.
    const INTERRUPT: i32 = 2;
    ctrlc::set_handler(move || handler(INTERRUPT)).map_err(io::Error::other)
}
