//! Formats byte amounts, byte·event products, differences, ratios and moments as text.

pub use base::units::percent;
use base::units::{Bytes, Moment, group_digits};
use protocol::Scope;
use std::cmp::Ordering;

/// Formats an amount with three significant digits: `38.1 MiB`, or `38.1 MiB·events` if `scope` sums over events.
pub fn amount(scope: Scope, bytes: u64) -> String {
    let mut text = Bytes(bytes).to_string();
    text.push_str(unit_suffix(scope));
    text
}

/// Formats an exact amount: `39,951,360 B`.
pub fn exact(scope: Scope, bytes: u64) -> String {
    let mut text = group_digits(bytes);
    text.push_str(" B");
    text.push_str(unit_suffix(scope));
    text
}

fn unit_suffix(scope: Scope) -> &'static str {
    if matches!(scope, Scope::ByteMoments(_)) { "·events" } else { "" }
}

/// Returns the sign of the change from `before` to `after`: `+`, `−`, or empty if they are equal.
pub fn sign(before: u64, after: u64) -> &'static str {
    match before.cmp(&after) {
        Ordering::Less => "+",
        Ordering::Equal => "",
        Ordering::Greater => "−",
    }
}

/// Formats a difference in bytes with three significant digits: `+38.1 MiB`, `−2.00 GiB`, `0 B`.
pub fn change(before: u64, after: u64) -> String {
    sign(before, after).to_owned() + &Bytes(before.abs_diff(after)).to_string()
}

/// Formats an exact difference in bytes: `+39,951,360 B`.
pub fn exact_change(before: u64, after: u64) -> String {
    [sign(before, after), &group_digits(before.abs_diff(after)), " B"].concat()
}

/// Formats a difference of two counts: `+12`.
pub fn count_change(before: u32, after: u32) -> String {
    sign(before.into(), after.into()).to_owned() + &group_digits(before.abs_diff(after).into())
}

/// Formats the ratio of `after` to `before`: `×1.25`, `=` if they are equal, `new` if `before` is 0, or `gone` if
/// `after` is 0.
pub fn ratio(before: u64, after: u64) -> String {
    match (before, after) {
        (before, after) if before == after => "=".to_owned(),
        (0, _) => "new".to_owned(),
        (_, 0) => "gone".to_owned(),
        _ => {
            let hundredths = u128::from(after) * 100 / u128::from(before);
            let rest = (hundredths % 100).to_string();
            [
                "×",
                &group_digits(u64::try_from(hundredths / 100).unwrap_or(u64::MAX)),
                if rest.len() < 2 { ".0" } else { "." },
                &rest,
            ]
            .concat()
        }
    }
}

/// Returns `part` as a share of `whole` in tenths of a percent, rounded down. The result is 1000 only if the two are
/// equal, and 0 if `whole` is 0.
pub fn per_mille(part: u64, whole: u64) -> u32 {
    let share = (u128::from(part) * 1000).checked_div(u128::from(whole)).unwrap_or(0);
    u32::try_from(share.min(1000)).unwrap_or(1000)
}

/// Formats bytes with three significant digits, followed by the exact number.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let short = Bytes(bytes).to_string();
    if bytes < 1024 { short } else { short + " · " + &group_digits(bytes) + " B" }
}

/// Formats the index of the last event before a moment: `3,216`.
pub(crate) fn event_text(moment: u32) -> String {
    Moment(moment).event().map_or_else(|| "before the first".to_owned(), |event| group_digits(event.0.into()))
}

/// Formats the last event before a moment, for use in a sentence: `event 3,216`.
pub(crate) fn event_name(moment: u32) -> String {
    if moment == 0 { "before the first event".to_owned() } else { "event ".to_owned() + &event_text(moment) }
}

/// Formats microseconds as seconds: `+1.250000 s`.
pub(crate) fn elapsed(us: i64) -> String {
    let sign = if us < 0 { "−" } else { "+" };
    let us = us.unsigned_abs();
    format!("{sign}{}.{:06} s", group_digits(us / 1_000_000), us % 1_000_000)
}
