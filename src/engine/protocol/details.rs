//! Facts about one allocation.

use serde::{Deserialize, Serialize};

/// The allocation under the pointer, for the hover card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    pub allocation: u32,
    pub requested: u64,
    /// Moment right after the alloc event.
    pub allocated_at: u32,
    /// Moment right after the free completed. `None` if the allocation is live at the end of the trace.
    pub freed_at: Option<u32>,
    /// Lowest byte that the allocation covers in the plot at the requested moment.
    pub lowest_byte: u64,
    /// Call site, such as `train.py:233 train_step`.
    pub call_site: Option<String>,
    /// Category, if already computed. Segments have none.
    pub category: Option<String>,
}

/// All facts about an allocation, for the details panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// Device ordinal.
    pub device: i64,
    pub allocation: u32,
    pub origin: Origin,
    pub requested: u64,
    pub rounded: u64,
    /// True if `rounded` is computed from `requested` instead of recorded. It is then a lower bound and shown with
    /// "≥".
    pub is_rounded_estimated: bool,
    /// `None` if the file has no address.
    pub address: Option<u64>,
    /// Stream handle, if recorded.
    pub stream: Option<u64>,
    /// Pool id. `(0, 0)` is the default pool.
    pub pool: Option<(u64, u64)>,
    /// Index of the alloc event. `None` if the allocation was made before recording.
    pub allocated_event: Option<u32>,
    /// Time of the allocation, in µs since 1970.
    pub allocated_us: Option<i64>,
    /// Index of the event at which the program requested the free.
    pub free_requested_event: Option<u32>,
    /// Index of the event at which the free completed. `None` if the allocation is live at the end of the trace.
    pub freed_event: Option<u32>,
    pub freed_us: Option<i64>,
    /// Lifetime in µs on the time axis, if both ends are recorded. Never negative.
    pub lifetime_us: Option<i64>,
    /// Live requested bytes right after the allocation, including it.
    pub live_after: i64,
    /// torch.compile region (`compile_context`), if recorded.
    pub compile_context: Option<String>,
    /// Pairs of label and text, from `user_metadata`, `internal_metadata`, `category` and `annotate` events.
    pub metadata: Vec<(String, String)>,
    /// Annotations (START…END ranges) that are open at the allocation, outermost first.
    pub annotations: Vec<String>,
    /// True if `frames` is the stack of the free, because the allocation itself was not recorded.
    pub is_free_stack: bool,
    /// Stack id. Equal stacks have equal ids. `None` if no stack was recorded.
    pub stack: Option<u32>,
    pub frames: Vec<FrameText>,
    /// `forward_frames`: the stack of the forward operator of a backward allocation.
    pub forward_frames: Vec<String>,
    /// Category and the reason for it. `None` for unexplained bytes.
    pub category: Option<CategoryDetails>,
    /// Tensors in the allocation, from the recorder: name, kind, shape and dtype, joined with [`TENSOR_SEPARATOR`].
    /// A storage may have several.
    pub tensors: Vec<String>,
}

/// Separator in tensor descriptions: `layers.0.weight · gradient · [4096, 1024] · bfloat16`.
pub const TENSOR_SEPARATOR: &str = " · ";
/// Value of [`CategoryDetails::reason`] if the category comes from a tensor that the recorder named.
pub const REASON_RECORDER: &str = "named by the recorder";

/// Category of an allocation, and the reason for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryDetails {
    pub name: String,
    /// Number of the matching rule, from 1. `None` if no rule matches.
    pub rule: Option<u32>,
    pub reason: String,
}

/// Origin of the facts about an allocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The trace has the alloc event.
    #[default]
    Recorded,
    /// Freed in the trace, allocated before recording.
    FreedOnly,
    /// Live at the end, without any event in the trace.
    Static,
    /// Bytes that the file does not explain.
    Unexplained,
}

/// One frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameText {
    pub name: String,
    /// File name. Empty or `??` for C++ frames.
    pub filename: String,
    /// Line number as written in the file. It may exceed 64 bits.
    pub line: String,
    /// True for the user's own code, which is neither torch, nor Python's library, nor C++.
    pub is_user_code: bool,
    /// Pairs of key and text of the `fx` fields, if present.
    pub fx: Vec<(String, String)>,
}
