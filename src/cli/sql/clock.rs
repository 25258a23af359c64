//! Clock that limits the duration of SQL queries.

use crate::cancellation;
use std::sync::OnceLock;
use std::time::Instant;

/// Returns the milliseconds since the first call. Returns infinity, which stops queries, if the work of this thread is
/// cancelled.
pub(super) fn now_ms() -> f64 {
    if !cancellation::should_continue() {
        return f64::INFINITY;
    }
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_secs_f64() * 1e3
}
