//! The timeline geometry compared with brute force: every column of random histories in random windows.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

use crate::support;

use memscape::replay::AllocationId;
use memscape::slice::{OutOfTime, TimeSlice};
use memscape::timeline::scene::FADED;
use memscape::timeline::{
    Axis, MAX_QUADS, Scene, SceneJob, View, exact_outline, lowest_byte_of, outline, scene_hit, stack_at,
};
use memscape::units::Moment;
use proptest::prelude::*;
use support::brute_force_scene;
use support::history::{History, histories};

fn scene(history: &History, view: View) -> Scene {
    history.with_source(|source| SceneJob::run(source, view)).expect("a job without a budget finishes")
}

/// Windows of every zoom, some of them partly or fully outside the data.
fn windows() -> impl Strategy<Value = View> {
    let x_per_px =
        prop_oneof![0.02..1.0f64, 1.0..30.0f64, 30.0..3000.0f64, Just(0.5), Just(1.0), Just(2.0), Just(2.5), Just(7.0)];
    let bytes_per_px = prop_oneof![0.3..3.0f64, 3.0..300.0f64, Just(1.0), Just(16.0)];
    let axis = prop_oneof![2 => Just(Axis::Events), 1 => Just(Axis::Time)];
    (axis, x_per_px, bytes_per_px, -40i64..120, -40i64..200, 1u32..90, 1u32..120).prop_map(
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

/// Area by legend colour: every pixel filled by a quad counts once, for its colour. Both halves of a window sum to the
/// whole.
#[test]
fn scene_counts_pixels_per_colour() {
    let history = History::from_picture(
        "
        ....####............ 40
        ..########.......... 60
        #################### 80
        ",
    );
    let view = View {
        axis: Axis::Events,
        x_per_px: 1.0,
        bytes_per_px: 10.0,
        left_px: 0,
        bottom_px: 0,
        width_px: 20,
        height_px: 20,
    };
    let scene = scene(&history, view);
    let all = scene.covered([0, 20]);
    let by_hand: u64 = scene.quads.iter().map(|it| (it.x[1] - it.x[0]) as u64 * (it.y[1] - it.y[0]) as u64).sum();
    assert_eq!(all.iter().sum::<u64>(), by_hand);
    assert_eq!(by_hand, 4 * 4 + 8 * 6 + 20 * 8);
    let halves = [scene.covered([0, 7]), scene.covered([7, 20])];
    assert!(all.iter().zip(&halves[0]).zip(&halves[1]).all(|((all, one), other)| *all == one + other));
    assert!(scene.covered([30, 20]).iter().chain(&scene.covered([20, 30])).all(|&pixels| pixels == 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn column_is_exact_stack_at_its_peak(history in histories(150, 120), view in windows()) {
        brute_force_scene::check(&history, &scene(&history, view));
    }

    #[test]
    fn peak_is_visible_at_any_zoom(history in histories(300, 80), width_px in 1u32..200, height_px in 1u32..200) {
        let view = View::fit(u64::from(history.moments()), history.peak(), width_px, height_px);
        let scene = scene(&history, view);
        prop_assert_eq!(scene.columns.total.iter().copied().max(), Some(history.peak()));
        let highest = scene.quads.iter().map(|quad| i64::from(quad.y[1])).max().unwrap_or(0);
        prop_assert_eq!(highest, view.row_from_bytes(history.peak()));
    }

    #[test]
    fn sliced_scene_equals_unsliced(history in histories(150, 120), view in windows(), patience in 0usize..5) {
        history.with_source(|source| {
            let mut job = SceneJob::new(source, view);
            let mut asked = 0;
            let mut has_time = || { asked += 1; patience > 0 && asked % (patience + 1) != 0 };
            let slices = std::iter::repeat_with(|| job.step(source, &mut TimeSlice::new(&mut has_time))).take(100_000);
            let sliced = slices.flatten().next();
            prop_assert_eq!(sliced, SceneJob::run(source, view));
            prop_assert_eq!(job.step(source, &mut TimeSlice::new(&mut || true)), Err(OutOfTime));
            Ok(())
        })?;
    }

    #[test]
    fn drawn_quads_are_found_by_hit_test(history in histories(150, 120), view in windows()) {
        let scene = scene(&history, view);
        history.with_source(|source| for (index, (quad, identity)) in scene.quads.iter().zip(&scene.identities).enumerate() {
            let middle = |range: [i16; 2]| (i32::from(range[0]) + i32::from(range[1])) / 2;
            // In the left column a band contains exactly the allocations of its identity.
            for x in [i32::from(quad.x[0]), middle(quad.x)] {
                let hit = scene_hit(&scene, x, middle(quad.y)).unwrap();
                assert_eq!(hit.quad, Some(index));
                let found = stack_at(source, hit.moment, hit.byte).unwrap();
                if identity.count == 1 || x == i32::from(quad.x[0]) {
                    let rank = |id: u32| history.order.iter().position(|&ranked| ranked == id);
                    let ranks = rank(identity.first)..=rank(identity.last);
                    assert!(ranks.contains(&rank(found.allocation.0)), "{found:?} {identity:?}");
                }
                assert!(!hit.certain || (found.allocation.0, identity.count) == (identity.first, 1));
                assert_eq!(lowest_byte_of(source, found.allocation, hit.moment), Some(found.lowest_byte));
            }
            if identity.count == 1 {
                assert!(outline(&scene, identity.first).any(|outlined| outlined == *quad));
            }
        });
    }

    #[test]
    fn outline_is_exact_in_every_column(history in histories(100, 60), view in windows()) {
        let scene = scene(&history, view);
        let row = |bytes: u64| view.row_from_bytes(bytes);
        history.with_source(|source| for (id, &(allocated_at, freed_at, size)) in (0..).zip(&history.spans).filter(|(_, span)| span.2 > 0) {
            let rects = exact_outline(source, &view, AllocationId(id));
            let mut is_shown = false;
            for (column, &moment) in scene.columns.moment.iter().enumerate() {
                let at = rects.iter().find(|rect| (rect.x[0]..rect.x[1]).contains(&scene.columns.edge_px[column]));
                if let Some(lowest) = lowest_byte_of(source, AllocationId(id), Moment(moment)) {
                    let (lower, upper) = (row(lowest), row(lowest + size).max(row(lowest) + 1));
                    let inside = upper > 0 && lower < i64::from(view.height_px);
                    let y = [lower, upper].map(|row| row.clamp(0, i64::from(view.height_px)) as i32);
                    assert_eq!(at.map(|rect| rect.y), inside.then_some(y), "allocation {id}, column {column}");
                    is_shown = true;
                } else if scene.columns.hidden[column] == 0 {
                    assert_eq!(at, None, "allocation {id}, column {column}, [{allocated_at}, {freed_at})");
                }
            }
            let hidden_rects = rects.iter().filter(|_| !is_shown).count();
            assert!(hidden_rects <= 1, "an allocation that no column shows has at most one rectangle: {rects:?}");
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn large_history_is_exact(history in histories(3000, 5000), view in windows()) {
        brute_force_scene::check(&history, &scene(&history, View { x_per_px: view.x_per_px * 20.0, ..view }));
    }
}

#[test]
fn small_history_has_expected_quads() {
    let history = History::from_picture(
        "
        ....##. 20
        ..##### 10
        .###... 30
        ####### 40
        ",
    );
    let view = View { bytes_per_px: 10.0, ..View::fit(7, 1, 7, 10) };
    let scene = scene(&history, view);
    brute_force_scene::check(&history, &scene);
    let quads: Vec<_> =
        scene.quads.iter().zip(&scene.identities).map(|(quad, it)| (it.first, quad.x, quad.y)).collect();
    assert_eq!(
        quads,
        [
            (0, [0, 7], [0, 4]),
            (1, [1, 4], [4, 7]),
            (2, [2, 4], [7, 8]),
            // The block below is freed, so the blocks above move down and start new quads.
            (2, [4, 7], [4, 5]),
            (3, [4, 6], [5, 7]),
        ]
    );
    assert_eq!(outline(&scene, 2).count(), 2);
    history.with_source(|source| {
        assert_eq!(stack_at(source, Moment(3), 69).map(|hit| (hit.allocation.0, hit.lowest_byte)), Some((1, 40)));
        assert_eq!(stack_at(source, Moment(3), 80), None);
        assert_eq!(stack_at(source, Moment(99), 0).map(|hit| hit.allocation.0), Some(0), "live after the last event");
    });
}

#[test]
fn new_band_starts_when_its_blocks_change() {
    let history = History::from_picture(
        "
        .# 6
        #. 6
        ## 6
        ",
    );
    let scene = scene(&history, View { bytes_per_px: 10.0, ..View::fit(2, 1, 2, 10) });
    brute_force_scene::check(&history, &scene);
    let bands: Vec<_> = scene.identities.iter().map(|band| (band.first, band.last, band.count)).collect();
    assert_eq!(bands, [(0, 1, 2), (0, 2, 2)]);
    assert!(scene.quads.iter().all(|quad| quad.y == [0, 1]));
}

#[test]
fn band_without_highlighted_blocks_is_faded() {
    let mut history = History::from_picture(
        "
        .# 6
        #. 6
        ## 6
        ",
    );
    // The middle one of the three.
    history.highlight = true;
    let scene = scene(&history, View { bytes_per_px: 20.0, ..View::fit(2, 1, 2, 10) });
    brute_force_scene::check(&history, &scene);
    let bands: Vec<_> = scene.quads.iter().map(|quad| (quad.x, quad.paint & FADED != 0)).collect();
    assert_eq!(bands, [([0, 1], false), ([1, 2], true)]);
}

#[test]
fn scene_with_too_many_quads_has_higher_bands() {
    let mut state = 1u32;
    let mut chance = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let lives = (0..60_000).map(|_| {
        let allocated_at = chance(100_000);
        (allocated_at, allocated_at + 1 + chance(100_000 - allocated_at), u64::from(64 + chance(4000)))
    });
    let history = History::new(100_000, lives.collect::<Vec<_>>());
    let view = View::fit(100_001, history.peak(), 1000, 1000);
    let scene = scene(&history, view);
    assert!(scene.band_px > 1 && scene.quads.len() <= MAX_QUADS, "{} px, {} quads", scene.band_px, scene.quads.len());
    assert!(
        scene.quads.len() > MAX_QUADS / 3,
        "bands are higher than necessary: {} px, {} quads",
        scene.band_px,
        scene.quads.len()
    );
    // The estimate is made in slices too.
    history.with_source(|source| {
        let mut job = SceneJob::new(source, view);
        let mut asked = 0u32;
        let mut has_time = || {
            asked += 1;
            !asked.is_multiple_of(7)
        };
        let sliced = std::iter::repeat_with(|| job.step(source, &mut TimeSlice::new(&mut has_time)))
            .take(1_000_000)
            .flatten()
            .next();
        assert!(sliced == Some(scene), "sliced scene differs");
    });
}

#[test]
fn invalid_view_gives_empty_scene() {
    let history = History::from_picture("## 10");
    let fit = View::fit(2, 10, 10, 10);
    for view in [
        View { x_per_px: f64::NAN, ..fit },
        View { bytes_per_px: 0.0, ..fit },
        View { left_px: i64::MIN, ..fit },
        View { left_px: i64::MAX, ..fit },
        View { width_px: 0, ..fit },
    ] {
        assert_eq!(scene(&history, view).quads, []);
    }
    for view in [View { bottom_px: i64::MIN, ..fit }, View { bottom_px: i64::MAX, ..fit }, View { height_px: 0, ..fit }]
    {
        assert_eq!(scene(&history, view).quads, []);
    }
    let huge = View { width_px: u32::MAX, height_px: u32::MAX, ..fit };
    assert_eq!(scene(&history, huge).quads.len(), 1);
}
