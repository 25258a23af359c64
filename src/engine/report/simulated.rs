//! Effects of allocator settings on peak reserved, as simulated on the recording. Every statement about a setting comes
//! from here, so a setting has the same effect in all reports, and none is recommended without a simulation.

mod effect;

pub(super) use effect::{Effect, Outcome};

use super::writer::{ReportWriter, bytes_text, moment_evidence, moment_text};
use base::sorted::{signed_key, sorted_by_key, two_part_key};
use base::units::{EventIdx, Moment, group_digits, percent};
use effect::{EXPANDABLE, doubt, fix, options, settings_name};
use history::replay::{Curve, DeviceHistory};
use protocol::{Tone, WhatIf, WhatIfOrigin, WhatIfRun};

/// Maximum number of settings that are recommended.
const MAX_FIXES: usize = 2;
/// Maximum number of settings that are named in a statement.
const MAX_NAMES: usize = 4;

/// Simulated settings of a recording that the simulation reproduces exactly.
pub(super) struct Simulated<'a> {
    answer: &'a WhatIf,
    pub(super) recorded: &'a WhatIfRun,
    /// True if memory awaited its free when the first request failed. In a simulation, requests that need it wait.
    waits_at_oom: bool,
    /// Simulated runs, the lowest peak first. Of equal ones, the run with fewer options comes first.
    pub(super) effects: Vec<Effect<'a>>,
}

impl<'a> Simulated<'a> {
    /// Returns the simulation of a device if it can be compared with the recording.
    ///
    /// # Errors
    /// Returns a sentence that says why nothing is known about other settings.
    pub(super) fn new(simulation: Option<&'a WhatIf>, history: &DeviceHistory) -> Result<Simulated<'a>, String> {
        let Some(answer) = simulation else { return Err("Other settings are not simulated yet.".to_owned()) };
        if let Some(refused) = &answer.proof.refused {
            return Err(["Effect of other settings not known: ", refused, "."].concat());
        }
        let Some(recorded) = answer.recorded() else {
            let at = answer.proof.departs_at.map(|event| " from event ".to_owned() + &group_digits(event.into()));
            let why = "Effect of other settings not known: the simulation departs from this recording";
            return Err([why, &at.unwrap_or_default(), "."].concat());
        };
        let change = |event| history.awaiting_free_change(event);
        let awaiting_free = |event| Curve::new(&history.awaiting_free, &change).at(Moment::after(EventIdx(event)));
        let oom = recorded.oom_event.and_then(|event| u32::try_from(event).ok());
        let waits_at_oom = oom.is_some_and(|event| awaiting_free(event) > 0);
        let others = answer.runs.iter().filter(|run| run.origin == WhatIfOrigin::Tried);
        let effects = others.map(|run| Effect::new(answer, recorded, run, waits_at_oom)).collect();
        let rank = |effect: &Effect<'_>| {
            let options = effect.run.settings.matches(':').count() + effect.run.warnings.len();
            two_part_key(signed_key(effect.worst_change()), options as u64)
        };
        Ok(Simulated { answer, recorded, waits_at_oom, effects: sorted_by_key(effects, rank) })
    }

    /// Returns the settings that lower peak reserved enough for a statement, the largest effect first. A setting that
    /// only adds options to a setting with at least the same effect is left out.
    fn lowering(&self) -> Vec<&Effect<'a>> {
        let mut found: Vec<&Effect<'a>> = Vec::new();
        for effect in self.effects.iter().filter(|effect| effect.lowers()) {
            let adds_to = |other: &&Effect<'a>| {
                let has = |option: &str| effect.run.settings.split(',').any(|it| it == option);
                other.run.settings.split(',').all(has) || other.run.peaks() == effect.run.peaks()
            };
            if !found.iter().any(adds_to) {
                found.push(effect);
            }
        }
        found
    }

    /// Returns the effect of expandable segments alone. `None` if they are enabled in the recording.
    pub(super) fn expandable(&self) -> Option<&Effect<'a>> {
        self.effects.iter().find(|effect| options(&effect.run.settings) == [EXPANDABLE])
    }

    /// Writes a statement with the fix for the setting that lowers peak reserved most, if there is one.
    pub(super) fn write_best(&self, writer: &mut ReportWriter<'_>) {
        self.lowering().first().into_iter().for_each(|best| best.write(writer));
    }

    /// Returns the sentence of the alarm about the setting that [`Simulated::write_best`] writes, if it lowers peak
    /// reserved by more than one part of `parts`.
    pub(super) fn headline(&self, parts: u64) -> Option<String> {
        let best = self.lowering().first().copied()?;
        let (saved, whole) = (best.worst_change().unsigned_abs(), best.recorded_peak());
        let share = percent(saved, whole);
        (saved > whole / parts).then(|| {
            let start = if best.run.possible_excess(whole).is_some() { "Possible saving: " } else { "Saving: " };
            [start, &*best.name(), ", ", &bytes_text(saved), " of peak reserved (", &share, ")."].concat()
        })
    }

    /// Writes what is known to lower peak reserved, and the effect of expandable segments, which are commonly tried
    /// against fragmentation.
    pub(super) fn write_for_fragmentation(&self, writer: &mut ReportWriter<'_>) {
        self.write_best(writer);
        self.write_expandable_unless_best(writer);
    }

    /// Writes the effect of expandable segments, unless [`Simulated::write_best`] has written it.
    pub(super) fn write_expandable_unless_best(&self, writer: &mut ReportWriter<'_>) {
        let lowering = self.lowering();
        let best = lowering.first().map(|best| &best.run.settings);
        if let Some(expandable) = self.expandable().filter(|it| best != Some(&it.run.settings)) {
            expandable.write(writer);
        }
    }

    /// Writes all that is known about the common settings.
    pub(super) fn write_all(&self, writer: &mut ReportWriter<'_>) {
        // After an OOM, only whether the request would have fitted counts.
        if self.recorded.oom_event.is_some() {
            return;
        }
        let lowering = self.lowering();
        // The default settings are the simplest change.
        for (index, effect) in lowering.iter().enumerate() {
            if index < MAX_FIXES || options(&effect.run.settings).is_empty() {
                effect.write(writer);
            }
        }
        let is_new = |effect: &&Effect<'_>| !lowering.iter().any(|it| it.run.settings == effect.run.settings);
        if let Some(expandable) = self.expandable().filter(is_new) {
            expandable.write(writer);
        }
        let raising = |effect: &&Effect<'_>| effect.raises() && !effect.is_expandable();
        let names: Vec<String> = self.effects.iter().rev().filter(raising).map(Effect::name_with_change).collect();
        if let Some(named) = names.get(..MAX_NAMES.min(names.len())).filter(|named| !named.is_empty()) {
            let more = if names.len() > MAX_NAMES { " …" } else { "." };
            let text = ["Would not help (peak reserved, simulated): ", &named.join("; "), more].concat();
            writer.add_statement(Tone::Fact, text, None);
        }
        if lowering.is_empty() {
            let text = match self.effects.iter().any(|effect| effect.is_undecided()) {
                true => "No common setting is certain to lower peak reserved (simulated).",
                false => "No change suggested: no common setting lowers peak reserved by 64 MiB or 1 % (simulated).",
            };
            writer.add_statement(Tone::Good, text.to_owned(), None);
        }
    }

    /// Writes whether the request that failed at an event would have fitted under other settings.
    pub(super) fn write_for_oom(&self, writer: &mut ReportWriter<'_>, event: u32) {
        let moment = Some(moment_evidence(event.saturating_add(1)));
        if self.recorded.oom_event != Some(event.into()) {
            let first = self.recorded.oom_event.map(|event| Moment::after_event_or_minus_one(event).0);
            let text = match first {
                Some(first) => {
                    let first = moment_text(first);
                    ["Other settings: not known for this request. The simulation ends at the first OOM, ", &first, "."]
                        .concat()
                }
                None => "Other settings: not known for this request.".to_owned(),
            };
            return writer.add_statement(Tone::Fact, text, moment);
        }
        let named = |wanted: fn(&Outcome) -> bool| {
            let runs = self.effects.iter().filter(|effect| wanted(&effect.outcome));
            runs.map(|effect| effect.run).collect::<Vec<&WhatIfRun>>()
        };
        // Settings that certainly help come first.
        let recorded_peak = self.recorded.peak_reserved;
        let fitting = sorted_by_key(named(|it| *it == Outcome::AvoidsOom), |run| {
            let is_uncertain = u64::from(run.possible_excess(recorded_peak).is_some());
            two_part_key((is_uncertain << 32) + run.settings.matches(':').count() as u64, run.peak_reserved)
        });
        if let Some(best) = fitting.first() {
            let text = ["With ", &self.list(&fitting), ", this request would have fitted (simulated)."].concat();
            writer.add_statement(Tone::Fact, text + &doubt(best), moment.clone());
            writer.set_fix(&fix(best, self.recorded, writer.side.backend()));
        }
        let failing = named(|it| matches!(it, Outcome::Fails(_)));
        if !failing.is_empty() {
            let text = ["With ", &self.list(&failing), ", this request would not have fitted (simulated)."];
            writer.add_statement(Tone::Fact, text.concat(), moment.clone());
        }
        let unknown = named(|it| *it == Outcome::Undecided);
        if !unknown.is_empty() {
            let why = match self.answer.has_contradictory_limits {
                _ if self.waits_at_oom => "it depends on when other streams finish",
                true => "no single memory limit explains the requests that failed",
                false => "it depends on the exact memory limit",
            };
            let text =
                ["With ", &self.list(&unknown), ", it is not known whether this request would have fitted: ", why, "."];
            writer.add_statement(Tone::Fact, text.concat(), moment);
        }
    }

    /// Returns whether the run of a plan avoids the OOM at an event. `None` if that is not known.
    pub(super) fn would_fit(&self, event: u32, run: &WhatIfRun) -> Option<bool> {
        if self.recorded.oom_event != Some(event.into()) {
            return None;
        }
        match Effect::new(self.answer, self.recorded, run, self.waits_at_oom).outcome {
            Outcome::AvoidsOom => Some(true),
            Outcome::Fails(_) => Some(false),
            _ => None,
        }
    }

    /// Lists the settings of runs: `a, b or c`.
    fn list(&self, runs: &[&WhatIfRun]) -> String {
        let named = runs.get(..MAX_NAMES.min(runs.len())).unwrap_or_default();
        let mut text = String::new();
        for (index, run) in named.iter().enumerate() {
            text.push_str(match index {
                0 => "",
                _ if index + 1 == runs.len() => " or ",
                _ => ", ",
            });
            text.push_str(&settings_name(run, self.recorded));
        }
        if named.len() < runs.len() {
            text.push_str(&format!(" or {} more", runs.len() - named.len()));
        }
        text
    }
}
