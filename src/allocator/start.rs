//! Reconstruction of the allocator's state before the first event.
//!
//! Allocations made before recording have a known address and requested size, but the end of their block may be
//! unknown. In a non-expandable segment of large blocks, the space behind a block is either part of the block, if it is
//! too small to be split off, or a free block. The free block begins at the address of the first allocation placed in
//! that space.

use super::blocks::{Block, NONE, State};
use super::expandable::range_size;
use super::model::Allocator;
use super::operation::Kind;
use super::pool::Key;
use super::recording::{Early, Held, Recording};
use super::rounding::{page, rounded};
use super::settings::{BlockOrder, SMALL, SMALL_SEGMENT};
use base::sorted::sorted_by_key;

/// Maximum distance, in bytes, between the mapped addresses of an expandable segment and the base of its address range.
const REACH: u64 = 1 << 37;
/// Initial age numbers of segments that exist before the first event are multiples of 2 to this power. The gaps leave
/// room for corrections.
pub(super) const NUMBER_GAP: u32 = 30;

/// Block ids of each expandable segment, indexed by `2 * place + small`.
type Groups = Vec<Vec<u32>>;

/// Adds the segments and allocations from before the first event to the allocator, at their recorded addresses. Returns
/// the block id of each allocation.
pub(crate) fn keep(recording: &Recording, allocator: &mut Allocator) -> Vec<u32> {
    let mut blocks = vec![NONE; recording.allocations.len()];
    let mut groups = vec![Vec::new(); 2 * recording.places.len()];
    let mut early = recording.early.iter().peekable();
    let address = |early: &Early| recording.allocations.at(early.allocation as usize).address;
    for held in &recording.held {
        let end = held.address.saturating_add(held.size);
        let place = recording.place(held.place);
        let pool = allocator.pool(place.pool, held.small);
        let (mut at, mut chain) = (held.address, Vec::new());
        while early.next_if(|early| address(early) < at).is_some() {}
        while let Some(one) = early.next_if(|early| address(early) < end) {
            let begin = address(one);
            if begin < at {
                continue;
            }
            let next = early.peek().map_or(end, |next| end.min(address(next)));
            if begin > at {
                chain.push((at, begin - at, NONE));
            }
            let size = size(recording, allocator, held, one, begin, next);
            chain.push((begin, size, one.allocation));
            at = begin + size;
        }
        if at < end {
            chain.push((at, end - at, NONE));
        }
        let number = if held.expandable { 0 } else { start_number(recording, allocator) };
        let mut previous = NONE;
        for (address, size, allocation) in chain.into_iter().filter(|(_, size, _)| *size > 0) {
            let state = if allocation == NONE { State::Free } else { State::Live };
            let (stream, range, freed_at, next) = (place.stream, NONE, 0, NONE);
            let block =
                Block { address, size, number, freed_at, stream, pool, previous, next, range, allocation, state };
            let id = match previous {
                NONE => allocator.blocks.add(block),
                previous => allocator.blocks.add_after(previous, block),
            };
            previous = id;
            match blocks.get_mut(allocation as usize) {
                Some(own) => {
                    *own = id;
                    allocator.totals.allocated = allocator.totals.allocated.saturating_add(size);
                }
                None if held.expandable => {}
                None => allocator.keep_free(id),
            }
            if let Some(group) =
                groups.get_mut(2 * held.place as usize + usize::from(held.small)).filter(|_| held.expandable)
            {
                group.push(id);
            }
        }
        allocator.totals.reserved = allocator.totals.reserved.saturating_add(held.size);
    }
    reserve(recording, allocator, groups);
    allocator.totals.peak_reserved = allocator.totals.reserved;
    allocator.numbers = (allocator.start_segments + 1) << NUMBER_GAP;
    blocks
}

/// Returns the age number of the next segment. The numbers have gaps for segments that turn out to be older.
fn start_number(recording: &Recording, allocator: &mut Allocator) -> u64 {
    if allocator.backend.order == BlockOrder::Address {
        return 0;
    }
    let at = allocator.start_segments;
    allocator.start_segments += 1;
    let known = recording.findings.start_numbers.get(at as usize);
    known.copied().unwrap_or((at + 1) << NUMBER_GAP)
}

/// Returns the block size, in bytes, of an allocation made before recording. Its block starts at `begin`, and the next
/// known block starts at `next`.
fn size(recording: &Recording, allocator: &Allocator, held: &Held, early: &Early, begin: u64, next: u64) -> u64 {
    let room = next - begin;
    if let Some(size) = early.block_size {
        return size.min(room);
    }
    let pool = recording.place(held.place).pool as usize;
    if allocator.traits.get(pool).is_some_and(|traits| traits.no_split) {
        return room;
    }
    let requested = recording.allocations.at(early.allocation as usize).size;
    let least = rounded(&allocator.settings, allocator.backend, requested);
    if held.small || held.expandable {
        return least.min(room);
    }
    let is_unsplit = allocator.settings.max_split.is_some_and(|most| least >= most);
    match room.checked_sub(least) {
        None | Some(0..=SMALL) => room,
        _ if is_unsplit => room,
        _ => match early.follower.map(|follower| follower - begin) {
            Some(to) if to.saturating_sub(least) <= SMALL && to >= least => to,
            _ => least,
        },
    }
}

/// Creates the address range of each expandable segment, including its unmapped parts.
fn reserve(recording: &Recording, allocator: &mut Allocator, groups: Groups) {
    for (group, ids) in groups.into_iter().enumerate().filter(|(_, ids)| !ids.is_empty()) {
        let ids = sorted_by_key(ids, |&id| allocator.blocks.at(id).address.into());
        let (place, small) = (recording.place(group as u32 / 2), group % 2 == 1);
        let page = page(&allocator.settings, small);
        let Some(&first) = ids.first() else { continue };
        let mut base = allocator.blocks.at(first).address;
        // The range may begin lower, at the lowest address that is ever mapped within reach.
        for (operation, of) in recording.operations.iter().zip(&recording.operation_places) {
            let is_small = !operation.size.is_multiple_of(allocator.settings.large_segment);
            let fits = matches!(operation.kind, Kind::Map | Kind::Unmap)
                && *of == group as u32 / 2
                && operation.size.is_multiple_of(page)
                && (page == SMALL_SEGMENT) == is_small;
            if fits
                && operation.address < base
                && base - operation.address < REACH
                && (base - operation.address).is_multiple_of(page)
            {
                base = operation.address;
            }
        }
        let pool = allocator.pool(place.pool, small);
        let rest = allocator.add_range(pool, place.stream, base, page);
        let number = start_number(recording, allocator);
        allocator.blocks.at_mut(rest).number = number;
        let range = allocator.blocks.at(rest).range;
        thread(allocator, &ids, rest, range);
    }
}

/// Inserts mapped blocks into `rest`, the unmapped block that covers their address range.
fn thread(allocator: &mut Allocator, ids: &[u32], rest: u32, range: u32) {
    let whole = *allocator.blocks.at(rest);
    let end = whole.address + range_size(whole.address, allocator.ranges[range as usize].page);
    allocator.pool_at(whole.pool).unmapped.remove(&Key::of_unmapped(rest, &whole));
    let (mut at, mut previous) = (whole.address, NONE);
    let mut holes = Vec::new();
    let mut link = |allocator: &mut Allocator, id: u32| {
        allocator.blocks.at_mut(id).previous = previous;
        if previous != NONE {
            allocator.blocks.at_mut(previous).next = id;
        }
        previous = id;
    };
    for &id in ids {
        let block = *allocator.blocks.at(id);
        if block.address > at {
            let hole = allocator.blocks.add(Block { address: at, size: block.address - at, next: NONE, ..whole });
            link(allocator, hole);
            holes.push(hole);
        }
        link(allocator, id);
        let own = allocator.blocks.at_mut(id);
        (own.range, own.next, own.number) = (range, NONE, whole.number);
        at = block.address + block.size;
        if own.state == State::Free {
            allocator.keep_free(id);
        }
    }
    if at < end {
        let tail = allocator.blocks.at_mut(rest);
        (tail.address, tail.size) = (at, end - at);
        link(allocator, rest);
        holes.push(rest);
    } else {
        allocator.blocks.remove(rest);
    }
    holes.into_iter().for_each(|hole| allocator.keep_unmapped(hole));
}

#[cfg(test)]
#[path = "../../tests/units/allocator/start.rs"]
mod tests;
