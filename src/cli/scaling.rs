//! Measures how call sites grow between two snapshots, for `memscape plan --scaling-from`.

use super::cancellation;
use super::common_args::SnapshotArgs;
use super::open_snapshot::OpenSnapshot;
use base::slice::TimeSlice;
use compare::{CompareOptions, Comparer, MeasuredScaling};
use protocol::{Factor, PlanQuestion};
use serde_json::{Value, json};
use std::path::Path;

/// Measures the growth of the allocations of the open device in a second snapshot, `other`.
///
/// # Errors
/// Returns an error message if the second file cannot be read or no size changes.
pub(crate) fn measure(
    snapshot: &mut OpenSnapshot,
    other: &Path,
    growth: Option<f64>,
) -> Result<MeasuredScaling, String> {
    let named = |error: String| format!("{}: {error}", other.display());
    snapshot.prepare();
    let mut second = OpenSnapshot::open(&SnapshotArgs { file: other.to_owned(), device: None }).map_err(named)?;
    second.prepare();
    let missing = || "no device has events or segments".to_owned();
    let a = snapshot.engine().side(snapshot.device.device).ok_or_else(missing)?;
    let b = second.engine().side(second.device.device).ok_or_else(|| named(missing()))?;
    let mut comparer = Comparer::new(&a, &b, CompareOptions::default());
    while comparer.step(&a, &b, &mut TimeSlice::new(&mut cancellation::should_continue)).is_err() {
        cancellation::check()?;
    }
    let unchanged = || named("no paired call site changes its size, so nothing is measured".to_owned());
    comparer.measure_scaling([&a, &b], growth).ok_or_else(unchanged)
}

/// Adds the measured growth of allocations to a plan, for an input that is `by` times as large. If `by` is `None`, the
/// size of the second snapshot's input is used.
///
/// # Errors
/// Returns an error message if a factor is too large or too small.
pub(crate) fn add_to_plan(
    measured: &MeasuredScaling,
    by: Option<Factor>,
    plan: &mut PlanQuestion,
) -> Result<(), String> {
    let measured_growth = || Factor::new((measured.growth * 1000.0).round() as u64, 1000);
    let groups = by.or_else(measured_growth).and_then(|by| measured.groups(by));
    plan.groups.extend(groups.ok_or("sequence or batch: the number is too large or too small")?);
    Ok(())
}

/// Converts the measured growth to JSON.
pub(crate) fn as_json(measured: &MeasuredScaling) -> Value {
    let classes = measured.classes.iter().filter(|class| class.sites > 0).map(|class| {
        json!({
            "exponent": class.law.exponent,
            "share_of_next_power": class.law.share,
            "call_sites": class.sites,
        })
    });
    json!({
        "growth": measured.growth,
        "exponents": classes.collect::<Vec<Value>>(),
        "call_sites_not_measured": measured.unmeasured_sites,
    })
}
