//! Searches compared with brute force: the matches in random histories and real files, and navigation between matches.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::turns;

use memscape::engine::{Answer, Ask, Question, Reply, Request, Work};
use memscape::protocol::{
    Arrangement, Details, Direction, FlameQuestion, Fold, FoldScope, FoldState, FrameText, Grouping, Highlight, Match,
    PlotSettings, Root, Scope, SearchStart, SortDirection, TableColumn, TableFilter, TableQuestion, TableSort, Tally,
    TreeQuestion, Weight,
};
use memscape::timeline::View;
use memscape::timeline::scene::FADED;
use opened::{Opened, open, real_pickles, reply};
use proptest::prelude::*;
use turns::file;

/// A search criterion. [`Wanted::typed`] converts it to a query.
#[derive(Clone, Debug)]
enum Criterion {
    Number(u32),
    Address(u64),
    Size(u64, u64),
    /// Text in any frame, ignoring case.
    Text(String),
    CaseSensitive(String),
    /// Text in the call site.
    CallSite(String),
    /// A frame with this prefix and suffix.
    PrefixAndSuffix(String, String),
}

impl Criterion {
    fn to_query(&self) -> String {
        match self {
            Criterion::Number(number) => format!("#{number}"),
            Criterion::Address(address) => format!("0x{address:x}"),
            Criterion::Size(least, most) if least == most => format!("={least}"),
            Criterion::Size(least, u64::MAX) => format!(">= {least} B"),
            Criterion::Size(least, most) => format!("{least}..{most}"),
            Criterion::Text(text) => text.clone(),
            Criterion::CaseSensitive(text) => format!("\"{text}\""),
            Criterion::CallSite(text) => format!("@\"{text}\""),
            Criterion::PrefixAndSuffix(from, to) => format!("/^{}.*{}$/", escaped(from), escaped(to)),
        }
    }

    fn matches(&self, details: &Details) -> bool {
        let line = |frame: &FrameText| {
            let place = match (frame.filename.as_str(), frame.line.as_str()) {
                ("" | "??" | "none", _) => String::new(),
                (file, "0") => format!("{file} "),
                (file, line) => format!("{file}:{line} "),
            };
            format!("{place}{}", frame.name)
        };
        let frame = |wanted: &dyn Fn(&str) -> bool| details.frames.iter().any(|frame| wanted(&line(frame)));
        match self {
            Criterion::Number(number) => details.allocation == *number,
            Criterion::Address(address) => details.address.is_some_and(|from| {
                *address >= from && u128::from(*address) < u128::from(from) + u128::from(details.requested.max(1))
            }),
            Criterion::Size(least, most) => details.requested >= *least && details.requested <= *most,
            Criterion::Text(text) => frame(&|line| line.to_lowercase().contains(&text.to_lowercase())),
            Criterion::CaseSensitive(text) => frame(&|line| line.contains(text)),
            Criterion::CallSite(text) => {
                let site = details.frames.iter().find(|frame| frame.is_user_code && !details.is_free_stack);
                site.is_some_and(|site| line(site).contains(text))
            }
            Criterion::PrefixAndSuffix(from, to) => frame(&|line| {
                line.len() >= from.len() + to.len() && line.starts_with(from.as_str()) && line.ends_with(to.as_str())
            }),
        }
    }
}

fn escaped(text: &str) -> String {
    let sign = |letter: char| if r".+*?()|[]{}^$\".contains(letter) { format!(r"\{letter}") } else { letter.into() };
    text.chars().map(sign).collect()
}

/// Runs a query to its end, in the shortest possible slices.
fn find(opened: &mut Opened, device: i64, query: &str) -> Tally {
    match reply(&mut opened.engine, Request::Ask(Ask { serial: 5, device, question: Question::Find(query.to_owned()) }))
    {
        Reply::Answer { serial: 5, answer: Answer::Find(tally) } => tally,
        other => panic!("{query}: {other:?}"),
    }
}

fn next(opened: &mut Opened, begin: SearchStart, direction: Direction, window: [u32; 2]) -> Option<Match> {
    next_of(opened, Scope::All, begin, direction, window)
}

fn next_of(
    opened: &mut Opened,
    scope: Scope,
    begin: SearchStart,
    direction: Direction,
    window: [u32; 2],
) -> Option<Match> {
    let request = Request::Ask(Ask {
        serial: 6,
        device: 0,
        question: Question::FindNext {
            search_serial: 5,
            begin,
            direction,
            plot_settings: PlotSettings::default(),
            window,
            scope,
        },
    });
    match reply(&mut opened.engine, request) {
        Reply::Answer { serial: 6, answer: Answer::FindNext(found) } => found,
        other => panic!("{other:?}"),
    }
}

/// Returns the details of all allocations of a device.
fn all(opened: &mut Opened, device: i64) -> Vec<Details> {
    let mut all = Vec::new();
    while let Some(details) = opened.details(device, all.len() as u32) {
        all.push(details);
    }
    all
}

/// Compares a search with a check of every allocation.
fn check(opened: &mut Opened, device: i64, all: &[Details], wanted: &Criterion) {
    let query = wanted.to_query();
    let peak_event = opened.summary.devices.iter().find(|it| it.device == device).unwrap().peak_event;
    let matches: Vec<&Details> = all.iter().filter(|details| wanted.matches(details)).collect();
    let at_peak = |details: &&&Details| {
        details.allocated_event.is_none_or(|allocated_at| i64::from(allocated_at) <= peak_event)
            && details.freed_event.is_none_or(|freed| i64::from(freed) > peak_event)
    };
    let peak: Vec<_> = matches.iter().filter(at_peak).collect();
    let expected = Tally {
        count: matches.len() as u32,
        requested: matches.iter().map(|details| details.requested).sum(),
        peak_count: peak.len() as u32,
        peak_requested: peak.iter().map(|details| details.requested).sum(),
    };
    assert_eq!(find(opened, device, &query), expected, "{query}");

    // Steps through up to 40 matches, forward and back.
    let first = next(opened, SearchStart::Moment(0), Direction::Next, [0, u32::MAX]);
    assert_eq!(first.map(|it| it.allocation), matches.first().map(|it| it.allocation), "{query}");
    let Some(first) = first else { return };
    let mut at = first;
    for step in (1..=matches.len()).take(40) {
        let place = step % matches.len();
        let further = next(opened, SearchStart::Allocation(at.allocation), Direction::Next, [0, u32::MAX]).unwrap();
        let expected = (matches[place].allocation, place as u32, matches[place].requested);
        assert_eq!((further.allocation, further.index, further.requested), expected, "{query}");
        let back =
            next(opened, SearchStart::Allocation(further.allocation), Direction::Previous, [0, u32::MAX]).unwrap();
        assert_eq!(back, at, "{query}");
        at = further;
        // The match is where the picture shows it.
        let moment = matches[place].allocated_event.map_or(0, |allocated_at| allocated_at + 1);
        if at.requested > 0 {
            let hit = opened.hit(device, moment, at.lowest_byte).unwrap();
            assert_eq!((hit.allocation, hit.lowest_byte), (at.allocation, at.lowest_byte), "{query}");
        }
    }
}

fn wanted() -> impl Strategy<Value = Criterion> {
    let text = prop::sample::select(vec![
        "train",
        "TORCH",
        ":7 ",
        "empty",
        "<module>",
        "e.py:14 forward",
        "nothing",
        "<m",
        "py step",
    ]);
    let ends = prop::sample::select(vec![
        ("/home", "Forward"),
        ("", "empty"),
        ("at", ""),
        ("/x/torch/nn.py:7", "step"),
        ("T", ""),
    ]);
    prop_oneof![
        (0u32..40).prop_map(Criterion::Number),
        ((1u64..8), 0u64..5000).prop_map(|(place, inside)| Criterion::Address((place << 20) + inside)),
        (0u64..4000, 0u64..4000).prop_map(|(one, other)| Criterion::Size(one.min(other), one.max(other))),
        (0u64..4000).prop_map(|size| Criterion::Size(size, size)),
        (0u64..4000).prop_map(|size| Criterion::Size(size, u64::MAX)),
        text.clone().prop_map(|text| Criterion::Text(text.into())),
        text.clone().prop_map(|text| Criterion::CaseSensitive(text.into())),
        text.prop_map(|text| Criterion::CallSite(text.into())),
        ends.prop_map(|(from, to)| Criterion::PrefixAndSuffix(from.into(), to.into())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn search_matches_brute_force(
        turns in prop::collection::vec((prop_oneof![0u64..4000, Just(512)], 0usize..300, 0u64..40), 0..60),
        wanted in prop::collection::vec(wanted(), 1..8),
    ) {
        let mut opened = open(&file(&turns)).unwrap();
        let all = all(&mut opened, 0);
        for wanted in &wanted {
            check(&mut opened, 0, &all, wanted);
        }
        // Same stack, compared by frames.
        for details in all.iter().filter(|it| it.stack.is_some()).take(5) {
            let same: Vec<&Details> = all.iter().filter(|it| it.frames == details.frames && it.stack.is_some()).collect();
            let request = Request::Ask(Ask { serial: 7, device: 0, question: Question::SameStack(details.stack.unwrap()) });
            let Reply::Answer { serial: 7, answer: Answer::SameStack(tally) } = reply(&mut opened.engine, request) else { panic!("not a tally") };
            prop_assert_eq!(tally.count as usize, same.len());
            prop_assert_eq!(tally.requested, same.iter().map(|it| it.requested).sum::<u64>());
        }
    }
}

#[test]
fn search_of_real_files_matches_brute_force() {
    let Some(paths) = real_pickles() else { return };
    let mut searches = 0;
    for path in &paths {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in opened.summary.devices.clone().iter().filter(|device| (1..6000).contains(&device.allocations)) {
            let all = all(&mut opened, device.device);
            let picks: Vec<&Details> = all.iter().step_by(all.len().div_ceil(3)).collect();
            let mut wanted = vec![
                Criterion::Number(all.len() as u32 / 2),
                Criterion::Number(all.len() as u32),
                Criterion::Size(1 << 20, u64::MAX),
            ];
            for details in picks {
                wanted.push(Criterion::Size(details.requested, details.requested));
                wanted.push(Criterion::Size(details.requested / 2, details.requested));
                let address = details.address.unwrap_or(0);
                wanted.extend(
                    [address, address + details.requested / 2, address.wrapping_sub(1)].map(Criterion::Address),
                );
                if let Some(site) = details.frames.iter().find(|frame| frame.is_user_code) {
                    wanted.push(Criterion::CallSite(format!("{}:{} ", site.filename, site.line)));
                }
                if let Some(frame) = details.frames.get(details.frames.len() / 2) {
                    let ends = if frame.filename.contains('/') {
                        ("/", frame.name.as_str())
                    } else {
                        ("", frame.name.as_str())
                    };
                    wanted.push(Criterion::PrefixAndSuffix(ends.0.into(), ends.1.into()));
                    wanted.push(Criterion::Text(frame.name.to_uppercase()));
                    wanted.push(Criterion::CaseSensitive(frame.name.to_uppercase()));
                    wanted.push(Criterion::CaseSensitive(frame.name.clone()));
                }
            }
            // Queries must be short and have no quotes of their own.
            wanted.retain(|wanted| wanted.to_query().len() < 300);
            for wanted in &wanted {
                check(&mut opened, device.device, &all, wanted);
            }
            searches += wanted.len();
        }
    }
    assert!(searches > 100, "only {searches} searches");
}

/// Opens a file with several hundred allocations.
fn sample() -> Opened {
    let turns: Vec<(u64, usize, u64)> =
        (0..600).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect();
    open(&file(&turns)).unwrap()
}

#[test]
fn newer_search_replaces_pending_one() {
    let mut opened = sample();
    let engine = &mut opened.engine;
    for (serial, query) in [(1, "train"), (2, "step"), (3, "/(/")] {
        engine.request(Request::Ask(Ask { serial, device: 0, question: Question::Find(query.into()) }));
        engine.step(&mut || false);
    }
    while engine.step(&mut || true) == Work::More {}
    let replies: Vec<Reply> = std::iter::from_fn(|| engine.next_reply()).collect();
    let [Reply::Answer { serial: 3, answer: Answer::Find(tally) }] = replies[..] else { panic!("{replies:?}") };
    assert_eq!(tally, Tally::default(), "an invalid query finds nothing");
    engine.request(Request::Ask(Ask { serial: 4, device: 77, question: Question::Find(">0".into()) }));
    while engine.step(&mut || true) == Work::More {}
    assert!(
        matches!(engine.next_reply(), Some(Reply::Answer { serial: 4, answer: Answer::Find(tally) }) if tally == Tally::default())
    );
    assert_eq!(next(&mut opened, SearchStart::Moment(0), Direction::Next, [0, 1]), None, "search 5 does not exist");
}

#[test]
fn search_steps_from_cursor_and_locates_match_in_window() {
    let mut opened = sample();
    let all = all(&mut opened, 0);
    let count = find(&mut opened, 0, ">0").count;
    assert_eq!(count as usize, all.len());
    for moment in [0, 1, 100, 399, 5000] {
        let allocated_at = |details: &Details| details.allocated_event.map_or(0, |event| event + 1);
        let after = all.iter().find(|it| allocated_at(it) >= moment).unwrap_or(&all[0]);
        let before = all.iter().rfind(|it| allocated_at(it) < moment).unwrap_or(&all[all.len() - 1]);
        let found = [Direction::Next, Direction::Previous].map(|direction| {
            next(&mut opened, SearchStart::Moment(moment), direction, [0, u32::MAX]).unwrap().allocation
        });
        assert_eq!(found, [after.allocation, before.allocation], "moment {moment}");
    }
    // A match that is live in the window is located at the window's left edge.
    let long = all
        .iter()
        .find(|it| {
            it.allocated_event.is_some_and(|allocated_at| it.freed_event.is_some_and(|freed| freed > allocated_at + 40))
        })
        .unwrap();
    let moment = long.allocated_event.unwrap() + 20;
    find(&mut opened, 0, &format!("#{}", long.allocation));
    let found = next(&mut opened, SearchStart::Moment(0), Direction::Next, [moment, moment + 5]).unwrap();
    assert_eq!(opened.hit(0, moment, found.lowest_byte).unwrap().allocation, long.allocation);
}

#[test]
fn matches_at_moment_are_counted_in_every_view() {
    let mut opened = sample();
    let (all, wanted) = (all(&mut opened, 0), Criterion::Text("step".into()));
    let moment = opened.summary.devices[0].events as u32 / 2;
    let lives = |it: &&Details| {
        it.allocated_event.is_none_or(|allocated_at| allocated_at < moment)
            && it.freed_event.is_none_or(|freed| freed >= moment)
    };
    let (live, there): (Vec<_>, Vec<_>) = (all.iter().collect(), all.iter().filter(lives).collect());
    let matches: Vec<&&Details> = there.iter().filter(|it| wanted.matches(it)).collect();
    let found = Weight { bytes: matches.iter().map(|it| it.requested).sum(), count: matches.len() as u32 };
    assert!(
        matches.len() > 1 && matches.len() < there.len() && there.len() < live.len(),
        "the test data is too uniform"
    );
    assert!(find(&mut opened, 0, "step").count > found.count);
    let (scope, arrangement) = (Scope::At(moment), Arrangement::default());
    let question = TreeQuestion {
        scope,
        arrangement,
        focus: None,
        folds: vec![],
        reveal: None,
        search_serial: Some(5),
        rows: [0, 9],
    };
    let request = Request::Ask(Ask { serial: 1, device: 0, question: Question::Tree(Box::new(question)) });
    let Reply::Answer { answer: Answer::Tree(page), .. } = reply(&mut opened.engine, request) else {
        panic!("not a tree")
    };
    assert_eq!((page.found, page.rows[0].found), (found, found.bytes));
    let question =
        FlameQuestion { scope, arrangement, zoom: None, width_px: 800, search_serial: Some(5), allocation: None };
    let Reply::Answer { answer: Answer::Flame(page), .. } =
        reply(&mut opened.engine, Request::Ask(Ask { serial: 2, device: 0, question: Question::Flame(question) }))
    else {
        panic!("not a flame graph")
    };
    assert_eq!((page.found, page.boxes[0].found), (found, found.bytes));
    let sort = TableSort { column: TableColumn::Size, direction: SortDirection::Descending };
    let filter = TableFilter::default();
    let question =
        TableQuestion { scope, filter, sort, rows: [0, 512], reveal: None, selected: vec![], search_serial: Some(5) };
    let request = Request::Ask(Ask { serial: 3, device: 0, question: Question::Table(Box::new(question.clone())) });
    let Reply::Answer { answer: Answer::Table(page), .. } = reply(&mut opened.engine, request) else {
        panic!("not a table")
    };
    assert_eq!(page.found, found);
    assert_eq!(page.rows.iter().filter(|row| row.matches).count(), matches.len());
    // Steps through all matches twice, wrapping around, then back.
    let window = [0, u32::MAX];
    let mut begin = SearchStart::Moment(0);
    for expected in matches.iter().chain(&matches) {
        let at = next_of(&mut opened, scope, begin, Direction::Next, window).unwrap();
        assert_eq!(at.allocation, expected.allocation);
        begin = SearchStart::Allocation(at.allocation);
    }
    let back = next_of(&mut opened, scope, SearchStart::Allocation(matches[0].allocation), Direction::Previous, window);
    assert_eq!(back.map(|at| at.allocation), matches.last().map(|last| last.allocation));
    // Another search updates the count. A match outside the scope is skipped.
    find(&mut opened, 0, "#0");
    let request = Request::Ask(Ask { serial: 4, device: 0, question: Question::Table(Box::new(question)) });
    let Reply::Answer { answer: Answer::Table(page), .. } = reply(&mut opened.engine, request) else {
        panic!("not a table")
    };
    let first_is_live = there.iter().any(|it| it.allocation == 0);
    assert_eq!(page.found.count, u32::from(first_is_live));
    let gone = next_of(&mut opened, Scope::At(0), SearchStart::Moment(0), Direction::Next, window);
    assert_eq!(gone.is_some(), all[0].allocated_event.is_none());
}

#[test]
fn highlighted_allocations_are_not_faded() {
    let mut opened = sample();
    let device = opened.summary.devices[0].clone();
    let all = all(&mut opened, 0);
    find(&mut opened, 0, "train");
    let wanted = Criterion::Text("train".into());
    let stack = all.iter().find_map(|it| it.stack).unwrap();
    // The tree held few of the stacks when it was requested.
    let arrangement = Arrangement { root: Root::Innermost, ..Arrangement::default() };
    let all_below = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
    let (scope, folds) = (Scope::At(device.events as u32 / 2), vec![all_below]);
    let question = Box::new(TreeQuestion {
        scope,
        arrangement,
        focus: None,
        folds,
        reveal: None,
        search_serial: None,
        rows: [0, 99],
    });
    let Reply::Answer { answer: Answer::Tree(page), .. } =
        reply(&mut opened.engine, Request::Ask(Ask { serial: 2, device: 0, question: Question::Tree(question) }))
    else {
        panic!("not a tree")
    };
    let row = page.rows.iter().find(|row| row.depth == 1 && row.label.name == "at::empty").unwrap();
    let (node, line) = (row.node, &row.label.line);
    let is_below = |id: u32| {
        let Details { is_free_stack: stack_of_free, frames, .. } = &all[id as usize];
        !stack_of_free && frames.first().is_some_and(|frame| frame.name == "at::empty" && frame.line == *line)
    };
    // Large enough that every allocation has a quad of its own.
    let view = View::fit(device.events + 1, device.drawn_peak, 2400, 8000);
    let has_steps = |id: u32| wanted.matches(&all[id as usize]);
    let has_stack = |id: u32| all[id as usize].stack == Some(stack);
    let cases: [(Highlight, &dyn Fn(u32) -> bool); 5] = [
        (Highlight::Node(arrangement, node), &is_below),
        (Highlight::Nothing, &|_| true),
        (Highlight::Found(5), &has_steps),
        (Highlight::Found(4), &|_| true),
        (Highlight::Stack(stack), &has_stack),
    ];
    for (stacking, (highlight, stands_out)) in
        [None, Some(Grouping::Size)].into_iter().flat_map(|by| cases.map(|case| (by, case)))
    {
        let plot_settings = PlotSettings { highlight, stacking, ..PlotSettings::default() };
        let Reply::Answer { answer: Answer::Scene(scene), .. } = reply(
            &mut opened.engine,
            Request::Ask(Ask { serial: 1, device: 0, question: Question::Scene { view, plot_settings } }),
        ) else {
            panic!("not a scene")
        };
        let mut alone = 0;
        for (quad, identity) in scene.quads.iter().zip(&scene.identities).filter(|(_, it)| it.count == 1) {
            assert_eq!(quad.paint & FADED == 0, stands_out(identity.first), "{highlight:?}: {}", identity.first);
            alone += 1;
        }
        assert!(alone > 300, "only {alone} quads have a single allocation");
    }
}
