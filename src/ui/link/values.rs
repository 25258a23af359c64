//! How the values of a link are written and read.

use crate::engine::protocol::{At, Fold, FoldState, Only, Plot, Reach, SortWay, TableColumn, TableSort};
use crate::timeline::{Axis, View};
use crate::ui::action::Effect;
use crate::ui::lanes::Arrangement;
use crate::ui::markers::{Marker, Markers};
use crate::ui::navigate::Plane;
use crate::ui::opening::show_device;
use crate::ui::plots::{self, PlotAction, curves::Line};
use crate::ui::pointing::select;
use crate::ui::state::{BytesAxis, State};
use crate::ui::table::Table;
use crate::ui::tools::Point;

/// Entries of a list that are read.
const MOST: usize = 200;
/// Digits behind the point of a place of the horizontal axis, at most.
const DIGITS: usize = 6;
/// Parts of a unit of the horizontal axis.
const PARTS: i64 = 1_000_000;

const COLUMNS: [&str; 10] = ["number", "size", "site", "address", "stream", "pool", "born", "age", "freed", "lifetime"];

/// A window, however large the canvas is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ui) struct Window {
    /// Its edges, in [`PARTS`] of the axis' unit; `None`: the whole axis.
    pub(super) x: Option<[i64; 2]>,
    /// Its edges in bytes of the picture's height; `None`: all of it.
    pub(super) y: Option<[u64; 2]>,
}

impl Window {
    /// The window that is shown, or will be.
    pub(super) fn now(state: &State) -> Option<Window> {
        if state.linked.window.is_some() {
            return state.linked.window;
        }
        let (view, plane) = (state.view?, state.plane()?);
        let whole = plane.whole(view);
        // As many digits as it takes to tell parts of a pixel, also of one that is far from the axis' beginning.
        let mut step = PARTS;
        while step > 1 && step as f64 / PARTS as f64 > view.x_per_px / 64.0 {
            step /= 10;
        }
        let place =
            |column: f64| ((view.x_from_column(column) * (PARTS / step) as f64).round() as i64).saturating_mul(step);
        let byte = |row: f64| view.bytes_from_row(row).max(0.0).round() as u64;
        // The whole, but for what rounding makes of it.
        let is_whole = |scale: f64, whole: f64| scale > whole * (1.0 - 1e-6);
        let follows = state.bytes_axis == BytesAxis::FitsWindow || is_whole(view.bytes_per_px, whole.bytes_per_px);
        Some(Window {
            x: (!is_whole(view.x_per_px, whole.x_per_px)).then(|| [place(0.0), place(view.width_px.into())]),
            y: (!follows).then(|| [byte(0.0), byte(view.height_px.into())]),
        })
    }

    /// The same on the canvas of `view`.
    pub(super) fn of(self, plane: Plane, view: View) -> View {
        let whole = plane.whole(view);
        let view = match self.x {
            Some([from, to]) if from < to => plane.over(view, [from, to].map(|place| place as f64 / PARTS as f64)),
            _ => View { x_per_px: whole.x_per_px, left_px: whole.left_px, ..view },
        };
        match self.y {
            Some([from, to]) if from < to => {
                let [from, to] = [from, to].map(|byte| byte as f64 / view.bytes_per_px);
                plane.rows(view, from - view.bottom_px as f64, to - from)
            }
            _ => plane.upright(view),
        }
    }

    pub(super) fn x(self) -> String {
        let place = |place: i64| {
            let sign = if place < 0 { "-" } else { "" };
            let (place, parts) = (place.unsigned_abs(), PARTS.unsigned_abs());
            let (whole, part) = ((place / parts).to_string(), format!(".{:0DIGITS$}", place % parts));
            [sign, &whole, part.trim_end_matches('0').trim_end_matches('.')].concat()
        };
        self.x.map_or_else(String::new, |x| x.map(place).join(".."))
    }

    pub(super) fn y(self) -> String {
        self.y.map_or_else(String::new, |y| y.map(|byte| byte.to_string()).join(".."))
    }
}

/// The word where something is so; nothing where it is not.
pub(super) fn word(is_so: bool, word: &str) -> String {
    if is_so { word.to_owned() } else { String::new() }
}

/// The number, where there is one.
pub(super) fn told<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

pub(super) fn name<'a>(names: &[&'a str], place: usize) -> &'a str {
    names.get(place).copied().unwrap_or_default()
}

pub(super) fn place(names: &[&str], name: &str) -> Option<usize> {
    names.iter().position(|of| *of == name)
}

pub(super) fn hexadecimal(number: u64) -> String {
    format!("{number:x}")
}

pub(super) fn list(all: impl Iterator<Item = impl ToString>) -> String {
    all.take(MOST).map(|one| one.to_string()).collect::<Vec<_>>().join(",")
}

pub(super) fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').take(MOST)
}

pub(super) fn ends(text: &str) -> Option<[&str; 2]> {
    text.split_once("..").map(|(from, to)| [from, to])
}

pub(super) fn two<T>([from, to]: [Option<T>; 2]) -> Option<[T; 2]> {
    Some([from?, to?])
}

/// Two numbers, the larger one last.
pub(super) fn numbers<T: std::str::FromStr + PartialOrd>(text: &str) -> Option<[T; 2]> {
    two(ends(text)?.map(|end| end.parse().ok())).filter(|[from, to]| from <= to)
}

/// A place of the axis in millionths: `-1.5` is −1500000. More digits are left out.
pub(super) fn millionths(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |text| (-1, text));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits: String = part.chars().chain(['0'; DIGITS]).take(DIGITS).collect();
    let (whole, part): (i64, i64) = (whole.parse().ok()?, digits.parse().ok()?);
    let place = whole.checked_mul(PARTS)?.checked_add(part)?;
    (whole >= 0 && part >= 0).then_some(place * sign)
}

/// A moment by the event before it: −1 is before the first.
pub(super) fn event(moment: u32) -> String {
    (i64::from(moment) - 1).to_string()
}

pub(super) fn moment(text: &str) -> Option<u32> {
    u32::try_from(text.parse::<i64>().ok()?.checked_add(1)?).ok()
}

pub(super) fn device(state: &State) -> String {
    let has_others = state.file().is_some_and(|file| file.devices.len() > 1);
    told(state.device().map(|device| device.device).filter(|_| has_others))
}

pub(super) fn set_device(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    let devices = state.file().map_or(&[][..], |file| &file.devices);
    let wanted = text.parse().ok();
    let place = devices.iter().position(|device| Some(device.device) == wanted);
    if let Some(place) = place.filter(|place| *place != state.device_place) {
        show_device(state, place);
    }
}

pub(super) fn set_lanes(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    let wanted = if text.is_empty() { Arrangement::Alone } else { Arrangement::Together };
    if wanted != state.lanes.arrangement && state.device_count() > 1 {
        state.toggle_lanes();
    }
}

pub(super) fn set_axis(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    let has_times = state.device().is_some_and(|device| device.time_us.is_some());
    let wanted = if text == "time" && has_times { Axis::Time } else { Axis::Events };
    if wanted != state.axis {
        (state.axis, state.view) = (wanted, None);
        state.tools.turning = None;
        state.drop_scenes();
        state.lanes.forget();
    }
}

pub(super) fn set_show(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    plots::act(state, PlotAction::Shown(place(&plots::NAMES, text).unwrap_or(0)));
}

pub(super) fn pool(only: Only) -> String {
    only.pool.map_or_else(String::new, |(first, second)| [first, second].map(|id| id.to_string()).join("."))
}

pub(super) fn pool_of(text: &str) -> Option<(u64, u64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

pub(super) fn set_only(state: &mut State, change: impl FnOnce(&mut Only)) {
    let mut only = state.looks.plot.only();
    change(&mut only);
    state.show_plot(plots::of(state.looks.plot, only));
}

/// The lines over what was reserved that are not shown.
pub(super) fn lines(state: &State) -> String {
    let is_off = |(_, line): &(usize, Line)| state.plots.off.contains(line);
    list((1..).zip(Line::ALL).filter(is_off).map(|(number, _)| number))
}

pub(super) fn set_lines(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    let off: Vec<usize> = entries(text).filter_map(|entry| entry.parse().ok()).collect();
    state.plots.off = (1..).zip(Line::ALL).filter(|(number, _)| off.contains(number)).map(|(_, line)| line).collect();
}

/// The markers of all devices, whose moments are known: device, event, byte of the height, the first letter of the plot.
pub(super) fn marks(state: &State) -> String {
    let mark = |marker: &Marker| {
        let kind = plots::name(marker.plot).get(..1)?;
        let (device, byte) = (marker.device.to_string(), marker.point.byte.to_string());
        Some([&device, ":", &event(marker.point.moment()?), ":", &byte, ":", kind].concat())
    };
    // One in a part of memory has no height anywhere else.
    let all = state.tools.markers.all.iter().filter(|marker| marker.plot.only() == Only::default());
    list(all.filter_map(mark))
}

pub(super) fn set_marks(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    state.tools.markers = Markers::default();
    for entry in entries(text) {
        let mut parts = entry.split(':');
        let mut part = || parts.next().unwrap_or_default();
        let (device, moment, byte, kind) = (part().parse().ok(), moment(part()), part().parse().ok(), part());
        let devices = state.file().map_or(&[][..], |file| &file.devices);
        let Some(device) = devices.iter().find(|of| Some(of.device) == device) else { continue };
        let last = u32::try_from(device.events).unwrap_or(u32::MAX);
        let (Some(moment), Some(byte)) = (moment.filter(|moment| *moment <= last), byte) else { continue };
        let plot = match kind {
            "a" => Plot::Addresses(Only::default()),
            "r" => Plot::Reserved(Only::default()),
            _ => Plot::Stack,
        };
        let device = device.device;
        if state.tools.markers.has_room() {
            state.tools.markers.put(device, Point::new(At::Moment(moment), byte), plot);
        }
    }
}

/// Selects without a move of the window: the link says where that is.
pub(super) fn set_selection(state: &mut State, text: &str, effects: &mut Vec<Effect>) {
    (state.selection, state.selecting) = (None, None);
    if let Ok(allocation) = text.parse() {
        select(state, allocation, effects);
        state.linked.quiet = state.selecting;
    }
}

/// What was opened (`o`) and closed (`c`) in the tree; in capitals, all below as well.
pub(super) fn folds(state: &State) -> String {
    let fold = |fold: &Fold| {
        let sign = match (fold.reach, fold.state) {
            (Reach::One, FoldState::Open) => "o",
            (Reach::One, _) => "c",
            (_, FoldState::Open) => "O",
            _ => "C",
        };
        [&fold.node.to_string(), sign].concat()
    };
    list(state.tree.place.folds.iter().map(fold))
}

pub(super) fn set_folds(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    state.tree.place.folds.clear();
    for entry in entries(text) {
        let (node, sign) = entry.split_at(entry.trim_end_matches(|letter: char| !letter.is_ascii_digit()).len());
        let (reach, fold) = match sign {
            "o" => (Reach::One, FoldState::Open),
            "c" => (Reach::One, FoldState::Closed),
            "O" => (Reach::AllBelow, FoldState::Open),
            "C" => (Reach::AllBelow, FoldState::Closed),
            _ => continue,
        };
        if let Ok(node) = node.parse() {
            state.tree.place.fold(node, reach, fold);
        }
    }
}

pub(super) fn sort(state: &State) -> String {
    let TableSort { column, way } = state.table.sort;
    let sign = if way == SortWay::Ascending { "+" } else { "-" };
    word(state.table.sort != Table::default().sort, &[name(&COLUMNS, column as usize), sign].concat())
}

pub(super) fn set_sort(state: &mut State, text: &str, _: &mut Vec<Effect>) {
    let way = if text.ends_with('+') { SortWay::Ascending } else { SortWay::Descending };
    let column = place(&COLUMNS, text.trim_end_matches(['+', '-'])).and_then(|at| TableColumn::ALL.get(at)).copied();
    state.table.sort = column.map_or(Table::default().sort, |column| TableSort { column, way });
}

/// A range of classes of a histogram.
pub(super) fn classes(classes: Option<[u8; 2]>) -> String {
    classes.map_or_else(String::new, |classes| classes.map(|class| class.to_string()).join(".."))
}
