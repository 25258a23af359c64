//! The allocator model against real files: equal addresses, segment operations and reserved bytes at every event.

use crate::files::{names, recordings, whole};
use crate::{Inference, Proof, Recording};

/// Expected number of allocations, number of segment operations and peak of reserved bytes of each real file, as listed
/// in `whatif.md` §9 and computed by the Python prototype.
const EXPECTED: [(&str, u64, u64, u64); 17] = [
    ("adam-35-events.pickle", 18, 7, 232_783_872),
    ("deep-stacks-no-time.pickle", 3505, 152, 6_471_811_072),
    ("forward-bf16.pickle", 937, 0, 861_929_472),
    ("forward-only-100.pickle", 785, 31, 463_470_592),
    ("infer-compile-context.pickle", 1666, 0, 1_981_808_640),
    ("infer-fp32-786-segments.pickle", 1800, 279, 25_329_401_856),
    ("no-time-expandable.pickle", 2899, 85, 643_825_664),
    ("no-time-segments-freed.pickle", 2899, 133, 662_700_032),
    ("profile-grad.pickle", 12, 7, 4_439_670_784),
    ("tiny-97-events.pickle", 36, 9, 3_781_165_056),
    ("torch-2.10-annotated.pickle", 2162, 0, 4_238_344_192),
    ("torch-2.10-bf16-expandable.pickle", 2218, 0, 39_734_738_944),
    ("torch-2.10-small.pickle", 1721, 0, 14_180_941_824),
    ("train-annotated-100.pickle", 3853, 65, 786_432_000),
    ("train-annotated-mixed-precision.pickle", 4404, 88, 1_205_862_400),
    ("train-fp32-1185-segments.pickle", 8768, 678, 67_071_115_264),
    ("train-ring-buffer-wrapped.pickle", 7591, 0, 25_178_406_912),
];

fn proof(recording: &Recording) -> Proof {
    let mut inference = Inference::default();
    whole(|slice| inference.step(recording, slice))
}

#[test]
fn model_reproduces_real_files_exactly() {
    for name in names() {
        let Some(recordings) = recordings(&name) else { return };
        for recording in recordings {
            let proof = proof(&recording);
            let found = &proof.verdict;
            println!("{name}: {found:?} {:?} {:?} {:?}", proof.assumed, proof.not_exercised, proof.refused);
            let Some((_, addresses, segments, peak)) = EXPECTED.iter().find(|(known, ..)| *known == name) else {
                assert!(proof.refused.is_some(), "{name}: no expected values, but not refused");
                continue;
            };
            assert_eq!(proof.refused, None, "{name}");
            assert!(found.is_exact(), "{name}: {found:?}");
            assert_eq!((found.addresses, found.segment_events), (*addresses, *segments), "{name}");
            assert_eq!((found.peak_reserved, found.recorded_peak_reserved), (*peak, *peak), "{name}");
        }
    }
}

#[test]
fn recording_with_anonymised_addresses_is_rejected() {
    let Some(recordings) = recordings("anonymised-annotations-compile-context.pickle") else { return };
    let refused: Vec<_> = recordings.iter().filter_map(|recording| proof(recording).refused).collect();
    assert!(refused.contains(&"520 of 520 addresses lie in no segment".to_owned()), "{refused:?}");
}
