//! What allocations weigh, as text: requested bytes, or those × moments; and shares of it.

pub use base::units::percent;
use base::units::{Bytes, grouped};
use engine::protocol::Scope;

/// A weight in the unit of its scope, short: `38.1 MiB`; over time `38.1 MiB·events`.
pub fn amount(scope: Scope, bytes: u64) -> String {
    let mut text = Bytes(bytes).to_string();
    text.push_str(over_time(scope));
    text
}

/// The same to the byte: `39,951,360 B`.
pub fn exact(scope: Scope, bytes: u64) -> String {
    let mut text = grouped(bytes);
    text.push_str(" B");
    text.push_str(over_time(scope));
    text
}

fn over_time(scope: Scope) -> &'static str {
    if matches!(scope, Scope::ByteMoments(_)) { "·events" } else { "" }
}

/// Tenths of a percent that `part` is of `whole`, rounded down: 1000 only where it is all of it. 0 of nothing.
pub fn per_mille(part: u64, whole: u64) -> u32 {
    let share = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or(0);
    u32::try_from(share.min(1000)).unwrap_or(1000)
}
