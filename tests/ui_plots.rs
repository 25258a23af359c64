//! The Live, Reserved and Addresses views of the timeline without a browser: windows, axis, hover, selection, filters,
//! lines and export.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::plot_page::*;
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{Details, Grouping, Highlight, HitMemory, MemoryFilter, PEAK_PAUSED, Plot, SAMPLED_PEAKS};
use memscape::shapes::{Band, Shape};
use memscape::ui::plot::hover::card;
use memscape::ui::plot::plots::segment;
use memscape::ui::plot::plots::view::pickers;
use memscape::ui::plot::{legend, plots, ruler, surroundings};
use memscape::ui::session::notices;
use memscape::ui::shell::{action::Action, commands};
use memscape::ui::state::drawing::BytesAxis;
use memscape::ui::state::effect::{Effect, Pointer};
use memscape::ui::state::line::Line;
use memscape::ui::state::picture_file::Format;
use memscape::ui::state::plots::PlotAction;

#[test]
fn plot_height_fits_its_content() {
    let mut page = Page::open();
    let stack = page.height();
    assert_eq!(stack.round() as u64, 40 * MIB, "height includes the reserved curve");
    for (at, height) in [(1, 65 * MIB), (2, 40 * MIB)] {
        page.act(Action::Plot(PlotAction::KindChosen(at)));
        page.settle();
        assert_eq!(page.height().round() as u64, height);
        assert_eq!(page.state.drawn_settings().plot, [Plot::Stack, ADDRESSES, RESERVED][at]);
    }
    page.press(commands::NEXT_PLOT);
    assert_eq!(page.state.plot_settings.plot, Plot::Stack, "wraps to the first plot");
}

#[test]
fn scene_is_requested_only_after_the_map() {
    let mut page = Page::open();
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    let scenes =
        |request: &Request| matches!(request, Request::Ask(Ask { question: Question::Scene { .. }, .. })).then_some(());
    assert_eq!(page.take_request(scenes), None);
    assert_eq!(
        page.take_request(
            |request| matches!(request, Request::Ask(Ask { question: Question::Map(_), .. })).then_some(())
        ),
        Some(())
    );
}

#[test]
fn switching_plots_keeps_event_range_and_restores_vertical_zoom() {
    let mut page = Page::open();
    page.press(commands::ZOOM_EVENTS_IN);
    page.press(commands::ZOOM_BYTES_IN);
    page.press(commands::MOVE_UP);
    page.settle();
    let before = page.view();
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    page.settle();
    let there = page.view();
    assert_eq!((there.left_px, there.x_per_px), (before.left_px, before.x_per_px), "the event range stays");
    assert_eq!(page.height().round() as u64, 65 * MIB, "the full height");
    page.press(commands::ZOOM_BYTES_IN);
    page.press(commands::MOVE_RIGHT);
    page.settle();
    let zoomed = page.view();
    page.act(Action::Plot(PlotAction::KindChosen(0)));
    page.settle();
    let back = page.view();
    assert_eq!((back.bytes_per_px, back.bottom_px), (before.bytes_per_px, before.bottom_px));
    assert_eq!(back.left_px, zoomed.left_px, "event range of the other plot");
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    assert_eq!((page.view().bytes_per_px, page.view().bottom_px), (zoomed.bytes_per_px, zoomed.bottom_px));
}

#[test]
fn undo_restores_plot_of_each_window() {
    let mut page = Page::open();
    let stack = page.view();
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    page.settle();
    page.press(commands::ZOOM_BYTES_IN);
    page.press(commands::UNDO_VIEW);
    assert_eq!(page.state.plot_settings.plot, ADDRESSES);
    page.press(commands::UNDO_VIEW);
    assert_eq!((page.state.plot_settings.plot, page.view()), (Plot::Stack, stack));
    page.press(commands::REDO_VIEW);
    assert_eq!(page.state.plot_settings.plot, ADDRESSES);
}

#[test]
fn two_box_zooms_in_quick_succession_are_two_steps() {
    let mut page = Page::open();
    let whole = page.view();
    let mut zoom = |to: Pointer| {
        let held = memscape::ui::state::binding::Modifiers { shift: true, ..Default::default() };
        page.act(Action::DragStarted { from: Pointer { x: 20.0, y: 20.0 }, held });
        page.act(Action::DragMoved(to));
        page.act(Action::DragEnded);
        page.view()
    };
    let (first, second) = (zoom(Pointer { x: 100.0, y: 90.0 }), zoom(Pointer { x: 80.0, y: 80.0 }));
    assert!(first != whole && second != first);
    page.press(commands::UNDO_VIEW);
    assert_eq!(page.view(), first);
    page.press(commands::UNDO_VIEW);
    assert_eq!(page.view(), whole);
}

#[test]
fn address_axis_has_addresses_and_gaps() {
    let page = Page::show(1);
    let figure = page.figure();
    assert_eq!(figure.title, "address");
    let labels: Vec<&str> = figure.byte_ticks.iter().map(|tick| tick.label.as_str()).collect();
    assert_eq!(labels[0], "0x7f0000000000");
    assert!(labels.contains(&"0x7f000a000000"), "{labels:?}");
    assert_eq!(figure.gaps.len(), 1);
    assert_eq!(figure.gaps[0].text, "140 MiB of unmapped addresses");
    assert_eq!(figure.peak, None, "addresses have no peak");
    let texts =
        |shapes: Vec<Shape>, text: &str| shapes.iter().any(|shape| matches!(shape, Shape::Text(it) if it.text == text));
    assert!(texts(figure.shapes([110.0, 0.0]), "address"));
    let figure = Page::show(2).figure();
    assert_eq!((figure.title, figure.gaps.len()), ("reserved", 0));
    assert_eq!(figure.peak.map(|peak| peak.label), Some("peak 40.0 MiB".to_owned()));
    assert!(texts(Page::open().figure().shapes([70.0, 0.0]), "requested"));
}

#[test]
fn free_range_has_card_and_selects_its_segment() {
    let mut page = Page::show(1);
    // Above the only block.
    let at = Pointer { x: 50.0, y: 150.0 };
    page.act(Action::PointerMoved(at));
    let free = HitMemory { segment: Some(segment_at(UPPER)), free: Some((UPPER + MIB, 12 * MIB)) };
    assert_eq!(page.hit(None, Some(free.clone())).plot, ADDRESSES);
    let card_text = card(page.state.hover.as_ref().expect("a card"));
    assert_eq!(card_text.title, "Free: ≤ 12.0 MiB");
    assert_eq!(
        card_text.segment,
        "in segment 0x7f000a000000: 40.0 MiB, MemPool (0, 7), stream 0x10, large, expandable"
    );
    page.act(Action::Clicked(at));
    page.hit(None, Some(free));
    let chosen = memscape::ui::plot::plots::segment::selected_segment(&page.state).expect("a segment");
    assert_eq!((chosen.segment.address, chosen.position.moment), (UPPER, 50));
    let facts: Vec<String> =
        segment::segment_view(chosen).facts.iter().map(|fact| format!("{}: {}", fact.label, fact.value)).collect();
    assert!(facts.contains(&"Free here: ≤ 12.0 MiB · 12,582,912 B at 0x7f000a100000".to_owned()), "{facts:?}");
    assert!(facts.contains(&"Mapped: event 2".to_owned()) && facts.contains(&"Released: event 899".to_owned()));
    assert_eq!(pickers(&page.state).segment, "Only this segment");
    page.press(commands::ONLY_SEGMENT);
    let only = MemoryFilter { address: Some(UPPER), ..MemoryFilter::default() };
    assert_eq!(page.state.plot_settings.plot, Plot::Addresses(only));
    page.settle();
    assert_eq!(page.height().round() as u64, 44 * MIB);
    assert!(pickers(&page.state).is_segment);
    page.press(commands::ONLY_SEGMENT);
    assert_eq!(page.state.plot_settings.plot, ADDRESSES);
    // Unmapped addresses.
    page.settle();
    page.act(Action::PointerMoved(Pointer { x: 51.0, y: 140.0 }));
    page.hit(None, None);
    page.act(Action::PointerMoved(Pointer { x: 51.0, y: 141.0 }));
    page.hit(None, Some(HitMemory::default()));
    assert_eq!(card(page.state.hover.as_ref().expect("a card")).title, "Not mapped");
}

#[test]
fn block_at_address_shows_segment_and_is_selected() {
    let mut page = Page::show(1);
    let at = Pointer { x: 50.0, y: 20.0 };
    page.act(Action::PointerMoved(at));
    page.hit(Some(block()), Some(HitMemory { segment: Some(segment_at(UPPER)), free: None }));
    let card_text = card(page.state.hover.as_ref().expect("a card"));
    assert_eq!(card_text.title, "3.00 MiB · 3,145,728 B");
    assert!(card_text.segment.starts_with("in segment 0x7f000a000000"), "{card_text:?}");
    page.act(Action::Clicked(at));
    let details = |request: &Request| match request {
        Request::Ask(Ask { serial, question: Question::Details(allocation), .. }) => Some((*serial, *allocation)),
        _ => None,
    };
    let (serial, allocation) = page.take_request(details).expect("a details request");
    assert_eq!(allocation, 5);
    let details = Details { allocation: 5, stack: Some(3), ..Details::default() };
    page.answer_with(serial, Answer::Details(Some(Box::new(details))));
    page.settle();
    assert_eq!(surroundings::outline_key(&page.state).map(|of| of.allocation), Some(5));
    assert_eq!(page.state.plot_settings.highlight, Highlight::Stack(3));
    // Ids of the Reserved view are ranges, not allocations, so the selection is not highlighted there.
    page.act(Action::Plot(PlotAction::KindChosen(2)));
    page.settle();
    assert_eq!(page.state.plot_settings.highlight, Highlight::Nothing);
    assert_eq!(surroundings::outline_key(&page.state), None);
    assert!(page.state.selection.is_some(), "the selection is kept");
    page.act(Action::Plot(PlotAction::KindChosen(0)));
    page.settle();
    assert_eq!(page.state.plot_settings.highlight, Highlight::Stack(3));
}

#[test]
fn segment_click_selects_no_allocation() {
    let mut page = Page::show(2);
    let at = Pointer { x: 50.0, y: 20.0 };
    page.act(Action::PointerMoved(at));
    let memory = HitMemory { segment: Some(segment_at(UPPER)), free: None };
    page.hit(None, Some(memory.clone()));
    let card_text = card(page.state.hover.as_ref().expect("a card"));
    assert_eq!(card_text.title, "20.0 MiB of 40.0 MiB reserved");
    assert_eq!(card_text.call_site, "train.py:7 step");
    assert_eq!(card_text.lifetime, "mapped at event 2, released at event 899");
    page.act(Action::Clicked(at));
    assert_eq!(
        page.take_request(|it| matches!(it, Request::Ask(Ask { question: Question::Details(_), .. })).then_some(())),
        None,
        "5 is a range, not an allocation"
    );
    page.hit(None, Some(memory));
    assert_eq!(surroundings::outline_key(&page.state).map(|of| of.allocation), Some(5));
    let chosen = memscape::ui::plot::plots::segment::selected_segment(&page.state).expect("a segment");
    assert_eq!(segment::segment_view(chosen).title, "40.0 MiB segment");
    page.press(commands::CURSOR_TO_ALLOCATION);
    let onto = |request: &Request| match request {
        Request::Ask(Ask { question: Question::Step { moment, step, .. }, .. }) => Some((*moment, *step)),
        _ => None,
    };
    assert_eq!(page.take_request(onto), Some((3, memscape::protocol::Step::To(5))));
    page.press(commands::CLEAR_SELECTION);
    assert!(memscape::ui::plot::plots::segment::selected_segment(&page.state).is_none(), "Esc");
}

#[test]
fn pool_and_stream_filters_apply() {
    let mut page = Page::show(2);
    let card_text = pickers(&page.state);
    assert_eq!(card_text.pools, ["all pools", "default pool", "MemPool (0, 7)"]);
    assert_eq!(card_text.streams, ["all streams", "stream 0 (default)", "stream 0x10"]);
    page.act(Action::Plot(PlotAction::Pool(Some(1))));
    assert_eq!(page.state.plot_settings.plot.filter().pool, Some((0, 7)));
    page.settle();
    assert_eq!(page.height().round() as u64, 12 * MIB, "height of the pool");
    assert_eq!(pickers(&page.state).pool, 2);
    assert_eq!(plots::overview(&page.state).map(|it| it.reserved[0]), Some(12 * MIB), "the overview is filtered too");
    page.press(commands::NEXT_STREAM);
    assert_eq!(
        page.state.plot_settings.plot.filter(),
        MemoryFilter { pool: Some((0, 7)), stream: Some(0), address: None }
    );
    page.settle();
    page.press(commands::NEXT_POOL);
    assert_eq!(page.state.plot_settings.plot.filter().pool, None, "all pools follow the last one");
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    assert_eq!(page.state.plot_settings.plot.filter().stream, Some(0), "the stream filter is kept");
    page.act(Action::DeviceChosen(1));
    assert_eq!(page.state.plot_settings.plot, ADDRESSES, "filters are reset for another device");
}

#[test]
fn curves_show_exact_bytes_and_can_be_hidden() {
    let mut page = Page::show(2);
    let lines = |page: &Page| page.figure().curves.iter().map(|curve| curve.line).collect::<Vec<_>>();
    assert_eq!(lines(&page), Line::ALL[..6], "stranded bytes are not computed until they are shown");
    page.press(commands::TOGGLE_LINE_STRANDED);
    page.settle();
    assert_eq!(lines(&page), Line::ALL[..7], "there are no samples");
    let figure = page.figure();
    let heights: Vec<f64> = figure.curves.iter().map(|curve| curve.points[0][1]).collect();
    let row = |bytes| page.view().row_from_bytes(bytes) as f64;
    assert_eq!(heights[..3], [row(40 * MIB), row(30 * MIB), row(29 * MIB)]);
    assert_eq!(heights[5], 170.0 * 0.25, "a quarter is free");
    assert!(figure.curves.iter().all(|curve| curve.points.len() == 2), "each line is one horizontal piece");
    page.act(Action::PointerMoved(Pointer { x: 10.0, y: 20.0 }));
    let (short, reading) = notices::pointer_reading(&page.state);
    for part in
        [": 40.0 MiB reserved · ≥ 30.0 MiB allocated (rounded) · 29.0 MiB live", " · ≤ 25.0 % free · 5.00 MiB stranded"]
    {
        assert!(short.contains(part), "{short}");
    }
    for part in
        ["41,943,040 B reserved", "≥ 31,457,280 B allocated (rounded)", "≤ 25.0 % free (10,485,760 of 41,943,040 B)"]
    {
        assert!(reading.contains(part), "{reading}");
    }
    page.press(commands::TOGGLE_LINE_ROUNDED);
    assert!(!lines(&page).contains(&Line::Rounded));
    assert!(!memscape::ui::plot::plots::curves::curve_key(&page.state)[1].is_visible);
    page.press(commands::TOGGLE_LINE_ROUNDED);
    assert_eq!(lines(&page), Line::ALL[..7]);
    page.act(Action::Plot(PlotAction::KindChosen(1)));
    page.settle();
    assert!(lines(&page).is_empty() && memscape::ui::plot::plots::curves::curve_key(&page.state).is_empty());
}

#[test]
fn samples_are_lines_and_paused_memory_is_hatched() {
    let mut page = Page::show(2);
    let key = |page: &Page| memscape::ui::plot::plots::curves::curve_key(&page.state);
    assert_eq!(key(&page).iter().filter(|entry| entry.is_listed).count(), 7, "there are no samples");
    assert!(page.figure().paused.is_empty());
    page.press(commands::TOGGLE_LINE_STRANDED);
    let curves_of = |request: &Request| match request {
        Request::Ask(Ask { serial, question: Question::Curves { view, .. }, .. }) => Some((*serial, *view)),
        _ => None,
    };
    let (serial, view) = page.take_request(curves_of).expect("a question about curves");
    let mut answer = curves(view);
    let columns = answer.reserved.len();
    answer.outside = vec![3 * MIB; columns];
    answer.resident = vec![2 * MIB; columns];
    // Paused in the middle, 5 MiB of the bytes longer.
    answer.paused = (0..columns).map(|column| [0, 15, 5, 0][column * 4 / columns] * MIB).collect();
    page.answer_with(serial, Answer::Curves(Box::new(answer)));
    let listed: Vec<Line> = key(&page).iter().filter(|entry| entry.is_listed).map(|entry| entry.line).collect();
    assert_eq!(listed, Line::ALL[..9], "pinned memory was not sampled");
    let lines = |page: &Page| page.figure().curves.iter().map(|curve| curve.line).collect::<Vec<_>>();
    assert!(lines(&page).contains(&Line::Outside) && !lines(&page).contains(&Line::Resident));
    page.press(commands::TOGGLE_LINE_RESIDENT);
    let (figure, row) = (page.figure(), |bytes| page.view().row_from_bytes(bytes) as f64);
    let height = |line: Line| figure.curves.iter().find(|curve| curve.line == line).map(|curve| curve.points[0][1]);
    assert_eq!((height(Line::Outside), height(Line::Resident)), (Some(row(3 * MIB)), Some(row(2 * MIB))));
    let band = |x, low| Band { x, y: [row(low), row(40 * MIB)] };
    assert_eq!(figure.paused, [band([25.0, 50.0], 25 * MIB), band([50.0, 75.0], 35 * MIB)]);
    page.act(Action::PointerMoved(Pointer { x: 10.0, y: 20.0 }));
    let (short, exact) = notices::pointer_reading(&page.state);
    assert!(short.contains(" · 3.00 MiB outside the allocator · 2.00 MiB resident (host)"), "{short}");
    assert!(exact.contains("3,145,728 B outside the allocator"), "{exact}");
}

/// Resident memory of the process is often a multiple of what is reserved on the device.
#[test]
fn reserved_plot_is_as_high_as_each_visible_line() {
    let [_, resident, pinned] = SAMPLED_PEAKS.map(str::to_owned);
    let mut page = Page::open();
    let mut devices = devices();
    let reserved = u64::try_from(devices[0].peak_reserved).unwrap();
    devices[0].recorder = vec![(resident, 3 * reserved), (pinned, reserved / 2)];
    page.load(devices);
    page.settle();
    page.act(Action::Plot(PlotAction::KindChosen(2)));
    page.settle();
    let height = |page: &Page| page.state.plane().unwrap().extent.bytes;
    let is_whole = |page: &Page| page.state.plane().unwrap().fit_like(page.view()) == page.view();
    assert_eq!(height(&page), reserved, "lines of the host are hidden");
    for (command, expected) in [
        (commands::TOGGLE_LINE_PINNED, reserved),
        (commands::TOGGLE_LINE_RESIDENT, 3 * reserved),
        (commands::TOGGLE_LINE_PINNED, 3 * reserved),
        (commands::TOGGLE_LINE_RESIDENT, reserved),
    ] {
        page.press(command);
        assert_eq!((height(&page), is_whole(&page)), (expected, true));
        let peak = page.figure().peak.map(|peak| peak.y);
        assert_eq!(peak, Some(page.view().row_from_bytes(reserved) as f64), "the peak is that of reserved bytes");
    }
}

#[test]
fn capacity_line_says_what_is_paused() {
    let mut page = Page::open();
    page.act(Action::CapacityTyped("24".into()));
    let label = |page: &Page| {
        memscape::ui::plot::overlay::Overlay::from_state(&page.state).capacity.map(|(_, text)| text).unwrap_or_default()
    };
    assert_eq!(label(&page), "Device capacity 24.0 GiB");
    let mut devices = devices();
    devices[0].recorder = vec![(PEAK_PAUSED.to_owned(), 4 * MIB)];
    page.load(devices);
    page.settle();
    page.act(Action::CapacityTyped("24".into()));
    assert_eq!(label(&page), "Device capacity 24.0 GiB · up to 4.00 MiB of reserved paused, not on the device");
}

#[test]
fn unavailable_command_reports_reason() {
    let mut page = Page::show(1);
    page.press(commands::NEXT_STACKING);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.contains("Only the Live and Reserved views")));
    page.press(commands::TOGGLE_FIT_BYTES);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.contains("Addresses view")));
    assert_eq!(page.state.bytes_axis, BytesAxis::Free);
    page.act(Action::CapacityTyped("24".into()));
    assert_eq!(page.height().round() as u64, 65 * MIB, "capacity does not apply to addresses");
    page.act(Action::Plot(PlotAction::KindChosen(0)));
    page.press(commands::NEXT_POOL);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.contains("all pools")));
    // Lines that are not visible cannot be toggled.
    page.press(commands::TOGGLE_LINE_FREE);
    assert!(page.state.remark.as_deref().is_some_and(|remark| remark.contains("Reserved view")));
    page.act(Action::Plot(PlotAction::KindChosen(2)));
    assert!(
        memscape::ui::plot::plots::curves::curve_key(&page.state)
            .iter()
            .all(|entry| entry.is_visible == !matches!(entry.line, Line::Stranded | Line::Resident | Line::Pinned))
    );
}

#[test]
fn ruler_measures_address_distance_across_gaps() {
    let mut page = Page::show(1);
    page.press(commands::TOGGLE_RULER);
    let at = |height: u64| Pointer { x: 10.0, y: page.view().row_from_bytes(height) as f64 };
    let (low, high) = (at(0), at(21 * MIB));
    page.act(Action::DragStarted {
        from: low,
        held: memscape::ui::state::binding::Modifiers { alt: true, ..Default::default() },
    });
    page.act(Action::DragMoved(high));
    page.act(Action::DragEnded);
    let bytes = ruler::measured(&page.state).expect("a ruler").bytes as u64;
    assert!(bytes.abs_diff(UPPER - 0x7f00_0000_0000) < MIB, "{bytes}");
    page.act(Action::Plot(PlotAction::KindChosen(0)));
    assert_eq!(ruler::measured(&page.state), None, "the ruler is cleared when the plot changes");
}

#[test]
fn marker_dot_is_shown_only_in_its_plot() {
    use memscape::ui::plot::overlay::Overlay;
    let mut page = Page::show(1);
    page.act(Action::MarkerAdded(Pointer { x: 10.0, y: 20.0 }));
    assert_eq!(Overlay::from_state(&page.state).markers[0].at.y.round(), 20.0);
    page.act(Action::Plot(PlotAction::KindChosen(0)));
    page.settle();
    let flag = &Overlay::from_state(&page.state).markers[0];
    assert!(flag.at.x > 0.0 && flag.at.y < 0.0, "the marker's line stays, its dot is hidden");
}

#[test]
fn exported_picture_names_its_plot() {
    for (plot, name, words) in [(1, "-addresses-", "Height: addresses"), (2, "-reserved-", "Height: reserved bytes")] {
        let mut page = Page::show(plot);
        while let Some((serial, is_legend)) = page.take_request(|it| match it {
            Request::Ask(Ask { serial, question: Question::Marks | Question::Phases, .. }) => Some((*serial, false)),
            Request::Ask(Ask { serial, question: Question::Legend { .. }, .. }) => Some((*serial, true)),
            _ => None,
        }) {
            let marks = Answer::Marks(Box::default());
            page.answer_with(serial, if is_legend { Answer::Legend(Vec::new()) } else { marks });
        }
        page.press(commands::export::save(Format::Svg));
        let picture = page.effects.iter().find_map(|it| if let Effect::Export(it) = it { Some(it) } else { None });
        let picture = picture.unwrap_or_else(|| panic!("no picture: {:?}", page.state.remark));
        assert!(picture.file_name.contains(name), "{}", picture.file_name);
        let text: Vec<&str> = picture
            .sheet
            .shapes
            .iter()
            .filter_map(|shape| if let Shape::Text(text) = shape { Some(text.text.as_str()) } else { None })
            .collect();
        assert!(text.join(" ").contains(words), "{text:?}");
        let lines = picture.sheet.shapes.iter().filter(|shape| matches!(shape, Shape::Line { .. })).count();
        assert_eq!(lines > 0, plot == 2);
    }
}

#[test]
fn lanes_have_separate_heights() {
    let mut page = Page::show(1);
    page.press(commands::TOGGLE_LANES);
    page.settle();
    let heights: Vec<f64> = page.state.shown_lanes().map(|lane| lane.view.bytes_per_px).collect();
    assert_eq!(heights.len(), 2);
    assert!(heights.iter().all(|height| *height > 1.0), "{heights:?}");
    assert!(page.state.shown_lanes().all(|lane| lane.geometry.scene.is_some()));
    page.act(Action::Plot(PlotAction::KindChosen(2)));
    page.settle();
    assert_eq!(legend::coloured_by(&page.state), Grouping::CallSite);
    assert!(page.state.shown_lanes().all(|lane| lane.geometry.plot_settings.plot == RESERVED));
}

#[test]
fn reserved_peak_above_plot_is_stated() {
    let label = |device| {
        let mut page = Page::show(0);
        page.act(Action::DeviceChosen(device));
        page.settle();
        (legend::reserved_label(&page.state), page)
    };
    assert_eq!(label(0).0.as_deref(), Some("Reserved"), "the plot has room for it");
    let (text, mut page) = label(1);
    assert_eq!(text.as_deref(), Some("Reserved: peak 40.0 MiB, off scale"));
    page.act(Action::CapacityTyped("64 MiB".into()));
    page.settle();
    assert_eq!(legend::reserved_label(&page.state).as_deref(), Some("Reserved"), "the capacity extends the plot");
    page.act(Action::Plot(PlotAction::KindChosen(2)));
    page.settle();
    assert_eq!(legend::reserved_label(&page.state), None, "the Reserved view has its own key");
}
