//! Measured growth of call sites between two snapshots, for `memscape plan --scaling-from`.

use super::asking::Asking;
use super::cancelled;
use super::terms::SnapshotArgs;
use base::slice::Slice;
use compare::{Comparing, Measured, Wanted};
use engine::protocol::{Factor, PlanQuestion};
use serde_json::{Value, json};
use std::path::Path;

/// Measures how much the allocations of the open device grow in another snapshot.
///
/// # Errors
/// Returns one sentence if the other file cannot be read or no size changes.
pub(crate) fn measured(asking: &mut Asking, other: &Path, growth: Option<f64>) -> Result<Measured, String> {
    let named = |error: String| format!("{}: {error}", other.display());
    asking.prepare();
    let mut second = Asking::open(&SnapshotArgs { file: other.to_owned(), device: None }).map_err(named)?;
    second.prepare();
    let missing = || "no device has events or segments".to_owned();
    let a = asking.engine().side(asking.device.device).ok_or_else(missing)?;
    let b = second.engine().side(second.device.device).ok_or_else(|| named(missing()))?;
    let mut comparing = Comparing::new(&a, &b, Wanted::default());
    while comparing.step(&a, &b, &mut Slice::new(&mut cancelled::goes_on)).is_err() {
        cancelled::check()?;
    }
    let unchanged = || named("no paired call site changes its size, so nothing is measured".to_owned());
    comparing.measured(&a, growth).ok_or_else(unchanged)
}

/// Adds the measured growth to a plan: scaled to another sequence length, or to the length of the other snapshot.
///
/// # Errors
/// Returns one sentence if a number is too large or too small.
pub(crate) fn add(measured: &Measured, by: Option<Factor>, plan: &mut PlanQuestion) -> Result<(), String> {
    let own = || Factor::new((measured.growth * 1000.0).round() as u64, 1000);
    let groups = by.or_else(own).and_then(|by| measured.groups(by));
    plan.groups.extend(groups.ok_or("sequence: the number is too large or too small")?);
    Ok(())
}

/// Converts measured growth to JSON.
pub(crate) fn as_json(measured: &Measured) -> Value {
    let classes = measured.classes.iter().map(|class| json!({"exponent": class.exponent, "call_sites": class.sites}));
    json!({
        "growth": measured.growth,
        "exponents": classes.collect::<Vec<Value>>(),
        "call_sites_not_measured": measured.rest_sites,
    })
}
