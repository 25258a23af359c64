//! Requested → rounded bytes, as the caching allocator does it, for allocations whose block the file no longer has.
//!
//! The result is a lower bound: a large block may keep a remainder that was too small to split off.

/// Every block is a multiple of this many bytes.
const GRAIN: u64 = 512;
const MIB_BITS: u32 = 20;

/// How a file's allocator rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounding {
    /// `roundup_power2_divisions`, for sizes from 2^(20 + index); 0 where not set.
    divisions: [u64; 16],
}

impl Rounding {
    /// From `allocator_settings`, dotted: `roundup_power2_divisions.1` … `.32768` in MiB (in some versions `>` is the last).
    pub fn from_settings(settings: &[(String, String)]) -> Rounding {
        let mut rounding = Rounding::default();
        for (key, value) in settings {
            let Some(size) = key.strip_prefix("roundup_power2_divisions.") else { continue };
            let index = match size.parse::<u64>() {
                Ok(mib) if mib.is_power_of_two() => mib.trailing_zeros() as usize,
                Err(_) if size == ">" => 15,
                _ => continue,
            };
            if let (Some(slot), Ok(divisions)) = (rounding.divisions.get_mut(index), value.parse()) {
                *slot = divisions;
            }
        }
        rounding
    }

    /// The least number of bytes the allocator hands out for a request.
    pub fn rounded(&self, requested: u64) -> u64 {
        if requested < GRAIN {
            return GRAIN;
        }
        let exponent = requested.ilog2();
        let index = exponent.saturating_sub(MIB_BITS).min(15) as usize;
        let divisions = self.divisions.get(index).copied().unwrap_or(0);
        if divisions > 1 && requested > GRAIN.saturating_mul(divisions) {
            let floor = 1u64 << exponent;
            let step = floor >> divisions.ilog2();
            return match step {
                _ if requested == floor => requested,
                0 => floor.saturating_mul(2),
                step => requested.checked_next_multiple_of(step).unwrap_or(requested),
            };
        }
        requested.checked_next_multiple_of(GRAIN).unwrap_or(requested)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/rounding.rs"]
mod tests;
