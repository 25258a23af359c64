//! What of the state stands in a link: each key with how it is written and how it is read. Whatever a value is, reading it leaves a state
//! that a person could have made.

use super::values::*;
use crate::engine::protocol::{Grouping, Internal, Looks, Merge, Plot, Root, SegmentSort, Topic};
use crate::timeline::Axis;
use crate::ui::action::Effect;
use crate::ui::events::{self, EventsAction};
use crate::ui::find::{self, Capitals, SameStack};
use crate::ui::flame::Growth;
use crate::ui::histograms::Measure;
use crate::ui::lanes::Arrangement;
use crate::ui::memory::{self, MemoryAction};
use crate::ui::plots;
use crate::ui::range::About;
use crate::ui::state::{BytesAxis, State};
use crate::ui::views::{HEIGHTS, Panel, Tab, Views};
use crate::ui::{table, tree};

/// A key.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether a browser's "back" undoes a change of it.
    pub(super) is_step: bool,
    /// Its value; empty where it is as every page begins.
    pub(super) get: fn(&State) -> String,
    /// Sets what the value says, or what every page begins with: of an empty value, and of one that makes no sense.
    pub(super) set: fn(&mut State, &str, &mut Vec<Effect>),
}

const fn step(name: &'static str, get: fn(&State) -> String, set: fn(&mut State, &str, &mut Vec<Effect>)) -> Key {
    Key { name, is_step: true, get, set }
}

const fn kept(name: &'static str, get: fn(&State) -> String, set: fn(&mut State, &str, &mut Vec<Effect>)) -> Key {
    Key { name, is_step: false, get, set }
}

/// All keys. They are read in this order: what forgets others comes first.
pub(super) const KEYS: &[Key] = &[
    step("device", device, set_device),
    step("lanes", |state| word(state.lanes.arrangement == Arrangement::Together, "all"), set_lanes),
    step("axis", |state| word(state.axis == Axis::Time, "time"), set_axis),
    step("show", |state| word(state.looks.plot != Plot::Stack, plots::name(state.looks.plot)), set_show),
    step(
        "pool",
        |state| pool(state.looks.plot.only()),
        |state, text, _| {
            set_only(state, |only| only.pool = pool_of(text));
        },
    ),
    step(
        "stream",
        |state| told(state.looks.plot.only().stream),
        |state, text, _| {
            set_only(state, |only| only.stream = text.parse().ok());
        },
    ),
    step(
        "segment",
        |state| state.looks.plot.only().address.map_or_else(String::new, hexadecimal),
        |state, text, _| {
            set_only(state, |only| only.address = u64::from_str_radix(text, 16).ok());
        },
    ),
    kept("lines", lines, set_lines),
    step(
        "stack",
        |state| state.looks.stacking.map_or("", Grouping::name).to_owned(),
        |state, text, _| {
            state.change_looks(Looks { stacking: Grouping::named(text), ..state.looks });
        },
    ),
    step(
        "colour",
        |state| word(state.looks.colouring != Grouping::default(), state.looks.colouring.name()),
        |state, text, _| {
            state.change_looks(Looks { colouring: Grouping::named(text).unwrap_or_default(), ..state.looks });
        },
    ),
    kept(
        "faded",
        |state| list(state.around.faded.iter()),
        |state, text, _| {
            state.around.faded = entries(text).filter_map(|entry| entry.parse().ok()).collect();
        },
    ),
    kept(
        "x",
        |state| Window::now(state).map_or_else(String::new, Window::x),
        |state, text, _| {
            state.linked.window.get_or_insert_default().x = ends(text).and_then(|ends| two(ends.map(millionths)));
        },
    ),
    kept(
        "y",
        |state| Window::now(state).map_or_else(String::new, Window::y),
        |state, text, _| {
            state.linked.window.get_or_insert_default().y = numbers(text);
        },
    ),
    kept(
        "fit",
        |state| word(state.bytes_axis == BytesAxis::FitsWindow, "bytes"),
        |state, text, _| {
            state.bytes_axis = if text.is_empty() { BytesAxis::Free } else { BytesAxis::FitsWindow };
        },
    ),
    kept(
        "capacity",
        |state| told(state.tools.capacity),
        |state, text, _| {
            state.tools.capacity = text.parse().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
        },
    ),
    kept("marks", marks, set_marks),
    kept(
        "at",
        |state| {
            let moment = state.pinned.moment;
            word(moment != state.peak_moment(), &event(moment))
        },
        |state, text, _| {
            state.pinned.extending = None;
            state.pin(moment(text).unwrap_or_else(|| state.peak_moment()));
            if moment(text).is_none() && !text.is_empty() {
                // What the field of the moment takes: `end`, `350ms`.
                state.type_moment(text);
            }
        },
    ),
    step(
        "range",
        |state| state.pinned.range.map_or_else(String::new, |span| [&event(span.from), "..", &event(span.to)].concat()),
        |state, text, _| match ends(text).and_then(|ends| two(ends.map(moment))) {
            Some([from, to]) => state.show_range(from, to),
            None => drop(state.end_range()),
        },
    ),
    kept(
        "about",
        |state| word(state.pinned.range.is_some(), name(&ABOUT, state.pinned.about.place())),
        |state, text, _| {
            state.choose_about(place(&ABOUT, text).and_then(About::at).unwrap_or_default());
        },
    ),
    step("select", |state| told(state.selection.as_ref().map(|details| details.allocation)), set_selection),
    kept(
        "same",
        |state| word(state.same_stack == SameStack::Blends, "blends"),
        |state, text, _| {
            state.same_stack = if text == "blends" { SameStack::Blends } else { SameStack::StandsOut };
        },
    ),
    kept(
        "capitals",
        |state| word(state.find.capitals == Capitals::Matter, "heeded"),
        |state, text, _| {
            state.find.capitals = if text.is_empty() { Capitals::Ignored } else { Capitals::Matter };
        },
    ),
    kept("find", |state| state.find.text.clone(), |state, text, _| find::typed(state, text.to_owned())),
    step(
        "tab",
        |state| name(&TABS, state.views.tab as usize).to_owned(),
        |state, text, _| {
            state.views.tab = place(&TABS, text).and_then(|at| Tab::ALL.get(at)).copied().unwrap_or_default();
        },
    ),
    kept(
        "views",
        |state| match state.views.panel {
            Panel::Folded => "folded".to_owned(),
            Panel::Open => word(state.views.height != Views::default().height, &state.views.height.to_string()),
        },
        |state, text, _| {
            state.views.panel = if text == "folded" { Panel::Folded } else { Panel::Open };
            state.views.height = text.parse().unwrap_or(Views::default().height).clamp(HEIGHTS[0], HEIGHTS[1]);
        },
    ),
    step(
        "topic",
        |state| word(state.why.topic != Topic::default(), state.why.topic.name()),
        |state, text, _| {
            state.why.topic = Topic::named(text).unwrap_or_default();
        },
    ),
    kept(
        "root",
        |state| word(state.views.arrangement.root == Root::Innermost, "innermost"),
        |state, text, _| {
            state.views.arrangement.root = if text == "innermost" { Root::Innermost } else { Root::Outermost };
        },
    ),
    kept(
        "merge",
        |state| name(&MERGES, state.views.arrangement.merge as usize).to_owned(),
        |state, text, _| {
            let merges = [Merge::Line, Merge::Function, Merge::File];
            state.views.arrangement.merge =
                place(&MERGES, text).and_then(|at| merges.get(at)).copied().unwrap_or_default();
        },
    ),
    kept(
        "internal",
        |state| word(state.views.arrangement.internal == Internal::Shown, "shown"),
        |state, text, _| {
            state.views.arrangement.internal = if text == "shown" { Internal::Shown } else { Internal::Hidden };
            // Nodes have other numbers in other arrangements, and what follows names nodes.
            tree::arrange(state);
        },
    ),
    step("node", |state| told(state.views.node), |state, text, _| state.views.node = text.parse().ok()),
    kept("focus", |state| told(state.tree.place.focus), |state, text, _| state.tree.focus_on(text.parse().ok())),
    kept("folds", folds, set_folds),
    kept(
        "zoom",
        |state| told(state.flame_zoom()),
        |state, text, _| {
            state.zoom_flame(text.parse().unwrap_or(0));
        },
    ),
    kept(
        "flame",
        |state| word(state.flame.growth == Growth::Up, "up"),
        |state, text, _| {
            state.flame.growth = if text == "up" { Growth::Up } else { Growth::Down };
        },
    ),
    kept("filter", |state| state.table.text.clone(), |state, text, _| table::typed(state, text.to_owned())),
    kept("sort", sort, set_sort),
    kept("sizes", |state| classes(state.table.sizes), |state, text, _| state.table.sizes = numbers(text)),
    kept("lives", |state| classes(state.table.lives), |state, text, _| state.table.lives = numbers(text)),
    kept(
        "bars",
        |state| word(state.table.measure == Measure::Count, "count"),
        |state, text, _| {
            state.table.measure = if text == "count" { Measure::Count } else { Measure::Bytes };
        },
    ),
    kept(
        "events",
        |state| state.events.text.clone(),
        |state, text, effects| {
            events::act(state, EventsAction::Typed(text.to_owned()), effects);
        },
    ),
    kept(
        "actions",
        |state| word(state.events.actions() != 0, &hexadecimal(state.events.actions().into())),
        |state, text, _| {
            state.events.list_actions(u32::from_str_radix(text, 16).unwrap_or(0));
        },
    ),
    kept("mpool", |state| pool(state.memory.only), |state, text, _| state.memory.only.pool = pool_of(text)),
    kept(
        "mstream",
        |state| told(state.memory.only.stream),
        |state, text, _| {
            state.memory.only.stream = text.parse().ok();
        },
    ),
    kept(
        "segments",
        |state| name(&SEGMENTS, state.memory.sort as usize).to_owned(),
        |state, text, _| {
            let sorts = [SegmentSort::Address, SegmentSort::Size, SegmentSort::Free];
            state.memory.sort = place(&SEGMENTS, text).and_then(|at| sorts.get(at)).copied().unwrap_or_default();
        },
    ),
    kept(
        "request",
        |state| state.memory.text.clone(),
        |state, text, effects| {
            memory::act(state, MemoryAction::RequestTyped(text.to_owned()), effects);
        },
    ),
];

const TABS: [&str; 8] = ["why", "tree", "flame", "table", "sizes", "source", "memory", "events"];
const ABOUT: [&str; 5] = ["live", "born", "freed", "kept", "bytes"];
// What stands first is not written.
const MERGES: [&str; 3] = ["", "function", "file"];
const SEGMENTS: [&str; 3] = ["", "size", "free"];
/// A capacity above this is nobody's GPU: a PiB.
const MOST_BYTES: u64 = 1 << 50;
