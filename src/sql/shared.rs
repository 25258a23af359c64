//! Computation of data that all rows of a file or device share. It is computed on first use.

use crate::cache::{BlockPlace, Step};
use crate::source::Source;
use base::slice::TimeSlice;
use base::units::Moment;
use engine::tables::{Row, TotalsCache, used_stacks};
use engine::{Phase, PhaseFinder, Side, StepSearch};
use history::snapshot::StackId;
use std::rc::Rc;

/// Maximum number of frames, whose indices must fit into 32 bits.
const MAX_FRAMES: usize = u32::MAX as usize - 1;

impl Source {
    /// Returns the call site of a stack as text: `file:line function`.
    pub(crate) fn site_text(&self, file: usize, stack: StackId) -> Option<String> {
        self.files.get(file)?.facts.sites.text(self.snapshot(file)?, stack)
    }

    /// Returns a row of a table that the engine declares.
    pub(crate) fn row<'a>(&'a self, part: usize, totals: &'a TotalsCache, index: u32) -> Option<Row<'a>> {
        let file = self.file_of(part)?;
        let first_stack = file.first_stack as u64;
        Some(Row { first_stack, ..Row::new(self.side(part)?, &file.facts.sites, totals).at(index) })
    }

    /// Returns the id that a stack has in SQL, or `None` if the stack has no frames.
    pub(crate) fn stack_number(&self, part: usize, stack: StackId) -> Option<i64> {
        let file = self.file_of(part)?;
        self.side(part)?.snapshot().stacks.innermost(stack)?;
        Some(file.first_stack + i64::from(stack.0))
    }

    /// Returns the indices of a file's stacks that occur in any row, ascending.
    pub(crate) fn stacks(&self, file: usize) -> Option<Rc<Vec<u32>>> {
        let of = self.files.get(file)?;
        Some(of.facts.stacks.get_or_init(|| Rc::new(used(self, of.parts.clone()))).clone())
    }

    /// Returns, for each stack in [`Source::stacks`], the row of its first frame in the `frame` table. The last element
    /// is the total number of frames.
    pub(crate) fn frames(&self, file: usize) -> Option<&[u32]> {
        let (of, snapshot, stacks) = (self.files.get(file)?, self.snapshot(file)?, self.stacks(file)?);
        Some(of.facts.frames.get_or_init(|| {
            let mut count = 0;
            let mut begins = vec![0];
            for &stack in stacks.iter() {
                count += snapshot.stacks.frames(StackId(stack)).count();
                if count > MAX_FRAMES {
                    break;
                }
                begins.push(count as u32);
            }
            begins
        }))
    }

    /// Returns the segment, allocation and address range of each block of a file.
    pub(crate) fn blocks(&self, file: usize) -> &[BlockPlace] {
        let Some((of, snapshot)) = self.files.get(file).zip(self.snapshot(file)) else { return &[] };
        of.facts.blocks.get_or_init(|| {
            let mut places = vec![BlockPlace::default(); snapshot.blocks.len()];
            for (number, segment) in (0u32..).zip(&snapshot.segments) {
                let blocks = segment.blocks.start as usize..segment.blocks.end as usize;
                places.get_mut(blocks).unwrap_or_default().iter_mut().for_each(|place| place.segment = number);
            }
            for part in of.parts.clone() {
                self.side(part).into_iter().for_each(|side| place_blocks(side, &mut places));
            }
            places
        })
    }

    /// Returns the training steps of a device.
    pub(crate) fn steps(&self, part: usize) -> Option<Rc<Vec<Step>>> {
        let (of, side) = (self.parts.get(part)?, self.side(part)?);
        Some(of.facts.steps.get_or_init(|| Rc::new(steps(&side, of.device))).clone())
    }

    /// Returns the number of the training step that contains an event.
    pub(crate) fn step_at(&self, part: usize, event: u32) -> Option<u32> {
        let steps = self.steps(part)?;
        let index = steps.partition_point(|step| step.span[1] <= event);
        steps.get(index).filter(|step| step.span[0] <= event).map(|_| index as u32)
    }

    /// Returns the phases of the training steps of a device.
    pub(crate) fn phases(&self, part: usize) -> Option<Rc<Vec<Phase>>> {
        let (of, side) = (self.parts.get(part)?, self.side(part)?);
        Some(of.facts.phases.get_or_init(|| Rc::new(phases(&side))).clone())
    }
}

fn used(source: &Source, parts: std::ops::Range<usize>) -> Vec<u32> {
    let sides = parts.filter_map(|part| source.side(part));
    let mut all: Vec<u32> = sides.flat_map(used_stacks).map(|stack| stack.0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Finds the allocation and the address range of each block of a device.
fn place_blocks(side: Side<'_>, places: &mut [BlockPlace]) {
    let history = side.history;
    let snapshot = side.snapshot();
    for id in (0..history.allocations.len() as u32).map(history::replay::AllocationId) {
        if history.allocations.freed_at(id).is_none()
            && let Some(place) = history.end_block(id).and_then(|row| places.get_mut(row as usize))
        {
            place.allocation = Some(id.0);
        }
    }
    let Some(lives) = side.segment_lives() else { return };
    let ranges = &lives.ranges;
    let is_there = |id: &history::replay::AllocationId| ranges.freed_at(*id).is_none();
    let all = (0..ranges.len() as u32).map(history::replay::AllocationId).filter(is_there);
    let mut by_address: Vec<(u64, u64, u32)> = all.map(|id| (ranges.address(id), ranges.size(id), id.0)).collect();
    by_address.sort_unstable();
    for (block, place) in snapshot.blocks.iter().zip(places) {
        let is_ours = snapshot.segments.get(place.segment as usize).is_some_and(|it| it.device == history.device);
        let at = by_address.partition_point(|&(address, ..)| address <= block.address).checked_sub(1);
        if let Some(&(address, size, id)) = at.filter(|_| is_ours).and_then(|at| by_address.get(at))
            && block.address - address < size
        {
            place.range = Some(id);
        }
    }
}

fn phases(side: &Side<'_>) -> Vec<Phase> {
    let goes_on = &mut || true;
    let slice = &mut TimeSlice::new(goes_on);
    let mut finder = PhaseFinder::default();
    while finder.step(side, slice).is_err() {}
    finder.phases().to_vec()
}

fn steps(side: &Side<'_>, device: i64) -> Vec<Step> {
    let goes_on = &mut || true;
    let slice = &mut TimeSlice::new(goes_on);
    let mut search = StepSearch::new(device);
    while search.step(side, slice).is_err() {}
    let spans = search.spans().iter().enumerate();
    spans
        .map(|(number, span)| Step {
            name: search.name(side, number),
            span: [span.from, span.to],
            peak: side.peak_bytes_in(Moment(span.from), Moment(span.to)),
        })
        .collect()
}
