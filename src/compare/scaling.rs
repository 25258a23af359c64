//! Measures how call sites grow from A to B, using paired allocations. If a call site grew ×4 while the sequence length
//! grew ×2, it scales with the square of the length. This predicts the sizes in A for a different length.

use crate::answer::FactorGroup;
use base::sorted::sorted_numbers;
use base::units::pluralize;
use engine::protocol::{Factor, PlanGroup};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Number of distinguished exponents per unit. Exponents are multiples of 1/2, because sizes are products of lengths.
const EXPONENT_STEPS: f64 = 2.0;
const LARGEST: f64 = 4.0;
/// Denominator used to approximate factors that are not simple fractions.
const PARTS: f64 = 16.0;
/// Sentinel: the growth of the call site is unknown.
const NONE: u32 = u32::MAX;

/// Growth of A's call sites from A to B, as powers of the growth of the input size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredScaling {
    /// Growth of the input size from A to B. If one measured factor is the square of another, the smaller one,
    /// otherwise the factor with the most bytes.
    pub growth: f64,
    /// Groups of call sites, one for each exponent.
    pub classes: Vec<ScalingClass>,
    /// Bit set of the allocations of A whose call site has no paired allocations.
    pub unmeasured: Vec<u64>,
    /// Number of call sites without paired allocations.
    pub unmeasured_sites: u32,
}

/// Call sites that grow with the same power of the input size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalingClass {
    pub exponent: f64,
    pub sites: u32,
    /// Bytes of the paired allocations, in A.
    pub bytes: u64,
    /// Bit set of the allocations of A that belong to these call sites.
    pub allocations: Vec<u64>,
}

/// Measured growth of a call site: factor from A to B, and bytes in A.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteGrowth {
    pub(crate) factor: f64,
    pub(crate) bytes: u64,
}

/// Returns the growth factor of the input size, or `None` if no size changed.
pub(crate) fn growth(groups: &[FactorGroup]) -> Option<f64> {
    let factors = || groups.iter().map(|group| group.factor).filter(|factor| (factor - 1.0).abs() > 0.05);
    let largest = factors().next()?;
    // A factor near 1 is close to its own square.
    let is_understood = (largest - 1.0).abs() > 0.2;
    Some(factors().find(|root| is_understood && (root * root / largest - 1.0).abs() < 0.03).unwrap_or(largest))
}

/// Returns the exponent `e` with `growth`^`e` ≈ `factor`, rounded to a multiple of 1/2.
fn exponent(factor: f64, growth: f64) -> f64 {
    let exponent = factor.log2() / growth.log2();
    (exponent * EXPONENT_STEPS).round().clamp(-LARGEST, EXPONENT_STEPS * LARGEST) / EXPONENT_STEPS
}

impl MeasuredScaling {
    /// Groups call sites by their growth. `sites` contains key ids and growths, and `site` returns the key id of an
    /// allocation of A.
    pub(crate) fn new(
        growth: f64,
        sites: impl Iterator<Item = (u32, SiteGrowth)>,
        allocations: usize,
        site: impl Fn(usize) -> u32,
    ) -> MeasuredScaling {
        let words = || vec![0; allocations.div_ceil(64)];
        let mut classes: Vec<ScalingClass> = Vec::new();
        let mut class_of: HashMap<u32, u32, RandomState> = HashMap::default();
        for (key, SiteGrowth { factor, bytes }) in sites {
            let exponent = exponent(factor, growth);
            let known = classes.iter().position(|class| class.exponent == exponent);
            let index = known.unwrap_or_else(|| {
                classes.push(ScalingClass { exponent, sites: 0, bytes: 0, allocations: words() });
                classes.len() - 1
            });
            if let Some(class) = classes.get_mut(index) {
                class.sites += 1;
                class.bytes = class.bytes.saturating_add(bytes);
                class_of.insert(key, index as u32);
            }
        }
        let (mut unmeasured, mut unmeasured_sites) = (words(), 0);
        for number in 0..allocations {
            let key = site(number);
            let known = class_of.get(&key).copied();
            if known.is_none() {
                class_of.insert(key, NONE);
                unmeasured_sites += 1;
            }
            let class = classes.get_mut(known.unwrap_or(NONE) as usize);
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
        for class in self.classes.iter().filter(|class| class.exponent != 0.0) {
            let name = ["call sites measured to grow ", exponent_text(class.exponent)].concat();
            let group = PlanGroup::Allocations { name, numbers: class.allocations.clone(), growing: false };
            groups.push((group, raised(by, class.exponent)?));
        }
        let name = "not measured: activations, temporaries and inputs".to_owned();
        groups.push((PlanGroup::Allocations { name, numbers: self.unmeasured.clone(), growing: true }, by));
        Some(groups)
    }

    /// Describes the measurements and assumptions in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let order = self.classes.iter().map(|class| u128::from(!class.bytes)).zip(0..);
        let order = sorted_numbers(order.collect());
        let classes = order.iter().filter_map(|&index| self.classes.get(index as usize)).map(|class| {
            let sites = pluralize(class.sites.into(), "call site");
            match class.exponent {
                0.0 => format!("{sites} unchanged"),
                exponent => format!("{sites} {}", exponent_text(exponent)),
            }
        });
        let classes = classes.collect::<Vec<_>>().join(", ");
        let mut sentences =
            vec![format!("Measured from A to B (×{}): {classes}.", (self.growth * 100.0).round() / 100.0)];
        if self.unmeasured_sites > 0 {
            sentences.push(format!(
                "{} without a measurement: their activations, temporaries and inputs are assumed to grow in proportion, the rest not at all.",
                pluralize(self.unmeasured_sites.into(), "call site")
            ));
        }
        sentences
    }
}

/// Describes an exponent, such as `with the square`.
fn exponent_text(exponent: f64) -> &'static str {
    match exponent {
        0.5 => "with the square root",
        1.0 => "in proportion",
        1.5 => "with the power 1.5",
        2.0 => "with the square",
        3.0 => "with the cube",
        ..0.0 => "the other way round",
        _ => "with another power",
    }
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
