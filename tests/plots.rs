//! The reserved and address plots through the engine, on real and generated files: totals of reserved bytes, hit tests
//! by address, steps, outlines, search matches.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;
use crate::opened;

use generate::Options;
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{
    AddressMap, DeviceSummary, Direction, Grouping, HitAllocation, HitMemory, MemoryFilter, Plot, PlotSettings, Scope,
    SearchStart, Step, StepOutcome, StepResult,
};
use memscape::timeline::{OutlineRect, Scene, View, scene_hit};
use opened::{Opened, open, real_pickles};

const ADDRESSES: PlotSettings =
    PlotSettings { plot: Plot::Addresses(MemoryFilter { pool: None, stream: None, address: None }), ..DEFAULT };
const RESERVED: PlotSettings =
    PlotSettings { plot: Plot::Reserved(MemoryFilter { pool: None, stream: None, address: None }), ..DEFAULT };
const DEFAULT: PlotSettings = PlotSettings {
    plot: Plot::Stack,
    stacking: None,
    colouring: Grouping::CallSite,
    highlight: memscape::protocol::Highlight::Nothing,
};

fn generated(words: &str) -> Opened {
    let (options, others) = Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    assert_eq!(others, Vec::<String>::new());
    open(&generate::generate(&options, Vec::new()).unwrap().0).unwrap()
}

/// Real and generated files with their names.
fn files() -> Vec<(String, Opened)> {
    let words = [
        "--events 4000 --pending",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending",
        "--steps 21 --layers 3 --prerecord-mib 64 --expandable --private-pools --pending --ring 5000 --style cpp",
        "--steps 9 --layers 2 --hidden 256 --host --devices 2",
    ];
    let mut files: Vec<_> = words.iter().map(|words| ((*words).to_owned(), generated(words))).collect();
    for path in real_pickles().unwrap_or_default() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        files.push((name, open(&std::fs::read(&path).unwrap()).unwrap()));
    }
    files
}

fn scene(opened: &mut Opened, device: i64, view: View, plot_settings: PlotSettings) -> Scene {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Scene { view, plot_settings } })) {
        Reply::Answer { answer: Answer::Scene(scene), .. } => *scene,
        other => panic!("expected a scene, got {other:?}"),
    }
}

fn map(opened: &mut Opened, device: i64, only: MemoryFilter) -> AddressMap {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Map(only) })) {
        Reply::Answer { answer: Answer::Map(map), .. } => *map,
        other => panic!("expected a map, got {other:?}"),
    }
}

fn hit(
    opened: &mut Opened,
    device: i64,
    plot_settings: PlotSettings,
    moment: u32,
    byte: u64,
) -> (Option<HitAllocation>, HitMemory) {
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::Hit { plot_settings, moment, byte } }))
    {
        Reply::Answer { answer: Answer::Hit { hit, memory }, .. } => {
            (hit, *memory.expect("not a stack of allocations"))
        }
        other => panic!("expected a hit, got {other:?}"),
    }
}

fn step(
    opened: &mut Opened,
    device: i64,
    plot_settings: PlotSettings,
    (moment, byte): (u32, u64),
    step: Step,
) -> StepResult {
    match opened.reply(Request::Ask(Ask {
        serial: 1,
        device,
        question: Question::Step { plot_settings, moment, byte, step },
    })) {
        Reply::Answer { answer: Answer::Step(to), .. } => to,
        other => panic!("expected a step, got {other:?}"),
    }
}

fn outline(
    opened: &mut Opened,
    device: i64,
    plot_settings: PlotSettings,
    view: View,
    allocation: u32,
) -> Vec<OutlineRect> {
    match opened.reply(Request::Ask(Ask {
        serial: 1,
        device,
        question: Question::Outline { view, plot_settings, allocation },
    })) {
        Reply::Answer { answer: Answer::Outline(rects), .. } => rects,
        other => panic!("expected an outline, got {other:?}"),
    }
}

/// Number of blocks that are checked one by one after an event.
const MAX_BLOCKS: usize = 100;

fn width(device: &DeviceSummary) -> u64 {
    device.events + 1
}

#[test]
fn reserved_plot_total_equals_reserved_curve() {
    let mut largest = 0;
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let view = View::fit(width(&device), device.peak_reserved.max(1) as u64, 300, 200);
            for stacking in [None, Some(Grouping::Pool), Some(Grouping::Size)] {
                let scene = scene(&mut opened, device.device, view, PlotSettings { stacking, ..RESERVED });
                assert_eq!(scene.columns.total, scene.columns.reserved, "{name}, device {}", device.device);
                let top = scene.columns.total.iter().copied().max().unwrap_or(0);
                assert_eq!(top as i64, device.peak_reserved, "{name}, device {}", device.device);
                let drawn = scene.quads.iter().map(|quad| i64::from(quad.y[1])).max().unwrap_or(0);
                assert_eq!(drawn, view.row_from_bytes(top), "{name}, device {}", device.device);
                assert_eq!(scene.ground, None);
                largest = top.max(largest);
            }
        }
    }
    if real_pickles().is_some() {
        assert!(largest >= 643_825_664, "peak of the file with expandable segments, which memory_viz gets wrong");
    }
}

#[test]
fn pools_sum_to_reserved() {
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let map = map(&mut opened, device.device, MemoryFilter::default());
            let view = View::fit(width(&device), device.peak_reserved.max(1) as u64, 5, 100);
            // At the events of the whole plot's columns: each part has its peak at another event.
            let moments = scene(&mut opened, device.device, view, RESERVED).columns;
            let mut parts = vec![0u64; moments.moment.len()];
            for &pool in &map.pools {
                let only = MemoryFilter { pool: Some(pool), ..MemoryFilter::default() };
                let plot_settings = PlotSettings { plot: Plot::Reserved(only), ..DEFAULT };
                for (sum, &moment) in parts.iter_mut().zip(&moments.moment) {
                    // Upwards from byte 0 to the top.
                    let (mut byte, mut steps) = (0, 0);
                    while let (Some(hit), memory) = hit(&mut opened, device.device, plot_settings, moment, byte) {
                        assert_eq!(hit.lowest_byte, byte, "{name}");
                        assert_eq!(memory.segment.unwrap().pool.unwrap_or_default(), pool, "{name}");
                        byte += hit.requested;
                        steps += 1;
                        assert!(steps < 100_000);
                    }
                    *sum += byte;
                }
            }
            assert_eq!(parts, moments.total, "{name}, device {}", device.device);
        }
    }
}

/// Blocks found by stepping along the address axis, compared with the blocks of the stack after the same event.
#[test]
fn live_blocks_are_found_at_their_addresses() {
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let (id, map) = (device.device, map(&mut opened, device.device, MemoryFilter::default()));
            for moment in [device.events / 3, device.events].map(|moment| moment as u32) {
                let mut stacked = Vec::new();
                let mut byte = 0;
                while let Some(hit) = opened.hit(id, moment, byte) {
                    byte = hit.lowest_byte + hit.requested;
                    let details = opened.details(id, hit.allocation).unwrap();
                    stacked.extend(details.address.map(|address| (address, hit.allocation, details.rounded)));
                }
                stacked.sort_unstable();
                // Upwards from block to block. Gaps are free or unmapped.
                let mut found = Vec::new();
                let mut at = (moment, 0);
                let (first, memory) = hit(&mut opened, id, ADDRESSES, moment, 0);
                assert!(first.is_some() || memory.free.is_some() || memory.segment.is_none(), "{name}: {memory:?}");
                let mut this = first;
                loop {
                    if let Some(hit) = this {
                        found.push(hit.allocation);
                        let address = map.address_at(hit.lowest_byte).unwrap();
                        let place = stacked.binary_search_by_key(&address, |&(address, ..)| address).unwrap();
                        assert_eq!(stacked[place].1, hit.allocation, "{name}");
                        // Its last byte belongs to it, the next one does not.
                        let end = hit.lowest_byte + stacked[place].2;
                        let (last, beyond) = (end - 1, end);
                        assert_eq!(
                            self::hit(&mut opened, id, ADDRESSES, moment, last).0.map(|hit| hit.allocation),
                            Some(hit.allocation),
                            "{name}"
                        );
                        assert_ne!(
                            self::hit(&mut opened, id, ADDRESSES, moment, beyond).0.map(|hit| hit.allocation),
                            Some(hit.allocation),
                            "{name}"
                        );
                    }
                    for place in [at, (moment, at.1 + 4096)] {
                        check_memory(&name, &mut opened, id, &map, place);
                    }
                    let to = step(&mut opened, id, ADDRESSES, at, Step::Above);
                    if to.outcome != StepOutcome::Arrived || found.len() == MAX_BLOCKS {
                        break;
                    }
                    let back = step(&mut opened, id, ADDRESSES, (moment, to.byte), Step::Below);
                    assert!(found.is_empty() || back.byte < to.byte, "{name}");
                    at = (moment, to.byte);
                    this = hit(&mut opened, id, ADDRESSES, moment, to.byte).0;
                    assert!(this.is_some(), "{name}: step ends on a block");
                }
                let stacked = stacked.iter().take(MAX_BLOCKS);
                assert_eq!(found, stacked.map(|block| block.1).collect::<Vec<_>>(), "{name} at {moment}");
            }
        }
    }
}

/// Compares the plot's hit test with the Segments view at the same address.
fn check_memory(name: &str, opened: &mut Opened, device: i64, map: &AddressMap, (moment, height): (u32, u64)) {
    let Some(address) = map.address_at(height) else { return };
    let (found, memory) = hit(opened, device, ADDRESSES, moment, height);
    match opened.reply(Request::Ask(Ask { serial: 1, device, question: Question::MemoryAt { moment, address } })) {
        Reply::Answer { answer: Answer::Hit { hit, memory: location }, .. } => {
            assert_eq!(
                hit.map(|hit| hit.allocation),
                found.map(|hit| hit.allocation),
                "{name} at {moment}, {address:#x}"
            );
            assert_eq!(*location.unwrap(), memory, "{name} at {moment}, {address:#x}");
        }
        other => panic!("expected memory, got {other:?}"),
    }
}

#[test]
fn filtered_plot_has_only_matching_blocks() {
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let (id, whole) = (device.device, map(&mut opened, device.device, MemoryFilter::default()));
            let moment = (device.events / 2) as u32;
            let pools = whole.pools.iter().map(|&pool| MemoryFilter { pool: Some(pool), ..MemoryFilter::default() });
            let streams =
                whole.streams.iter().map(|&stream| MemoryFilter { stream: Some(stream), ..MemoryFilter::default() });
            let segments = whole
                .ranges
                .iter()
                .take(3)
                .map(|it| MemoryFilter { address: Some(it.address), ..MemoryFilter::default() });
            for only in pools.chain(streams).chain(segments) {
                let part = map(&mut opened, id, only);
                assert!(part.height <= whole.height && part.pools == whole.pools, "{name} {only:?}");
                for range in &part.ranges {
                    assert!(whole.height_of(range.address).is_some(), "{name} {only:?}");
                }
                if let Some(address) = only.address {
                    assert!(part.height_of(address).is_some(), "{name} {only:?}");
                }
                let plot_settings = PlotSettings { plot: Plot::Addresses(only), ..DEFAULT };
                let mut at = (moment, 0);
                for _ in 0..30 {
                    let to = step(&mut opened, id, plot_settings, at, Step::Above);
                    if to.outcome != StepOutcome::Arrived {
                        break;
                    }
                    at = (to.moment, to.byte);
                    let (found, _) = hit(&mut opened, id, plot_settings, moment, to.byte);
                    let details = opened.details(id, found.unwrap().allocation).unwrap();
                    assert!(only.pool.is_none_or(|pool| details.pool.unwrap_or_default() == pool), "{name}");
                    assert!(only.stream.is_none_or(|stream| details.stream == Some(stream)), "{name}");
                }
                let view = View::fit(device.events + 1, part.height.max(1), 90, 60);
                let scene = scene(&mut opened, id, view, plot_settings);
                let whole = scene_hit(&scene, 0, 0);
                assert!(whole.is_some() && scene.ground.is_some(), "{name}");
            }
        }
    }
}

#[test]
fn search_matches_are_at_their_addresses() {
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let id = device.device;
            let Reply::Answer { answer: Answer::Find(tally), .. } =
                opened.reply(Request::Ask(Ask { serial: 7, device: id, question: Question::Find(">0".to_owned()) }))
            else {
                panic!("a search was requested")
            };
            for (plot_settings, moment) in [(ADDRESSES, 0), (RESERVED, device.events / 2), (RESERVED, 0)] {
                let begin = SearchStart::Moment(moment as u32);
                let (direction, window, scope) = (Direction::Next, [0, device.events as u32 + 1], Scope::All);
                let next = Request::Ask(Ask {
                    serial: 8,
                    device: 0,
                    question: Question::FindNext { search_serial: 7, begin, direction, plot_settings, window, scope },
                });
                let Reply::Answer { answer: Answer::FindNext(found), .. } = opened.reply(next) else {
                    panic!("a match was requested")
                };
                assert_eq!(found.is_some(), tally.count > 0, "{name}");
                let Some(found) = found else { continue };
                let details = opened.details(id, found.allocation).unwrap();
                let Some(address) = details.address else { continue };
                let allocated_at = details.allocated_event.map_or(0, |event| event + 1);
                let (hit, memory) = hit(&mut opened, id, plot_settings, allocated_at, found.lowest_byte);
                if plot_settings == ADDRESSES {
                    assert_eq!(hit.map(|hit| hit.allocation), Some(found.allocation), "{name}");
                } else if let Some(segment) = memory.segment.filter(|_| found.lowest_byte > 0) {
                    let inside = found.lowest_byte - hit.unwrap().lowest_byte;
                    let range = segment.address..segment.address + segment.reserved;
                    assert!(range.contains(&address) && inside < segment.range_bytes, "{name}");
                }
            }
        }
    }
}

#[test]
fn time_step_moves_to_next_block_at_address() {
    let mut opened = generated("--events 4000 --pending");
    let device = opened.summary.devices[0].clone();
    let map = map(&mut opened, device.device, MemoryFilter::default());
    let mut arrived = 0;
    for part in 0..60 {
        let (moment, byte) = ((device.events / 2) as u32, map.height / 60 * part + 3);
        let mut now = moment;
        let this = hit(&mut opened, device.device, ADDRESSES, moment, byte).0.map(|hit| hit.allocation);
        let to = step(&mut opened, device.device, ADDRESSES, (moment, byte), Step::Later);
        // Brute force, event by event.
        let expected = loop {
            now += 1;
            if u64::from(now) > device.events {
                break None;
            }
            let found = hit(&mut opened, device.device, ADDRESSES, now, byte).0.map(|hit| hit.allocation);
            if found.is_some() && found != this {
                break found;
            }
        };
        assert_eq!(expected.is_some(), to.outcome == StepOutcome::Arrived);
        if expected.is_some() {
            assert_eq!((to.moment, to.byte), (now, byte));
            let back = step(&mut opened, device.device, ADDRESSES, (now, byte), Step::Earlier);
            let before = hit(&mut opened, device.device, ADDRESSES, back.moment, byte).0.map(|hit| hit.allocation);
            assert!(
                back.outcome != StepOutcome::Arrived || (before.is_some() && before != expected && back.moment < now)
            );
            arrived += 1;
        }
    }
    assert!(arrived > 5);
}

#[test]
fn drawn_quads_match_hit_tests() {
    for (name, mut opened) in files() {
        for device in opened.summary.devices.clone() {
            let (id, map) = (device.device, map(&mut opened, device.device, MemoryFilter::default()));
            let whole = View::fit(width(&device), map.height.max(1), 160, 120);
            let near = View { x_per_px: whole.x_per_px / 7.0, bytes_per_px: whole.bytes_per_px / 9.0, ..whole };
            let near = near.panned(-i64::from(near.width_px) * 3, -i64::from(near.height_px) * 4);
            for view in [whole, near] {
                let scene = scene(&mut opened, id, view, ADDRESSES);
                let ground = scene.ground.unwrap() as usize;
                for (place, quad) in scene.quads.iter().enumerate().skip(ground).step_by(5) {
                    let identity = scene.identities[place];
                    let middle = (i32::from(quad.y[0]) + i32::from(quad.y[1])) / 2;
                    let under = scene_hit(&scene, i32::from(quad.x[0]), middle).unwrap();
                    assert_eq!(under.quad, Some(place), "{name}");
                    let is_low = f64::from(quad.y[1] - quad.y[0]) < 2.0;
                    let (hit, _) = hit(&mut opened, id, ADDRESSES, under.moment.0, under.byte);
                    if identity.count == 1 && !is_low {
                        assert_eq!(hit.map(|hit| hit.allocation), Some(identity.first), "{name}: {quad:?}");
                        let rect = outline(&mut opened, id, ADDRESSES, view, identity.first);
                        assert_eq!(rect.len(), 1);
                        assert_eq!(rect[0].y, quad.y.map(i32::from), "{name}");
                        assert!(rect[0].x[0] <= i32::from(quad.x[0]) && i32::from(quad.x[1]) <= rect[0].x[1], "{name}");
                    }
                }
            }
        }
    }
}
