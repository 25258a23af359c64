//! Memory limit while loading: a file is rejected while enough memory is left to report the error.

use super::protocol::{MOST_OF_32_BITS, Progress};
use base::units::Bytes;

/// Maximum size of tables on this machine, in bytes. Unlimited on 64-bit systems, where the operating system decides.
pub(super) const MOST: u64 = if usize::BITS == 32 { MOST_OF_32_BITS } else { u64::MAX };

/// Unpacked bytes between two measurements. A measurement takes some microseconds, and in the worst case tables need
/// fifty times the unpacked bytes.
const BYTES_PER_LOOK: u64 = 4 << 20;

/// Error: the file needs more memory than is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.sentence())]
pub(super) struct TooLarge(Measured);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Measured {
    read: u64,
    total: Option<u64>,
    held: u64,
    events: u64,
}

/// Monitor of the memory that a file takes while it is loaded.
pub(super) struct Watch {
    most: u64,
    until_look: u64,
}

impl Watch {
    /// Creates a monitor that allows tables of `most` bytes.
    pub(super) fn new(most: u64) -> Watch {
        Watch { most, until_look: BYTES_PER_LOOK.min(most) }
    }

    /// Counts `decoded` more bytes. Now and then calls `measure` for the bytes on the heap and the number of events
    /// read so far, and fails if the heap is too large.
    pub(super) fn look(
        &mut self,
        decoded: usize,
        progress: &Progress,
        measure: impl FnOnce() -> (u64, u64),
    ) -> Result<(), TooLarge> {
        self.until_look = self.until_look.saturating_sub(decoded as u64);
        if self.until_look > 0 {
            return Ok(());
        }
        *self = Watch::new(self.most);
        let (held, events) = measure();
        if held <= self.most {
            return Ok(());
        }
        Err(TooLarge(Measured { read: progress.bytes, total: progress.total_bytes, held, events }))
    }
}

impl Measured {
    /// Formats the message: bytes read, memory in use, estimated need, and advice.
    fn sentence(&self) -> String {
        let Measured { read, total, held, events } = *self;
        let rest = total.filter(|&total| total > read).map_or_else(String::new, |total| {
            let needed = u128::from(held) * u128::from(total) / u128::from(read.max(1));
            format!(" of {}, about {} needed", Bytes(total), Bytes(u64::try_from(needed).unwrap_or(u64::MAX)))
        });
        let entries = rounded_down(events);
        let fewer = if entries > 0 { format!(" (max_entries={entries})") } else { String::new() };
        let (held, read) = (Bytes(held), Bytes(read));
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
