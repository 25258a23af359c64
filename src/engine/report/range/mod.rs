//! Insight on a range of events: its phases, what was allocated, freed and kept in it, and its peak.

use super::insight::{Given, Insight, Need};
use super::live_sites::LiveSites;
use super::recording::without_stacks;
use super::site_sums::SiteSums;
use super::writer::{ReportWriter, allocation_evidence, bytes_text, moment_evidence, moment_text, range_evidence};
use crate::phases::Phase;
use crate::report::column::{self, sheet};
use crate::stack_trees::Population;
use analysis::site::listed_site;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{Moment, group_digits, percent, pluralize};
use history::replay::Curve;
use protocol::{Cell, Scope, Span, StepPhase, Tone};
use std::cmp::Ordering;

/// The insight on a range.
pub(super) struct Range {
    span: Span,
    /// Live allocations at the peak within the range.
    at_peak: LiveSites,
    allocated: Flow,
    freed: Flow,
    kept: Flow,
}

/// Allocations that are in a scope, summed by call site.
struct Flow {
    population: Population,
    next: usize,
    sums: SiteSums,
    bytes: u64,
    count: u64,
}

impl Flow {
    fn new(&Given { side, .. }: &Given<'_>, scope: Scope) -> Flow {
        let population = Population::new(side.history, scope);
        Flow { population, next: 0, sums: SiteSums::new(side), bytes: 0, count: 0 }
    }

    fn step(&mut self, &Given { side, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let Flow { population, next, sums, bytes, count } = self;
        population.visit(side.history, next, slice, &mut |id, size| {
            sums.add(side, id, size);
            *bytes = bytes.saturating_add(size);
            *count += 1;
        })
    }

    /// Returns a text such as `1.50 GiB in 12 allocations`.
    fn describe(&self) -> String {
        format!("{} in {}", bytes_text(self.bytes), pluralize(self.count, "allocation"))
    }
}

impl Insight for Range {
    const NEEDS: &'static [Need] = &[Need::Phases, Need::Steps];

    fn new(given: &Given<'_>) -> Range {
        let &Given { side, question, .. } = given;
        let end = side.history.event_count();
        let Span { from, to } = question.range.unwrap_or(Span { from: 0, to: end });
        let to = to.min(end);
        let span = Span { from: from.min(to), to };
        let change = |event| side.history.drawn_change(event);
        let peak = Curve::new(&side.history.drawn, &change).max_in(span.from..span.to.saturating_add(1));
        let flow = |scope: fn(Span) -> Scope| Flow::new(given, scope(span));
        Range {
            span,
            at_peak: LiveSites::new(side, peak.map_or(span.from, |(moment, _)| moment.0)),
            allocated: flow(Scope::Allocated),
            freed: flow(Scope::Freed),
            kept: flow(Scope::StillLive),
        }
    }

    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        for flow in [&mut self.allocated, &mut self.freed, &mut self.kept] {
            flow.step(given, slice)?;
        }
        self.at_peak.step(given.side, &mut |_, _| {}, slice)
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        write_statements(writer, &self, given);
        write_sites(writer, &self);
        self.at_peak.write(writer, "Live at the peak of the range", None);
    }
}

fn write_statements(writer: &mut ReportWriter<'_>, parts: &Range, given: &Given<'_>) {
    let side = writer.side;
    let &Range { span, ref at_peak, ref allocated, ref freed, ref kept } = parts;
    let live = |moment| u64::try_from(side.history.drawn_at(Moment(moment))).unwrap_or(0);
    let (before, after) = (live(span.from), live(span.to));
    let change = match after.cmp(&before) {
        Ordering::Equal => "unchanged".to_owned(),
        Ordering::Less => "−".to_owned() + &bytes_text(before - after),
        Ordering::Greater => "+".to_owned() + &bytes_text(after - before),
    };
    let text = format!(
        "{}{}: live bytes from {} to {} ({change}).",
        describe_events(span),
        describe_phases(span, given),
        bytes_text(before),
        bytes_text(after)
    );
    writer.add_statement(Tone::Fact, text, Some(range_evidence(span, span.to)));
    let text = format!("Peak in the range: {} {}.", bytes_text(at_peak.bytes), moment_text(at_peak.moment));
    writer.add_statement(Tone::Fact, text, Some(moment_evidence(at_peak.moment)));
    let text = format!(
        "Allocated: {}. Freed: {}. Allocated in the range and still live at its end: {}.",
        allocated.describe(),
        freed.describe(),
        kept.describe()
    );
    writer.add_statement(Tone::Fact, text, Some(range_evidence(span, span.to)));
    let ranked = kept.sums.ranked(1);
    if let Some(&largest) = ranked.first().filter(|_| without_stacks(side.file).is_none()) {
        let names: Vec<String> = ranked
            .iter()
            .take(3)
            .map(|&group| {
                let bytes = bytes_text(kept.sums.get(group).bytes);
                format!("{} ({bytes})", listed_site(&kept.sums.name(side, group)))
            })
            .collect();
        let evidence = allocation_evidence(kept.sums.get(largest).largest, Some(span.to));
        writer.add_statement(Tone::Fact, format!("Kept most: {}.", names.join(", ")), Some(evidence));
    }
    let mut failures = side.history.oom_events().filter(|event| (span.from..span.to).contains(event));
    if let Some(first) = failures.next() {
        let text = format!("{} in the range. See Out of memory.", pluralize(1 + failures.count() as u64, "OOM"));
        writer.add_statement(Tone::Alarm, text, Some(moment_evidence(first.saturating_add(1))));
    }
}

/// Returns a text such as `Events 100 – 299`.
fn describe_events(span: Span) -> String {
    match span.to.saturating_sub(span.from) {
        0 => "No events".to_owned(),
        1 => "Event ".to_owned() + &span.events_text(),
        _ => "Events ".to_owned() + &span.events_text(),
    }
}

/// Returns the phases of a range, such as ` (backward)` or ` (forward 40 %, backward 60 % of the events)`. Empty if the
/// range has no event of a phase. If the range is one of several phases of a kind, says which:
/// ` (backward 2 of 3 with the highest peak, in step 1)`.
fn describe_phases(span: Span, given: &Given<'_>) -> String {
    let phases = given.phases.phases();
    if let Some(phase) = phases.iter().find(|phase| phase.span == span) {
        return [" (", &describe_phase(phase, given), ")"].concat();
    }
    let mut sums = [0; StepPhase::ALL.len()];
    for phase in phases {
        let common = phase.span.to.min(span.to).saturating_sub(phase.span.from.max(span.from));
        sums.get_mut(phase.kind as usize).into_iter().for_each(|sum| *sum += u64::from(common));
    }
    let all = u64::from(span.to.saturating_sub(span.from));
    let covered = StepPhase::ALL.iter().zip(sums).filter(|&(_, events)| events > 0);
    let parts = covered.map(|(kind, events)| match events == all {
        true => kind.name().to_owned(),
        false => [kind.name(), " ", &percent(events, all)].concat(),
    });
    let parts = parts.collect::<Vec<String>>();
    let unit = if parts.iter().any(|part| part.ends_with('%')) { " of the events" } else { "" };
    if parts.is_empty() { String::new() } else { [" (", &parts.join(", "), unit, ")"].concat() }
}

/// Returns the kind of a phase. If there are several, also its number among them and its step.
fn describe_phase(phase: &Phase, given: &Given<'_>) -> String {
    let same = || given.phases.phases().iter().filter(|other| other.kind == phase.kind);
    let count = same().count();
    if count < 2 {
        return phase.kind.name().to_owned();
    }
    let number = 1 + same().take_while(|other| *other != phase).count();
    let mut text = format!("{} {} of {}", phase.kind.name(), group_digits(number as u64), group_digits(count as u64));
    if same().all(|other| other.peak <= phase.peak) {
        text.push_str(" with the highest peak");
    }
    let steps = &given.steps.steps;
    let step = steps.spans.iter().position(|step| (step.from..step.to).contains(&phase.span.from));
    if let Some(step) = step {
        let name = steps.annotation_text(given.side, step);
        text.push_str(&[", in step ", &*name.unwrap_or_else(|| group_digits(step as u64))].concat());
    }
    text
}

fn write_sites(writer: &mut ReportWriter<'_>, parts: &Range) {
    let side = writer.side;
    let Range { span, allocated, freed, kept, .. } = parts;
    let flows = [kept, allocated, freed];
    let bytes = |flow: &Flow, group: u32| flow.sums.get(group).bytes;
    // A click on a row selects the largest allocation of the first flow in which the call site occurs.
    let source = |group: u32| flows.into_iter().find(|flow| flow.sums.get(group).count > 0).unwrap_or(allocated);
    let groups = (0..kept.sums.sums.len() as u32).filter(|&group| source(group).sums.get(group).count > 0);
    let others = |group: u32| bytes(allocated, group).saturating_add(bytes(freed, group));
    let key = |group: u32| two_part_key(!bytes(kept, group), !others(group));
    let ranked = sorted_numbers(groups.map(|group| (key(group), group)).collect());
    let columns = [
        column::bytes("kept_bytes", "kept", |group| bytes(kept, group)).total(Cell::Bytes(kept.bytes)),
        column::bytes("allocated_bytes", "allocated", |group| bytes(allocated, group))
            .total(Cell::Bytes(allocated.bytes)),
        column::bytes("freed_bytes", "freed", |group| bytes(freed, group)).total(Cell::Bytes(freed.bytes)),
        column::count("count", "allocations", |group| allocated.sums.get(group).count)
            .total(Cell::Count(allocated.count)),
        column::text("call_site", "call site", |group| source(group).sums.name(side, group)),
    ];
    let note = "Kept: allocated in the range and live at its end. Freed: allocated in the range or before it.";
    let sheet = sheet(["sites", "Allocated, freed and kept, by call site", note], &columns);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| {
        writer.site_row(&source(group).sums, group, Some(span.to))
    });
}
