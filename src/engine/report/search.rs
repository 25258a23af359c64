//! Steps and modules of a [`Side`] of a comparison, found by the same rules as in the reports.

use super::modules::ModuleTree;
use super::steps::{StepFinder, StepRule};
use crate::protocol::Span;
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use history::snapshot::StackId;

/// Search for the steps of a device.
pub struct StepSearch(StepFinder);

impl StepSearch {
    /// Creates a search for the device with this ordinal.
    pub fn new(device: i64) -> StepSearch {
        StepSearch(StepFinder::new(device))
    }

    /// Continues the search.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult {
        self.0.step(side.file, slice)
    }

    /// Returns the steps in ascending order, without overlap.
    pub fn spans(&self) -> &[Span] {
        &self.0.steps.spans
    }

    /// Returns the text of the annotation of a step, or `None` if steps have no annotations of their own.
    pub fn name(&self, side: &Side, number: usize) -> Option<String> {
        self.0.steps.annotation_text(side.file, side.history, number)
    }

    /// Returns the name of the rule that found the steps. Steps of two files are comparable only if the rule is the
    /// same.
    pub fn rule(&self) -> &'static str {
        match self.0.steps.rule {
            StepRule::NotFound => "none",
            StepRule::Annotations(_) => "annotations",
            StepRule::BetweenAnnotations(_) => "the ends of annotations",
            StepRule::Stack(..) => "stacks that repeat at even intervals",
        }
    }
}

/// Search for the modules of a file.
#[derive(Default)]
pub struct ModuleSearch(ModuleTree);

impl ModuleSearch {
    /// Continues the search.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult {
        self.0.step(side.snapshot(), slice)
    }

    /// Returns the number of modules, including number 0 for no module.
    pub fn count(&self) -> u32 {
        self.0.modules.len() as u32
    }

    /// Returns the number of the module of a stack, or 0 if it has none.
    pub fn module_of(&self, stack: StackId) -> u32 {
        self.0.module_of(stack)
    }

    /// Returns the parent of a module and the module's own name. The parent has a lower number.
    pub fn parent_and_name(&self, side: &Side, number: u32) -> Option<(u32, String)> {
        let module = self.0.modules.get(number as usize).filter(|_| number > 0)?;
        let (class, calls) = (module.class(side.snapshot()), module.call_location(side.snapshot()));
        Some((module.parent, if calls.is_empty() { class } else { [&class, ", called at ", &calls].concat() }))
    }
}
