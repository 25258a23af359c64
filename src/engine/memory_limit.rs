//! Memory limit while loading: a file is rejected while enough memory is left to report the error.

use super::protocol::{MAX_TABLE_BYTES_32_BIT, Progress};
use base::units::Bytes;

/// Maximum size of tables on this machine, in bytes. Unlimited on 64-bit systems, where the operating system decides.
pub(super) const MAX_TABLE_BYTES: u64 = if usize::BITS == 32 { MAX_TABLE_BYTES_32_BIT } else { u64::MAX };

/// Number of unpacked bytes between two measurements. A measurement takes some microseconds, and in the worst case
/// tables need fifty times the unpacked bytes.
const BYTES_PER_CHECK: u64 = 4 << 20;

/// Error: the file needs more memory than is allowed.
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

/// Monitor of the memory that a file takes while it is loaded.
pub(super) struct MemoryMonitor {
    max_bytes: u64,
    bytes_until_check: u64,
}

impl MemoryMonitor {
    /// Creates a monitor that allows tables of up to `max_bytes`.
    pub(super) fn new(max_bytes: u64) -> MemoryMonitor {
        MemoryMonitor { max_bytes, bytes_until_check: BYTES_PER_CHECK.min(max_bytes) }
    }

    /// Counts `decoded` more bytes. Every [`BYTES_PER_CHECK`] bytes, calls `measure` for the bytes on the heap and the
    /// number of events read so far, and fails if the heap is too large.
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

/// Rounds down to one significant digit. The number is advice, not a count.
fn rounded_down(events: u64) -> u64 {
    let unit = 10u64.pow(events.checked_ilog10().unwrap_or(0));
    events / unit * unit
}

#[cfg(test)]
#[path = "../../tests/units/engine/memory.rs"]
mod tests;
