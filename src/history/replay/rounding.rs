//! Rounding of requested bytes to block sizes, as in the caching allocator. Used for allocations whose block is not in
//! the file.
//!
//! The result is a lower bound: a large block may include a remainder that was too small to split off.

/// Block sizes are multiples of this number of bytes.
const BLOCK_ROUNDING: u64 = 512;
const MIB_BITS: u32 = 20;

/// Rounding rules of the allocator that wrote a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounding {
    /// Values of `roundup_power2_divisions`. Entry `index` applies to sizes of at least 2^(20 + `index`) bytes. 0 if
    /// not set.
    divisions: [u64; 16],
}

impl Rounding {
    /// Reads the rules from `allocator_settings` with dotted keys: `roundup_power2_divisions.1` to `.32768`, in MiB. In
    /// some versions the last key ends with `.>`.
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

    /// Returns the minimum block size for a request, in bytes.
    pub fn rounded(&self, requested: u64) -> u64 {
        if requested < BLOCK_ROUNDING {
            return BLOCK_ROUNDING;
        }
        let exponent = requested.ilog2();
        let index = exponent.saturating_sub(MIB_BITS).min(15) as usize;
        let divisions = self.divisions.get(index).copied().unwrap_or(0);
        if divisions > 1 && requested > BLOCK_ROUNDING.saturating_mul(divisions) {
            let floor = 1u64 << exponent;
            let step = floor >> divisions.ilog2();
            return match step {
                _ if requested == floor => requested,
                0 => floor.saturating_mul(2),
                step => requested.checked_next_multiple_of(step).unwrap_or(requested),
            };
        }
        requested.checked_next_multiple_of(BLOCK_ROUNDING).unwrap_or(requested)
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/replay/rounding.rs"]
mod tests;
