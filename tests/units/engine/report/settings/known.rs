//! Unit tests of `src/engine/report/settings/known_settings.rs`.

use super::*;

#[test]
fn default_values_of_settings_are_recognized() {
    for (key, value, is_default) in [
        ("max_split_size", "-1", true),
        ("max_split_size", "209715200", false),
        ("garbage_collection_threshold", "0.0", true),
        ("garbage_collection_threshold", "0.8", false),
        ("expandable_segments", "false", true),
        ("expandable_segments", "True", false),
        ("roundup_power2_divisions.64", "0", true),
        ("roundup_power2_divisions.>", "4", false),
        ("PYTORCH_CUDA_ALLOC_CONF", "", true),
    ] {
        assert_eq!(find_known(key).map(|known| known.is_default(value)), Some(is_default), "{key} {value}");
    }
    assert!(find_known("a_new_one").is_none() && find_known("a.b").is_none());
}

#[test]
fn settings_string_is_split_into_pairs() {
    let conf =
        "backend:native, max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2],a,expandable_segments:True";
    let expected = [
        ("backend", "native"),
        ("max_split_size_mb", "128"),
        ("roundup_power2_divisions", "[256:1,512:2]"),
        ("expandable_segments", "True"),
    ];
    assert_eq!(parse_conf(conf), expected);
    assert_eq!(parse_conf(""), []);
    assert_eq!(parse_conf("]],x:1"), [("x", "1")], "unbalanced closing brackets");
    assert!(
        find_known("max_cached_size")
            .is_some_and(|known| known.is_default("-1") && known.is_default("18446744073709551615"))
    );
}
