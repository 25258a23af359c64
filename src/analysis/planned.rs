//! Live bytes under a plan, with a factor for each group of allocations: the peak, and the largest batch that fits.
//!
//! Bytes are counted exactly, as integers scaled by the product of all denominators. An allocation in several groups is
//! multiplied by all their factors.
//!
//! The largest batch factor is found in one pass. If `b` bytes grow with the batch at a moment and `a` bytes do not, `a
//! + k·b` fits into the capacity at every moment if `k` is at most the smallest `(capacity − a) / b` of all moments.

use super::factor::Factor;
use std::cmp::Ordering;

/// Maximum number of groups of allocations in a plan.
pub const MAX_GROUPS: usize = 24;
/// Upper bound of the product of all numerators, and of the product of all denominators.
const MAX_PARTS: i128 = 1 << 48;

/// Factor of each group of allocations in a plan.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    of: Vec<Factor>,
    /// Product of all denominators. Bytes are counted in multiples of `1 / parts`, so that all results are integers.
    parts: i128,
}

impl Factors {
    /// Creates the factors of a plan. Returns `None` if there are too many, or if the product of the numerators or
    /// denominators is too large.
    pub fn new(factors: Vec<Factor>) -> Option<Factors> {
        let product = |number: fn(Factor) -> u32| {
            factors.iter().try_fold(1i128, |product, &factor| {
                Some(product * i128::from(number(factor).max(1))).filter(|&product| product < MAX_PARTS)
            })
        };
        let parts = product(|factor| factor.parts().1)?;
        product(|factor| factor.parts().0)?;
        (factors.len() <= MAX_GROUPS).then_some(Factors { of: factors, parts })
    }

    /// Returns the combined factor of an allocation that belongs to these groups (one bit each), in parts per byte.
    fn times(&self, groups: u32) -> i128 {
        let factor = |(place, factor): (usize, &Factor)| {
            let (times, by) = factor.parts();
            i128::from(if groups >> place & 1 == 1 { times } else { by })
        };
        self.of.iter().enumerate().map(factor).product()
    }

    /// Returns the smallest combined factor that an allocation can have, in parts per byte: that of an allocation in
    /// all groups that get smaller.
    fn smallest(&self) -> i128 {
        let is_smaller = |factor: &Factor| factor.parts().0 < factor.parts().1;
        let groups = (0u32..).zip(&self.of).filter(|(_, factor)| is_smaller(factor));
        self.times(groups.fold(0, |groups, (place, _)| groups | 1 << place))
    }

    /// Returns the product of the factors of these groups (one bit each), or `None` if its numerator or denominator is
    /// too large.
    pub fn of(&self, groups: u32) -> Option<Factor> {
        let factors = self.of.iter().enumerate().filter(|(place, _)| groups >> place & 1 == 1);
        factors.map(|(_, &factor)| factor).try_fold(Factor::ONE, Factor::product)
    }
}

/// A fraction of large integers, for exact comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    pub numerator: i128,
    /// Denominator, always positive.
    pub denominator: i128,
}

impl Ratio {
    /// Compares two fractions exactly. Uses continued fractions, so that no product can overflow.
    pub fn compare(self, other: Ratio) -> Ordering {
        let (mut one, mut other) = (self, other);
        let mut is_turned = false;
        loop {
            let [first, second] = [one, other].map(|it| it.numerator.div_euclid(it.denominator));
            let left = [one, other].map(|it| it.numerator.rem_euclid(it.denominator));
            let order = match first.cmp(&second) {
                Ordering::Equal if left[0] == 0 || left[1] == 0 => left[0].signum().cmp(&left[1].signum()),
                Ordering::Equal => {
                    (one, other) = (
                        Ratio { numerator: one.denominator, denominator: left[0] },
                        Ratio { numerator: other.denominator, denominator: left[1] },
                    );
                    is_turned = !is_turned;
                    continue;
                }
                unequal => unequal,
            };
            return if is_turned { order.reverse() } else { order };
        }
    }

    /// Returns the ratio in thousandths, rounded down.
    pub fn thousandths(self) -> u64 {
        let whole = self.numerator.div_euclid(self.denominator);
        let rest = self.numerator.rem_euclid(self.denominator);
        let thousandths =
            whole.saturating_mul(1000).saturating_add(rest.saturating_mul(1000).div_euclid(self.denominator));
        u64::try_from(thousandths).unwrap_or(if thousandths < 0 { 0 } else { u64::MAX })
    }

    fn about(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// Groups that an allocation belongs to in a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanMembership {
    /// Groups that the allocation belongs to, one bit each.
    pub groups: u32,
    /// True if the allocation grows with the batch.
    pub grows: bool,
}

/// Live bytes under a plan, updated with each allocation and free.
#[derive(Clone, Debug)]
pub struct PlannedCurve {
    factors: Factors,
    batch: Factor,
    capacity: Option<u64>,
    /// Current live bytes in parts: bytes that do not grow with the batch, then bytes that do.
    now: [i128; 2],
    /// Peak of live bytes in parts, and the first moment with this peak.
    peak: (i128, u32),
    /// Largest batch factor that fits so far, and the moment that limits it.
    fits: Option<(Ratio, u32)>,
    /// True if live bytes exceed the capacity at some moment with any batch size.
    never_fits: bool,
    /// Memory that is live but paused, and so not on the GPU.
    paused: Paused,
    /// Peak of live bytes that are on the GPU, in parts.
    on_gpu: i128,
}

/// Paused memory over time.
#[derive(Clone, Debug, Default)]
struct Paused {
    /// Moments of changes in descending order, and the paused bytes from then on.
    changes: Vec<(u32, u64)>,
    /// Currently paused, in parts. A lower bound, which counts all paused bytes in every group that the plan makes
    /// smaller.
    parts: i128,
    is_any: bool,
}

/// Predicted peak and largest batch under a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Peak of live bytes, rounded up to whole bytes.
    pub peak: u64,
    pub moment: u32,
    /// Largest batch factor that fits, and the moment that limits it. `None` if no capacity is known, or if nothing
    /// grows with the batch.
    pub fits: Option<(Ratio, u32)>,
    /// Upper bound of the peak of live bytes that are on the GPU, rounded up to whole bytes. `None` if no memory is
    /// paused.
    pub on_gpu: Option<u64>,
}

impl PlannedCurve {
    /// Creates the curve before any allocation. `batch` is an additional factor for allocations that grow with the
    /// batch.
    pub fn new(factors: Factors, batch: Factor, capacity: Option<u64>) -> PlannedCurve {
        let (now, peak, paused) = ([0; 2], (i128::MIN, 0), Paused::default());
        PlannedCurve { factors, batch, capacity, now, peak, fits: None, never_fits: false, paused, on_gpu: 0 }
    }

    /// Sets the memory that is paused over time: moments of changes in ascending order, and the bytes from then on.
    pub fn with_paused(mut self, mut changes: Vec<(u32, u64)>) -> PlannedCurve {
        changes.reverse();
        self.paused = Paused { is_any: !changes.is_empty(), changes, parts: 0 };
        self
    }

    /// Applies a change in live bytes caused by an allocation or free. Moments must not decrease.
    #[inline]
    pub fn add(&mut self, membership: PlanMembership, moment: u32, bytes: i64) {
        self.pause_before(moment);
        let parts = i128::from(bytes).saturating_mul(self.factors.times(membership.groups));
        let [_, grows] = &mut self.now;
        match membership.grows {
            true => *grows = grows.saturating_add(parts),
            false => self.now[0] = self.now[0].saturating_add(parts),
        }
        // Allocations from before recording are live at the same time, so `start` evaluates them after all are added.
        if moment > 0 {
            self.evaluate(moment);
        }
    }

    /// Takes the state before the first event into account. Must be called after all allocations from before recording
    /// are added.
    pub fn start(&mut self) {
        self.pause_before(1);
        self.evaluate(0);
    }

    /// Takes the changes of paused memory before `moment` into account. Resumed memory may set a peak between two
    /// allocations.
    #[inline]
    fn pause_before(&mut self, moment: u32) {
        while let Some(&(at, bytes)) = self.paused.changes.last().filter(|(at, _)| *at < moment) {
            self.paused.changes.pop();
            self.paused.parts = i128::from(bytes).saturating_mul(self.factors.smallest());
            if at > 0 {
                self.evaluate(at);
            }
        }
    }

    /// Returns the current live bytes, in parts.
    #[inline]
    fn total_parts(&self) -> i128 {
        let (times, by) = self.batch.parts();
        let [stays, grows] = self.now;
        stays.saturating_mul(by.into()).saturating_add(grows.saturating_mul(times.into()))
    }

    /// Returns the current live bytes, rounded up to whole bytes.
    pub fn live(&self) -> u64 {
        self.bytes(self.total_parts())
    }

    fn bytes(&self, whole: i128) -> u64 {
        let parts = self.factors.parts.saturating_mul(self.batch.parts().1.into());
        let whole = whole.max(0);
        u64::try_from(whole.div_euclid(parts) + i128::from(whole.rem_euclid(parts) > 0)).unwrap_or(u64::MAX)
    }

    #[inline]
    fn evaluate(&mut self, moment: u32) {
        let [stays, grows] = self.now;
        let whole = self.total_parts();
        if whole > self.peak.0 {
            self.peak = (whole, moment);
        }
        let (times, by) = self.batch.parts();
        self.on_gpu = self.on_gpu.max(whole.saturating_sub(self.paused.parts.saturating_mul(times.min(by).into())));
        let Some(capacity) = self.capacity else { return };
        let left = i128::from(capacity).saturating_mul(self.factors.parts).saturating_sub(stays);
        let left = left.saturating_add(self.paused.parts);
        if left < 0 {
            self.never_fits = true;
        }
        if grows <= 0 {
            return;
        }
        let ratio = Ratio { numerator: left.max(0), denominator: grows };
        let is_less = |known: Ratio| {
            // A quick check first, because most quotients are much larger.
            ratio.about() <= known.about() * 1.000_001 && ratio.compare(known).is_lt()
        };
        if self.fits.is_none_or(|(known, _)| is_less(known)) {
            self.fits = Some((ratio, moment));
        }
    }

    /// Returns the result of the plan.
    pub fn outcome(&mut self) -> Outcome {
        self.pause_before(u32::MAX);
        let none = Ratio { numerator: 0, denominator: 1 };
        let fits = self.fits.map(|(ratio, moment)| (if self.never_fits { none } else { ratio }, moment));
        let on_gpu = self.paused.is_any.then(|| self.bytes(self.on_gpu));
        Outcome { peak: self.bytes(self.peak.0), moment: self.peak.1, fits, on_gpu }
    }
}
