//! List of decoded snapshots kept in browser storage.

use super::*;

fn three() -> CacheIndex {
    let mut kept = CacheIndex::default();
    for (print, used) in [("100-aa", 1), ("200-bb", 2), ("300-cc", 3)] {
        kept.add(key(print, 77), 400 << 20, used);
    }
    kept
}

#[test]
fn stored_list_of_another_build_is_ignored() {
    let kept = three();
    let text = kept.to_text("page-1.js");
    assert_eq!(CacheIndex::parse(&text, "page-1.js"), kept);
    assert_eq!(CacheIndex::parse(&text, "page-2.js"), CacheIndex::default());
    let odd = "memscape kept 1 b\nkey 5\n../up 5 5\n1-a-2 x 5\n1-a-2 5 6\n";
    assert_eq!(CacheIndex::parse(odd, "b").to_text("b"), "memscape kept 1 b\n1-a-2 5 6");
}

#[test]
fn file_is_found_by_length_time_and_fingerprint() {
    let mut kept = three();
    assert!(kept.may_have(200, 77));
    assert!(!kept.may_have(200, 78) && !kept.may_have(20, 77) && !kept.may_have(0, 77));
    assert!(
        kept.touch(&key("200-bb", 77), 9) && !kept.touch(&key("200-bc", 77), 9) && !kept.touch(&key("200-bb", 78), 9)
    );
}

#[test]
fn least_recently_used_file_is_evicted() {
    let mut kept = three();
    kept.touch(&key("100-aa", 77), 9);
    assert_eq!(kept.summary(), "1.17 GiB of 3 files are kept.");
    assert_eq!(kept.make_room(CAPACITY_BYTES + 1), None);
    assert_eq!(kept.make_room(200 << 20), Some(vec![key("200-bb", 77)]));
    kept.add(key("300-cc", 77), 200 << 20, 10);
    assert_eq!(kept.summary(), "600 MiB of 2 files are kept.");
    assert_eq!(kept.make_room(CAPACITY_BYTES), Some(vec![key("100-aa", 77), key("300-cc", 77)]));
    assert_eq!(kept.summary(), "Nothing is kept.");
}
