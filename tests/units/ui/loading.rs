//! Unit tests of `src/ui/session/loading.rs`.

use super::*;

fn loading(bytes: u64, total_bytes: Option<u64>, latest_ms: f64) -> LoadingView {
    Loading { bytes, latest_ms, ..Loading::new(Origin::File(0), "a.pickle".into(), total_bytes, 0.0) }.view()
}

#[test]
fn progress_shows_bytes_total_and_rate_if_known() {
    let gib = 1 << 30;
    assert_eq!(loading(gib, Some(4 * gib), 4000.0).text, "Reading and decoding · 1.00 GiB of 4.00 GiB · 268 MB/s");
    assert_eq!(loading(gib, Some(4 * gib), 100.0).text, "Reading and decoding · 1.00 GiB of 4.00 GiB");
    assert_eq!(loading(2048, None, 1000.0).text, "Reading and decoding · 2.00 KiB · 2 kB/s");
    assert_eq!(loading(gib, None, 100.0).text, "Reading and decoding · 1.00 GiB");
    assert_eq!(loading(0, None, 0.0).text, "Reading and decoding");
}

#[test]
fn server_of_link_is_shown() {
    let of = |link: &str| Loading::new(Origin::Link(link.into()), "a.pickle".into(), None, 0.0).view().name;
    assert_eq!(of("https://files.example/x/a.pickle"), "a.pickle from files.example");
    assert_eq!(of("example.pickle.gz"), "a.pickle");
}

#[test]
fn crash_message_has_progress_and_memory_estimate() {
    let freed_at = |bytes, total_bytes| {
        let new = Loading::new(Origin::File(0), "a.pickle".into(), total_bytes, 0.0);
        Loading { bytes, ..new }.stopped_text()
    };
    assert_eq!(
        freed_at(2 << 30, Some(5 << 30)),
        " after 2.00 GiB of a.pickle, of 5.00 GiB. If memory ran out: the whole file needs about 10.0 GiB"
    );
    assert_eq!(freed_at(1 << 20, Some(5 << 30)), " after 1.00 MiB of a.pickle");
    assert_eq!(freed_at(2 << 30, None), " after 2.00 GiB of a.pickle");
}

#[test]
fn fraction_is_none_if_out_of_range() {
    assert_eq!(loading(5, Some(10), 0.0).fraction, Some(0.5));
    assert_eq!(loading(50, Some(10), 0.0).fraction, None, "the total counts compressed bytes");
    assert_eq!(loading(5, None, 0.0).fraction, None);
    assert_eq!(loading(5, Some(0), 0.0).fraction, None, "an empty file has no fraction");
}
