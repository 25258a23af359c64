//! Whether a file fits into memory: refused with a sentence while there is still memory to say it.

use super::protocol::{MOST_OF_32_BITS, Progress};
use base::units::Bytes;

/// What tables may take on this machine; where addresses have more bits, the system knows better than we do.
pub(super) const MOST: u64 = if usize::BITS == 32 { MOST_OF_32_BITS } else { u64::MAX };

/// Unpacked bytes between two looks: a look costs some microseconds, and the worst of bytes cost us fifty times their number.
const BYTES_PER_LOOK: u64 = 4 << 20;

/// Why a file is refused.
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

/// Looks at the memory that a file takes while it is read.
pub(super) struct Watch {
    most: u64,
    until_look: u64,
}

impl Watch {
    /// Tables may take `most` bytes.
    pub(super) fn new(most: u64) -> Watch {
        Watch { most, until_look: BYTES_PER_LOOK.min(most) }
    }

    /// After so many more bytes were decoded. Now and then it has the bytes held and the events read so far measured.
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
    /// What was read, what that took, what all would take, and what to do about it.
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

/// To one digit: it is advice, not a count.
fn rounded_down(events: u64) -> u64 {
    let unit = 10u64.pow(events.checked_ilog10().unwrap_or(0));
    events / unit * unit
}

#[cfg(test)]
#[path = "../../tests/units/engine/memory.rs"]
mod tests;
