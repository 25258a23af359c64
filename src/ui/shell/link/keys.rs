//! The link keys of the shared state, each with its getter and setter. A setter only produces states that a user could
//! have reached.

use crate::plot::{axis_switch, plots};
use crate::scope::{cursor, find, range};
use crate::shell::link::points;
use crate::shell::link::points::{chosen, crosshair, marks, ruler};
use crate::shell::link::values::*;
use crate::shell::link::window;
use crate::state::compared_at::ComparedAt;
use crate::state::drawing::BytesAxis;
use crate::state::find::{MatchCase, SameStack};
use crate::state::lanes::LaneLayout;
use crate::state::link::{COMPARE_WITH, LinkWindow};
use crate::state::link_value::{
    PageKey, both, format_list, format_moment, format_optional, format_pool, format_range, hexadecimal, history_key,
    parse_moment, parse_pool, view_key, word_if,
};
use crate::state::range::RangeScope;
use crate::state::views::{HEIGHT_RANGE, PanelState, Views};
use crate::text::load_range;
use crate::text::tab::Tab;
use picture::timeline::Axis;
use protocol::{Align, Grouping, MatchKey, Plot};

/// Link keys of the shared state. They are applied in this order, before the keys of the features. A key that resets
/// other state comes before the keys of that state.
pub(super) const KEYS: &[PageKey] = &[
    // Applied when the file is opened.
    view_key(
        load_range::LINK_KEY,
        |state| load_range::link_value(state.snapshots.get(state.snapshot_index).and_then(|choice| choice.load)),
        |_, link| {
            let _ = link.check(load_range::parse(link.text));
        },
    ),
    history_key("device", device, set_device),
    history_key(COMPARE_WITH, compared_file, set_compared_file),
    view_key(
        "compare",
        |state| {
            let at = state.comparing.at;
            word_if(at != ComparedAt::default(), at.name())
        },
        |state, link| {
            let at = ComparedAt::from_name(link.text);
            state.comparing.at = link.check(at).unwrap_or_default();
        },
    ),
    view_key(
        "match",
        |state| state.comparing.key.map_or("", MatchKey::name).to_owned(),
        |state, link| {
            let key = MatchKey::from_name(link.text);
            state.comparing.key = link.check(key);
        },
    ),
    view_key(
        "align",
        |state| state.comparing.align.map_or("", Align::name).to_owned(),
        |state, link| {
            let align = Align::from_name(link.text);
            state.comparing.align = link.check(align);
        },
    ),
    view_key(
        "paths",
        |state| state.comparing.paths.clone(),
        |state, link| state.comparing.paths = link.text.to_owned(),
    ),
    view_key(
        "overlay",
        |state| word_if(state.comparing.is_overlaid, "b"),
        |state, link| state.comparing.is_overlaid = link.is_second_word(["none", "b"]),
    ),
    history_key("lanes", |state| word_if(state.lanes.layout == LaneLayout::All, "all"), set_lanes),
    history_key("axis", |state| word_if(state.axis == Axis::Time, "time"), set_axis),
    history_key(
        "show",
        |state| word_if(state.plot_settings.plot != Plot::Stack, plots::name(state.plot_settings.plot)),
        set_plot,
    ),
    history_key(
        "pool",
        |state| format_pool(state.plot_settings.plot.filter()),
        |state, link| {
            let pool = link.check(parse_pool(link.text));
            set_filter(state, |only| only.pool = pool);
        },
    ),
    history_key(
        "stream",
        |state| format_optional(state.plot_settings.plot.filter().stream),
        |state, link| {
            let stream = link.number();
            set_filter(state, |only| only.stream = stream);
        },
    ),
    history_key(
        "segment",
        |state| state.plot_settings.plot.filter().address.map_or_else(String::new, hexadecimal),
        |state, link| {
            let address = link.hex_number();
            set_filter(state, |only| only.address = address);
        },
    ),
    view_key("lines", hidden_curves, set_hidden_curves),
    history_key(
        "stack",
        |state| state.plot_settings.stacking.map_or("", Grouping::name).to_owned(),
        |state, link| {
            let stacking = link.check(Grouping::from_name(link.text));
            axis_switch::stack_by(state, stacking);
        },
    ),
    history_key(
        "colour",
        |state| word_if(state.plot_settings.colouring != Grouping::default(), state.plot_settings.colouring.name()),
        |state, link| {
            let colouring = link.check(Grouping::from_name(link.text)).unwrap_or_default();
            axis_switch::colour_by(state, colouring);
        },
    ),
    view_key(
        "faded",
        |state| format_list(&mut state.surroundings.faded.iter().map(u32::to_string)),
        |state, link| {
            state.surroundings.faded.clear();
            link.for_each_entry(&mut |entry| {
                state.surroundings.faded.insert(entry.parse().ok()?);
                Some(())
            });
        },
    ),
    view_key("x", |state| LinkWindow::current(state).map_or_else(String::new, LinkWindow::x), window::set_x),
    view_key(
        "y",
        |state| LinkWindow::current(state).map_or_else(String::new, LinkWindow::y),
        |state, link| state.linked.pending_window.get_or_insert_default().y = link.range(),
    ),
    view_key("heights", window::lane_heights, window::set_lane_heights),
    view_key(
        "fit",
        |state| word_if(state.bytes_axis == BytesAxis::FitsWindow, "bytes"),
        |state, link| {
            let fits = link.is_second_word(["free", "bytes"]);
            state.bytes_axis = if fits { BytesAxis::FitsWindow } else { BytesAxis::Free };
        },
    ),
    view_key(
        "capacity",
        |state| format_optional(state.tools.capacity),
        |state, link| {
            let bytes = link.text.parse().ok().filter(|bytes| (1..=MAX_CAPACITY).contains(bytes));
            state.tools.capacity = link.check(bytes);
        },
    ),
    view_key("marks", marks, points::set_marks),
    view_key(
        "at",
        |state| {
            let moment = state.cursor.moment;
            word_if(moment != state.peak_moment(), &format_moment(moment))
        },
        |state, link| {
            state.cursor.extended_from = None;
            cursor::set_cursor(state, parse_moment(link.text).unwrap_or_else(|| state.peak_moment()));
            if parse_moment(link.text).is_none() && !link.text.is_empty() {
                // The input field of the cursor also accepts `end` and `350ms`.
                cursor::on_position_typed(state, link.text);
                link.is_understood = state.cursor.error.is_none();
            }
        },
    ),
    history_key(
        "range",
        |state| format_range(state.cursor.range.map(|span| [format_moment(span.from), format_moment(span.to)])),
        |state, link| {
            let moments =
                crate::state::link_value::split_range(link.text).and_then(|ends| both(ends.map(parse_moment)));
            match link.check(moments) {
                Some([from, to]) => cursor::set_fixed_range(state, from, to),
                None => drop(cursor::end_range(state)),
            }
        },
    ),
    view_key(
        "about",
        |state| {
            let about = state.cursor.range_scope;
            word_if(state.cursor.range.is_some() || about == RangeScope::WholeTrace, about.name())
        },
        |state, link| {
            let about = link.check(RangeScope::from_name(link.text)).unwrap_or_default();
            range::set_range_scope(state, about);
        },
    ),
    view_key("cursor", crosshair, points::set_crosshair),
    view_key("ruler", ruler, points::set_ruler),
    history_key(
        "select",
        |state| format_optional(state.selection.as_ref().map(|details| details.allocation)),
        set_selection,
    ),
    history_key("chosen", chosen, points::set_chosen),
    view_key(
        "same",
        |state| word_if(state.same_stack == SameStack::Plain, "blends"),
        |state, link| {
            let blends = link.is_second_word(["stands-out", "blends"]);
            state.same_stack = if blends { SameStack::Plain } else { SameStack::Highlighted };
        },
    ),
    view_key(
        "capitals",
        |state| word_if(state.find.match_case == MatchCase::On, "heeded"),
        |state, link| {
            let matter = link.is_second_word(["ignored", "heeded"]);
            state.find.match_case = if matter { MatchCase::On } else { MatchCase::Off };
        },
    ),
    view_key("find", |state| state.find.text.clone(), |state, link| find::set_text(state, link.text.to_owned())),
    history_key(
        "tab",
        |state| state.views.tab.name().to_owned(),
        |state, link| state.views.tab = link.check(Tab::from_name(link.text)).unwrap_or_default(),
    ),
    view_key(
        "views",
        |state| match state.views.panel {
            PanelState::Collapsed => "folded".to_owned(),
            PanelState::Open => word_if(state.views.height != Views::default().height, &state.views.height.to_string()),
        },
        |state, link| {
            let is_folded = link.text == "folded";
            let height = if is_folded { None } else { link.number() };
            state.views.panel = if is_folded { PanelState::Collapsed } else { PanelState::Open };
            state.views.height = height.unwrap_or(Views::default().height).clamp(HEIGHT_RANGE[0], HEIGHT_RANGE[1]);
        },
    ),
];

/// Maximum device capacity that is accepted, in bytes: 1 PiB.
const MAX_CAPACITY: u64 = 1 << 50;
