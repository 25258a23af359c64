//! Results that several insights share. They are computed once per device.

use super::fragmentation::FreeMemory;
use super::insight::{Given, Need};
use super::leaks::Growth;
use super::oom_plans::OomPlans;
use super::step_finder::StepFinder;
use crate::open::OpenFile;
use crate::phases::PhaseFinder;
use crate::recorder_facts::available_without_oom;
use crate::what_if::{NewSimulator, Simulator};
use base::slice::{SliceResult, TimeSlice};
use protocol::{ReportQuestion, WhatIf, WhatIfQuestion};

/// Returns the question whose answer is [`Given::simulation`].
pub(super) fn common_settings(file: &OpenFile, device: i64) -> WhatIfQuestion {
    let history = file.history(device);
    WhatIfQuestion::common_settings(history.and_then(|history| available_without_oom(&file.snapshot, history)))
}

/// Results for one device that are shared by several insights.
pub(super) struct SharedResults {
    pub(super) device: i64,
    steps: StepFinder,
    phases: PhaseFinder,
    growth: Option<Growth>,
    pub(super) free_memory: Option<FreeMemory>,
    /// Simulator while it computes `simulation`.
    simulator: Option<Box<dyn Simulator>>,
    pub(super) simulation: Option<WhatIf>,
    plans: OomPlans,
}

base::heap_bytes!(SharedResults: steps, phases, growth, free_memory, simulator);

impl SharedResults {
    /// Creates empty results for the device with the ordinal `device`.
    pub(super) fn new(device: i64) -> SharedResults {
        let (growth, free_memory, simulator, simulation, plans) = Default::default();
        let (steps, phases) = (StepFinder::new(device), PhaseFinder::default());
        SharedResults { device, steps, phases, growth, free_memory, simulator, simulation, plans }
    }

    /// Drops the results that depend on categories.
    pub(super) fn forget_categories(&mut self) {
        self.plans = OomPlans::default();
    }

    /// Continues computing a result until it is complete or the time slice is used up.
    pub(super) fn compute(
        &mut self,
        need: Need,
        file: &mut OpenFile,
        new_simulator: Option<NewSimulator>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        match need {
            Need::Categories => file.categorize(slice)?,
            Need::Forward => file.find_forward(slice)?,
            Need::Segments => file.compute_segments(self.device, slice)?,
            Need::Steps | Need::Phases | Need::Growth => {
                file.find_backward(slice)?;
                self.compute_from_events(need, file, slice)?;
            }
            Need::FreeMemory => {
                file.compute_segments(self.device, slice)?;
                self.compute_from_events(need, file, slice)?;
            }
            Need::Simulation => {
                if let Some(new) = new_simulator.filter(|_| self.simulation.is_none()) {
                    file.compute_segments(self.device, slice)?;
                    let question = common_settings(file, self.device);
                    let simulator = self.simulator.get_or_insert_with(new);
                    self.simulation = simulator.answer(file, self.device, &question, &mut |_| {}, slice)?;
                    self.simulator = None;
                }
            }
            Need::OomPlans => {
                self.plans.step(file, self.device, (&mut self.simulator, new_simulator), slice)?;
                self.simulator = None;
            }
        }
        Ok(())
    }

    /// Continues computing a result that only reads the file. [`OpenFile::find_backward`] and
    /// [`OpenFile::compute_segments`] must have finished.
    pub(super) fn compute_from_events(&mut self, need: Need, file: &OpenFile, slice: &mut TimeSlice) -> SliceResult {
        match need {
            Need::Steps => self.steps.step(file, slice),
            Need::Phases => file.side(self.device).map_or(Ok(()), |side| self.phases.step(&side, slice)),
            Need::Growth => {
                self.steps.step(file, slice)?;
                let Some(side) = file.side(self.device) else { return Ok(()) };
                let new = || Growth::new(side, &self.steps.steps);
                self.growth.get_or_insert_with(new).step(side, slice)
            }
            Need::FreeMemory => {
                let given = file.side(self.device).zip(file.segments(self.device));
                let Some((side, segments)) = given else { return Ok(()) };
                let new = || FreeMemory::new(side, segments);
                self.free_memory.get_or_insert_with(new).step(side, segments, slice)
            }
            _ => Ok(()),
        }
    }

    /// Returns the results for an insight. `None` if the file does not have the device.
    pub(super) fn given<'a>(&'a self, file: &'a OpenFile, question: &'a ReportQuestion) -> Option<Given<'a>> {
        Some(Given {
            side: file.side(self.device)?,
            question,
            segments: file.segments(self.device)?,
            steps: &self.steps,
            phases: &self.phases,
            growth: self.growth.as_ref(),
            free_memory: self.free_memory.as_ref(),
            simulation: match &question.simulations {
                Some(simulations) => Some(&simulations.settings),
                None => self.simulation.as_ref(),
            },
            plans: &self.plans.effects,
        })
    }
}
