//! Stand-in for the CUDA driver. It hands out addresses and fails when the capacity is used up, or it replays what a
//! recording shows.

/// Bytes of address space reserved for an expandable segment.
pub(crate) const RESERVED_ADDRESSES: u64 = 1 << 44;
/// First address that is handed out.
const FIRST: u64 = 0x7000_0000_0000;
/// Start of descending addresses and upper end of ascending ones.
const LAST: u64 = 1 << 62;
/// Distance between reserved address ranges, in bytes.
const RANGE: u64 = 1 << 45;
const GRANULE: u64 = 2 << 20;

/// Order of the addresses of new segments. The real order is unknown, and it decides between free blocks of equal size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Ascending,
    Descending,
    Mixed,
}

impl Order {
    /// All orders.
    pub const ALL: [Order; 3] = [Order::Ascending, Order::Descending, Order::Mixed];
}

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

/// The driver behind an [`Allocator`](crate::Allocator).
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    Model { order: Order, next: u64, count: u64, capacity: Option<u64> },
    Script(Script),
    Recorded(Recorded),
}

/// Driver that limits memory by its capacity, and returns recorded addresses as long as the operations match the
/// recording.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Operations of the recording that took memory, in order.
    taken: Vec<Operation>,
    next: usize,
    /// Next address above all recorded ones.
    above: u64,
    capacity: Option<u64>,
}

impl Recorded {
    /// Creates a driver that replays `operations`. `above` must be an address above all recorded ones.
    pub(crate) fn new(operations: impl Iterator<Item = Operation>, above: u64, capacity: Option<u64>) -> Recorded {
        let taken = operations.filter(|operation| operation.kind.grows()).collect();
        Recorded { taken, next: 0, above: above.max(FIRST), capacity }
    }

    /// Returns the recorded address of this operation. After the first mismatch it returns `None` for all operations.
    fn take(&mut self, kind: Kind, size: u64) -> Option<u64> {
        let recorded = self.taken.get(self.next).filter(|it| it.kind == kind && it.size == size);
        self.next = if recorded.is_some() { self.next + 1 } else { self.taken.len() };
        recorded.map(|operation| operation.address)
    }

    fn has_room(&self, size: u64, reserved: u64) -> bool {
        self.capacity.is_none_or(|most| reserved.saturating_add(size) <= most)
    }

    fn beyond(&mut self, size: u64) -> Option<u64> {
        let address = self.above.checked_next_multiple_of(GRANULE)?;
        self.above = address.saturating_add(size);
        Some(address).filter(|_| self.above <= LAST)
    }
}

/// Recorded operations of one request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) operations: Vec<Operation>,
    pub(crate) next: usize,
    /// True if operations beyond the recorded ones are granted, because the request succeeded.
    pub(crate) succeeds: bool,
    invented: u64,
}

impl Script {
    fn current(&self) -> Option<Operation> {
        self.operations.get(self.next).copied()
    }

    fn grants(&self) -> bool {
        self.current().map_or(self.succeeds, |operation| operation.kind.grows())
    }

    /// Skips recorded operations that give memory back, because everything cached has been released.
    fn nothing_is_left(&mut self) {
        while self.succeeds && self.current().is_some_and(|operation| !operation.kind.grows()) {
            self.next += 1;
        }
    }
}

impl Driver {
    pub(crate) fn new(order: Order, capacity: Option<u64>) -> Driver {
        Driver::Model { order, next: if order == Order::Descending { LAST } else { FIRST }, count: 0, capacity }
    }

    /// Returns the address of a new segment, or `None` if out of memory. `reserved` is the number of bytes reserved so
    /// far.
    pub(crate) fn allocate(&mut self, size: u64, reserved: u64) -> Option<u64> {
        match self {
            Driver::Model { capacity, .. } => {
                let has_room = capacity.is_none_or(|most| reserved.saturating_add(size) <= most);
                if has_room { self.address(size) } else { None }
            }
            Driver::Recorded(recorded) => match recorded.has_room(size, reserved) {
                true => recorded.take(Kind::Alloc, size).or_else(|| recorded.beyond(size)),
                false => None,
            },
            Driver::Script(script) => {
                let recorded = script.current();
                if !script.grants() {
                    return None;
                }
                script.next += usize::from(recorded.is_some());
                let matching = recorded.filter(|it| it.kind == Kind::Alloc && it.size == size);
                Some(matching.map_or_else(|| script.invent(), |operation| operation.address))
            }
        }
    }

    /// Returns true if `size` bytes can be mapped.
    pub(crate) fn maps(&mut self, size: u64, reserved: u64) -> bool {
        match self {
            Driver::Model { capacity, .. } => capacity.is_none_or(|most| reserved.saturating_add(size) <= most),
            Driver::Recorded(recorded) => {
                let has_room = recorded.has_room(size, reserved);
                if has_room {
                    recorded.take(Kind::Map, size);
                }
                has_room
            }
            Driver::Script(script) => {
                let grants = script.grants();
                script.next += usize::from(grants && script.current().is_some());
                grants
            }
        }
    }

    /// Returns the first address of a new reserved range.
    pub(crate) fn reserve(&mut self) -> Option<u64> {
        match self {
            Driver::Model { .. } => self.address(RANGE),
            Driver::Recorded(recorded) => {
                let maps = recorded.taken.get(recorded.next).filter(|it| it.kind == Kind::Map).map(|it| it.address);
                maps.or_else(|| recorded.beyond(RANGE))
            }
            Driver::Script(script) => {
                let maps = script.operations.iter().skip(script.next).find(|it| it.kind == Kind::Map);
                Some(maps.map(|it| it.address).unwrap_or_else(|| script.invent()))
            }
        }
    }

    /// Notes that memory was given back.
    pub(crate) fn given_back(&mut self) {
        if let Driver::Script(script) = self
            && script.current().is_some_and(|operation| !operation.kind.grows())
        {
            script.next += 1;
        }
    }

    /// Notes that everything cached was given back. Further recorded releases of the request are skipped.
    pub(crate) fn gave_everything(&mut self) {
        if let Driver::Script(script) = self {
            script.nothing_is_left();
        }
    }

    /// Returns the next address, or `None` if they are used up.
    fn address(&mut self, size: u64) -> Option<u64> {
        let Driver::Model { order, next, count, .. } = self else { return None };
        let size = size.checked_next_multiple_of(GRANULE).unwrap_or(size);
        *count += 1;
        match order {
            Order::Ascending => {
                let address = *next;
                *next = next.saturating_add(size);
                Some(address).filter(|_| *next <= LAST)
            }
            Order::Descending => {
                *next = next.saturating_sub(size);
                Some(*next).filter(|next| *next > 0)
            }
            // An odd factor, so that no two of up to 2^18 counts get the same address.
            Order::Mixed => Some((count.wrapping_mul(0x9e37_79b1) & ((1 << 18) - 1)) << 45),
        }
    }
}

impl Script {
    fn invent(&mut self) -> u64 {
        self.invented += 1;
        FIRST << 4 | (self.invented & 0x3fff) << 48
    }
}
