//! The tables: changes that lower the peak, and the peak without each group of each way to tell allocations into groups.

use super::families::Numbered;
use super::kinds::Saving;
use super::run::Run;
use crate::protocol::{Cell, Evidence, Grouping, Threshold};
use crate::report::column::{self, sheet};
use crate::report::site_sums::label;
use crate::report::writing::{Writing, at, category_query, cut, row};
use analysis::{Without, site};
use base::sorted::{pair, sorted_numbers};
use hashbrown::HashMap;
use history::replay::AllocationId;
use history::snapshot::{FrameId, StackId};

/// Frames that tell a call stack in a table, the innermost ones of the user's own code.
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

/// What a group has at the peak, and the peak without it.
fn without_columns<'a, R: Copy + 'a>(peak: u64, of: impl Fn(R) -> Without + Copy + 'a) -> [column::Column<'a, R>; 4] {
    let saved = move |without: Without| peak.saturating_sub(without.peak);
    [
        column::bytes("live_bytes", "live at the peak", move |group| of(group).at_peak),
        column::bytes("peak_without_bytes", "peak without it", move |group| of(group).peak),
        column::bytes("saved_bytes", "saved", move |group| saved(of(group))),
        column::event("peak_without_event", "peak without it after event", move |group| of(group).moment),
    ]
}

/// Groups that have something at the peak, those that save most first.
fn ranked(peak: u64, groups: impl Iterator<Item = u32>, of: impl Fn(u32) -> Without) -> Vec<u32> {
    let some = groups.filter(|&group| of(group).at_peak > 0);
    let key = |group: u32| pair(!peak.saturating_sub(of(group).peak), !of(group).at_peak);
    sorted_numbers(some.map(|group| (key(group), group)).collect())
}

pub(super) fn write_categories(writing: &mut Writing<'_>, run: &Run) {
    let (file, history) = (writing.file, writing.history);
    let name = |group| match group {
        0 => "not explained by the file".to_owned(),
        group => file.groups.label(&file.snapshot, history, Grouping::Category, group),
    };
    let of = |group: u32| run.category(group);
    let mut columns = vec![column::text("category", "category", name)];
    columns.extend(without_columns(run.peak.1, of));
    let note = "The peak if nothing of the category were allocated. It saves less than what is live at the peak where another event becomes \
                the peak.";
    let sheet = sheet(["categories", "Peak without each category", note], &columns);
    writing.fill(sheet, &columns, &ranked(run.peak.1, 0..run.categories(), of), |_, group| {
        let find = (group > 0).then(|| category_query(&name(group)));
        row(Evidence { find, ..at(of(group).moment) })
    });
}

pub(super) fn write_sites(writing: &mut Writing<'_>, run: &Run, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let of = |group: u32| run.site(group);
    // The largest at the peak stands for its call site.
    let mut largest = vec![(0u64, AllocationId(0)); file.groups.count(history, Grouping::CallSite) as usize];
    for &id in live {
        let (site, bytes) = (run.of(file, history, id).site, history.allocations.size(id));
        largest.get_mut(site as usize).filter(|it| bytes > it.0).into_iter().for_each(|it| *it = (bytes, id));
    }
    let mut columns = Vec::from(without_columns(run.peak.1, of));
    columns.push(column::text("call_site", "call site", |group| label(file, history, group)));
    let title = ["call_sites", "Peak without each call site", ""];
    let ranked = ranked(run.peak.1, 0..largest.len() as u32, of);
    writing.fill(sheet(title, &columns), &columns, &ranked, |writing, group| {
        let of_site = largest.get(group as usize).map(|&(_, id)| id);
        writing.allocation_row(of_site.unwrap_or(AllocationId(0)), Some(of(group).moment))
    });
}

/// Call stacks, where they tell more than their call sites.
pub(super) fn write_stacks(writing: &mut Writing<'_>, run: &Run, live: &[AllocationId]) {
    let (file, history) = (writing.file, writing.history);
    let stacks = &run.families.stacks;
    let stack = |place: u32| stacks.get(place as usize).map_or(StackId::NONE, |&(stack, _)| stack);
    let of = |place: u32| stacks.get(place as usize).map(|&(_, group)| run.group(group)).unwrap_or_default();
    let ranked = ranked(run.peak.1, 0..stacks.len() as u32, of);
    let sites = (0..file.groups.count(history, Grouping::CallSite)).filter(|&site| run.site(site).at_peak > 0).count();
    if ranked.len() <= sites {
        return;
    }
    let mut largest: HashMap<u32, (u64, AllocationId), foldhash::fast::RandomState> = HashMap::default();
    for &id in live {
        let (stack, bytes) = (file.stack(history, id), history.allocations.size(id));
        let most = largest.entry(stack.0).or_insert((bytes, id));
        if bytes > most.0 {
            *most = (bytes, id);
        }
    }
    let frames = |place: u32| {
        let frames = file.snapshot.stacks.frames(stack(place)).map(|frame| file.snapshot.frames.frame(frame));
        let own = frames.filter(|frame| analysis::Sites::is_user(&file.snapshot, frame)).take(TOLD_FRAMES);
        let own: Vec<String> = own.map(|frame| site::short(&file.snapshot, frame)).collect();
        let largest = largest.get(&stack(place).0).filter(|_| own.is_empty());
        largest.map_or_else(|| own.join(" ← "), |&(_, id)| label(file, history, run.of(file, history, id).site))
    };
    let mut columns = Vec::from(without_columns(run.peak.1, of));
    columns.push(column::text("call_stack", "call stack", frames));
    let sheet = sheet(["call_stacks", "Peak without each call stack", ""], &columns);
    writing.fill(sheet, &columns, &ranked, |writing, place| {
        let id = largest.get(&stack(place).0).map_or(AllocationId(0), |&(_, id)| id);
        writing.allocation_row(id, Some(of(place).moment))
    });
}

/// Modules, each with those inside it.
pub(super) fn write_modules(writing: &mut Writing<'_>, run: &Run) {
    let (file, tree) = (writing.file, &run.families.tree);
    let of = |module: u32| run.numbered(Numbered::Module, module);
    let ranked = ranked(run.peak.1, 1..tree.modules.len() as u32, of);
    if ranked.is_empty() {
        return;
    }
    let module = |number: u32| tree.modules.get(number as usize).copied();
    let class = |number| module(number).map_or_else(String::new, |module| cut(&module.class(&file.snapshot)));
    let calls = |number| module(number).map_or_else(String::new, |module| cut(&module.calls(&file.snapshot)));
    let mut columns = vec![column::text("module", "module", class), column::text("called_at", "called at", calls)];
    columns.extend(without_columns(run.peak.1, of));
    let note = "With the modules inside it. Modules called from the same line are one row.";
    let sheet = sheet(["modules", "Peak without each module", note], &columns);
    writing.fill(sheet, &columns, &ranked, |_, number| {
        let find = Some(calls(number)).filter(|call| !call.is_empty());
        row(Evidence { find, ..at(of(number).moment) })
    });
}

/// Annotations, or compiled regions: what was allocated in each.
pub(super) fn write_named(writing: &mut Writing<'_>, run: &Run, by: Numbered) {
    let (file, history) = (writing.file, writing.history);
    // The groups before the first are those of what is in none.
    let (grouping, first, [key, title, heading]) = match by {
        Numbered::Annotation => (
            Grouping::Annotation,
            1,
            ["annotations", "Peak without what was allocated in each annotation", "annotation"],
        ),
        _ => (
            Grouping::CompileContext,
            2,
            ["compiled_regions", "Peak without what was allocated in each compiled region", "compiled region"],
        ),
    };
    let of = |number: u32| run.numbered(by, number);
    let ranked = ranked(run.peak.1, first..file.groups.count(history, grouping), of);
    if ranked.is_empty() {
        return;
    }
    let name = |number| cut(&file.groups.label(&file.snapshot, history, grouping, number));
    let mut columns = vec![column::text("name", heading, name)];
    columns.extend(without_columns(run.peak.1, of));
    writing.fill(sheet([key, title, ""], &columns), &columns, &ranked, |_, number| row(at(of(number).moment)));
}

/// Steps of the backward pass.
pub(super) fn write_nodes(writing: &mut Writing<'_>, run: &Run) {
    let file = writing.file;
    let nodes = &run.families.nodes;
    let of = |place: u32| nodes.get(place as usize).map(|&(_, group)| run.group(group)).unwrap_or_default();
    let ranked = ranked(run.peak.1, 0..nodes.len() as u32, of);
    if ranked.is_empty() {
        return;
    }
    let frame = |place: u32| nodes.get(place as usize).map(|&(frame, _): &(FrameId, u32)| frame);
    let name = |place| {
        let frame = frame(place).map(|frame| file.snapshot.frames.frame(frame));
        frame.map_or_else(String::new, |frame| cut(&site::parts(&file.snapshot, frame).0))
    };
    let mut columns = vec![column::text("autograd_node", "autograd node", name)];
    columns.extend(without_columns(run.peak.1, of));
    let sheet = sheet(["autograd_nodes", "Peak without each autograd node", ""], &columns);
    writing
        .fill(sheet, &columns, &ranked, |_, place| row(Evidence { find: Some(name(place)), ..at(of(place).moment) }));
}
