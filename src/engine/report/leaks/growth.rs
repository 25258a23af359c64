//! Growth per step: live bytes of each call site at the end of every step, from one pass over the events. Bytes
//! awaiting free are not counted, because the program has freed them.
//!
//! The baseline is the end of the second step ([`Steps::growth_moments`]), because the first two steps allocate
//! optimizer state and caches. A call site is considered growing if, after the baseline, its bytes never fall between
//! the ends of two consecutive steps, and rise in enough steps.

use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::report::site_sums::{SiteSums, label};
use crate::report::step_finder::{Steps, WARM_UP_STEPS};
use crate::report::writer::{ReportWriter, bytes_text, threshold};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{EventIdx, group_digits, pluralize};
use history::replay::{AllocationId, DeviceHistory};
use protocol::{Cell, Chart, Evidence, Grouping, ReportQuestion, SheetRow, Span, Threshold, Tone};

/// Maximum number of values in a chart. A small chart cannot show more values distinctly.
const MAX_VALUES: usize = 96;

/// Kind of change in the bytes of a call site.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Alloc,
    Free,
}

/// Returns the moment at which the program freed an allocation. This is when the free was requested, or when it
/// completed if the request was not recorded.
fn freed_moment(file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> u32 {
    let [from, _] = file.device_data(history).awaiting_free(id).unwrap_or([u32::MAX; 2]);
    history.allocations.span(id).1.min(from)
}

/// State of a call site while the events are processed.
#[derive(Clone, Default)]
struct SiteGrowth {
    bytes: u64,
    count: u64,
    /// Live bytes and number of allocations at the baseline.
    baseline: [u64; 2],
    /// Live bytes at the end of the previous step.
    previous: u64,
    rises: u32,
    falls: u32,
    /// 1-based index of the first step end after the last change. 0 if the call site has not changed.
    last_changed: u32,
    /// Index of each step end at which the bytes have risen, and the bytes at this moment. Cleared when the bytes fall.
    values: Vec<(u32, u64)>,
}

base::heap_bytes!(SiteGrowth: values);

impl SiteGrowth {
    fn growth(&self) -> u64 {
        self.previous.saturating_sub(self.baseline[0])
    }

    /// Returns whether the number of allocations has grown since the baseline, not only their bytes.
    fn has_more_allocations(&self) -> bool {
        self.count > self.baseline[1]
    }

    fn tone(&self) -> Tone {
        if self.has_more_allocations() { Tone::Alarm } else { Tone::Fact }
    }
}

/// Returns the text for the number of steps that were compared, such as `4 steps after the first two`.
fn steps_text(compared: u32) -> String {
    pluralize(compared.into(), "step") + " after the first two"
}

/// Returns the newest allocation of a call site that is live at the end of the trace, if there is one.
fn newest_live(never_freed: &SiteSums, group: u32) -> Option<u32> {
    Some(never_freed.get(group)).filter(|sum| sum.count > 0).map(|sum| sum.last)
}

/// Returns the user's threshold for the minimum number of steps with growth of a call site.
fn min_steps(question: &ReportQuestion) -> Threshold {
    threshold(question, ["steps", "in at least", "steps"], 2)
}

/// Computes the growth of each call site per step.
pub(in crate::report) struct Growth {
    /// Moments that are compared, in ascending order: the baseline, and the end of each later step.
    ends: Vec<u32>,
    steps: u32,
    /// Labels of the first and last moment that are compared.
    end_labels: [String; 2],
    next_early: u32,
    next_event: u32,
    next_end: u32,
    sites: Vec<SiteGrowth>,
    /// Groups of the call sites that have changed since the last step end.
    changed: Vec<u32>,
}

base::heap_bytes!(Growth: sites, [sites], ends);

impl Growth {
    pub(in crate::report) fn new(file: &OpenFile, history: &DeviceHistory, steps: &Steps) -> Growth {
        let ends = steps.growth_moments();
        // Steps without a name are numbered from 1.
        let name = |step: usize| {
            steps
                .annotation_text(file, history, step)
                .unwrap_or_else(|| "step ".to_owned() + &group_digits(step as u64 + 1))
        };
        let first = WARM_UP_STEPS - 1;
        Growth {
            end_labels: [name(first), name(first + ends.len().saturating_sub(1))],
            ends,
            steps: steps.spans.len() as u32,
            next_early: 0,
            next_event: 0,
            next_end: 0,
            sites: vec![SiteGrowth::default(); file.groups.group_count(history, Grouping::CallSite) as usize],
            changed: Vec::new(),
        }
    }

    /// Continues processing the allocations made before recording, and then the events.
    pub(in crate::report) fn step(
        &mut self,
        file: &OpenFile,
        history: &DeviceHistory,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let early = history.allocations.early_count() as u32;
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early);
            self.next_early += 1;
            if freed_moment(file, history, id) > 0 {
                self.change(file, history, id, Change::Alloc);
            }
        }
        while let Some(&until) = self.ends.get(self.next_end as usize) {
            for event in (self.next_event..until.min(history.event_count())).map(EventIdx) {
                slice.tick()?;
                self.next_event += 1;
                match history.allocation_change(event) {
                    Some(change) if change.is_program_free => self.change(file, history, change.id, Change::Free),
                    Some(change) if change.starts_lifetime == Some(true) => {
                        self.change(file, history, change.id, Change::Alloc);
                    }
                    _ => {}
                }
            }
            slice.tick()?;
            self.end_step();
        }
        Ok(())
    }

    fn change(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, change: Change) {
        let group = file.groups.group_of(&file.snapshot, history, id, Grouping::CallSite);
        let Some(site) = self.sites.get_mut(group as usize) else { return };
        let size = history.allocations.size(id);
        if change == Change::Alloc {
            (site.bytes, site.count) = (site.bytes.saturating_add(size), site.count + 1);
        } else {
            (site.bytes, site.count) = (site.bytes.saturating_sub(size), site.count.saturating_sub(1));
        }
        if site.last_changed != self.next_end + 1 {
            site.last_changed = self.next_end + 1;
            self.changed.push(group);
        }
    }

    fn end_step(&mut self) {
        if self.next_end == 0 {
            for site in &mut self.sites {
                (site.baseline, site.previous) = ([site.bytes, site.count], site.bytes);
            }
        }
        for group in self.changed.drain(..) {
            if let Some(site) = self.sites.get_mut(group as usize) {
                site.rises += u32::from(site.bytes > site.previous);
                site.falls += u32::from(site.bytes < site.previous);
                if site.falls > 0 {
                    site.values = Vec::new();
                } else if self.next_end > 0 && site.bytes > site.previous {
                    site.values.push((self.next_end, site.bytes));
                }
                site.previous = site.bytes;
            }
        }
        self.next_end += 1;
    }

    /// Returns the number of steps that are compared with the previous step.
    fn compared(&self) -> u32 {
        (self.ends.len() as u32).saturating_sub(1)
    }

    /// Returns the range from the baseline to the end of the last step. `None` if no steps are compared.
    fn span(&self) -> Option<Span> {
        self.ends.first().zip(self.ends.last()).map(|(&from, &to)| Span { from, to })
    }

    /// Returns a chart of a call site's live bytes at the step ends. If there are too many steps, consecutive steps are
    /// grouped, and the chart shows the last step of each group.
    fn chart(&self, site: &SiteGrowth) -> Chart {
        let count = self.ends.len();
        let per_value = count.div_ceil(MAX_VALUES).max(1);
        let at = |end: usize| {
            let after = site.values.partition_point(|&(known, _)| known as usize <= end);
            after.checked_sub(1).and_then(|last| site.values.get(last)).map_or(site.baseline[0], |&(_, bytes)| bytes)
        };
        let values = (0..count).step_by(per_value).map(|from| at((from + per_value).min(count) - 1)).collect();
        Chart::Line { values, ends: self.end_labels.clone() }
    }

    /// Returns the growing call sites, most growth first. Call sites with more allocations than at the baseline come
    /// before the others, because a single allocation that is replaced by a larger one need not be a leak.
    fn ranked(&self, min_steps: &Threshold) -> Vec<u32> {
        let enough = min_steps.value.max(1).max(u64::from(self.compared().div_ceil(2)));
        let growing = (0u32..).zip(&self.sites);
        let growing = growing.filter(|(_, site)| site.falls == 0 && u64::from(site.rises) >= enough);
        sorted_numbers(
            growing
                .map(|(group, site)| (two_part_key(u64::from(!site.has_more_allocations()), !site.growth()), group))
                .collect(),
        )
    }

    /// Writes statements about the top three growing call sites. Statements whose tone is not in `tones` are skipped.
    /// `never_freed` has the allocations that are live at the end of the trace.
    pub(in crate::report) fn write_statements(
        &self,
        writer: &mut ReportWriter<'_>,
        never_freed: &SiteSums,
        tones: &[Tone],
    ) {
        let (file, history) = (writer.file, writer.history);
        let compared = self.compared();
        for group in self.ranked(&min_steps(writer.question)).into_iter().take(3) {
            let Some(site) = self.sites.get(group as usize).filter(|site| tones.contains(&site.tone())) else {
                continue;
            };
            let text = format!(
                "{} grows by {} per step, {} over {}: its allocations {}.",
                label(file, history, group),
                bytes_text(site.growth() / u64::from(compared.max(1))),
                bytes_text(site.growth()),
                steps_text(compared),
                if site.has_more_allocations() { "accumulate" } else { "get larger, not more" }
            );
            let span = self.span();
            let evidence = Evidence {
                span,
                allocation: newest_live(never_freed, group),
                moment: span.map(|span| span.to),
                ..Evidence::default()
            };
            writer.add_statement(site.tone(), text, Some(evidence));
            writer.set_chart(self.chart(site));
            if site.has_more_allocations() {
                writer.set_fix("Free what this line keeps alive: entries of a list that every step appends to, or a loss with its graph (use loss.item()).");
            }
        }
    }

    /// Writes the statements about growth and the table. `never_freed` has the allocations that are live at the end of
    /// the trace.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>, never_freed: &SiteSums) {
        let (file, history) = (writer.file, writer.history);
        let fewest = min_steps(writer.question);
        let (compared, span, ranked) = (self.compared(), self.span(), self.ranked(&fewest));
        if u64::from(compared) < fewest.value.max(1) {
            // The first two steps are not compared.
            let needed = group_digits(fewest.value.max(1).saturating_add(2));
            let steps = pluralize(self.steps.into(), "step");
            let text = format!("Growth per step is unknown: {steps} in the trace, {needed} needed.");
            if history.event_count() > 0 {
                writer.add_statement(Tone::Fact, text, None);
            }
        } else if ranked.is_empty() {
            let text = format!("No call site grows over {}.", steps_text(compared));
            writer.add_statement(Tone::Good, text, Some(Evidence { span, ..Evidence::default() }));
        }
        self.write_statements(writer, never_freed, &[Tone::Alarm, Tone::Fact]);
        let ranked: Vec<(u32, &SiteGrowth)> =
            ranked.into_iter().filter_map(|group| Some((group, self.sites.get(group as usize)?))).collect();
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let columns = [
            column::cell("growth_bytes", "growth", |(_, site): (u32, &SiteGrowth)| Cell::Change(signed(site.growth()))),
            column::bytes("growth_bytes_per_step", "growth per step (mean)", |(_, site): (u32, &SiteGrowth)| {
                site.growth() / u64::from(compared.max(1))
            }),
            column::count("rises", "steps with growth", |(_, site): (u32, &SiteGrowth)| site.rises.into()),
            column::count("steps", "steps compared", |_: (u32, &SiteGrowth)| compared.into()),
            column::bytes("live_bytes", "live after the last step", |(_, site): (u32, &SiteGrowth)| site.previous),
            column::count("count", "allocations after the last step", |(_, site): (u32, &SiteGrowth)| site.count),
            column::count("new_count", "additional allocations", |(_, site): (u32, &SiteGrowth)| {
                site.count.saturating_sub(site.baseline[1])
            }),
            column::text("call_site", "call site", |(group, _): (u32, &SiteGrowth)| label(file, history, group)),
        ];
        let note = "Growth per step is measured from the end of step 2: the first two steps allocate what stays, optimizer state and \
                    caches. A call site is listed if its live bytes, without what is awaiting free, never fall, and rise in at \
                    least half of the steps and no fewer than the threshold.";
        let mut sheet = sheet(["grows", "Growth per step", note], &columns);
        sheet.threshold = Some(fewest);
        writer.add_sheet(sheet, &columns, &ranked, |writer, (group, site)| {
            let id = newest_live(never_freed, group).map(AllocationId);
            let row = id.map(|id| writer.allocation_row(id, None)).unwrap_or_default();
            let evidence = Some(Evidence { span, ..row.evidence.unwrap_or_default() });
            SheetRow { tone: site.tone(), evidence, ..row }
        });
    }
}
