//! What the page, the command line and the tests ask, and what they are told. Plain data.
//!
//! Bytes of the file do not travel in a [`Request`]: the driver feeds them to the engine between `Open` and `EndOfFile`, and
//! asks it before each chunk which ones it [wants](Want).

mod picture;

pub use picture::{ClockSpan, LegendEntry, Marks, OutOfMemoryMark, Overview, Place, RangeMark};

use crate::timeline::{Axis, OutlineRect, Scene, View};
use serde::{Deserialize, Serialize};

/// What a driver asks of the engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// A new file begins; it replaces the open one and whatever was loading.
    Open {
        /// Its name, for messages.
        name: String,
        /// Its length in bytes, where known.
        total_bytes: Option<u64>,
        /// How its bytes can be reached.
        access: Access,
        /// Which snapshot of a file that holds several: its place in [`Reply::Members`]; the first when not said.
        member: Option<u32>,
    },
    /// There are no more bytes after those that were fed last.
    EndOfFile,
    /// Give up what is loading.
    Cancel,
    /// Geometry for a window. A newer one of these overtakes an older one that is not finished; for a device that the open file
    /// does not have there is no reply.
    Scene {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal, as in [`DeviceSummary::device`].
        device: i64,
        /// The window, margin included.
        view: View,
        /// Order and colours.
        looks: Looks,
    },
    /// Which allocation is at this byte of the stack at this moment?
    Hit {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Order and colours: those of the scene.
        looks: Looks,
        /// The moment (number of events that have happened).
        moment: u32,
        /// Height in the stack, in requested bytes.
        byte: u64,
    },
    /// What a device has besides its allocations.
    Marks {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
    },
    /// The silhouette of a whole device.
    Overview {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Over what.
        axis: Axis,
        /// In how many columns.
        width_px: u32,
    },
    /// What the colours of a device mean.
    Legend {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// What they tell.
        colouring: Grouping,
    },
    /// Where one allocation is in a window, also where the scene does not draw it by itself.
    Outline {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The window.
        view: View,
        /// Order and colours.
        looks: Looks,
        /// Its id.
        allocation: u32,
    },
    /// Everything about one allocation.
    Details {
        /// Returned in the reply.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// Its id.
        allocation: u32,
    },
}

impl Request {
    /// Opens a file that is read from its beginning to its end, the first snapshot in it if it holds several.
    pub fn open(name: &str, total_bytes: Option<u64>) -> Request {
        Request::Open { name: name.to_owned(), total_bytes, access: Access::Forward, member: None }
    }
}

/// How the bytes of a file can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// From beginning to end, once: a link, standard input.
    Forward,
    /// At any offset; the length is known.
    Anywhere,
}

/// Which bytes the engine needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Those that follow what was fed last; at first, the beginning of the file.
    Next,
    /// Those from this offset of the file on, which is within its length. Asked only under [`Access::Anywhere`].
    At(u64),
    /// The whole file, kept where it can be read [`Access::Anywhere`]; then [`Request::Open`] again. Asked only under
    /// [`Access::Forward`]: the table of contents of an archive stands at its end.
    Whole,
}

/// What the engine tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// How far loading is.
    Progress(Progress),
    /// The file holds several snapshots. The one asked for is opened next; the others wait for a [`Request::Open`] of their own.
    Members(Vec<Member>),
    /// The file is open.
    Opened(Box<FileSummary>),
    /// The file can't be opened; the one before it is closed as well.
    Failed {
        /// One sentence with place and cause.
        message: String,
    },
    /// Loading was given up.
    Cancelled,
    /// Geometry.
    Scene {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The geometry.
        scene: Box<Scene>,
    },
    /// What a [`Request::Hit`] found.
    Hit {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The allocation there, if the stack is that high.
        hit: Option<HitAllocation>,
    },
    /// What a [`Request::Marks`] asked for.
    Marks {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The marks.
        marks: Box<Marks>,
    },
    /// What a [`Request::Overview`] asked for.
    Overview {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The silhouette.
        overview: Box<Overview>,
    },
    /// What a [`Request::Legend`] asked for: the entries by slot.
    Legend {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The entries.
        entries: Vec<LegendEntry>,
    },
    /// What a [`Request::Outline`] asked for, in pixels of the view: from left to right, nothing when it is outside.
    Outline {
        /// The request's.
        serial: u32,
        /// Of this allocation.
        allocation: u32,
        /// For this window.
        view: View,
        /// The rectangles.
        rects: Vec<OutlineRect>,
    },
    /// What a [`Request::Details`] asked for; `None` when there is no such allocation.
    Details {
        /// The request's.
        serial: u32,
        /// The allocation.
        details: Option<Box<Details>>,
    },
}

/// What allocations are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Grouping {
    /// The innermost frame that is the user's own code.
    #[default]
    CallSite,
    /// Requested bytes, in powers of four.
    Size,
    /// How many events they live, in powers of four.
    Lifetime,
    /// When they were born, in sixteenths of the trace.
    Age,
    /// The stream they were made for.
    Stream,
    /// The pool they are in.
    Pool,
}

impl Grouping {
    /// All of them, in the order of the page's pickers.
    pub const ALL: [Grouping; 6] =
        [Grouping::CallSite, Grouping::Size, Grouping::Lifetime, Grouping::Age, Grouping::Stream, Grouping::Pool];

    /// Its name, as the page's pickers have it as a value.
    pub fn name(self) -> &'static str {
        match self {
            Grouping::CallSite => "site",
            Grouping::Size => "size",
            Grouping::Lifetime => "lifetime",
            Grouping::Age => "age",
            Grouping::Stream => "stream",
            Grouping::Pool => "pool",
        }
    }

    /// The grouping of that name.
    pub fn named(name: &str) -> Option<Grouping> {
        Grouping::ALL.into_iter().find(|grouping| grouping.name() == name)
    }

    /// Whether its groups have an order that a ramp of colours shows better than different hues.
    pub fn is_ordered(self) -> bool {
        matches!(self, Grouping::Size | Grouping::Lifetime | Grouping::Age)
    }
}

/// How a device is drawn: what stands on what, and what colour tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Looks {
    /// Groups stand together, inside them the older below the younger; `None`: all in order of birth.
    pub stacking: Option<Grouping>,
    /// What colour tells.
    pub colouring: Grouping,
}

/// One of several snapshots in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its path inside the file.
    pub name: String,
    /// Its length as the file gives it, unpacked.
    pub bytes: u64,
}

/// How far loading is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Bytes of the file read so far.
    pub bytes: u64,
    /// Bytes in all, where known.
    pub total_bytes: Option<u64>,
    /// What is being done.
    pub phase: Phase,
}

/// The phases of loading, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// Reading and decoding, with the replay.
    Decoding,
    /// Totals and indices.
    Indexing,
}

/// One allocation under the cursor, for the hover card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HitAllocation {
    /// Its id.
    pub allocation: u32,
    /// Requested bytes.
    pub requested: u64,
    /// The moments it is live in: first, and first no more (`None`: live at the end).
    pub born: u32,
    /// See `born`.
    pub died: Option<u32>,
    /// The lowest byte it covers in the stack at the asked moment.
    pub lowest_byte: u64,
    /// The innermost frame that is the user's own: `train.py:233 train_step`.
    pub site: Option<String>,
}

/// What the summary says of a file; also the command line's JSON (`schema` 1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    /// 1. Raised when a field changes its meaning.
    pub schema: u32,
    /// The file's name.
    pub file: String,
    /// How it is written, outermost first: `gzip, pickle 4 (Python)`.
    pub format: String,
    /// Which PyTorch wrote it, guessed from the keys it uses: `2.11 or later`.
    pub torch: Option<String>,
    /// Survivable oddities.
    pub warnings: Vec<Warning>,
    /// The devices that have events or segments, by ordinal; host memory (−1) last.
    pub devices: Vec<DeviceSummary>,
    /// `allocator_settings` as the file has it: dotted key, value as text.
    pub settings: Vec<(String, String)>,
}

/// Something odd that does not stop us.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable name: `unknown_key`.
    pub kind: String,
    /// A sentence for people.
    pub message: String,
    /// How often.
    pub count: u64,
    /// Where, the first time: `device_traces[0][17].color`.
    pub example: String,
}

/// The numbers of one device, named and defined as in `tools/reference.py`. Bytes; requested unless the name says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Its ordinal; −1 is host (pinned) memory.
    pub device: i64,
    /// Events in the trace.
    pub events: u64,
    /// How many of each action.
    pub actions: std::collections::BTreeMap<String, u64>,
    /// Allocations in the trace, freed in it but born before, and live at the end without an event.
    pub allocations: u64,
    /// Requested bytes live before the first event.
    pub base_requested: i64,
    /// The largest total.
    pub peak_requested: i64,
    /// The first event after which the peak holds; −1 when it holds before the first.
    pub peak_event: i64,
    /// The smallest total.
    pub min_requested: i64,
    /// Mean over all states, the one before the first event included.
    pub mean_requested: f64,
    /// Median over the same states (the lower one of two).
    pub median_requested: i64,
    /// Mean weighted by how long each state held; `None` without `time_us`.
    pub time_weighted_mean_requested: Option<f64>,
    /// Live at the end.
    pub end_requested: u64,
    /// The same blocks as the allocator rounded them.
    pub end_rounded: u64,
    /// Frees of blocks that were born before the trace.
    pub unmatched_frees: u64,
    /// Their bytes.
    pub unmatched_free_bytes: u64,
    /// Blocks live at the end that the trace does not know.
    pub static_blocks: u64,
    /// Their bytes.
    pub static_requested: u64,
    /// base = unmatched + static?
    pub identity: bool,
    /// Bytes live before the trace that nothing explains (the identity's remainder, when positive).
    pub unexplained_requested: u64,
    /// Reserved before the first event.
    pub reserved_start: i64,
    /// Reserved at the end.
    pub reserved_end: u64,
    /// The largest number of reserved bytes.
    pub peak_reserved: i64,
    /// Segments at the end.
    pub segments: u64,
    /// `external_annotations` of this device.
    pub annotations: u64,
    /// First and last `time_us`, where recorded.
    pub time_us: Option<(i64, i64)>,
    /// The highest stack that is drawn: `peak_requested`, unless a broken file makes blocks overlap (then it is warned about).
    pub drawn_peak: u64,
}

impl DeviceSummary {
    /// Whether the file tells what was reserved. Bytes that are requested lie in segments: without any, it has left them out.
    pub fn knows_reserved(&self) -> bool {
        self.peak_reserved > 0 || self.peak_requested <= 0
    }

    /// Whether the file tells how the blocks at the end were rounded: it does where it has them.
    pub fn knows_rounded(&self) -> bool {
        self.end_rounded > 0 || self.end_requested == 0
    }
}

/// Everything about one allocation, for the details panel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The device's ordinal.
    pub device: i64,
    /// Its id.
    pub allocation: u32,
    /// Why it is in the picture.
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
    /// The event that made it; `None` when it was born before the trace.
    pub born_event: Option<u32>,
    /// Its time, µs since 1970.
    pub born_us: Option<i64>,
    /// The event at which the program let go of it.
    pub free_requested_event: Option<u32>,
    /// The event at which it was free again; `None` when it is live at the end.
    pub freed_event: Option<u32>,
    /// Its time.
    pub freed_us: Option<i64>,
    /// Requested bytes live right after it was born, itself included.
    pub total_after: i64,
    /// `compile_context`, where recorded.
    pub compile_context: Option<String>,
    /// `user_metadata`, `internal_metadata`, `category`, texts of `annotate` events: (label, text).
    pub metadata: Vec<(String, String)>,
    /// The annotations (START…END ranges) it was born in, outermost first.
    pub annotations: Vec<String>,
    /// Whose stack `frames` is: the allocation's, or (born before the trace) the free's.
    pub stack_of_free: bool,
    /// The stack, innermost first.
    pub frames: Vec<FrameText>,
    /// `forward_frames`: where the forward op of a backward allocation stood.
    pub forward_frames: Vec<String>,
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
    /// The function.
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
