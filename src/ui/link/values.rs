//! How the values of a link are written and read that are more than a word or a number.

use super::LONGEST_VALUE;
use super::reading::{MOST, Reading, list, name, told, word};
use crate::lanes::Arrangement;
use crate::opening::show_device;
use crate::plots::{self, PlotAction, curves::Line};
use crate::pointing::select;
use crate::shared::Shared;
use crate::table::Table;
use crate::url::percent_decoded;
use engine::protocol::{Fold, FoldState, Only, Reach, SortWay, TableColumn, TableSort, Topic};
use picture::timeline::Axis;

const COLUMNS: [&str; 10] = ["number", "size", "site", "address", "stream", "pool", "born", "age", "freed", "lifetime"];
/// Letters of the key of a threshold or a sheet.
const LONGEST_KEY: usize = 32;

pub(super) fn device(state: &Shared) -> String {
    let has_others = state.file().is_some_and(|file| file.devices.len() > 1);
    told(state.device().map(|device| device.device).filter(|_| has_others))
}

pub(super) fn set_device(link: &mut Reading<'_>) {
    let devices = link.state.file().map_or(&[][..], |file| &file.devices);
    let wanted = link.text.parse().ok();
    let place = devices.iter().position(|device| Some(device.device) == wanted);
    if let Some(place) = link.take(place).filter(|place| *place != link.state.device_place) {
        show_device(link.state, place);
    }
}

pub(super) fn set_lanes(link: &mut Reading<'_>) {
    let wanted = if link.is_second(["one", "all"]) { Arrangement::Together } else { Arrangement::Alone };
    if wanted != link.state.lanes.arrangement && link.state.device_count() > 1 {
        link.state.toggle_lanes();
    }
}

pub(super) fn set_axis(link: &mut Reading<'_>) {
    let is_time = link.is_second(["events", "time"]);
    let state = &mut *link.state;
    let has_times = state.device().is_some_and(|device| device.time_us.is_some());
    let wanted = if is_time && has_times { Axis::Time } else { Axis::Events };
    if wanted != state.axis {
        (state.axis, state.view) = (wanted, None);
        state.tools.turning = None;
        state.drop_scenes();
        state.lanes.forget();
    }
}

pub(super) fn set_show(link: &mut Reading<'_>) {
    let place = link.place(&plots::NAMES).unwrap_or(0);
    plots::act(link.state, PlotAction::Shown(place));
}

pub(super) fn pool(only: Only) -> String {
    only.pool.map_or_else(String::new, |(first, second)| [first, second].map(|id| id.to_string()).join("."))
}

pub(super) fn pool_of(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

pub(super) fn set_only(state: &mut Shared, change: impl FnOnce(&mut Only)) {
    let mut only = state.looks.plot.only();
    change(&mut only);
    state.show_plot(plots::of(state.looks.plot, only));
}

/// The lines over what was reserved that are not shown.
pub(super) fn lines(state: &Shared) -> String {
    let is_off = |(_, line): &(usize, Line)| state.plots.off.contains(line);
    list(&mut (1..).zip(Line::ALL).filter(is_off).map(|(number, _)| number.to_string()))
}

pub(super) fn set_lines(link: &mut Reading<'_>) {
    link.state.plots.off.clear();
    link.each(&mut |state, entry| {
        let line = entry.parse::<usize>().ok()?.checked_sub(1).and_then(|place| Line::ALL.get(place))?;
        if !state.plots.off.contains(line) {
            state.plots.off.push(*line);
        }
        Some(())
    });
}

/// Selects without a move of the window: the link says where that is.
pub(super) fn set_selection(link: &mut Reading<'_>) {
    (link.state.selection, link.state.selecting) = (None, None);
    if let Some(allocation) = link.number() {
        select(link.state, allocation, link.effects);
        link.state.linked.quiet = link.state.selecting;
    }
}

/// What was opened (`o`) and closed (`c`) in the tree; in capitals, all below as well.
pub(super) fn folds(state: &Shared) -> String {
    let fold = |fold: &Fold| {
        let sign = match (fold.reach, fold.state) {
            (Reach::One, FoldState::Open) => "o",
            (Reach::One, _) => "c",
            (_, FoldState::Open) => "O",
            _ => "C",
        };
        [&fold.node.to_string(), sign].concat()
    };
    list(&mut state.tree.place.folds.iter().map(fold))
}

pub(super) fn set_folds(link: &mut Reading<'_>) {
    link.state.tree.place.folds.clear();
    link.each(&mut |state, entry| {
        let (node, sign) = entry.split_at(entry.trim_end_matches(|letter: char| !letter.is_ascii_digit()).len());
        let (reach, fold) = match sign {
            "o" => (Reach::One, FoldState::Open),
            "c" => (Reach::One, FoldState::Closed),
            "O" => (Reach::AllBelow, FoldState::Open),
            "C" => (Reach::AllBelow, FoldState::Closed),
            _ => return None,
        };
        state.tree.place.fold(node.parse().ok()?, reach, fold);
        Some(())
    });
}

pub(super) fn sort(state: &Shared) -> String {
    let TableSort { column, way } = state.table.sort;
    let sign = if way == SortWay::Ascending { "+" } else { "-" };
    word(state.table.sort != Table::default().sort, &[name(&COLUMNS, column as usize), sign].concat())
}

pub(super) fn set_sort(link: &mut Reading<'_>) {
    let way = if link.text.ends_with('+') { SortWay::Ascending } else { SortWay::Descending };
    let column = link.text.trim_end_matches(['+', '-']);
    let column = COLUMNS.iter().position(|name| *name == column).and_then(|at| TableColumn::ALL.get(at)).copied();
    let sort = link.take(column).map(|column| TableSort { column, way });
    link.state.table.sort = sort.unwrap_or(Table::default().sort);
}

/// What a person has set of the sheets of a report: topic, the key of the threshold or the sheet, a number.
pub(super) fn of_sheets(all: &[(Topic, String, u64)]) -> String {
    list(&mut all.iter().map(|(topic, key, value)| [topic.name(), ":", key, ":", &value.to_string()].concat()))
}

/// The same of one; keys are words of the engine's.
pub(super) fn set_of_sheets(link: &mut Reading<'_>) -> Vec<(Topic, String, u64)> {
    let mut all = Vec::new();
    link.each(&mut |_, entry| of_sheet(entry).map(|one| all.push(one)));
    all
}

fn of_sheet(entry: &str) -> Option<(Topic, String, u64)> {
    let mut parts = entry.splitn(3, ':');
    let (topic, key, value) = (Topic::named(parts.next()?)?, parts.next()?, parts.next()?.parse().ok()?);
    let is_key = |key: &str| {
        !key.is_empty() && key.len() <= LONGEST_KEY && key.bytes().all(|it| it == b'_' || it.is_ascii_alphanumeric())
    };
    is_key(key).then(|| (topic, key.to_owned(), value))
}

/// The files of the view "Source" whose lines are seen, as many of them as there is room for; a comma where it is none.
pub(super) fn files(state: &Shared) -> String {
    let Some(open) = state.sources.opened() else { return String::new() };
    let mut text = String::new();
    for path in open.iter().take(MOST) {
        // Commas are between them.
        let entry = path.replace('%', "%25").replace(',', "%2C");
        if text.len() + entry.len() < LONGEST_VALUE {
            text.extend([if text.is_empty() { "" } else { "," }, &entry]);
        }
    }
    if text.is_empty() { ",".to_owned() } else { text }
}

pub(super) fn set_files(link: &mut Reading<'_>) {
    let mut open = Vec::new();
    link.each(&mut |_, entry| {
        if !entry.is_empty() {
            open.push(percent_decoded(entry));
        }
        Some(())
    });
    link.state.sources.open_all(Some(open).filter(|_| !link.text.is_empty()));
}
