//! Sums over the holes that the frees of a call site made.

use super::curve::Changes;
use super::memory::{Extent, NONE};
use super::request::DriverRequest;
use crate::side::Side;
use analysis::Sites;
use base::column::Column;
use base::slice::{SliceResult, TimeSlice};
use base::units::Moment;
use hashbrown::HashMap;
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{FrameId, Snapshot, StackId};

/// Holes made by the frees of a call site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frees {
    /// Stack of the frees, later the first stack with this call site. [`StackId::NONE`] without a recorded free.
    pub(crate) stack: StackId,
    pub(crate) site: Option<FrameId>,
    /// Stranded bytes at the headline request, and the number of pieces.
    pub(crate) bytes: u64,
    pub(crate) pieces: u64,
    /// Stranded bytes multiplied by the events from the free to the last driver request that found them free.
    pub(crate) byte_events: u64,
    /// Largest piece at the headline request, or else the piece with the largest product: its allocation or [`NONE`],
    /// and the first driver request that found it free.
    pub(crate) allocation: u32,
    pub(crate) exposed: u32,
    /// Bytes of the largest piece at the headline request, and its product.
    largest: [u64; 2],
}

impl Default for Frees {
    fn default() -> Frees {
        let (site, bytes, pieces, byte_events, exposed, largest) = Default::default();
        Frees { stack: StackId::NONE, site, bytes, pieces, byte_events, allocation: NONE, exposed, largest }
    }
}

impl Frees {
    /// Returns whether a recorded free made the holes.
    pub(crate) fn is_recorded(&self) -> bool {
        self.allocation != NONE
    }

    /// Adds a piece at the headline request.
    pub(super) fn add_hole(&mut self, bytes: u64, piece: &Extent) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.pieces += 1;
        self.note_largest([bytes, 0], piece);
    }

    fn note_largest(&mut self, rank: [u64; 2], piece: &Extent) {
        if rank >= self.largest {
            (self.largest, self.allocation, self.exposed) = (rank, piece.allocation, piece.seen_from);
        }
    }

    fn join(&mut self, other: &Frees) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.pieces += other.pieces;
        self.byte_events = self.byte_events.saturating_add(other.byte_events);
        if other.largest > self.largest {
            (self.largest, self.allocation, self.exposed) = (other.largest, other.allocation, other.exposed);
        }
    }
}

/// Indices by number.
pub(super) type Stacks = HashMap<u32, u32, foldhash::fast::RandomState>;

/// Frees being joined by call site.
#[derive(Default)]
pub(super) struct Joining {
    next: usize,
    joined: u32,
    /// Index into [`Ledger::frees`] by frame.
    places: Stacks,
    sites: Option<Sites>,
}

impl Joining {
    /// Finds the call sites of the frees, and joins those with the same one.
    pub(super) fn step(&mut self, frees: &mut Vec<Frees>, snapshot: &Snapshot, slice: &mut TimeSlice) -> SliceResult {
        let sites = self.sites.get_or_insert_with(|| Sites::new(snapshot));
        while let Some(&(mut sum)) = frees.get(self.next) {
            slice.spend(8)?;
            self.next += 1;
            sum.site = sites.call_site(snapshot, sum.stack);
            // Frees without a stack are not mixed with memory that no recorded free made.
            let key = sum.site.map_or(u32::MAX - u32::from(sum.is_recorded()), |site| site.0);
            let place = *self.places.entry(key).or_insert(self.joined);
            let is_new = place == self.joined;
            self.joined += u32::from(is_new);
            let Some(known) = frees.get_mut(place as usize) else { continue };
            if is_new {
                *known = sum;
            } else {
                known.join(&sum);
            }
        }
        frees.truncate(self.joined as usize);
        Ok(())
    }
}

/// Adds a piece that is no longer free to the sums of its free, if driver requests found it free.
pub(super) fn charge(
    side: Side<'_>,
    requests: &Column<DriverRequest>,
    (frees, stacks): (&mut Vec<Frees>, &mut Stacks),
    changes: &mut Changes,
    (bytes, piece): (u64, &Extent),
) {
    let Some(last) = requests.len().checked_sub(1).filter(|&last| last >= piece.seen_from as usize) else { return };
    let [first, last] = [piece.seen_from as usize, last].map(|index| requests.at(index));
    changes.add(bytes, piece, [&first, &last]);
    let byte_events = bytes.saturating_mul(last.cause.saturating_sub(piece.since).into());
    if let Some(sum) = frees_of(side, (frees, stacks), piece.allocation) {
        sum.byte_events = sum.byte_events.saturating_add(byte_events);
        sum.note_largest([0, byte_events], piece);
    }
}

/// Returns the sums for the free of an allocation, by its stack. Without one, the stack of the allocation is used.
pub(super) fn frees_of<'a>(
    side: Side<'_>,
    (frees, stacks): (&'a mut Vec<Frees>, &mut Stacks),
    allocation: u32,
) -> Option<&'a mut Frees> {
    let id = AllocationId(allocation);
    let stack = match allocation {
        NONE => StackId::NONE,
        _ => freed_by(side.history, id).map_or(StackId::NONE, |event| side.history.events.stack(event)),
    };
    let stack = if allocation != NONE && stack == StackId::NONE { side.stack(id) } else { stack };
    let key = if allocation == NONE { NONE } else { stack.0 };
    let new = frees.len() as u32;
    let place = *stacks.entry(key).or_insert(new);
    if place == new {
        frees.push(Frees { stack, allocation, ..Frees::default() });
    }
    frees.get_mut(place as usize)
}

/// Returns the event with the stack of an allocation's free: the request of the free, or else its completion.
fn freed_by(history: &DeviceHistory, id: AllocationId) -> Option<u32> {
    let requested = history.allocations.free_requested(id).filter(|&moment| moment > Moment::START);
    requested.or(history.allocations.freed_at(id))?.event().map(|event| event.0)
}
