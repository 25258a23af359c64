//! Memory limit while a file is loaded. Files are rejected early enough to have memory left for the error message.

use base::units::Bytes;
use protocol::{MAX_TABLE_BYTES_32_BIT, Progress};

/// Maximum size of a file's tables on this machine, in bytes. There is no limit on 64-bit systems, because the
/// operating system handles shortages.
pub const MAX_TABLE_BYTES: u64 = if usize::BITS == 32 { MAX_TABLE_BYTES_32_BIT } else { u64::MAX };

/// Number of uncompressed bytes between two measurements. A measurement takes a few microseconds. In the worst case,
/// the tables need fifty times as much memory as these bytes.
const BYTES_PER_CHECK: u64 = 4 << 20;

/// Error: the file needs more memory than allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.message())]
pub(super) struct TooLarge(Measured);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Measured {
    read: u64,
    total: Option<u64>,
    in_use: u64,
    events: u64,
}

/// Monitors the memory usage while a file is loaded.
pub(super) struct MemoryMonitor {
    max_bytes: u64,
    bytes_until_check: u64,
}

impl MemoryMonitor {
    /// Creates a monitor that limits the size of the tables to `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> MemoryMonitor {
        MemoryMonitor { max_bytes, bytes_until_check: BYTES_PER_CHECK.min(max_bytes) }
    }

    /// Counts `decoded` more bytes, and checks the heap size every [`BYTES_PER_CHECK`] bytes. Fails if the heap is too
    /// large. `measure` returns the heap size in bytes, and the number of events read so far.
    pub(super) fn check(
        &mut self,
        decoded: usize,
        progress: &Progress,
        measure: impl FnOnce() -> (u64, u64),
    ) -> Result<(), TooLarge> {
        self.bytes_until_check = self.bytes_until_check.saturating_sub(decoded as u64);
        if self.bytes_until_check > 0 {
            return Ok(());
        }
        *self = MemoryMonitor::new(self.max_bytes);
        let (in_use, events) = measure();
        if in_use <= self.max_bytes {
            return Ok(());
        }
        Err(TooLarge(Measured { read: progress.bytes, total: progress.total_bytes, in_use, events }))
    }
}

impl Measured {
    /// Formats the message: bytes read, memory in use, estimated need, and advice.
    fn message(&self) -> String {
        let Measured { read, total, in_use, events } = *self;
        let rest = total.filter(|&total| total > read).map_or_else(String::new, |total| {
            let needed = u128::from(in_use) * u128::from(total) / u128::from(read.max(1));
            format!(" of {}, about {} needed", Bytes(total), Bytes(u64::try_from(needed).unwrap_or(u64::MAX)))
        });
        let entries = rounded_down(events);
        let fewer = if entries > 0 { format!(" (max_entries={entries})") } else { String::new() };
        let (held, read) = (Bytes(in_use), Bytes(read));
        format!(
            "not enough memory: {held} in use after reading {read}{rest}. Use the command line, or record fewer events{fewer}"
        )
    }
}

/// Rounds down to one significant digit. The number is shown as advice, so it need not be exact.
fn rounded_down(events: u64) -> u64 {
    let unit = 10u64.pow(events.checked_ilog10().unwrap_or(0));
    events / unit * unit
}

#[cfg(test)]
#[path = "../../tests/units/intake/memory.rs"]
mod tests;
