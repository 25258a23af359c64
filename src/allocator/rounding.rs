//! Requested → rounded bytes.

use super::settings::{Backend, GRAIN, INTERVALS, OWN_SEGMENT, SMALL, SMALL_SEGMENT, Settings};

/// The bytes of the block that a request needs.
pub(crate) fn rounded(settings: &Settings, backend: Backend, requested: u64) -> u64 {
    let size = requested.saturating_add(backend.added);
    if size < GRAIN {
        return GRAIN;
    }
    let exponent = size.ilog2();
    let interval = (exponent.saturating_sub(20) as usize).min(INTERVALS - 1);
    let divisions = u64::from(settings.divisions.get(interval).copied().unwrap_or(0));
    if divisions > 1 && size > GRAIN.saturating_mul(divisions) {
        let floor = 1u64 << exponent;
        return match floor >> divisions.ilog2() {
            _ if size == floor => size,
            0 => floor.saturating_mul(2),
            step => size.checked_next_multiple_of(step).unwrap_or(size),
        };
    }
    size.checked_next_multiple_of(GRAIN).unwrap_or(size)
}

/// Whether `roundup_power2_divisions` makes this request larger than it would be without.
pub(crate) fn is_rounded_up(settings: &Settings, backend: Backend, requested: u64, size: u64) -> bool {
    settings.rounds_up() && size != rounded(&Settings::default(), backend, requested)
}

/// The bytes of the segment that is taken from the driver for a block.
pub(crate) fn segment(settings: &Settings, size: u64) -> u64 {
    match size {
        0..=SMALL => SMALL_SEGMENT,
        _ if size < OWN_SEGMENT => settings.large_segment,
        _ => size.checked_next_multiple_of(SMALL_SEGMENT).unwrap_or(size),
    }
}

/// The bytes of a page of an expandable segment.
pub(crate) fn page(settings: &Settings, small: bool) -> u64 {
    if small { SMALL_SEGMENT } else { settings.large_segment }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/rounding.rs"]
mod tests;
