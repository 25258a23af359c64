//! The form in numbers: sections, columns, limits. Writer and reader agree on nothing else.
//!
//! An event is a byte of its `kinds` column and what that byte leaves open:
//!
//! | bits | says | else |
//! |---|---|---|
//! | 0–3 | the action, as in `Action::ALL` | |
//! | 4 | the address of the event before | |
//! | 5 | a free: the size last seen at this address; others: the size of the last that was no free | `sizes` |
//! | 6 | the stack of the event before | `stacks`: difference |
//! | 7 | an address not seen before in this trace | `new addresses`: difference to the last new one |
//!
//! With neither bit 4 nor bit 7 a free says how many mentions ago its address was named (`ages`), all others which of the known
//! addresses it is (`addresses`). A mention is an event that is no free, or whose address is new. `times` is µs since the event before,
//! 255 when that is in `long times`; `labels` is 0 for those of the event before.

/// The first bytes of the form.
pub const MAGIC: &[u8; 16] = crate::container::COLUMNS;
/// The version that this program writes, and the only one it reads.
pub const VERSION: u8 = 1;
/// Set in the version of columns that are read in place of the file they were written of: they are no format of their own.
pub const KEPT: u8 = 128;

/// Bytes of a section's head: what it is, and the length of its payload.
pub(super) const HEAD: usize = 5;
/// Bytes of its sum.
pub(super) const SUM: usize = 4;

/// Bytes of a section's payload, at most: a reader holds one section.
pub(super) const MOST_BYTES: usize = 4 << 20;
/// Bytes of events after which a writer begins the next section: so many fit, and one event has no more than eighty.
pub(super) const FULL: usize = 3 << 20;
/// Events of a section. gzip finds repetitions within 32 KiB: in columns of more events it finds more (sections of a quarter as
/// many take a tenth more).
pub(super) const MOST_EVENTS: usize = 1 << 18;
/// Rows of a table's section: it is read in one step.
pub(super) const MOST_ROWS: usize = 1 << 15;

/// What a section holds.
pub(super) mod what {
    pub(in crate::compact) const END: u8 = 0;
    pub(in crate::compact) const EVENTS: u8 = 1;
    pub(in crate::compact) const STRINGS: u8 = 2;
    pub(in crate::compact) const FRAMES: u8 = 3;
    pub(in crate::compact) const STACKS: u8 = 4;
    pub(in crate::compact) const LINES: u8 = 5;
    pub(in crate::compact) const LABELS: u8 = 6;
    pub(in crate::compact) const BLOCKS: u8 = 7;
    pub(in crate::compact) const SEGMENTS: u8 = 8;
    pub(in crate::compact) const MARKS: u8 = 9;
    pub(in crate::compact) const SETTINGS: u8 = 10;
    pub(in crate::compact) const WARNINGS: u8 = 11;
    pub(in crate::compact) const ABOUT: u8 = 12;
    /// A part of what was made of all events, in their place.
    pub(in crate::compact) const IMAGE: u8 = 14;
    /// Bytes of what the recorder added, in order.
    pub(in crate::compact) const RECORDED: u8 = 13;
}

/// The columns of events: kinds, new addresses, addresses, ages, sizes, times, long times, stacks, labels.
pub(super) mod column {
    pub(in crate::compact) const KINDS: usize = 0;
    pub(in crate::compact) const COUNT: usize = 9;
}

/// Bits of a kind.
pub(super) const ACTION: u8 = 15;
pub(super) const SAME_ADDRESS: u8 = 16;
pub(super) const SAME_SIZE: u8 = 32;
pub(super) const SAME_STACK: u8 = 64;
pub(super) const NEW_ADDRESS: u8 = 128;

/// In `times`: the difference is in `long times`.
pub(super) const LONG: u8 = 255;

/// Flags of a row of labels.
pub(super) const HAS_STREAM: u8 = 1;
pub(super) const HAS_POOL: u8 = 2;
/// Further flags of a segment.
pub(super) const HAS_ADDRESS: u8 = 4;
pub(super) const IS_SMALL: u8 = 8;
pub(super) const IS_EXPANDABLE: u8 = 16;

/// What warnings that a decoder gives are called, by number; those with a noun name one of [`NOUNS`].
pub(super) mod oddity {
    pub(in crate::compact) const UNKNOWN_KEY: u64 = 0;
    pub(in crate::compact) const UNKNOWN_ACTION: u64 = 1;
    pub(in crate::compact) const UNKNOWN_STATE: u64 = 2;
    pub(in crate::compact) const NO_SEGMENTS: u64 = 3;
    pub(in crate::compact) const FROM_A_DRAWING: u64 = 4;
    pub(in crate::compact) const BYTES_BEHIND: u64 = 5;
    pub(in crate::compact) const ONE_POOL: u64 = 6;
    pub(in crate::compact) const SIMULATED: u64 = 7;
    pub(in crate::compact) const UNKNOWN_STAGE: u64 = 8;
}

/// What has unknown keys, and what has bytes behind its end.
pub(super) const NOUNS: [&str; 12] = [
    "an event",
    "a segment",
    "a block",
    "a frame",
    "a block's history",
    "the snapshot",
    "pickle",
    "gzip",
    "zstd",
    "HTML",
    "zip",
    "columns",
];

/// The sum of the bytes of a section that is read in place of a file: many times as fast.
pub fn wide_sum(bytes: &[u8]) -> u32 {
    // Four at once: each multiplication waits for the one before.
    let mut lanes = [1u64, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane = mixed(*lane ^ u64::from_le_bytes(*word));
        }
    }
    let ends = rest.iter().map(|&byte| u64::from(byte)).chain(lanes).chain([bytes.len() as u64]);
    (ends.fold(5, |sum, word| mixed(sum ^ word)) >> 32) as u32
}

/// Another number for each.
#[inline(always)]
fn mixed(word: u64) -> u64 {
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// The sum of a section's bytes (FNV-1a): damage is found, which gzip around it finds as well; it is no signature.
pub fn sum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
