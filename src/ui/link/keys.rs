//! The link keys of the shared state, each with its getter and setter. Any value that is read leaves a state that a
//! user could have reached.

use super::fragment::WITH;
use super::fragment::Window;
use super::points::{self, chosen, cursor, marks, ruler};
use super::reading::{
    Key, between, event, hexadecimal, kept, list, moment, name, optional, pool, pool_of, step, two, word,
};
use super::values::*;
use super::window;
use crate::comparing::ComparedAt;
use crate::find::{self, Capitals, SameStack};
use crate::lanes::LaneLayout;
use crate::load_range;
use crate::plots;
use crate::range::About;
use crate::shown::BytesAxis;
use crate::tab::Tab;
use crate::views::{HEIGHTS, Panel, Views};
use engine::protocol::{Align, Grouping, Looks, MatchKey, Plot};
use picture::timeline::Axis;

/// Keys of the shared state, in reading order. They are read before those of the features. Keys that reset others
/// come first.
pub(super) const KEYS: &[Key<()>] = &[
    // Applied when the file is opened.
    kept(
        load_range::KEY,
        |(), state| load_range::in_link(state.snapshots.get(state.chosen).and_then(|choice| choice.load)),
        |(), _, link| {
            let _ = link.take(load_range::read(link.text));
        },
    ),
    step("device", device, set_device),
    step(WITH, with, set_with),
    kept(
        "compare",
        |(), state| {
            let at = state.comparing.at;
            word(at != ComparedAt::default(), at.name())
        },
        |(), state, link| {
            let at = ComparedAt::ALL.into_iter().find(|at| at.name() == link.text);
            state.comparing.at = link.take(at).unwrap_or_default();
        },
    ),
    kept(
        "match",
        |(), state| state.comparing.key.map_or("", MatchKey::name).to_owned(),
        |(), state, link| {
            let key = MatchKey::ALL.into_iter().find(|key| key.name() == link.text);
            state.comparing.key = link.take(key);
        },
    ),
    kept(
        "align",
        |(), state| state.comparing.align.map_or("", Align::name).to_owned(),
        |(), state, link| {
            let align = Align::ALL.into_iter().find(|align| align.name() == link.text);
            state.comparing.align = link.take(align);
        },
    ),
    kept(
        "paths",
        |(), state| state.comparing.paths.clone(),
        |(), state, link| state.comparing.paths = link.text.to_owned(),
    ),
    kept(
        "overlay",
        |(), state| word(state.comparing.is_overlaid, "b"),
        |(), state, link| state.comparing.is_overlaid = link.is_second(["none", "b"]),
    ),
    step("lanes", |(), state| word(state.lanes.arrangement == LaneLayout::Together, "all"), set_lanes),
    step("axis", |(), state| word(state.axis == Axis::Time, "time"), set_axis),
    step("show", |(), state| word(state.looks.plot != Plot::Stack, plots::name(state.looks.plot)), set_show),
    step(
        "pool",
        |(), state| pool(state.looks.plot.only()),
        |(), state, link| {
            let pool = link.take(pool_of(link.text));
            set_only(state, |only| only.pool = pool);
        },
    ),
    step(
        "stream",
        |(), state| optional(state.looks.plot.only().stream),
        |(), state, link| {
            let stream = link.number();
            set_only(state, |only| only.stream = stream);
        },
    ),
    step(
        "segment",
        |(), state| state.looks.plot.only().address.map_or_else(String::new, hexadecimal),
        |(), state, link| {
            let address = link.hexadecimal();
            set_only(state, |only| only.address = address);
        },
    ),
    kept("lines", lines, set_lines),
    step(
        "stack",
        |(), state| state.looks.stacking.map_or("", Grouping::name).to_owned(),
        |(), state, link| {
            let stacking = link.take(Grouping::named(link.text));
            state.change_looks(Looks { stacking, ..state.looks });
        },
    ),
    step(
        "colour",
        |(), state| word(state.looks.colouring != Grouping::default(), state.looks.colouring.name()),
        |(), state, link| {
            let colouring = link.take(Grouping::named(link.text)).unwrap_or_default();
            state.change_looks(Looks { colouring, ..state.looks });
        },
    ),
    kept(
        "faded",
        |(), state| list(&mut state.around.faded.iter().map(u32::to_string)),
        |(), state, link| {
            state.around.faded.clear();
            link.each(&mut |entry| {
                state.around.faded.insert(entry.parse().ok()?);
                Some(())
            });
        },
    ),
    kept("x", |(), state| Window::now(state).map_or_else(String::new, Window::x), window::set_x),
    kept(
        "y",
        |(), state| Window::now(state).map_or_else(String::new, Window::y),
        |(), state, link| state.linked.window.get_or_insert_default().y = link.numbers(),
    ),
    kept("heights", window::lanes, window::set_lanes),
    kept(
        "fit",
        |(), state| word(state.bytes_axis == BytesAxis::FitsWindow, "bytes"),
        |(), state, link| {
            let fits = link.is_second(["free", "bytes"]);
            state.bytes_axis = if fits { BytesAxis::FitsWindow } else { BytesAxis::Free };
        },
    ),
    kept(
        "capacity",
        |(), state| optional(state.tools.capacity),
        |(), state, link| {
            let bytes = link.text.parse().ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
            state.tools.capacity = link.take(bytes);
        },
    ),
    kept("marks", marks, points::set_marks),
    kept(
        "at",
        |(), state| {
            let moment = state.pinned.moment;
            word(moment != state.peak_moment(), &event(moment))
        },
        |(), state, link| {
            state.pinned.extending = None;
            state.pin(moment(link.text).unwrap_or_else(|| state.peak_moment()));
            if moment(link.text).is_none() && !link.text.is_empty() {
                // The input field of the cursor also accepts `end` and `350ms`.
                state.type_moment(link.text);
                link.is_clear = state.pinned.wrong.is_none();
            }
        },
    ),
    step(
        "range",
        |(), state| between(state.pinned.range.map(|span| [event(span.from), event(span.to)])),
        |(), state, link| {
            let moments = super::reading::ends(link.text).and_then(|ends| two(ends.map(moment)));
            match link.take(moments) {
                Some([from, to]) => state.show_range(from, to),
                None => drop(state.end_range()),
            }
        },
    ),
    kept(
        "about",
        |(), state| {
            let about = state.pinned.about;
            word(state.pinned.range.is_some() || about == About::Ever, name(&ABOUT, about.place()))
        },
        |(), state, link| {
            let about = link.place(&ABOUT).and_then(About::at).unwrap_or_default();
            state.choose_about(about);
        },
    ),
    kept("cursor", cursor, points::set_cursor),
    kept("ruler", ruler, points::set_ruler),
    step("select", |(), state| optional(state.selection.as_ref().map(|details| details.allocation)), set_selection),
    step("chosen", chosen, points::set_chosen),
    kept(
        "same",
        |(), state| word(state.same_stack == SameStack::Blends, "blends"),
        |(), state, link| {
            let blends = link.is_second(["stands-out", "blends"]);
            state.same_stack = if blends { SameStack::Blends } else { SameStack::StandsOut };
        },
    ),
    kept(
        "capitals",
        |(), state| word(state.find.capitals == Capitals::Matter, "heeded"),
        |(), state, link| {
            let matter = link.is_second(["ignored", "heeded"]);
            state.find.capitals = if matter { Capitals::Matter } else { Capitals::Ignored };
        },
    ),
    kept("find", |(), state| state.find.text.clone(), |(), state, link| find::typed(state, link.text.to_owned())),
    step(
        "tab",
        |(), state| state.views.tab.name().to_owned(),
        |(), state, link| state.views.tab = link.take(Tab::named(link.text)).unwrap_or_default(),
    ),
    kept(
        "views",
        |(), state| match state.views.panel {
            Panel::Folded => "folded".to_owned(),
            Panel::Open => word(state.views.height != Views::default().height, &state.views.height.to_string()),
        },
        |(), state, link| {
            let is_folded = link.text == "folded";
            let height = if is_folded { None } else { link.number() };
            state.views.panel = if is_folded { Panel::Folded } else { Panel::Open };
            state.views.height = height.unwrap_or(Views::default().height).clamp(HEIGHTS[0], HEIGHTS[1]);
        },
    ),
];

const ABOUT: [&str; 7] = ["live", "born", "freed", "kept", "bytes", "change", "trace"];
/// Maximum capacity of a GPU that is accepted, in bytes: 1 PiB.
const MOST_BYTES: u64 = 1 << 50;
