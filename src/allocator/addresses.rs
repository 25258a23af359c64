//! Addresses of new segments, assigned in one of the orders that a driver may use.

/// First address of ascending orders.
const FIRST: u64 = 0x7000_0000_0000;
/// First address of descending orders, and upper end of ascending ones.
const LAST: u64 = 1 << 62;
const GRANULE: u64 = 2 << 20;
/// Maximum number of gaps that are kept for reuse.
const MAX_GAPS: usize = 4096;

/// Order of the addresses that new segments get. Up to PyTorch 2.12, addresses decide which of several free blocks of
/// equal size is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Ascending, each address once.
    #[default]
    Ascending,
    /// Descending, each address once.
    Descending,
    Mixed,
    /// The lowest gap that is large enough.
    Lowest,
    /// The highest gap that is large enough.
    Highest,
    /// The recorded addresses while the operations match the recorded ones, then higher ones.
    Recorded,
}

impl Order {
    /// All orders except `Recorded`.
    pub const ALL: [Order; 5] = [Order::Ascending, Order::Descending, Order::Mixed, Order::Lowest, Order::Highest];
}

/// Assigns addresses to new segments and reuses those of freed ones.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    order: Order,
    /// End of the used addresses: the next one in ascending order, the last one in descending order.
    next: u64,
    /// Start of the ascending addresses that are used once the descending ones are used up.
    above: u64,
    count: u64,
    /// Free ranges between used addresses: begin and end, ascending.
    gaps: Vec<[u64; 2]>,
}

impl Addresses {
    pub(crate) fn new(order: Order) -> Addresses {
        let next = if matches!(order, Order::Descending | Order::Highest) { LAST } else { FIRST };
        Addresses { order, next, above: LAST, count: 0, gaps: Vec::new() }
    }

    /// Creates an allocator of addresses above or below `used`, which is `[begin, end)`.
    pub(crate) fn beside(order: Order, [begin, end]: [u64; 2]) -> Addresses {
        let mut addresses = Addresses::new(order);
        let end = end.checked_next_multiple_of(GRANULE).unwrap_or(u64::MAX);
        match order {
            Order::Ascending | Order::Lowest => addresses.next = end.max(FIRST),
            Order::Descending | Order::Highest => {
                (addresses.next, addresses.above) = (begin / GRANULE * GRANULE, end.max(FIRST));
            }
            Order::Mixed | Order::Recorded => {}
        }
        addresses
    }

    /// Takes `size` bytes of addresses and returns the first one, or `None` if all addresses are used up.
    pub(crate) fn take(&mut self, size: u64) -> Option<u64> {
        let size = size.checked_next_multiple_of(GRANULE)?;
        self.count += 1;
        match self.order {
            // The factor is odd, so no two of the first 2^18 addresses are equal.
            Order::Mixed => return Some((self.count.wrapping_mul(0x9e37_79b1) & ((1 << 18) - 1)) << 45),
            Order::Lowest | Order::Highest => {
                if let Some(address) = self.take_gap(size) {
                    return Some(address);
                }
            }
            _ => {}
        }
        if matches!(self.order, Order::Descending | Order::Highest) {
            if self.next > size {
                self.next -= size;
                return Some(self.next);
            }
            (self.order, self.next) = (Order::Ascending, self.above);
        }
        let address = self.next;
        self.next = address.saturating_add(size);
        Some(address).filter(|_| self.next <= LAST)
    }

    fn take_gap(&mut self, size: u64) -> Option<u64> {
        let fits = |gap: &[u64; 2]| gap[1] - gap[0] >= size;
        let is_highest = self.order == Order::Highest;
        let at = if is_highest { self.gaps.iter().rposition(fits)? } else { self.gaps.iter().position(fits)? };
        let gap = self.gaps.get_mut(at)?;
        let address = if is_highest { gap[1] - size } else { gap[0] };
        if is_highest {
            gap[1] -= size;
        } else {
            gap[0] += size;
        }
        if gap[0] == gap[1] {
            self.gaps.remove(at);
        }
        Some(address)
    }

    /// Returns a range of addresses for reuse.
    pub(crate) fn give_back(&mut self, address: u64, size: u64) {
        if !matches!(self.order, Order::Lowest | Order::Highest) {
            return;
        }
        let Some(size) = size.checked_next_multiple_of(GRANULE) else { return };
        let mut gap = [address, address.saturating_add(size)];
        let mut at = self.gaps.partition_point(|other| other[0] < address);
        if let Some(above) = self.gaps.get(at).filter(|above| above[0] == gap[1]) {
            gap[1] = above[1];
            self.gaps.remove(at);
        }
        if let Some(below) = at.checked_sub(1).and_then(|below| self.gaps.get(below)).filter(|below| below[1] == gap[0])
        {
            gap[0] = below[0];
            at -= 1;
            self.gaps.remove(at);
        }
        match self.order {
            Order::Lowest if gap[1] == self.next => self.next = gap[0],
            Order::Highest if gap[0] == self.next => self.next = gap[1],
            // Further gaps are not used again.
            _ if self.gaps.len() < MAX_GAPS => self.gaps.insert(at, gap),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/addresses.rs"]
mod tests;
