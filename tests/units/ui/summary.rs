//! Unit tests of `src/ui/text/summary.rs`.

use super::*;

#[test]
fn unknown_values_are_shown_as_dash() {
    let of = |device: &DeviceSummary, place: &str| {
        let headline = headlines(device, None).into_iter().find(|headline| headline.position == place);
        headline.map(|headline| (headline.value, headline.note)).unwrap_or_default()
    };
    let requested = DeviceSummary { peak_requested: 2048, end_requested: 1024, ..DeviceSummary::default() };
    assert_eq!(of(&requested, "reserved-peak").0, "–");
    assert_eq!(of(&requested, "end").1, "Live at the end (requested): 1,024 B");
    let whole = DeviceSummary { peak_reserved: 4096, end_rounded: 1024, ..requested };
    assert_eq!(of(&whole, "reserved-peak").0, "4.00 KiB");
    assert_eq!(of(&whole, "end").1, "Live at the end (requested): 1,024 B; allocated (rounded): 1,024 B");
    assert_eq!(of(&DeviceSummary::default(), "reserved-peak").0, "0 B", "nothing requested, nothing reserved");
}

#[test]
fn list_of_the_recorder_is_one_fact() {
    let recorded = [
        ("schema", "1"),
        ("left_out.0", "paths"),
        ("left_out.1", "host"),
        ("settings.entries", "9"),
        ("devices.0.name", "NVIDIA H100"),
        ("argv.0", "a"),
    ];
    let found = recorder_facts(&recorded.map(|(key, value)| (key.to_owned(), value.to_owned())));
    let found: Vec<String> = found.into_iter().map(|fact| [fact.label, fact.value].join(": ")).collect();
    assert_eq!(found, ["Left out: paths, host", "Settings entries: 9", "Devices 0 name: NVIDIA H100", "Argv: a"]);
}

#[test]
fn out_of_memory_is_shown_in_summary() {
    let device = DeviceSummary { actions: vec![("oom".to_owned(), 2)], ..DeviceSummary::default() };
    let places: Vec<&str> = headlines(&device, None).iter().map(|headline| headline.position).collect();
    assert_eq!(places, ["oom", "peak", "reserved-peak", "end"]);
    assert!(device_line(&device).ends_with(" · OOM"));
    let value = |device: &DeviceSummary, failed| headlines(device, failed).swap_remove(0).value;
    assert_eq!(value(&device, None), "×2", "until the marks are known");
    assert_eq!(value(&device, Some(16 << 30)), "16.0 GiB ×2");
    let once = DeviceSummary { actions: vec![("oom".to_owned(), 1)], ..DeviceSummary::default() };
    assert_eq!(value(&once, Some(16 << 30)), "16.0 GiB");
}
