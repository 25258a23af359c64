//! Facts about one allocation.

use super::Backend;
use serde::{Deserialize, Serialize};

/// Facts about the allocation under the pointer, for the tooltip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    pub allocation: u32,
    pub requested: u64,
    /// Moment right after the alloc event.
    pub allocated_at: u32,
    /// Moment right after the free completed. `None` if the allocation is live at the end of the trace.
    pub freed_at: Option<u32>,
    /// Height of the allocation's lower edge in the plot at the requested moment, in bytes.
    pub lowest_byte: u64,
    /// Call site, such as `train.py:233 train_step`.
    pub call_site: Option<String>,
    /// Category, if already computed. Segments have no category.
    pub category: Option<String>,
}

/// All facts about an allocation, for the details panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// Device ordinal.
    pub device: i64,
    pub backend: Backend,
    pub allocation: u32,
    pub origin: Origin,
    pub requested: u64,
    pub rounded: u64,
    /// True if `rounded` was computed from `requested` instead of recorded. It is then a lower bound, which is
    /// displayed with "≥".
    pub is_rounded_estimated: bool,
    /// Start address. `None` if the file does not record it.
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
    /// Lifetime in µs on the time axis, if both times are recorded. Never negative.
    pub lifetime_us: Option<i64>,
    /// Live requested bytes right after the allocation, which is included.
    pub live_after: i64,
    /// torch.compile region (`compile_context`), if recorded.
    pub compile_context: Option<String>,
    /// Metadata as key-value pairs, from `user_metadata`, `internal_metadata`, `category` and `annotate` events.
    pub metadata: Vec<(String, String)>,
    /// Names of the annotations (START…END ranges) that are open when the allocation is made, outermost first.
    pub annotations: Vec<String>,
    /// True if `frames` is the stack of the free, because the stack of the allocation was not recorded.
    pub is_free_stack: bool,
    /// Stack id. Allocations with the same stack have the same id. `None` if no stack was recorded.
    pub stack: Option<u32>,
    pub frames: Vec<FrameText>,
    /// `forward_frames`: the stack of the forward operator that belongs to an allocation in the backward pass.
    pub forward_frames: Vec<String>,
    /// Category and the reason for the choice. `None` for unexplained bytes.
    pub category: Option<CategoryDetails>,
    /// Tensors in the allocation, as listed by a recorder: name, kind, shape and dtype, joined with
    /// [`TENSOR_SEPARATOR`]. Several tensors may share a storage.
    pub tensors: Vec<String>,
    /// The Python object that holds the allocation at the end, as found by the recorder.
    pub held_by: Option<String>,
}

/// Separator between the parts of a tensor description, such as `layers.0.weight · gradient · [4096, 1024] · bfloat16`.
pub const TENSOR_SEPARATOR: &str = " · ";
/// Value of [`CategoryDetails::reason`] if the category comes from a tensor that a recorder named.
pub const REASON_RECORDER: &str = "named by the recorder";

/// Category of an allocation, and the reason for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryDetails {
    pub name: String,
    /// 1-based number of the matching rule. `None` if no rule matches.
    pub rule: Option<u32>,
    pub reason: String,
}

/// Origin of the facts about an allocation: the events in the trace, or the state at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The trace contains the alloc event.
    #[default]
    Recorded,
    /// The allocation was made before recording. The trace contains only its free.
    FreedOnly,
    /// The allocation is live at the end of the trace. The trace contains no event for it.
    Static,
    /// Bytes that are missing from the recorded events and blocks.
    Unexplained,
}

/// One frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameText {
    pub name: String,
    /// File name. Empty or `??` for C++ frames without a known file.
    pub filename: String,
    /// Line number as written in the file. It may need more than 64 bits.
    pub line: String,
    /// True for the user's own code, false for torch, Python's standard library, other packages and C++.
    pub is_user_code: bool,
    /// True if lists of frames hide it: a [rule](super::Request::InternalFrames) matches it. If rules match all frames
    /// of the stack, true only for those inside the call site.
    pub is_internal: bool,
    /// Key-value pairs of the frame's `fx` fields, which torch.fx adds to some snapshots.
    pub fx: Vec<(String, String)>,
}
