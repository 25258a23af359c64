//! Finds the steps and modules of a [`Side`] of a comparison, by the same rules as in the reports.

use super::modules::ModuleTree;
use super::step_finder::{StepFinder, StepRule};
use crate::side::Side;
use base::slice::{SliceResult, TimeSlice};
use history::snapshot::StackId;
use protocol::Span;

/// Search for the training steps of a device.
pub struct StepSearch(StepFinder);

impl StepSearch {
    /// Creates a search for the training steps of the device with this ordinal.
    pub fn new(device: i64) -> StepSearch {
        StepSearch(StepFinder::new(device))
    }

    /// Continues searching until the steps are found or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the search.
    pub fn step(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult {
        self.0.step(side.file, slice)
    }

    /// Returns the steps in ascending order. They do not overlap.
    pub fn spans(&self) -> &[Span] {
        &self.0.steps.spans
    }

    /// Returns the text of a step's annotation. `None` if the steps do not come from annotations.
    pub fn name(&self, side: &Side, number: usize) -> Option<String> {
        self.0.steps.annotation_text(*side, number)
    }

    /// Returns the name of the rule that found the steps. Steps of two files are only comparable if the same rule found
    /// them.
    pub fn rule(&self) -> &'static str {
        match self.0.steps.rule {
            StepRule::NotFound | StepRule::NoEvents | StepRule::NoStacks | StepRule::Repeats(..) => "none",
            StepRule::Annotations(_) => "annotations",
            StepRule::BetweenAnnotations(_) => "the ends of annotations",
            StepRule::Optimizer => "optimizer steps",
            StepRule::Stack(..) => "stacks that repeat at even intervals",
        }
    }
}

/// Search for the modules of a file.
#[derive(Default)]
pub struct ModuleSearch(ModuleTree);

impl ModuleSearch {
    /// Continues searching until the modules are found or the time slice is used up.
    ///
    /// # Errors
    /// Returns an error if the time slice is used up. Another call continues the search.
    pub fn step(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult {
        self.0.step(side.snapshot(), slice)
    }

    /// Returns the number of modules, including module 0, which represents code outside of modules.
    pub fn count(&self) -> u32 {
        self.0.modules.len() as u32
    }

    /// Returns the index of a stack's innermost module, or 0 if the stack is outside of modules.
    pub fn module_of(&self, stack: StackId) -> u32 {
        self.0.module_of(stack)
    }

    /// Returns the index of a module's parent, and the name of the module. A parent has a lower index than its
    /// children.
    pub fn parent_and_name(&self, side: &Side, number: u32) -> Option<(u32, String)> {
        let module = self.0.modules.get(number as usize).filter(|_| number > 0)?;
        let (class, calls) = (module.class(side.snapshot()), module.call_location(side.snapshot()));
        Some((module.parent, if calls.is_empty() { class } else { [&class, ", called at ", &calls].concat() }))
    }
}
