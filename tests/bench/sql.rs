//! Time of SQL queries over a million events, beside their limits: `cargo bench --bench memscape -- sql`.

use crate::generate::{self, Options};
use memscape::engine::{Engine, Reply, Request};
use memscape::sql::{Limits, Queries, Source};
use std::sync::OnceLock;
use std::time::Instant;

/// Queries with their limit in milliseconds; 0 without a limit.
const QUERIES: [(&str, &str, f64); 9] = [
    ("sum of sizes", "SELECT sum(requested_bytes) FROM allocation", 150.0),
    ("sum of the sizes of all events", "SELECT sum(size_bytes) FROM event", 150.0),
    ("group allocations by stack", "SELECT stack, sum(requested_bytes) FROM allocation GROUP BY stack", 1500.0),
    ("group events by stack", "SELECT stack, sum(size_bytes) FROM event GROUP BY stack", 1500.0),
    ("group by call site", "SELECT call_site, sum(requested_bytes) FROM allocation GROUP BY call_site", 0.0),
    ("highest point of the curve", "SELECT max(live_bytes) FROM curve", 0.0),
    ("live at an event", "SELECT sum(requested_bytes) FROM live_at(500000)", 0.0),
    ("tree at the peak", "SELECT count(*) FROM tree('peak')", 0.0),
    ("stacks of forward", "SELECT count(*) FROM allocation WHERE frame_match(stack, 'forward')", 0.0),
];

fn clock() -> f64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}

pub(crate) fn run(_: &[String]) {
    let (options, _) = Options::parse(["--events", "1000000"].map(str::to_owned).into_iter()).unwrap();
    let bytes = generate::generate(&options, Vec::new()).unwrap().0;
    let mut engine = Engine::new();
    let total_bytes = Some(bytes.len() as u64);
    let access = memscape::protocol::Access::Random;
    engine.request(Request::Open { name: "bench.pickle".to_owned(), total_bytes, access, member: None });
    let mut rest = Some(bytes);
    let summary = loop {
        if engine.wants().is_some() {
            match rest.take() {
                Some(bytes) => engine.feed(bytes),
                None => engine.request(Request::EndOfFile),
            }
        }
        engine.step(&mut || true);
        match engine.next_reply() {
            Some(Reply::Opened(summary)) => break *summary,
            Some(Reply::Failed { message }) => panic!("{message}"),
            _ => {}
        }
    };
    summary.devices.iter().for_each(|device| _ = engine.complete_side(device.device));
    let (events, allocations) = (summary.devices[0].events, summary.devices[0].allocations);
    println!("{events} events, {allocations} allocations");
    let limits = Limits { seconds: 0, memory: 1 << 30 };
    let queries = Queries::new(Source::single(summary, Box::new(engine)), clock, limits).unwrap();
    for (what, sql, most) in QUERIES {
        let mut best = f64::MAX;
        for _ in 0..5 {
            let began = Instant::now();
            queries.run(sql, &mut |_| {}, &mut |_| true).unwrap();
            best = best.min(began.elapsed().as_secs_f64() * 1e3);
        }
        let ratio = if most > 0.0 { format!(", {:.2} of the {most} ms allowed", best / most) } else { String::new() };
        println!("{what:32} {best:8.1} ms{ratio}");
    }
}
