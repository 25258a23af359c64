//! Properties of the timeline geometry for any history: heights add up, peaks are preserved, hit tests succeed, and
//! panning does not jitter.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use crate::support;

use memscape::replay::{AllocationId, Allocations, Curve, LiveSets, Totals};
use memscape::timeline::{
    Axis, Extent, Paint, Quad, Scene, SceneJob, Source, View, exact_outline, lowest_byte_of, scene_hit, stack_at,
};
use memscape::units::EventIdx;
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::history::{History, histories};

fn scene(history: &History, view: View) -> Scene {
    history.with_source(|source| SceneJob::run(source, view)).expect("a job without a budget finishes")
}

/// Live blocks after an event from the bottom up: id, lowest byte, end.
fn stack(history: &History, moment: u32) -> Vec<(u32, u64, u64)> {
    let mut height = 0;
    let live = history.order.iter().filter(|&&id| {
        let (allocated_at, freed_at, size) = history.spans[id as usize];
        (allocated_at..freed_at).contains(&moment) && size > 0
    });
    live.map(|&id| {
        let lowest = height;
        height += history.spans[id as usize].2;
        (id, lowest, height)
    })
    .collect()
}

/// Scales and positions of windows on the event axis or, for histories with times, on the time axis.
fn windows() -> impl Strategy<Value = View> {
    let scale = prop_oneof![0.02..1.0f64, 1.0..40.0f64, Just(1.0), Just(2.5)];
    let bytes_per_px = prop_oneof![0.3..4.0f64, 4.0..400.0f64, Just(1.0)];
    let axis = prop_oneof![2 => Just(Axis::Events), 1 => Just(Axis::Time)];
    (axis, scale, bytes_per_px, -20i64..150, -20i64..150, 1u32..100, 1u32..120).prop_map(
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

/// Indices of the quads of a column.
fn quads_of_column(scene: &Scene, column: usize) -> Vec<usize> {
    let left = scene.columns.edge_px[column] as i16;
    let quads = scene.quads.iter().enumerate();
    quads.filter(|(_, quad)| quad.x[0] <= left && left < quad.x[1]).map(|(index, _)| index).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn column_heights_sum_to_total(history in histories(120, 60), scale in 0.05..20.0f64, width_px in 1u32..80) {
        // One byte per pixel: heights are sizes. The window has the maximum height, so hardly anything is cut.
        let fit = View::fit(u64::from(history.moments()), 1, width_px, 32_767);
        let view = View { x_per_px: fit.x_per_px * scale.min(1.0), bytes_per_px: 1.0, ..fit };
        let scene = scene(&history, view);
        for (column, &total) in scene.columns.total.iter().enumerate() {
            let quads = quads_of_column(&scene, column);
            let height: i64 = quads.iter().map(|&at| i64::from(scene.quads[at].y[1]) - i64::from(scene.quads[at].y[0])).sum();
            prop_assert_eq!(height as u64, total.min(32_767), "column {}", column);
            let left = scene.columns.edge_px[column] as i16;
            if total < 32_767 && quads.iter().all(|&at| scene.quads[at].x[0] == left) {
                prop_assert_eq!(quads.iter().map(|&at| scene.identities[at].requested()).sum::<u64>(), total);
            }
        }
    }

    #[test]
    fn window_shows_true_peak_at_any_scale(history in histories(300, 80), view in windows()) {
        let view = View { axis: Axis::Events, ..view };
        let shown = scene(&history, view).columns.total.iter().copied().max();
        let (from, to) = (view.x_from_column(0.0), view.x_from_column(f64::from(view.width_px)));
        // Edges are rounded to pixels, so blocks that extend less than one pixel into the window may be omitted.
        let peak_of = |from: f64, to: f64| {
            let inside = |moment: &usize| (*moment as f64) < to && (*moment + 1) as f64 > from;
            (0..history.requested.len()).filter(inside).map(|moment| history.requested[moment] as u64).max()
        };
        prop_assert!(shown >= peak_of(from + view.x_per_px, to - view.x_per_px));
        prop_assert!(shown <= peak_of(from - view.x_per_px, to + view.x_per_px));
    }

    #[test]
    fn coarser_scene_has_peak_of_finer(history in histories(300, 80), width_px in 1u32..40, power in 1u32..4) {
        // A power of two, so that edges of the coarse columns are exactly edges of the fine ones.
        let times = 1 << power;
        let coarse = View::fit(u64::from(history.moments()), history.peak(), width_px, 50);
        let fine = View { x_per_px: coarse.x_per_px / f64::from(times), width_px: width_px * times, ..coarse };
        let columns_are_pixels = fine.x_per_px > 1.0;
        let [coarse, fine] = [coarse, fine].map(|view| scene(&history, view).columns.total);
        prop_assert_eq!(coarse.iter().max(), fine.iter().max());
        if columns_are_pixels {
            for (column, parts) in coarse.iter().zip(fine.chunks(times as usize)) {
                prop_assert!(parts.iter().all(|part| part <= column), "{:?} in {}", parts, column);
            }
        }
    }

    #[test]
    fn any_position_is_found_by_hit_test(
        history in histories(150, 120),
        view in windows(),
        places in prop::collection::vec((0.0..1.0f64, 0.0..1.0f64), 20),
    ) {
        let scene = scene(&history, view);
        history.with_source(|source| for (across, up) in places {
            let (x, y) = ((across * f64::from(view.width_px)) as i32, (up * f64::from(view.height_px)) as i32);
            let Some(hit) = scene_hit(&scene, x, y) else {
                assert!(scene.columns.edge_px.is_empty() || x < scene.columns.edge_px[0] || x >= *scene.columns.edge_px.last().unwrap());
                continue;
            };
            let stack = stack(&history, hit.moment.0);
            let true_block = stack.iter().find(|(_, _, above)| hit.byte < *above);
            let found = stack_at(source, hit.moment, hit.byte);
            assert_eq!(found.map(|found| (found.allocation.0, found.lowest_byte)), true_block.map(|block| (block.0, block.1)));
            if let (Some(block), Some(quad)) = (true_block, hit.quad) {
                // A hit marked as certain is correct, and a single block has its own rows.
                let identity = scene.identities[quad];
                assert!(!hit.certain || identity.first == block.0, "{hit:?} {block:?} {identity:?}");
                assert_eq!(lowest_byte_of(source, AllocationId(block.0), hit.moment), Some(block.1));
            }
            // Nothing is live where nothing is drawn, except for pixels cut at their own edges.
            let top = scene.view.row_from_bytes(stack.last().map_or(0, |block| block.2));
            assert_eq!(hit.quad.is_some(), i64::from(y) < top && scene.view.bottom_px + i64::from(y) >= 0, "{hit:?} {top}");
        });
    }
}

/// Ten million events with 80 GB at the bottom. Near the end, small blocks of single bytes come and go at every event.
struct DeepHistory {
    allocations: Allocations,
    live: LiveSets,
    steps: BTreeMap<u32, i64>,
    totals: Totals,
}

const EVENTS: u32 = 10_000_000;
/// First event of the small blocks.
const SMALL_BLOCKS_START: u32 = 9_876_000;
const BOTTOM_BYTES: u64 = 80_000_000_007;

impl DeepHistory {
    fn new() -> DeepHistory {
        let mut spans = vec![(0, u32::MAX, BOTTOM_BYTES - 1000), (5, u32::MAX, 1000)];
        let mut chance = 9u64;
        let mut below = |end: u64| {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (chance >> 33) % end
        };
        spans.extend((0..400).map(|at| {
            (SMALL_BLOCKS_START + 2 * at, SMALL_BLOCKS_START + 2 * at + 1 + below(60) as u32, 1 + below(40))
        }));
        let mut steps = BTreeMap::new();
        for &(allocated_at, freed_at, size) in &spans {
            // The change of a state is that of the event before it. The first state has none.
            if allocated_at > 0 {
                *steps.entry(allocated_at - 1).or_insert(0) += size as i64;
            }
            if freed_at < u32::MAX {
                *steps.entry(freed_at - 1).or_insert(0) -= size as i64;
            }
        }
        let base = (BOTTOM_BYTES - 1000) as i64;
        let totals = Totals::build(EVENTS, base, |event| steps.get(&event.0).copied().unwrap_or(0));
        DeepHistory { allocations: Allocations::from_spans(spans), live: LiveSets::default(), steps, totals }
    }

    fn with<R>(&self, look: impl FnOnce(&Source) -> R) -> R {
        let change = |event: EventIdx| self.steps.get(&event.0).copied().unwrap_or(0);
        let curve = Curve::new(&self.totals, &change);
        look(&Source {
            allocations: &self.allocations,
            live: &self.live,
            order: None,
            clock: None,
            requested: curve,
            reserved: curve,
            pending: curve,
            paint: &|_| Paint::NO_STACK,
            highlight: None,
        })
    }

    /// A window of this scale around the small blocks.
    fn view(x_per_px: f64, bytes_per_px: f64) -> View {
        let view = View { x_per_px, bytes_per_px, ..View::fit(1, 1, 300, 200) };
        let left_px = (f64::from(SMALL_BLOCKS_START + 300) / x_per_px) as i64 - 150;
        View { left_px, bottom_px: (BOTTOM_BYTES as f64 / bytes_per_px) as i64 - 50, ..view }
    }
}

/// Quads of single blocks with their ids, in plane coordinates and cut to a window.
fn plane_quads(scene: &Scene, window: &View) -> Vec<(u32, [i64; 2], [i64; 2])> {
    let (left, bottom) = (scene.view.left_px, scene.view.bottom_px);
    let cut = |[from, to]: [i16; 2], origin: i64, start: i64, size: u32| {
        [i64::from(from) + origin, i64::from(to) + origin].map(|at| at.clamp(start, start + i64::from(size)))
    };
    let placed = |(quad, identity): (&Quad, &memscape::timeline::QuadIdentity)| {
        let x = cut(quad.x, left, window.left_px, window.width_px);
        let y = cut(quad.y, bottom, window.bottom_px, window.height_px);
        (identity.count == 1 && x[0] < x[1] && y[0] < y[1]).then_some((identity.first, x, y))
    };
    let mut quads: Vec<_> = scene.quads.iter().zip(&scene.identities).filter_map(placed).collect();
    quads.sort_unstable();
    quads
}

#[test]
fn panning_moves_quads_by_whole_pixels() {
    let deep = DeepHistory::new();
    deep.with(|source| {
        for (x_per_px, bytes_per_px) in
            [(1.0 / 64.0, 1.0 / 16.0), (1.0 / 3.0, 0.3), (1.0, 1.0), (0.7, 7.3), (3.3, 2.0), (2.0, 0.1)]
        {
            let view = DeepHistory::view(x_per_px, bytes_per_px);
            let still = SceneJob::run(source, view).unwrap();
            let mut compared = 0;
            for (right_px, up_px) in [(1, 0), (-1, 0), (0, 1), (0, -1), (37, -23), (-111, 64), (250, 3), (-299, -150)] {
                let panned = SceneJob::run(source, view.panned(right_px, up_px)).unwrap();
                let [width, height] = [(view.width_px, right_px), (view.height_px, up_px)]
                    .map(|(size, by): (u32, i64)| size - by.unsigned_abs() as u32);
                // The part that both windows show.
                let both = View {
                    left_px: view.left_px.max(panned.view.left_px),
                    bottom_px: view.bottom_px.max(panned.view.bottom_px),
                    width_px: width,
                    height_px: height,
                    ..view
                };
                let [one, other] = [&still, &panned].map(|scene| plane_quads(scene, &both));
                assert_eq!(one, other, "{x_per_px} × {bytes_per_px}, moved by {right_px}, {up_px}");
                compared += one.len();
            }
            assert!(compared > 20, "only {compared} quads at {x_per_px} × {bytes_per_px}");
        }
    });
}

#[test]
fn single_byte_blocks_at_80_gb_are_exact() {
    let deep = DeepHistory::new();
    let view = DeepHistory::view(1.0 / 64.0, 1.0 / 16.0);
    deep.with(|source| {
        let scene = SceneJob::run(source, view).unwrap();
        assert!(scene.columns.moments.iter().all(|&count| count == 1), "single states");
        let mut seen = 0;
        for (quad, identity) in scene.quads.iter().zip(&scene.identities).filter(|(_, it)| it.first >= 2) {
            let id = AllocationId(identity.first);
            let moment = scene_hit(&scene, i32::from(quad.x[0]), i32::from(quad.y[0])).unwrap().moment;
            let lowest = lowest_byte_of(source, id, moment);
            // Sixteen pixels per byte, exact to the pixel, although byte numbers have eleven digits.
            let expected = (lowest.unwrap() * 16) as i64 - view.bottom_px;
            assert_eq!(i64::from(quad.y[0]), expected.clamp(0, 200), "{quad:?}");
            seen += 1;
        }
        assert!(seen >= 2, "{seen} blocks");
        // The worker's outline covers the scene's quad.
        let alone =
            scene.quads.iter().zip(&scene.identities).find(|(quad, it)| it.first >= 2 && quad.y[0] > 0).unwrap();
        let rects = exact_outline(source, &view, AllocationId(alone.1.first));
        assert!(rects.iter().any(|rect| rect.y.map(|y| y as i16) == alone.0.y), "{rects:?} {alone:?}");
    });
}

#[test]
fn zoom_to_limit_and_back_keeps_position() {
    let extent = Extent { width: u64::from(EVENTS) + 1, bytes: BOTTOM_BYTES };
    let fit = View::fit(extent.width, extent.bytes, 1280, 700);
    for (column, row) in [(0.0, 0.0), (333.3, 123.4), (1279.0, 699.0)] {
        let (moment, byte) = (fit.x_from_column(column), fit.bytes_from_row(row));
        let mut view = fit;
        for _ in 0..60 {
            view = view.zoomed_x(column, 0.7, extent).zoomed_bytes(row, 0.7, extent);
        }
        assert!(view.x_per_px <= 1.0 / 64.0 && view.bytes_per_px <= 1.0 / 16.0, "not zoomed to the limit: {view:?}");
        for _ in 0..60 {
            view = view.zoomed_x(column, 1.0 / 0.7, extent).zoomed_bytes(row, 1.0 / 0.7, extent);
        }
        // After sixty roundings to whole pixels, each at its own scale, the point under the pointer has hardly moved.
        assert!(
            (view.column_from_x(moment) - column).abs() <= 2.0
                && (view.row_from_bytes(byte as u64) as f64 - row).abs() <= 2.0
        );
    }
}
