//! Insight on the peak of live bytes: its time, its size, and the code that allocated the memory.

use super::excess::Excess;
use super::insight::{Given, Insight, Need};
use super::live_sites::LiveSites;
use super::phase_peaks;
use super::site_sums::{SiteSums, site_of};
use super::stream_peaks::StreamPeaks;
use super::top_k::TopK;
use super::writer::{
    MAX_ROWS, ReportWriter, bytes_text, category_query, evidence_row, freed_by_cell, moment_evidence, range_evidence,
    threshold, truncate,
};
use crate::moments::elapsed_us;
use crate::origin::is_prefix_block;
use crate::report::column::{self, sheet};
use crate::side::Side;
use analysis::category::category_label;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{EventIdx, Moment, duration_us, group_digits, percent, pluralize};
use history::replay::{AllocationId, Curve};
use history::snapshot::Action;
use protocol::{Cell, Chart, ChartPart, Evidence, Grouping, Span, Threshold, Tone, Weight};

/// Divisor of the peak. Smaller parts of the chart are added to the part "other", which is left out if it is as small.
const MIN_CHART_PART: u64 = 200;
/// Maximum number of parts in the chart of the peak, not counting the part "other".
const MAX_CHART_PARTS: usize = 6;
/// Default number of events before the peak that count as recent. It is used if the peak is outside all known steps.
const RECENT_EVENTS: u32 = 1000;

/// The insight on the peak.
pub(super) struct Peak {
    peak: LiveSites,
    /// Live allocations at the cursor, if there is a cursor.
    at_cursor: Option<LiveSites>,
    categories: Vec<Weight>,
    streams: StreamPeaks,
    recent: Threshold,
    recent_sites: SiteSums,
    large: Threshold,
    oldest: TopK,
    old_count: u32,
    /// Bytes and number of prefix blocks that are live at the peak. See [`is_prefix_block`].
    prefix_blocks: (u64, u64),
    excess: Excess,
}

impl Insight for Peak {
    const NEEDS: &'static [Need] = &[Need::Categories, Need::Growth, Need::Phases];

    fn new(&Given { side, question, steps, .. }: &Given<'_>) -> Peak {
        let moment = Moment::after_event_or_minus_one(side.history.numbers.peak_event).0;
        // The step with the peak.
        let step = steps.steps.spans.iter().find(|step| step.from < moment && moment <= step.to);
        let recent = step.map_or(RECENT_EVENTS, |step| moment - step.from);
        Peak {
            peak: LiveSites::new(side, moment),
            at_cursor: question.at.map(|at| LiveSites::new(side, at)),
            streams: StreamPeaks::new(side),
            categories: vec![Weight::default(); side.group_count(Grouping::Category) as usize],
            recent: threshold(question, ["recent", "in the last", "events"], recent.into()),
            recent_sites: SiteSums::new(side),
            large: threshold(question, ["large", "at least", "bytes"], 1 << 20),
            oldest: TopK::new(question.rows.min(MAX_ROWS) as usize),
            old_count: 0,
            prefix_blocks: (0, 0),
            excess: Excess::new(side),
        }
    }

    fn step(&mut self, &Given { side, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.streams.step(side, slice)?;
        let Peak {
            peak,
            at_cursor,
            categories,
            recent,
            recent_sites,
            large,
            oldest,
            old_count,
            prefix_blocks,
            excess,
            ..
        } = self;
        excess.step(side.file, slice)?;
        let since = u64::from(peak.moment).saturating_sub(recent.value);
        let mut each = |id: AllocationId, size: u64| {
            let category = side.group(Grouping::Category, id);
            if let Some(weight) = categories.get_mut(category as usize) {
                weight.add(Weight { bytes: size, count: 1 });
            }
            if is_prefix_block(side.snapshot(), side.history, id) {
                *prefix_blocks = (prefix_blocks.0.saturating_add(size), prefix_blocks.1 + 1);
            }
            excess.add(side, id, size);
            let allocated_at = side.history.allocations.allocated_at(id).0;
            if u64::from(allocated_at) > since {
                recent_sites.add(side, id, size);
            }
            if size >= large.value {
                oldest.add(two_part_key(u64::MAX - u64::from(allocated_at), size), id.0);
                *old_count += 1;
            }
        };
        peak.step(side, &mut each, slice)?;
        at_cursor.as_mut().map_or(Ok(()), |at_cursor| at_cursor.step(side, &mut |_, _| {}, slice))
    }

    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        write_statements(writer, &self, given);
        self.peak.write(writer, "Live at the peak", self.at_cursor.as_ref());
        write_categories(writer, &self);
        phase_peaks::write_phases(writer, given.phases.phases(), self.peak.bytes);
        self.streams.write(writer, self.peak.bytes);
        write_recent(writer, &self.peak, &self.recent_sites, self.recent);
        write_oldest(writer, &self.peak, (self.oldest.ranked(), self.old_count), self.large);
    }
}

fn write_statements(writer: &mut ReportWriter<'_>, parts: &Peak, given: &Given<'_>) {
    let steps = &given.steps.steps;
    let side @ Side { file, history } = writer.side;
    let peak = &parts.peak;
    let moment = peak.moment;
    let when = match Moment(moment).event() {
        None => "before the first event".to_owned(),
        Some(event) => {
            let elapsed = elapsed_us(history, EventIdx(0), event);
            let elapsed = elapsed.map_or_else(String::new, |us| format!(" ({})", duration_us(us)));
            format!("at event {}{elapsed}", group_digits(event.0.into()))
        }
    };
    let text = format!("Peak {} {when}, in {}.", bytes_text(peak.bytes), pluralize(peak.count, "allocation"));
    writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    write_chart(writer, parts);
    if let (bytes @ 1.., count) = parts.prefix_blocks {
        let text = format!(
            "{} of the peak is momentary: {} that resize_ with an address hint allocates and frees at once (mallocWithAddress).",
            bytes_text(bytes),
            pluralize(count, "prefix block")
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    let oom_count = history.action_counts[Action::Oom as usize];
    if oom_count > 0 {
        let text = format!("{} in this trace. See Out of memory.", pluralize(oom_count, "OOM"));
        writer.add_statement(Tone::Alarm, text, None);
    }
    if let Some(growth) = given.growth {
        growth.write_statements(writer, &SiteSums::default(), &[Tone::Alarm]);
    }
    if history.numbers.peak_reserved > 0 {
        let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
        let (reserved, max) = (history.reserved_at(Moment(moment)), history.numbers.peak_reserved);
        let max = if reserved == max { "the maximum" } else { &format!("maximum {}", bytes_text(positive(max))) };
        let text = format!("Reserved at the peak: {}, {max}.", bytes_text(positive(reserved)));
        let change = |event| history.reserved_change(event);
        let max = Curve::new(&history.reserved, &change).max_in(0..history.event_count().saturating_add(1));
        writer.add_statement(Tone::Fact, text, max.map(|(moment, _)| moment_evidence(moment.0)));
    }
    if let Some(text) = parts.excess.describe(file) {
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
    if let Some((text, evidence)) = peak.describe_largest(side, "at the peak") {
        writer.add_statement(Tone::Fact, text, Some(Evidence { moment: Some(moment), ..evidence }));
    }
    let step = (0u64..).zip(&steps.spans).find(|(_, step)| step.from < moment && moment <= step.to);
    if let Some((number, &span)) = step {
        let name = steps.annotation_text(side, number as usize);
        let text = format!(
            "The peak is in step {}{} of {}, counted from 0. {}",
            group_digits(number),
            name.map_or_else(String::new, |name| format!(" ({name})")),
            group_digits(steps.spans.len() as u64),
            steps.describe()
        );
        writer.add_statement(Tone::Fact, text, Some(Evidence { span: Some(span), ..moment_evidence(moment) }));
    }
    phase_peaks::write_statement(writer, given.phases.phases());
    if given.phases.has_only_forward() {
        let text =
            "No backward pass and no optimizer step in this trace: inference, or a recording of the forward pass.";
        writer.add_statement(Tone::Fact, text.to_owned(), None);
    }
    let share = |bytes| format!("{} ({} of the peak).", bytes_text(bytes), percent(bytes, peak.bytes));
    if peak.before_recording > 0 {
        let text = format!("Allocated before recording: {}", share(peak.before_recording));
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(0)));
    }
    let (recent, _) = parts.recent_sites.total(&parts.recent_sites.ranked(0));
    let events = parts.recent.value;
    // If fewer events precede the peak, the sentence would be about all of them.
    if recent > 0 && events < u64::from(moment) {
        let text = format!("Allocated in the last {} before the peak: {}", pluralize(events, "event"), share(recent));
        let span = Span { from: u64::from(moment).saturating_sub(events) as u32, to: moment };
        writer.add_statement(Tone::Fact, text, Some(range_evidence(span, moment)));
    }
    let change = |event| history.awaiting_free_change(event);
    let pending = Curve::new(&history.awaiting_free, &change).at(Moment(moment));
    if pending > 0 {
        let text = format!(
            "Awaiting free at the peak: {}, freed by the program and still in use by another stream.",
            bytes_text(pending.unsigned_abs())
        );
        writer.add_statement(Tone::Fact, text, Some(moment_evidence(moment)));
    }
}

/// Adds a chart of the largest categories at the peak. If most bytes have no category, shows the largest call sites
/// instead.
fn write_chart(writer: &mut ReportWriter<'_>, parts: &Peak) {
    let side = writer.side;
    // The first group has no category, the last one is the category "unknown".
    let unclassified = [parts.categories.first(), parts.categories.last()];
    let unclassified = unclassified.into_iter().flatten().fold(0u64, |sum, weight| sum.saturating_add(weight.bytes));
    let (grouping, bytes): (_, Vec<u64>) = if unclassified > parts.peak.bytes / 2 {
        (Grouping::CallSite, parts.peak.sums.sums.iter().map(|sum| sum.bytes).collect())
    } else {
        (Grouping::Category, parts.categories.iter().map(|weight| weight.bytes).collect())
    };
    let ranked =
        sorted_numbers(bytes.iter().zip(0..).map(|(&bytes, group)| (two_part_key(!bytes, 0), group)).collect());
    let group_bytes = |group: &u32| bytes.get(*group as usize).copied().unwrap_or(0);
    let name = |group: &u32| {
        let label = side.group_label(grouping, *group);
        truncate(if grouping == Grouping::Category { category_label(&label) } else { &label })
    };
    let chart_part = |group: &u32| ChartPart {
        name: name(group),
        bytes: group_bytes(group),
        slot: Some(side.file.groups.slot(grouping, *group)),
    };
    let least = (parts.peak.bytes / MIN_CHART_PART).max(1);
    let is_shown = |group: &&u32| group_bytes(group) >= least;
    let mut parts_shown: Vec<ChartPart> =
        ranked.iter().take(MAX_CHART_PARTS).filter(is_shown).map(chart_part).collect();
    let rest = ranked.iter().skip(parts_shown.len()).fold(0u64, |sum, group| sum.saturating_add(group_bytes(group)));
    parts_shown.extend((rest >= least).then(|| ChartPart { name: "other".to_owned(), bytes: rest, slot: None }));
    writer.set_chart(Chart::Parts(parts_shown));
}

fn write_categories(writer: &mut ReportWriter<'_>, parts: &Peak) {
    let side = writer.side;
    let whole = parts.peak.bytes;
    let ranked = parts.categories.iter().zip(0..).filter(|(weight, _)| weight.count > 0);
    let ranked = sorted_numbers(ranked.map(|(weight, group)| (!u128::from(weight.bytes), group)).collect());
    let note =
        ["Classified by the rules “", side.file.groups.categories.set().name(), "”. See Categories for more."].concat();
    let weight = |group: u32| parts.categories.get(group as usize).copied().unwrap_or_default();
    let name = |group| side.group_label(Grouping::Category, group);
    let columns = [
        column::bytes("live_bytes", "live", |group| weight(group).bytes).total(Cell::Bytes(whole)),
        column::share("share", "share", |group| (weight(group).bytes, whole)).total(Cell::Share { part: whole, whole }),
        column::count("count", "allocations", |group| weight(group).count.into()).total(Cell::Count(parts.peak.count)),
        column::text("category", "category", name),
    ];
    let sheet = sheet(["categories", "By category", &note], &columns);
    writer.add_sheet(sheet, &columns, &ranked, |_, group| {
        let find = (group > 0).then(|| category_query(&name(group)));
        evidence_row(Evidence { find, ..moment_evidence(parts.peak.moment) })
    });
}

fn write_recent(writer: &mut ReportWriter<'_>, peak: &LiveSites, sites: &SiteSums, recent: Threshold) {
    let side = writer.side;
    let ranked = sites.ranked(0);
    let (bytes, count) = sites.total(&ranked);
    let whole = peak.bytes;
    let columns = [
        column::bytes("live_bytes", "live", |group| sites.get(group).bytes).total(Cell::Bytes(bytes)),
        column::share("share", "share of the peak", |group| (sites.get(group).bytes, whole))
            .total(Cell::Share { part: bytes, whole }),
        column::count("count", "allocations", |group| sites.get(group).count).total(Cell::Count(count)),
        column::text("call_site", "call site", |group| sites.name(side, group)),
    ];
    let note = "Live at the peak and allocated in the last events before it; where steps are known, in the same step.";
    let mut sheet = sheet(["recent", "Allocated shortly before the peak", note], &columns);
    sheet.threshold = Some(recent);
    writer.add_sheet(sheet, &columns, &ranked, |writer, group| writer.site_row(sites, group, Some(peak.moment)));
}

fn write_oldest(writer: &mut ReportWriter<'_>, peak: &LiveSites, (ranked, count): (Vec<u32>, u32), large: Threshold) {
    let side = writer.side;
    let allocated_at = |id| side.history.allocations.allocated_at(AllocationId(id)).0;
    let columns = [
        column::bytes("requested_bytes", "requested", |id| side.history.allocations.size(AllocationId(id))),
        column::event("allocated_at", "allocated at event", allocated_at),
        column::count("age_events", "age in events", |id| peak.moment.saturating_sub(allocated_at(id)).into()),
        column::cell("freed_at", "freed at event", |id| freed_by_cell(side.history, AllocationId(id))),
        column::text("call_site", "call site", |id| site_of(side, AllocationId(id))),
    ];
    let title = ["oldest", "Oldest large allocations at the peak", "Oldest first, then largest first."];
    let mut sheet = sheet(title, &columns);
    sheet.threshold = Some(large);
    sheet.left_out = count;
    writer.add_sheet(sheet, &columns, &ranked, |writer, id| writer.allocation_row(AllocationId(id), Some(peak.moment)));
}
