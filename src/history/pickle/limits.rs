//! How much of everything a pickle may ask for.

/// Longest string or bytes object. The longest a snapshot is known to hold are generated sources in `fx_original_trace`, under 1 MiB.
pub const STRING_BYTES: usize = 128 << 20;

/// Longest integer. Snapshots hold 64-bit ones, and XPU addresses take nine bytes; LONG1 can't be longer than this.
pub const INTEGER_BYTES: usize = 255;

/// Longest tuple. A snapshot's are pairs. A longer batch must therefore be a list's or a dict's, and is handed on before it is
/// complete: so the stack stays small however long the list is that torch's C++ pickler writes in one batch.
pub const TUPLE_ITEMS: usize = 4096;

/// Values on the stack: 32 MiB of handles. Batches longer than [`TUPLE_ITEMS`] do not stay on it.
pub const STACK_VALUES: usize = 1 << 22;

/// Containers begun and not complete, nested or side by side. A snapshot nests six deep; beside each other stand at most the
/// frames that are new in one stack, or the batch of 1000 lists that Python writes at a time.
pub const OPEN_CONTAINERS: usize = 1 << 16;

/// Memo slots: 2 GiB of handles, half of a wasm memory. Two an event make a file of 40 GB.
pub const MEMO_SLOTS: usize = 1 << 28;

/// Memo slots skipped over and not yet written. Writers count up from 0; a tool that dropped unused slots may have left some gaps.
pub const MEMO_HOLES: usize = 1 << 16;

/// Bytes of slices remembered for the short cut of `slices`; a full table starts over. The largest files have some hundred thousand
/// different stacks of 100 to 400 bytes.
pub const SLICE_BYTES: usize = 64 << 20;

/// Pairs of a dict that is read at a stroke by the short cut of `whole`. The entries of the newest PyTorch have eleven.
pub const WHOLE_PAIRS: usize = 24;

/// The limits one machine works under.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// See [`STRING_BYTES`].
    pub string_bytes: usize,
    /// See [`INTEGER_BYTES`].
    pub integer_bytes: usize,
    /// See [`TUPLE_ITEMS`]; at least 4.
    pub tuple_items: usize,
    /// See [`STACK_VALUES`].
    pub stack_values: usize,
    /// See [`OPEN_CONTAINERS`].
    pub open_containers: usize,
    /// See [`MEMO_SLOTS`].
    pub memo_slots: usize,
    /// See [`MEMO_HOLES`].
    pub memo_holes: usize,
    /// See [`SLICE_BYTES`]; 0 switches the short cut off.
    pub slice_bytes: usize,
    /// See [`WHOLE_PAIRS`]; 0 switches the short cut off.
    pub whole_pairs: usize,
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
            whole_pairs: WHOLE_PAIRS,
        }
    }
}
