//! The simulation on arbitrary, inconsistent recordings.

use crate::files::whole;
use crate::operation::{Kind, Operation};
use crate::recording::{Allocation, Caller, Early, Held, Oom, Place, Recording, Release, Step, What};
use crate::{Inference, Limits, Plan, Run, Settings, StartState};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..64u64,
        4 => (0..64u64).prop_map(|mib| mib << 20),
        2 => (0..64u64).prop_map(|pages| pages << 9),
        1 => any::<u64>(),
        1 => (0..5u64).prop_map(|less| u64::MAX - less),
        1 => (30..64u32).prop_map(|power| 1 << power),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        4 => (0..24u32).prop_map(What::Alloc),
        2 => (0..24u32).prop_map(What::FreeRequested),
        4 => (0..24u32).prop_map(What::FreeCompleted),
        2 => (0..12u32).prop_map(What::Grow),
        1 => (0..4u32).prop_map(What::Release),
        1 => (0..3u32).prop_map(What::Oom),
    ]
}

prop_compose! {
    fn recording()(
        allocations in prop::collection::vec((number(), number(), 0..4u32), 24),
        operations in prop::collection::vec((0..4usize, number(), number()), 10),
        releases in prop::collection::vec((0..12u32, 0..12u32, any::<bool>()), 3),
        ooms in prop::collection::vec((number(), number(), 0..4u32), 2),
        held in prop::collection::vec((number(), number(), 0..4u32, any::<bool>(), any::<bool>()), 0..6),
        early in prop::collection::btree_set(0..24u32, 0..12),
        sized in prop::option::of(number()),
        steps in prop::collection::vec(what(), 0..120),
        expandable in any::<bool>(),
    ) -> Recording {
        let mut held: Vec<Held> = held
            .into_iter()
            .map(|(address, size, place, small, expandable)| Held { address, size, place, small, expandable })
            .collect();
        // Held segments never overlap: undoing the trace ensures it.
        held.sort_by_key(|held| held.address);
        held.dedup_by_key(|held| held.address);
        let next: Vec<u64> = held.iter().skip(1).map(|held| held.address).chain([u64::MAX]).collect();
        held.iter_mut().zip(next).for_each(|(held, next)| held.size = held.size.min(next - held.address));
        held.retain(|held| held.size > 0);
        let mut early: Vec<Early> = early
            .into_iter()
            .map(|allocation| Early { allocation, block_size: sized, freed_at: 9, follower: sized })
            .collect();
        early.sort_by_key(|early| allocations[early.allocation as usize].1);
        let kinds = [Kind::Alloc, Kind::Free, Kind::Map, Kind::Unmap];
        let steps = (0..).zip(steps).map(|(event, what)| Step { event, what });
        Recording {
            streams: vec![0, 9],
            pools: vec![(0, 0), (0, 1)],
            places: [(0, 0), (0, 1), (1, 0)].map(|(stream, pool)| Place { stream, pool }).to_vec(),
            allocations: allocations.into_iter().map(|(size, address, place)| Allocation { size, address, place }).collect(),
            operations: operations
                .into_iter()
                .map(|(kind, address, size)| Operation { kind: kinds[kind], address, size })
                .collect(),
            releases: releases
                .into_iter()
                .map(|(first, end, known)| Release {
                    operations: [first, end],
                    pool: first % 3,
                    caller: if known { Caller::EmptyCache } else { Caller::Unknown },
                })
                .collect(),
            ooms: ooms
                .into_iter()
                .map(|(size, device_free, place)| Oom { size, device_free, place, reserved: device_free })
                .collect(),
            held,
            early,
            steps: steps.collect(),
            settings: expandable.then(Settings::default),
            has_expandable: expandable,
            events: 120,
            requests: 24,
            has_segments: true,
            ..Recording::default()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn arbitrary_recordings_do_not_panic(recording in recording(), capacity in prop::option::of(number())) {
        let mut inference = Inference::default();
        let proof = whole(|slice| inference.step(&recording, slice));
        for (start, line) in [
            (StartState::Kept, ""),
            (StartState::Kept, "expandable_segments:True"),
            (StartState::Fresh, "max_split_size_mb:21,garbage_collection_threshold:0.5,per_process_memory_fraction:0.9"),
            (StartState::Kept, "expandable_segments:True,max_split_size_mb:30,roundup_power2_divisions:8"),
        ] {
            let settings = crate::conf::parse(line).unwrap().0;
            let limits = Limits::new(capacity, capacity, &settings);
            let plan = Plan { settings, limits, start, keeps_curve: true, ..Plan::default() };
            let mut run = Run::new(&recording, &plan);
            whole(|slice| run.step(&recording, slice));
        }
        prop_assert!(proof.verdict.addresses_equal <= proof.verdict.addresses);
    }
}
