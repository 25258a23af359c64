//! Insight on allocator settings. It lists their values, and the simulated effects of other ones.

mod checks;
mod known_settings;
mod simulated_runs;

use super::insight::{Given, Insight, Need};
use super::writer::{ReportWriter, bytes_text, moment_evidence, moment_text, truncate};
use crate::report::column::{self, sheet};
use base::slice::{SliceResult, TimeSlice};
use base::units::percent;
use checks::{Check, CheckResult, Checks};
pub(super) use known_settings::parse_conf;
use protocol::{Cell, SheetRow, Tone};

/// The insight on settings.
pub(super) struct Settings(Checks);

impl Insight for Settings {
    const NEEDS: &'static [Need] = &[Need::Segments, Need::Simulation];

    fn new(&Given { side, segments, .. }: &Given<'_>) -> Settings {
        Settings(Checks::new(side.history, segments))
    }

    fn step(&mut self, &Given { side, segments, .. }: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        self.0.step(side, segments, slice)
    }

    fn write(self, &Given { side, segments, simulation, .. }: &Given<'_>, writer: &mut ReportWriter<'_>) {
        let mut found = self.0.results(side, segments);
        // The settings of the CUDA allocator don't apply to host memory.
        found.retain(|_| side.history.device >= 0);
        if side.history.device >= 0 {
            simulated_runs::write_statements(writer, simulation);
        }
        write_statements(writer, &found);
        if side.history.device >= 0 {
            simulated_runs::write_sheet(writer, simulation);
        }
        write_settings(writer);
        write_checks(writer, &found);
    }
}

/// Returns whether the value of a setting is its default.
pub fn is_default_setting(key: &str, value: &str) -> bool {
    known_settings::find_known(key).is_some_and(|known| known.is_default(value))
}

/// Returns the value of a setting. `None` if the file does not list the setting.
fn setting_value<'a>(settings: &'a [(String, String)], key: &str) -> Option<&'a str> {
    settings.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Returns the memory fraction that limits the process, as recorded. `None` if none is recorded.
pub(super) fn memory_fraction(settings: &[(String, String)]) -> Option<&str> {
    const KEY: &str = "per_process_memory_fraction";
    let all = all_settings(settings);
    let (_, value) = all.into_iter().find(|&(key, value)| key == KEY && !is_default_setting(key, value))?;
    // A file has `0.4570`, but the simulator's settings are written `0.457`.
    Some(if value.contains('.') { value.trim_end_matches('0').trim_end_matches('.') } else { value })
}

/// Returns the keys and values of all settings: those that the file lists, and those that occur only in the text of the
/// environment variable.
fn all_settings(settings: &[(String, String)]) -> Vec<(&str, &str)> {
    let mut all: Vec<(&str, &str)> = settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    for (_, conf) in settings.iter().filter(|(key, _)| key.ends_with("ALLOC_CONF")) {
        for (key, value) in known_settings::parse_conf(conf) {
            // Most are listed, some under another name: max_split_size_mb as max_split_size.
            let is_listed = all.iter().any(|(known, _)| {
                let name = known.split_once('.').map_or(*known, |(name, _)| name);
                name == key || Some(name) == key.strip_suffix("_mb")
            });
            if !is_listed && all.len() <= history::snapshot::MAX_SETTINGS {
                all.push((key, value));
            }
        }
    }
    all
}

/// Returns whether expandable segments are combined with a limit for splitting. These settings conflict, because blocks
/// above the limit are never split, so a large free block in an expandable segment cannot serve smaller requests.
fn settings_conflict(settings: &[(String, String)]) -> bool {
    let is_on = |value: &str| value.eq_ignore_ascii_case("true") || value == "1";
    let is_expandable = |&(key, value): &(&str, &str)| key == "expandable_segments" && is_on(value);
    keeps_blocks_whole(settings) && all_settings(settings).iter().any(is_expandable)
}

/// Returns whether there is a limit for splitting: blocks above it are not split, so smaller requests cannot use them.
pub(super) fn keeps_blocks_whole(settings: &[(String, String)]) -> bool {
    let is_limit = |value: &str| value.parse::<f64>().is_ok_and(|limit| (0.0..9e18).contains(&limit));
    let is_key = |key: &str| ["max_split_size", "max_split_size_mb"].contains(&key);
    all_settings(settings).iter().any(|&(key, value)| is_key(key) && is_limit(value))
}

fn write_statements(writer: &mut ReportWriter<'_>, found: &[CheckResult]) {
    for hint in found.iter().filter(|found| found.is_hint()) {
        let share = percent(hint.found_bytes, hint.whole_bytes);
        let evidence = |before: &str, after: &str| {
            [before, &bytes_text(hint.found_bytes), after, " (", &share, "), ", &hint.detail].concat()
        };
        let moment = [" ", &moment_text(hint.moment.unwrap_or(0)), "."].concat();
        let text = match hint.check {
            Check::FragmentedOom => evidence("OOM with ≤ ", " free but fragmented") + &moment,
            Check::PinnedSegments => evidence("Small blocks pin large segments: ≤ ", " cannot be released") + &moment,
            Check::Rounding => evidence("Lost to rounding: ≥ ", " at the peak") + &moment,
            Check::UnusedSegments => evidence("Never used: ", " of reserved at the end") + ".",
            Check::Churn => {
                // Tenths, rounded to the nearest.
                let whole = u128::from(hint.whole_bytes.max(1));
                let tenths = (u128::from(hint.found_bytes) * 20 + whole) / (2 * whole);
                format!(
                    "{} of segments were freed and allocated again ({}.{} × peak reserved), {}. Each release waits for the device.",
                    bytes_text(hint.found_bytes),
                    tenths / 10,
                    tenths % 10,
                    hint.detail
                )
            }
        };
        writer.add_statement(Tone::Fact, text, hint.moment.map(moment_evidence));
    }
    let has_conflict = writer.side.history.device >= 0 && settings_conflict(&writer.side.file.snapshot.settings);
    if has_conflict {
        let text = "max_split_size_mb with expandable_segments:True can make reserved memory grow without bound \
                    (pytorch/pytorch#123548).";
        writer.add_statement(Tone::Alarm, text.to_owned(), None);
    }
    let settings = &writer.side.file.snapshot.settings;
    if settings.is_empty() {
        let text = "No allocator settings recorded in this file.";
        writer.add_statement(Tone::Fact, text.to_owned(), None);
        return;
    }
    let is_changed = |&(key, value): &(&str, &str)| !is_default_setting(key, value);
    let settings = all_settings(settings);
    let changed = settings.iter().filter(|it| is_changed(it)).filter(|(key, _)| !key.ends_with("ALLOC_CONF"));
    let common = common_division(&settings);
    let is_shown = |key: &str| common.is_none_or(|first| !is_division(key) || first == key);
    let name = |&(key, value): &(&str, &str)| {
        let key = if common.is_some() && is_division(key) { known_settings::DIVISIONS_KEY } else { key };
        match value.parse() {
            Ok(bytes) if key == "max_split_size" => [key, " = ", &bytes_text(bytes)].concat(),
            _ => truncate(&[key, " = ", value].concat()),
        }
    };
    let names: Vec<String> = changed.filter(|(key, _)| is_shown(key)).take(MAX_NAMES + 1).map(name).collect();
    let mut text = match names.len() {
        0 => "All settings have their default values".to_owned(),
        _ => "Changed from the default: ".to_owned() + &names.get(..MAX_NAMES).unwrap_or(&names).join(", "),
    };
    text.push_str(if names.len() > MAX_NAMES { " …" } else { "." });
    writer.add_statement(Tone::Fact, text, None);
}

/// Maximum number of settings that are named in a statement.
const MAX_NAMES: usize = 8;

/// Returns whether a setting is the rounding of one size range.
fn is_division(key: &str) -> bool {
    key.split_once('.').is_some_and(|(prefix, _)| prefix == known_settings::DIVISIONS_KEY)
}

/// Returns the first rounding setting if all have the same value. They are then shown as one.
fn common_division<'a>(settings: &[(&'a str, &'a str)]) -> Option<&'a str> {
    let mut by_size = settings.iter().filter(|(key, _)| is_division(key));
    let (first, value) = by_size.next()?;
    by_size.all(|(_, other)| other == value).then_some(*first)
}

fn write_settings(writer: &mut ReportWriter<'_>) {
    let settings = all_settings(&writer.side.file.snapshot.settings);
    let common = common_division(&settings);
    let is_shown = |key: &str| common.is_none_or(|first| !is_division(key) || first == key);
    let rows: Vec<(&str, &str)> = settings.iter().copied().filter(|(key, _)| is_shown(key)).collect();
    let columns = [
        column::text("setting", "setting", |(key, _): (&str, &str)| {
            truncate(if common.is_some() && is_division(key) { known_settings::DIVISIONS_KEY } else { key })
        }),
        column::text("value", "value", |(_, value): (&str, &str)| truncate(value)),
        column::cell("is_default", "default", |(key, value): (&str, &str)| {
            known_settings::find_known(key).map_or(Cell::Empty, |known| yes_or_no(known.is_default(value)))
        }),
        column::cell("description", "description", |(key, _): (&str, &str)| {
            known_settings::find_known(key).map_or(Cell::Empty, |known| Cell::Text(known.description.to_owned()))
        }),
    ];
    let note = "As recorded in the file.";
    let sheet = sheet(["settings", "Settings", note], &columns);
    writer.add_sheet(sheet, &columns, &rows, |_, _| SheetRow::default());
}

fn write_checks(writer: &mut ReportWriter<'_>, found: &[CheckResult]) {
    let settings = &writer.side.file.snapshot.settings;
    let columns = [
        column::text("check", "check", |it: &CheckResult| it.check.description().to_owned()),
        column::bytes("found_bytes", "found", |it: &CheckResult| it.found_bytes),
        column::text("detail", "detail", |it: &CheckResult| it.detail.clone()),
        column::bytes("whole_bytes", "of", |it: &CheckResult| it.whole_bytes),
        column::share("share", "share", |it: &CheckResult| (it.found_bytes, it.whole_bytes)),
        column::share("threshold_share", "minimum share", |it: &CheckResult| (it.check.thresholds().0, 100)),
        column::bytes("threshold_bytes", "minimum bytes", |it: &CheckResult| it.check.thresholds().1),
        column::cell("hint", "above both", |it: &CheckResult| yes_or_no(it.is_hint())),
        column::text("setting", "setting", |it: &CheckResult| it.check.setting().to_owned()),
        column::cell("value", "value", |it: &CheckResult| {
            setting_value(settings, it.check.setting()).map_or(Cell::Empty, |value| Cell::Text(truncate(value)))
        }),
        column::cell("event", "after event", |it: &CheckResult| it.moment.map_or(Cell::Empty, column::moment_cell)),
    ];
    let note = "Findings that reach both the minimum share and the minimum bytes are listed above. Free bytes are upper bounds, bytes lost to rounding lower bounds.";
    let sheet = sheet(["checks", "Checks", note], &columns);
    let found: Vec<&CheckResult> = found.iter().collect();
    writer.add_sheet(sheet, &columns, &found, |_, it| SheetRow {
        tone: if it.is_hint() { Tone::Alarm } else { Tone::Fact },
        evidence: it.moment.map(moment_evidence),
        ..SheetRow::default()
    });
}

fn yes_or_no(value: bool) -> Cell {
    Cell::Text(if value { "yes" } else { "no" }.to_owned())
}
