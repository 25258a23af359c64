//! Tables of the report on savings: changes that lower the peak, and the peak without each group.

use super::families::Numbered;
use super::kinds::Saving;
use super::run::Run;
use crate::protocol::{Cell, Evidence, Grouping, SheetRow, Threshold};
use crate::report::column::{self, Column, sheet};
use crate::report::site_sums::label;
use crate::report::writing::{Writing, at, category_query, cut, row};
use analysis::{Sites, Without, site};
use base::sorted::{pair, sorted_numbers};
use history::replay::AllocationId;
use history::snapshot::StackId;

/// Number of frames that stand for a call stack in a table: the innermost ones of user code.
const TOLD_FRAMES: usize = 3;

pub(super) fn write_savings(writing: &mut Writing<'_>, peak: u64, savings: &[Saving], least: Threshold) {
    let (file, history) = (writing.file, writing.history);
    let columns = [
        column::text("change", "change", |of: &Saving| of.kind.words().change.to_owned()),
        column::bytes("live_bytes", "live at the peak", |of: &Saving| of.concerned),
        column::bytes("peak_without_bytes", "peak then", |of: &Saving| of.without.peak),
        column::bytes("saved_bytes", "saved", |of: &Saving| of.saved),
        column::share("saved_share", "share", |of: &Saving| (of.saved, peak)),
        column::event("peak_without_event", "peak then after event", |of: &Saving| of.without.moment),
        column::text("confidence", "confidence", |of: &Saving| of.confidence.to_owned()),
        column::cell("call_site", "largest call site", |of: &Saving| {
            of.most.first().map_or(Cell::Nothing, |&(site, ..)| Cell::Text(label(file, history, site)))
        }),
        column::text("unless", "why it may not apply", |of: &Saving| of.kind.words().unless.to_owned()),
    ];
    let note = "Each change alone; savings of several do not add up. Peaks are of live (requested) bytes and exact for the allocations that \
                the change concerns.";
    let mut sheet = sheet(["savings", "Changes that lower the peak", note], &columns);
    sheet.threshold = Some(least);
    let rows: Vec<&Saving> = savings.iter().collect();
    writing.fill(sheet, &columns, &rows, |writing, of| match of.most.first() {
        Some(&(_, _, largest)) => writing.allocation_row(largest, Some(of.without.moment)),
        None => row(at(of.without.moment)),
    });
}

/// Table of groups.
struct Groups<'a> {
    /// Key, title and note.
    words: [&'a str; 3],
    /// Number of the first group. `count` is one past the last.
    first: u32,
    count: u32,
    of: &'a dyn Fn(u32) -> Without,
    /// Columns with the name of a group.
    names: Vec<Column<'a, u32>>,
    /// True if the names come after the columns of bytes.
    is_name_last: bool,
}

impl<'a> Groups<'a> {
    /// Returns the groups with bytes at the peak, highest saving first.
    fn ranked(&self, peak: u64) -> Vec<u32> {
        let some = (self.first..self.count).filter(|&group| (self.of)(group).at_peak > 0);
        let key = |group: u32| pair(!peak.saturating_sub((self.of)(group).peak), !(self.of)(group).at_peak);
        sorted_numbers(some.map(|group| (key(group), group)).collect())
    }

    /// Writes the table: bytes of each group at the peak, and the peak without it. Writes nothing if at most `least`
    /// groups have any bytes.
    fn write(
        self,
        writing: &mut Writing<'_>,
        peak: u64,
        least: Option<usize>,
        row: &mut dyn FnMut(&mut Writing<'_>, u32, u32) -> SheetRow,
    ) {
        let ranked = self.ranked(peak);
        if least.is_some_and(|least| ranked.len() <= least) {
            return;
        }
        let Groups { words, of, names, is_name_last, .. } = self;
        let bytes = [
            column::bytes("live_bytes", "live at the peak", |group| of(group).at_peak),
            column::bytes("peak_without_bytes", "peak without it", |group| of(group).peak),
            column::bytes("saved_bytes", "saved", move |group| peak.saturating_sub(of(group).peak)),
            column::event("peak_without_event", "peak without it after event", |group| of(group).moment),
        ];
        let (mut columns, last) = if is_name_last { (Vec::new(), names) } else { (names, Vec::new()) };
        columns.extend(bytes);
        columns.extend(last);
        writing.fill(sheet(words, &columns), &columns, &ranked, |writing, group| row(writing, group, of(group).moment));
    }
}

pub(super) fn write_categories(writing: &mut Writing<'_>, run: &Run) {
    let (file, history) = (writing.file, writing.history);
    let name = |group| match group {
        0 => "not explained by the file".to_owned(),
        group => file.groups.label(&file.snapshot, history, Grouping::Category, group),
    };
    let note = "The peak if nothing of the category were allocated. It saves less than what is live at the peak where another event becomes \
                the peak.";
    let groups = Groups {
        words: ["categories", "Peak without each category", note],
        first: 0,
        count: run.categories(),
        of: &|group| run.category(group),
        names: vec![column::text("category", "category", name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, None, &mut |_, group, moment| {
        row(Evidence { find: (group > 0).then(|| category_query(&name(group))), ..at(moment) })
    });
}

pub(super) fn write_sites(writing: &mut Writing<'_>, run: &Run, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let count = file.groups.count(history, Grouping::CallSite);
    let largest = largest(writing, count, live, &|id| Some(run.of(file, history, id).site));
    let groups = Groups {
        words: ["call_sites", "Peak without each call site", ""],
        first: 0,
        count,
        of: &|group| run.site(group),
        names: vec![column::text("call_site", "call site", |group| label(file, history, group))],
        is_name_last: true,
    };
    groups.write(writing, run.peak.1, None, &mut |writing, group, moment| {
        writing.allocation_row(of_group(&largest, group), Some(moment))
    });
}

/// Returns the largest allocation that is live at the peak, with its size, for each group.
fn largest(
    writing: &Writing<'_>,
    count: u32,
    live: &[AllocationId],
    of: &dyn Fn(AllocationId) -> Option<u32>,
) -> Vec<(u64, AllocationId)> {
    let mut largest = vec![(0u64, AllocationId(0)); count as usize];
    for &id in live {
        let bytes = writing.history.allocations.size(id);
        let of_group = of(id).and_then(|group| largest.get_mut(group as usize));
        of_group.filter(|it| bytes > it.0).into_iter().for_each(|it| *it = (bytes, id));
    }
    largest
}

fn of_group(largest: &[(u64, AllocationId)], group: u32) -> AllocationId {
    largest.get(group as usize).map_or(AllocationId(0), |&(_, id)| id)
}

/// Writes the table of call stacks, if there are more of them than call sites.
pub(super) fn write_stacks(writing: &mut Writing<'_>, run: &Run, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let (snapshot, stacks) = (&file.snapshot, &run.families.stacks);
    let sites = (0..file.groups.count(history, Grouping::CallSite)).filter(|&site| run.site(site).at_peak > 0).count();
    let place = |id| run.families.place(file.stack(history, id));
    let largest = largest(writing, stacks.len() as u32, live, &place);
    let names = |group: u32| {
        let stack = stacks.get(group as usize).map_or(StackId::NONE, |stack| stack.stack);
        let frames = snapshot.stacks.frames(stack).map(|frame| snapshot.frames.frame(frame));
        let own = frames.filter(|frame| Sites::is_user(snapshot, frame)).take(TOLD_FRAMES);
        let own: Vec<String> = own.map(|frame| site::short(snapshot, frame)).collect();
        if own.is_empty() {
            label(file, history, run.of(file, history, of_group(&largest, group)).site)
        } else {
            own.join(" ← ")
        }
    };
    let groups = Groups {
        words: ["call_stacks", "Peak without each call stack", ""],
        first: 0,
        count: stacks.len() as u32,
        of: &|group| stacks.get(group as usize).map(|stack| run.group(stack.group)).unwrap_or_default(),
        names: vec![column::text("call_stack", "call stack", names)],
        is_name_last: true,
    };
    groups.write(writing, run.peak.1, Some(sites), &mut |writing, group, moment| {
        writing.allocation_row(of_group(&largest, group), Some(moment))
    });
}

/// Writes the table of modules, each including nested ones.
pub(super) fn write_modules(writing: &mut Writing<'_>, run: &Run) {
    let (file, tree) = (writing.file, &run.families.tree);
    let module = |number: u32| tree.modules.get(number as usize);
    let class = |number| module(number).map_or_else(String::new, |module| cut(&module.class(&file.snapshot)));
    let calls = |number| module(number).map_or_else(String::new, |module| cut(&module.calls(&file.snapshot)));
    let note = "With the modules inside it. Modules called from the same line are one row.";
    let groups = Groups {
        words: ["modules", "Peak without each module", note],
        first: 1,
        count: tree.modules.len() as u32,
        of: &|number| run.numbered(Numbered::Module, number),
        names: vec![column::text("module", "module", class), column::text("called_at", "called at", calls)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, number, moment| {
        let find = Some(calls(number)).filter(|call| !call.is_empty());
        row(Evidence { find, ..at(moment) })
    });
}

/// Writes the table of annotations or of compiled regions.
pub(super) fn write_named(writing: &mut Writing<'_>, run: &Run, by: Numbered) {
    let (file, history) = (writing.file, writing.history);
    // The groups before `first` are for allocations outside annotations or regions.
    let (grouping, first, words, heading) = match by {
        Numbered::Annotation => {
            (Grouping::Annotation, 1, ["annotations", "Peak without what each annotation allocated", ""], "annotation")
        }
        _ => (
            Grouping::CompileContext,
            2,
            ["compiled_regions", "Peak without what each compiled region allocated", ""],
            "compiled region",
        ),
    };
    let name = |number| cut(&file.groups.label(&file.snapshot, history, grouping, number));
    let groups = Groups {
        words,
        first,
        count: file.groups.count(history, grouping),
        of: &|number| run.numbered(by, number),
        names: vec![column::text("name", heading, name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, _, moment| row(at(moment)));
}

/// Writes the table of autograd nodes.
pub(super) fn write_nodes(writing: &mut Writing<'_>, run: &Run) {
    let (snapshot, nodes) = (&writing.file.snapshot, &run.families.nodes);
    let name = |place: u32| {
        let frame = nodes.get(place as usize).map(|&(_, frame)| snapshot.frames.frame(frame));
        frame.map_or_else(String::new, |frame| cut(&site::parts(snapshot, frame).0))
    };
    let groups = Groups {
        words: ["autograd_nodes", "Peak without each autograd node", ""],
        first: 0,
        count: nodes.len() as u32,
        of: &|place| nodes.get(place as usize).map(|&(group, _)| run.group(group)).unwrap_or_default(),
        names: vec![column::text("autograd_node", "autograd node", name)],
        is_name_last: false,
    };
    groups.write(writing, run.peak.1, Some(0), &mut |_, place, moment| {
        row(Evidence { find: Some(name(place)), ..at(moment) })
    });
}
