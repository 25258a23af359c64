//! Live bytes by category as Mosaic counts them (`alloc_history` with the profile "categories", version 67b27bb).
//!
//! Mosaic counts only allocations recorded in the trace, and only events with a time. It ignores a second alloc at a
//! live address and a free at an address that is not live. A free reduces the category of its alloc. The peak is after
//! the first event with the highest sum. Stacks that are only recorded for a block of the final snapshot are not used.

use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::report::writer::{ReportWriter, category_query, evidence_row, moment_evidence};
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::EventIdx;
use hashbrown::HashMap;
use history::snapshot::{Action, StackId};
use protocol::Cell;
use protocol::Evidence;

/// Live bytes over the events, counted as Mosaic does.
pub(super) struct Mosaic {
    event: u32,
    live_addresses: HashMap<u64, u32, foldhash::fast::RandomState>,
    /// Live bytes of each category. `None` before the first allocation in the category.
    current: Vec<Option<i128>>,
    sum: i128,
    peak_bytes: Vec<Option<i128>>,
    peak_sum: i128,
    peak_moment: u32,
}

impl Mosaic {
    pub(super) fn new(file: &OpenFile) -> Mosaic {
        let current = vec![None; file.groups.categories.set().categories().len()];
        Mosaic {
            event: 0,
            live_addresses: HashMap::default(),
            peak_bytes: current.clone(),
            current,
            sum: 0,
            peak_sum: 0,
            peak_moment: 0,
        }
    }

    /// Continues processing the events until all are processed or the time slice is used up.
    pub(super) fn step(&mut self, side: Side<'_>, slice: &mut TimeSlice) -> SliceResult {
        for event in self.event..side.history.event_count() {
            slice.tick()?;
            self.event += 1;
            self.process_event(side, event);
        }
        Ok(())
    }

    fn process_event(&mut self, Side { file, history }: Side<'_>, event: u32) {
        if history.events.times.at(event).is_none() {
            return;
        }
        let categories = &file.groups.categories;
        let (address, size) = history.address_and_size(EventIdx(event));
        match history.events.action(event) {
            Action::Alloc if !self.live_addresses.contains_key(&address) => {
                let has_stack = !matches!(history.events.stack(event), StackId::NONE | StackId::EMPTY);
                let known = history.allocation_of(EventIdx(event)).filter(|_| has_stack);
                let unknown = self.current.len().saturating_sub(1) as u8;
                let category = known.map_or(unknown, |id| categories.category(history, id));
                self.live_addresses.insert(address, category.into());
                self.change(category, i128::from(size));
            }
            Action::FreeCompleted => {
                if let Some(category) = self.live_addresses.remove(&address) {
                    self.change(category as u8, -i128::from(size));
                }
            }
            _ => return,
        }
        if self.sum > self.peak_sum {
            (self.peak_sum, self.peak_moment) = (self.sum, event + 1);
            self.peak_bytes.clone_from(&self.current);
        }
    }

    fn change(&mut self, category: u8, by: i128) {
        if let Some(now) = self.current.get_mut(usize::from(category)) {
            *now = Some(now.unwrap_or(0).saturating_add(by));
            self.sum = self.sum.saturating_add(by);
        }
    }

    pub(super) fn write(&self, writer: &mut ReportWriter<'_>) {
        let note = "For comparison with Mosaic's reports: live bytes without the baseline, at the peak of that sum.";
        let bytes = |bytes: i128| u64::try_from(bytes.max(0)).unwrap_or(u64::MAX);
        let categories = writer.side.file.groups.categories.set().categories();
        let name = |index: u32| categories.get(index as usize).map_or("", String::as_str);
        let sum = |index: u32| bytes(self.peak_bytes.get(index as usize).copied().flatten().unwrap_or(0));
        let whole = bytes(self.peak_sum);
        let columns = [
            column::text("category", "category", |index| name(index).to_owned()),
            column::bytes("live_bytes", "at Mosaic's peak", sum).total(Cell::Bytes(whole)),
            column::share("share", "share", |index| (sum(index), whole)).total(Cell::Share { part: whole, whole }),
        ];
        let present = (0u32..).zip(&self.peak_bytes).filter_map(|(index, sum)| Some((index, (*sum)?)));
        let ranked = sorted_numbers(present.map(|(index, sum)| (two_part_key(!bytes(sum), 0), index)).collect());
        writer.add_sheet(sheet(["mosaic", "Mosaic's numbers", note], &columns), &columns, &ranked, |_, index| {
            evidence_row(Evidence { find: Some(category_query(name(index))), ..moment_evidence(self.peak_moment) })
        });
    }
}
