//! Builds the entries of the command palette, best match first, and runs the picked entry.

use crate::features::insights::InsightsAction;
use crate::features::insights::view::available_topics;
use crate::features::palette::PaletteTarget;
use crate::features::{FeatureAction, State};
use crate::plot::lane_focus::show_device;
use crate::plot::slices;
use crate::session::opening::load;
use crate::shell::commands;
use crate::shell::commands::show_tab;
use crate::shell::help::keys_text;
use crate::state::binding::KeyScope;
use crate::state::outbox::Outbox;
use crate::text::fuzzy;
use crate::text::fuzzy::Match;
use crate::text::summary::device_name;
use crate::text::tab::Tab;
use base::sorted::{signed_key, sorted_numbers, two_part_key};
use base::units::pluralize;
use protocol::RangeSource;

/// Maximum number of entries that the palette lists.
const MAX_ENTRIES: usize = 100;
/// Sort key of views among entries that match equally well. The keys of the other kinds of entries follow. If nothing
/// is typed, recently used entries come before all others.
const VIEW_RANK: u64 = 100;
const INSIGHT_RANK: u64 = 101;
const DEVICE_RANK: u64 = 102;
const FILE_RANK: u64 = 103;
const COMMAND_RANK: u64 = 104;
const ANNOTATION_RANK: u64 = 105;
/// Amount added to the match score of a recently used entry.
const RECENT_BONUS: i32 = 4 * fuzzy::LETTERS_PER_POINT;

/// An entry of the command palette.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub target: PaletteTarget,
    pub name: String,
    /// Indices of the characters in `name` that match the typed text, ascending.
    pub matched: Vec<usize>,
    /// Label of the entry's kind, such as "View" or "Device". For a command, the heading of its group.
    pub kind: &'static str,
    /// Keyboard shortcuts of a command.
    pub keys: Vec<String>,
}

/// Contents of the command palette.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PaletteView {
    /// Matching entries, best match first.
    pub entries: Vec<Entry>,
    /// Index of the entry that Enter runs.
    pub active: usize,
    /// Number of results, or a message if nothing matches.
    pub note: String,
}

/// Returns the palette's contents for the typed text.
pub fn view(state: &State) -> PaletteView {
    let typed = state.palette.text.trim();
    let mut found: Vec<Option<(Entry, Match)>> = Vec::new();
    let mut order = Vec::new();
    let mut offer = |target: PaletteTarget, kind: u64| {
        let Some(entry) = entry(state, target) else { return };
        // The kind can be typed as well: `flame zoom`. If the name alone matches, it is shorter and therefore scores
        // higher.
        let text = [&entry.name, " ", entry.kind].concat();
        let matches = [fuzzy::match_name(typed, &entry.name), fuzzy::match_name(typed, &text)];
        let Some(matched) = matches.into_iter().flatten().max_by_key(|matched| matched.score) else { return };
        let recent = state.palette.recent.iter().position(|recent| *recent == target);
        let (score, rank) = match (typed.is_empty(), recent) {
            (true, Some(index)) => (0, index as u64),
            (true, None) => (0, kind),
            (false, recent) => (matched.score + if recent.is_some() { RECENT_BONUS } else { 0 }, kind),
        };
        order.push((two_part_key(signed_key(-i64::from(score)), rank), found.len() as u32));
        found.push(Some((entry, matched)));
    };
    for (index, command) in commands::all().enumerate() {
        if (command.is_possible)(state) {
            offer(PaletteTarget::Command(index), if command.is_view() { VIEW_RANK } else { COMMAND_RANK });
        }
    }
    if let Some(file) = state.file() {
        available_topics(state).into_iter().for_each(|topic| offer(PaletteTarget::Insight(topic), INSIGHT_RANK));
        if file.devices.len() > 1 {
            (0..file.devices.len()).for_each(|index| offer(PaletteTarget::Device(index), DEVICE_RANK));
        }
        let annotations = state.surroundings.marks.latest().map_or(0, |marks| marks.ranges.len());
        let annotations = if typed.is_empty() { annotations.min(MAX_ENTRIES) } else { annotations };
        (0..annotations).for_each(|index| offer(PaletteTarget::Annotation(index), ANNOTATION_RANK));
    }
    if state.snapshots.len() > 1 {
        (0..state.snapshots.len()).for_each(|index| offer(PaletteTarget::File(index), FILE_RANK));
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut best = None;
    for index in sorted_numbers(order) {
        let Some((mut entry, matched)) = found.get_mut(index as usize).and_then(Option::take) else { continue };
        // Drop scattered matches if another name matches contiguously.
        if !typed.is_empty() && matched.score * 2 < *best.get_or_insert(matched.score) {
            continue;
        }
        // List an annotation that occurs repeatedly only once.
        let is_known = entries.iter().any(|known| known.name == entry.name && known.kind == entry.kind);
        if entries.len() < MAX_ENTRIES && !is_known {
            entry.matched = (0..entry.name.chars().count()).filter(|index| matched.indices.contains(index)).collect();
            entries.push(entry);
        }
    }
    let note = match entries.len() {
        0 => ["Nothing matches “", typed, "”."].concat(),
        count => pluralize(count as u64, "result"),
    };
    let active = i64::from(state.palette.active_offset).rem_euclid(entries.len().max(1) as i64) as usize;
    PaletteView { entries, active, note }
}

/// Builds the entry for a target, without marking matched characters. `None` if the target no longer exists.
fn entry(state: &State, target: PaletteTarget) -> Option<Entry> {
    let (name, kind, keys) = match target {
        PaletteTarget::Command(index) => {
            let command = commands::all().nth(index)?;
            let kind = if command.is_view() { "View" } else { command.group };
            (command.title.to_owned(), kind, keys_text(command))
        }
        PaletteTarget::Insight(topic) => (topic.title().to_owned(), "Insight", Vec::new()),
        PaletteTarget::Device(index) => (device_name(state.device_at(index)?), "Device", Vec::new()),
        PaletteTarget::File(index) => (state.snapshots.get(index)?.name(), "File", Vec::new()),
        PaletteTarget::Annotation(index) => {
            let mark = state.surroundings.marks.latest()?.ranges.get(index)?;
            let kind = if mark.source == RangeSource::Annotation { "Annotation" } else { "Phase" };
            (mark.name.clone(), kind, Vec::new())
        }
    };
    Some(Entry { target, name, matched: Vec::new(), kind, keys })
}

/// Runs the picked entry. A command of a tab first shows the tab.
pub(crate) fn run_chosen(state: &mut State, out: &mut Outbox) {
    let Some(target) = state.palette.pending.take() else { return };
    match target {
        PaletteTarget::Command(index) => {
            let Some(command) = commands::all().nth(index) else { return };
            if let KeyScope::Tab(tab) = command.scope {
                // Row commands work in both lists, so the events list stays visible.
                let is_rows = command.scope == commands::rows::SCOPE && state.views.visible() == Some(Tab::Events);
                if !is_rows {
                    show_tab(state, tab, out);
                }
            }
            commands::run(state, command, out);
        }
        PaletteTarget::Insight(topic) => {
            show_tab(state, Tab::Insights, out);
            state.handle_action(FeatureAction::from(InsightsAction::TopicChosen(topic)), out);
        }
        PaletteTarget::Device(index) => show_device(&mut state.shared, index),
        PaletteTarget::File(index) => load(&mut state.shared, index, out),
        PaletteTarget::Annotation(index) => {
            if let Some(points) = slices::select_annotation(state, index) {
                slices::zoom_between(state, points);
            }
        }
    }
}
