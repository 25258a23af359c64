//! Allocator kinds, pools and sizes of PyTorch's caching allocators.

const MIB: u64 = 1 << 20;
/// Block sizes are multiples of this, in bytes.
pub(super) const GRANULE: u64 = 512;
/// Maximum request served by the small pool, whose segments all have [`SMALL_SEGMENT`] bytes.
pub(super) const SMALL_REQUEST: u64 = MIB;
const SMALL_SEGMENT: u64 = 2 * MIB;
/// Smaller requests share segments of [`LARGE_SEGMENT`] bytes. Larger ones get their own, rounded up to 2 MiB.
const SHARED_REQUEST: u64 = 10 * MIB;
const LARGE_SEGMENT: u64 = 20 * MIB;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `cudaMalloc`: segments of fixed size.
    Fixed,
    /// `expandable_segments:True`: pages are mapped one after another and unmapped where they are free. Each contiguous
    /// range is reported as a segment.
    Expandable,
    /// Pinned host memory: one block per segment, sized to a power of two, never split.
    Host,
}

/// A pool of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pool {
    pub(crate) owner: Owner,
    pub(crate) class: Class,
}

/// Owner of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// The default pool.
    #[default]
    Default,
    /// A `torch.cuda.MemPool`. Emptying the cache does not release it.
    MemPool,
    /// The CUDA graph of this number. Emptying the cache does not release it.
    Graph(u8),
}

impl Pool {
    /// Returns the pool for blocks of this size.
    pub(super) fn for_size(size: u64, owner: Owner) -> Pool {
        Pool { owner, class: if size <= SMALL_REQUEST { Class::Small } else { Class::Large } }
    }

    /// Returns the number of bytes that expandable segments map at a time.
    pub(super) fn page(self) -> u64 {
        match self.class {
            Class::Small => SMALL_SEGMENT,
            Class::Large => LARGE_SEGMENT,
        }
    }

    /// Returns the size of a new fixed-size segment for a block of `size`.
    pub(super) fn segment_for(self, size: u64) -> u64 {
        match self.class {
            Class::Small => SMALL_SEGMENT.max(size),
            Class::Large if size < SHARED_REQUEST => LARGE_SEGMENT,
            Class::Large => size.next_multiple_of(SMALL_SEGMENT),
        }
    }
}

impl Owner {
    /// Returns the pool id as written in snapshots.
    pub(crate) fn id(self) -> (u8, u8) {
        match self {
            Owner::Default => (0, 0),
            Owner::MemPool => (0, 1),
            Owner::Graph(number) => (number, 0),
        }
    }
}

/// Size class of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Small,
    Large,
}
