//! Links: every kind of state printed and parsed, requests caused by a link, and malformed fragments.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::follower::{FINGERPRINT, Page, devices};
use memscape::protocol::{DeviceSummary, Grouping, TableColumn, Topic};
use memscape::ui::features::events::EventsAction;
use memscape::ui::features::flame::FlameAction;
use memscape::ui::features::insights::InsightsAction;
use memscape::ui::features::segments::SegmentsAction;
use memscape::ui::features::sources::SourceAction;
use memscape::ui::features::table::TableAction;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::{commands, link};
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{GivenFile, Pointer, WheelAction};
use memscape::ui::state::link::Link;
use memscape::ui::state::plots::PlotAction;
use memscape::ui::state::range::RangeScope;
use memscape::ui::state::stage::Stage;
use memscape::ui::text::tab::Tab;
use proptest::prelude::*;

/// Splits a fragment into the pairs other than the window, and the window's edges as numbers.
fn parts(fragment: &str) -> (Vec<&str>, Vec<f64>) {
    let is_window = |pair: &&str| ["x=", "y=", "heights="].iter().any(|key| pair.starts_with(key));
    let others = fragment.split('&').filter(|pair| !is_window(pair)).collect();
    // One lane besides the focused one.
    let edges =
        fragment.split('&').filter(is_window).flat_map(|pair| pair.rsplit(['=', ':']).next().unwrap().split(".."));
    (others, edges.map(|edge| edge.parse().unwrap()).collect())
}

/// Checks that both links show the same state. Window edges may differ by less than a pixel.
fn assert_same(before: &str, after: &str) {
    let ((others, edges), (others_after, edges_after)) = (parts(before), parts(after));
    assert_eq!(others, others_after);
    assert_eq!(edges.len(), edges_after.len(), "{before}\n{after}");
    for (from, to) in edges.chunks(2).zip(edges_after.chunks(2)) {
        let pixel = (from[1] - from[0]) / 300.0;
        let near = |place: usize| (from[place] - to[place]).abs() <= pixel;
        assert!(near(0) && near(1), "{before}\n{after}");
    }
}

#[test]
fn link_has_only_changed_state() {
    let mut page = Page::following("#url=run/a%20b.pickle");
    assert_eq!(page.loads, ["Link(\"run/a b.pickle\")"]);
    assert_eq!(page.fragment(), format!("v=1&url=run/a%20b.pickle&print={FINGERPRINT}&device=0&tab=why"));
    page.act(Action::DeviceChosen(3));
    page.act(Action::StackingChosen(Some(Grouping::Size)));
    page.act(Action::GoToEntered("12".into()));
    page.act(Action::FindTyped("relu & <b>".into()));
    let expected = "&device=3&stack=size&at=12&find=relu%20%26%20%3Cb%3E&tab=why";
    assert_eq!(page.fragment(), format!("v=1&url=run/a%20b.pickle&print={FINGERPRINT}{expected}"));
}

#[test]
fn every_state_survives_round_trip() {
    let all = [
        "device=3",
        "device=0&lanes=all",
        "device=0&axis=time&x=1000000.5..2000000.25",
        "device=0&show=addresses&pool=0.7&stream=42&y=1048576..2097152",
        "device=0&show=addresses&segment=7f8900000000",
        "device=0&show=reserved&lines=1,6",
        "device=0&show=reserved&lines=7",
        "device=0&stack=site&colour=size&faded=1,4",
        "device=0&x=1000..2000&y=4096..536870912",
        "device=0&x=999900.5..999950.25",
        "device=0&x=10..900000&fit=bytes",
        "device=0&capacity=85899345920",
        "device=0&marks=0:12:4096:s,3:-1:0:a,0:99:1:r",
        "device=0&at=-1",
        "device=0&at=999999",
        "device=0&range=10..500&about=freed",
        "device=0&select=17&same=blends",
        "device=0&capitals=heeded&find=conv%20%2Fre%2F%20%C3%A4",
        "device=0&views=folded",
        "device=0&views=60",
        "device=0&topic=fragmentation",
        "device=0&root=innermost&merge=file&internal=shown",
        "device=0&node=9&focus=4&folds=3o,4c,7O,8C",
        "device=0&zoom=12&flame=up",
        "device=0&filter=%3E1MiB%20stream%3A7&sort=age+&sizes=3..9&lives=0..2&bars=count",
        "device=0&events=alloc&actions=5",
        "device=0&mpool=0.7&mstream=42&segments=free&request=24%20MiB",
        "device=0&mzoom=1024000",
        "device=0&lanes=all&heights=3:4096..536870912",
        "device=3&lanes=all&show=addresses&y=4096..1048576&heights=0:1048576..536870912",
        "device=0&at=12&cursor=12:4096",
        "device=0&at=12&cursor=-1:0",
        "device=0&ruler=12:0..x40.5:1048576",
        "device=0&axis=time&ruler=t1500.25:7..-1:4096",
        "device=0&show=reserved&chosen=9:4096",
        "device=0&show=addresses&pool=0.7&chosen=-1:77",
        "device=0&marks=0:12:4096:r:0.7:42,3:5:1:a:::7f8900000000,0:1:1:a::42",
        "device=0&threshold=leaks:alive:16777216,oom:big:1&rows=leaks:alive:50,oom:blocks:250",
        "device=0&files=/a/train.py,/b%252C%20c/100%2525/m.py",
        "device=0&files=,",
        "device=0&conf=expandable_segments:True,max_split_size_mb:128&memory=80%20GiB",
        "device=0&total=80%20GiB&program=one-stream,empty-cache&preallocate=2%20GiB",
        "device=0&plan=fsdp=8%0Aactivations=2x%0Acheckpoint&fits=80%20GiB&curve=plan",
        "device=0&find=relu&curve=without",
    ];
    for (view, tab) in
        all.iter().zip(["why", "tree", "flame", "table", "sizes", "source", "memory", "events"].iter().cycle())
    {
        let fragment = Link::parse(&format!("v=1&url=a.pickle&print={FINGERPRINT}&{view}&tab={tab}")).fragment();
        assert_eq!(fragment.matches('&').count(), 3 + view.matches('&').count() + 1, "all keys are parsed: {view}");
        let page = Page::following(&fragment);
        assert_same(&fragment, &page.fragment());
        assert_eq!(page.state.linked.notice, None, "{view}");
    }
}

#[test]
fn tabs_have_their_displayed_names_in_links_too() {
    let names = [
        ("insights", "why"),
        ("call-tree", "tree"),
        ("allocations", "table"),
        ("histograms", "sizes"),
        ("segments", "memory"),
    ];
    for (displayed, written) in names {
        let page = Page::following(&format!("v=1&url=a.pickle&print={FINGERPRINT}&device=0&tab={displayed}"));
        assert!(page.fragment().ends_with(&format!("&tab={written}")), "{displayed}");
    }
}

#[test]
fn keys_missing_in_link_reset_to_default() {
    let mut page = Page::following("url=a.pickle");
    let plain = page.fragment();
    page.follow("v=1&url=a.pickle&device=0&show=reserved&axis=time&x=5..500&at=3&range=1..9&find=x&select=4&topic=leaks&tab=why&folds=3o&marks=0:1:1:s");
    assert_ne!(page.fragment(), plain);
    page.follow(&plain);
    assert_eq!(page.fragment(), plain, "state after going back in the browser");
    assert_eq!(page.loads.len(), 1, "file is not loaded again");
}

#[test]
fn tab_alone_changes_nothing_else_of_the_view() {
    let [mut failed, other] = <[DeviceSummary; 2]>::try_from(devices()).unwrap();
    failed.actions = vec![("oom".to_owned(), 1)];
    let without_events = DeviceSummary { events: 0, ..DeviceSummary::default() };
    for devices in [vec![other.clone()], vec![other, failed], vec![without_events]] {
        for tab in Tab::ALL {
            let page = || Page { devices: devices.clone(), has_categories: true, ..Page::new() };
            let follow = |page: &mut Page, link: &str| {
                page.follow(link);
                page.open();
                page.reply_fingerprint(FINGERPRINT);
            };
            let mut plain = page();
            follow(&mut plain, "url=a.pickle");
            plain.act(Action::TabChosen(tab));
            let expected = plain.fragment();
            assert_eq!(expected.contains("at=65"), devices.len() == 2, "the default is the OOM: {expected}");
            assert!(expected.contains("&stack=category"), "{expected}");

            let mut linked = page();
            follow(&mut linked, &format!("url=a.pickle&tab={}", tab.name()));
            assert_eq!(linked.fragment(), expected);
            // In an open file, the rest is reset to the default view.
            linked.act(Action::GoToEntered("0".into()));
            linked.act(Action::StackingChosen(None));
            linked.act(Action::FindTyped("relu".into()));
            linked.follow(&format!("tab={}", tab.name()));
            assert_eq!(linked.fragment(), expected);
        }
    }
    let mut wrong = Page::new();
    wrong.follow("url=a.pickle&tab=holo");
    wrong.open();
    assert_eq!(wrong.notice(), "Ignored in the link: tab.");
}

#[test]
fn only_major_changes_add_history_entry() {
    let link = |view: &str| Link::parse(&format!("v=1&url=a&{view}"));
    for step in ["device=3", "show=reserved", "tab=why", "topic=leaks", "select=4", "range=1..2", "axis=time"] {
        assert!(link(step).is_step_from(&link("")), "{step}");
    }
    for kept in ["x=1..2", "y=1..2", "at=4", "find=a", "filter=b", "folds=1o", "views=40"] {
        assert!(!link(kept).is_step_from(&link("")), "{kept}");
    }
    assert!(Link::parse("url=b").is_step_from(&link("")));
}

#[test]
fn link_to_local_file_prompts_for_file() {
    let mut page = Page::new();
    page.drop_file(FINGERPRINT);
    page.act(Action::GoToEntered("12".into()));
    let fragment = page.fragment();
    assert_eq!(fragment, format!("v=1&name=a.pickle&print={FINGERPRINT}&device=0&at=12&tab=why"));

    let mut other = Page::new();
    other.follow(&fragment);
    assert!(matches!(other.state.stage, Stage::Empty) && other.loads.is_empty());
    let asked = "This view belongs to a.pickle (12 B). Choose that file to restore it.";
    assert_eq!(other.state.linked.notice.as_deref(), Some(asked));
    other.drop_file("99-ffeeddccbbaa99887766554433221100");
    assert_eq!(other.state.linked.notice, Some(format!("This is a different file. {asked}")));
    assert!(!other.fragment().contains("at="), "the link's view is not applied to another file");
    other.drop_file(FINGERPRINT);
    assert_eq!((other.fragment(), other.state.linked.notice.clone()), (fragment, None));
}

#[test]
fn changed_hosted_file_gives_warning() {
    let mut page = Page::new();
    page.follow(&format!("v=1&url=a.pickle&print={FINGERPRINT}&at=12"));
    page.open();
    assert!(page.fragment().contains("at=12"), "the view is applied at once");
    page.reply_fingerprint("99-ffeeddccbbaa99887766554433221100");
    assert!(page.state.linked.notice.as_ref().unwrap().contains("has changed since the link was made"));
    page.act(Action::NoticeClosed);
    assert_eq!(page.state.linked.notice, None);
}

#[test]
fn link_followed_in_open_file_checks_fingerprint() {
    let mut page = Page::following("url=a.pickle");
    page.follow("v=1&url=a.pickle&print=99-ffeeddccbbaa99887766554433221100&at=12");
    assert!(page.fragment().contains("at=12"));
    assert!(page.state.linked.notice.as_ref().unwrap().contains("has changed since the link was made"));
    page.follow(&format!("v=1&url=a.pickle&print={FINGERPRINT}&at=13"));
    assert_eq!(page.state.linked.notice, None);
    // A link without a file is about the open one, and an anchor is not a link.
    page.follow("tab=why");
    assert!(page.fragment().contains("tab=why") && !page.fragment().contains("at="));
    page.follow("#main");
    assert!(page.fragment().contains("tab=why"));
    assert!(!link::is_following_link(&page.state) && page.loads.len() == 1);
}

#[test]
fn link_is_followed_until_file_matches_or_notice_closes() {
    let mut page = Page::new();
    page.follow(&format!("v=1&name=a&print={FINGERPRINT}&at=12"));
    page.drop_file("99-ffeeddccbbaa99887766554433221100");
    assert!(link::is_following_link(&page.state));
    page.act(Action::NoticeClosed);
    assert!(!link::is_following_link(&page.state));
}

#[test]
fn unknown_version_gives_notice() {
    for version in ["2", "2.1", "abc"] {
        let page = Page::following(&format!("v={version}&url=a.pickle"));
        assert!(page.state.linked.notice.is_some(), "{version}");
    }
}

#[test]
fn cursor_in_link_accepts_named_positions() {
    assert!(Page::following("url=a.pickle&at=end").fragment().contains("&at=999999&"));
    assert!(!Page::following("url=a.pickle&at=peak").fragment().contains("&at="));
    assert!(Page::following("url=a.pickle&at=reserved-peak").fragment().contains("&at=76&"));
    let page = Page::following("url=a.pickle&at=soon");
    assert!(!page.fragment().contains("&at=") && page.state.cursor.error.is_some(), "error is shown beside the field");
}

#[test]
fn text_too_long_for_link_is_left_out() {
    let mut page = Page::following("url=a.pickle");
    page.act(Action::FindTyped("ä".repeat(30_000)));
    let fragment = page.fragment();
    assert!(fragment.len() < 1000 && fragment.contains("url=a.pickle"));
}

#[test]
fn fingerprint_before_open_is_accepted() {
    let mut page = Page::new();
    page.follow(&format!("v=1&name=a&print={FINGERPRINT}&at=12"));
    page.act(Action::FilesGiven(vec![GivenFile { name: "a.pickle".into(), bytes: 12 }]));
    page.reply_fingerprint(FINGERPRINT);
    page.open();
    assert!(page.fragment().contains("at=12"));
    let mut page = Page::new();
    page.follow("v=1&url=a.pickle&at=12");
    page.reply_fingerprint(FINGERPRINT);
    page.open();
    assert!(page.fragment().contains("at=12"), "also without a fingerprint in the link");
}

#[test]
fn link_of_later_version_applies_known_keys() {
    let page = Page::following("v=9&url=a.pickle&device=0&at=12&hologram=on&tab=why");
    assert!(page.fragment().ends_with("&device=0&at=12&tab=why"));
    let warning = "The link was made by another version of memscape (v=9); parts of the view may be missing. \
                Ignored in the link: hologram.";
    assert_eq!(page.notice(), warning);
}

#[test]
fn ignored_keys_are_reported() {
    for (view, warning) in [
        ("hologram=on", "hologram"),
        ("hologram=on&at=12&smell", "hologram and 1 more"),
        ("tab=holo", "tab"),
        ("tab=why&device=7&hologram=1&at=soon&y=9..1", "hologram and 3 more"),
        ("sort=weight-&tab=table", "sort"),
        ("marks=0:1:1:s,0:1:1:q,0:2:2:s", "marks"),
        ("threshold=leaks:alive:1,leaks:%3Cb%3E:2", "threshold"),
        ("<img%20src=x", "<img%20src"),
        ("open=x&capacity=0", "open and 1 more"),
    ] {
        let page = Page::following(&format!("v=1&url=a.pickle&{view}"));
        assert_eq!(page.notice(), format!("Ignored in the link: {warning}."), "{view}");
    }
    let long = Page::following(&format!("v=1&url=a.pickle&{}=1", "x".repeat(5000)));
    assert_eq!(long.notice().len(), "Ignored in the link: .".len() + 40);
    // Default values are allowed, and the target of a link may be gone.
    let link_text = "v=1&url=a.pickle&&device=0&axis=events&show=stack&lanes=one&fit=free&at=peak&tab=tree&root=outermost&merge=line&select=99999";
    assert_eq!(Page::following(link_text).notice(), "");
    // The notice does not hide that the file has changed.
    let mut page = Page::following("url=a.pickle");
    page.follow("v=1&url=a.pickle&print=99-ffeeddccbbaa99887766554433221100&hologram=1");
    assert!(
        page.notice().starts_with("The file at this address has changed") && page.notice().ends_with(": hologram.")
    );
    page.follow(&format!("v=1&url=a.pickle&print={FINGERPRINT}&at=13"));
    assert_eq!(page.notice(), "");
}

#[test]
fn unknown_key_is_ignored_with_notice() {
    let page = Page::following("url=a.pickle&hologram=1");
    assert_eq!(
        (page.fragment(), page.notice()),
        (Page::following("url=a.pickle").fragment(), "Ignored in the link: hologram.")
    );
    let mut page = Page::new();
    page.follow("#main");
    assert!(!link::is_following_link(&page.state) && page.notice().is_empty());
    page.drop_file(FINGERPRINT);
    assert!(!link::is_following_link(&page.state) && page.notice().is_empty());
}

#[test]
fn out_of_range_positions_are_clamped() {
    let most = u64::MAX;
    let page = Page::following(&format!(
        "url=a&cursor=4294967294:{most}&ruler=x99999999999:{most}..t-1:{most}&mzoom={most}&rows=leaks:held:4294967295"
    ));
    let fragment = page.fragment();
    for part in [
        format!("&cursor=999999:{most}&"),
        format!("&ruler=x1000001:{most}..t0:{most}&"),
        "&mzoom=1000000000000000&".to_owned(),
        "&rows=leaks:held:5000&".to_owned(),
    ] {
        assert!([&fragment, "&"].concat().contains(&part), "{part} in {fragment}");
    }
    assert!(Page::following("url=a&mzoom=0").fragment().contains("&mzoom=4000"));
}

/// User actions that change the state of a link.
fn user_actions() -> impl Strategy<Value = Action> {
    let commands = [
        commands::TOGGLE_AXIS,
        commands::TOGGLE_LANES,
        commands::NEXT_DEVICE,
        commands::NEXT_STACKING,
        commands::NEXT_COLOURING,
        commands::ZOOM_EVENTS_IN,
        commands::ZOOM_EVENTS_IN,
        commands::ZOOM_BYTES_IN,
        commands::MOVE_RIGHT,
        commands::MOVE_UP,
        commands::TOGGLE_FIT_BYTES,
        commands::FOLD_VIEWS,
        commands::histograms::TOGGLE_MEASURE,
        commands::TOGGLE_MATCH_CASE,
        commands::TOGGLE_SAME_STACK,
        commands::SELECT_NEXT,
        commands::CURSOR_TO_END,
        commands::CURSOR_TO_PEAK,
        commands::NEXT_RANGE_FILTER,
        commands::NEXT_PLOT,
        commands::TOGGLE_LINE_FREE,
        commands::tree::INVERT,
        commands::tree::NEXT_MERGE,
        commands::tree::EXPAND_ALL,
        commands::flame::FLIP_DIRECTION,
        commands::flame::HIDE_INTERNAL,
        commands::CURSOR_LATER,
        commands::CURSOR_ABOVE,
        commands::SELECT_AT_CURSOR,
        commands::ADD_MARKER,
        commands::TOGGLE_RULER,
        commands::segments::ZOOM_IN,
        commands::segments::ZOOM_OUT,
    ];
    prop_oneof![
        prop::sample::select(commands.to_vec()).prop_map(Action::Command),
        prop::sample::select(Tab::ALL.to_vec()).prop_map(Action::TabChosen),
        prop::sample::select(Topic::ALL.to_vec()).prop_map(|topic| Action::feature(InsightsAction::TopicChosen(topic))),
        prop::sample::select(TableColumn::ALL.to_vec()).prop_map(|it| Action::feature(TableAction::SortChosen(it))),
        prop::sample::select(RangeScope::ALL.to_vec()).prop_map(Action::RangeFilterChosen),
        (0..2000u32).prop_map(|moment| Action::GoToEntered(moment.to_string())),
        any::<String>().prop_map(Action::FindTyped),
        any::<String>().prop_map(|it| Action::feature(TableAction::FilterTyped(it))),
        any::<String>().prop_map(|text| Action::feature(EventsAction::FilterTyped(text))),
        (0..20u32).prop_map(|action| Action::feature(EventsAction::ActionToggled(action))),
        any::<String>().prop_map(|text| Action::feature(SegmentsAction::RequestTyped(text))),
        (0..4usize).prop_map(|place| Action::feature(SegmentsAction::SortChosen(place))),
        (0..3usize).prop_map(|place| Action::Plot(PlotAction::Pool(place.checked_sub(1)))),
        (0..3usize).prop_map(|place| Action::Plot(PlotAction::Stream(place.checked_sub(1)))),
        (0.0..1.0, 0.0..1.0).prop_map(|(from, to)| Action::MinimapMoved([f64::min(from, to), f64::max(from, to)])),
        (0..100u32).prop_map(Action::ViewsResized),
        (0..1000u32).prop_map(|gib| Action::CapacityTyped(gib.to_string())),
        (0..3usize, 0..900u32)
            .prop_map(|(_, bytes)| Action::feature(InsightsAction::ThresholdSet(0, bytes.to_string()))),
        Just(Action::feature(InsightsAction::MoreClicked(0))),
        (0..4usize).prop_map(|row| Action::feature(SourceAction::RowClicked(row))),
        (0.0..640.0, 0.0..300.0).prop_map(|(x, y)| Action::PointerMoved(Pointer { x, y })),
        (-200.0..200.0, -200.0..200.0).prop_map(|(right_px, up_px)| Action::Dragged { right_px, up_px }),
        (0.0..300.0, -400.0..100.0).prop_map(|(y, delta)| {
            Action::Wheel { at: Pointer { x: 5.0, y }, delta, axis: WheelAction::ZoomBytes }
        }),
        Just(Action::feature(FlameAction::PointerAt(None))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_actions_survive_round_trip(deeds in prop::collection::vec(user_actions(), 0..25)) {
        let mut page = Page::following(&format!("url=a.pickle&print={FINGERPRINT}"));
        page.act(Action::feature(SegmentsAction::Resized(Canvas { width_px: 300, height_px: 200, scale: 2.0 })));
        deeds.into_iter().for_each(|deed| page.act(deed));
        let fragment = page.fragment();
        let again = Link::parse(&fragment);
        prop_assert_eq!(&again, &Link::from_state(&page.state).unwrap());
        let follower = Page::following(&fragment);
        assert_same(&fragment, &follower.fragment());
        prop_assert_eq!(follower.notice(), "", "{}", fragment);
    }

    /// Any text and any values of known keys give a view without a panic, and load nothing but `url`.
    #[test]
    fn any_fragment_parses(
        text in any::<String>(),
        pairs in prop::collection::vec((prop::sample::select(KEYS.to_vec()), prop_oneof![
            any::<String>(), "-?[0-9]{1,25}", "[0-9.]{1,6}\\.\\.[0-9.]{1,22}", "[-0-9:,.xtsoca]{0,40}",
        ]), 0..30),
    ) {
        let link = Link::parse(&text);
        let mut again = Link::parse(&link.fragment());
        (again.version, again.unknown) = (link.version, link.unknown.clone());
        prop_assert_eq!(again, link);
        let pairs: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let page = Page::following(&format!("url=a.pickle&{}", pairs.join("&")));
        prop_assert!(page.loads.iter().all(|load| load.starts_with("Link(\"a.pickle\")")), "{:?}", page.loads);
        let fragment = page.fragment();
        assert_same(&fragment, &Page::following(&fragment).fragment());
    }
}

const KEYS: [&str; 57] = [
    "v",
    "open",
    "member",
    "device",
    "lanes",
    "axis",
    "show",
    "pool",
    "stream",
    "segment",
    "lines",
    "stack",
    "colour",
    "faded",
    "x",
    "y",
    "fit",
    "capacity",
    "marks",
    "at",
    "range",
    "about",
    "select",
    "same",
    "capitals",
    "find",
    "tab",
    "views",
    "topic",
    "root",
    "merge",
    "internal",
    "node",
    "focus",
    "folds",
    "zoom",
    "filter",
    "sort",
    "sizes",
    "lives",
    "events",
    "actions",
    "mpool",
    "request",
    "heights",
    "cursor",
    "ruler",
    "chosen",
    "threshold",
    "rows",
    "files",
    "mzoom",
    "conf",
    "memory",
    "total",
    "program",
    "preallocate",
];
