//! One file with hundreds of thousands of lines that each allocate: every question has its answer in slices, and none has its work done
//! while it is handed over.
#![allow(clippy::unwrap_used, clippy::panic, reason = "how a test fails")]

#[path = "support/numbered.rs"]
#[allow(dead_code, reason = "each test file uses its part")]
mod numbered;

use memscape::engine::protocol::At;
use memscape::engine::{Reply, Request};
use numbered::{Open, lines, open};
use std::time::Duration;

const LINES: u32 = 300_000;

/// What a slice may take here: the tests are not optimised, and share the machine with others.
const LONGEST: Duration = Duration::from_millis(40);

/// Asks, and says how long the engine did not ask for the time.
fn slowest(open: &mut Open, request: Request) -> (Reply, Duration) {
    open.slowest = Duration::ZERO;
    let reply = open.reply(request);
    (reply, open.slowest)
}

#[test]
fn no_question_holds_the_worker_up() {
    let mut open = open(&lines(LINES));

    // What a ruler asks.
    let at = (0..=LINES).step_by(1000).map(At::Moment).collect();
    let (reply, took) = slowest(&mut open, Request::Moments { serial: 1, device: 0, at });
    let Reply::Moments { moments, .. } = reply else { panic!("{reply:?}") };
    assert!((0..).step_by(1000).zip(&moments).all(|(at, facts): (u32, _)| facts.count == at.saturating_sub(1)));
    assert!(took < LONGEST, "moments: {took:?}");
}
