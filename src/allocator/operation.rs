//! Segment operations: allocating, mapping, unmapping and freeing of driver memory.

/// Bytes of address space reserved for an expandable segment.
pub(crate) const RESERVED_ADDRESSES: u64 = 1 << 44;

/// Kind of a segment operation: memory is taken from the driver or released, as a whole segment or as pages.
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

/// Segment operation: memory taken from the driver or released to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation {
    pub kind: Kind,
    pub address: u64,
    pub size: u64,
}
