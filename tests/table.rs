//! The table of allocations compared with brute force: rows, sums, order, histograms and text, for random histories and
//! real files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

use crate::opened;

use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Work};
use memscape::protocol::{
    Arrangement, Details, EventSpan, Fold, FoldScope, FoldState, Internal, LIFETIME_CLASSES, LIFETIME_TO_END,
    LIFETIME_UNKNOWN, Merge, Origin, Root, SIZE_CLASSES, Scope, SortDirection, Span, TableCell, TableColumn,
    TableFilter, TablePage, TableQuestion, TableRow, TableSort, TreeQuestion, Weight,
};
use memscape::ui::scope::details::view;
use opened::{Opened, open, real_pickles};
use proptest::prelude::*;
use serde_json::{Value, json};

const START_US: u64 = 1_700_000_000_000_000;

/// Clock error at an event in µs. One event in seven is recorded too early.
fn steps_back(event: u64) -> u64 {
    if event % 7 == 3 { 995 } else { 0 }
}

/// A snapshot with alternating allocations and frees. Two blocks were allocated before recording.
fn file(turns: &[(u64, usize, u64)]) -> Vec<u8> {
    let frames = |stack: u64| -> Value {
        let frame = |at: u64| {
            let place = [("Forward", "/home/me/Train.py"), ("step", "/home/me/model.py"), ("at::empty", "??")];
            let (name, file) = place[at as usize % 3];
            json!({ "name": name, "filename": file, "line": at % 4 * 7 })
        };
        (0..stack % 4).map(|depth| frame(stack / 4 + depth)).collect()
    };
    let mut live: Vec<(u64, u64, u64)> = vec![(1 << 20, 3000, 7), (2 << 20, 70, 13)];
    let mut trace = Vec::new();
    let mut event = |action: &str, (address, size, stack): (u64, u64, u64)| {
        let time = START_US + 10 * trace.len() as u64 - steps_back(trace.len() as u64);
        trace.push(json!({ "action": action, "addr": address, "size": size, "stream": stack % 3, "time_us": time, "frames": frames(stack) }));
    };
    for &(size, which, stack) in turns {
        if which % 3 == 0 && !live.is_empty() {
            let gone = live.swap_remove(which / 3 % live.len());
            event("free_requested", gone);
            event("free_completed", gone);
        } else {
            let address = (3..).map(|place| place << 20).find(|&at| live.iter().all(|it| it.0 != at)).unwrap();
            live.push((address, size, stack));
            event("alloc", (address, size, stack));
        }
    }
    let block = |&(address, size, stack): &(u64, u64, u64)| json!({ "address": address, "size": size.div_ceil(512).max(1) * 512, "requested_size": size, "state": "active_allocated", "frames": frames(stack) });
    let blocks: Vec<Value> = live.iter().map(block).collect();
    let segment = json!({ "device": 0, "address": 0, "total_size": 1u64 << 40, "allocated_size": 0, "active_size": 0, "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": [0, 0], "blocks": blocks });
    serde_json::to_vec(&json!({ "segments": [segment], "device_traces": [trace] })).unwrap()
}

/// Details of all allocations of a device.
fn all_details(opened: &mut Opened, device: i64) -> Vec<Details> {
    (0..).map_while(|id| opened.details(device, id)).collect()
}

/// A filter term: its meaning and the text typed for it.
#[derive(Clone, Debug)]
enum Term {
    Text(&'static str),
    Size(u64, u64),
    Age(u64, u64),
    Life(u64, u64),
}

fn allocated_at(it: &Details) -> u64 {
    it.allocated_event.map_or(0, |event| u64::from(event) + 1)
}

fn freed_at(it: &Details) -> u64 {
    it.freed_event.map_or(u64::MAX, |event| u64::from(event) + 1)
}

fn moment(scope: Scope) -> u64 {
    match scope {
        Scope::All => unreachable!("Scope::Ever is replaced before ages are computed"),
        Scope::At(moment) => moment.into(),
        Scope::Allocated(span)
        | Scope::Freed(span)
        | Scope::StillLive(span)
        | Scope::ByteMoments(span)
        | Scope::Change(span) => span.to.into(),
    }
}

fn age(it: &Details, scope: Scope) -> u64 {
    moment(scope).min(freed_at(it)).saturating_sub(allocated_at(it))
}

impl Term {
    fn query_text(&self) -> String {
        match self {
            Term::Text(text) => (*text).to_owned(),
            Term::Size(least, u64::MAX) => format!(">={least}"),
            Term::Size(least, most) => format!("{least}..{most}"),
            Term::Age(least, u64::MAX) => format!("age>={least}"),
            Term::Age(least, most) => format!("age {least}..{most}"),
            Term::Life(least, u64::MAX) => format!("life >= {least}"),
            Term::Life(least, most) => format!("life {least}..{most}"),
        }
    }

    fn matches(&self, it: &Details, scope: Scope) -> bool {
        match *self {
            Term::Text(text) => it.frames.iter().any(|frame| {
                format!("{}:{} {}", frame.filename, frame.line, frame.name)
                    .to_lowercase()
                    .contains(&text.to_lowercase())
            }),
            Term::Size(least, most) => (least..=most).contains(&it.requested),
            Term::Age(least, most) => (least..=most).contains(&age(it, scope)),
            Term::Life(_, most) if it.freed_event.is_none() => most == u64::MAX,
            Term::Life(least, most) => (least..=most).contains(&(freed_at(it) - allocated_at(it))),
        }
    }
}

fn in_scope(scope: Scope, it: &Details) -> bool {
    let (allocated_at, freed_at) = (allocated_at(it), freed_at(it));
    // A range contains the alloc event or the completed free.
    let among = |span: Span, event: Option<u32>| event.is_some_and(|event| (span.from..span.to).contains(&event));
    match scope {
        Scope::All => true,
        Scope::At(moment) => allocated_at <= moment.into() && u64::from(moment) < freed_at,
        Scope::Allocated(span) => among(span, it.allocated_event),
        Scope::Freed(span) => among(span, it.freed_event),
        Scope::StillLive(span) => among(span, it.allocated_event) && freed_at > span.to.into(),
        Scope::Change(span) => {
            let [a, b] = [span.from, span.to].map(|moment| (allocated_at..freed_at).contains(&moment.into()));
            a != b
        }
        Scope::ByteMoments(span) => {
            (span.from..span.to).any(|moment| (allocated_at..freed_at).contains(&moment.into()))
        }
    }
}

/// Class of sizes or lifetimes from 2^(k − 1) to 2^k − 1.
fn class(value: u64) -> u8 {
    (0..=64).find(|&class| u128::from(value) < 1 << class).unwrap()
}

fn life_class(it: &Details) -> u8 {
    match (it.freed_event, it.allocated_event) {
        (None, _) => LIFETIME_TO_END,
        (_, None) => LIFETIME_UNKNOWN,
        _ => class(freed_at(it) - allocated_at(it)),
    }
}

fn key(it: &Details, scope: Scope, column: TableColumn) -> (u64, u64) {
    let value = match column {
        TableColumn::Id | TableColumn::CallSite | TableColumn::Allocated => it.allocation.into(),
        TableColumn::Size => it.requested,
        TableColumn::Address => it.address.unwrap_or(0),
        TableColumn::Stream => it.stream.map_or(0, |stream| stream + 1),
        TableColumn::Pool => return it.pool.map_or((0, 0), |(first, second)| (first + 1, second)),
        TableColumn::Age => age(it, scope),
        TableColumn::Freed => freed_at(it),
        TableColumn::Lifetime if it.freed_event.is_none() => u64::MAX,
        TableColumn::Lifetime => freed_at(it) - allocated_at(it),
    };
    (value, 0)
}

fn weight<'a>(of: impl IntoIterator<Item = &'a Details>) -> Weight {
    let mut sum = Weight::default();
    for it in of {
        sum = Weight { bytes: sum.bytes + it.requested, count: sum.count + 1 };
    }
    sum
}

fn question(scope: Scope, sort: TableSort) -> TableQuestion {
    let filter = TableFilter::default();
    TableQuestion { scope, filter, sort, rows: [0, 40], reveal: None, selected: Vec::new(), search_serial: None }
}

const BY_NUMBER: TableSort = TableSort { column: TableColumn::Id, direction: SortDirection::Ascending };

/// Answers a question in slices of one unit of work.
fn page(engine: &mut Engine, device: i64, question: &TableQuestion) -> TablePage {
    engine.request(Request::Ask(Ask { serial: 9, device, question: Question::Table(Box::new(question.clone())) }));
    loop {
        match engine.next_reply() {
            Some(Reply::Answer { serial: 9, answer: Answer::Table(page) }) => return *page,
            Some(other) => panic!("{other:?}"),
            None => drop(engine.step(&mut || false)),
        }
    }
}

/// Lines of the copied text without the header, and the number of parts.
fn text(engine: &mut Engine, device: i64, question: &TableQuestion) -> (Vec<String>, usize) {
    engine.request(Request::Ask(Ask { serial: 8, device, question: Question::TableText(Box::new(question.clone())) }));
    let (mut text, mut parts) = (String::new(), 0);
    loop {
        let mut pieces = 20;
        engine.step(&mut || {
            pieces -= 1;
            pieces > 0
        });
        while let Some(reply) = engine.next_reply() {
            let Reply::Answer { serial: 8, answer: Answer::TableText(part) } = reply else { panic!("{reply:?}") };
            text += &part.text;
            parts += 1;
            if part.last {
                let mut lines = text.lines().map(str::to_owned);
                assert_eq!(lines.next().map(|head| head.split('\t').count()), Some(14));
                let lines: Vec<String> = lines.collect();
                assert_eq!(lines.len() as u32, part.rows);
                return (lines, parts);
            }
        }
    }
}

/// The age or lifetime of a row.
fn span(row: &TableRow, column: TableColumn) -> EventSpan {
    let TableCell::Events(span) = row.cells[column as usize] else { panic!("{column:?} of {row:?}") };
    span
}

/// Sort key of a call site: file, line, function.
fn site_key(site: &str) -> (Vec<u8>, u64, Vec<u8>) {
    let beginning = |text: &str, most: usize| text.to_ascii_lowercase().bytes().take(most).collect::<Vec<u8>>();
    let parts = site.split_once(' ').and_then(|(place, name)| {
        let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
        Some((beginning(file, 32), line.parse().ok()?, beginning(name, 16)))
    });
    parts.unwrap_or_else(|| (beginning(site, 32), 0, Vec::new()))
}

/// The scope clamped to the events of the trace.
fn clamped(opened: &Opened, device: i64, scope: Scope) -> Scope {
    let device = opened.summary.devices.iter().find(|it| it.device == device).unwrap();
    let last = |moment: u32| moment.min(device.events as u32);
    let span = |span: Span| Span { from: last(span.from), to: last(span.to) };
    match scope {
        Scope::All => Scope::All,
        Scope::At(moment) => Scope::At(last(moment)),
        Scope::Allocated(range) => Scope::Allocated(span(range)),
        Scope::Freed(range) => Scope::Freed(span(range)),
        Scope::StillLive(range) => Scope::StillLive(span(range)),
        Scope::ByteMoments(range) => Scope::ByteMoments(span(range)),
        Scope::Change(range) => Scope::Change(span(range)),
    }
}

/// Compares a table with brute force over all allocations.
fn check(opened: &mut Opened, device: i64, all: &[Details], terms: &[Term], asked: &TableQuestion) {
    let scope = clamped(opened, device, asked.scope);
    let aged = match scope {
        Scope::All => clamped(opened, device, Scope::At(u32::MAX)),
        other => other,
    };
    let within = |wanted: Option<[u8; 2]>, class: u8| wanted.is_none_or(|[from, to]| from <= class && class <= to);
    let in_scope: Vec<&Details> = all.iter().filter(|it| in_scope(scope, it)).collect();
    let by_text: Vec<&Details> =
        in_scope.iter().copied().filter(|it| terms.iter().all(|term| term.matches(it, aged))).collect();
    let by_size = |it: &&&Details| within(asked.filter.sizes, class(it.requested));
    let by_life = |it: &&&Details| within(asked.filter.lifetimes, life_class(it));
    let mut rows: Vec<&Details> = by_text.iter().filter(by_size).filter(by_life).copied().collect();
    let actual = page(&mut opened.engine, device, asked);
    let context = format!("{asked:?}");
    assert_eq!(actual.scope, weight(in_scope), "{context}");
    assert_eq!(actual.listed, weight(rows.iter().copied()), "{context}");
    let is_off = |it: &&&Details| matches!(scope, Scope::Change(span) if self::in_scope(Scope::At(span.from), it));
    assert_eq!(actual.freed, weight(rows.iter().filter(is_off).copied()), "{context}");
    for of in 0..SIZE_CLASSES {
        let bar = by_text.iter().filter(by_life).copied().filter(|it| usize::from(class(it.requested)) == of);
        assert_eq!(actual.sizes[of], weight(bar), "size class {of} of {context}");
    }
    for of in 0..LIFETIME_CLASSES {
        let bar = by_text.iter().filter(by_size).copied().filter(|it| usize::from(life_class(it)) == of);
        assert_eq!(actual.lifetimes[of], weight(bar), "life class {of} of {context}");
    }
    let first = asked.rows[0] as usize;
    assert_eq!(actual.first as usize, first);
    assert_eq!(actual.rows.len(), rows.len().saturating_sub(first).min(asked.rows[1] as usize), "{context}");
    if asked.sort.column == TableColumn::CallSite {
        let mut sites: Vec<_> = actual.rows.iter().map(|row| site_key(&row.call_site)).collect();
        if asked.sort.direction == SortDirection::Descending {
            sites.reverse();
        }
        assert!(sites.is_sorted(), "{context}: {sites:?}");
        return;
    }
    rows.sort_by(|one, other| {
        let [one, other] = [one, other].map(|it| key(it, aged, asked.sort.column));
        if asked.sort.direction == SortDirection::Ascending { one.cmp(&other) } else { other.cmp(&one) }
    });
    for (row, it) in actual.rows.iter().zip(rows.iter().skip(first)) {
        assert_eq!(
            (row.allocation, row.requested, row.address()),
            (it.allocation, it.requested, it.address),
            "{context}"
        );
        assert_eq!((row.allocated_at, row.freed), (it.allocated_event, it.freed_event));
        let cell = |column: TableColumn| &row.cells[column as usize];
        assert_eq!(cell(TableColumn::Id), &TableCell::Unsigned(Some(it.allocation.into())));
        assert_eq!(cell(TableColumn::Size), &TableCell::Bytes(Some(it.requested)));
        assert_eq!(cell(TableColumn::Stream), &TableCell::Stream(it.stream));
        assert_eq!(cell(TableColumn::Pool), &TableCell::Pool(it.pool));
        assert_eq!(cell(TableColumn::Allocated), &TableCell::Start(it.allocated_event, it.allocated_us));
        assert_eq!(cell(TableColumn::Freed), &TableCell::End(it.freed_event, it.freed_us));
        assert_eq!(span(row, TableColumn::Age).events.map(u64::from), Some(age(it, aged)), "{context}");
        if let Some(site) = view(it).call_site {
            assert_eq!(row.call_site, site);
        }
        assert_eq!(row.call_site.is_empty(), it.frames.is_empty());
    }
    let weighed =
        asked.selected.iter().flat_map(|&[from, to]| rows.iter().copied().take(to as usize).skip(from as usize));
    assert_eq!(actual.selected, weight(weighed), "{context}");
    let place = asked.reveal.and_then(|wanted| rows.iter().position(|it| it.allocation == wanted));
    assert_eq!(actual.revealed, place.map(|place| place as u32), "{context}");
    if !asked.selected.is_empty() {
        let (lines, _) = text(&mut opened.engine, device, asked);
        let chosen = asked.selected.iter().flat_map(|&[from, to]| rows.iter().take(to as usize).skip(from as usize));
        let expected: Vec<[String; 4]> = chosen.map(|it| as_fields(it)).collect();
        let found: Vec<[String; 4]> = lines.iter().map(|line| fields(line)).collect();
        assert_eq!(found, expected, "{context}");
    }
}

/// A clock that is set back gives no negative lifetime.
#[test]
fn lifetime_on_time_axis_is_never_negative() {
    let turns: Vec<(u64, usize, u64)> = (0..200).map(|at| (700 + at, at as usize * 5 % 11, at % 23)).collect();
    let mut opened = open(&file(&turns)).unwrap();
    let all = all_details(&mut opened, 0);
    let latest = |event: u32| 10 * u64::from(if event % 7 == 3 { event - 1 } else { event });
    let elapsed =
        |from: Option<u32>, to: Option<u32>| from.zip(to).map(|(from, to)| (latest(to) - latest(from)) as i64);
    let moment = 150;
    let asked = TableQuestion {
        scope: Scope::Allocated(Span { from: 0, to: moment }),
        filter: TableFilter::default(),
        sort: TableSort { column: TableColumn::Id, direction: SortDirection::Ascending },
        rows: [0, 300],
        reveal: None,
        selected: vec![[0, 300]],
        search_serial: None,
    };
    let page = page(&mut opened.engine, 0, &asked);
    let (lines, _) = text(&mut opened.engine, 0, &asked);
    assert!(page.rows.len() > 50 && lines.len() == page.rows.len());
    let mut seen = 0;
    for (row, line) in page.rows.iter().zip(&lines) {
        let it = &all[row.allocation as usize];
        let last = row.freed.map_or(moment - 1, |freed| freed.min(moment - 1));
        let (age, life) = (elapsed(row.allocated_at, Some(last)), elapsed(row.allocated_at, row.freed));
        let spans = [TableColumn::Age, TableColumn::Lifetime].map(|column| span(row, column).us);
        assert_eq!((spans, it.lifetime_us), ([age, life], life));
        let actual = |us: Option<i64>| us.map_or_else(String::new, |us| us.to_string());
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!([fields[8], fields[12]], [actual(age), actual(life)]);
        seen += u32::from(it.freed_us < it.allocated_us && row.freed.is_some());
    }
    assert!(seen > 3, "{seen} allocations are freed before they are allocated by the clock");
}

/// Id, bytes, address and lifetime of a line.
fn fields(line: &str) -> [String; 4] {
    let fields: Vec<&str> = line.split('\t').collect();
    assert_eq!(fields.len(), 14, "{line}");
    [0, 1, 2, 11].map(|at| fields[at].to_owned())
}

fn as_fields(it: &Details) -> [String; 4] {
    let life = it.freed_event.zip(it.allocated_event).map(|(freed, allocated_at)| (freed - allocated_at).to_string());
    let address = it.address.map(|address| format!("0x{address:x}"));
    [it.allocation.to_string(), it.requested.to_string(), address.unwrap_or_default(), life.unwrap_or_default()]
}

fn scopes() -> impl Strategy<Value = Scope> {
    (0u32..7, 0u32..90, 0u32..90).prop_map(|(which, one, other)| {
        let span = Span { from: one.min(other), to: one.max(other) };
        [
            Scope::At(one),
            Scope::Allocated(span),
            Scope::Freed(span),
            Scope::StillLive(span),
            Scope::ByteMoments(span),
            Scope::All,
            Scope::Change(span),
        ][which as usize]
    })
}

fn terms() -> impl Strategy<Value = Vec<Term>> {
    let end = |most: u64| prop_oneof![(0..most).prop_map(Some), Just(None)];
    let ends = move |most: u64| {
        (0..most, end(most))
            .prop_map(|(one, other)| other.map_or((one, u64::MAX), |other| (one.min(other), one.max(other))))
    };
    let one = prop_oneof![
        prop::sample::select(vec!["train", "STEP", "py:7", "nothing", "empty"]).prop_map(Term::Text),
        ends(4000).prop_map(|(least, most)| Term::Size(least, most)),
        ends(60).prop_map(|(least, most)| Term::Age(least, most)),
        ends(60).prop_map(|(least, most)| Term::Life(least, most)),
    ];
    prop::collection::vec(one, 0..3)
}

fn sorts() -> impl Strategy<Value = TableSort> {
    (prop::sample::select(TableColumn::ALL.to_vec()), any::<bool>()).prop_map(|(column, down)| TableSort {
        column,
        direction: if down { SortDirection::Descending } else { SortDirection::Ascending },
    })
}

fn typed(terms: &[Term]) -> String {
    terms.iter().map(Term::query_text).collect::<Vec<_>>().join(" & ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn table_matches_brute_force(
        turns in prop::collection::vec((prop_oneof![0u64..4000, Just(512)], 0usize..300, 0u64..40), 0..60),
        asked in prop::collection::vec((scopes(), terms(), sorts(), prop::option::of([0u8..13, 0u8..13]), prop::option::of([0u8..35, 0u8..35])), 1..8),
        rows in [0u32..50, 0u32..50],
        reveal in 0u32..70,
    ) {
        let mut opened = open(&file(&turns)).unwrap();
        let all = all_details(&mut opened, 0);
        for (scope, terms, sort, sizes, lives) in asked {
            let ordered = |it: Option<[u8; 2]>| it.map(|[one, other]| [one.min(other), one.max(other)]);
            let text = typed(&terms);
            let filter = TableFilter { text, node: None, sizes: ordered(sizes), lifetimes: ordered(lives) };
            let selected = vec![[rows[0], rows[0] + rows[1]], [90, 300]];
            let reveal = Some(reveal);
            let asked = TableQuestion { scope, filter, sort, rows, reveal, selected, search_serial: None };
            check(&mut opened, 0, &all, &terms, &asked);
        }
    }
}

#[test]
fn table_of_real_files_matches_brute_force() {
    let Some(paths) = real_pickles() else { return };
    let mut tables = 0;
    for path in &paths {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        for device in opened.summary.devices.clone().iter().filter(|device| (1..6000).contains(&device.allocations)) {
            let all = all_details(&mut opened, device.device);
            let events = device.events as u32;
            let span = Span { from: events / 3, to: events / 2 };
            let peak = Scope::At((device.peak_event + 1) as u32);
            let actual = page(&mut opened.engine, device.device, &question(peak, BY_NUMBER));
            assert_eq!(actual.scope.bytes as i64, device.drawn_peak as i64, "{}", path.display());
            for (at, scope) in
                [peak, Scope::At(events), Scope::Allocated(span), Scope::StillLive(span)].into_iter().enumerate()
            {
                for (column, way) in TableColumn::ALL
                    .into_iter()
                    .zip([SortDirection::Ascending, SortDirection::Descending].into_iter().cycle())
                {
                    let terms =
                        if at == 0 { vec![] } else { vec![Term::Size(1024, u64::MAX), Term::Age(at as u64, u64::MAX)] };
                    let filter = TableFilter { text: typed(&terms), ..TableFilter::default() };
                    let (sort, reveal) = (TableSort { column, direction: way }, Some(all.len() as u32 / 2));
                    let asked = TableQuestion {
                        filter,
                        reveal,
                        rows: [3, 400],
                        selected: vec![[1, 2], [5, 3000]],
                        ..question(scope, sort)
                    };
                    check(&mut opened, device.device, &all, &terms, &asked);
                    tables += 1;
                }
            }
            let unexplained = all.iter().filter(|it| it.origin == Origin::Unexplained).count();
            assert!(unexplained <= 1);
        }
    }
    assert!(tables > 100, "only {tables} tables");
}

#[test]
fn node_filter_lists_allocations_of_tree_node() {
    let turns: Vec<(u64, usize, u64)> =
        (0..600).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect();
    let mut opened = open(&file(&turns)).unwrap();
    let open_all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
    let (scope, mut nodes) = (Scope::At(400), 0);
    for arrangement in
        [Arrangement::default(), Arrangement { root: Root::Innermost, merge: Merge::File, internal: Internal::Hidden }]
    {
        let tree = TreeQuestion {
            scope,
            arrangement,
            focus: None,
            folds: vec![open_all],
            reveal: None,
            search_serial: None,
            rows: [0, 500],
        };
        opened.engine.request(Request::Ask(Ask { serial: 1, device: 0, question: Question::Tree(Box::new(tree)) }));
        while opened.engine.step(&mut || true) == Work::More {}
        let Some(Reply::Answer { answer: Answer::Tree(tree), .. }) = opened.engine.next_reply() else {
            panic!("no tree")
        };
        for row in &tree.rows {
            let filter = TableFilter { node: Some((arrangement, row.node)), ..TableFilter::default() };
            let actual = page(&mut opened.engine, 0, &TableQuestion { filter, ..question(scope, BY_NUMBER) });
            assert_eq!((actual.listed, actual.scope), (row.weight, tree.total), "{row:?}");
            nodes += 1;
        }
    }
    assert!(nodes > 20, "{nodes} nodes");
}

#[test]
fn newer_request_replaces_older_and_invalid_filter_lists_nothing() {
    let turns: Vec<(u64, usize, u64)> =
        (0..600).map(|at| (512 + at % 7 * 100, at as usize * 7 % 31, at % 23)).collect();
    let mut opened = open(&file(&turns)).unwrap();
    let engine = &mut opened.engine;
    for serial in 1..4 {
        let question = Box::new(question(Scope::At(serial * 10), BY_NUMBER));
        engine.request(Request::Ask(Ask { serial, device: 0, question: Question::Table(question) }));
        engine.step(&mut || false);
    }
    while engine.step(&mut || true) == Work::More {}
    let replies: Vec<Reply> = std::iter::from_fn(|| engine.next_reply()).collect();
    assert!(matches!(replies.last(), Some(Reply::Answer { serial: 3, answer: Answer::Table(_) })), "{replies:?}");
    let wrong = TableQuestion {
        filter: TableFilter { text: "age>".into(), ..TableFilter::default() },
        ..question(Scope::At(50), BY_NUMBER)
    };
    let actual = page(engine, 0, &wrong);
    assert!(actual.scope.count > 0 && actual.listed == Weight::default() && actual.rows.is_empty());
    let actual = page(engine, 77, &question(Scope::At(50), BY_NUMBER));
    assert_eq!(actual.scope, Weight::default(), "unknown device");
    let everything = Span { from: 0, to: u32::MAX };
    let actual = page(
        engine,
        0,
        &TableQuestion { rows: [u32::MAX, u32::MAX], ..question(Scope::Allocated(everything), BY_NUMBER) },
    );
    assert!(actual.rows.is_empty() && actual.scope.count > 300);
}

#[test]
fn long_text_is_sent_in_parts() {
    let turns: Vec<(u64, usize, u64)> = (0..30_000).map(|at| (at, 1, at % 5)).collect();
    // Nothing is freed, because `file` would take too long to find addresses.
    let event = |at: u64, size: u64| json!({ "action": "alloc", "addr": at << 20, "size": size, "stream": 0, "frames": [{ "name": "a\tb\nc", "filename": "/x/y.py", "line": 3 }] });
    let trace: Vec<Value> = turns.iter().map(|&(at, _, _)| event(at + 1, at)).collect();
    let bytes = serde_json::to_vec(&json!({ "segments": [], "device_traces": [trace] })).unwrap();
    let mut opened = open(&bytes).unwrap();
    let chosen = vec![[0, u32::MAX]];
    let asked = TableQuestion { selected: chosen, ..question(Scope::At(30_000), BY_NUMBER) };
    let (lines, parts) = text(&mut opened.engine, 0, &asked);
    // Unexplained bytes are a row of their own, if there are any.
    assert!(lines.len() >= 30_000 && lines.len() <= 30_001 && parts > 3, "{} lines in {parts} parts", lines.len());
    assert!(lines[5].ends_with("\t/x/y.py:3 a b c"), "{}", lines[5]);
}
