//! The result of `memscape check` as text.

use super::verdict::{CheckedDevice, Outcome, Verdict};
use crate::output::printable;
use base::units::{Bytes, group_digits, pluralize};
use compare::signed;

/// Maximum number of sites listed for a device.
const MAX_SITES: usize = 5;

/// Formats the result.
pub(super) fn as_text(verdict: &Verdict) -> String {
    let mut text = String::new();
    verdict.devices.iter().for_each(|device| write_device(&mut text, device));
    if verdict.left_out > 0 {
        text += &format!("{} checked; --ranks all lists them\n", pluralize(verdict.left_out as u64, "other rank"));
    }
    text + &verdict.headline() + "\n"
}

fn write_device(text: &mut String, device: &CheckedDevice) {
    let mark = if device.is_exceeded() { "EXCEEDED" } else { "kept    " };
    let baseline = device.baseline.as_ref().map_or_else(String::new, |name| [" · baseline ", name].concat());
    *text += &printable(&format!("{mark} {}{baseline}", device.title()));
    *text += "\n";
    for check in &device.checks {
        let mark = match check.outcome {
            Outcome::Kept => "ok  ",
            Outcome::Exceeded => "FAIL",
            Outcome::Skipped => "–   ",
        };
        *text += &format!("  {mark} {}: {}\n", check.title, check.detail);
    }
    for site in device.grown.iter().take(MAX_SITES) {
        let (delta, bytes) = (signed(site.bytes.delta()), [site.bytes.a, site.bytes.b].map(Bytes));
        *text += &printable(&format!(
            "       {delta:>10}  {}: {} → {}, {} → {}",
            site.name,
            bytes[0],
            bytes[1],
            group_digits(site.count.a),
            pluralize(site.count.b, "allocation")
        ));
        *text += "\n";
    }
    for warning in &device.warnings {
        *text += &printable(&format!("  warning: {warning}"));
        *text += "\n";
    }
}
