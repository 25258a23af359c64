//! The rows of a plan as typed, and the request that is built from them.

use crate::plot::planned::DrawnCurve;
use crate::text::size_text::{capitalize, parse_size};
use protocol::{Factor, PlanGroup, PlanQuestion, Preset, WhatIf, read_factor};
use std::rc::Rc;

/// Maximum number of rows in a plan. Lower than the engine's maximum number of groups.
pub(super) const MAX_ROWS: usize = 16;
/// Maximum number of edits that can be undone.
const MAX_UNDO: usize = 100;

/// State of the planner.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub rows: Vec<EditedRow>,
    /// Rows before each edit, for undo.
    pub(crate) undo: Vec<Vec<EditedRow>>,
    /// Text of the capacity field.
    pub capacity: String,
    /// Id of the open comparison, if the plan is for its device A. The preset for the sequence length then uses the
    /// growth measured from A to B.
    pub(crate) comparison: Option<u32>,
    /// Serial number and plan of the pending simulation.
    pub(crate) pending: Option<(u32, PlanQuestion)>,
    /// Plan of the last simulation, with its result. The result is `None` if the simulation failed.
    pub(crate) simulated: Option<(PlanQuestion, Option<Rc<WhatIf>>)>,
}

/// A row of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedRow {
    pub subject: RowSubject,
    /// Factor of the group, or value of the preset, as typed.
    pub factor: String,
}

/// Group or preset that a row of the plan changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowSubject {
    /// A category or a search.
    Group(String),
    Preset(Preset),
}

/// A text field in a row of the planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanField {
    Group,
    Factor,
}

/// User input in the planner, including the choice of a curve to draw over the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanAction {
    /// New text of a field in the row at this index.
    Typed(usize, PlanField, String),
    GroupAdded,
    PresetAdded(Preset),
    Removed(usize),
    Cleared,
    Undo,
    CapacityTyped(String),
    Drawn(DrawnCurve),
}

impl EditedRow {
    pub(super) fn set_text(&mut self, field: PlanField, text: String) {
        match (field, &mut self.subject) {
            (PlanField::Group, RowSubject::Group(group)) => *group = text,
            (PlanField::Group, RowSubject::Preset(_)) => {}
            (PlanField::Factor, _) => self.factor = text,
        }
    }

    /// Formats the row for links and the command line.
    pub(super) fn to_text(&self) -> String {
        match &self.subject {
            RowSubject::Group(group) => [group, "=", &self.factor].concat(),
            RowSubject::Preset(preset) if preset.has_number() => [preset.name(), "=", &self.factor].concat(),
            RowSubject::Preset(preset) => preset.name().to_owned(),
        }
    }

    /// Returns true for a group row without any typed text.
    pub(super) fn is_empty(&self) -> bool {
        self.factor.trim().is_empty() && matches!(&self.subject, RowSubject::Group(group) if group.trim().is_empty())
    }

    /// Adds the row to a request. `measured` is the id of the comparison that provides the growth for the sequence
    /// preset.
    ///
    /// # Errors
    ///
    /// Returns an error message in lower case if the factor or the group is invalid.
    fn add_to(&self, question: &mut PlanQuestion, measured: Option<u32>) -> Result<(), String> {
        let factor = match &self.subject {
            RowSubject::Preset(preset) if !preset.has_number() => Factor::ONE,
            _ => read_factor(&self.factor)?,
        };
        match &self.subject {
            RowSubject::Group(group) if group.trim().is_empty() => {
                return Err("expected a category or a search".to_owned());
            }
            RowSubject::Group(group) => question.groups.push((PlanGroup::Named(group.trim().to_owned()), factor)),
            RowSubject::Preset(preset) => match measured.filter(|_| *preset == Preset::Sequence) {
                Some(comparison) => question.groups.push((PlanGroup::Measured(comparison), factor)),
                None if !preset.add_to(question, factor) => {
                    return Err("the number is too large or too small".to_owned());
                }
                None => {}
            },
        }
        Ok(())
    }

    /// Returns the error message for the row. Empty if the row is valid or empty.
    pub(super) fn error(&self) -> String {
        let error = self.add_to(&mut PlanQuestion::default(), None).err().filter(|_| !self.is_empty());
        error.map_or_else(String::new, |error| capitalize(&error) + ".")
    }
}

impl Plan {
    pub(super) fn add(&mut self, subject: RowSubject, factor_text: &str) {
        if self.rows.len() < MAX_ROWS {
            self.rows.push(EditedRow { subject, factor: factor_text.to_owned() });
        }
    }

    /// Stores the rows before an edit, for undo.
    pub(super) fn push_undo(&mut self, before: Vec<EditedRow>) {
        if self.undo.len() >= MAX_UNDO {
            self.undo.remove(0);
        }
        self.undo.push(before);
    }

    /// Returns the typed capacity, or else the capacity drawn in the timeline, in bytes.
    pub(super) fn capacity(&self, drawn: Option<u64>) -> Option<u64> {
        parse_size(&self.capacity).ok().flatten().or(drawn)
    }

    /// Returns the request for the plan. `None` if nothing is planned or a row is invalid.
    pub(super) fn question(&self, capacity: Option<u64>) -> Option<PlanQuestion> {
        let mut question = PlanQuestion { capacity: self.capacity(capacity), ..PlanQuestion::default() };
        let mut rows = self.rows.iter().filter(|row| !row.is_empty()).peekable();
        if rows.peek().is_none() && question.capacity.is_none() {
            return None;
        }
        rows.try_for_each(|row| row.add_to(&mut question, self.comparison)).ok()?;
        Some(question)
    }

    /// Returns the presets among the rows.
    pub(super) fn presets(&self) -> impl Iterator<Item = Preset> {
        self.rows.iter().filter_map(|row| match row.subject {
            RowSubject::Preset(preset) => Some(preset),
            RowSubject::Group(_) => None,
        })
    }
}
