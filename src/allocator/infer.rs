//! Inference of the allocator settings of a recording. Settings in the file come first, then those that the recorded
//! blocks imply, then a few alternatives. The model must reproduce the recording under them.

use super::check::Check;
use super::recording::Recording;
use super::rounding::rounded;
use super::settings::{Backend, BlockOrder, INTERVALS, MIB, NPU_ADDED, NPU_ALIGNED, Settings};
use super::verdict::{Verdict, not_exercised};
use base::slice::{SliceResult, TimeSlice};

/// Inferred settings and how well the model reproduces the recording under them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proof {
    pub settings: Settings,
    pub backend: Backend,
    /// Settings that are not recorded in the file, and how they were inferred.
    pub assumed: Vec<String>,
    pub verdict: Verdict,
    pub not_exercised: Vec<&'static str>,
    /// Reason why nothing can be predicted for this recording, if any.
    pub refused: Option<String>,
    /// True if the recording may have private pools, and the file does not record which memory belongs to them.
    pub guesses_pools: bool,
}

/// Progress of inferring the settings.
#[derive(Clone, Debug, Default)]
pub struct Inference {
    /// Settings to try, each with a list of its assumptions. The last entry is tried next.
    waiting: Vec<(Settings, Backend, Vec<String>)>,
    check: Option<Box<Check>>,
    best: Option<Proof>,
    has_begun: bool,
}

/// A model is rejected if its largest error in reserved bytes exceeds the peak divided by this number.
const WORST_SHARE: u64 = 10;

impl Inference {
    /// Continues the inference until the best settings are found or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(&mut self, recording: &Recording, slice: &mut TimeSlice) -> SliceResult<Proof> {
        if !self.has_begun {
            self.has_begun = true;
            let (settings, backend, assumed) = recorded_settings(recording);
            if let Some(refused) = hopeless(recording) {
                let proof = Proof { settings, backend, assumed, refused: Some(refused), ..Proof::default() };
                return Ok(self.best.insert(Proof { verdict: untested(recording), ..proof }).clone());
            }
            self.waiting = others(recording, &settings, backend, &assumed);
            self.waiting.push((settings, backend, assumed));
        }
        while let Some((settings, backend, assumed)) = self.waiting.last() {
            let new = || Box::new(Check::new(recording, settings, *backend));
            let verdict = self.check.get_or_insert_with(new).step(recording, slice)?;
            self.check = None;
            // If the file records its settings, others win only if they reproduce everything.
            let may_win = recording.settings.is_none() || verdict.is_exact();
            if self.best.as_ref().is_none_or(|best| may_win && verdict.rank() > best.verdict.rank()) {
                let not_exercised = not_exercised(&verdict, settings);
                let (settings, backend, assumed) = (settings.clone(), *backend, assumed.clone());
                self.best = Some(Proof { settings, backend, assumed, verdict, not_exercised, ..Proof::default() });
            }
            self.waiting.pop();
            if self.best.as_ref().is_some_and(|best| best.verdict.is_exact()) {
                self.waiting.clear();
            }
            slice.check()?;
        }
        let mut proof = self.best.clone().unwrap_or_default();
        // No other cause is known of files that record their settings.
        let is_named = recording.names_pools || recording.settings.is_none();
        proof.guesses_pools =
            recording.guesses_pools && !recording.releases.is_empty() || !is_named && !proof.verdict.is_exact();
        proof.refused = proof.refused.or_else(|| unproved(&proof.verdict, !is_named));
        Ok(proof)
    }
}

/// Returns the settings in the file, complemented by settings that the recorded blocks and events imply, and a list of
/// those assumptions.
fn recorded_settings(recording: &Recording) -> (Settings, Backend, Vec<String>) {
    let mut assumed = Vec::new();
    let mut settings = recording.settings.clone().unwrap_or_default();
    if recording.settings.is_none() {
        settings.expandable = recording.has_expandable;
        let words =
            if recording.has_expandable { "not recorded, but seen in the trace" } else { "not recorded: the defaults" };
        assumed.push(words.to_owned());
    }
    let (settings, backend) = rounding(recording, settings, &mut assumed);
    (settings, backend, assumed)
}

/// Finds the rounding settings that best explain the recorded block sizes.
fn rounding(recording: &Recording, recorded: Settings, assumed: &mut Vec<String>) -> (Settings, Backend) {
    let wrong = |settings: &Settings, backend: Backend| {
        recording.rounded.iter().filter(|(asked, size)| rounded(settings, backend, *asked) != *size).count()
    };
    let order = if recording.names_pools { BlockOrder::Segment } else { BlockOrder::Address };
    let plain = Backend { order, ..Backend::default() };
    let mut best = (wrong(&recorded, plain), recorded.clone(), plain, String::new());
    for added in [0, NPU_ADDED] {
        for divisions in [0, 1, 2, 4, 8, 16, 32, 64] {
            let settings = Settings { divisions: [divisions; INTERVALS], ..recorded.clone() };
            let backend = Backend { added, ..plain };
            let count = wrong(&settings, backend);
            if count < best.0 {
                let words = match (added, divisions) {
                    (0, _) => format!("roundup_power2_divisions:{divisions}, seen in block sizes"),
                    (_, 0) => format!("{added} bytes added to each request (torch_npu), seen in block sizes"),
                    _ => format!("roundup_power2_divisions:{divisions} and {added} bytes added, seen in block sizes"),
                };
                best = (count, settings, backend, words);
            }
        }
    }
    if !best.3.is_empty() {
        assumed.push(best.3);
    }
    (best.1, best.2)
}

/// Returns alternatives to try if the model is not exact under `settings`, the most likely one last.
fn others(
    recording: &Recording,
    settings: &Settings,
    backend: Backend,
    assumed: &[String],
) -> Vec<(Settings, Backend, Vec<String>)> {
    let mut tried = Vec::new();
    let mut attempt = |settings: Settings, backend: Backend, words: &str| {
        tried.push((settings, backend, [assumed, &[words.to_owned()]].concat()));
    };
    for size in [64, 40] {
        let size = size * MIB;
        let large = Settings { large_segment: size, non_split: size, ..settings.clone() };
        attempt(large, backend, &format!("large_segment_size_mb:{}, inferred", size / MIB));
    }
    let toggled = Settings { expandable: !settings.expandable, ..settings.clone() };
    attempt(
        toggled,
        backend,
        &format!("expandable_segments:{}, inferred", if settings.expandable { "False" } else { "True" }),
    );
    if recording.settings.is_none() {
        for added in [NPU_ADDED, 0].into_iter().filter(|added| *added != backend.added) {
            attempt(
                settings.clone(),
                Backend { added, aligned: 0, ..backend },
                "bytes added to each request, inferred",
            );
        }
    }
    // Block sizes show torch_npu even if the settings are recorded.
    if settings.expandable && (recording.settings.is_none() || backend.added == NPU_ADDED) {
        let aligned = Backend { added: NPU_ADDED, aligned: NPU_ALIGNED, ..backend };
        attempt(settings.clone(), aligned, "large blocks aligned to 16 KiB (torch_npu), inferred");
    }
    // Files of these versions do not differ otherwise.
    let orders = [
        (BlockOrder::Address, "free blocks of one size ordered by address (PyTorch up to 2.11), inferred"),
        (BlockOrder::Segment, "free blocks of one size ordered by segment (PyTorch 2.13 and later), inferred"),
        (BlockOrder::Block, "free blocks of one size ordered by age (PyTorch 2.12), inferred"),
    ];
    if recording.names_pools {
        for (order, words) in orders.into_iter().filter(|(order, _)| *order != backend.order) {
            attempt(settings.clone(), Backend { order, ..backend }, words);
        }
    }
    tried
}

/// Returns the reason why nothing can be predicted from this recording, if any.
fn hopeless(recording: &Recording) -> Option<String> {
    let Recording { requests, astray, .. } = recording;
    if *requests == 0 {
        return Some("the trace has no allocations".to_owned());
    }
    if !recording.has_segments {
        return Some("the file has no segments".to_owned());
    }
    let lie = if *astray == 1 { "lies" } else { "lie" };
    let addresses = if *requests == 1 { "address" } else { "addresses" };
    let words = || {
        format!(
            "{} of {} {addresses} {lie} in no segment",
            base::units::group_digits(*astray),
            base::units::group_digits(*requests)
        )
    };
    (astray.saturating_mul(WORST_SHARE) > *requests).then(words)
}

fn untested(recording: &Recording) -> Verdict {
    let segment_events = recording.operations.len() as u64;
    Verdict { addresses: recording.requests, segment_events, ..Verdict::default() }
}

/// Returns the reason why a verdict is too inaccurate for predictions, if any.
fn unproved(verdict: &Verdict, guesses_pools: bool) -> Option<String> {
    let Verdict { largest_reserved_error: error, recorded_peak_reserved: peak, .. } = verdict;
    let is_far_off = error.saturating_mul(WORST_SHARE) > *peak;
    let at = verdict
        .departs_at
        .map_or_else(String::new, |event| format!(" from event {}", base::units::group_digits(event.into())));
    let why = if guesses_pools {
        ". Private pools may be the cause: events name their pool in PyTorch 2.12 and later"
    } else {
        ""
    };
    is_far_off.then(|| format!("the simulation is up to {} off{at}{why}", base::units::Bytes(*error)))
}

#[cfg(test)]
#[path = "../../tests/units/allocator/infer.rs"]
mod tests;
