//! Checks one device of a snapshot against the limits and against a device of its baseline.

use super::baseline::Identity;
use super::limits::{Growth, Limits};
use super::verdict::{Check, CheckedDevice, Outcome, Property, Site};
use base::units::{Bytes, pluralize};
use compare::{Comparison, signed};
use protocol::{DeviceSummary, PeakCheck};

/// Minimum share of the live bytes whose call sites occur in both files, in parts per million. Below it, the files are
/// of different programs.
const MIN_MATCHED: u64 = 500_000;
/// Maximum number of listed sites.
const MAX_SITES: usize = 20;

/// The baseline of a device: the name of its file, its summary, and the comparison of both peaks.
pub(super) struct DeviceBaseline<'a> {
    pub(super) name: &'a str,
    pub(super) summary: &'a DeviceSummary,
    pub(super) comparison: &'a Comparison,
}

/// Checks a device. `needs_baseline` is true if growth is checked, even if no baseline was found.
pub(super) fn check_device(
    file: &str,
    identity: &Identity,
    device: &DeviceSummary,
    limits: &Limits,
    needs_baseline: bool,
    baseline: Option<&DeviceBaseline<'_>>,
) -> CheckedDevice {
    let (peak_live, peak_reserved) = peaks(device);
    let mut checked = CheckedDevice {
        file: file.to_owned(),
        device: device.device,
        backend: device.backend,
        identity: identity.clone(),
        baseline: baseline.map(|it| it.name.to_owned()),
        checks: vec![oom_check(device, limits)],
        grown: Vec::new(),
        matched: None,
        warnings: Vec::new(),
        peak_reserved,
        peak_live,
    };
    if let Some(budget) = limits.budget {
        checked.checks.push(budget_check(Property::ReservedPeak, reserved_at_least(device), budget));
        if !device.has_reserved() {
            checked.warnings.push("No segments recorded: live bytes are checked instead of reserved bytes.".to_owned());
        }
    }
    checked.checks.extend(limits.live_budget.map(|budget| budget_check(Property::LivePeak, peak_live, budget)));
    if device.peak_check() == Some(PeakCheck::Earlier) {
        checked.warnings.push(
            "PyTorch counted a higher peak than the trace has: it was reached before the first recorded event."
                .to_owned(),
        );
    }
    match baseline {
        Some(baseline) => compare_with(&mut checked, device, limits, baseline),
        None if needs_baseline => {
            checked.checks.push(without_baseline(Property::LiveGrowth, peak_live, limits.live_growth()));
            checked.checks.push(without_baseline(
                Property::ReservedGrowth,
                peak_reserved,
                limits.reserved_growth(false),
            ));
        }
        None => {}
    }
    checked
}

/// Returns the peaks of live and of reserved bytes.
fn peaks(device: &DeviceSummary) -> (u64, u64) {
    (device.drawn_peak, u64::try_from(device.peak_reserved).unwrap_or(0))
}

/// Returns the peak of reserved bytes, or a lower bound if the file has no segments.
fn reserved_at_least(device: &DeviceSummary) -> u64 {
    let (live, reserved) = peaks(device);
    if device.has_reserved() { reserved } else { live }
}

fn oom_check(device: &DeviceSummary, limits: &Limits) -> Check {
    let ooms = device.oom_count();
    let is_kept = ooms == 0 || limits.allows_oom;
    let allowed = if ooms > 0 && limits.allows_oom { " (allowed)" } else { "" };
    Check {
        property: Property::Oom,
        outcome: Outcome::from_kept(is_kept),
        title: "no out of memory (OOM)".to_owned(),
        detail: pluralize(ooms, "OOM") + allowed,
        value: ooms,
        limit: (!limits.allows_oom).then_some(0),
        baseline: None,
    }
}

fn budget_check(property: Property, value: u64, limit: u64) -> Check {
    let name = peak_name(property);
    let is_kept = value <= limit;
    let rest = if is_kept { "left" } else { "too much" };
    Check {
        property,
        outcome: Outcome::from_kept(is_kept),
        title: format!("{name} within {}", Bytes(limit)),
        detail: format!("{}, {} {rest}", Bytes(value), Bytes(limit.abs_diff(value))),
        value,
        limit: Some(limit),
        baseline: None,
    }
}

fn compare_with(checked: &mut CheckedDevice, device: &DeviceSummary, limits: &Limits, baseline: &DeviceBaseline<'_>) {
    let comparison = baseline.comparison;
    let (live, reserved) = peaks(device);
    let (old_live, old_reserved) = peaks(baseline.summary);
    let noise = limits.noise;
    checked.checks.push(growth_check(Property::LiveGrowth, live, old_live, limits.live_growth(), noise));
    let growth = limits.reserved_growth(!comparison.settings.is_empty());
    checked.checks.push(match device.has_reserved() && baseline.summary.has_reserved() {
        true => growth_check(Property::ReservedGrowth, reserved, old_reserved, growth, noise),
        false => Check {
            detail: "no segments recorded".to_owned(),
            ..without_baseline(Property::ReservedGrowth, reserved, growth)
        },
    });
    let matched = comparison.matched.parts_per_million();
    checked.matched = Some(matched);
    if comparison.matched.known == compare::PerSide::default() {
        checked.warnings.push("No stacks recorded: call sites are not compared.".to_owned());
    } else if matched < MIN_MATCHED {
        checked
            .warnings
            .push("Most live bytes have no counterpart in the baseline: it is probably of another program.".to_owned());
    }
    if !comparison.settings.is_empty() {
        let names: Vec<&str> = comparison.settings.iter().map(|(name, ..)| &**name).collect();
        checked.warnings.push(format!("Allocator settings differ from the baseline: {}.", names.join(", ")));
    }
    checked
        .warnings
        .extend(comparison.warnings.iter().map(|warning| ["Baseline (A) and file (B): ", warning].concat()));
    let grew = comparison.rows.iter().filter(|row| row.bytes.delta() >= i128::from(noise.max(1)));
    let mut grown: Vec<Site> =
        grew.map(|row| Site { name: row.label.clone(), bytes: row.bytes, count: row.count }).collect();
    grown.sort_by_key(|site| std::cmp::Reverse(site.bytes.delta()));
    grown.truncate(MAX_SITES);
    checked.grown = grown;
}

fn growth_check(property: Property, value: u64, baseline: u64, growth: Growth, noise: u64) -> Check {
    let allowed = growth.allowed(baseline, noise);
    let delta = i128::from(value) - i128::from(baseline);
    let percent = delta as f64 * 100.0 / (baseline as f64).max(1.0);
    let sign = if delta < 0 { '−' } else { '+' };
    let change = match (baseline, delta) {
        (0, _) | (_, 0) => signed(delta),
        _ => format!("{}, {sign}{:.2} %", signed(delta), percent.abs()),
    };
    Check {
        outcome: Outcome::from_kept(delta <= i128::from(allowed)),
        detail: format!("{} → {} ({change}), allowed +{}", Bytes(baseline), Bytes(value), Bytes(allowed)),
        limit: Some(baseline.saturating_add(allowed)),
        baseline: Some(baseline),
        ..without_baseline(property, value, growth)
    }
}

fn without_baseline(property: Property, value: u64, growth: Growth) -> Check {
    Check {
        property,
        outcome: Outcome::Skipped,
        title: format!("{} grew by at most {}", peak_name(property), growth.text()),
        detail: "no baseline".to_owned(),
        value,
        limit: None,
        baseline: None,
    }
}

fn peak_name(property: Property) -> &'static str {
    match property {
        Property::ReservedPeak | Property::ReservedGrowth => "reserved peak",
        Property::LivePeak | Property::LiveGrowth | Property::Oom => "live peak",
    }
}
