//! Unit tests of the results that insights share.

use super::*;
use crate::rehearsal::SyntheticSnapshot;
use crate::what_if::simulator;
use crate::{Answer, Ask, Engine, Question, Reply, Request, Work};
use protocol::{Access, WhatIf, WhatIfQuestion};

/// Returns an engine that has opened a small snapshot, and the ordinal of its device.
pub(super) fn opened() -> (Engine, i64) {
    opened_bytes(SyntheticSnapshot::new(16).flatten().collect())
}

/// Returns an engine that has opened this snapshot, and the ordinal of its first device.
pub(super) fn opened_bytes(bytes: Vec<u8>) -> (Engine, i64) {
    let mut engine = Engine::new();
    open_in(&mut engine, bytes);
    let device = engine.file.as_ref().unwrap().histories[0].device;
    (engine, device)
}

/// Opens a snapshot.
pub(super) fn open_in(engine: &mut Engine, bytes: Vec<u8>) {
    let total_bytes = Some(bytes.len() as u64);
    engine.request(Request::Open { name: String::new(), total_bytes, access: Access::Random, member: None });
    engine.feed(bytes);
    while engine.step(&mut || true) == Work::More {}
    engine.request(Request::EndOfFile);
    while engine.step(&mut || true) == Work::More {}
}

fn ask_what_if(engine: &mut Engine, device: i64) -> WhatIf {
    let question = WhatIfQuestion { tries: true, ..WhatIfQuestion::default() };
    engine.request(Request::Ask(Ask { serial: 1, device, question: Question::WhatIf(Box::new(question)) }));
    while engine.step(&mut || true) == Work::More {}
    let mut replies = std::iter::from_fn(|| engine.next_reply());
    let answer = replies.find_map(|reply| match reply {
        Reply::Answer { answer: Answer::WhatIf(answer), .. } => Some(*answer),
        _ => None,
    });
    answer.unwrap()
}

#[test]
fn simulation_is_computed_in_slices_and_cached() {
    let (mut engine, device) = opened();
    let expected = ask_what_if(&mut engine, device);
    assert!(expected.runs.len() > 6, "{expected:?}");
    let file = engine.file.as_deref_mut().unwrap();
    let mut shared = SharedResults::new(device);
    let mut calls = 1;
    while shared.compute(Need::Simulation, file, Some(simulator), &mut TimeSlice::new(&mut || false)).is_err() {
        calls += 1;
    }
    assert!(calls > 1);
    let once = &mut || panic!("the result is cached");
    shared.compute(Need::Simulation, file, Some(|| panic!("the result is cached")), &mut TimeSlice::new(once)).unwrap();
    assert_eq!(shared.given(file, &ReportQuestion::default()).unwrap().simulation, Some(&expected));
}

#[test]
fn engine_without_simulator_gives_no_simulation() {
    let (mut engine, device) = opened();
    let file = engine.file.as_deref_mut().unwrap();
    let mut shared = SharedResults::new(device);
    shared.compute(Need::Simulation, file, None, &mut TimeSlice::new(&mut || true)).unwrap();
    assert_eq!(shared.given(file, &ReportQuestion::default()).unwrap().simulation, None);
}

#[test]
fn free_memory_is_computed_once_for_all_cursors() {
    let (mut engine, device) = opened();
    let file = engine.file.as_deref_mut().unwrap();
    let mut shared = SharedResults::new(device);
    let mut calls = 1;
    while shared.compute(Need::FreeMemory, file, None, &mut TimeSlice::new(&mut || false)).is_err() {
        calls += 1;
    }
    assert!(calls > 1);
    let once = &mut || panic!("the result is cached");
    shared.compute(Need::FreeMemory, file, None, &mut TimeSlice::new(once)).unwrap();
}
