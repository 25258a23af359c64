//! Traces of simulated runs of real recordings, under the recorded and under other settings.

use super::{Deeds, Trace};
use crate::blocks::State;
use crate::files::{names, proved, recordings, whole};
use crate::recording::What;
use crate::{Order, Plan, Recording, Settings, StartState};
use std::collections::BTreeMap;

/// Steps through the trace of a run and calls `at` after each event with the reserved bytes. Asserts that blocks tile
/// their segments and that totals agree.
fn follow(recording: &Recording, plan: &Plan, mut at: impl FnMut(&Trace, u32, What, &Deeds, u64)) -> Trace {
    let mut trace = Trace::new(recording, plan).unwrap();
    let mut reserved: u64 = trace.segments(recording).iter().map(|segment| segment.size).sum();
    let mut deeds = Deeds::default();
    while let Some(step) = trace.step(recording, &mut deeds) {
        for (operation, _) in &deeds.operations {
            reserved = match operation.kind.grows() {
                true => reserved + operation.size,
                false => reserved - operation.size,
            };
        }
        assert_eq!(reserved, trace.run().allocator().totals.reserved, "event {}", step.event);
        at(&trace, step.event, step.what, &deeds, reserved);
    }
    let segments = trace.segments(recording);
    let mut end = 0;
    for segment in &segments {
        assert!(segment.address >= end, "segments must not overlap");
        end = segment.address + segment.size;
        let mut next = segment.address;
        for block in &segment.blocks {
            assert_eq!(block.address, next, "blocks tile their segment");
            next += block.size;
            assert_eq!(block.allocation.is_some(), block.state != State::Free);
        }
        assert_eq!(next, end);
    }
    assert_eq!(segments.iter().map(|segment| segment.size).sum::<u64>(), reserved);
    trace
}

/// Proves the recording; `None` where nothing is predicted.
fn proof(recording: Recording) -> Option<(Recording, crate::Proof)> {
    Some(proved(recording)).filter(|(_, proof)| proof.refused.is_none())
}

#[test]
fn recorded_settings_reproduce_recorded_addresses() {
    let mut traces = 0;
    for name in names() {
        for recording in recordings(&name).unwrap() {
            let Some((recording, proof)) = proof(recording).filter(|(_, proof)| proof.verdict.is_exact()) else {
                continue;
            };
            let implied = proof.verdict.implied;
            let plan = Plan {
                settings: proof.settings.clone(),
                backend: proof.backend,
                limits: implied.limits(implied.limit().map(|[_, high]| high), &proof.settings),
                start: StartState::Kept,
                order: Order::Recorded,
                ..Plan::default()
            };
            let mut early: BTreeMap<u32, u64> = BTreeMap::new();
            for one in &recording.early {
                early.insert(one.allocation, recording.allocations.at(one.allocation as usize).address);
            }
            let trace = Trace::new(&recording, &plan).unwrap();
            for (number, address) in &early {
                let block = trace.run().block(*number);
                assert_eq!(block.map(|block| block.address), Some(*address), "{name}: early allocation {number}");
            }
            let mut operations = Vec::new();
            follow(&recording, &plan, |_, event, what, deeds, _| {
                operations.extend(deeds.operations.iter().map(|(operation, _)| *operation));
                if let What::Alloc(number) | What::FreeRequested(number) | What::FreeCompleted(number) = what {
                    let recorded = recording.allocations.at(number as usize).address;
                    assert_eq!(deeds.subject, Some((number, recorded)), "{name}: event {event}");
                }
                assert_eq!(deeds.avoided, None);
            });
            let mut recorded: Vec<_> = recording.operations.iter().collect();
            recorded.sort();
            operations.sort();
            assert_eq!(operations, recorded, "{name}: segment operations");
            traces += 1;
        }
    }
    assert!(traces > 15 || names().is_empty(), "{traces} traces");
}

#[test]
fn trace_simulated_under_other_settings_has_peak_of_its_run() {
    for name in names() {
        for recording in recordings(&name).unwrap() {
            let Some((recording, proof)) = proof(recording) else { continue };
            for settings in [
                Settings { expandable: !proof.settings.expandable, ..proof.settings.clone() },
                Settings { divisions: [8; 16], ..proof.settings.clone() },
                Settings { max_split: Some(128 << 20), ..proof.settings.clone() },
            ] {
                let plan = Plan { settings, backend: proof.backend, ..Plan::default() };
                let mut run = crate::Run::new(&recording, &plan);
                whole(|slice| run.step(&recording, slice));
                let trace = follow(&recording, &plan, |_, _, _, _, _| {});
                let (one, other) = (trace.run().outcome(), run.outcome());
                assert_eq!((one.peak_reserved, one.peak_event), (other.peak_reserved, other.peak_event), "{name}");
            }
        }
    }
}
