//! Cost of partial results while a file loads: the time to open it with and without them, in turn.
//! `cargo bench --bench memscape -- unfinished`.

use crate::generate::{Options, generate};
use memscape::engine::{Engine, Reply, Request};
use memscape::protocol::{Access, encode};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const CHUNK: usize = 1 << 20;
/// Time of the first partial result and interval of the next, as in the page.
const FIRST: Duration = Duration::from_millis(150);
const INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn run(_: &[String]) {
    for events in [1_000_000, 4_000_000] {
        let words = format!("--events {events} --frames 20");
        let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
        let (bytes, _) = generate(&options, Vec::new()).expect("writing to a Vec succeeds");
        let mut seconds = [Vec::new(), Vec::new()];
        let mut messages = (0, 0);
        open(&bytes, true);
        for round in 0..ROUNDS {
            // The order alternates, so that neither always runs first.
            for tells in [round % 2 == 0, round % 2 != 0] {
                let (took, sent) = open(&bytes, tells);
                seconds[usize::from(tells)].push(took);
                messages = if tells { sent } else { messages };
            }
        }
        let [without, with] = seconds.map(median);
        println!(
            "{events} events, {} MB: {without:.3} s without, {with:.3} s with {} messages of {} kB on average: ratio {:.3}",
            bytes.len() / 1_000_000,
            messages.0,
            messages.1 / messages.0.max(1) / 1000,
            with / without
        );
    }
}

/// Opens the file; returns the seconds, the number of partial results and their bytes.
fn open(bytes: &[u8], tells: bool) -> (f64, (usize, usize)) {
    let started = Instant::now();
    let mut due = started + FIRST;
    let mut engine = Engine::new();
    let total_bytes = Some(bytes.len() as u64);
    engine.request(Request::Open { name: "a.pickle".to_owned(), total_bytes, access: Access::Random, member: None });
    let (mut chunks, mut sent) = (bytes.chunks(CHUNK), (0, 0));
    loop {
        if engine.wants().is_some() {
            match chunks.next() {
                Some(chunk) => engine.feed(chunk.to_vec()),
                None => engine.request(Request::EndOfFile),
            }
        }
        engine.step(&mut || true);
        if tells
            && Instant::now() >= due
            && let Some(partial) = engine.partial()
        {
            sent = (sent.0 + 1, sent.1 + encode(&Reply::Partial(partial)).len());
            due = Instant::now() + INTERVAL;
        }
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(_) => return (started.elapsed().as_secs_f64(), sent),
                Reply::Failed { message } => panic!("{message}"),
                _ => {}
            }
        }
    }
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
