//! Steps and modules of a [`Side`], found as the insights find them.

use super::modules::Tree;
use super::steps::{Finding, How};
use crate::protocol::Span;
use crate::side::Side;
use base::slice::{Slice, Sliced};
use history::snapshot::StackId;

/// The search for the steps of a device.
pub struct StepSearch(Finding);

impl StepSearch {
    /// Of the device with this ordinal.
    pub fn new(device: i64) -> StepSearch {
        StepSearch(Finding::new(device))
    }

    /// Searches.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, side: &Side, slice: &mut Slice) -> Sliced {
        self.0.step(side.file, slice)
    }

    /// The steps, ascending; none overlap.
    pub fn spans(&self) -> &[Span] {
        &self.0.steps.spans
    }

    /// What the annotation of a step says; `None` where steps have none of their own.
    pub fn name(&self, side: &Side, number: usize) -> Option<String> {
        self.0.steps.name(side.file, side.history, number)
    }

    /// How they were found: steps of two files that were found in different ways are not compared.
    pub fn way(&self) -> &'static str {
        match self.0.steps.found {
            How::Nothing => "none",
            How::Annotations(_) => "annotations",
            How::Between(_) => "the ends of annotations",
            How::Stack(..) => "stacks that repeat at even intervals",
        }
    }
}

/// The search for the modules of a file.
#[derive(Default)]
pub struct ModuleSearch(Tree);

impl ModuleSearch {
    /// Searches.
    ///
    /// # Errors
    /// The time is up.
    pub fn step(&mut self, side: &Side, slice: &mut Slice) -> Sliced {
        self.0.step(side.snapshot(), slice)
    }

    /// How many modules there are, the one that stands for none included.
    pub fn count(&self) -> u32 {
        self.0.modules.len() as u32
    }

    /// The module of a stack; 0: none.
    pub fn of(&self, stack: StackId) -> u32 {
        self.0.of(stack)
    }

    /// The module around one, which has a lower number, and what this one is called.
    pub fn named(&self, side: &Side, number: u32) -> Option<(u32, String)> {
        let module = self.0.modules.get(number as usize).filter(|_| number > 0)?;
        let (class, calls) = (module.class(side.snapshot()), module.calls(side.snapshot()));
        Some((module.parent, if calls.is_empty() { class } else { [&class, ", called at ", &calls].concat() }))
    }
}
