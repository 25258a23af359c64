//! What of the state stands in a link: each key with how it is written and how it is read. Whatever a value is, reading it leaves a state
//! that a person could have made.

use super::points::{self, chosen, cursor, hexadecimal, marks, ruler};
use super::reading::{Reading, between, event, later_name, list, moment, name, told, two, word};
use super::values::*;
use super::window::{self, Window};
use crate::events::{self, EventsAction};
use crate::find::{self, Capitals, SameStack};
use crate::flame::Growth;
use crate::histograms::Measure;
use crate::lanes::Arrangement;
use crate::memory::{self, MemoryAction};
use crate::plots;
use crate::range::About;
use crate::shared::{BytesAxis, Shared};
use crate::views::{HEIGHTS, Panel, Tab, Views};
use crate::{table, tree};
use engine::protocol::{Grouping, Internal, Looks, Merge, Plot, Root, SegmentSort, Topic};
use picture::timeline::Axis;

/// A key.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// Whether a browser's "back" undoes a change of it.
    pub(super) is_step: bool,
    /// Its value; empty where it is as every page begins.
    pub(super) get: fn(&Shared) -> String,
    /// Sets what the value says, or what every page begins with: of an empty value, and of one that makes no sense.
    pub(super) set: fn(&mut Reading<'_>),
}

const fn step(name: &'static str, get: fn(&Shared) -> String, set: fn(&mut Reading<'_>)) -> Key {
    Key { name, is_step: true, get, set }
}

const fn kept(name: &'static str, get: fn(&Shared) -> String, set: fn(&mut Reading<'_>)) -> Key {
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
        |link| {
            let pool = link.take(pool_of(link.text));
            set_only(link.state, |only| only.pool = pool);
        },
    ),
    step(
        "stream",
        |state| told(state.looks.plot.only().stream),
        |link| {
            let stream = link.number();
            set_only(link.state, |only| only.stream = stream);
        },
    ),
    step(
        "segment",
        |state| state.looks.plot.only().address.map_or_else(String::new, hexadecimal),
        |link| {
            let address = link.hexadecimal();
            set_only(link.state, |only| only.address = address);
        },
    ),
    kept("lines", lines, set_lines),
    step(
        "stack",
        |state| state.looks.stacking.map_or("", Grouping::name).to_owned(),
        |link| {
            let stacking = link.take(Grouping::named(link.text));
            link.state.change_looks(Looks { stacking, ..link.state.looks });
        },
    ),
    step(
        "colour",
        |state| word(state.looks.colouring != Grouping::default(), state.looks.colouring.name()),
        |link| {
            let colouring = link.take(Grouping::named(link.text)).unwrap_or_default();
            link.state.change_looks(Looks { colouring, ..link.state.looks });
        },
    ),
    kept(
        "faded",
        |state| list(&mut state.around.faded.iter().map(u32::to_string)),
        |link| {
            link.state.around.faded.clear();
            link.each(&mut |state, entry| {
                state.around.faded.insert(entry.parse().ok()?);
                Some(())
            });
        },
    ),
    kept("x", |state| Window::now(state).map_or_else(String::new, Window::x), window::set_x),
    kept(
        "y",
        |state| Window::now(state).map_or_else(String::new, Window::y),
        |link| link.state.linked.window.get_or_insert_default().y = link.numbers(),
    ),
    kept("heights", window::lanes, window::set_lanes),
    kept(
        "fit",
        |state| word(state.bytes_axis == BytesAxis::FitsWindow, "bytes"),
        |link| {
            let fits = link.is_second(["free", "bytes"]);
            link.state.bytes_axis = if fits { BytesAxis::FitsWindow } else { BytesAxis::Free };
        },
    ),
    kept(
        "capacity",
        |state| told(state.tools.capacity),
        |link| {
            let bytes = link.text.parse().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
            link.state.tools.capacity = link.take(bytes);
        },
    ),
    kept("marks", marks, points::set_marks),
    kept(
        "at",
        |state| {
            let moment = state.pinned.moment;
            word(moment != state.peak_moment(), &event(moment))
        },
        |link| {
            link.state.pinned.extending = None;
            link.state.pin(moment(link.text).unwrap_or_else(|| link.state.peak_moment()));
            if moment(link.text).is_none() && !link.text.is_empty() {
                // What the field of the moment takes: `end`, `350ms`.
                link.state.type_moment(link.text);
                link.is_clear = link.state.pinned.wrong.is_none();
            }
        },
    ),
    step(
        "range",
        |state| between(state.pinned.range.map(|span| [event(span.from), event(span.to)])),
        |link| {
            let moments = super::reading::ends(link.text).and_then(|ends| two(ends.map(moment)));
            match link.take(moments) {
                Some([from, to]) => link.state.show_range(from, to),
                None => drop(link.state.end_range()),
            }
        },
    ),
    kept(
        "about",
        |state| word(state.pinned.range.is_some(), name(&ABOUT, state.pinned.about.place())),
        |link| {
            let about = link.place(&ABOUT).and_then(About::at).unwrap_or_default();
            link.state.choose_about(about);
        },
    ),
    kept("cursor", cursor, points::set_cursor),
    kept("ruler", ruler, points::set_ruler),
    step("select", |state| told(state.selection.as_ref().map(|details| details.allocation)), set_selection),
    step("chosen", chosen, points::set_chosen),
    kept(
        "same",
        |state| word(state.same_stack == SameStack::Blends, "blends"),
        |link| {
            let blends = link.is_second(["stands-out", "blends"]);
            link.state.same_stack = if blends { SameStack::Blends } else { SameStack::StandsOut };
        },
    ),
    kept(
        "capitals",
        |state| word(state.find.capitals == Capitals::Matter, "heeded"),
        |link| {
            let matter = link.is_second(["ignored", "heeded"]);
            link.state.find.capitals = if matter { Capitals::Matter } else { Capitals::Ignored };
        },
    ),
    kept("find", |state| state.find.text.clone(), |link| find::typed(link.state, link.text.to_owned())),
    step(
        "tab",
        |state| state.views.tab.name().to_owned(),
        |link| link.state.views.tab = link.take(Tab::named(link.text)).unwrap_or_default(),
    ),
    kept(
        "views",
        |state| match state.views.panel {
            Panel::Folded => "folded".to_owned(),
            Panel::Open => word(state.views.height != Views::default().height, &state.views.height.to_string()),
        },
        |link| {
            let is_folded = link.text == "folded";
            let height = if is_folded { None } else { link.number() };
            link.state.views.panel = if is_folded { Panel::Folded } else { Panel::Open };
            link.state.views.height = height.unwrap_or(Views::default().height).clamp(HEIGHTS[0], HEIGHTS[1]);
        },
    ),
    step(
        "topic",
        |state| word(state.why.topic != Topic::default(), state.why.topic.name()),
        |link| link.state.why.topic = link.take(Topic::named(link.text)).unwrap_or_default(),
    ),
    kept(
        "threshold",
        |state| of_sheets(state.why.thresholds()),
        |link| {
            let all = set_of_sheets(link);
            link.state.why.set_thresholds(all);
        },
    ),
    kept(
        "rows",
        |state| of_sheets(state.why.limits()),
        |link| {
            let all = set_of_sheets(link);
            link.state.why.set_limits(all);
        },
    ),
    kept(
        "root",
        |state| word(state.views.arrangement.root == Root::Innermost, "innermost"),
        |link| {
            let is_innermost = link.is_second(["outermost", "innermost"]);
            link.state.views.arrangement.root = if is_innermost { Root::Innermost } else { Root::Outermost };
        },
    ),
    kept(
        "merge",
        |state| later_name(&MERGES, state.views.arrangement.merge as usize),
        |link| {
            link.state.views.arrangement.merge = link.one_of(&MERGES, &[Merge::Line, Merge::Function, Merge::File]);
        },
    ),
    kept(
        "internal",
        |state| word(state.views.arrangement.internal == Internal::Shown, "shown"),
        |link| {
            let shown = link.is_second(["hidden", "shown"]);
            link.state.views.arrangement.internal = if shown { Internal::Shown } else { Internal::Hidden };
            // Nodes have other numbers in other arrangements, and what follows names nodes.
            tree::arrange(link.state);
        },
    ),
    step("node", |state| told(state.views.node), |link| link.state.views.node = link.number()),
    kept(
        "focus",
        |state| told(state.tree.place.focus),
        |link| {
            let node = link.number();
            link.state.tree.focus_on(node);
        },
    ),
    kept("folds", folds, set_folds),
    kept(
        "zoom",
        |state| told(state.flame_zoom()),
        |link| {
            let node = link.number().unwrap_or(0);
            link.state.zoom_flame(node);
        },
    ),
    kept(
        "flame",
        |state| word(state.flame.growth == Growth::Up, "up"),
        |link| link.state.flame.growth = if link.is_second(["down", "up"]) { Growth::Up } else { Growth::Down },
    ),
    kept("filter", |state| state.table.text.clone(), |link| table::typed(link.state, link.text.to_owned())),
    kept("sort", sort, set_sort),
    kept("sizes", |state| between(state.table.sizes), |link| link.state.table.sizes = link.numbers()),
    kept("lives", |state| between(state.table.lives), |link| link.state.table.lives = link.numbers()),
    kept(
        "bars",
        |state| word(state.table.measure == Measure::Count, "count"),
        |link| {
            let counts = link.is_second(["bytes", "count"]);
            link.state.table.measure = if counts { Measure::Count } else { Measure::Bytes };
        },
    ),
    kept("files", files, set_files),
    kept(
        "events",
        |state| state.events.text.clone(),
        |link| events::act(link.state, EventsAction::Typed(link.text.to_owned()), link.effects),
    ),
    kept(
        "actions",
        |state| word(state.events.actions() != 0, &hexadecimal(state.events.actions().into())),
        |link| {
            let actions = link.hexadecimal().and_then(|actions| u32::try_from(actions).ok());
            link.state.events.list_actions(actions.unwrap_or(0));
        },
    ),
    kept("mpool", |state| pool(state.memory.only), |link| link.state.memory.only.pool = link.take(pool_of(link.text))),
    kept("mstream", |state| told(state.memory.only.stream), |link| link.state.memory.only.stream = link.number()),
    kept(
        "segments",
        |state| later_name(&SEGMENTS, state.memory.sort as usize),
        |link| {
            link.state.memory.sort =
                link.one_of(&SEGMENTS, &[SegmentSort::Address, SegmentSort::Size, SegmentSort::Free]);
        },
    ),
    kept(
        "mzoom",
        |state| told(state.memory.zoom()),
        |link| {
            let zoom = link.number();
            link.state.memory.zoom_to(zoom);
        },
    ),
    kept(
        "request",
        |state| state.memory.text.clone(),
        |link| memory::act(link.state, MemoryAction::RequestTyped(link.text.to_owned()), link.effects),
    ),
];

const ABOUT: [&str; 5] = ["live", "born", "freed", "kept", "bytes"];
// What stands first is not written.
const MERGES: [&str; 3] = ["line", "function", "file"];
const SEGMENTS: [&str; 3] = ["address", "size", "free"];
/// A capacity above this is nobody's GPU: a PiB.
const MOST_BYTES: u64 = 1 << 50;
