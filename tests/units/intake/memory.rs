//! Unit tests of `src/intake/memory_limit.rs`.

use super::*;
use protocol::Phase;

#[test]
fn memory_limit_error_estimates_total() {
    let mut progress = Progress { bytes: 3 << 30, total_bytes: Some(12 << 30), phase: Phase::Decoding };
    let mut watch = MemoryMonitor::new(2 << 30);
    let too_much = || ((2 << 30) + 1, 4_567_890);
    assert_eq!(watch.check(1 << 20, &progress, too_much), Ok(()), "not checked yet");
    assert_eq!(watch.check(8 << 20, &progress, || (2 << 30, 0)), Ok(()), "just enough");
    assert_eq!(
        watch.check(4 << 20, &progress, too_much).unwrap_err().to_string(),
        "not enough memory: 2.00 GiB in use after reading 3.00 GiB of 12.0 GiB, about 8.00 GiB needed. Use the command line, or \
             record fewer events (max_entries=4000000)"
    );
    (progress.total_bytes, progress.bytes) = (None, 0);
    assert_eq!(
        watch.check(4 << 20, &progress, || (u64::MAX, 0)).unwrap_err().to_string(),
        "not enough memory: 16.0 EiB in use after reading 0 B. Use the command line, or record fewer events"
    );
}
