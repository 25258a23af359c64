//! Effect of one simulated setting on peak reserved, as a statement.

use crate::report::settings::parse_conf;
use crate::report::writer::{ReportWriter, bytes_text, is_notable, moment_evidence};
use allocator::settings::DEFAULTS;
use base::units::{Moment, group_digits, percent};
use protocol::{Backend, Tone, WhatIf, WhatIfGrade, WhatIfRun};

/// Minimum saving, in bytes, for an alarm. A tenth of the peak is required as well.
const MIN_ALARM: u64 = crate::report::fragmentation::MIN_PROBLEM_BYTES;

/// Effect of a setting.
#[derive(Clone, Copy)]
pub(in crate::report) struct Effect<'a> {
    pub(in crate::report) run: &'a WhatIfRun,
    pub(in crate::report) outcome: Outcome,
    recorded: &'a WhatIfRun,
    waits_at_oom: bool,
}

/// Outcome of a simulated run, compared with the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Outcome {
    /// Peak reserved changes by this number of bytes: lowest and highest value, over all memory limits that are
    /// consistent with the recording.
    Changes([i64; 2]),
    /// The first request that failed in the recording succeeds.
    AvoidsOom,
    /// A request fails at this event. −1 if it is before the first event.
    Fails(i64),
    /// The exact memory limit, or when other streams finish, decides whether a request fails. Neither is known.
    Undecided,
}

/// Option that limits the memory of the process.
const FRACTION: &str = "per_process_memory_fraction";
/// The setting that is commonly tried against fragmentation.
pub(super) const EXPANDABLE: (&str, &str) = ("expandable_segments", "True");

impl<'a> Effect<'a> {
    pub(super) fn new(answer: &WhatIf, recorded: &'a WhatIfRun, run: &'a WhatIfRun, waits_at_oom: bool) -> Effect<'a> {
        let recorded_peak = recorded.peak_reserved;
        let change = |peak: u64| peak.cast_signed().saturating_sub(recorded_peak.cast_signed());
        let [one, other] = run.peaks().map(change);
        let has_unknown_limit = answer.has_contradictory_limits && answer.capacity.is_none();
        let avoided = [run.avoided_oom, run.low.map_or(run.avoided_oom, |low| low.avoided_oom)];
        let outcome = match (recorded.oom_event, run.fails()) {
            (Some(_), _) if has_unknown_limit => Outcome::Undecided,
            (Some(event), _) if avoided.iter().all(|avoided| avoided.map(i64::from) == Some(event)) => {
                if waits_at_oom {
                    Outcome::Undecided
                } else {
                    Outcome::AvoidsOom
                }
            }
            (_, Some(true)) => Outcome::Fails(run.oom_event.unwrap_or(-1)),
            (Some(_), _) | (None, None) => Outcome::Undecided,
            (None, Some(false)) => Outcome::Changes([one.min(other), one.max(other)]),
        };
        Effect { run, outcome, recorded, waits_at_oom }
    }

    /// Returns the recorded peak of reserved bytes.
    pub(super) fn recorded_peak(&self) -> u64 {
        self.recorded.peak_reserved
    }

    /// Returns the less favourable change of peak reserved, and the largest number if it is not known.
    pub(super) fn worst_change(&self) -> i64 {
        match self.outcome {
            Outcome::Changes([_, worst]) => worst,
            _ => i64::MAX,
        }
    }

    pub(super) fn lowers(&self) -> bool {
        matches!(self.outcome, Outcome::Changes([_, worst]) if worst < 0 && self.is_notable(worst))
    }

    pub(super) fn raises(&self) -> bool {
        matches!(self.outcome, Outcome::Changes([best, _]) if best > 0 && self.is_notable(best))
    }

    pub(super) fn is_undecided(&self) -> bool {
        match self.outcome {
            Outcome::Changes([best, worst]) => best < 0 && worst >= 0 && self.is_notable(best),
            outcome => outcome == Outcome::Undecided,
        }
    }

    fn is_notable(&self, change: i64) -> bool {
        is_notable(change.unsigned_abs(), self.recorded_peak())
    }

    pub(super) fn name(&self) -> String {
        settings_name(self.run, self.recorded)
    }

    pub(super) fn is_expandable(&self) -> bool {
        options(&self.run.settings) == [EXPANDABLE]
    }

    pub(super) fn name_with_change(&self) -> String {
        match self.outcome {
            Outcome::Changes(change) => [&*self.name(), " ", &change_text(change)].concat(),
            _ => self.name(),
        }
    }

    /// Writes the effect, with a fix if it lowers peak reserved or avoids the OOM.
    pub(super) fn write(&self, writer: &mut ReportWriter<'_>) {
        let name = &*sentence_start(self.name());
        let moment = Moment::after_event_or_minus_one(self.run.oom_event.unwrap_or(self.run.peak_event));
        if self.lowers() {
            let saved = self.worst_change().unsigned_abs();
            let is_large = saved >= MIN_ALARM && saved >= self.recorded_peak() / 10;
            let tone = if is_large { Tone::Alarm } else { Tone::Fact };
            writer.add_statement(tone, self.text() + &doubt(self.run), Some(moment_evidence(moment.0)));
            writer.set_fix(&fix(self.run, self.recorded, writer.side.backend()));
            return;
        }
        let text = match self.outcome {
            Outcome::Changes([0, 0]) => [name, " would not help: peak reserved unchanged (simulated)."].concat(),
            Outcome::Changes([best, worst]) if best < 0 && worst >= 0 && best != worst => {
                let change = change_text([best, worst]);
                [name, ": ", &change, " peak reserved (simulated), depending on the exact memory limit."].concat()
            }
            Outcome::Changes([best, worst]) if worst < 0 => {
                let change = change_text([best, worst]);
                [name, ": ", &change, " peak reserved (simulated), less than 1 %."].concat()
            }
            Outcome::Changes(change) => {
                let change = change_text(change);
                [name, " would not help: ", &change, " peak reserved (simulated)."].concat()
            }
            Outcome::Fails(event) => {
                let at = u64::try_from(event).map_or_else(
                    |_| "before the first event".to_owned(),
                    |event| "at event ".to_owned() + &group_digits(event),
                );
                [name, " would not help: out of memory ", &at, " (simulated)."].concat()
            }
            Outcome::AvoidsOom => [name, " avoids the out-of-memory error (simulated)."].concat(),
            Outcome::Undecided => {
                let cause = if self.waits_at_oom { "when other streams finish" } else { "the exact limit" };
                [name, ": not known whether it runs out of memory, which depends on ", cause, " (simulated)."].concat()
            }
        };
        writer.add_statement(Tone::Fact, text + &doubt(self.run), Some(moment_evidence(moment.0)));
        if self.outcome == Outcome::AvoidsOom {
            writer.set_fix(&fix(self.run, self.recorded, writer.side.backend()));
        }
    }

    /// Returns the effect on peak reserved as a sentence.
    fn text(&self) -> String {
        let Outcome::Changes([best, worst]) = self.outcome else { return String::new() };
        let share = percent(worst.unsigned_abs(), self.recorded_peak());
        let end = match best == worst {
            true => {
                let [from, to] = [self.recorded_peak(), self.run.peak_reserved].map(bytes_text);
                [" (simulated): ", &from, " → ", &to, " (−", &share, ")."].concat()
            }
            false => [" (simulated), at least −", &share, "; the exact memory limit decides."].concat(),
        };
        [&*sentence_start(self.name()), ": ", &change_text([best, worst]), " peak reserved", &end].concat()
    }

    /// Returns the change of peak reserved with the highest memory limit, if it can be compared with the recording.
    pub(in crate::report) fn change(&self) -> Option<i64> {
        match self.outcome {
            Outcome::Changes(_) => {
                Some(self.run.peak_reserved.cast_signed().saturating_sub(self.recorded_peak().cast_signed()))
            }
            _ => None,
        }
    }
}

/// Name of the default settings in a sentence.
const DEFAULTS_NAME: &str = "the default settings";

/// Returns the options of settings without the memory fraction, which all runs keep.
pub(super) fn options(settings: &str) -> Vec<(&str, &str)> {
    let mut options = if settings == DEFAULTS { Vec::new() } else { parse_conf(settings) };
    options.retain(|(key, _)| *key != FRACTION);
    options
}

/// Returns the options that are not in `others`, as text. An option with another value counts if `compares_values`.
fn missing(options: &[(&str, &str)], others: &[(&str, &str)], compares_values: bool) -> String {
    let mut text = String::new();
    for (key, value) in options {
        if !others.iter().any(|(other, known)| other == key && (known == value || !compares_values)) {
            let comma = if text.is_empty() { "" } else { "," };
            text = [&text, comma, key, ":", value].concat();
        }
    }
    text
}

/// Returns the recorded options that a run does not have, as text.
fn dropped(run: &WhatIfRun, recorded: &WhatIfRun) -> String {
    missing(&options(&recorded.settings), &options(&run.settings), false)
}

/// Returns the name of the settings of a run in a sentence. If they only lack recorded options, these are named.
pub(super) fn settings_name(run: &WhatIfRun, recorded: &WhatIfRun) -> String {
    let (kept, dropped) = (options(&run.settings), dropped(run, recorded));
    if kept.is_empty() {
        return DEFAULTS_NAME.to_owned();
    }
    let is_part = !dropped.is_empty() && missing(&kept, &options(&recorded.settings), true).is_empty();
    let [without, dropped] = if is_part { [" without ", &dropped] } else { [""; 2] };
    [&missing(&kept, &[], true), without, dropped].concat()
}

/// Capitalizes the name of the default settings.
fn sentence_start(name: String) -> String {
    if name == DEFAULTS_NAME { "The default settings".to_owned() } else { name }
}

/// Returns the advice to use the settings of a run: "Set", or "Try" if the run may reserve as much as the recording.
pub(super) fn fix(run: &WhatIfRun, recorded: &WhatIfRun, backend: Backend) -> String {
    let is_certain = run.possible_excess(recorded.peak_reserved).is_none();
    let variable = backend.settings();
    if run.settings == DEFAULTS {
        return [if is_certain { "Unset " } else { "Try to unset " }, variable, "."].concat();
    }
    let start = if is_certain { "Set " } else { "Try " };
    let dropped = dropped(run, recorded);
    let [open, close] = if dropped.is_empty() { [""; 2] } else { [" (without ", ")"] };
    let warnings: String = run.warnings.iter().map(|warning| " ".to_owned() + warning.words()).collect();
    [start, variable, "=", &run.settings, open, &dropped, close, ".", &warnings].concat()
}

/// Returns a sentence on what makes a prediction uncertain, preceded by a space. Empty if nothing does.
pub(super) fn doubt(run: &WhatIfRun) -> String {
    let [low, high] = run.band.map(bytes_text);
    match run.grade {
        WhatIfGrade::DependsOnStart if low != high => {
            [" Depends on what was allocated before recording: ", &low, " to ", &high, " possible."].concat()
        }
        WhatIfGrade::DependsOnWaits => " Depends on when other streams finish.".to_owned(),
        WhatIfGrade::PoolsGuessed => " Private pools are guessed.".to_owned(),
        _ => String::new(),
    }
}

/// Formats a change in bytes with its sign: `−9.48 GiB`, or `between −1.20 GiB and +300 MiB`.
fn change_text([low, high]: [i64; 2]) -> String {
    let signed = |change: i64| match change {
        0 => "±0 B".to_owned(),
        _ => [if change < 0 { "−" } else { "+" }, &bytes_text(change.unsigned_abs())].concat(),
    };
    match low == high {
        true => signed(low),
        false => ["between ", &signed(low), " and ", &signed(high)].concat(),
    }
}
