//! Segment operations: memory that the allocator takes from the driver or gives back.

/// Bytes of address space reserved for an expandable segment.
pub(crate) const RESERVED_ADDRESSES: u64 = 1 << 44;

/// Kind of a segment operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Alloc,
    Free,
    Map,
    Unmap,
}

impl Kind {
    /// Returns true if the operation takes memory from the driver.
    pub fn grows(self) -> bool {
        matches!(self, Kind::Alloc | Kind::Map)
    }
}

/// A segment operation: memory taken from the driver or given back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    pub kind: Kind,
    pub address: u64,
    pub size: u64,
}
