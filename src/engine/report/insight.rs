//! Contract between an insight and the driver in `mod.rs`.

use super::fragmentation::FreeMemory;
use super::leaks::Growth;
use super::oom_plans::OomPlanEffect;
use super::step_finder::StepFinder;
use super::writer::ReportWriter;
use crate::phases::PhaseFinder;
use crate::side::Side;
use base::later::gate;
use base::slice::{SliceResult, TimeSlice};
use history::replay::SegmentLifetimes;
use protocol::{ReportQuestion, WhatIf};

/// An insight, with its partial results.
pub(super) trait Insight: Sized {
    /// Shared results that must be complete before the insight starts.
    const NEEDS: &'static [Need];

    /// Creates an insight without partial results.
    fn new(given: &Given<'_>) -> Self;

    /// Continues computing the results.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the computation.
    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult;

    /// Writes the statements and tables from the complete results.
    fn write(self, given: &Given<'_>, writer: &mut ReportWriter<'_>);
}

/// A result that insights share. The driver computes it once per device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Categories of all allocations.
    Categories,
    /// Stacks of the forward pass.
    Forward,
    /// [`Given::segments`].
    Segments,
    /// [`Given::steps`].
    Steps,
    /// [`Given::growth`].
    Growth,
    /// [`Given::phases`].
    Phases,
    /// [`Given::free_memory`].
    FreeMemory,
    /// [`Given::simulation`].
    Simulation,
    /// [`Given::plans`].
    OomPlans,
}

/// Device and question of an insight, and the shared results that it needs. Others may be incomplete.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) side: Side<'a>,
    pub(super) question: &'a ReportQuestion,
    /// Mapped ranges over time.
    pub(super) segments: &'a SegmentLifetimes,
    /// Training steps and placed annotations.
    pub(super) steps: &'a StepFinder,
    /// Phases of the training steps.
    pub(super) phases: &'a PhaseFinder,
    /// Growth of each call site from step to step.
    pub(super) growth: Option<&'a Growth>,
    /// Free and stranded bytes over the trace.
    pub(super) free_memory: Option<&'a FreeMemory>,
    /// Simulation under the recorded settings and under common settings. `None` if the engine has no simulator and the
    /// question has no simulation.
    pub(super) simulation: Option<&'a WhatIf>,
    /// Effects of plans on the OOMs of the trace.
    pub(super) plans: &'a [OomPlanEffect],
}

/// An [`Insight`] as an object.
pub(super) trait Running {
    /// See [`Insight::step`].
    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult;

    /// See [`Insight::write`].
    fn write(self: Box<Self>, given: &Given<'_>, writer: &mut ReportWriter<'_>);
}

impl<I: Insight> Running for I {
    fn step(&mut self, given: &Given<'_>, slice: &mut TimeSlice) -> SliceResult {
        gate(|| Insight::step(self, given, slice))
    }

    fn write(self: Box<Self>, given: &Given<'_>, writer: &mut ReportWriter<'_>) {
        gate(|| Insight::write(*self, given, writer));
    }
}
