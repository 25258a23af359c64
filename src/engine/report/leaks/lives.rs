//! Allocations never freed, delayed frees and short-lived allocations, found in one pass over all allocations.

use crate::open::OpenFile;
use crate::places::lasted_us;
use crate::protocol::{Cell, Grouping, ReportQuestion, Threshold, Tone};
use crate::report::column::{self, sheet};
use crate::report::heaviest::Heaviest;
use crate::report::site_sums::{SiteSums, site_of};
use crate::report::writing::{MOST_ROWS, Writing, allocation, at, bytes, freed_by, threshold};
use base::slice::{Slice, Sliced};
use base::sorted::pair;
use base::units::{Moment, counted, duration_us, grouped, percent};
use history::replay::{AllocationId, Curve, DeviceHistory};

/// Search for allocations that are never freed, freed late or short-lived.
pub(super) struct Lives {
    next: usize,
    least: Threshold,
    longer: Threshold,
    within: Threshold,
    /// Allocated in the trace and never freed.
    pub(super) stay: SiteSums,
    late: Heaviest,
    late_count: u32,
    late_bytes: u64,
    brief: SiteSums,
}

impl Lives {
    pub(super) fn new(file: &OpenFile, history: &DeviceHistory, question: &ReportQuestion) -> Lives {
        Lives {
            next: 0,
            least: threshold(question, ["alive", "at least", "bytes"], 1 << 20),
            longer: threshold(question, ["late", "longer than", "events"], 100),
            within: threshold(question, ["within", "freed within", "events"], 10),
            stay: SiteSums::new(file, history),
            late: Heaviest::new(question.rows.min(MOST_ROWS) as usize),
            late_count: 0,
            late_bytes: 0,
            brief: SiteSums::new(file, history),
        }
    }

    /// Continues the pass.
    pub(super) fn step(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let allocations = &history.allocations;
        while self.next < allocations.len() {
            slice.tick()?;
            let id = AllocationId(self.next as u32);
            self.next += 1;
            let (born, died, size) = allocations.span(id);
            if died == u32::MAX {
                if born > 0 {
                    self.stay.add(file, history, id, size);
                }
            } else if born > 0 && u64::from(died.saturating_sub(born)) <= self.within.value {
                self.brief.add(file, history, id, size);
            }
            if let Some([from, to]) = file.about(history).pending(id)
                && u64::from(to - from) > self.longer.value
            {
                self.late.add(pair((to - from).into(), size), id.0);
                self.late_count += 1;
                self.late_bytes = self.late_bytes.saturating_add(size);
            }
        }
        Ok(())
    }

    /// Writes the statements and sheets.
    pub(super) fn write(self, writing: &mut Writing<'_>) {
        let Lives { least, longer, within, stay, late, late_count, late_bytes, brief, .. } = self;
        write_stay(writing, &stay, least);
        write_late(writing, late.ranked(), (late_count, late_bytes), longer);
        write_brief(writing, &brief, within);
    }
}

fn write_stay(writing: &mut Writing<'_>, stay: &SiteSums, least: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let last = history.event_count();
    let end = history.numbers.end;
    let ranked = stay.ranked(least.value.max(1));
    let total = stay.total(&ranked);
    if let Some(&first) = ranked.first() {
        let mut text = "Allocated in the trace and never freed: ".to_owned();
        text.push_str(&bytes(total.0));
        text.push_str(" (");
        text.push_str(&percent(total.0, end));
        text.push_str(" of live bytes at the end), in ");
        text.push_str(&counted(total.1, "allocation"));
        text.push_str(". Largest call site: ");
        text.push_str(&stay.name(file, history, first));
        text.push_str(" (");
        text.push_str(&bytes(stay.of(first).bytes));
        text.push_str(").");
        writing.say(Tone::Fact, text, Some(allocation(stay.of(first).largest, Some(last))));
    } else if history.event_count() > 0 {
        writing.say(
            Tone::Good,
            "No call site above the threshold has allocations that are never freed.".to_owned(),
            Some(at(last)),
        );
    }
    let allocated_at = |id| history.allocations.born(AllocationId(id)).0;
    let columns = [
        column::bytes("live_bytes", "live at the end", |group| stay.of(group).bytes).total(Cell::Bytes(total.0)),
        column::share("share", "share of live bytes", |group| (stay.of(group).bytes, end))
            .total(Cell::Share { part: total.0, whole: end }),
        column::count("count", "allocations", |group| stay.of(group).count).total(Cell::Count(total.1)),
        column::event("first_allocated_at", "first allocated at event", |group| allocated_at(stay.of(group).first)),
        column::event("last_allocated_at", "last allocated at event", |group| allocated_at(stay.of(group).last)),
        column::text("call_site", "call site", |group| stay.name(file, history, group)),
    ];
    let note = "Not necessarily a leak: optimizer state of the first step and memory of an unfinished step are listed as well. Growth per \
                step, measured from the end of step 2, is the stronger sign.";
    let mut sheet = sheet(["alive", "Allocated in the trace, never freed", note], &columns);
    sheet.threshold = Some(least);
    writing.fill(sheet, &columns, &ranked, |writing, group| writing.site_row(stay, group, Some(last)));
}

fn write_late(writing: &mut Writing<'_>, ranked: Vec<u32>, (count, all): (u32, u64), longer: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let waited = |id| file.about(history).pending(AllocationId(id)).unwrap_or_default();
    let lasted = |[from, to]: [u32; 2]| {
        let [from, to] = [from, to].map(|moment| Moment(moment).event());
        lasted_us(history, from?, to?)
    };
    if let Some(&longest) = ranked.first() {
        let span = waited(longest);
        let mut text = counted(count.into(), "free");
        text.push_str(" took longer than ");
        text.push_str(&counted(longer.value, "event"));
        text.push_str(" to complete (");
        text.push_str(&bytes(all));
        text.push_str("), the slowest ");
        text.push_str(&counted((span[1] - span[0]).into(), "event"));
        if let Some(us) = lasted(span) {
            text.push_str(" (");
            text.push_str(&duration_us(us));
            text.push(')');
        }
        let change = |event| history.pending_change(event);
        let most = Curve::new(&history.pending, &change).max_in(0..history.event_count().saturating_add(1));
        let most = most.filter(|&(_, most)| most > 0);
        if let Some((_, most)) = most {
            text.push_str(". Maximum awaiting free at once: ");
            text.push_str(&bytes(most.unsigned_abs()));
        }
        text.push('.');
        writing.say(Tone::Fact, text, Some(allocation(longest, most.map(|(moment, _)| moment.0))));
    } else if history.event_count() > 0 {
        let mut text = "No free took longer than ".to_owned();
        text.push_str(&counted(longer.value, "event"));
        text.push_str(" to complete.");
        writing.say(Tone::Good, text, None);
    }
    let stream_of = |id| file.groups.of(&file.snapshot, history, AllocationId(id), Grouping::Stream);
    let columns = [
        column::count("waited_events", "events waited", |id| (waited(id)[1] - waited(id)[0]).into()),
        column::cell("waited_us", "time waited", |id| {
            lasted(waited(id)).map_or(Cell::Nothing, |us| Cell::Micros(us.unsigned_abs()))
        }),
        column::bytes("requested_bytes", "requested", |id| history.allocations.size(AllocationId(id)))
            .total(Cell::Bytes(all)),
        column::event("free_requested_at", "free requested at event", |id| waited(id)[0]),
        column::cell("free_completed_at", "free completed at event", |id| freed_by(history, AllocationId(id))),
        column::text("stream", "stream", |id| {
            file.groups.label(&file.snapshot, history, Grouping::Stream, stream_of(id))
        }),
        column::text("call_site", "call site", |id| site_of(file, history, AllocationId(id))),
    ];
    let note = "Between free_requested and free_completed another stream may still use the block, so it cannot be reused. Usually that \
                takes one event. Longest first.";
    let mut sheet = sheet(["late", "Delayed frees", note], &columns);
    sheet.threshold = Some(longer);
    sheet.left_out = count;
    writing.fill(sheet, &columns, &ranked, |writing, id| writing.allocation_row(AllocationId(id), Some(waited(id)[0])));
}

fn write_brief(writing: &mut Writing<'_>, brief: &SiteSums, within: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let ranked = brief.ranked(0);
    let total = brief.total(&ranked);
    if let Some(&first) = ranked.first() {
        let mut text = grouped(total.1);
        text.push_str(" of ");
        text.push_str(&counted(history.allocations.len() as u64, "allocation"));
        text.push_str(" freed within ");
        text.push_str(&counted(within.value, "event"));
        text.push_str(". Largest call site: ");
        text.push_str(&brief.name(file, history, first));
        text.push('.');
        writing.say(Tone::Fact, text, Some(allocation(brief.of(first).largest, None)));
    }
    let columns = [
        column::bytes("requested_bytes", "total requested", |group| brief.of(group).bytes).total(Cell::Bytes(total.0)),
        column::count("count", "allocations", |group| brief.of(group).count).total(Cell::Count(total.1)),
        column::bytes("largest_bytes", "largest", |group| brief.of(group).most),
        column::text("call_site", "call site", |group| brief.name(file, history, group)),
    ];
    let note =
        "Bytes are summed over the trace and need not be live at the same time. Each allocation costs allocator time.";
    let mut sheet = sheet(["brief", "Short-lived allocations", note], &columns);
    sheet.threshold = Some(within);
    writing.fill(sheet, &columns, &ranked, |writing, group| {
        let born = history.allocations.born(AllocationId(brief.of(group).largest)).0;
        writing.site_row(brief, group, Some(born))
    });
}
