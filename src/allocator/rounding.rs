//! Rounding of requested sizes to block and segment sizes.

use super::settings::{Backend, GRAIN, INTERVALS, OWN_SEGMENT, SMALL, SMALL_SEGMENT, Settings};

/// Returns the block size for a request of `requested` bytes (PyTorch's `round_size`).
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

/// Returns true if `roundup_power2_divisions` changes the block size of this request.
pub(crate) fn is_rounded_up(settings: &Settings, backend: Backend, requested: u64, size: u64) -> bool {
    settings.rounds_up() && size != rounded(&Settings::default(), backend, requested)
}

/// Returns the size of the segment that is allocated for a block (PyTorch's `get_allocation_size`).
pub(crate) fn segment(settings: &Settings, size: u64) -> u64 {
    match size {
        0..=SMALL => SMALL_SEGMENT,
        _ if size < OWN_SEGMENT => settings.large_segment,
        _ => size.checked_next_multiple_of(SMALL_SEGMENT).unwrap_or(size),
    }
}

/// Returns the page size of an expandable segment in bytes.
pub(crate) fn page(settings: &Settings, small: bool) -> u64 {
    if small { SMALL_SEGMENT } else { settings.large_segment }
}

#[cfg(test)]
#[path = "../../tests/units/allocator/rounding.rs"]
mod tests;
