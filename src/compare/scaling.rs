//! Measures how allocations grow from A to B, using paired allocations. If a size grew ×4 while the sequence length
//! grew ×2, it scales with the square of the length. This predicts the sizes in A for a different length or batch size.
//!
//! A paired allocation has the growth that was measured for it. All other allocations have the growth of their call
//! site.

use base::sorted::sorted_numbers;
use base::units::pluralize;
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use protocol::{Factor, PlanGroup};

/// Number of distinguished exponents per unit. Exponents are multiples of 1/2, because sizes are products of lengths.
const EXPONENT_STEPS: f64 = 2.0;
const LARGEST: f64 = 4.0;
/// Number of distinguished shares that grow with the next power. See [`Law`].
const SHARE_STEPS: f64 = 4.0;
/// Denominator used to approximate factors that are not simple fractions.
const PARTS: f64 = 16.0;
/// Precision of growth factors: number of distinguished factors between 1 and 2.
pub(crate) const STEPS_PER_DOUBLING: f64 = 32.0;
/// Minimum share of the changed bytes that grow by the root of the factor with the most bytes.
const MIN_ROOT_SHARE: f64 = 0.02;
/// Sentinel: the growth of the call site is unknown.
const NONE: u32 = u32::MAX;

/// Growth of A's allocations from A to B, as powers of the growth of the input size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredScaling {
    /// Growth of the input size from A to B. If one measured factor is the square of another, the smaller one,
    /// otherwise the factor with the most bytes.
    pub growth: f64,
    /// Groups of call sites and allocations, one for each law of growth.
    pub classes: Vec<ScalingClass>,
    /// Bit set of the allocations of A that have no partner, and whose call site has no paired allocations.
    pub unmeasured: Vec<u64>,
    /// Number of call sites without paired allocations.
    pub unmeasured_sites: u32,
}

/// Dependence of a size on the input size `n`: `(1 - share) · n^exponent + share · n^(exponent + 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Law {
    /// Multiple of 1/2.
    pub exponent: f64,
    /// Multiple of 1/4 in 0..1. Always 0 if the exponent is neither 0 nor 1.
    pub share: f64,
}

/// Call sites and allocations that grow by the same law.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalingClass {
    pub law: Law,
    pub sites: u32,
    /// Bytes of the paired allocations of these call sites, in A.
    pub bytes: u64,
    /// Bit set of the allocations of A that grow by this law.
    pub allocations: Vec<u64>,
}

/// Measured growth of a call site: factor from A to B, and bytes in A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteGrowth {
    pub(crate) factor: f64,
    pub(crate) bytes: u64,
}

/// Returns the growth factor of the input size, or `None` if no size changed. `pairs` contains the sizes of paired
/// allocations in A and B, in bytes.
pub(crate) fn growth(pairs: impl Iterator<Item = [u64; 2]>) -> Option<f64> {
    let mut sums: HashMap<i32, [f64; 2], RandomState> = HashMap::default();
    for [a, b] in pairs.filter(|[a, b]| *a > 0 && *b > 0).map(|pair| pair.map(|bytes| bytes as f64)) {
        let sum = sums.entry(((b / a).log2() * STEPS_PER_DOUBLING).round() as i32).or_default();
        *sum = [sum[0] + a, sum[1] + b];
    }
    // Bytes in A and factor, most bytes first.
    let mut factors: Vec<(f64, f64)> = sums.into_values().map(|[a, b]| (a, b / a)).collect();
    factors.retain(|(_, factor)| (factor - 1.0).abs() > 0.05);
    factors.sort_by(|one, other| other.0.total_cmp(&one.0).then(other.1.total_cmp(&one.1)));
    let total: f64 = factors.iter().map(|(bytes, _)| bytes).sum();
    let &(_, largest) = factors.first()?;
    // A factor near 1 is close to its own square.
    let has_root = (largest - 1.0).abs() > 0.2;
    let is_root = |bytes: f64, root: f64| bytes >= MIN_ROOT_SHARE * total && (root * root / largest - 1.0).abs() < 0.03;
    let root = factors.iter().find(|&&(bytes, factor)| has_root && is_root(bytes, factor));
    Some(root.map_or(largest, |&(_, root)| root))
}

impl Law {
    /// Returns the law of a size that grows by `factor` while the input size grows by `growth`.
    fn new(factor: f64, growth: f64) -> Law {
        Law::polynomial(factor, growth).unwrap_or_else(|| {
            let steps = (factor.log2() / growth.log2() * EXPONENT_STEPS).round();
            Law { exponent: steps.clamp(-LARGEST, EXPONENT_STEPS * LARGEST) / EXPONENT_STEPS, share: 0.0 }
        })
    }

    /// Returns the law if it lies between no growth and growth with the square.
    fn polynomial(factor: f64, growth: f64) -> Option<Law> {
        let share = |base: f64| ((factor / base - 1.0) / (growth - 1.0) * SHARE_STEPS).round() / SHARE_STEPS;
        match (share(1.0), share(growth)) {
            (share, _) if (0.0..1.0).contains(&share) => Some(Law { exponent: 0.0, share }),
            (_, share) if (0.0..1.0).contains(&share) => Some(Law { exponent: 1.0, share }),
            (_, 1.0) => Some(Law { exponent: 2.0, share: 0.0 }),
            _ => None,
        }
    }

    fn is_unchanged(self) -> bool {
        self == Law::default()
    }

    /// Returns the growth of a size if the input size grows by `by`. `None` if it is out of range.
    fn factor(self, by: Factor) -> Option<Factor> {
        let (times, under) = by.parts();
        let (steps, share) = (SHARE_STEPS as u64, (self.share * SHARE_STEPS) as u64);
        let mixed = (steps - share) * u64::from(under) + share * u64::from(times);
        raised(by, self.exponent)?.product(Factor::new(mixed, steps * u64::from(under))?)
    }

    /// Describes the growth, such as `with the square`.
    fn words(self) -> &'static str {
        if self.share > 0.0 {
            return if self.exponent == 0.0 { "partly in proportion" } else { "partly with the square" };
        }
        match self.exponent {
            0.5 => "with the square root",
            1.0 => "in proportion",
            1.5 => "with the power 1.5",
            2.0 => "with the square",
            3.0 => "with the cube",
            ..0.0 => "the other way round",
            _ => "with another power",
        }
    }
}

impl MeasuredScaling {
    /// Groups call sites and allocations by their growth. `sites` contains key ids and growths, `site` returns the key
    /// id of an allocation of A, and `pairs` contains the paired allocations of A, each with its growth factor.
    pub(crate) fn new(
        growth: f64,
        sites: impl Iterator<Item = (u32, SiteGrowth)>,
        allocations: usize,
        site: impl Fn(usize) -> u32,
        pairs: impl Iterator<Item = (u32, f64)>,
    ) -> MeasuredScaling {
        let mut classes: Vec<ScalingClass> = Vec::new();
        let mut class_of: HashMap<u32, u32, RandomState> = HashMap::default();
        for (key, SiteGrowth { factor, bytes }) in sites {
            let index = index_of(&mut classes, Law::new(factor, growth));
            if let Some(class) = classes.get_mut(index as usize) {
                class.sites += 1;
                class.bytes = class.bytes.saturating_add(bytes);
                class_of.insert(key, index);
            }
        }
        let mut unmeasured_sites = 0;
        let mut class_of_site = |number| {
            *class_of.entry(site(number)).or_insert_with(|| {
                unmeasured_sites += 1;
                NONE
            })
        };
        let mut class_of_allocation: Vec<u32> = (0..allocations).map(&mut class_of_site).collect();
        for (number, factor) in pairs {
            // Allocations with an implausible growth are probably not the same ones.
            if let (Some(law), Some(class)) =
                (Law::polynomial(factor, growth), class_of_allocation.get_mut(number as usize))
            {
                *class = index_of(&mut classes, law);
            }
        }
        let words = || vec![0; allocations.div_ceil(64)];
        let mut unmeasured = words();
        classes.iter_mut().for_each(|class| class.allocations = words());
        for (number, index) in class_of_allocation.into_iter().enumerate() {
            let class = classes.get_mut(index as usize);
            let set = class.map_or(&mut unmeasured, |class| &mut class.allocations);
            set.get_mut(number / 64).into_iter().for_each(|word| *word |= 1 << (number % 64));
        }
        MeasuredScaling { growth, classes, unmeasured, unmeasured_sites }
    }

    /// Returns groups of A's allocations with their factors, for an input that is `by` times as large. Allocations with
    /// unknown growth grow linearly if their category scales with the batch. Returns `None` if a factor is out of
    /// range.
    pub fn groups(&self, by: Factor) -> Option<Vec<(PlanGroup, Factor)>> {
        let mut groups = Vec::new();
        for class in self.classes.iter().filter(|class| !class.law.is_unchanged()) {
            let name = ["measured to grow ", class.law.words()].concat();
            let group = PlanGroup::Allocations { name, numbers: class.allocations.clone(), growing: false };
            groups.push((group, class.law.factor(by)?));
        }
        let name = "not measured, grows with the batch".to_owned();
        groups.push((PlanGroup::Allocations { name, numbers: self.unmeasured.clone(), growing: true }, by));
        Some(groups)
    }

    /// Describes the measurements and assumptions in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let classes = || self.classes.iter().filter(|class| class.sites > 0);
        let order = classes().map(|class| u128::from(!class.bytes)).zip(0..);
        let order = sorted_numbers(order.collect());
        let classes = order.iter().filter_map(|&index| classes().nth(index as usize)).map(|class| {
            let sites = pluralize(class.sites.into(), "call site");
            let words = if class.law.is_unchanged() { "unchanged" } else { class.law.words() };
            format!("{sites} {words}")
        });
        let classes = classes.collect::<Vec<_>>().join(", ");
        let mut sentences =
            vec![format!("Measured from A to B (×{}): {classes}.", (self.growth * 100.0).round() / 100.0)];
        if self.unmeasured_sites > 0 {
            sentences.push(format!(
                "{} without a measurement: what grows with the batch is assumed to grow in proportion, the rest not at all.",
                pluralize(self.unmeasured_sites.into(), "call site")
            ));
        }
        sentences
    }
}

/// Returns the index of the class with this law, which is added if it is missing.
fn index_of(classes: &mut Vec<ScalingClass>, law: Law) -> u32 {
    let known = classes.iter().position(|class| class.law == law);
    let index = known.unwrap_or_else(|| {
        classes.push(ScalingClass { law, ..ScalingClass::default() });
        classes.len() - 1
    });
    index as u32
}

/// Raises a factor to a power. The result is exact for integer exponents, and otherwise rounded to a multiple of 1/16.
fn raised(by: Factor, exponent: f64) -> Option<Factor> {
    let (times, under) = by.parts();
    let base = if exponent < 0.0 { Factor::new(under.into(), times.into())? } else { by };
    let halves = (exponent.abs() * EXPONENT_STEPS) as u32;
    if halves.is_multiple_of(2) {
        return (0..halves / 2).try_fold(Factor::ONE, |product, _| product.product(base));
    }
    let product = (0..halves).fold(1.0, |product, _| product * base.quotient().sqrt());
    Factor::new((product * PARTS).round() as u64, PARTS as u64)
}

#[cfg(test)]
#[path = "../../tests/units/compare/measured.rs"]
mod tests;
