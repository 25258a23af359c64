//! Native time to answer questions about an open file, through the engine: trees, ranges, searches, reports, the event
//! list, the allocator's state.
//!
//! `cargo bench --bench memscape -- answers [reports|events|state]`. Since times in milliseconds depend on the load of
//! the machine, each is also given as a percentage of the time to open the file in the same run.

use crate::cases::Case;
use crate::figure::{Figure, three_digits};
use crate::{events, native, states};
use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Work};
use memscape::protocol::{
    Arrangement, CategorySet, DeviceSummary, Factor, Fold, FoldScope, FoldState, Internal, Merge, PlanQuestion, Preset,
    ReportQuestion, Root, Scope, SortDirection, Span, TableColumn, TableFilter, TableQuestion, TableSort, Topic,
    TreeQuestion,
};
use std::time::{Duration, Instant};

/// Maximum length of a slice of work, as in the page's worker.
const SLICE: Duration = Duration::from_millis(8);
/// Number of events at which the tree, the ranges and the table are queried.
const MOMENT_COUNT: u32 = 200;

pub(crate) fn run(arguments: &[String]) {
    for case in [
        Case::new("1 M events", "--events 1000000 --frames 60 --oom --leak --pending", 200_000_000),
        Case::new("1 M allocations", "--events 3200000 --frames 60", 640_000_000),
    ] {
        match measure(&case, arguments) {
            Ok(text) => print!("{text}"),
            Err(reason) => println!("{}: skipped, {reason}", case.name),
        }
    }
}

/// Times to answer a question and the longest slice, in milliseconds.
struct Timing {
    took: Figure,
    longest_slice_ms: f64,
}

/// Generates the file, opens it and returns a line per question.
fn measure(case: &Case, arguments: &[String]) -> Result<String, String> {
    let file = case.generate()?;
    let started = Instant::now();
    let (mut engine, device) = native::open_with(&file.path, |_| {});
    let opening = ms(started.elapsed());
    // Background work that only speeds up answers.
    while engine.step(&mut || true) == Work::More {}
    let mut text = format!(
        "{}: {} events, {} allocations; opened in {} ms\n",
        case.name,
        device.events,
        device.allocations,
        three_digits(opening)
    );
    let mut line = |what: &str, asked: &Timing| {
        let part = |ms: Option<f64>| {
            let ms = ms.unwrap_or(0.0);
            format!("{} ms ({} %)", three_digits(ms), three_digits(ms / opening * 100.0))
        };
        text += &format!(
            "  {what:42} median {}, 95 in 100 {}, worst {}; longest slice {} ms\n",
            part(asked.took.median()),
            part(asked.took.percentile(95)),
            part(asked.took.worst()),
            three_digits(asked.longest_slice_ms)
        );
    };
    let only = |group: &str| arguments.iter().any(|word| word == group);
    if !only("reports") && !only("state") {
        for (what, requests) in events::questions(&device) {
            let asked = ask(&mut engine, requests);
            line(&what, &asked);
        }
    }
    if !only("reports") && !only("events") {
        for (what, requests) in states::questions(&device) {
            line(what, &ask(&mut engine, requests));
        }
    }
    if only("events") || only("state") {
        return Ok(text);
    }
    for topic in Topic::ALL {
        // A finished report is not made again, so each has another number of rows.
        let question = |rows| report(&device, ReportQuestion { topic, rows, ..ReportQuestion::default() });
        let first = ask(&mut engine, vec![question(100)]);
        line(&format!("report: {}, the first", topic.name()), &first);
        let asked = ask(&mut engine, (101..111).map(question).collect());
        line(&format!("report: {}", topic.name()), &asked);
    }
    let mut plan = PlanQuestion { capacity: Some(80 << 30), ..PlanQuestion::default() };
    assert!([Preset::Zero2, Preset::Checkpoint].into_iter().all(|preset| preset.add_to(&mut plan, Factor::ONE)));
    let planned = || Ask { serial: 0, device: device.device, question: Question::Plan(Box::new(plan.clone())) };
    let asked = ask(&mut engine, (0..10).map(|_| Request::Ask(planned())).collect());
    line("plan with three groups", &asked);
    if only("reports") {
        return Ok(text);
    }
    let last = device.events as u32;
    let mut chance = 1u64;
    let mut below = |end: u32| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((chance >> 20) % u64::from(end.max(1))) as u32
    };
    let plain = Arrangement::default();
    let inverted = Arrangement { root: Root::Innermost, merge: Merge::Function, internal: Internal::Hidden };
    for (name, arrangement) in [("outermost first", plain), ("inverted, by function, hidden", inverted)] {
        let first = ask(&mut engine, vec![tree(&device, Scope::At(last / 2), arrangement, Vec::new())]);
        line(&format!("tree, {name}, the first"), &first);
        let all = Fold { node: 0, scope: FoldScope::Subtree, state: FoldState::Open };
        for (what, folds) in [("closed", vec![]), ("all open", vec![all])] {
            let questions =
                (0..MOMENT_COUNT).map(|_| tree(&device, Scope::At(below(last)), arrangement, folds.clone()));
            let asked = ask(&mut engine, questions.collect());
            line(&format!("tree, {name}, {what}"), &asked);
        }
    }
    let mut span = || {
        let (one, other) = (below(last), below(last));
        Span { from: one.min(other), to: one.max(other) }
    };
    let ranges = (0..MOMENT_COUNT)
        .map(|_| Request::Ask(Ask { serial: 0, device: device.device, question: Question::Range(span()) }));
    let asked = ask(&mut engine, ranges.collect());
    line("facts of a range", &asked);
    let scopes = (0..MOMENT_COUNT / 4).map(|_| tree(&device, Scope::ByteMoments(span()), plain, Vec::new()));
    let asked = ask(&mut engine, scopes.collect());
    line("tree of bytes × moments in a range", &asked);
    for query in ["/_[a-z]+_(forward|backward).*[0-9]$/", "linear", ">1MiB"] {
        let search =
            || Request::Ask(Ask { serial: 1, device: device.device, question: Question::Find(query.to_owned()) });
        let asked = ask(&mut engine, (0..20).map(|_| search()).collect());
        line(&format!("search: {query}"), &asked);
    }
    let categories = || {
        let question = ReportQuestion { topic: Topic::Categories, at: Some(last / 2), rows: 50, ..Default::default() };
        Request::Ask(Ask { serial: 0, device: device.device, question: Question::Report(question) })
    };
    for set in [CategorySet::standard(), CategorySet::mosaic()] {
        let name = set.name.clone();
        engine.request(Request::Categories(Box::new(set)));
        let first = ask(&mut engine, vec![categories()]);
        line(&format!("categories by the set {name}, told anew"), &first);
        let asked = ask(&mut engine, (0..20).map(|_| categories()).collect());
        line(&format!("categories by the set {name}"), &asked);
    }
    let sorts = TableColumn::ALL.map(|column| TableSort { column, direction: SortDirection::Descending });
    for (name, scope) in
        [("what is live", Scope::At(0)), ("all allocations", Scope::Allocated(Span { from: 0, to: last }))]
    {
        for (what, filter) in [("", ""), (", filtered", "/_[a-z]+_(forward|backward)/ & >=1KiB & life>5")] {
            let questions = (0..MOMENT_COUNT / 4).map(|_| {
                let scope = if scope == Scope::At(0) { Scope::At(below(last)) } else { scope };
                table(&device, scope, sorts[1], filter)
            });
            let asked = ask(&mut engine, questions.collect());
            line(&format!("table of {name}{what}"), &asked);
        }
    }
    for sort in sorts {
        let scope = Scope::Allocated(Span { from: 0, to: last });
        let asked = ask(&mut engine, vec![table(&device, scope, sort, "")]);
        line(&format!("all allocations, sorted by {:?}", sort.column), &asked);
    }
    let heap: Vec<_> = engine.heap_bytes().into_iter().filter(|(name, _)| *name == "answers").collect();
    text += &format!("  {heap:?} bytes\n");
    Ok(text)
}

pub(crate) fn tree(device: &DeviceSummary, scope: Scope, arrangement: Arrangement, folds: Vec<Fold>) -> Request {
    let question =
        TreeQuestion { scope, arrangement, focus: None, folds, reveal: None, search_serial: None, rows: [0, 60] };
    Request::Ask(Ask { serial: 0, device: device.device, question: Question::Tree(Box::new(question)) })
}

fn report(device: &DeviceSummary, question: ReportQuestion) -> Request {
    Request::Ask(Ask { serial: 0, device: device.device, question: Question::Report(question) })
}

fn table(device: &DeviceSummary, scope: Scope, sort: TableSort, filter: &str) -> Request {
    let filter = TableFilter { text: filter.to_owned(), ..TableFilter::default() };
    let question =
        TableQuestion { scope, filter, sort, rows: [0, 60], reveal: None, selected: Vec::new(), search_serial: None };
    Request::Ask(Ask { serial: 0, device: device.device, question: Question::Table(Box::new(question)) })
}

/// Answers the requests in turn, in slices as the page's worker does.
fn ask(engine: &mut Engine, requests: Vec<Request>) -> Timing {
    let mut longest = Duration::ZERO;
    let mut one = |request: Request| {
        let started = Instant::now();
        engine.request(request);
        loop {
            let slice = Instant::now();
            engine.step(&mut || slice.elapsed() < SLICE);
            longest = slice.elapsed().max(longest);
            match engine.next_reply() {
                Some(Reply::Answer { answer: Answer::Tree(page), .. }) => {
                    assert!(!page.rows.is_empty());
                    return ms(started.elapsed());
                }
                Some(_) => return ms(started.elapsed()),
                None => {}
            }
        }
    };
    let took = requests.into_iter().map(&mut one).collect();
    Timing { took, longest_slice_ms: ms(longest) }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
