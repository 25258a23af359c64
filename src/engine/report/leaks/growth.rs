//! Growth per step: live bytes of each call site at the end of every step, from one pass over the events. Bytes
//! awaiting free are not counted, because the program has freed them.
//!
//! The baseline is the end of the second step ([`Steps::growth_ends`]), because the first two steps allocate optimizer
//! state and caches. A call site grows if, after the baseline, its bytes never fall from the end of one step to the end
//! of the next, and rise often enough.

use crate::open::OpenFile;
use crate::protocol::{Cell, Chart, Evidence, Grouping, ReportQuestion, SheetRow, Span, Threshold, Tone};
use crate::report::column::{self, sheet};
use crate::report::site_sums::{SiteSums, label};
use crate::report::steps::{Steps, WARM_UP};
use crate::report::writing::{Writing, bytes, threshold};
use base::slice::{Slice, Sliced};
use base::sorted::{pair, sorted_numbers};
use base::units::{EventIdx, counted, grouped};
use history::replay::{AllocationId, DeviceHistory};

/// Maximum number of values in a chart. More could not be distinguished.
const MOST_VALUES: usize = 96;

/// Change of a call site by an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Alloc,
    Free,
}

/// Returns the moment when the program freed an allocation: when the free was requested, or when it completed if the
/// request was not recorded.
fn allocated_until(file: &OpenFile, history: &DeviceHistory, id: AllocationId) -> u32 {
    let [from, _] = file.about(history).pending(id).unwrap_or([u32::MAX; 2]);
    history.allocations.span(id).1.min(from)
}

/// State of a call site during the pass.
#[derive(Clone, Default)]
struct Site {
    bytes: u64,
    count: u64,
    /// Bytes and count at the baseline.
    first: [u64; 2],
    /// Bytes at the last step end.
    before: u64,
    rises: u32,
    falls: u32,
    /// Index of the next step end at its last change, plus one. 0 if it has not changed.
    touched: u32,
    /// Step ends with a rise, and the bytes then. Cleared when the bytes fall.
    course: Vec<(u32, u64)>,
}

impl Site {
    fn growth(&self) -> u64 {
        self.before.saturating_sub(self.first[0])
    }

    /// Returns true if the number of allocations grew, not only their bytes.
    fn is_more(&self) -> bool {
        self.count > self.first[1]
    }

    fn tone(&self) -> Tone {
        if self.is_more() { Tone::Alarm } else { Tone::Fact }
    }
}

/// Formats the number of compared steps: `4 steps after the first two`.
fn settled(compared: u32) -> String {
    counted(compared.into(), "step") + " after the first two"
}

/// Returns the newest allocation of a call site that is live at the end.
fn newest(stay: &SiteSums, group: u32) -> Option<u32> {
    Some(stay.of(group)).filter(|sum| sum.count > 0).map(|sum| sum.last)
}

/// Returns the threshold for the number of steps with growth.
fn fewest(question: &ReportQuestion) -> Threshold {
    threshold(question, ["steps", "in at least", "steps"], 2)
}

/// Computation of growth per step.
pub(in crate::report) struct Growth {
    /// Moments compared, ascending: the baseline, and the end of each later step.
    ends: Vec<u32>,
    steps: u32,
    /// Labels of the first and last moment compared.
    names: [String; 2],
    next_early: u32,
    next_event: u32,
    next_end: u32,
    sites: Vec<Site>,
    /// Call sites that changed since the last step end.
    changed: Vec<u32>,
}

impl Growth {
    pub(in crate::report) fn new(file: &OpenFile, history: &DeviceHistory, steps: &Steps) -> Growth {
        let ends = steps.growth_ends();
        // Steps without a name are numbered from 1.
        let name = |step: usize| {
            steps.name(file, history, step).unwrap_or_else(|| "step ".to_owned() + &grouped(step as u64 + 1))
        };
        let first = WARM_UP - 1;
        Growth {
            names: [name(first), name(first + ends.len().saturating_sub(1))],
            ends,
            steps: steps.spans.len() as u32,
            next_early: 0,
            next_event: 0,
            next_end: 0,
            sites: vec![Site::default(); file.groups.count(history, Grouping::CallSite) as usize],
            changed: Vec::new(),
        }
    }

    /// Continues the pass over the events.
    pub(in crate::report) fn step(&mut self, file: &OpenFile, history: &DeviceHistory, slice: &mut Slice) -> Sliced {
        let early = history.allocations.early() as u32;
        while self.next_early < early {
            slice.tick()?;
            let id = AllocationId(self.next_early);
            self.next_early += 1;
            if allocated_until(file, history, id) > 0 {
                self.change(file, history, id, Change::Alloc);
            }
        }
        while let Some(&until) = self.ends.get(self.next_end as usize) {
            for event in (self.next_event..until.min(history.event_count())).map(EventIdx) {
                slice.tick()?;
                self.next_event += 1;
                match history.turn(event) {
                    Some(turn) if turn.ends => self.change(file, history, turn.id, Change::Free),
                    Some(turn) if turn.is_born == Some(true) => self.change(file, history, turn.id, Change::Alloc),
                    _ => {}
                }
            }
            slice.tick()?;
            self.end_step();
        }
        Ok(())
    }

    fn change(&mut self, file: &OpenFile, history: &DeviceHistory, id: AllocationId, turn: Change) {
        let group = file.groups.of(&file.snapshot, history, id, Grouping::CallSite);
        let Some(site) = self.sites.get_mut(group as usize) else { return };
        let size = history.allocations.size(id);
        if turn == Change::Alloc {
            (site.bytes, site.count) = (site.bytes.saturating_add(size), site.count + 1);
        } else {
            (site.bytes, site.count) = (site.bytes.saturating_sub(size), site.count.saturating_sub(1));
        }
        if site.touched != self.next_end + 1 {
            site.touched = self.next_end + 1;
            self.changed.push(group);
        }
    }

    fn end_step(&mut self) {
        if self.next_end == 0 {
            for site in &mut self.sites {
                (site.first, site.before) = ([site.bytes, site.count], site.bytes);
            }
        }
        for group in self.changed.drain(..) {
            if let Some(site) = self.sites.get_mut(group as usize) {
                site.rises += u32::from(site.bytes > site.before);
                site.falls += u32::from(site.bytes < site.before);
                if site.falls > 0 {
                    site.course = Vec::new();
                } else if self.next_end > 0 && site.bytes > site.before {
                    site.course.push((self.next_end, site.bytes));
                }
                site.before = site.bytes;
            }
        }
        self.next_end += 1;
    }

    /// Returns the size in bytes on the heap.
    pub(in crate::report) fn heap_bytes(&self) -> usize {
        let courses: usize = self.sites.iter().map(|site| site.course.capacity()).sum();
        self.sites.capacity() * size_of::<Site>()
            + courses * size_of::<(u32, u64)>()
            + self.ends.capacity() * size_of::<u32>()
    }

    /// Returns the number of steps compared with the step before.
    fn compared(&self) -> u32 {
        (self.ends.len() as u32).saturating_sub(1)
    }

    /// Returns the range from the baseline to the last step end.
    fn span(&self) -> Option<Span> {
        self.ends.first().zip(self.ends.last()).map(|(&from, &to)| Span { from, to })
    }

    /// Returns a chart of live bytes at the step ends. If there are too many, steps are grouped and the last of each
    /// group is used.
    fn course(&self, site: &Site) -> Chart {
        let count = self.ends.len();
        let per_value = count.div_ceil(MOST_VALUES).max(1);
        let at = |end: usize| {
            let after = site.course.partition_point(|&(known, _)| known as usize <= end);
            after.checked_sub(1).and_then(|last| site.course.get(last)).map_or(site.first[0], |&(_, bytes)| bytes)
        };
        let values = (0..count).step_by(per_value).map(|from| at((from + per_value).min(count) - 1)).collect();
        Chart::Course { values, ends: self.names.clone() }
    }

    /// Returns the growing call sites. Those with more allocations come first, because an allocation that is replaced
    /// by a larger one is not a leak by itself.
    fn ranked(&self, fewest: &Threshold) -> Vec<u32> {
        let enough = fewest.value.max(1).max(u64::from(self.compared().div_ceil(2)));
        let growing = (0u32..).zip(&self.sites);
        let growing = growing.filter(|(_, site)| site.falls == 0 && u64::from(site.rises) >= enough);
        sorted_numbers(growing.map(|(group, site)| (pair(u64::from(!site.is_more()), !site.growth()), group)).collect())
    }

    /// Writes statements about the top three growing call sites, if their tone is in `tones`. `stay` has the
    /// allocations that are live at the end.
    pub(in crate::report) fn say(&self, writing: &mut Writing<'_>, stay: &SiteSums, tones: &[Tone]) {
        let (file, history) = (writing.file, writing.history);
        let compared = self.compared();
        for group in self.ranked(&fewest(writing.question)).into_iter().take(3) {
            let Some(site) = self.sites.get(group as usize).filter(|site| tones.contains(&site.tone())) else {
                continue;
            };
            let mut text = label(file, history, group);
            text.push_str(" grows by ");
            text.push_str(&bytes(site.growth() / u64::from(compared.max(1))));
            text.push_str(" per step, ");
            text.push_str(&bytes(site.growth()));
            text.push_str(" over ");
            text.push_str(&settled(compared));
            text.push_str(if site.is_more() {
                ": its allocations accumulate."
            } else {
                ": its allocations get larger, not more."
            });
            let span = self.span();
            let evidence = Evidence {
                span,
                allocation: newest(stay, group),
                moment: span.map(|span| span.to),
                ..Evidence::default()
            };
            writing.say(site.tone(), text, Some(evidence));
            writing.chart(self.course(site));
            if site.is_more() {
                writing.fix("Free what this line keeps alive: entries of a list that every step appends to, or a loss with its graph (use loss.item()).");
            }
        }
    }

    /// Writes the statements and the sheet. `stay` has the allocations that are live at the end.
    pub(super) fn write(&self, writing: &mut Writing<'_>, stay: &SiteSums) {
        let (file, history) = (writing.file, writing.history);
        let fewest = fewest(writing.question);
        let (compared, span, ranked) = (self.compared(), self.span(), self.ranked(&fewest));
        if u64::from(compared) < fewest.value.max(1) {
            let mut text = "Growth per step is unknown: ".to_owned();
            text.push_str(&counted(self.steps.into(), "step"));
            text.push_str(" in the trace, ");
            // The first two steps are not compared.
            text.push_str(&grouped(fewest.value.max(1).saturating_add(2)));
            text.push_str(" needed.");
            if history.event_count() > 0 {
                writing.say(Tone::Fact, text, None);
            }
        } else if ranked.is_empty() {
            let mut text = "No call site grows over ".to_owned();
            text.push_str(&settled(compared));
            text.push('.');
            writing.say(Tone::Good, text, Some(Evidence { span, ..Evidence::default() }));
        }
        self.say(writing, stay, &[Tone::Alarm, Tone::Fact]);
        let ranked: Vec<(u32, &Site)> =
            ranked.into_iter().filter_map(|group| Some((group, self.sites.get(group as usize)?))).collect();
        let signed = |bytes| i64::try_from(bytes).unwrap_or(i64::MAX);
        let columns = [
            column::cell("growth_bytes", "growth", |(_, site): (u32, &Site)| Cell::Change(signed(site.growth()))),
            column::bytes("growth_bytes_per_step", "growth per step (mean)", |(_, site): (u32, &Site)| {
                site.growth() / u64::from(compared.max(1))
            }),
            column::count("rises", "steps with growth", |(_, site): (u32, &Site)| site.rises.into()),
            column::count("steps", "steps compared", |_: (u32, &Site)| compared.into()),
            column::bytes("live_bytes", "live after the last step", |(_, site): (u32, &Site)| site.before),
            column::count("count", "allocations after the last step", |(_, site): (u32, &Site)| site.count),
            column::count("new_count", "additional allocations", |(_, site): (u32, &Site)| {
                site.count.saturating_sub(site.first[1])
            }),
            column::text("call_site", "call site", |(group, _): (u32, &Site)| label(file, history, group)),
        ];
        let note = "Growth per step is measured from the end of step 2: the first two steps allocate what stays, optimizer state and \
                    caches. A call site is listed if its live bytes, without what is awaiting free, never fall, and rise in at \
                    least half of the steps and no fewer than the threshold.";
        let mut sheet = sheet(["grows", "Growth per step", note], &columns);
        sheet.threshold = Some(fewest);
        writing.fill(sheet, &columns, &ranked, |writing, (group, site)| {
            let id = newest(stay, group).map(AllocationId);
            let row = id.map(|id| writing.allocation_row(id, None)).unwrap_or_default();
            let evidence = Some(Evidence { span, ..row.evidence.unwrap_or_default() });
            SheetRow { tone: site.tone(), evidence, ..row }
        });
    }
}
