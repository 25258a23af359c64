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
mod tests {
    use super::*;

    #[test]
    fn multiples_of_512_by_default() {
        let rounding = Rounding::default();
        for (requested, rounded) in [(0, 512), (1, 512), (512, 512), (513, 1024), (1 << 20, 1 << 20)] {
            assert_eq!(rounding.rounded(requested), rounded);
        }
    }

    #[test]
    fn divisions_of_a_power_of_two_where_set() {
        let setting = |key: &str, value: &str| (format!("roundup_power2_divisions.{key}"), value.to_owned());
        let rounding = Rounding::from_settings(&[setting("1", "4"), setting("4", "8"), setting("8", "0")]);
        // 1.2 MiB: quarters of 1 MiB → 1.25 MiB.
        assert_eq!(rounding.rounded(1_258_291), 1_310_720);
        assert_eq!(rounding.rounded(1 << 20), 1 << 20);
        // 5 MiB + 1: eighths of 4 MiB → 5.5 MiB.
        assert_eq!(rounding.rounded((5 << 20) + 1), (5 << 20) + (1 << 19));
        assert_eq!(rounding.rounded((9 << 20) + 1), (9 << 20) + 512);
    }
}
