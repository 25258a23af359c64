//! What is known of one allocation.

use serde::{Deserialize, Serialize};

/// One allocation under the cursor, for the hover card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    pub allocation: u32,
    /// Requested bytes.
    pub requested: u64,
    /// The moments it is live in: first, and first no more (`None`: live at the end).
    pub born: u32,
    /// See `born`.
    pub died: Option<u32>,
    /// The lowest byte it covers in the picture at the asked moment.
    pub lowest_byte: u64,
    /// The innermost frame that is the user's own: `train.py:233 train_step`.
    pub site: Option<String>,
    /// Its category, once that is known; segments have none.
    pub category: Option<String>,
}

/// Everything about one allocation, for the details panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The device's ordinal.
    pub device: i64,
    pub allocation: u32,
    pub origin: Origin,
    /// Requested bytes.
    pub requested: u64,
    /// Rounded bytes.
    pub rounded: u64,
    /// Whether `rounded` was derived from `requested` (a lower bound, shown with "≥") and not recorded.
    pub rounded_derived: bool,
    /// Its address; `None` where the file has none.
    pub address: Option<u64>,
    /// The stream's handle, where recorded.
    pub stream: Option<u64>,
    /// The pool: `(0, 0)` is the default one.
    pub pool: Option<(u64, u64)>,
    /// The event that made it; `None` when it was allocated before recording.
    pub born_event: Option<u32>,
    /// Its time, µs since 1970.
    pub born_us: Option<i64>,
    /// The event at which the program let go of it.
    pub free_requested_event: Option<u32>,
    /// The event at which it was free again; `None` when it is live at the end.
    pub freed_event: Option<u32>,
    pub freed_us: Option<i64>,
    /// From its birth to its end in µs on the axis of time, where both were recorded; not negative.
    pub lifetime_us: Option<i64>,
    /// Requested bytes live right after it was born, itself included.
    pub total_after: i64,
    /// `compile_context`, where recorded.
    pub compile_context: Option<String>,
    /// `user_metadata`, `internal_metadata`, `category`, texts of `annotate` events: (label, text).
    pub metadata: Vec<(String, String)>,
    /// The annotations (START…END ranges) it was born in, outermost first.
    pub annotations: Vec<String>,
    /// Whose stack `frames` is: the allocation's, or (allocated before recording) the free's.
    pub stack_of_free: bool,
    /// The stack's number; equal stacks have equal ones. `None` where none was recorded.
    pub stack: Option<u32>,
    pub frames: Vec<FrameText>,
    /// `forward_frames`: where the forward op of a backward allocation stood.
    pub forward_frames: Vec<String>,
    /// What it is for; `None` for unexplained bytes.
    pub category: Option<CategoryDetails>,
    /// The tensors in it, as a recorder names them, name, kind, shape and dtype with [`SEPARATOR`] between. A storage may have several.
    pub tensors: Vec<String>,
}

/// Between name, kind, shape and dtype of a tensor: `layers.0.weight · gradient · [4096, 1024] · bfloat16`.
pub const SEPARATOR: &str = " · ";
/// Why an allocation has its category, where a recorder names its tensor.
pub const BY_RECORDER: &str = "named by the recorder";

/// What an allocation is for, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryDetails {
    pub name: String,
    /// The rule that tells it, by its place in the set, from 1; `None` where no rule holds.
    pub rule: Option<u32>,
    pub why: String,
}

/// Which of the kinds of allocation of DESIGN §2 it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Its alloc is in the trace.
    #[default]
    Recorded,
    /// Freed in the trace, born before it.
    FreedOnly,
    /// Live at the end, never in the trace.
    Static,
    /// Bytes the file does not explain.
    Unexplained,
}

/// One frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameText {
    pub name: String,
    /// The file, empty or `??` for C++ frames.
    pub filename: String,
    /// The line, as the file writes it (it may exceed 64 bits).
    pub line: String,
    /// Whether it is the user's own code: not torch, not Python's library, not C++.
    pub user: bool,
    /// The fx fields, where present: (key, text).
    pub fx: Vec<(String, String)>,
}
