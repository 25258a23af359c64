//! Search for the minimum capacity, uncertainty bands and candidate settings.

use super::{Fit, candidates};
use crate::bands::{Band, Doubts, Start};
use crate::files::{Request, names, program, proved, recordings, whole};
use crate::recording::Place;
use crate::settings::MIB;
use crate::{Inference, Limits, Order, Plan, Run, Settings, StartState};

const GIB: f64 = (1u64 << 30) as f64;

#[test]
fn minimum_capacity_matches_prototype() {
    let Some(recordings) = recordings("train-fp32-1185-segments.pickle") else { return };
    let recording = &recordings[0];
    for (expandable, start, gib) in [(false, StartState::Kept, "51.76"), (true, StartState::Fresh, "52.80")] {
        let settings = Settings { expandable, ..Settings::default() };
        let plan = Plan { settings, start, ..Plan::default() };
        let mut fit = Fit::new(&plan);
        let enough = whole(|slice| fit.step(recording, slice)).unwrap();
        assert_eq!(format!("{:.2}", enough as f64 / GIB), gib, "expandable_segments:{expandable}");
        let oom_with = |capacity| {
            let limits = Limits { capacity: Some(capacity), ..Limits::default() };
            let mut run = Run::new(recording, &Plan { limits, ..plan.clone() });
            whole(|slice| run.step(recording, slice));
            run.outcome().oom_event
        };
        assert_eq!(oom_with(enough), None);
        assert!(oom_with(enough - 2 * MIB).is_some());
    }
}

#[test]
fn peaks_of_large_file_under_other_settings_match_prototype() {
    let Some(recordings) = recordings("train-fp32-1185-segments.pickle") else { return };
    let recording = &recordings[0];
    let peak = |line: &str, allowed: Option<u64>| {
        let settings = crate::conf::parse(line).unwrap().0;
        let limits = Limits::allowing(allowed, &settings);
        let mut band = Band::default();
        let banded = whole(|slice| {
            band.step(
                recording,
                &Plan { settings: settings.clone(), limits, ..Plan::default() },
                Doubts::default(),
                slice,
            )
        });
        let peak = banded.outcome.peak_reserved;
        assert!(banded.band[0] <= peak && peak <= banded.band[1]);
        format!("{:.2}", peak as f64 / GIB)
    };
    assert_eq!(peak("", None), "62.46", "default settings");
    assert_eq!(peak("expandable_segments:True", None), "52.99");
    assert_eq!(peak("roundup_power2_divisions:8", None), "64.25");
    assert_eq!(peak("large_segment_size_mb:64", None), "58.29");
    assert_eq!(peak("garbage_collection_threshold:0.8", Some(67_071_115_264)), "51.76");
    assert_eq!(peak("garbage_collection_threshold:0.8", None), "62.46", "no effect without a fraction");
}

#[test]
fn candidates_exclude_recorded_settings() {
    let expandable = Settings { expandable: true, ..Settings::default() };
    let all = candidates(&expandable, Some(1 << 36));
    assert_eq!(all.len(), 10);
    assert!(!all.contains(&expandable) && all.contains(&Settings::default()));
    assert!(candidates(&expandable, None).iter().all(|settings| !settings.collects()));
    for settings in all {
        assert_eq!(crate::conf::parse(&settings.to_string()).map(|read| read.0), Ok(settings));
    }
}

#[test]
fn candidates_keep_recorded_memory_fraction() {
    let fraction = crate::settings::Share::millionths(350_000);
    let recorded = Settings { fraction, ..Settings::default() };
    let all = candidates(&recorded, Some(1 << 36));
    assert!(!all.contains(&recorded) && all.iter().all(|settings| settings.fraction == fraction), "{all:?}");
}

#[test]
fn huge_request_has_no_minimum_capacity() {
    let recording = program(&[Request::Alloc { size: 1 << 46, place: Place::default() }]);
    let settings = Settings { expandable: true, ..Settings::default() };
    let mut fit = Fit::new(&Plan { settings, ..Plan::default() });
    assert_eq!(whole(|slice| fit.step(&recording, slice)), None);
}

#[test]
fn late_recording_has_bounds_from_live_bytes_to_limit() {
    let Some(recordings) = recordings("train-ring-buffer-wrapped.pickle") else { return };
    let recording = &recordings[0];
    let start = Start { idle: 1 << 30, recorded_peak: 25_178_406_912, may_keep: true };
    let banded = |limits: Limits| {
        let plan = Plan { start: StartState::Kept, limits, ..Plan::default() };
        let doubts = Doubts { start: Some(start), ..Doubts::default() };
        whole(|slice| Band::default().step(recording, &plan, doubts, slice))
    };
    let free = banded(Limits::default());
    let live = free.outcome.peak_rounded;
    assert!(0 < live && live < free.outcome.peak_allocated, "remainders of blocks do not count");
    assert!(free.band[0] == live && free.band[1] >= (25_178_406_912 + (1 << 30)) / 10 * 13, "{:?}", free.band);
    let capacity = Some(26_000_000_000);
    assert_eq!(banded(Limits { capacity, ..Limits::default() }).band, [live, 26_000_000_000]);
}

#[test]
fn blocks_do_not_overlap_in_any_address_order() {
    let place = Place::default();
    let recording = program(&[3, 30, 300].map(|mib| Request::Alloc { size: mib * MIB, place }));
    for order in Order::ALL {
        let mut run = Run::new(&recording, &Plan { order, ..Plan::default() });
        whole(|slice| run.step(&recording, slice));
        let blocks = run.allocator().blocks();
        assert!(blocks.windows(2).all(|pair| pair[0].address + pair[0].size <= pair[1].address), "{order:?}");
        assert_eq!(run.block(2).map(|block| (block.size, block.allocation)), Some((300 * MIB, 2)));
    }
    let Some(recordings) = recordings("adam-35-events.pickle") else { return };
    let mut inference = Inference::default();
    assert!(whole(|slice| inference.step(&recordings[0], slice)).verdict.is_exact());
}

#[test]
fn address_order_is_irrelevant_to_expandable_segments() {
    for recording in names().iter().filter_map(|name| recordings(name)).flatten() {
        let (recording, _) = proved(recording);
        let outcomes = [Order::Lowest, Order::Highest, Order::Mixed].map(|order| {
            let settings = Settings { expandable: true, ..Settings::default() };
            let mut run = Run::new(&recording, &Plan { settings, order, ..Plan::default() });
            whole(|slice| run.step(&recording, slice));
            assert!(run.allocator().ignores_addresses());
            run.outcome().clone()
        });
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]));
    }
}
