//! Report on categories: live bytes by purpose, the rules that match, and what is not classified.

mod mosaic;
mod sums;

use super::job::Job;
use super::site_sums::SiteSums;
use super::writing::{Writing, at, bytes, category_query, row};
use crate::open::OpenFile;
use crate::protocol::{Cell, Evidence, Report, ReportQuestion, SheetRow, Tone};
use crate::report::column::{self, sheet};
use analysis::category::CategoryRule;
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
use base::sorted::{pair, sorted_numbers};
use base::units::{Moment, grouped, percent};
use history::replay::AllocationId;
use mosaic::Mosaic;
use sums::{Most, Sums};

/// Divisor of the peak: more unclassified bytes than the quotient are not reported as good.
const TOLERATED: u64 = 10;

/// Report on categories, in progress.
pub(crate) struct Categories {
    device: i64,
    question: ReportQuestion,
    parts: Option<Parts>,
}

struct Parts {
    peak: Sums,
    at: Option<Sums>,
    most: Most,
    mosaic: Option<Mosaic>,
}

impl Categories {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Categories {
        Categories { device, question, parts: None }
    }
}

impl Job for Categories {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        if file.history(self.device).is_some() {
            file.categorize(slice)?;
        }
        let file = &*file;
        let Some(history) = file.history(self.device) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        let peak = Moment::after_event_or_minus_one(history.numbers.peak_event).0;
        let parts = self.parts.get_or_insert_with(|| Parts {
            peak: Sums::new(file, history, peak),
            at: self.question.at.map(|at| Sums::new(file, history, at)),
            most: Most::new(file),
            mosaic: (file.groups.categories.set().name() != "default").then(|| Mosaic::new(file)),
        });
        for sums in [Some(&mut parts.peak), parts.at.as_mut()].into_iter().flatten() {
            apart(|| sums.step(file, history, slice))?;
        }
        apart(|| parts.most.step(file, history, slice))?;
        if let Some(mosaic) = &mut parts.mosaic {
            apart(|| mosaic.step(file, history, slice))?;
        }
        let parts = self.parts.take().ok_or(Spent)?;
        apart(|| {
            let mut writing = Writing::new(file, history, &self.question);
            parts.say(&mut writing);
            parts.write_categories(&mut writing);
            parts.write_rules(&mut writing);
            parts.write_unknown(&mut writing);
            if let Some(mosaic) = parts.mosaic {
                mosaic.write(&mut writing);
            }
            Ok(writing.report)
        })
    }
}

impl Parts {
    /// Returns the categories for which `of` returns true, most bytes at the peak first.
    fn ranked(&self, of: impl Fn(usize) -> bool) -> Vec<u32> {
        let places = (0u32..).zip(&self.peak.categories).filter(|(place, _)| of(*place as usize));
        sorted_numbers(places.map(|(place, weight)| (pair(!weight.bytes, 0), place)).collect())
    }

    fn say(&self, writing: &mut Writing<'_>) {
        let set = writing.file.groups.categories.set();
        let (names, whole) = (set.categories(), self.peak.total.bytes);
        let mut text = String::from("At the peak: ");
        for (number, place) in self.ranked(|place| self.peak.of(place).bytes > whole / 2000).into_iter().enumerate() {
            let name = names.get(place as usize).map_or("", String::as_str);
            let share = percent(self.peak.of(place as usize).bytes, whole);
            [if number > 0 { ", " } else { "" }, name, " ", &share].iter().for_each(|part| text.push_str(part));
        }
        if text.ends_with(' ') {
            text.push_str(if whole == 0 { "nothing live" } else { "only unexplained bytes" });
        }
        [" (rules: ", set.name(), ")."].iter().for_each(|part| text.push_str(part));
        writing.say(Tone::Fact, text, Some(at(self.peak.moment)));
        let unknown = self.peak.of(names.len().saturating_sub(1));
        let name = names.last().cloned().unwrap_or_default();
        let evidence = Some(Evidence { find: Some(category_query(&name)), ..at(self.peak.moment) });
        if unknown.bytes > whole / TOLERATED {
            let mut text = ["Classified as ", &name, ": ", &bytes(unknown.bytes), " of the peak."].concat();
            if self.peak.unseen > unknown.bytes / 2 {
                let part = bytes(self.peak.unseen);
                [
                    " Allocated before recording, without a stack: ",
                    &part,
                    ". Start recording before the model is created.",
                ]
                .iter()
                .for_each(|part| text.push_str(part));
            }
            writing.say(Tone::Fact, text, evidence);
        } else if whole > 0 {
            let part = percent(unknown.bytes, whole);
            let text = match unknown.bytes {
                0 => ["Classified as ", &name, ": nothing at the peak."].concat(),
                _ => ["Classified as ", &name, ": ", &part, " of the peak."].concat(),
            };
            writing.say(Tone::Good, text, evidence);
        }
        if self.peak.by_size > 0 {
            let text = [
                "Inferred from size alone: ",
                &bytes(self.peak.by_size),
                " of the peak, where stacks are missing or ambiguous. Totals per category are reliable, individual allocations are not.",
            ];
            writing.say(Tone::Fact, text.concat(), None);
        }
    }

    fn write_categories(&self, writing: &mut Writing<'_>) {
        let file = writing.file;
        let names = file.groups.categories.set().categories();
        // Unexplained bytes have no category, but are part of the total.
        type Row = Option<usize>;
        let name = |place: usize| names.get(place).map_or("", String::as_str);
        let peak = |place: Row| place.map_or(self.peak.unexplained, |place| self.peak.of(place));
        let most = |place: usize| self.most.of(place);
        let whole = self.peak.total;
        let mut columns = vec![
            column::text("category", "category", |place: Row| place.map_or("unexplained", name).to_owned()),
            column::bytes("peak_live_bytes", "at the peak", |place| peak(place).bytes).total(Cell::Bytes(whole.bytes)),
            column::share("peak_share", "share", |place| (peak(place).bytes, whole.bytes))
                .total(Cell::Share { part: whole.bytes, whole: whole.bytes }),
            column::count("peak_count", "allocations", |place| peak(place).count.into())
                .total(Cell::Count(whole.count.into())),
        ];
        if let Some(at) = &self.at {
            let then = |place: Row| place.map_or(at.unexplained, |place| at.of(place));
            columns.extend([
                column::bytes("live_bytes_at_cursor", "at the cursor", move |place| then(place).bytes)
                    .total(Cell::Bytes(at.total.bytes)),
                column::count("count_at_cursor", "allocations at the cursor", move |place| then(place).count.into())
                    .total(Cell::Count(at.total.count.into())),
            ]);
        }
        columns.extend([
            column::cell("own_peak_live_bytes", "own peak", |place: Row| {
                place.map_or(Cell::Nothing, |place| Cell::Bytes(most(place).0))
            }),
            column::cell("own_peak_event", "own peak after event", |place: Row| {
                place.map_or(Cell::Nothing, |place| column::after(most(place).1))
            }),
        ]);
        let note = "Live bytes. Each allocation has exactly one category.";
        let ranked = self.ranked(|place| self.most.of(place).0 > 0 || self.peak.of(place).count > 0);
        let mut rows: Vec<Row> = ranked.into_iter().map(|place| Some(place as usize)).collect();
        rows.extend((self.peak.unexplained.count > 0).then_some(None));
        writing.fill(sheet(["categories", "Categories", note], &columns), &columns, &rows, |_, place| {
            let evidence = |place| Evidence { find: Some(category_query(name(place))), ..at(most(place).1) };
            place.map_or_else(SheetRow::default, |place| row(evidence(place)))
        });
    }

    fn write_rules(&self, writing: &mut Writing<'_>) {
        let set = writing.file.groups.categories.set();
        let rules = (0u32..).zip(&self.peak.rules).filter(|(_, sum)| sum.0.count > 0);
        let ranked = sorted_numbers(rules.map(|(rule, sum)| (pair(!sum.0.bytes, 0), rule)).collect());
        // Allocations that no rule matches have a row, but don't count as a rule.
        let deciding = ranked.iter().filter(|&&rule| (rule as usize) < set.rules().len()).count();
        let idle = set.rules().len().saturating_sub(deciding);
        let mut note =
            String::from("What each rule matches at the peak; the first match wins. Rules without a match: ");
        [&grouped(idle as u64), " of ", &grouped(set.rules().len() as u64), "."]
            .iter()
            .for_each(|part| note.push_str(part));
        let rule = |number: u32| set.rules().get(number as usize);
        let sum = |number: u32| self.peak.rules.get(number as usize).copied().unwrap_or_default();
        let columns = [
            column::cell("rule", "rule", |number| {
                rule(number).map_or(Cell::Nothing, |_| Cell::Count(u64::from(number) + 1))
            }),
            column::cell("category", "category", |number| {
                rule(number).map_or(Cell::Nothing, |rule| Cell::Text(rule.category.clone()))
            }),
            column::text("because", "reason", |number| {
                rule(number).map_or_else(|| "no rule matches".to_owned(), CategoryRule::why)
            }),
            column::bytes("peak_live_bytes", "at the peak", |number| sum(number).0.bytes),
            column::share("peak_share", "share", |number| (sum(number).0.bytes, self.peak.total.bytes)),
            column::count("peak_count", "allocations", |number| sum(number).0.count.into()),
        ];
        writing.fill(sheet(["rules", "Rules", &note], &columns), &columns, &ranked, |writing, number| {
            writing.allocation_row(AllocationId(sum(number).1), Some(self.peak.moment))
        });
    }

    fn write_unknown(&self, writing: &mut Writing<'_>) {
        let sites: &SiteSums = &self.peak.unknown;
        let ranked = sites.ranked(0);
        if ranked.is_empty() {
            return;
        }
        let note = "Call sites at the peak that no rule matches. Add custom rules to classify them.";
        let (file, history, whole) = (writing.file, writing.history, self.peak.total.bytes);
        let (part, count) = sites.total(&ranked);
        let columns = [
            column::text("call_site", "call site", |group| sites.name(file, history, group)),
            column::bytes("peak_live_bytes", "at the peak", |group| sites.of(group).bytes).total(Cell::Bytes(part)),
            column::share("peak_share", "share", |group| (sites.of(group).bytes, whole))
                .total(Cell::Share { part, whole }),
            column::count("peak_count", "allocations", |group| sites.of(group).count).total(Cell::Count(count)),
        ];
        writing.fill(sheet(["unknown", "Unknown", note], &columns), &columns, &ranked, |writing, group| {
            writing.site_row(sites, group, Some(self.peak.moment))
        });
    }
}
