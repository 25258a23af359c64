//! Block and segment sizes, as in PyTorch's `CUDACachingAllocator.cpp`.

use super::{rounded, segment};
use crate::conf::parse;
use crate::settings::{Backend, MIB, Settings};

#[test]
fn block_sizes_are_rounded_to_512_or_divisions() {
    let plain = |size| rounded(&Settings::default(), Backend::default(), size);
    assert_eq!([0, 1, 511, 512, 513, 1024].map(plain), [512, 512, 512, 512, 1024, 1024]);
    let npu = Backend { added: 32, ..Backend::default() };
    assert_eq!([480, 481, 992].map(|size| rounded(&Settings::default(), npu, size)), [512, 1024, 1024]);
    let eighths = parse("roundup_power2_divisions:8").unwrap().0;
    let divided = |size| rounded(&eighths, Backend::default(), size);
    assert_eq!([4096, 4097, 8192, 9000].map(divided), [4096, 4608, 8192, 9216]);
    assert_eq!([MIB + 1, 1200 * MIB, 1024 * MIB].map(divided), [MIB + MIB / 8, 1280 * MIB, 1024 * MIB]);
    let by_size = parse("roundup_power2_divisions:[1:1,2:4,>:2]").unwrap().0;
    let sized = |size| rounded(&by_size, Backend::default(), size);
    assert_eq!([MIB + 1, 3 * MIB + 1, 5 * MIB].map(sized), [MIB + 512, 3 * MIB + MIB / 2, 6 * MIB]);
    assert_eq!(plain(u64::MAX), u64::MAX, "no overflow");
}

#[test]
fn segment_size_depends_on_block_size() {
    let normal = Settings::default();
    let of = |size| segment(&normal, size);
    let sizes = [512, MIB, MIB + 512, 10 * MIB - 512, 10 * MIB, 11 * MIB].map(of);
    assert_eq!(sizes, [2 * MIB, 2 * MIB, 20 * MIB, 20 * MIB, 10 * MIB, 12 * MIB]);
    let large = parse("large_segment_size_mb:64").unwrap().0;
    assert_eq!([MIB, 5 * MIB, 30 * MIB].map(|size| segment(&large, size)), [2 * MIB, 64 * MIB, 30 * MIB]);
}
