//! The result of `memscape check` as Markdown, for a summary on GitHub. Names are code spans, so that they cannot act
//! as markup.

use super::verdict::{CheckedDevice, Outcome, Verdict};
use base::units::{Bytes, group_digits, pluralize};
use compare::signed;
use ui::text::markdown::{code_span, escaped};

/// Formats the result. `by` is the plural of the listed parts of the program, such as `functions`.
pub(super) fn as_markdown(verdict: &Verdict, by: &str) -> String {
    let mut text = format!("## {}\n", verdict.headline());
    if !verdict.devices.is_empty() {
        text += "\n| file | limit | result |\n| --- | --- | --- |\n";
    }
    for device in &verdict.devices {
        for check in &device.checks {
            let mark = match check.outcome {
                Outcome::Kept => "✓",
                Outcome::Exceeded => "**✗ exceeded:**",
                Outcome::Skipped => "not checked:",
            };
            let (title, detail) = (escaped(&check.title), escaped(&check.detail));
            text += &format!("| {} | {title} | {mark} {detail} |\n", code_span(&device.title()));
        }
    }
    if verdict.left_out > 0 {
        text += &format!("\n{} checked.\n", pluralize(verdict.left_out as u64, "other rank"));
    }
    for (file, error) in &verdict.errors {
        text += &format!("\n- **!** {}: {}\n", code_span(file), escaped(error));
    }
    verdict.devices.iter().for_each(|device| write_details(&mut text, device, by));
    text
}

/// Writes the warnings of a device, and the sites that grew as a table that is folded unless a limit is exceeded.
fn write_details(text: &mut String, device: &CheckedDevice, by: &str) {
    if device.grown.is_empty() && device.warnings.is_empty() {
        return;
    }
    *text += &format!("\n### {}\n", code_span(&device.title()));
    if !device.warnings.is_empty() {
        *text += "\n";
        device.warnings.iter().for_each(|warning| *text += &format!("- {}\n", escaped(warning)));
    }
    if device.grown.is_empty() {
        return;
    }
    let open = if device.is_exceeded() { " open" } else { "" };
    *text += &format!("\n<details{open}><summary>Live bytes at the peak: {by} that grew</summary>\n\n");
    *text += "| Δ | baseline | now | allocations | allocated by |\n| --: | --: | --: | --: | --- |\n";
    for site in &device.grown {
        let [before, now] = [site.bytes.a, site.bytes.b].map(Bytes);
        let [fewer, more] = [site.count.a, site.count.b].map(group_digits);
        let (delta, name) = (signed(site.bytes.delta()), code_span(&site.name));
        *text += &format!("| {delta} | {before} | {now} | {fewer} → {more} | {name} |\n");
    }
    *text += "\n</details>\n";
}
