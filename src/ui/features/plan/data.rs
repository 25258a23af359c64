//! The rows of a plan as typed, and the question that they form.

use crate::planned::Drawn;
use crate::typed_size::{capitalised, typed_size};
use engine::protocol::{Factor, PlanGroup, PlanQuestion, Preset, WhatIf, read_factor};
use std::rc::Rc;

/// Maximum number of rows in a plan. The engine accepts a few more groups.
pub(super) const MOST_ROWS: usize = 16;
/// Maximum number of steps that can be undone.
const MOST_STEPS: usize = 100;

/// State of the planner.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub rows: Vec<Row>,
    /// Rows before each step, for undo.
    pub(crate) past: Vec<Vec<Row>>,
    /// Text of the capacity field.
    pub capacity: String,
    /// Number of the open comparison if its A is the planned device. The sequence preset then uses the measured
    /// growth.
    pub(crate) measured: Option<u32>,
    /// Serial and plan of the pending simulation.
    pub(crate) asked: Option<(u32, PlanQuestion)>,
    /// Result of the last simulation, with its plan. `None` if the simulation failed.
    pub(crate) simulated: Option<(PlanQuestion, Option<Rc<WhatIf>>)>,
}

/// A row of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub what: What,
    /// The factor or the number of the preset, as typed.
    pub by: String,
}

/// Subject of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A category or a search.
    Group(String),
    Preset(Preset),
}

/// A text field in a row of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Group,
    By,
}

/// Events of the planner, and of the curve drawn over the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanAction {
    /// Text of a field in the row at this index.
    Typed(usize, Field, String),
    GroupAdded,
    PresetAdded(Preset),
    Removed(usize),
    Cleared,
    Undone,
    CapacityTyped(String),
    Drawn(Drawn),
}

impl Row {
    pub(super) fn type_in(&mut self, field: Field, text: String) {
        match (field, &mut self.what) {
            (Field::Group, What::Group(group)) => *group = text,
            (Field::Group, What::Preset(_)) => {}
            (Field::By, _) => self.by = text,
        }
    }

    /// Returns the row as written in links and on the command line.
    pub(super) fn written(&self) -> String {
        match &self.what {
            What::Group(group) => [group, "=", &self.by].concat(),
            What::Preset(preset) if preset.has_number() => [preset.name(), "=", &self.by].concat(),
            What::Preset(preset) => preset.name().to_owned(),
        }
    }

    /// Returns true if nothing has been typed.
    pub(super) fn is_empty(&self) -> bool {
        self.by.trim().is_empty() && matches!(&self.what, What::Group(group) if group.trim().is_empty())
    }

    /// Adds the row to a question.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the row, as part of a sentence.
    fn add_to(&self, question: &mut PlanQuestion, measured: Option<u32>) -> Result<(), String> {
        let by = match &self.what {
            What::Preset(preset) if !preset.has_number() => Factor::ONE,
            _ => read_factor(&self.by)?,
        };
        match &self.what {
            What::Group(group) if group.trim().is_empty() => return Err("expected a category or a search".to_owned()),
            What::Group(group) => question.groups.push((PlanGroup::Named(group.trim().to_owned()), by)),
            What::Preset(preset) => match measured.filter(|_| *preset == Preset::Sequence) {
                Some(comparison) => question.groups.push((PlanGroup::Measured(comparison), by)),
                None if !preset.add_to(question, by) => {
                    return Err("the number is too large or too small".to_owned());
                }
                None => {}
            },
        }
        Ok(())
    }

    /// Returns the error of the row as a sentence. Empty if the row is valid or empty.
    pub(super) fn error(&self) -> String {
        let error = self.add_to(&mut PlanQuestion::default(), None).err().filter(|_| !self.is_empty());
        error.map_or_else(String::new, |error| capitalised(&error) + ".")
    }
}

impl Plan {
    pub(super) fn add(&mut self, what: What, by: &str) {
        if self.rows.len() < MOST_ROWS {
            self.rows.push(Row { what, by: by.to_owned() });
        }
    }

    /// Records the rows before a step, for undo.
    pub(super) fn remember(&mut self, before: Vec<Row>) {
        if self.past.len() >= MOST_STEPS {
            self.past.remove(0);
        }
        self.past.push(before);
    }

    /// Returns the typed capacity, or else that of the picture. In bytes.
    pub(super) fn capacity(&self, of_picture: Option<u64>) -> Option<u64> {
        typed_size(&self.capacity).ok().flatten().or(of_picture)
    }

    /// Returns the question. `None` if nothing is planned or a row is invalid.
    pub(super) fn question(&self, capacity: Option<u64>) -> Option<PlanQuestion> {
        let mut question = PlanQuestion { capacity: self.capacity(capacity), ..PlanQuestion::default() };
        let mut rows = self.rows.iter().filter(|row| !row.is_empty()).peekable();
        if rows.peek().is_none() && question.capacity.is_none() {
            return None;
        }
        rows.try_for_each(|row| row.add_to(&mut question, self.measured)).ok()?;
        Some(question)
    }

    /// Returns the presets among the rows.
    pub(super) fn presets(&self) -> impl Iterator<Item = Preset> {
        self.rows.iter().filter_map(|row| match row.what {
            What::Preset(preset) => Some(preset),
            What::Group(_) => None,
        })
    }
}
