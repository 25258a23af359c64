//! Kinds of OOMs, from sizes.

use super::*;

const MIB: u64 = 1 << 20;

#[test]
fn kind_follows_from_sizes() {
    let cases = [
        (64, Some(64), Some(0), Some(0), OomKind::Limit),
        // The driver is asked for 20 MiB.
        (2, Some(19), Some(0), Some(0), OomKind::Fragmentation),
        (2, Some(20), Some(0), Some(0), OomKind::Limit),
        (64, Some(32), Some(32), Some(900), OomKind::Fragmentation),
        (64, Some(32), Some(31), Some(64), OomKind::Outside),
        (64, Some(32), Some(31), Some(63), OomKind::Live),
        (64, Some(32), Some(31), None, OomKind::Live),
        (64, None, Some(31), None, OomKind::Unknown),
        (64, Some(32), None, None, OomKind::Unknown),
    ];
    for (request, free, idle, outside, expected) in cases {
        let found = kind(request * MIB, free.map(|it| it * MIB), idle.map(|it| it * MIB), outside.map(|it| it * MIB));
        assert_eq!(found, expected, "{request} {free:?} {idle:?} {outside:?}");
    }
    assert_eq!(kind(u64::MAX, Some(u64::MAX - 1), Some(u64::MAX), Some(0)), OomKind::Fragmentation);
}
