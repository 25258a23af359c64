//! Insight on categories: live bytes by category, the rules that match, and the call sites that no rule matches.

mod mosaic;
mod sums;

use super::insight::{Given, Insight, Need};
use super::recording::{without_events, without_stacks};
use super::site_sums::SiteSums;
use super::writer::{ReportWriter, bytes_text, category_query, evidence_row, is_notable, moment_evidence};
use crate::report::column::{self, sheet};
use analysis::category::{CategoryRule, category_label};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{Moment, group_digits, percent};
use history::replay::AllocationId;
use mosaic::Mosaic;
use protocol::{Cell, Evidence, SheetRow, Tone};
use sums::{CategoryPeaks, Sums};

/// The share of unclassified bytes at the peak is reported as good if it is at most 1 / this number.
const TOLERATED_DIVISOR: u64 = 10;

/// The insight on categories.
pub(super) struct Categories {
    peak: Sums,
    at_cursor: Option<Sums>,
    own_peaks: CategoryPeaks,
    mosaic: Option<Mosaic>,
}

impl Insight for Categories {
    const NEEDS: &'static [Need] = &[Need::Categories];

    fn new(&Given { side, question, .. }: &Given<'_>) -> Categories {
        let peak = Moment::after_event_or_minus_one(side.history.numbers.peak_event).0;
        Categories {
            peak: Sums::new(side, peak),
            at_cursor: question.at.map(|at| Sums::new(side, at)),
            own_peaks: CategoryPeaks::new(side.file),
            mosaic: (side.file.groups.categories.set().name() != "default").then(|| Mosaic::new(side.file)),
        }
    }

    fn step(&mut self, &Given { side, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        for sums in [Some(&mut self.peak), self.at_cursor.as_mut()].into_iter().flatten() {
            sums.step(side, slice)?;
        }
        self.own_peaks.step(side, slice)?;
        self.mosaic.as_mut().map_or(Ok(()), |mosaic| mosaic.step(side, slice))
    }

    fn write(self, _: &Given<'_>, writer: &mut ReportWriter<'_>) {
        self.write_statements(writer);
        self.write_categories(writer);
        self.write_rules(writer);
        self.write_unknown(writer);
        if let Some(mosaic) = self.mosaic {
            mosaic.write(writer);
        }
    }
}

impl Categories {
    /// Returns the indices of the categories for which `is_wanted` returns true. Categories with the most bytes at the
    /// peak come first.
    fn ranked(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        let indices = (0u32..).zip(&self.peak.categories).filter(|(index, _)| is_wanted(*index as usize));
        sorted_numbers(indices.map(|(index, weight)| (two_part_key(!weight.bytes, 0), index)).collect())
    }

    fn write_statements(&self, writer: &mut ReportWriter<'_>) {
        let set = writer.side.file.groups.categories.set();
        let (names, whole) = (set.categories(), self.peak.total.bytes);
        let mut text = String::from("At the peak: ");
        for (number, index) in
            self.ranked(|index| self.peak.category(index).bytes > whole / 2000).into_iter().enumerate()
        {
            let name = names.get(index as usize).map_or("", |name| category_label(name));
            let share = percent(self.peak.category(index as usize).bytes, whole);
            [if number > 0 { ", " } else { "" }, name, " ", &share].iter().for_each(|part| text.push_str(part));
        }
        if text.ends_with(' ') {
            text.push_str(if whole == 0 { "nothing live" } else { "only unexplained bytes" });
        }
        text.push_str(&format!(" (rules: {}).", set.name()));
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(self.peak.moment)));
        let unknown = self.peak.category(names.len().saturating_sub(1));
        let name = names.last().cloned().unwrap_or_default();
        let evidence = Some(Evidence { find: Some(category_query(&name)), ..moment_evidence(self.peak.moment) });
        if unknown.bytes > whole / TOLERATED_DIVISOR {
            let mut text = format!("Classified as {name}: {} of the peak.", bytes_text(unknown.bytes));
            if let Some(sentence) = without_events(writer.side).or(without_stacks(writer.side.file)) {
                text.push_str(&[" ", &sentence].concat());
            } else if self.peak.without_stack > unknown.bytes / 2 {
                let part = bytes_text(self.peak.without_stack);
                text.push_str(&format!(" Allocated before recording, without a stack: {part}. "));
                text.push_str("Start recording before the model is created.");
            }
            writer.add_statement(Tone::Fact, text, evidence);
        } else if whole > 0 {
            let part = percent(unknown.bytes, whole);
            let text = match unknown.bytes {
                0 => format!("Classified as {name}: nothing at the peak."),
                _ => format!("Classified as {name}: {part} of the peak."),
            };
            writer.add_statement(Tone::Good, text, evidence);
        }
        if is_notable(self.peak.by_size, whole) {
            let text = format!(
                "Inferred from size alone: {} of the peak, where stacks are missing or ambiguous. Totals per category are reliable, individual allocations are not.",
                bytes_text(self.peak.by_size)
            );
            writer.add_statement(Tone::Fact, text, None);
        }
    }

    fn write_categories(&self, writer: &mut ReportWriter<'_>) {
        let file = writer.side.file;
        let names = file.groups.categories.set().categories();
        // Unexplained bytes have no category, but are part of the total.
        type Row = Option<usize>;
        let name = |index: usize| names.get(index).map_or("", String::as_str);
        let peak = |index: Row| index.map_or(self.peak.unexplained, |index| self.peak.category(index));
        let own_peak = |index: usize| self.own_peaks.peak(index);
        let whole = self.peak.total;
        let mut columns = vec![
            column::text("category", "category", |index: Row| index.map_or("unexplained", name).to_owned()),
            column::bytes("peak_live_bytes", "at the peak", |index| peak(index).bytes).total(Cell::Bytes(whole.bytes)),
            column::share("peak_share", "share", |index| (peak(index).bytes, whole.bytes))
                .total(Cell::Share { part: whole.bytes, whole: whole.bytes }),
            column::count("peak_count", "allocations", |index| peak(index).count.into())
                .total(Cell::Count(whole.count.into())),
        ];
        if let Some(at) = &self.at_cursor {
            let then = |index: Row| index.map_or(at.unexplained, |index| at.category(index));
            columns.extend([
                column::bytes("live_bytes_at_cursor", "at the cursor", move |index| then(index).bytes)
                    .total(Cell::Bytes(at.total.bytes)),
                column::count("count_at_cursor", "allocations at the cursor", move |index| then(index).count.into())
                    .total(Cell::Count(at.total.count.into())),
            ]);
        }
        columns.extend([
            column::cell("own_peak_live_bytes", "own peak", |index: Row| {
                index.map_or(Cell::Empty, |index| Cell::Bytes(own_peak(index).0))
            }),
            column::cell("own_peak_event", "own peak after event", |index: Row| {
                index.map_or(Cell::Empty, |index| column::moment_cell(own_peak(index).1))
            }),
        ]);
        let note = "Live bytes. Each allocation has exactly one category.";
        let ranked = self.ranked(|index| self.own_peaks.peak(index).0 > 0 || self.peak.category(index).count > 0);
        let mut rows: Vec<Row> = ranked.into_iter().map(|index| Some(index as usize)).collect();
        rows.extend((self.peak.unexplained.count > 0).then_some(None));
        writer.add_sheet(sheet(["categories", "Categories", note], &columns), &columns, &rows, |_, index| {
            let evidence =
                |index| Evidence { find: Some(category_query(name(index))), ..moment_evidence(own_peak(index).1) };
            index.map_or_else(SheetRow::default, |index| evidence_row(evidence(index)))
        });
    }

    fn write_rules(&self, writer: &mut ReportWriter<'_>) {
        let set = writer.side.file.groups.categories.set();
        let rules = (0u32..).zip(&self.peak.rules).filter(|(_, sum)| sum.0.count > 0);
        let ranked = sorted_numbers(rules.map(|(rule, sum)| (two_part_key(!sum.0.bytes, 0), rule)).collect());
        // Allocations that no rule matches have a row, but don't count as a rule.
        let deciding = ranked.iter().filter(|&&rule| (rule as usize) < set.rules().len()).count();
        let idle = set.rules().len().saturating_sub(deciding);
        let mut note =
            String::from("What each rule matches at the peak; the first match wins. Rules without a match: ");
        [&group_digits(idle as u64), " of ", &group_digits(set.rules().len() as u64), "."]
            .iter()
            .for_each(|part| note.push_str(part));
        let rule = |number: u32| set.rules().get(number as usize);
        let sum = |number: u32| self.peak.rules.get(number as usize).copied().unwrap_or_default();
        let columns = [
            column::cell("rule", "rule", |number| {
                rule(number).map_or(Cell::Empty, |_| Cell::Count(u64::from(number) + 1))
            }),
            column::cell("category", "category", |number| {
                rule(number).map_or(Cell::Empty, |rule| Cell::Text(rule.category.clone()))
            }),
            column::text("because", "reason", |number| {
                rule(number).map_or_else(|| "no rule matches".to_owned(), CategoryRule::reason)
            }),
            column::bytes("peak_live_bytes", "at the peak", |number| sum(number).0.bytes),
            column::share("peak_share", "share", |number| (sum(number).0.bytes, self.peak.total.bytes)),
            column::count("peak_count", "allocations", |number| sum(number).0.count.into()),
        ];
        writer.add_sheet(sheet(["rules", "Rules", &note], &columns), &columns, &ranked, |writer, number| {
            writer.allocation_row(AllocationId(sum(number).1), Some(self.peak.moment))
        });
    }

    fn write_unknown(&self, writer: &mut ReportWriter<'_>) {
        let sites: &SiteSums = &self.peak.unknown;
        let ranked = sites.ranked(0);
        if ranked.is_empty() {
            return;
        }
        let note = "Call sites at the peak that no rule matches. Add custom rules to classify them.";
        let (side, whole) = (writer.side, self.peak.total.bytes);
        let (part, count) = sites.total(&ranked);
        let columns = [
            column::text("call_site", "call site", |group| sites.name(side, group)),
            column::bytes("peak_live_bytes", "at the peak", |group| sites.get(group).bytes).total(Cell::Bytes(part)),
            column::share("peak_share", "share", |group| (sites.get(group).bytes, whole))
                .total(Cell::Share { part, whole }),
            column::count("peak_count", "allocations", |group| sites.get(group).count).total(Cell::Count(count)),
        ];
        writer.add_sheet(sheet(["unknown", "Unknown", note], &columns), &columns, &ranked, |writer, group| {
            writer.site_row(sites, group, Some(self.peak.moment))
        });
    }
}
