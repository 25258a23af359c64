//! Inference of allocator settings that a recording does not contain.

use crate::files::{names, recordings, whole};
use crate::settings::{INTERVALS, MIB, NPU_ADDED, NPU_ALIGNED};
use crate::{Backend, Check, Inference, Proof, Recording, Settings, Verdict};

fn proof(recording: &Recording) -> Proof {
    let mut inference = Inference::default();
    whole(|slice| inference.step(recording, slice))
}

fn verdict(recording: &Recording, settings: &Settings, backend: Backend) -> Verdict {
    let mut check = Check::new(recording, settings, backend);
    whole(|slice| check.step(recording, slice))
}

#[test]
fn wrong_settings_fail_to_reproduce_recordings() {
    let mut refuted = [0; 4];
    for name in names() {
        for recording in recordings(&name).into_iter().flatten() {
            let Proof { settings, backend, refused: None, .. } = proof(&recording) else { continue };
            let more = Backend { added: NPU_ADDED - backend.added, ..backend };
            assert!(!verdict(&recording, &settings, more).is_exact(), "{name}: reproduced with 32 bytes more or less");
            let toggled = Settings { expandable: !settings.expandable, ..settings.clone() };
            let has_growth = recording.operations.iter().any(|operation| operation.kind.grows());
            let is_exact = verdict(&recording, &toggled, backend).is_exact();
            assert!(!(has_growth && is_exact), "{name}: expandable_segments toggled");
            refuted[0] += u32::from(!is_exact);
            let others = [
                Settings { divisions: [8; INTERVALS], ..settings.clone() },
                Settings { max_split: Some(128 * MIB), ..settings.clone() },
                Settings { large_segment: 40 * MIB, non_split: 40 * MIB, ..settings.clone() },
            ];
            for (count, wrong) in refuted.iter_mut().skip(1).zip(&others) {
                *count += u32::from(!verdict(&recording, wrong, backend).is_exact());
            }
        }
    }
    println!("refuted: expandable toggled, eighths, largest split, large segments: {refuted:?}");
    assert!(names().is_empty() || refuted.iter().all(|count| *count > 0), "{refuted:?}");
}

#[test]
fn missing_settings_are_inferred_from_trace() {
    let Some(expandable) = recordings("no-time-expandable.pickle") else { return };
    let found = proof(&expandable[0]);
    assert!(found.settings.expandable);
    assert_eq!(found.backend, Backend { added: NPU_ADDED, aligned: NPU_ALIGNED, ..Backend::default() });
    assert_eq!(
        found.assumed,
        [
            "not recorded, but seen in the trace",
            "32 bytes added to each request (torch_npu), seen in block sizes",
            "large blocks aligned to 16 KiB (torch_npu), inferred",
        ]
    );
    let Some(plain) = recordings("no-time-segments-freed.pickle") else { return };
    let found = proof(&plain[0]);
    assert_eq!((found.settings, found.backend.added), (Settings::default(), NPU_ADDED));
    assert!(!found.not_exercised.contains(&"empty_cache"), "{:?}", found.not_exercised);
}

#[test]
fn trace_without_allocations_gives_no_prediction() {
    let refused = proof(&Recording::default()).refused;
    assert_eq!(refused.as_deref(), Some("the trace has no allocations"));
}
