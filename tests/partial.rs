//! Partial figures sent while a file loads, compared with the final history.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;

use memscape::engine::{Engine, NeededBytes, Reply, Request};
use memscape::protocol::{Access, DeviceSummary, FileSummary, LoadRange, PartialFile};
use memscape::replay::DeviceHistory;
use memscape::snapshot::Action;
use memscape::units::{EventIdx, Moment};
use opened::real_pickles;

/// Opens bytes in `pieces` chunks with short time slices and returns all partial figures sent meanwhile.
fn open_in_pieces(bytes: &[u8], pieces: usize, load: LoadRange) -> (Engine, FileSummary, Vec<PartialFile>) {
    let mut engine = Engine::new();
    engine.request(Request::Load(load));
    let total_bytes = Some(bytes.len() as u64);
    engine.request(Request::Open { name: "a.pickle".to_owned(), total_bytes, access: Access::Random, member: None });
    let (mut at, mut all) = (0, Vec::new());
    loop {
        if let Some(want) = engine.wants() {
            at = if let NeededBytes::At(offset) = want { offset as usize } else { at };
            let end = bytes.len().min(at + bytes.len().div_ceil(pieces));
            match at == end {
                true => engine.request(Request::EndOfFile),
                false => engine.feed(bytes[at..end].to_vec()),
            }
            at = end;
        }
        engine.step(&mut || false);
        all.extend(engine.partial().map(|partial| *partial));
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(summary) => return (engine, *summary, all),
                Reply::Failed { message } => panic!("{message}"),
                _ => {}
            }
        }
    }
}

/// Requested and reserved bytes after each event.
fn curves(history: &DeviceHistory) -> [Vec<i64>; 2] {
    let mut now = [history.drawn_at(Moment(0)), history.reserved_at(Moment(0))];
    let mut all = now.map(|bytes| vec![bytes]);
    for event in (0..history.event_count()).map(EventIdx) {
        now[0] += history.drawn_change(event);
        now[1] += history.reserved_change(event);
        all.iter_mut().zip(now).for_each(|(all, bytes)| all.push(bytes));
    }
    all
}

/// Highest value of each bin over the first `events` events, relative to the curve's start.
fn bins(curve: &[i64], events: u64, bits: u32) -> Vec<i64> {
    curve[..=events as usize].chunks(1 << bits).map(|bin| bin.iter().max().unwrap() - curve[0]).collect()
}

#[test]
fn partial_figures_match_final_history() {
    let Some(files) = real_pickles() else { return };
    let mut steps = 0;
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let (mut engine, summary, all) = open_in_pieces(&bytes, 40, LoadRange::ALL);
        let recorded: Vec<_> = summary.devices.iter().filter(|device| device.events > 0).collect();
        let curves: Vec<_> = recorded
            .iter()
            .map(|device| {
                let history = engine.complete_side(device.device).unwrap().history;
                let first_end = (0..history.event_count())
                    .find(|&event| history.events.action(event) == Action::FreeCompleted)
                    .map_or(0, |event| u64::from(event) + 1);
                (curves(history), first_end)
            })
            .collect();
        let Some((last, before)) = all.split_last() else {
            assert!(recorded.is_empty(), "{name}: no partial figures");
            continue;
        };
        assert!(last.is_complete, "{name}");
        let mut events_before = 0;
        for partial in before {
            steps += 1;
            assert!(!partial.is_complete, "{name}: marked as complete before the last one");
            let events: u64 = partial.devices.iter().map(|device| device.events).sum();
            assert!(events > events_before, "{name}: {events} events after {events_before}");
            events_before = events;
            let devices = partial.summary.devices.iter().zip(&partial.devices);
            for ((summary, device), ([live, reserved], first_end)) in devices.zip(&curves) {
                let place = format!("{name}, device {} after {} events", summary.device, device.events);
                assert!(summary.events >= device.events, "{place}");
                // Until the first free completes, the reader does not know that frees complete.
                if device.events < *first_end {
                    continue;
                }
                let from = |heights: &[i64], base: i64| heights.iter().map(|height| height - base).collect::<Vec<_>>();
                let (events, bits) = (device.events, device.bin_bits);
                assert_eq!(from(&device.live, summary.base_requested), bins(live, events, bits), "{place}: live");
                assert_eq!(
                    from(&device.reserved, summary.reserved_start),
                    bins(reserved, events, bits),
                    "{place}: reserved"
                );
                let peak = live[..=events as usize].iter().max().unwrap() - live[0];
                assert_eq!(summary.peak_requested - summary.base_requested, peak, "{place}: peak");
                let now = summary.end_requested as i64 - summary.base_requested;
                assert_eq!(now, live[events as usize] - live[0], "{place}: live");
            }
        }
        assert_eq!(last.summary.devices.len(), summary.devices.len(), "{name}");
        let devices = last.summary.devices.iter().zip(&last.devices);
        for ((recorded_device, heights), device) in devices.zip(&summary.devices) {
            let place = format!("{name}, device {}", device.device);
            let numbers = |it: &DeviceSummary| {
                let counts = [it.events, it.allocations, it.end_requested, it.oom_count()];
                (
                    it.device,
                    counts,
                    [it.base_requested, it.peak_requested, it.peak_event, it.reserved_start, it.peak_reserved],
                )
            };
            assert_eq!(numbers(recorded_device), numbers(device), "{place}");
            assert_eq!(heights.events, device.events, "{place}");
            let at = recorded.iter().position(|recorded| recorded.device == device.device);
            let Some(([live, reserved], _)) = at.map(|at| &curves[at]) else { continue };
            let absolute = |curve: &[i64]| {
                let bins = bins(curve, device.events, heights.bin_bits);
                bins.into_iter().map(|height| height + curve[0]).collect::<Vec<_>>()
            };
            assert_eq!([&heights.live, &heights.reserved], [&absolute(live), &absolute(reserved)], "{place}: heights");
        }
    }
    assert!(steps > 100, "{steps} messages before the last ones");
}

#[test]
fn loading_a_range_sends_no_partial_figures() {
    let Some(files) = real_pickles() else { return };
    let bytes = std::fs::read(&files[0]).unwrap();
    let (_, _, all) = open_in_pieces(&bytes, 40, LoadRange { max_events: 10, ..LoadRange::ALL });
    assert_eq!(all, Vec::new());
}
