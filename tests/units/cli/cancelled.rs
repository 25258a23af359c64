//! Unit tests of `src/cli/cancellation.rs`.

use super::*;

#[test]
fn work_is_cancelled_only_while_its_own_flag_is_set() {
    let cancelled = CancelFlag::default();
    cancelled.run_with(|| {
        assert!(check().is_ok() && should_continue());
        cancelled.set();
        assert_eq!(check(), Err("cancelled".to_owned()));
        let taken_along = CancelFlag::current();
        let in_thread = std::thread::spawn(move || taken_along.run_with(should_continue));
        assert!(!in_thread.join().unwrap());
    });
    assert!(should_continue(), "later work is not cancelled");
}
