//! The allocator model on random requests: invariants after each request, and a comparison with the Python prototype.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use super::{Allocator, Place};
use crate::addresses::Order;
use crate::blocks::{NONE, State};
use crate::driver::Driver;
use crate::operation::{Kind, Operation};
use crate::pool::Key;
use crate::settings::{Backend, BlockOrder, INTERVALS, Limits, MIB, NPU_ADDED, NPU_ALIGNED, Settings, Share};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// One request. An allocation is numbered by the index of its request.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Alloc {
        size: u64,
        place: Place,
    },
    /// Requests a free of a live allocation (`chosen` modulo their number). If `waits`, the free is not completed.
    Free {
        chosen: u16,
        waits: bool,
    },
    EmptyCache,
}

#[derive(Clone, Debug)]
struct Case {
    settings: Settings,
    backend: Backend,
    limits: Limits,
    asks: Vec<Ask>,
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 1..4096u64,
        4 => 4096..MIB + 2048,
        6 => MIB..12 * MIB,
        3 => 10 * MIB..150 * MIB,
        2 => (0..9u32).prop_map(|power| MIB << power),
        1 => 150 * MIB..700 * MIB,
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let place = prop_oneof![6 => Just((0, 0)), 2 => Just((1, 0)), 1 => Just((0, 1)), 1 => Just((1, 1))];
    let place = place.prop_map(|(stream, pool)| Place { stream, pool });
    prop_oneof![
        12 => (size(), place).prop_map(|(size, place)| Ask::Alloc { size, place }),
        9 => (any::<u16>(), prop::bool::weighted(0.1)).prop_map(|(chosen, waits)| Ask::Free { chosen, waits }),
        1 => Just(Ask::EmptyCache),
    ]
}

fn settings() -> impl Strategy<Value = Settings> {
    let divisions = prop_oneof![
        3 => Just([0; INTERVALS]),
        1 => (0..6u32).prop_map(|power| [1 << power; INTERVALS]),
        1 => prop::array::uniform16(prop::sample::select(vec![0, 1, 2, 4, 8, 16, 64])),
    ];
    let max_split = prop_oneof![2 => Just(None), 1 => (21..300u64).prop_map(|mib| Some(mib * MIB))];
    let collect_above = prop_oneof![1 => Just(0), 1 => 100_000..950_000u32].prop_map(Share::millionths);
    let large = prop_oneof![2 => Just(20 * MIB), 1 => (11..100u64).prop_map(|mib| mib * MIB)];
    let non_split = prop_oneof![2 => Just(20 * MIB), 1 => (21..100u64).prop_map(|mib| mib * MIB)];
    (any::<bool>(), max_split, non_split, divisions, collect_above, large).prop_map(
        |(expandable, max_split, non_split, divisions, collect_above, large_segment)| Settings {
            expandable,
            // PyTorch rejects values that are not larger than a segment.
            max_split: max_split.map(|bytes: u64| bytes + large_segment),
            non_split,
            divisions,
            collect_above,
            large_segment,
            fraction: Share::ALL,
            throws: false,
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let bytes = || prop::option::of((100..3000u64).prop_map(|mib| mib * MIB));
    let limits = (bytes(), bytes());
    let order = prop::sample::select(vec![BlockOrder::Address, BlockOrder::Block, BlockOrder::Segment]);
    let npu = prop_oneof![3 => Just((0, 0)), 1 => Just((NPU_ADDED, NPU_ALIGNED)), 1 => Just((NPU_ADDED, 0))];
    let backend = (npu, order).prop_map(|((added, aligned), order)| Backend { added, aligned, order });
    let asks = prop::collection::vec(ask(), 1..160);
    (settings(), backend, limits, asks).prop_map(|(settings, backend, (capacity, allowed), asks)| {
        let limits = Limits { capacity, ..Limits::allowing(allowed, &settings) };
        Case { settings, backend, limits, asks }
    })
}

/// Asserts the invariants of the allocator between requests.
fn check(allocator: &Allocator) {
    let (mut reserved, mut allocated, mut free, mut unmapped) = (0, 0, 0, 0);
    let mut spans = Vec::new();
    for (id, block) in allocator.blocks.iter() {
        assert!(block.size > 0, "{block:?}");
        let pool = &allocator.pools[block.pool as usize];
        match block.state {
            State::Free => {
                free += 1;
                assert!(pool.free.contains(&Key::of(id, block)), "{block:?}");
            }
            State::Unmapped => {
                unmapped += 1;
                assert!(block.is_expandable() && pool.unmapped.contains(&Key::of_unmapped(id, block)), "{block:?}");
            }
            State::Live | State::AwaitingFree => allocated += block.size,
        }
        if block.state != State::Unmapped {
            reserved += block.size;
        }
        spans.push((block.address, block.size));
        if block.next != NONE {
            let next = allocator.blocks.at(block.next);
            assert_eq!((next.previous, next.address), (id, block.address + block.size), "blocks tile their segment");
            assert_eq!((next.range, next.pool, next.stream), (block.range, block.pool, block.stream));
            let numbers = next.number == block.number || allocator.backend.order == BlockOrder::Block;
            assert!(numbers, "blocks have the number of their segment");
            assert!(next.state != block.state || !block.is_vacant(), "adjacent free blocks must be merged");
        }
        if block.previous != NONE {
            assert_eq!(allocator.blocks.at(block.previous).next, id);
        } else if !block.is_expandable() {
            assert!(block.address.is_multiple_of(2 * MIB), "segments must start at a multiple of 2 MiB");
        }
    }
    spans.sort_unstable();
    assert!(spans.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0), "blocks overlap");
    assert_eq!((allocator.totals.reserved, allocator.totals.allocated), (reserved, allocated));
    assert!(allocated <= reserved);
    assert_eq!(free, allocator.pools.iter().map(|pool| pool.free.len()).sum::<usize>());
    assert_eq!(unmapped, allocator.pools.iter().map(|pool| pool.unmapped.len()).sum::<usize>());
    assert!(allocator.limits.capacity.is_none_or(|capacity| reserved <= capacity));
}

/// Returns one line per request (address and segment operations), in the format of the Python prototype, and the input
/// lines for the prototype.
fn answers(case: &Case, order: Order, checked: bool) -> (Vec<String>, Vec<String>) {
    let driver = Driver::new(order, case.limits.capacity);
    let mut allocator = Allocator::new(case.settings.clone(), case.backend, case.limits, driver);
    allocator.retries_private = true;
    allocator.log = Some(Vec::new());
    let (mut live, mut lines, mut reported) = (Vec::<(usize, u32)>::new(), Vec::new(), Vec::new());
    let mut awaiting = Vec::new();
    for (number, ask) in case.asks.iter().enumerate() {
        let mut line = String::new();
        match *ask {
            Ask::Alloc { size, place } => {
                reported.push(format!("a {number} {size} {} {}", place.stream, place.pool));
                match allocator.allocate(size, place, number as u32) {
                    Some(id) => {
                        live.push((number, id));
                        line.push_str(&allocator.blocks.at(id).address.to_string());
                    }
                    None => line.push_str("oom"),
                }
            }
            Ask::Free { waits, .. } if live.is_empty() && (waits || awaiting.is_empty()) => {
                reported.push("n".to_owned());
            }
            Ask::Free { chosen, waits } => {
                let (number, id) = match awaiting.pop().filter(|_| !waits) {
                    Some(waited) => waited,
                    None if live.is_empty() => {
                        reported.push("n".to_owned());
                        lines.push(String::new());
                        continue;
                    }
                    None => live.swap_remove(usize::from(chosen) % live.len()),
                };
                reported.push(format!("{} {number}", if waits { "r" } else { "f" }));
                if waits {
                    allocator.request_free(id);
                    awaiting.push((number, id));
                } else {
                    allocator.free(id);
                }
            }
            Ask::EmptyCache => {
                reported.push("e".to_owned());
                allocator.release_cached();
            }
        }
        for number in allocator.completed.drain(..) {
            awaiting.retain(|(waited, _)| *waited as u32 != number);
        }
        for Operation { kind, address, size } in allocator.log.as_mut().unwrap().drain(..) {
            let kind = match kind {
                Kind::Alloc => "segment_alloc",
                Kind::Free => "segment_free",
                Kind::Map => "segment_map",
                Kind::Unmap => "segment_unmap",
            };
            line.push_str(&format!(" {kind} {address} {size}"));
        }
        if checked {
            check(&allocator);
        }
        lines.push(line);
    }
    (lines, reported)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn blocks_free_lists_and_totals_agree_after_every_request(
        case in case(),
        order in prop::sample::select(Order::ALL.to_vec()),
    ) {
        answers(&case, order, true);
    }
}

/// Script that runs the Python prototype. Input lines: `c` with settings starts a new case, `a` allocates, `r` requests
/// a free, `f` completes it, `e` empties the cache. Prints the address or `oom`, then the segment operations.
const PROTOTYPE_SCRIPT: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
from allocator_sim import Config, Driver, OOM, Sim
class Ascending(Driver):
    RANGE = 1 << 45
sim = live = None
for line in sys.stdin:
    words = line.split()
    out = ""
    if words[0] == "c":
        none = lambda word: None if word == "-" else int(word)
        config = Config(expandable=words[1] == "true", nonsplit=int(words[3]), gc=float(words[4]), large_segment=int(words[5]),
                        add=int(words[8]), align=int(words[9]), by_age=int(words[10]), round=tuple(int(word) for word in words[11:27]))
        if words[2] != "-": config.max_split = int(words[2])
        allowed = none(words[7])
        sim, live = Sim(config, Ascending(none(words[6])), allowed), {}
        sim.gc_on = config.gc > 0 and allowed is not None
        sim.retry_private = True
        continue
    sim.log.clear()
    if words[0] == "a":
        try:
            live[words[1]] = sim.malloc(int(words[2]), int(words[3]), (0, int(words[4])))
            live[words[1]].who = words[1]
            out = str(live[words[1]].ptr)
        except OOM: out = "oom"
    elif words[0] == "r": sim.request_free(live[words[1]])
    elif words[0] == "f":
        block = live.pop(words[1])
        # The block may already be freed by a release that waited for it.
        if block.alloc or block.pend: sim.free(block)
    elif words[0] == "e": sim.release_all()
    print(out + "".join(" %s %d %d" % entry for entry in sim.log))
"#;

fn referee() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("MEMSCAPE_SNAPSHOTS").map(|folder| PathBuf::from(folder).join("../tools"));
    let places = ["../../../shared/tools", "../../../../shared/tools"].map(|place| root.join(place));
    let found = named.into_iter().chain(places).find(|place| place.join("allocator_sim.py").is_file());
    if found.is_none() {
        println!("SKIPPED: no ../shared/tools/allocator_sim.py: no referee for random requests");
    }
    found
}

fn judged(folder: &PathBuf, input: &str) -> Vec<String> {
    let mut python = Command::new("python3")
        .args(["-c", PROTOTYPE_SCRIPT])
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3");
    let mut pipe = python.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || pipe.write_all(input.as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn random_requests_get_same_addresses_as_in_python_prototype(cases in prop::collection::vec(case(), 12)) {
        let Some(folder) = referee() else { return Ok(()) };
        let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
        let (mut expected, mut input) = (Vec::new(), String::new());
        for case in &cases {
            let Case { settings, backend, limits, .. } = case;
            input.push_str(&format!(
                "c {} {} {} {} {} {} {} {} {} {}",
                settings.expandable, bytes(settings.max_split), settings.non_split, settings.collect_above,
                settings.large_segment, bytes(limits.capacity), bytes(limits.allowed), backend.added, backend.aligned,
                [BlockOrder::Address, BlockOrder::Segment, BlockOrder::Block].iter().position(|it| *it == backend.order).unwrap(),
            ));
            settings.divisions.iter().for_each(|division| input.push_str(&format!(" {division}")));
            let (lines, reported) = answers(case, Order::Ascending, false);
            input.push_str(&format!("\n{}\n", reported.join("\n")));
            expected.extend(lines);
        }
        let judged = judged(&folder, &input);
        prop_assert_eq!(judged.len(), expected.len());
        for (at, (judged, ours)) in judged.iter().zip(&expected).enumerate() {
            prop_assert_eq!(judged, ours, "request {}", at);
        }
    }
}

/// Creates an allocator with the settings of `line` on a device of `capacity` MiB.
fn small(line: &str, capacity: u64) -> Allocator {
    let settings = crate::conf::parse(line).unwrap().0;
    let capacity = Some(capacity * MIB);
    let limits = Limits::new(capacity, capacity, &settings);
    Allocator::new(settings, Backend::default(), limits, Driver::new(Order::Ascending, capacity))
}

#[test]
fn pending_frees_complete_before_segments_are_released() {
    for line in ["", "expandable_segments:True"] {
        let mut allocator = small(line, 64);
        let place = Place::default();
        let waits = allocator.allocate(40 * MIB, place, 7).unwrap();
        allocator.request_free(waits);
        allocator.request_free(waits);
        // The pending block leaves no room. The request completes the free, releases the segment and retries.
        assert!(allocator.allocate(60 * MIB, place, 8).is_some(), "{line}");
        assert_eq!((allocator.completed.as_slice(), allocator.exercised.completed), (&[7][..], 1), "{line}");
        assert_eq!((allocator.totals.retries, allocator.totals.allocated), (1, 60 * MIB), "{line}");
        check(&allocator);
        let mut allocator = small(line, 64);
        let waits = allocator.allocate(40 * MIB, place, 7).unwrap();
        allocator.request_free(waits);
        allocator.release_cached();
        assert_eq!((allocator.totals.reserved, allocator.completed.as_slice()), (0, &[7][..]), "empty_cache() as well");
        check(&allocator);
    }
}

#[test]
fn cuda_graph_request_releases_no_cached_segments() {
    let place = |pool| Place { stream: 0, pool };
    for (captures, is_there) in [(false, true), (true, false)] {
        let mut allocator = small("", 64);
        allocator.retries_private = !captures;
        let cached = allocator.allocate(40 * MIB, place(0), 0).unwrap();
        allocator.free(cached);
        assert_eq!(allocator.allocate(60 * MIB, place(1), 1).is_some(), is_there, "captures: {captures}");
        assert_eq!(allocator.totals.retries, u64::from(is_there));
        check(&allocator);
    }
}

#[test]
fn private_pool_is_released_once_unused() {
    let place = Place { stream: 0, pool: 1 };
    let mut allocator = small("", 1000);
    let [large, small] = [30 * MIB, 1000].map(|size| allocator.allocate(size, place, 0).unwrap());
    let other = allocator.allocate(1000, place, 0).unwrap();
    allocator.free(large);
    allocator.release_cached();
    assert_eq!(allocator.totals.reserved, 32 * MIB, "the pool is in use");
    allocator.retire(1);
    allocator.free(small);
    allocator.log = Some(Vec::new());
    allocator.release_cached();
    assert_eq!(allocator.totals.reserved, 2 * MIB, "the segment of the live block stays");
    allocator.free(other);
    allocator.release_private(1);
    assert_eq!((allocator.totals.reserved, allocator.exercised.retired), (0, 2));
    let again = allocator.allocate(30 * MIB, place, 0).unwrap();
    allocator.free(again);
    allocator.release_cached();
    assert_eq!(allocator.totals.reserved, 30 * MIB, "the pool is in use again");
    allocator.retire(0);
    check(&allocator);
}

#[test]
fn no_split_pool_returns_whole_segments() {
    let place = Place { stream: 0, pool: 1 };
    let mut allocator = small("", 1000);
    allocator.traits = vec![Default::default(), crate::pool::Traits { no_split: true }];
    let sizes = [1000, 3 * MIB, 30 * MIB].map(|size| {
        let id = allocator.allocate(size, place, 0).unwrap();
        allocator.blocks.at(id).size / MIB
    });
    assert_eq!((sizes, allocator.exercised.splits), ([2, 20, 30], 0));
    check(&allocator);
}

#[test]
fn request_above_fraction_fails_without_retry_if_set_to_throw() {
    let fraction = "per_process_memory_fraction:0.5";
    for (line, is_there) in [(fraction.to_owned(), true), (format!("{fraction},throw_on_cudamalloc_oom:True"), false)] {
        let mut allocator = small(&line, 128);
        let cached = allocator.allocate(40 * MIB, Place::default(), 0).unwrap();
        allocator.free(cached);
        assert_eq!(allocator.allocate(60 * MIB, Place::default(), 1).is_some(), is_there, "{line}");
        assert_eq!(allocator.totals.retries, u64::from(is_there), "{line}");
        // A request that fits into reserved memory succeeds.
        assert!(allocator.allocate(MIB / 2, Place::default(), 2).is_some(), "{line}");
        check(&allocator);
    }
}

#[test]
fn equal_free_blocks_are_ordered_as_in_pytorch_version() {
    let place = Place::default();
    let allocator = |order, addresses| {
        let backend = Backend { order, ..Backend::default() };
        Allocator::new(Settings::default(), backend, Limits::default(), Driver::new(addresses, None))
    };
    for (order, expected) in [(BlockOrder::Address, 1), (BlockOrder::Block, 0), (BlockOrder::Segment, 0)] {
        // The second segment has the lower address.
        let mut allocator = allocator(order, Order::Descending);
        let segments = [0, 1].map(|number| allocator.allocate(30 * MIB, place, number).unwrap());
        let addresses = segments.map(|id| allocator.blocks.at(id).address);
        segments.into_iter().for_each(|id| allocator.free(id));
        let again = allocator.allocate(30 * MIB, place, 2).unwrap();
        assert_eq!(allocator.blocks.at(again).address, addresses[expected], "{order:?}");
    }
    for (order, expected) in [(BlockOrder::Address, 1), (BlockOrder::Block, 3), (BlockOrder::Segment, 1)] {
        // The remainder at the end of a segment is its oldest block.
        let mut allocator = allocator(order, Order::Ascending);
        let blocks = [0, 1, 2, 3].map(|number| allocator.allocate(MIB / 2, place, number).unwrap());
        let addresses = blocks.map(|id| allocator.blocks.at(id).address);
        allocator.free(blocks[1]);
        allocator.free(blocks[3]);
        let again = allocator.allocate(MIB / 2, place, 4).unwrap();
        assert_eq!(allocator.blocks.at(again).address, addresses[expected], "{order:?}");
    }
}
