//! Entries of the command palette, best match first, and running the chosen entry.

use super::action::Command;
use super::binding::Scope;
use super::choosing;
use super::commands::command;
use super::effect::Effect;
use super::features::{FeatureAction, State};
use super::fuzzy::{self, Match};
use super::help::{heading, keys_text};
use super::keys::BINDINGS;
use super::opening::{load, show_device};
use super::palette::Target;
use super::stage::Stage;
use super::summary::device_name;
use super::tab::Tab;
use super::why::WhyAction;
use base::sorted::{ascending, pair, sorted_numbers};
use base::units::counted;
use engine::protocol::Topic;

/// Maximum number of listed entries.
const MOST: usize = 100;
/// Ranks of the kinds of entries among equally good matches. Recently used entries rank before all of them.
const VIEW: u64 = 100;
const INSIGHT: u64 = 101;
const DEVICE: u64 = 102;
const FILE: u64 = 103;
const COMMAND: u64 = 104;
const ANNOTATION: u64 = 105;
/// Bonus on the match score of a recently used entry.
const RECENT: i32 = 4 * fuzzy::SCALE;

/// A line of the command palette.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    pub target: Target,
    pub name: String,
    /// Character indices of the name that match the typed text, ascending.
    pub marks: Vec<usize>,
    /// Label of the entry's kind: "View", "Device", or the heading of a group of commands.
    pub kind: &'static str,
    /// Keyboard shortcuts.
    pub keys: Vec<String>,
}

/// Contents of the command palette.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct PaletteView {
    /// Sorted, best match first.
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
    let mut offer = |target: Target, kind: u64| {
        let Some(entry) = entry(state, target) else { return };
        // The kind can be typed as well: `flame zoom`. If the name alone matches, it is shorter and therefore scores
        // higher.
        let text = [&entry.name, " ", entry.kind].concat();
        let matches = [fuzzy::matched(typed, &entry.name), fuzzy::matched(typed, &text)];
        let Some(matched) = matches.into_iter().flatten().max_by_key(|matched| matched.score) else { return };
        let recent = state.palette.recent.iter().position(|recent| *recent == target);
        let (score, rank) = match (typed.is_empty(), recent) {
            (true, Some(place)) => (0, place as u64),
            (true, None) => (0, kind),
            (false, recent) => (matched.score + if recent.is_some() { RECENT } else { 0 }, kind),
        };
        order.push((pair(ascending(-i64::from(score)), rank), found.len() as u32));
        found.push(Some((entry, matched)));
    };
    for (place, binding) in BINDINGS.iter().enumerate() {
        if is_possible(state, binding.command) {
            offer(Target::Command(place), if is_view(binding.command) { VIEW } else { COMMAND });
        }
    }
    if let Some(file) = state.file() {
        Topic::ALL.into_iter().for_each(|topic| offer(Target::Insight(topic), INSIGHT));
        if file.devices.len() > 1 {
            (0..file.devices.len()).for_each(|place| offer(Target::Device(place), DEVICE));
        }
        let annotations = state.around.marks.latest().map_or(0, |marks| marks.ranges.len());
        let annotations = if typed.is_empty() { annotations.min(MOST) } else { annotations };
        (0..annotations).for_each(|place| offer(Target::Annotation(place), ANNOTATION));
    }
    if state.snapshots.len() > 1 {
        (0..state.snapshots.len()).for_each(|place| offer(Target::File(place), FILE));
    }
    let mut entries: Vec<Entry> = Vec::new();
    let mut best = None;
    for place in sorted_numbers(order) {
        let Some((mut entry, matched)) = found.get_mut(place as usize).and_then(Option::take) else { continue };
        // Drop scattered matches if another name matches contiguously.
        if !typed.is_empty() && matched.score * 2 < *best.get_or_insert(matched.score) {
            continue;
        }
        // List an annotation that occurs repeatedly only once.
        let is_known = entries.iter().any(|known| known.name == entry.name && known.kind == entry.kind);
        if entries.len() < MOST && !is_known {
            entry.marks = (0..entry.name.chars().count()).filter(|place| matched.places.contains(place)).collect();
            entries.push(entry);
        }
    }
    let note = match entries.len() {
        0 => ["Nothing matches “", typed, "”."].concat(),
        count => counted(count as u64, "result"),
    };
    let active = i64::from(state.palette.moved).rem_euclid(entries.len().max(1) as i64) as usize;
    PaletteView { entries, active, note }
}

fn is_view(command: Command) -> bool {
    matches!(command, Command::Show(_))
}

/// Returns true if a command has an effect now. Most commands need an open file.
fn is_possible(state: &State, command: Command) -> bool {
    use Command::*;
    match command {
        Feature(super::FeatureCommand::Palette(_)) => false,
        CancelLoading => matches!(state.stage, Stage::Choosing(_) | Stage::Loading(_)),
        OpenAll => matches!(state.stage, Stage::Choosing(_)) || choosing::loaded(state).is_some(),
        ChooseEvents => matches!(state.stage, Stage::Loading(_) | Stage::Ready(_)),
        OpenFile | OpenSample(_) | ToggleHelp | ToggleLetters | ToggleRules | ToggleSettings | ChooseTheme(_) => true,
        CopySnippet => matches!(state.stage, Stage::Empty | Stage::Failed(_)),
        NextDevice | PreviousDevice | ToggleLanes => state.file().is_some_and(|file| file.devices.len() > 1),
        _ => state.file().is_some(),
    }
}

/// Builds the entry for a target, without highlighted characters. `None` if the target no longer exists.
fn entry(state: &State, target: Target) -> Option<Entry> {
    let (name, kind, keys) = match target {
        Target::Command(place) => {
            let binding = BINDINGS.get(place)?;
            let kind = if is_view(binding.command) { "View" } else { heading(binding) };
            (binding.label.to_owned(), kind, keys_text(binding))
        }
        Target::Insight(topic) => (topic.title().to_owned(), "Insight", Vec::new()),
        Target::Device(place) => (device_name(state.device_at(place)?.device), "Device", Vec::new()),
        Target::File(place) => (state.snapshots.get(place)?.name(), "File", Vec::new()),
        Target::Annotation(place) => {
            (state.around.marks.latest()?.ranges.get(place)?.name.clone(), "Annotation", Vec::new())
        }
    };
    Some(Entry { target, name, marks: Vec::new(), kind, keys })
}

/// Runs the chosen entry as if its key had been pressed in the right view, or its control clicked.
pub(super) fn carry_out(state: &mut State, now_ms: f64, effects: &mut Vec<Effect>) {
    let Some(target) = state.palette.picked.take() else { return };
    match target {
        Target::Command(place) => {
            let Some(binding) = BINDINGS.get(place) else { return };
            if let Scope::Tab(tab) = binding.scope {
                // Row commands work in both lists, so the events list stays visible.
                let is_rows = matches!(binding.command, Command::Rows(_)) && state.views.seen() == Some(Tab::Events);
                if !is_rows {
                    show(state, tab, effects);
                }
            }
            command(state, binding.command, now_ms, effects);
        }
        Target::Insight(topic) => {
            show(state, Tab::Why, effects);
            state.act(FeatureAction::from(WhyAction::TopicChosen(topic)), effects);
        }
        Target::Device(place) => show_device(&mut state.shared, place),
        Target::File(place) => load(&mut state.shared, place, now_ms, effects),
        Target::Annotation(place) => {
            if let Some(points) = state.select_annotation(place) {
                state.zoom_between(points);
            }
        }
    }
}

fn show(state: &mut State, tab: Tab, effects: &mut Vec<Effect>) {
    state.views.show(tab);
    effects.push(Effect::FocusView);
}
