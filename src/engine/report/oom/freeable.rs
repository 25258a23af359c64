//! Memory that the program could have freed before the failed request: leaks, gradients of the last step, and
//! temporaries of the optimizer's step. Each is recounted: whether the request would have fitted in the segments at the
//! OOM without these bytes.

use super::facts::{OomFacts, OomState};
use super::request_pool::RequestPool;
use super::waiting::{free_runs, releasable_bytes};
use crate::report::insight::Given;
use crate::report::leaks::{FIX, LeakingSite, Lifetimes, caller_text, leaking_sites};
use crate::report::savings::{STALE_GRADIENTS_FIX, StaleGradients, is_in_optimizer_step, optimizer_temporaries_fix};
use crate::report::site_sums::label;
use crate::report::writer::{ReportWriter, allocation_evidence, bytes_text, is_notable};
use crate::roles::Role;
use crate::side::Side;
use crate::state::{SegmentSizing, driver_request_size};
use base::slice::{SliceResult, TimeSlice};
use base::units::{Moment, percent};
use history::replay::AllocationId;
use history::snapshot::StackId;
use protocol::{Grouping, Tone};

/// Divisor of the live bytes. A leak that does not explain the OOM alone is reported if it holds more than the
/// quotient.
const MIN_LEAK_PART: u64 = 10;

/// Allocations that are live at an OOM and could have been freed before it, by reason. All ids are ascending.
pub(super) struct Freeable {
    moment: u32,
    roles: Vec<Role>,
    stale_gradients: StaleGradients,
    lifetimes: Lifetimes,
    leaks: Option<Vec<(LeakingSite, Vec<u32>)>>,
    stale: Vec<u32>,
    temporaries: Vec<u32>,
    /// Stack of the last temporary, and whether it is in the optimizer's step.
    last_stack: (StackId, bool),
}

/// Allocations that could have been freed, and the outcome.
struct Freed<'a> {
    ids: &'a [u32],
    bytes: u64,
    /// True if the request would have fitted. `None` if that is not known.
    fits: Option<bool>,
}

impl Freeable {
    /// Creates empty lists for the state at a moment.
    pub(super) fn new(&Given { side, question, .. }: &Given<'_>, moment: u32) -> Freeable {
        let names = side.file.groups.categories.set().categories();
        let (stale_gradients, leaks, stale, temporaries) = Default::default();
        Freeable {
            moment,
            roles: names.iter().map(|name| Role::from_name(name)).collect(),
            stale_gradients,
            lifetimes: Lifetimes::new(side, question),
            leaks,
            stale,
            temporaries,
            last_stack: (StackId::NONE, false),
        }
    }

    /// Continues searching for gradients of the last step and for leaks.
    pub(super) fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        let side = given.side;
        let roles = &self.roles;
        self.stale_gradients.step(side, |id| role_of(roles, side, id), slice)?;
        if self.leaks.is_none() {
            self.lifetimes.step(side, slice)?;
            let sites = leaking_sites(side, given.growth, &self.lifetimes);
            self.leaks = Some(sites.into_iter().map(|site| (site, Vec::new())).collect());
        }
        Ok(())
    }

    /// Adds an allocation that is live at the OOM.
    pub(super) fn add(&mut self, side: Side<'_>, id: AllocationId) {
        let Freeable { moment, roles, stale_gradients, leaks, stale, temporaries, last_stack, .. } = self;
        let leaks = leaks.iter_mut().flatten();
        if side.history.allocations.freed_at(id).is_none() && side.device_data().awaiting_free(id).is_none() {
            let group = side.group(Grouping::CallSite, id);
            let allocated_at = side.history.allocations.allocated_at(id).0;
            let mut leaks = leaks.filter(|(site, _)| site.group == group && site.from < allocated_at);
            if let Some((_, ids)) = leaks.find(|(site, _)| allocated_at <= site.to) {
                ids.push(id.0);
            }
        }
        match role_of(roles, side, id) {
            Role::Gradient if stale_gradients.is_stale_at(side.history, id, Moment(*moment)) => stale.push(id.0),
            Role::Temporary => {
                let stack = side.stack(id);
                if last_stack.0 != stack {
                    *last_stack = (stack, is_in_optimizer_step(side, id));
                }
                temporaries.extend(last_stack.1.then_some(id.0));
            }
            _ => {}
        }
    }

    /// Writes the leaks without which the request would have fitted, or else the other large ones.
    pub(super) fn write_leaks(
        &self,
        writer: &mut ReportWriter<'_>,
        (facts, oom): (&OomFacts, &OomState),
        given: &Given<'_>,
        is_cause: bool,
    ) {
        let side = given.side;
        for (site, ids) in self.leaks.iter().flatten() {
            let Some(freed) = Freed::new(ids, (facts, oom), given) else { continue };
            let is_large = freed.bytes > facts.live / MIN_LEAK_PART;
            if is_cause != (freed.fits == Some(true)) || !(is_cause || is_large) {
                continue;
            }
            let stack = side.stack(AllocationId(*ids.last().unwrap_or(&0)));
            let text = format!(
                "{}{} holds {} of the live memory at the OOM ({}, {} a leak). {}",
                label(side, site.group),
                caller_text(side.snapshot(), stack),
                bytes_text(freed.bytes),
                percent(freed.bytes, facts.live),
                if site.is_likely { "likely" } else { "possibly" },
                freed.outcome("Without it", facts),
            );
            freed.write(writer, if is_cause { Tone::Alarm } else { Tone::Fact }, text, self.moment);
            writer.set_fix(FIX);
        }
    }

    /// Writes the gradients of the last step.
    pub(super) fn write_stale_gradients(
        &self,
        writer: &mut ReportWriter<'_>,
        at_oom: (&OomFacts, &OomState),
        given: &Given<'_>,
    ) {
        let Some(freed) = Freed::new(&self.stale, at_oom, given) else { return };
        let text = format!(
            "{} of the last step's gradients are live at the OOM. {}",
            bytes_text(freed.bytes),
            freed.outcome("With zero_grad(set_to_none=True) before the forward pass", at_oom.0)
        );
        freed.write(writer, Tone::Fact, text, self.moment);
        writer.set_fix(STALE_GRADIENTS_FIX);
    }

    /// Writes the temporaries of the optimizer's step.
    pub(super) fn write_temporaries(
        &self,
        writer: &mut ReportWriter<'_>,
        at_oom: (&OomFacts, &OomState),
        given: &Given<'_>,
    ) {
        let Some(freed) = Freed::new(&self.temporaries, at_oom, given) else { return };
        let text = format!(
            "Temporaries of the optimizer's step: {} at the OOM. {}",
            bytes_text(freed.bytes),
            freed.outcome("Without them", at_oom.0)
        );
        freed.write(writer, Tone::Fact, text, self.moment);
        // Advice whose outcome is not known would be a guess.
        if let Some(&first) = freed.ids.first().filter(|_| freed.fits == Some(true)) {
            writer.set_fix(&optimizer_temporaries_fix(given.side, AllocationId(first)));
        }
    }
}

impl<'a> Freed<'a> {
    /// Returns `None` if the allocations have too few bytes for a statement.
    fn new(ids: &'a [u32], (facts, oom): (&OomFacts, &OomState), given: &Given<'_>) -> Option<Freed<'a>> {
        let size = |&id: &u32| given.side.history.allocations.size(AllocationId(id));
        let bytes = ids.iter().fold(0u64, |sum, id| sum.saturating_add(size(id)));
        let fits = || {
            let left = facts.live.saturating_sub(bytes).saturating_add(facts.request);
            let is_too_large = facts.accounted().is_some_and(|accounted| left > accounted);
            if fits_without(ids, (facts, oom), given) { Some(true) } else { is_too_large.then_some(false) }
        };
        is_notable(bytes, facts.live).then(|| Freed { ids, bytes, fits: fits() })
    }

    /// Returns the sentence on what stays live, and whether the request would have fitted.
    fn outcome(&self, condition: &str, facts: &OomFacts) -> String {
        let [without, live] = [facts.live.saturating_sub(self.bytes), facts.live].map(bytes_text);
        let outcome = match self.fits {
            Some(true) => "this request would have fitted",
            Some(false) => "this request would not have fitted",
            None => "not known whether this request would have fitted",
        };
        format!("{condition}, {without} instead of {live} live (recounted); {outcome}.")
    }

    /// Writes a statement. A click selects the newest of the allocations.
    fn write(&self, writer: &mut ReportWriter<'_>, tone: Tone, text: String, moment: u32) {
        let evidence = self.ids.last().map(|&id| allocation_evidence(id, Some(moment)));
        writer.add_statement(tone, text, evidence);
    }
}

fn role_of(roles: &[Role], side: Side<'_>, id: AllocationId) -> Role {
    let category = side.group(Grouping::Category, id).checked_sub(1);
    category.and_then(|index| roles.get(index as usize).copied()).unwrap_or(Role::Other)
}

/// Returns whether the failed request would have fitted in a free block, or in a new segment, after these allocations
/// were freed. False if that is not certain.
fn fits_without(ids: &[u32], (facts, oom): (&OomFacts, &OomState), given: &Given<'_>) -> bool {
    let side = given.side;
    let pool = RequestPool::new(side, facts, oom, given.segments);
    let rounded = side.file.rounding.rounded(facts.request);
    let (mut released, mut sizing) = (0u64, SegmentSizing::Fixed);
    for segment in &oom.state.segments {
        let Some(kind) = given.segments.kinds().get(segment.kind as usize) else { continue };
        let is_served = pool.is_served_by(kind);
        sizing = if is_served && kind.expandable { SegmentSizing::Expandable } else { sizing };
        for (range, freed) in free_runs(&oom.state, segment, ids) {
            if is_served && !freed.is_empty() && range.end - range.start >= rounded {
                return true;
            }
            released = released.saturating_add(releasable_bytes(kind, segment, &range));
        }
    }
    let needed = driver_request_size(rounded, sizing);
    // If the device had enough free, a memory fraction limits the process.
    let free = facts.device_free.filter(|&free| free < needed).unwrap_or(0);
    pool.releases_cached() && free.saturating_add(released) >= needed
}
