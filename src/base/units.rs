//! Bytes, event indices and moments, and how they are formatted.

use std::fmt;

/// Position of an event in its device's trace, counted from 0. A device has fewer than 2^32 − 1 events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventIdx(pub u32);

/// Point between two events, identified by the number of events that have happened. Moment 0 is the state before the
/// first event. Moment `k + 1` is the state from event `k` until event `k + 1`. A trace of `n` events has the moments
/// `0..=n`.
///
/// On the horizontal axis, moment `m` covers `[m, m + 1)`. Event `k` happens at `x = k + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(pub u32);

impl Moment {
    /// Moment before the first event.
    pub const START: Moment = Moment(0);

    /// Returns the moment right after `event`.
    #[inline(always)]
    pub fn after(event: EventIdx) -> Moment {
        Moment(event.0.saturating_add(1))
    }

    /// Returns the event right before this moment, or `None` for moment 0.
    #[inline(always)]
    pub fn event(self) -> Option<EventIdx> {
        self.0.checked_sub(1).map(EventIdx)
    }

    /// Returns the index of the event right before this moment, or −1 for moment 0, as in the file format and
    /// `expected.json`.
    pub fn event_or_minus_one(self) -> i64 {
        i64::from(self.0) - 1
    }

    /// Creates the moment after an event index, or moment 0 from −1. Inverse of [`Moment::event_or_minus_one`].
    pub fn after_event_or_minus_one(event: i64) -> Moment {
        Moment(u32::try_from(event.saturating_add(1)).unwrap_or(0))
    }
}

/// Formats a moment for a sentence: `after event 3,216`, `before the first event`.
pub fn moment_text(moment: u32) -> String {
    match Moment(moment).event() {
        Some(event) => "after event ".to_owned() + &group_digits(event.0.into()),
        None => "before the first event".to_owned(),
    }
}

/// Number of bytes, displayed in binary units with three significant digits: `1.46 GiB`, `512 B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// Binary units, smallest first.
pub const BYTE_UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut unit = 0;
        let mut value = self.0 as f64;
        // 999.5 would round to "1000". The next unit reads better.
        while unit + 1 < BYTE_UNITS.len() && (value >= 1024.0 || (unit > 0 && value >= 999.5)) {
            value /= 1024.0;
            unit += 1;
        }
        let digits = if unit == 0 || value >= 99.95 {
            0
        } else if value >= 9.995 {
            1
        } else {
            2
        };
        write!(out, "{value:.digits$} {}", BYTE_UNITS.get(unit).unwrap_or(&"B"))
    }
}

/// Formats a range of bytes: `256–512 B`, `512 B–2.00 KiB`. A unit that both ends share is written once. If both ends
/// round to the same text, it is written once.
pub fn byte_range(from: u64, to: u64) -> String {
    let (from, to) = (Bytes(from).to_string(), Bytes(to).to_string());
    if from == to {
        return to;
    }
    let unit = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    let from = from.strip_suffix(&unit(&to)).filter(|_| unit(&from) == unit(&to)).map_or(&*from, str::trim_end);
    [from, "–", &to].concat()
}

/// Formats an integer with thousands separators: `55,108,591,620`.
pub fn group_digits(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its noun, in the plural unless the count is 1: `1 event`, `2 events`.
pub fn pluralize(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", group_digits(count), if count == 1 { "" } else { "s" })
}

/// Formats a fraction as a percentage with at most one decimal: `12.3 %`. `100 %` and `0 %` are used only for exact
/// values.
pub fn percent(part: u64, whole: u64) -> String {
    let wide = u128::from(whole.max(1));
    let scale = ((u128::from(part) * 2000 + wide) / (2 * wide)) as u64;
    let text = match scale {
        0 if part == 0 => "0".to_owned(),
        0 => "< 0.1".to_owned(),
        1000.. if part < whole => "> 99.9".to_owned(),
        1000 => "100".to_owned(),
        _ => [&(scale / 10).to_string(), ".", &(scale % 10).to_string()].concat(),
    };
    text + " %"
}

/// Formats a duration with three significant digits in the largest fitting unit: `13 µs`, `1.25 ms`, `41.7 s`, `2 min
/// 05 s`.
pub fn duration_us(us: i64) -> String {
    let sign = if us < 0 { "−" } else { "" };
    let us = us.unsigned_abs();
    let scaled = |value: f64, unit: &str| {
        let digits = if value >= 99.95 {
            0
        } else if value >= 9.995 {
            1
        } else {
            2
        };
        format!("{sign}{value:.digits$} {unit}")
    };
    match us {
        0..1_000 => format!("{sign}{us} µs"),
        1_000..1_000_000 => scaled(us as f64 / 1e3, "ms"),
        1_000_000..60_000_000 => scaled(us as f64 / 1e6, "s"),
        60_000_000..3_600_000_000 => format!("{sign}{} min {:02} s", us / 60_000_000, us / 1_000_000 % 60),
        _ => format!("{sign}{} h {:02} min", us / 3_600_000_000, us / 60_000_000 % 60),
    }
}

#[cfg(test)]
#[path = "../../tests/units/base/units.rs"]
mod tests;
