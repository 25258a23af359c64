//! Unit tests of `src/cli/cancelled.rs`.

use super::*;

#[test]
fn work_is_cancelled_only_while_its_own_flag_is_set() {
    let cancelled = Cancelled::default();
    cancelled.during(|| {
        assert!(check().is_ok() && goes_on());
        cancelled.set();
        assert_eq!(check(), Err("cancelled".to_owned()));
        let taken_along = Cancelled::current();
        let in_thread = std::thread::spawn(move || taken_along.during(goes_on));
        assert!(!in_thread.join().unwrap());
    });
    assert!(goes_on(), "later work is not cancelled");
}
