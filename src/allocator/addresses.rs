//! Addresses of new segments, assigned in one of the orders that a driver may use.

/// Lowest address that is assigned.
const FIRST: u64 = 0x7000_0000_0000;
/// Upper end of the assigned addresses. Descending orders start here.
const LAST: u64 = 1 << 62;
const GRANULE: u64 = 2 << 20;
/// Maximum number of free address ranges (gaps) that are remembered for reuse.
const MAX_GAPS: usize = 4096;

/// Order of the addresses that new segments get. In PyTorch versions that order free blocks of equal size by address,
/// it affects which block a request gets, see [`BlockOrder`](crate::BlockOrder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Ascending. No address is reused.
    #[default]
    Ascending,
    /// Descending. No address is reused.
    Descending,
    Mixed,
    /// Lowest gap between used addresses that is large enough.
    Lowest,
    /// Highest gap between used addresses that is large enough.
    Highest,
    /// Recorded addresses, as long as the run's segment operations match the recorded ones. After the first difference,
    /// addresses above all recorded ones.
    Recorded,
}

impl Order {
    /// All orders except `Recorded`.
    pub const ALL: [Order; 5] = [Order::Ascending, Order::Descending, Order::Mixed, Order::Lowest, Order::Highest];
}

/// Source of addresses for new segments, which reuses the addresses of freed segments.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    order: Order,
    /// Boundary of the used addresses: the next address in ascending order, the last used one in descending order.
    next: u64,
    /// Next ascending address. Used once the descending addresses are used up.
    above: u64,
    count: u64,
    /// Free ranges between used addresses, as `[begin, end)`, ascending.
    gaps: Vec<[u64; 2]>,
}

impl Addresses {
    pub(crate) fn new(order: Order) -> Addresses {
        let next = if matches!(order, Order::Descending | Order::Highest) { LAST } else { FIRST };
        Addresses { order, next, above: LAST, count: 0, gaps: Vec::new() }
    }

    /// Creates an allocator of addresses that avoids the range `[begin, end)`, which is in use.
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

    /// Reserves `size` bytes of addresses and returns the first one, or `None` if all addresses are used up.
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

    /// Frees an address range for reuse.
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
