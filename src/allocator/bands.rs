//! Uncertainty of a prediction. Segment addresses, the memory limit and the allocations made before recording are only
//! partly known, so a run is repeated for several possible values.

use super::addresses::Order;
use super::plan::{Outcome, Plan, StartState};
use super::recording::Recording;
use super::run::Run;
use super::settings::{BlockOrder, Limits};
use base::slice::{SliceResult, TimeSlice};

/// Progress of simulating a run and its repetitions under other assumptions.
#[derive(Clone, Debug, Default)]
pub struct Band {
    run: Option<Box<Run>>,
    done: Vec<Outcome>,
    /// True if the order of addresses makes no difference to the run.
    ignores_order: bool,
}

/// Unknown inputs of a run, which is repeated for their possible values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Limits with the lowest memory that is consistent with the recording. The run's own plan has the highest memory.
    pub low: Option<Limits>,
    /// State before the first event. `None` if nothing was allocated or reserved then.
    pub start: Option<Start>,
}

/// Properties of the state before the first event that bound a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Reserved bytes that are not in live blocks.
    pub idle: u64,
    /// Recorded peak of reserved bytes if the run has the recorded requests, otherwise 0.
    pub recorded_peak: u64,
    /// True if the recorded segments can be kept, because the run's settings create the same kind of segments.
    pub may_keep: bool,
}

/// Result of a run and its repetitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Banded {
    /// Outcome with the highest memory limit.
    pub outcome: Outcome,
    /// Outcome with the lowest memory limit, if it differs.
    pub low: Option<Outcome>,
    /// Lowest and highest predicted peak of reserved bytes.
    pub band: [u64; 2],
}

impl Band {
    /// Continues simulating the run and its repetitions until all are complete or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up.
    pub fn step(
        &mut self,
        recording: &Recording,
        plan: &Plan,
        doubts: Doubts,
        slice: &mut TimeSlice,
    ) -> SliceResult<Banded> {
        let plans = plans(plan, doubts);
        while let Some((kind, repetition)) = plans.get(self.done.len()) {
            if let Some(main) = self.done.first().filter(|main| self.is_irrelevant(*kind, main, plan, doubts)) {
                let same = main.clone();
                self.done.push(same);
                self.run = None;
                continue;
            }
            let run = self.run.get_or_insert_with(|| Box::new(Run::new(recording, repetition)));
            run.step(recording, slice)?;
            self.done.push(run.outcome().clone());
            if *kind == Kind::Main {
                self.ignores_order = plan.start == StartState::Fresh && run.allocator().ignores_addresses();
            }
            match plans.get(self.done.len()) {
                Some((Kind::Continued, _)) => run.repeat(),
                _ => self.run = None,
            }
        }
        let outcome = self.done.first().cloned().unwrap_or_default();
        let kinds = || plans.iter().map(|(kind, _)| *kind).zip(&self.done);
        let low = kinds().find(|(kind, _)| *kind == Kind::LowLimit).map(|(_, low)| low);
        let is_start = |kind: Kind| matches!(kind, Kind::Start | Kind::Continued);
        let peaks = || kinds().filter(|(kind, _)| !is_start(*kind)).map(|(_, outcome)| outcome.peak_reserved);
        let mut band = [peaks().min().unwrap_or(0), peaks().max().unwrap_or(0)];
        if let Some(start) = doubts.start {
            let highest = self.done.iter().map(|outcome| outcome.peak_reserved).max().unwrap_or(0);
            band = start.bounds(&outcome, highest, plan);
        }
        let low = low.filter(|low| low.summary() != outcome.summary()).cloned();
        Ok(Banded { outcome, low, band })
    }

    /// Returns true if the result of a repetition cannot change the band, given the outcome of the main run.
    fn is_irrelevant(&self, kind: Kind, main: &Outcome, plan: &Plan, doubts: Doubts) -> bool {
        let reaches_limit = |start: Start| start.upper_bound(main.peak_reserved) >= upper_limit(plan);
        match kind {
            Kind::Main | Kind::LowLimit => false,
            Kind::Order if self.ignores_order => true,
            _ => doubts.start.is_some_and(reaches_limit),
        }
    }
}

impl Start {
    /// Returns the lowest and highest possible peak. `highest` is the highest peak of the repetitions.
    fn bounds(self, outcome: &Outcome, highest: u64, plan: &Plan) -> [u64; 2] {
        let peak = outcome.peak_reserved;
        [outcome.peak_rounded.min(peak), self.upper_bound(highest).min(upper_limit(plan)).max(peak)]
    }

    /// Returns the highest possible peak without a memory limit. `highest` is the highest peak of the repetitions.
    fn upper_bound(self, highest: u64) -> u64 {
        // Measured: of 275 late recordings, all peaks were below.
        highest.max(self.recorded_peak).saturating_add(self.idle).saturating_mul(13) / 10
    }
}

/// Returns the bytes that a run can reserve at most.
fn upper_limit(plan: &Plan) -> u64 {
    // Up to a page more may be mapped than a fraction allows.
    let allowed = plan.limits.allowed.map(|allowed| allowed.saturating_add(plan.settings.large_segment));
    plan.limits.capacity.into_iter().chain(allowed).min().unwrap_or(u64::MAX)
}

/// Input that is varied in a repetition of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    /// Second pass of the run before, which starts with the memory that the first pass left cached.
    Continued,
    Order,
    LowLimit,
    Start,
}

/// Returns the plans of the run and its repetitions.
fn plans(plan: &Plan, doubts: Doubts) -> Vec<(Kind, Plan)> {
    let mut plans = Vec::new();
    let is_fresh = plan.start == StartState::Fresh;
    add(&mut plans, Kind::Main, plan).counts_rounded = doubts.start.is_some();
    if doubts.start.is_some() && is_fresh {
        add(&mut plans, Kind::Continued, plan);
    }
    // From PyTorch 2.13 on the age of segments decides, not their address.
    if plan.backend.order != BlockOrder::Segment && plan.order != Order::Recorded {
        let opposite = match plan.order {
            Order::Highest | Order::Descending => Order::Lowest,
            _ => Order::Highest,
        };
        for order in [opposite, Order::Mixed] {
            add(&mut plans, Kind::Order, plan).order = order;
        }
    }
    if let Some(limits) = doubts.low {
        add(&mut plans, Kind::LowLimit, plan).limits = limits;
    }
    if let Some(start) = doubts.start {
        if !is_fresh {
            add(&mut plans, Kind::Start, plan).start = StartState::Fresh;
            add(&mut plans, Kind::Continued, plan);
        } else if start.may_keep {
            add(&mut plans, Kind::Start, plan).start = StartState::Kept;
        }
    }
    plans
}

/// Appends a copy of `plan` and returns it, to be modified by the caller.
fn add<'a>(plans: &'a mut Vec<(Kind, Plan)>, kind: Kind, plan: &Plan) -> &'a mut Plan {
    plans.push((kind, Plan { keeps_curve: false, ..plan.clone() }));
    let last = plans.len() - 1;
    &mut plans[last].1
}
