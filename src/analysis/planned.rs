//! The curve of live bytes with a factor on each group of allocations: its peak, and the largest batch that fits.
//!
//! Bytes are counted exactly, in parts of a byte: all are multiplied by the product of what the factors divide by. An allocation that is in
//! several groups has the product of their factors.
//!
//! The largest batch factor is no search. What grows with the batch is `b` at a moment, what does not is `a`; `a + k·b` fits into a
//! capacity for every moment exactly where `k` is at most the smallest `(capacity − a) / b`. That is one run.

use super::factor::Factor;
use std::cmp::Ordering;

/// Groups a plan may have.
pub const MOST_GROUPS: usize = 24;
/// The product of what factors divide by, and of what they multiply by, stays below.
const MOST_PARTS: i128 = 1 << 48;

/// The factors of a plan.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    of: Vec<Factor>,
    /// Into how many parts a byte is cut.
    parts: i128,
}

impl Factors {
    /// `None` where they are too many, or their numbers too large to count with.
    pub fn new(of: Vec<Factor>) -> Option<Factors> {
        let product = |number: fn(Factor) -> u32| {
            of.iter().try_fold(1i128, |product, &factor| {
                Some(product * i128::from(number(factor).max(1))).filter(|&product| product < MOST_PARTS)
            })
        };
        let parts = product(|factor| factor.parts().1)?;
        product(|factor| factor.parts().0)?;
        (of.len() <= MOST_GROUPS).then_some(Factors { of, parts })
    }

    /// By what the bytes of an allocation in these groups (a bit each) are multiplied, in parts.
    fn times(&self, groups: u32) -> i128 {
        let factor = |(place, factor): (usize, &Factor)| {
            let (times, by) = factor.parts();
            i128::from(if groups >> place & 1 == 1 { times } else { by })
        };
        self.of.iter().enumerate().map(factor).product()
    }

    /// The factor of an allocation in these groups, for whoever places planned allocations; `None` where its numbers are too large.
    pub fn of(&self, groups: u32) -> Option<Factor> {
        let in_it = self.of.iter().enumerate().filter(|(place, _)| groups >> place & 1 == 1);
        in_it.map(|(_, &factor)| factor).try_fold(Factor::ONE, Factor::and)
    }
}

/// A quotient of what may be compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    pub part: i128,
    /// Positive.
    pub whole: i128,
}

impl Ratio {
    /// Whether it is less than another, however large the numbers: by their continued fractions.
    pub fn order(self, other: Ratio) -> Ordering {
        let (mut one, mut other) = (self, other);
        let mut is_turned = false;
        loop {
            let [first, second] = [one, other].map(|it| it.part.div_euclid(it.whole));
            let left = [one, other].map(|it| it.part.rem_euclid(it.whole));
            let order = match first.cmp(&second) {
                Ordering::Equal if left[0] == 0 || left[1] == 0 => left[0].signum().cmp(&left[1].signum()),
                Ordering::Equal => {
                    (one, other) =
                        (Ratio { part: one.whole, whole: left[0] }, Ratio { part: other.whole, whole: left[1] });
                    is_turned = !is_turned;
                    continue;
                }
                unequal => unequal,
            };
            return if is_turned { order.reverse() } else { order };
        }
    }

    /// Rounded down to thousandths.
    pub fn thousandths(self) -> u64 {
        let whole = self.part.div_euclid(self.whole);
        let rest = self.part.rem_euclid(self.whole);
        let thousandths = whole.saturating_mul(1000).saturating_add(rest.saturating_mul(1000).div_euclid(self.whole));
        u64::try_from(thousandths).unwrap_or(if thousandths < 0 { 0 } else { u64::MAX })
    }

    fn about(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
}

/// What of an allocation counts where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InPlan {
    /// The groups it is in: a bit each.
    pub groups: u32,
    /// Whether it grows with the batch.
    pub grows: bool,
}

/// The planned curve, followed change by change.
#[derive(Clone, Debug)]
pub struct Planned {
    factors: Factors,
    batch: Factor,
    capacity: Option<u64>,
    /// In parts: what does not grow with the batch, and what does.
    now: [i128; 2],
    /// The peak in parts, and its first moment.
    peak: (i128, u32),
    /// The largest batch factor so far, and the moment that it comes from.
    fits: Option<(Ratio, u32)>,
    /// Whether more than the capacity is live at a moment with any batch.
    never_fits: bool,
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// In bytes, rounded up.
    pub peak: u64,
    pub moment: u32,
    /// The largest batch factor that fits, and the moment that allows no more; `None` where there is no capacity, or nothing grows.
    pub fits: Option<(Ratio, u32)>,
}

impl Planned {
    /// With these factors, and one more on all that grows with the batch.
    pub fn new(factors: Factors, batch: Factor, capacity: Option<u64>) -> Planned {
        Planned { factors, batch, capacity, now: [0; 2], peak: (i128::MIN, 0), fits: None, never_fits: false }
    }

    /// At `moment` live bytes grow by so many: those of an allocation that counts so. Moments never fall.
    #[inline]
    pub fn add(&mut self, of: InPlan, moment: u32, bytes: i64) {
        let parts = i128::from(bytes).saturating_mul(self.factors.times(of.groups));
        let [_, grows] = &mut self.now;
        match of.grows {
            true => *grows = grows.saturating_add(parts),
            false => self.now[0] = self.now[0].saturating_add(parts),
        }
        // Before the first event all is live at once.
        if moment > 0 {
            self.look(moment);
        }
    }

    /// What was allocated before the recording is counted.
    pub fn begin(&mut self) {
        self.look(0);
    }

    /// Live bytes now, in parts of a byte, as the peak is kept.
    #[inline]
    fn whole(&self) -> i128 {
        let (times, by) = self.batch.parts();
        let [stays, grows] = self.now;
        stays.saturating_mul(by.into()).saturating_add(grows.saturating_mul(times.into()))
    }

    /// Live bytes now, rounded up.
    pub fn live(&self) -> u64 {
        self.bytes(self.whole())
    }

    fn bytes(&self, whole: i128) -> u64 {
        let parts = self.factors.parts.saturating_mul(self.batch.parts().1.into());
        let whole = whole.max(0);
        u64::try_from(whole.div_euclid(parts) + i128::from(whole.rem_euclid(parts) > 0)).unwrap_or(u64::MAX)
    }

    #[inline]
    fn look(&mut self, moment: u32) {
        let [stays, grows] = self.now;
        let whole = self.whole();
        if whole > self.peak.0 {
            self.peak = (whole, moment);
        }
        let Some(capacity) = self.capacity else { return };
        let left = i128::from(capacity).saturating_mul(self.factors.parts).saturating_sub(stays);
        if left < 0 {
            self.never_fits = true;
        }
        if grows <= 0 {
            return;
        }
        let ratio = Ratio { part: left.max(0), whole: grows };
        let is_less = |known: Ratio| {
            // Most are much larger.
            ratio.about() <= known.about() * 1.000_001 && ratio.order(known).is_lt()
        };
        if self.fits.is_none_or(|(known, _)| is_less(known)) {
            self.fits = Some((ratio, moment));
        }
    }

    /// What the plan comes to.
    pub fn outcome(&self) -> Outcome {
        let none = Ratio { part: 0, whole: 1 };
        let fits = self.fits.map(|(ratio, moment)| (if self.never_fits { none } else { ratio }, moment));
        Outcome { peak: self.bytes(self.peak.0), moment: self.peak.1, fits }
    }
}
