//! Limits of the pickle parser.

/// Maximum length of a string or bytes object, in bytes. The longest known in a snapshot are generated sources in
/// `fx_original_trace`, under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Maximum length of an integer, in bytes. Snapshots hold 64-bit integers, and XPU addresses take nine bytes. LONG1
/// allows at most this length.
pub const INTEGER_BYTES: usize = 255;

/// Maximum length of a tuple. Tuples in a snapshot are pairs. A longer batch must belong to a list or dict and is
/// passed on before it is complete. This keeps the stack small for the long batches of torch's C++ pickler.
pub const TUPLE_ITEMS: usize = 4096;

/// Maximum number of values on the stack: 32 MiB of handles. Batches longer than [`TUPLE_ITEMS`] do not stay on it.
pub const STACK_VALUES: usize = 1 << 22;

/// Maximum number of open containers, nested or side by side. A snapshot nests six deep. Side by side there are at most
/// the new frames of one stack, or a batch of 1000 lists from Python.
pub const OPEN_CONTAINERS: usize = 1 << 16;

/// Maximum number of memo slots: 2 GiB of handles, half of a wasm memory. With two slots per event, this is a file of
/// 40 GB.
pub const MEMO_SLOTS: usize = 1 << 28;

/// Maximum number of memo slots that are skipped and not yet written. Writers count up from 0, but a tool that dropped
/// unused slots may leave gaps.
pub const MEMO_HOLES: usize = 1 << 16;

/// Maximum total size of the cached slices of the list fast path, in bytes. A full cache starts over. The largest files
/// have some hundred thousand different stacks of 100 to 400 bytes.
pub const SLICE_BYTES: usize = 64 << 20;

/// Maximum number of pairs in a dict that the dict fast path reads. Entries of the newest PyTorch have eleven.
pub const FAST_DICT_PAIRS: usize = 24;

/// Limits of one parser.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// See [`STRING_BYTES`].
    pub string_bytes: usize,
    /// See [`INTEGER_BYTES`].
    pub integer_bytes: usize,
    /// See [`TUPLE_ITEMS`]. At least 4.
    pub tuple_items: usize,
    /// See [`STACK_VALUES`].
    pub stack_values: usize,
    /// See [`OPEN_CONTAINERS`].
    pub open_containers: usize,
    /// See [`MEMO_SLOTS`].
    pub memo_slots: usize,
    /// See [`MEMO_HOLES`].
    pub memo_holes: usize,
    /// See [`SLICE_BYTES`]. 0 disables the fast path.
    pub slice_bytes: usize,
    /// See [`FAST_DICT_PAIRS`]. 0 disables the fast path.
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
