//! Simulated CUDA driver. It assigns addresses and fails when its capacity is exhausted, or it replays a recording.

use super::addresses::{Addresses, Order};
use super::implied::Attempts;
use super::operation::{Kind, Operation};
use super::recording::Recording;

/// First address of segments that do not exist in the recording.
const FIRST: u64 = 0x7000_0000_0000;
/// Upper end of the addresses of such segments.
const LAST: u64 = 1 << 62;
/// Distance, in bytes, between the address ranges of expandable segments.
const RANGE: u64 = 1 << 45;
const GRANULE: u64 = 2 << 20;

/// Source of memory for an [`Allocator`](crate::Allocator).
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    Model { addresses: Addresses, capacity: Option<u64> },
    Script(Script),
    Recorded(Recorded),
}

/// Driver with a limited capacity. It returns recorded addresses until an operation differs from the recorded one.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// Recorded operations that allocated or mapped memory, in order.
    taken: Vec<Operation>,
    next: usize,
    /// Next unused address above all recorded ones.
    above: u64,
    capacity: Option<u64>,
}

impl Recorded {
    /// Creates a driver that returns the addresses in `operations`. `above` must be greater than all recorded
    /// addresses.
    pub(crate) fn new(operations: impl Iterator<Item = Operation>, above: u64, capacity: Option<u64>) -> Recorded {
        let taken = operations.filter(|operation| operation.kind.grows()).collect();
        Recorded { taken, next: 0, above: above.max(FIRST), capacity }
    }

    /// Returns the recorded address of the next operation, which must have this kind and size. After the first
    /// mismatch, always returns `None`.
    fn take(&mut self, kind: Kind, size: u64) -> Option<u64> {
        let recorded = self.taken.get(self.next).filter(|it| it.kind == kind && it.size == size);
        self.next = if recorded.is_some() { self.next + 1 } else { self.taken.len() };
        recorded.map(|operation| operation.address)
    }

    fn has_room(&self, size: u64, reserved: u64) -> bool {
        has_room(self.capacity, size, reserved)
    }

    fn beyond(&mut self, size: u64) -> Option<u64> {
        let address = self.above.checked_next_multiple_of(GRANULE)?;
        self.above = address.saturating_add(size);
        Some(address).filter(|_| self.above <= LAST)
    }
}

/// Recorded operations of one request, which are replayed, and the memory limits implied by all requests so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) operations: Vec<Operation>,
    pub(crate) next: usize,
    /// True if the request succeeded in the recording. Operations beyond the recorded ones are then granted.
    pub(crate) succeeds: bool,
    /// Segment size of the current request, in bytes. PyTorch compares it with the memory fraction.
    pub(crate) segment: u64,
    pub(crate) attempts: Attempts,
    invented: u64,
}

impl Script {
    pub(crate) fn new(attempts: Attempts) -> Script {
        Script { attempts, ..Script::default() }
    }

    fn current(&self) -> Option<Operation> {
        self.operations.get(self.next).copied()
    }

    /// Returns whether `size` more bytes are granted according to the recording. Also records this attempt to get
    /// memory.
    fn grants(&mut self, size: u64, reserved: u64) -> bool {
        let grants = self.current().map_or(self.succeeds, |operation| operation.kind.grows());
        self.attempts.add(reserved, size, self.segment, grants);
        grants
    }

    /// Skips recorded releases, since all cached memory has been released already.
    fn nothing_is_left(&mut self) {
        while self.succeeds && self.current().is_some_and(|operation| !operation.kind.grows()) {
            self.next += 1;
        }
    }

    /// Returns true if the recording releases exactly these segments (address and bytes) next.
    fn goes_on(&self, segments: impl Iterator<Item = (u64, u64)>) -> bool {
        let rest = self.operations.get(self.next..).unwrap_or_default();
        let mut rest = rest.iter().filter(|it| it.kind == Kind::Free).map(|it| (it.address, it.size));
        segments.into_iter().all(|segment| rest.next() == Some(segment))
    }

    fn invent(&mut self) -> u64 {
        self.invented += 1;
        FIRST << 4 | (self.invented & 0x3fff) << 48
    }
}

fn has_room(capacity: Option<u64>, size: u64, reserved: u64) -> bool {
    capacity.is_none_or(|most| reserved.saturating_add(size) <= most)
}

impl Driver {
    /// Creates a driver that assigns addresses in this order.
    pub(crate) fn new(order: Order, capacity: Option<u64>) -> Driver {
        Driver::Model { addresses: Addresses::new(order), capacity }
    }

    /// Creates a driver for a simulated run of a recording. If `keeps` is true, segments from before recording keep
    /// their addresses, which are not assigned again.
    pub(crate) fn of_run(recording: &Recording, order: Order, capacity: Option<u64>, keeps: bool) -> Driver {
        match (order, recording.held.first(), recording.held.last()) {
            (Order::Recorded, ..) => {
                Driver::Recorded(Recorded::new(recording.operations.iter(), recording.above(), capacity))
            }
            (_, Some(first), Some(last)) if keeps => {
                let used = [first.address, last.address.saturating_add(last.size)];
                Driver::Model { addresses: Addresses::beside(order, used), capacity }
            }
            _ => Driver::new(order, capacity),
        }
    }

    /// Sets the segment size of the request for which memory is requested next.
    pub(crate) fn begin(&mut self, segment: u64) {
        if let Driver::Script(script) = self {
            script.segment = segment;
        }
    }

    /// Returns the address of a new segment, or `None` if out of memory. `reserved` is the current number of reserved
    /// bytes.
    pub(crate) fn allocate(&mut self, size: u64, reserved: u64) -> Option<u64> {
        match self {
            Driver::Model { addresses, capacity } => match has_room(*capacity, size, reserved) {
                true => addresses.take(size),
                false => None,
            },
            Driver::Recorded(recorded) => match recorded.has_room(size, reserved) {
                true => recorded.take(Kind::Alloc, size).or_else(|| recorded.beyond(size)),
                false => None,
            },
            Driver::Script(script) => {
                let recorded = script.current();
                if !script.grants(size, reserved) {
                    return None;
                }
                script.next += usize::from(recorded.is_some());
                let matching = recorded.filter(|it| it.kind == Kind::Alloc && it.size == size);
                Some(matching.map_or_else(|| script.invent(), |operation| operation.address))
            }
        }
    }

    /// Returns true if `size` more bytes can be mapped. `reserved` is the current number of reserved bytes.
    pub(crate) fn maps(&mut self, size: u64, reserved: u64) -> bool {
        match self {
            Driver::Model { capacity, .. } => has_room(*capacity, size, reserved),
            Driver::Recorded(recorded) => {
                let has_room = recorded.has_room(size, reserved);
                if has_room {
                    recorded.take(Kind::Map, size);
                }
                has_room
            }
            Driver::Script(script) => {
                let grants = script.grants(size, reserved);
                script.next += usize::from(grants && script.current().is_some());
                grants
            }
        }
    }

    /// Returns true if the recording shows that a request failed although all its pages were already mapped. This
    /// happens only if the request exceeds a memory fraction.
    pub(crate) fn refuses_mapped(&mut self, reserved: u64) -> bool {
        match self {
            Driver::Script(script) if script.current().is_some_and(|it| !it.kind.grows()) => {
                !script.grants(0, reserved)
            }
            _ => false,
        }
    }

    /// Reserves an address range for an expandable segment and returns its first address.
    pub(crate) fn reserve(&mut self) -> Option<u64> {
        match self {
            Driver::Model { addresses, .. } => addresses.take(RANGE),
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

    /// Records that a segment or pages were released to the driver.
    pub(crate) fn given_back(&mut self, operation: Operation) {
        match self {
            Driver::Model { addresses, .. } if operation.kind == Kind::Free => {
                addresses.give_back(operation.address, operation.size);
            }
            Driver::Script(script) if script.current().is_some_and(|it| !it.kind.grows()) => script.next += 1,
            _ => {}
        }
    }

    /// Records that a reserved address range was released.
    pub(crate) fn gave_range_back(&mut self, address: u64) {
        if let Driver::Model { addresses, .. } = self {
            addresses.give_back(address, RANGE);
        }
    }

    /// Records that all cached memory was released. A driver that replays a script skips the remaining recorded
    /// releases.
    pub(crate) fn gave_everything(&mut self) {
        if let Driver::Script(script) = self {
            script.nothing_is_left();
        }
    }

    /// Returns false if this driver replays a script whose next releases are not exactly these segments (address and
    /// bytes).
    pub(crate) fn agrees(&self, segments: impl Iterator<Item = (u64, u64)>) -> bool {
        match self {
            Driver::Script(script) => script.goes_on(segments),
            _ => true,
        }
    }

    /// Returns the attempts to get memory recorded so far, if this driver replays a script.
    pub(crate) fn attempts(&mut self) -> Option<&mut Attempts> {
        match self {
            Driver::Script(script) => Some(&mut script.attempts),
            _ => None,
        }
    }
}
