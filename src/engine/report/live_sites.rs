//! Live bytes at a moment, by call site.

use super::recording::without_stacks;
use super::site_sums::{SiteSums, label};
use super::writer::{ReportWriter, allocation_evidence};
use crate::report::column::{self, sheet};
use crate::side::Side;
use crate::stack_trees::Population;
use analysis::query::MAX_LENGTH;
use analysis::site::listed_site;
use base::slice::{SliceResult, TimeSlice};
use base::units::{group_digits, percent};
use history::replay::AllocationId;
use protocol::{Cell, Evidence, Scope};

/// Allocations that are live after one event, summed by call site.
pub(super) struct LiveSites {
    pub(super) moment: u32,
    pub(super) sums: SiteSums,
    pub(super) bytes: u64,
    pub(super) count: u64,
    /// Bytes that were allocated before recording. They are included in `bytes`.
    pub(super) before_recording: u64,
    population: Population,
    next: usize,
}

impl LiveSites {
    pub(super) fn new(side: Side<'_>, moment: u32) -> LiveSites {
        let moment = moment.min(side.history.event_count());
        let population = Population::new(side.history, Scope::At(moment));
        let (bytes, count, before_recording, next) = Default::default();
        LiveSites { moment, sums: SiteSums::new(side), bytes, count, before_recording, population, next }
    }

    /// Continues adding up the live allocations. Calls `each` with the id and size of every allocation, in order of
    /// allocation.
    pub(super) fn step(
        &mut self,
        side: Side<'_>,
        each: &mut dyn FnMut(AllocationId, u64),
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let LiveSites { sums, bytes, count, before_recording, population, next, .. } = self;
        population.visit(side.history, next, slice, &mut |id, size| {
            sums.add(side, id, size);
            *bytes = bytes.saturating_add(size);
            *count += 1;
            if (id.0 as usize) < side.history.allocations.early_count() {
                *before_recording = before_recording.saturating_add(size);
            }
            each(id, size);
        })
    }

    /// Writes the table of call sites. If `at_cursor` is given, the table has a column with the live bytes at the
    /// cursor.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>, title: &str, at_cursor: Option<&LiveSites>) {
        let side = writer.side;
        let mut ranked = self.sums.ranked(0);
        // Call sites that are live only at the cursor follow, without a share of this total.
        let other = at_cursor.map(|at_cursor| at_cursor.sums.ranked(0)).unwrap_or_default();
        ranked.extend(other.into_iter().filter(|&group| self.sums.get(group).count == 0));
        let whole = self.bytes;
        // Running total over the ranking.
        let covered = ranked.iter().scan(0u64, |covered, &group| {
            *covered = covered.saturating_add(self.sums.get(group).bytes);
            Some((group, *covered))
        });
        let ranked: Vec<(u32, u64)> = covered.collect();
        let source = |group| at_cursor.filter(|_| self.sums.get(group).count == 0).unwrap_or(self);
        let mut columns = vec![
            column::bytes("live_bytes", "live", |(group, _): (u32, u64)| self.sums.get(group).bytes)
                .total(Cell::Bytes(whole)),
            column::share("share", "share", |(group, _): (u32, u64)| (self.sums.get(group).bytes, whole))
                .total(Cell::Share { part: whole, whole }),
            column::share("cumulative_share", "cumulative", |(_, covered): (u32, u64)| (covered, whole)),
            column::count("count", "allocations", |(group, _): (u32, u64)| self.sums.get(group).count)
                .total(Cell::Count(self.count)),
        ];
        columns.extend(at_cursor.map(|at_cursor| {
            column::bytes("live_bytes_at_cursor", "live at the cursor", |(group, _): (u32, u64)| {
                at_cursor.sums.get(group).bytes
            })
            .total(Cell::Bytes(at_cursor.bytes))
        }));
        columns.push(column::text("call_site", "call site", |(group, _): (u32, u64)| {
            source(group).sums.name(side, group)
        }));
        writer.add_sheet(sheet(["live", title, ""], &columns), &columns, &ranked, |writer, (group, _)| {
            let LiveSites { sums, moment, .. } = source(group);
            writer.site_row(sums, group, Some(*moment))
        });
    }

    /// Returns a text about the three largest call sites, and evidence that finds their allocations. Example of the
    /// text: `Largest call sites at the peak: a (30.0 %), b (20.0 %), c (12.1 %). Together 62.1 %; 41 call sites in
    /// total.`
    pub(super) fn describe_largest(&self, side: Side<'_>, when: &str) -> Option<(String, Evidence)> {
        let ranked = self.sums.ranked(1);
        let largest_of = |group: u32| allocation_evidence(self.sums.get(group).largest, None);
        if let (Some(text), Some(&group)) = (without_stacks(side.file), ranked.first()) {
            return Some((text, largest_of(group)));
        }
        let largest = ranked.get(..3).unwrap_or(&ranked);
        let (bytes, _) = self.sums.total(largest);
        let mut text = format!("Largest call sites {when}");
        for (index, &group) in largest.iter().enumerate() {
            let separator = if index == 0 { ": " } else { ", " };
            let share = percent(self.sums.get(group).bytes, self.bytes);
            text.push_str(&format!("{separator}{} ({share})", listed_site(&self.sums.name(side, group))));
        }
        text.push('.');
        if largest.len() > 1 {
            text.push_str(&format!(
                " Together {}; {} call sites in total.",
                percent(bytes, self.bytes),
                group_digits(ranked.len() as u64)
            ));
        }
        let evidence = sites_evidence(side, largest);
        largest.first().map(|&group| (text, evidence.unwrap_or_else(|| largest_of(group))))
    }
}

/// Returns evidence that finds the allocations of all these call sites. `None` if they have no stack, or if the search
/// would be too long.
pub(super) fn sites_evidence(side: Side<'_>, groups: &[u32]) -> Option<Evidence> {
    let mut query = String::from("@/");
    for (index, &group) in groups.iter().enumerate() {
        if index > 0 {
            query.push('|');
        }
        for letter in label(side, group).chars() {
            if letter.is_ascii_punctuation() && !"<>_".contains(letter) {
                query.push('\\');
            }
            query.push(letter);
        }
    }
    query.push('/');
    let is_possible = !groups.contains(&0) && query.chars().count() <= MAX_LENGTH;
    is_possible.then(|| Evidence { find: Some(query), ..Evidence::default() })
}
