//! Growth per step: live bytes of each call site at the end of every step, from one pass over the events. Bytes
//! awaiting free are not counted, because the program has freed them.
//!
//! The baseline is the end of the second step, because the first two steps allocate optimizer state and caches. A call
//! site is considered growing if, after the baseline, its bytes never fall between the ends of two consecutive steps,
//! and rise in enough steps. With only two or three steps, the baseline is the start of the first one, and the bytes
//! must rise in every step, which optimizer state and caches do not.
//!
//! Statements grade the certainty, see [`Certainty`].

use crate::open::OpenFile;
use crate::report::column::{self, sheet};
use crate::report::site_sums::{SiteSums, label};
use crate::report::step_finder::Steps;
use crate::report::writer::{ReportWriter, bytes_text, is_notable, threshold, truncate};
use analysis::{Sites, site};
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{EventIdx, group_digits, pluralize};
use history::replay::{AllocationId, DeviceHistory};
use history::snapshot::{Snapshot, StackId};
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

/// Live bytes and number of allocations of a call site.
#[derive(Clone, Copy, Default)]
struct Amount {
    bytes: u64,
    count: u64,
}

/// State of a call site while the events are processed.
#[derive(Clone, Default)]
struct SiteGrowth {
    /// Now, at the start of the first step, at the baseline, and at the end of the previous step. After the last event,
    /// `live` has the end of the trace.
    live: Amount,
    first: Amount,
    baseline: Amount,
    previous: Amount,
    /// Number of steps with more, and with fewer bytes than before: after the baseline, and before it.
    rises: u32,
    falls: u32,
    early_rises: u32,
    early_falls: u32,
    /// Smallest and largest rise in a step.
    rise_range: Option<(u64, u64)>,
    /// 1-based index of the first step end after the last change. 0 if the call site has not changed.
    last_changed: u32,
    /// Id of the newest allocation.
    newest: u32,
    /// Index of each step end after the baseline at which the bytes have risen, and the bytes at this moment. Cleared
    /// when the bytes fall.
    values: Vec<(u32, u64)>,
}

base::heap_bytes!(SiteGrowth: values);

/// Certainty that a growing call site leaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// The bytes rise in every step, at least three times, and nothing is freed.
    Likely,
    /// The bytes do not rise in every step, or there are only two steps.
    Possible,
    /// A part of the growth is freed after the last step.
    FreedLater,
    /// The number of allocations does not grow: one is replaced by a larger one.
    Larger,
}

impl SiteGrowth {
    fn growth(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.baseline.bytes)
    }

    /// Returns whether the number of allocations has grown since the baseline, not only their bytes.
    fn has_more_allocations(&self) -> bool {
        self.previous.count > self.baseline.count
    }

    /// Returns the bytes of the last step end that are freed at the end of the trace.
    fn freed_later(&self) -> u64 {
        self.previous.bytes.saturating_sub(self.live.bytes)
    }
}

/// Returns the text for the caller of a stack's call site, such as ` (called at train.py:13 main)`. Empty if no other
/// function of the user's own code is in the stack.
pub(super) fn caller_text(snapshot: &Snapshot, stack: StackId) -> String {
    let frames = snapshot.stacks.frames(stack).map(|frame| snapshot.frames.frame(frame));
    let mut user_frames = frames.filter(|frame| Sites::is_user(snapshot, frame));
    let Some(call_site) = user_frames.next() else { return String::new() };
    let caller = user_frames.find(|frame| (frame.name, frame.filename) != (call_site.name, call_site.filename));
    caller.map_or_else(String::new, |frame| [" (called at ", &truncate(&site::short(snapshot, frame)), ")"].concat())
}

/// Returns the newest allocation of a call site that is live at the end of the trace, if there is one.
fn newest_live(never_freed: &SiteSums, group: u32) -> Option<u32> {
    Some(never_freed.get(group)).filter(|sum| sum.count > 0).map(|sum| sum.last)
}

/// Returns whether the growth of a call site is worth a statement.
fn is_notable_growth(history: &DeviceHistory, site: &SiteGrowth) -> bool {
    is_notable(site.growth(), history.live_peak().1)
}

/// Returns the user's threshold for the minimum number of steps with growth of a call site.
fn min_steps(question: &ReportQuestion) -> Threshold {
    threshold(question, ["steps", "in at least", "steps"], 2)
}

/// Computes the growth of each call site per step.
pub(in crate::report) struct Growth {
    /// Moments that are compared, in ascending order: the start of the first step, and the end of each step. `baseline`
    /// is an index into them.
    moments: Vec<u32>,
    baseline: u32,
    /// Number of steps that were found.
    steps: u32,
    /// Labels of the baseline and of the last moment.
    end_labels: [String; 2],
    next_early: u32,
    next_event: u32,
    next_end: u32,
    sites: Vec<SiteGrowth>,
    /// Groups of the call sites that have changed since the last step end.
    changed: Vec<u32>,
}

base::heap_bytes!(Growth: sites, [sites], moments);

impl Growth {
    pub(in crate::report) fn new(file: &OpenFile, history: &DeviceHistory, steps: &Steps) -> Growth {
        let (moments, baseline) = steps.all_growth_moments();
        // Steps without a name are numbered from 0.
        let name = |step: u32| match step {
            0 => "start".to_owned(),
            _ => steps
                .annotation_text(file, history, step as usize - 1)
                .unwrap_or_else(|| "step ".to_owned() + &group_digits(u64::from(step) - 1)),
        };
        Growth {
            end_labels: [name(baseline), name((moments.len() as u32).saturating_sub(1))],
            moments,
            baseline,
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
        if self.moments.is_empty() {
            return Ok(());
        }
        // After the last step, the rest of the trace shows what is freed later.
        while self.next_end <= self.moments.len() as u32 {
            let until = self.moments.get(self.next_end as usize).copied().unwrap_or(u32::MAX);
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
            if until < u32::MAX {
                self.end_step();
            }
            self.next_end += 1;
        }
        Ok(())
    }

    fn change(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, change: Change) {
        let group = file.groups.group_of(&file.snapshot, history, id, Grouping::CallSite);
        let Some(site) = self.sites.get_mut(group as usize) else { return };
        let size = history.allocations.size(id);
        let live = &mut site.live;
        if change == Change::Alloc {
            (live.bytes, live.count, site.newest) = (live.bytes.saturating_add(size), live.count + 1, id.0);
        } else {
            (live.bytes, live.count) = (live.bytes.saturating_sub(size), live.count.saturating_sub(1));
        }
        if site.last_changed != self.next_end + 1 {
            site.last_changed = self.next_end + 1;
            self.changed.push(group);
        }
    }

    fn end_step(&mut self) {
        if self.next_end == 0 {
            self.changed.clear();
            for site in &mut self.sites {
                (site.first, site.baseline, site.previous) = (site.live, site.live, site.live);
            }
        }
        for group in self.changed.drain(..) {
            let Some(site) = self.sites.get_mut(group as usize) else { continue };
            let (bytes, previous) = (site.live.bytes, site.previous.bytes);
            site.rises += u32::from(bytes > previous);
            site.falls += u32::from(bytes < previous);
            if bytes > previous {
                let (min, max) = site.rise_range.unwrap_or((u64::MAX, 0));
                site.rise_range = Some((min.min(bytes - previous), max.max(bytes - previous)));
            }
            if site.falls > 0 {
                site.values = Vec::new();
            } else if self.next_end > self.baseline && bytes > previous {
                site.values.push((self.next_end, bytes));
            }
            site.previous = site.live;
        }
        if self.next_end > 0 && self.next_end == self.baseline {
            for site in &mut self.sites {
                (site.early_rises, site.early_falls) = (site.rises, site.falls);
                (site.rises, site.falls, site.baseline) = (0, 0, site.live);
                // Only rises in every step are described from the first step on.
                site.rise_range = site.rise_range.filter(|_| site.early_rises == self.baseline);
            }
        }
    }

    /// Returns the number of steps that are compared with the previous step.
    fn compared(&self) -> u32 {
        (self.moments.len() as u32).saturating_sub(1 + self.baseline)
    }

    /// Returns the range from the baseline to the end of the last step. `None` if no steps are compared.
    fn span(&self) -> Option<Span> {
        let from = self.moments.get(self.baseline as usize);
        from.zip(self.moments.last()).map(|(&from, &to)| Span { from, to })
    }

    /// Returns whether the bytes of a call site rise in every step, including the steps before the baseline.
    fn rises_always(&self, site: &SiteGrowth) -> bool {
        site.early_falls + site.falls == 0 && site.early_rises + site.rises + 1 == self.moments.len() as u32
    }

    fn certainty(&self, site: &SiteGrowth) -> Certainty {
        match () {
            () if !site.has_more_allocations() => Certainty::Larger,
            () if site.freed_later() > 0 => Certainty::FreedLater,
            () if site.rises == self.compared() && self.steps > 2 => Certainty::Likely,
            () => Certainty::Possible,
        }
    }

    fn tone(&self, site: &SiteGrowth) -> Tone {
        match self.certainty(site) {
            Certainty::Likely => Tone::Alarm,
            Certainty::Possible if self.steps > 2 => Tone::Alarm,
            _ => Tone::Fact,
        }
    }

    /// Returns the sentence about a growing call site.
    fn describe(&self, site: &SiteGrowth, name: &str) -> String {
        let always = self.rises_always(site);
        let (total, steps) = match always {
            true => (site.previous.bytes.saturating_sub(site.first.bytes), self.moments.len() as u32 - 1),
            false => (site.growth(), self.compared()),
        };
        let after = if always || self.baseline == 0 { "" } else { " after the first two" };
        let mean = bytes_text(total / u64::from(steps.max(1)));
        let mut text = if always || site.rises == steps {
            let is_constant = site.rise_range.is_some_and(|(min, max)| min == max);
            let (constant, mean) = if is_constant { (mean + " ", String::new()) } else { (String::new(), mean) };
            let on_average = if is_constant { String::new() } else { format!(", {mean} on average") };
            format!("{name} grew {constant}in each of the {}{after}{on_average}", pluralize(steps.into(), "step"))
        } else {
            let rises = group_digits(site.rises.into());
            format!("{name} grew in {rises} of {}{after}, {mean} per step", pluralize(steps.into(), "step"))
        };
        let total = bytes_text(total);
        text.push_str(&match self.certainty(site) {
            Certainty::Likely => format!(", none freed: {total} in all (likely a leak)."),
            Certainty::Possible => format!(", none freed: {total} in all (possibly a leak)."),
            Certainty::FreedLater => {
                format!(": {total} in all, of which {} is freed after the last step.", bytes_text(site.freed_later()))
            }
            Certainty::Larger => {
                format!(": {total} in all. Its allocations get larger, not more (not necessarily a leak).")
            }
        });
        text
    }

    /// Returns the short sentence about a call site that leaks, such as `Likely leak: train.py:71 log keeps 42.0 MiB more
    /// per step, 336 MiB in all.`
    fn headline(&self, site: &SiteGrowth, name: &str) -> String {
        let certainty = if self.certainty(site) == Certainty::Likely { "Likely" } else { "Possible" };
        let [mean, total] = [site.growth() / u64::from(self.compared().max(1)), site.growth()].map(bytes_text);
        format!("{certainty} leak: {name} keeps {mean} more per step, {total} in all.")
    }

    /// Returns a chart of a call site's live bytes at the step ends. If there are too many steps, consecutive steps are
    /// grouped, and the chart shows the last step of each group.
    fn chart(&self, site: &SiteGrowth) -> Chart {
        let (first, count) = (self.baseline as usize, self.compared() as usize + 1);
        let per_value = count.div_ceil(MAX_VALUES).max(1);
        let at = |end: usize| {
            let after = site.values.partition_point(|&(known, _)| known as usize <= first + end);
            after.checked_sub(1).and_then(|last| site.values.get(last)).map_or(site.baseline.bytes, |&(_, bytes)| bytes)
        };
        let values = (0..count).step_by(per_value).map(|from| at((from + per_value).min(count) - 1)).collect();
        Chart::Line { values, ends: self.end_labels.clone() }
    }

    /// Returns the growing call sites, most growth first. Call sites with more allocations than at the baseline come
    /// before the others, because a single allocation that is replaced by a larger one need not be a leak.
    fn ranked(&self, min_steps: &Threshold) -> Vec<u32> {
        let half = self.compared().div_ceil(2);
        let enough = min_steps.value.max(1).max(if self.baseline > 0 { half } else { self.compared() }.into());
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
        for group in self.ranked(&min_steps(writer.question)).into_iter().take(3) {
            let Some(site) = self.sites.get(group as usize).filter(|site| tones.contains(&self.tone(site))) else {
                continue;
            };
            if !is_notable_growth(history, site) {
                continue;
            }
            let stack = file.stack(history, AllocationId(site.newest));
            let text = self.describe(site, &(label(file, history, group) + &caller_text(&file.snapshot, stack)));
            let span = self.span();
            let evidence = Evidence {
                span,
                allocation: newest_live(never_freed, group),
                moment: span.map(|span| span.to),
                ..Evidence::default()
            };
            writer.add_statement(self.tone(site), text, Some(evidence));
            if self.tone(site) == Tone::Alarm && writer.report.headline.is_none() {
                writer.set_headline(self.headline(site, &label(file, history, group)));
            }
            writer.set_chart(self.chart(site));
            if matches!(self.certainty(site), Certainty::Likely | Certainty::Possible) {
                writer.set_fix("Free what this line keeps alive: entries of a list that every step appends to, or a loss with its graph (use loss.item()).");
            }
        }
    }

    /// Returns whether at least two steps were found, so that growth is known.
    pub(super) fn is_known(&self) -> bool {
        self.compared() > 0
    }

    /// Writes the statements about growth and the table. `never_freed` has the allocations that are live at the end of
    /// the trace.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>, never_freed: &SiteSums) {
        let (file, history) = (writer.file, writer.history);
        let fewest = min_steps(writer.question);
        let (compared, span, ranked) = (self.compared(), self.span(), self.ranked(&fewest));
        let worthy = ranked.iter().filter_map(|&group| self.sites.get(group as usize));
        let worthy = worthy.filter(|site| is_notable_growth(history, site)).count();
        let steps = pluralize(compared.into(), "step") + if self.baseline > 0 { " after the first two" } else { "" };
        if u64::from(compared) < fewest.value.max(1) {
            let needed = group_digits(fewest.value.max(2).saturating_add(self.baseline.into()));
            let text = match self.steps {
                0 => "Growth per step is unknown: no steps found.".to_owned(),
                steps => {
                    format!("Growth per step is unknown: {} found, {needed} needed.", pluralize(steps.into(), "step"))
                }
            };
            if history.event_count() > 0 {
                writer.add_statement(Tone::Fact, text, None);
            }
        } else if ranked.is_empty() {
            let text = format!("No call site grows over {steps}.");
            writer.add_statement(Tone::Good, text, Some(Evidence { span, ..Evidence::default() }));
        } else if worthy == 0 {
            let count = pluralize(ranked.len() as u64, "call site");
            let verb = if ranked.len() == 1 { "grows" } else { "grow" };
            let text = format!("{count} {verb} over {steps}, each by less than 1 % of the peak: see the table.");
            writer.add_statement(Tone::Fact, text, Some(Evidence { span, ..Evidence::default() }));
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
            column::bytes("live_bytes", "live after the last step", |(_, site): (u32, &SiteGrowth)| {
                site.previous.bytes
            }),
            column::count("count", "allocations after the last step", |(_, site): (u32, &SiteGrowth)| {
                site.previous.count
            }),
            column::count("new_count", "additional allocations", |(_, site): (u32, &SiteGrowth)| {
                site.previous.count.saturating_sub(site.baseline.count)
            }),
            column::text("call_site", "call site", |(group, _): (u32, &SiteGrowth)| label(file, history, group)),
        ];
        let note = "Growth per step is measured from the end of the second step: the first two steps allocate what stays, optimizer state and \
                    caches. A call site is listed if its live bytes, without what is awaiting free, never fall, and rise in at \
                    least half of the steps and no fewer than the threshold. With two or three steps, growth is measured from the \
                    start of the first step, and has to occur in every step.";
        let mut sheet = sheet(["grows", "Growth per step", note], &columns);
        sheet.threshold = Some(fewest);
        writer.add_sheet(sheet, &columns, &ranked, |writer, (group, site)| {
            let id = newest_live(never_freed, group).map(AllocationId);
            let row = id.map(|id| writer.allocation_row(id, None)).unwrap_or_default();
            let evidence = Some(Evidence { span, ..row.evidence.unwrap_or_default() });
            SheetRow { tone: self.tone(site), evidence, ..row }
        });
    }
}
