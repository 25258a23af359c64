//! How memory is taken from the driver and which requests it serves: kinds of allocator, pools, sizes.

const MIB: u64 = 1 << 20;
/// Sizes are multiples of this.
pub(super) const GRANULE: u64 = 512;
/// Requests up to this come from the small pool, whose segments all have [`SMALL_SEGMENT`].
pub(super) const SMALL_REQUEST: u64 = MIB;
const SMALL_SEGMENT: u64 = 2 * MIB;
/// Requests below this share segments of [`LARGE_SEGMENT`]; larger ones get their own, rounded to 2 MiB.
const SHARED_REQUEST: u64 = 10 * MIB;
const LARGE_SEGMENT: u64 = 20 * MIB;

/// How an allocator takes memory from the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cudaMalloc`: segments of a size that never changes.
    Fixed,
    /// `expandable_segments:True`: pages are mapped behind each other, and unmapped wherever they are free. Each contiguous
    /// range is told as a segment.
    Expandable,
    /// Pinned host memory: a segment a block, of a power of two, never split.
    Host,
}

/// Which requests a segment serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pool {
    pub(crate) owner: Owner,
    pub(crate) class: Class,
}

/// Whose pool it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// Everyone's.
    #[default]
    Default,
    /// A `torch.cuda.MemPool`: emptying the cache leaves it alone.
    MemPool,
    /// The CUDA graph of this number: emptying the cache leaves it alone.
    Graph(u8),
}

impl Pool {
    /// The one that blocks of this size come from.
    pub(super) fn of(size: u64, owner: Owner) -> Pool {
        Pool { owner, class: if size <= SMALL_REQUEST { Class::Small } else { Class::Large } }
    }

    /// What expandable segments map at a time.
    pub(super) fn page(self) -> u64 {
        match self.class {
            Class::Small => SMALL_SEGMENT,
            Class::Large => LARGE_SEGMENT,
        }
    }

    /// The size of a new segment of fixed size for a block of `size`.
    pub(super) fn segment_for(self, size: u64) -> u64 {
        match self.class {
            Class::Small => SMALL_SEGMENT.max(size),
            Class::Large if size < SHARED_REQUEST => LARGE_SEGMENT,
            Class::Large => size.next_multiple_of(SMALL_SEGMENT),
        }
    }
}

impl Owner {
    /// As snapshots write it.
    pub(crate) fn id(self) -> (u8, u8) {
        match self {
            Owner::Default => (0, 0),
            Owner::MemPool => (0, 1),
            Owner::Graph(number) => (number, 0),
        }
    }
}

/// Of which size the blocks of a pool are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Small,
    Large,
}
