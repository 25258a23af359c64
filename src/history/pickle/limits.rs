//! Limits of the pickle parser.

/// Maximum length of a string or bytes object, in bytes. The longest known strings of a snapshot are generated sources
/// in `fx_original_trace`, under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Maximum length of an integer, in bytes. This is the maximum of LONG1. Snapshots contain 64-bit integers, and XPU
/// addresses of nine bytes.
pub const INTEGER_BYTES: usize = 255;

/// Maximum length of a tuple. Tuples in a snapshot are pairs. A longer batch must belong to a list or dict, and is
/// passed to the builder in parts. This keeps the stack small for the long batches of PyTorch's C++ pickler.
pub const TUPLE_ITEMS: usize = 4096;

/// Maximum number of values on the stack: 32 MiB of handles. Batches longer than [`TUPLE_ITEMS`] are passed to their
/// containers before the stack is this high.
pub const STACK_VALUES: usize = 1 << 22;

/// Maximum number of open containers, nested or side by side. A snapshot has six nesting levels. Containers that are
/// open side by side are at most the new frames of one stack, or a batch of 1000 lists from Python's pickler.
pub const OPEN_CONTAINERS: usize = 1 << 16;

/// Maximum number of memo slots: 2 GiB of handles, half of a wasm memory. A file with this many has about 40 GB,
/// because an event needs two slots.
pub const MEMO_SLOTS: usize = 1 << 28;

/// Maximum number of memo slots that are skipped and not yet written. Picklers number slots from 0, but a tool that
/// drops unused slots may leave gaps.
pub const MEMO_HOLES: usize = 1 << 16;

/// Maximum total size of the cached slices of the list fast path, in bytes. A full cache is cleared. The largest files
/// have several hundred thousand different stacks of 100 to 400 bytes.
pub const SLICE_BYTES: usize = 64 << 20;

/// Maximum number of pairs in a dict that the dict fast path reads. Trace entries of the newest PyTorch version have
/// eleven pairs.
pub const FAST_DICT_PAIRS: usize = 24;

/// Limits on the lengths, nesting and memory that a pickle may use. Exceeding one is an error.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum length of a string or bytes object, see [`STRING_BYTES`].
    pub string_bytes: usize,
    /// Maximum length of an integer, see [`INTEGER_BYTES`].
    pub integer_bytes: usize,
    /// Maximum length of a tuple, see [`TUPLE_ITEMS`]. At least 4.
    pub tuple_items: usize,
    /// Maximum number of values on the stack, see [`STACK_VALUES`].
    pub stack_values: usize,
    /// Maximum number of open containers, see [`OPEN_CONTAINERS`].
    pub open_containers: usize,
    /// Maximum number of memo slots, see [`MEMO_SLOTS`].
    pub memo_slots: usize,
    /// Maximum number of skipped memo slots, see [`MEMO_HOLES`].
    pub memo_holes: usize,
    /// Maximum size of the cached slices, see [`SLICE_BYTES`]. 0 disables the list fast path.
    pub slice_bytes: usize,
    /// Maximum number of pairs on the dict fast path, see [`FAST_DICT_PAIRS`]. 0 disables it.
    pub fast_dict_pairs: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            string_bytes: STRING_BYTES,
            integer_bytes: INTEGER_BYTES,
            tuple_items: TUPLE_ITEMS,
            stack_values: STACK_VALUES,
            open_containers: OPEN_CONTAINERS,
            memo_slots: MEMO_SLOTS,
            memo_holes: MEMO_HOLES,
            slice_bytes: SLICE_BYTES,
            fast_dict_pairs: FAST_DICT_PAIRS,
        }
    }
}
