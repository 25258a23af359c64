//! Constants of the format: sections, columns, limits. Writer and reader have no other code in common.
//!
//! An event is one byte of the `kinds` column. The bits of this byte determine which other columns have a value for it:
//!
//! | bits | meaning if set | column if clear |
//! |---|---|---|
//! | 0–3 | (the action, as in `Action::ALL`) | |
//! | 4 | same address as the previous event | see below |
//! | 5 | free: last size at this address; other events: size of the last event that was not a free | `sizes` |
//! | 6 | same stack as the previous event | `stacks`: difference |
//! | 7 | address not seen before in this trace, in `new addresses`: difference to the last new one | see below |
//!
//! If neither bit 4 nor bit 7 is set, a free stores how many mentions ago its address occurred (`ages`). Other events
//! store the index of the known address (`addresses`). A mention is an event that is not a free, or that has a new
//! address. `times` is the time in µs since the previous event, or 255 if this time is stored in `long times`. `labels`
//! is 0 if the labels equal the labels of the previous event.

/// First bytes of every file of compact columns.
pub const MAGIC: &[u8; 16] = crate::container::COLUMNS_MAGIC;
/// Version of the format that this program writes, and the only one that it reads.
pub const VERSION: u8 = 1;
/// Flag in the version byte for a cache file, which is read in place of the original file.
pub const CACHE_FLAG: u8 = 128;

/// Length in bytes of a section header, which contains the kind and the payload length.
pub(super) const HEADER_BYTES: usize = 5;
/// Length of a section's checksum, in bytes.
pub(super) const CHECKSUM_BYTES: usize = 4;

/// Maximum length of a section's payload, in bytes. A reader holds one section in memory.
pub(super) const MAX_BYTES: usize = 4 << 20;
/// Payload size in bytes at which the writer starts a new section. It is below [`MAX_BYTES`], because the last event
/// may still add up to eighty bytes.
pub(super) const FLUSH_BYTES: usize = 3 << 20;
/// Maximum number of events in a section. gzip compresses long columns better: with a quarter of this limit, files are
/// a tenth larger.
pub(super) const MAX_EVENTS: usize = 1 << 18;
/// Maximum number of rows in a table section. A table section is decoded in one step, so this bounds the duration of a
/// step.
pub(super) const MAX_ROWS: usize = 1 << 15;

/// Kinds of sections, as stored in the section headers.
pub(super) mod section_kind {
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
    pub(in crate::compact) const FILE_INFO: u8 = 12;
    /// Section that contains the next part of a serialized history. These sections replace the events in a cache file.
    pub(in crate::compact) const IMAGE: u8 = 14;
    /// Section that contains the next part of the recorder's data.
    pub(in crate::compact) const RECORDED: u8 = 13;
}

/// Indices of the columns of an event section: kinds, new addresses, addresses, ages, sizes, times, long times, stacks,
/// labels.
pub(super) mod column {
    pub(in crate::compact) const KINDS: usize = 0;
    pub(in crate::compact) const COUNT: usize = 9;
}

/// Bits of an event's `kinds` byte that contain the action.
pub(super) const ACTION: u8 = 15;
pub(super) const SAME_ADDRESS: u8 = 16;
pub(super) const SAME_SIZE: u8 = 32;
pub(super) const SAME_STACK: u8 = 64;
pub(super) const NEW_ADDRESS: u8 = 128;

/// Value in the column `times` if the time difference is stored in the column `long times`.
pub(super) const LONG_TIME: u8 = 255;

// Flags of labels and segments.
pub(super) const HAS_STREAM: u8 = 1;
pub(super) const HAS_POOL: u8 = 2;
// Flags of segments only.
pub(super) const HAS_ADDRESS: u8 = 4;
pub(super) const IS_SMALL: u8 = 8;
pub(super) const IS_EXPANDABLE: u8 = 16;

/// Codes of decoder warnings. Warnings that name an object or a format also store its index in [`NOUNS`].
pub(super) mod warning_code {
    pub(in crate::compact) const UNKNOWN_KEY: u64 = 0;
    pub(in crate::compact) const UNKNOWN_ACTION: u64 = 1;
    pub(in crate::compact) const UNKNOWN_STATE: u64 = 2;
    pub(in crate::compact) const NO_SEGMENTS: u64 = 3;
    pub(in crate::compact) const FROM_PLOT_DATA: u64 = 4;
    pub(in crate::compact) const TRAILING_BYTES: u64 = 5;
    pub(in crate::compact) const SINGLE_POOL: u64 = 6;
    pub(in crate::compact) const SIMULATED: u64 = 7;
    pub(in crate::compact) const UNKNOWN_STAGE: u64 = 8;
    pub(in crate::compact) const NO_STACKS: u64 = 9;
    pub(in crate::compact) const NOT_RECORDED: u64 = 10;
    pub(in crate::compact) const EVENTS_OVERWRITTEN: u64 = 11;
    pub(in crate::compact) const FROM_PROFILER: u64 = 12;
    pub(in crate::compact) const EVENTS_LIKELY_OVERWRITTEN: u64 = 13;
}

/// Objects that can have unknown keys, and formats that can have trailing bytes.
pub(super) const NOUNS: [&str; 18] = [
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
    "zlib",
    "tar",
    "UTF-16",
    "torch.save",
    "a trace of torch.profiler",
    "a raw memory timeline of torch.profiler",
];

/// Returns the checksum of a section of a cache file. This is many times faster than [`checksum`].
pub fn fast_checksum(bytes: &[u8]) -> u32 {
    // Four independent lanes, because a multiplication has to wait for the one before.
    let mut lanes = [1u64, 2, 3, 4];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (lane, word) in lanes.iter_mut().zip(block.as_chunks().0) {
            *lane = mix(*lane ^ u64::from_le_bytes(*word));
        }
    }
    let ends = rest.iter().map(|&byte| u64::from(byte)).chain(lanes).chain([bytes.len() as u64]);
    (ends.fold(5, |sum, word| mix(sum ^ word)) >> 32) as u32
}

/// Scrambles a word with a bijective mapping.
#[inline(always)]
fn mix(word: u64) -> u64 {
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

/// Returns the checksum of a section (FNV-1a). It detects damage, but not tampering.
pub fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, &byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
