//! Limits that snapshots are checked against, and how they are written on the command line.

use base::units::Bytes;
use protocol::Query;

/// Default growth of a peak, in parts per million of the baseline. The same program differs by up to 0.7 % between
/// PyTorch versions.
const DEFAULT_GROWTH: Growth = Growth::Share(20_000);
/// Default growth of the reserved peak if the allocator settings differ, in parts per million. Expandable segments
/// alone change it by 4.5 %.
const DEFAULT_GROWTH_ACROSS_SETTINGS: Growth = Growth::Share(50_000);
/// Parts per million in one percent.
const PPM_PER_PERCENT: f64 = 10_000.0;

/// Growth of a peak over the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Parts per million of the baseline.
    Share(u64),
    Bytes(u64),
}

/// Limits of all snapshots of a command. `None` is not checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Limit of reserved bytes.
    pub(super) budget: Option<u64>,
    /// Limit of live (requested) bytes.
    pub(super) live_budget: Option<u64>,
    /// Growth of the live peak and of the reserved peak, or `None` for the default.
    pub(super) growth: Option<Growth>,
    /// Growth in bytes that is always allowed.
    pub(super) noise: u64,
    pub(super) allows_oom: bool,
}

impl Limits {
    /// Returns the allowed growth of the live peak.
    pub(super) fn live_growth(&self) -> Growth {
        self.growth.unwrap_or(DEFAULT_GROWTH)
    }

    /// Returns the allowed growth of the reserved peak, which depends on whether the allocator settings differ.
    pub(super) fn reserved_growth(&self, has_other_settings: bool) -> Growth {
        let default = if has_other_settings { DEFAULT_GROWTH_ACROSS_SETTINGS } else { DEFAULT_GROWTH };
        self.growth.unwrap_or(default)
    }
}

impl Growth {
    /// Parses a percentage of the baseline such as `2%`, or a number of bytes such as `512MiB`.
    pub(super) fn parse(text: &str) -> Result<Growth, String> {
        let Some(number) = text.trim().strip_suffix('%') else {
            return parse_size(text).map(Growth::Bytes).map_err(|_| "expected 2% or a size such as 512MiB".to_owned());
        };
        match number.trim_end().parse::<f64>() {
            Ok(percent) if (0.0..=1e6).contains(&percent) => {
                Ok(Growth::Share((percent * PPM_PER_PERCENT).round() as u64))
            }
            _ => Err("expected a percentage such as 2%".to_owned()),
        }
    }

    /// Returns the allowed growth in bytes over a baseline, which is at least `noise`.
    pub(super) fn allowed(self, baseline: u64, noise: u64) -> u64 {
        let growth = match self {
            Growth::Share(parts) => u128::from(baseline) * u128::from(parts) / 1_000_000,
            Growth::Bytes(bytes) => bytes.into(),
        };
        u64::try_from(growth).unwrap_or(u64::MAX).max(noise)
    }

    /// Formats the growth as in `at most 2 %`.
    pub(super) fn text(self) -> String {
        match self {
            Growth::Share(parts) => format!("{} %", parts as f64 / PPM_PER_PERCENT),
            Growth::Bytes(bytes) => Bytes(bytes).to_string(),
        }
    }
}

/// Parses a number of bytes such as `78GiB`. A fraction of a byte, as in `79.15GiB`, is cut off.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    match Query::parse(&["<=", text].concat()) {
        Ok(Query::Size(_, bytes)) if bytes < u64::MAX => Ok(bytes),
        Err(error) => Err(error.to_string()),
        Ok(_) => Err("expected a size such as 512MiB or 78GiB".to_owned()),
    }
}

#[cfg(test)]
#[path = "../../../tests/units/cli/check/limits.rs"]
mod tests;
