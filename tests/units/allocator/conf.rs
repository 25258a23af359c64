//! Parsing of `PYTORCH_CUDA_ALLOC_CONF` lines: settings, errors and round trips.

use super::{parse, parse_leniently};
use crate::settings::{INTERVALS, MIB, Settings, Share};
use proptest::prelude::*;

fn read(line: &str) -> Settings {
    parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).0
}

#[test]
fn line_changes_only_named_settings() {
    let normal = Settings::default();
    assert_eq!(read(""), normal);
    assert_eq!(read("backend:native,expandable_segments:False"), normal);
    assert_eq!(read("expandable_segments:True").to_string(), "expandable_segments:True");
    let all = read("max_split_size_mb:128, garbage_collection_threshold:0.8 ,per_process_memory_fraction:0.5");
    assert_eq!(
        (all.max_split, all.collect_above, all.fraction),
        (Some(128 * MIB), Share::millionths(800_000), Share::millionths(500_000))
    );
    let large = read("large_segment_size_mb:64");
    assert_eq!(
        (large.large_segment, large.non_split),
        (64 * MIB, 64 * MIB),
        "max_non_split follows large_segment_size_mb"
    );
    let both = read("max_non_split_rounding_mb:32,large_segment_size_mb:64");
    assert_eq!((both.large_segment, both.non_split), (64 * MIB, 32 * MIB));
    for pasted in [
        "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        "export PYTORCH_ALLOC_CONF=\"expandable_segments:True\"",
        "'expandable_segments:True'",
        " expandable_segments : True , ",
    ] {
        assert!(read(pasted).expandable, "{pasted}");
    }
    let (_, ignored) = parse("pinned_num_register_threads:8,release_lock_on_cudamalloc:True").unwrap();
    assert_eq!(ignored, ["pinned_num_register_threads", "release_lock_on_cudamalloc"]);
}

#[test]
fn divisions_accept_number_and_list() {
    assert_eq!(read("roundup_power2_divisions:8").divisions, [8; INTERVALS]);
    let list = read("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]").divisions;
    assert_eq!(list, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8]);
    let holes = read("expandable_segments:True,roundup_power2_divisions:[2:4,16:8],max_split_size_mb:64").divisions;
    assert_eq!(holes, [4, 4, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn invalid_setting_reports_cause_and_position() {
    let wrong = |line: &str| parse(line).unwrap_err().to_string();
    assert_eq!(wrong("expandable_segments:true"), "expected True or False at character 1: expandable_segments:true");
    assert_eq!(
        wrong("expandable_segments:True,max_split_size_mb:20"),
        "expected a whole number of MiB above 20 at character 26: max_split_size_mb:20"
    );
    assert_eq!(wrong("PYTORCH_ALLOC_CONF=foo:1"), "unknown setting at character 20: foo:1");
    assert_eq!(wrong("expandable_segments"), "expected setting:value at character 1: expandable_segments");
    assert_eq!(
        wrong("large_segment_size_mb:256,max_split_size_mb:128"),
        "expected a size above that of large segments at character 27: max_split_size_mb"
    );
    for line in [
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:[3:4]",
        "roundup_power2_divisions:[>:4]",
        "roundup_power2_divisions:[4:4",
        "roundup_power2_divisions:[4]",
        "garbage_collection_threshold:1",
        "garbage_collection_threshold:0",
        "per_process_memory_fraction:1.5",
        "per_process_memory_fraction:nan",
        "backend:cudaMallocAsync",
        "max_split_size_mb:99999999999999999999",
        "large_segment_size_mb:10",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    let lenient = parse_leniently("foo:1,large_segment_size_mb:40,max_split_size_mb:x,expandable_segments:True");
    assert_eq!((lenient.large_segment, lenient.max_split, lenient.expandable), (40 * MIB, None, true));
}

#[test]
fn throw_on_oom_without_fraction_is_ignored() {
    let (settings, ignored) = parse("throw_on_cudamalloc_oom:True").unwrap();
    assert_eq!((settings, ignored), (Settings::default(), vec!["throw_on_cudamalloc_oom".to_owned()]));
    let (settings, ignored) = parse("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5").unwrap();
    assert!(settings.throws && ignored.is_empty());
    assert!(parse("throw_on_cudamalloc_oom:1").is_err());
}

proptest! {
    #[test]
    fn printed_settings_parse_to_the_same_settings(
        expandable in any::<bool>(),
        max_split in prop::option::of(200..2000u64),
        large in 11..200u64,
        non_split in 21..300u64,
        divisions in prop::array::uniform16(prop::sample::select(vec![0u32, 1, 2, 4, 8, 64])),
        collect in 0..1_000_000u32,
        fraction in 0..=1_000_000u32,
        throws in any::<bool>(),
    ) {
        let settings = Settings {
            expandable,
            max_split: max_split.map(|mib| mib * MIB),
            non_split: non_split * MIB,
            divisions,
            collect_above: Share::millionths(collect),
            large_segment: large * MIB,
            fraction: Share::millionths(fraction),
            throws: throws && fraction < 1_000_000,
        };
        let back = read(&settings.to_string());
        // 0 and 1 both turn rounding off.
        let off = |settings: &Settings| settings.divisions.map(|division| division.max(1));
        prop_assert_eq!(off(&back), off(&settings), "{}", settings);
        prop_assert_eq!(Settings { divisions, ..back }, settings.clone(), "{}", settings);
    }

    #[test]
    fn arbitrary_lines_do_not_panic(line in "[a-z_:,\\[\\]0-9>=\" é]{0,60}") {
        let _ = (parse(&line), parse_leniently(&line));
    }
}
