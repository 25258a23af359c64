//! Address-axis scenes checked pixel by pixel against random histories in random windows, on both time axes.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

use crate::support;

use memscape::replay::{AllocationId, Allocations};
use memscape::slice::{OutOfTime, TimeSlice};
use memscape::timeline::scene::{BAND, CONTINUED, FADED, GROUND, PENDING};
use memscape::timeline::{
    AddressJob, AddressSource, Axis, MAX_QUADS, Quad, QuadIdentity, Scene, View, address_outline, scene_hit,
};
use proptest::prelude::*;
use support::history::{History, histories, is_highlighted, paint};

/// A history with the address range of each of its allocations.
#[derive(Debug)]
struct AddressHistory {
    history: History,
    /// Address range of each allocation, half-open.
    address_ranges: Vec<[u64; 2]>,
    mapped_spans: Allocations,
    /// Event range and address range of each mapped range.
    mapped: Vec<([u32; 2], [u64; 2])>,
}

impl AddressHistory {
    /// Places each block at the lowest free address when it is allocated, `apart` bytes above the block below. Sizes
    /// are rounded up to 8.
    fn new(history: History, apart: &[u64], held: Vec<([u32; 2], [u64; 2])>) -> AddressHistory {
        let mut places: Vec<[u64; 2]> = Vec::new();
        for (id, &(allocated_at, freed_at, size)) in history.spans.iter().enumerate() {
            let bytes = size.div_ceil(8).max(1) * 8;
            let apart = apart[id % apart.len()];
            let mut live: Vec<[u64; 2]> =
                (0..id).filter(|&other| history.spans[other].1 > allocated_at).map(|other| places[other]).collect();
            live.sort_unstable();
            let mut lowest = apart;
            for [from, to] in live {
                if lowest + bytes > from {
                    lowest = lowest.max(to + apart);
                }
            }
            places.push([lowest, lowest + if freed_at > allocated_at { bytes } else { 0 }]);
        }
        AddressHistory::from_ranges(history, places, held)
    }

    fn from_ranges(
        history: History,
        address_ranges: Vec<[u64; 2]>,
        mut mapped: Vec<([u32; 2], [u64; 2])>,
    ) -> AddressHistory {
        mapped.sort_by_key(|range| range.0[0]);
        let mapped_spans = Allocations::from_spans(
            mapped.iter().map(|&([allocated_at, freed_at], [from, to])| (allocated_at, freed_at, to - from)),
        );
        AddressHistory { history, address_ranges, mapped_spans, mapped }
    }

    fn with_source<R>(&self, look: impl FnOnce(&AddressSource) -> R) -> R {
        let place = |id: AllocationId| self.address_ranges.get(id.0 as usize).copied();
        let range_place = |id: AllocationId| self.mapped.get(id.0 as usize).map(|range| range.1);
        let (includes, ranges) = (None, &self.mapped_spans);
        self.history.with_source(|source| {
            look(&AddressSource { source: *source, includes, place: &place, ranges, range_place: &range_place })
        })
    }

    fn scene(&self, view: View) -> Scene {
        self.with_source(|source| AddressJob::run(source, view)).expect("a job without a budget finishes")
    }

    fn is_live_at(&self, id: usize, moment: u32) -> bool {
        let (allocated_at, freed_at, size) = self.history.spans[id];
        (allocated_at..freed_at).contains(&moment) && size > 0
    }
}

/// Returns the rows of the scaled plane that an address range covers: its rounded edges, or the row of its middle.
fn rows(view: &View, [lowest, above]: [u64; 2]) -> [i64; 2] {
    let rounded = [lowest, above].map(|byte| (byte as f64 / view.bytes_per_px + 0.5).floor() as i64);
    let middle = ((lowest + (above - lowest) / 2) as f64 / view.bytes_per_px).floor() as i64;
    if rounded[0] < rounded[1] { rounded } else { [middle, middle + 1] }
}

/// Returns whether a block is at least one row high, so that it is drawn by itself and not in a cell.
fn is_high(view: &View, [lowest, above]: [u64; 2]) -> bool {
    (above - lowest) as f64 / view.bytes_per_px >= 1.0
}

/// Compares every pixel of a scene with the history.
fn check(address_history: &AddressHistory, scene: &Scene) {
    let (view, columns) = (&scene.view, &scene.columns);
    assert_eq!(scene.band_px, 1, "these histories are small");
    let ground = scene.ground.unwrap() as usize;
    assert_eq!(scene.quads.len(), scene.identities.len());
    let of = |range: std::ops::Range<usize>| -> Vec<(&Quad, &QuadIdentity)> {
        scene.quads[range.clone()].iter().zip(&scene.identities[range]).collect()
    };
    let (below, blocks) = (of(0..ground), of(ground..scene.quads.len()));
    assert!(below.iter().all(|(quad, identity)| quad.paint == GROUND && identity.count == 0));
    assert!(blocks.iter().all(|(quad, _)| quad.paint & 0xffff < GROUND && quad.x[0] < quad.x[1]));
    assert!(blocks.is_sorted_by_key(|(quad, _)| quad.x[0]));
    for column in 0..columns.moment.len() {
        let (moment, left) = (columns.moment[column], columns.edge_px[column]);
        if left == columns.edge_px[column + 1] {
            continue;
        }
        let live: Vec<usize> =
            (0..address_history.address_ranges.len()).filter(|&id| address_history.is_live_at(id, moment)).collect();
        for row in 0..view.height_px as i32 {
            let plane_row = i64::from(row) + view.bottom_px;
            let is_there = |quad: &Quad| {
                let inside = |range: [i16; 2], at: i32| (i32::from(range[0])..i32::from(range[1])).contains(&at);
                inside(quad.x, left) && inside(quad.y, row)
            };
            let place = format!("column {column}, row {row}");
            let found: Vec<_> = blocks.iter().filter(|(quad, _)| is_there(quad)).collect();
            assert!(found.len() < 2, "{place}: overlapping quads: {found:?}");
            check_pixel(address_history, scene, (column, plane_row), &live, found.first().map(|found| **found), &place);
            let is_mapped = address_history.mapped.iter().any(|&([allocated_at, freed_at], range)| {
                let [lower, upper] = rows(view, range);
                (allocated_at..freed_at).contains(&moment) && range[0] < range[1] && (lower..upper).contains(&plane_row)
            });
            assert_eq!(below.iter().filter(|(quad, _)| is_there(quad)).count(), usize::from(is_mapped), "{place}");
        }
    }
    check_blocks(address_history, scene, &blocks);
}

fn check_pixel(
    address_history: &AddressHistory,
    scene: &Scene,
    (column, row): (usize, i64),
    live: &[usize],
    found: Option<(&Quad, &QuadIdentity)>,
    place: &str,
) {
    let (view, moment) = (&scene.view, scene.columns.moment[column]);
    let covers = |id: &&usize| {
        (rows(view, address_history.address_ranges[**id])[0]..rows(view, address_history.address_ranges[**id])[1])
            .contains(&row)
    };
    let high = live.iter().filter(covers).find(|id| is_high(view, address_history.address_ranges[**id]));
    let thin: Vec<usize> =
        live.iter().filter(covers).filter(|id| !is_high(view, address_history.address_ranges[**id])).copied().collect();
    let members = high.map_or(thin, |&id| vec![id]);
    // Rows without a live byte stay unpainted.
    let [from, to] = [row, row + 1].map(|row| row as f64 * view.bytes_per_px);
    let is_free = !live.iter().any(|&id| {
        let [lowest, above] = address_history.address_ranges[id].map(|byte| byte as f64);
        lowest < to && above > from
    });
    assert!(!is_free || found.is_none(), "{place}: free, but painted by {found:?}");
    let Some((quad, identity)) = found else {
        assert!(members.is_empty(), "{place}: nothing drawn for {members:?}");
        return;
    };
    let sizes = members.iter().map(|&id| address_history.history.spans[id].2);
    assert_eq!(
        (identity.count as usize, identity.requested()),
        (members.len(), sizes.clone().sum()),
        "{place}: {members:?}"
    );
    let ends = [identity.first, identity.last].map(|id| id as usize);
    assert!(ends.iter().all(|id| members.contains(id)) && (ends[0] != ends[1] || members.len() == 1), "{place}");
    let largest = members.iter().filter(|&&id| Some(address_history.history.spans[id].2) == sizes.clone().max());
    let paints: Vec<u32> = largest.map(|&id| u32::from(paint(AllocationId(id as u32)).0)).collect();
    assert!(paints.contains(&(quad.paint & 0xff)), "{place}: paint of the largest member: {quad:?}");
    let is_faded =
        address_history.history.highlight && !members.iter().any(|&id| is_highlighted(AllocationId(id as u32)));
    let is_pending = members.len() == 1 && address_history.history.requested_at[members[0]] <= moment;
    let marks = [BAND, PENDING, FADED].map(|mark| quad.paint & mark != 0);
    assert_eq!(marks, [members.len() > 1, is_pending, is_faded], "{place}: {quad:?}");
}

/// Checks that a block drawn by itself is one rectangle (two if it becomes pending) and that blocks too short-lived to
/// be drawn are counted as hidden once.
fn check_blocks(address_history: &AddressHistory, scene: &Scene, blocks: &[(&Quad, &QuadIdentity)]) {
    let shown = &scene.columns.moment;
    let mut hidden = 0;
    for (id, &place) in address_history.address_ranges.iter().enumerate() {
        let (allocated_at, freed_at, size) = address_history.history.spans[id];
        let alone = |it: &&(&Quad, &QuadIdentity)| (it.1.first, it.1.count) == (id as u32, 1);
        let rects = blocks.iter().filter(alone).count();
        if is_high(&scene.view, place) {
            let pends = address_history.history.requested_at[id] < freed_at;
            assert!(rects <= 1 + usize::from(pends), "allocation {id} has {rects} rectangles");
            let continued = blocks.iter().filter(alone).filter(|(quad, _)| quad.paint & CONTINUED != 0).count();
            assert!(continued <= rects.saturating_sub(1), "the first rectangle is not marked as continued");
        }
        let is_in_window = shown.first().is_some_and(|_| {
            let (first, last) = (address_history.window(scene)[0], address_history.window(scene)[1]);
            allocated_at < last && freed_at > first
        });
        let is_shown = shown.iter().any(|&moment| address_history.is_live_at(id, moment));
        hidden += u32::from(is_in_window && size > 0 && allocated_at < freed_at && !is_shown);
    }
    assert_eq!(scene.columns.hidden.iter().sum::<u32>(), hidden);
}

impl AddressHistory {
    /// Returns the moments of a scene, half-open.
    fn window(&self, scene: &Scene) -> [u32; 2] {
        self.history.with_source(|source| {
            let columns =
                memscape::timeline::WindowColumns::new(&scene.view, self.history.moments(), source.clock).moments;
            [columns.first().map_or(0, |moments| moments.start), columns.last().map_or(0, |moments| moments.end)]
        })
    }
}

/// Generates views of every zoom, some of them partly or wholly outside the data.
fn windows() -> impl Strategy<Value = View> {
    let x_per_px = prop_oneof![0.05..1.0f64, 1.0..30.0f64, Just(0.5), Just(1.0), Just(2.0), Just(2.5)];
    let bytes_per_px = prop_oneof![0.7..8.0f64, 8.0..400.0f64, Just(8.0), Just(64.0)];
    let axis = prop_oneof![2 => Just(Axis::Events), 1 => Just(Axis::Time)];
    (axis, x_per_px, bytes_per_px, -20i64..60, -20i64..100, 1u32..50, 1u32..60).prop_map(
        |(axis, x_per_px, bytes_per_px, left_px, bottom_px, width_px, height_px)| View {
            axis,
            x_per_px,
            bytes_per_px,
            left_px,
            bottom_px,
            width_px,
            height_px,
        },
    )
}

fn address_histories(events: u32, lives: usize) -> impl Strategy<Value = AddressHistory> {
    let apart = prop::collection::vec(prop_oneof![3 => Just(0u64), 1 => 0u64..100, 1 => 0u64..4000], 1..6);
    let range = (0..events, 1..events, 0u64..9000, 1u64..3000).prop_map(|(allocated_at, life, from, bytes)| {
        ([allocated_at, allocated_at.saturating_add(life)], [from, from + bytes])
    });
    (histories(events, lives), apart, prop::collection::vec(range, 0..12))
        .prop_map(|(history, apart, held)| AddressHistory::new(history, &apart, held))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    #[test]
    fn every_pixel_matches_brute_force(address_history in address_histories(120, 80), view in windows()) {
        check(&address_history, &address_history.scene(view));
    }

    #[test]
    fn sliced_job_builds_scene_of_unsliced(
        address_history in address_histories(120, 80),
        view in windows(),
        patience in 0usize..5,
    ) {
        address_history.with_source(|source| {
            let mut job = AddressJob::new(source, view);
            let mut asked = 0;
            let mut has_time = || { asked += 1; patience > 0 && asked % (patience + 1) != 0 };
            let slices = std::iter::repeat_with(|| job.step(source, &mut TimeSlice::new(&mut has_time))).take(100_000);
            let sliced = slices.flatten().next();
            prop_assert_eq!(sliced, AddressJob::run(source, view));
            prop_assert_eq!(job.step(source, &mut TimeSlice::new(&mut || true)), Err(OutOfTime));
            Ok(())
        })?;
    }

    #[test]
    fn hit_test_finds_every_quad(address_history in address_histories(120, 80), view in windows()) {
        let scene = address_history.scene(view);
        let ground = scene.ground.unwrap() as usize;
        for (index, (quad, identity)) in scene.quads.iter().zip(&scene.identities).enumerate().skip(ground) {
            let middle = (i32::from(quad.y[0]) + i32::from(quad.y[1])) / 2;
            let hit = scene_hit(&scene, i32::from(quad.x[0]), middle).unwrap();
            assert_eq!(hit.quad, Some(index));
            let place = address_history.address_ranges[identity.first as usize];
            if identity.count == 1 && is_high(&view, place) {
                // The hit byte lies in the block.
                assert!((place[0]..place[1]).contains(&hit.byte), "{quad:?} {place:?} {hit:?}");
                let id = AllocationId(identity.first);
                let rect = address_history.with_source(|source| address_outline(source, &view, id)).unwrap();
                assert_eq!(rect.y, quad.y.map(i32::from));
                assert!(rect.x[0] <= i32::from(quad.x[0]) && i32::from(quad.x[1]) <= rect.x[1]);
            }
        }
    }
}

#[test]
fn too_many_quads_increase_cell_height() {
    let mut state = 1u32;
    let mut chance = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    // A thousand rows of back-to-back blocks with random gaps and lengths.
    let mut lives = Vec::new();
    let mut places = Vec::new();
    for row in 0..1000u64 {
        let mut allocated_at = chance(100);
        while allocated_at < 100_000 {
            let freed_at = allocated_at + 20 + chance(200);
            lives.push((allocated_at, freed_at, 64));
            places.push((allocated_at, row));
            allocated_at = freed_at + chance(100);
        }
    }
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&at| lives[at].0);
    let history = History::new(100_000, order.iter().map(|&at| lives[at]));
    let mut address_history = AddressHistory::from_ranges(history, Vec::new(), Vec::new());
    address_history.address_ranges = order.iter().map(|&at| [places[at].1 * 70, places[at].1 * 70 + 64]).collect();
    let view = View { bytes_per_px: 70.0, ..View::fit(100_001, 1, 1000, 1000) };
    let scene = address_history.scene(view);
    assert!(scene.band_px > 1 && scene.quads.len() <= MAX_QUADS, "{} px, {} quads", scene.band_px, scene.quads.len());
    assert!(scene.quads.len() > MAX_QUADS / 4, "coarser than it needs to be: {} quads", scene.quads.len());
}

#[test]
fn overlapping_addresses_are_drawn_without_overlap() {
    let history = History::from_picture(
        "
        .####. 80
        ###### 160
        ",
    );
    let mut address_history = AddressHistory::new(history, &[0], Vec::new());
    address_history.address_ranges = vec![[0, 160], [80, 240]];
    let scene = address_history.scene(View { bytes_per_px: 8.0, ..View::fit(6, 1, 6, 40) });
    let drawn: Vec<_> = scene.quads.iter().map(|quad| (quad.x, quad.y)).collect();
    assert_eq!(drawn, [([0, 6], [0, 20]), ([1, 5], [20, 30])]);
}

#[test]
fn invalid_views_give_empty_scenes() {
    let address_history = AddressHistory::new(History::from_picture("## 10"), &[0], vec![([0, 9], [0, 100])]);
    let fit = View::fit(2, 10, 10, 10);
    for view in [
        View { x_per_px: f64::NAN, ..fit },
        View { bytes_per_px: 0.0, ..fit },
        View { left_px: i64::MIN, ..fit },
        View { left_px: i64::MAX, ..fit },
        View { bottom_px: i64::MIN, ..fit },
        View { bottom_px: i64::MAX, ..fit },
        View { height_px: 0, ..fit },
        View { width_px: 0, ..fit },
    ] {
        assert_eq!(address_history.scene(view).quads, [], "{view:?}");
    }
    let huge = View { width_px: u32::MAX, height_px: u32::MAX, ..fit };
    assert_eq!(address_history.scene(huge).quads.len(), 2);
}
