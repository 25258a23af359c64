//! The rows of a plan as they were typed, and what they ask.

use crate::planned::Drawn;
use crate::typed_size::{capitalised, typed_size};
use engine::protocol::{Factor, PlanGroup, PlanQuestion, Preset, WhatIf, read_factor};
use std::rc::Rc;

/// Rows of a plan: the engine counts with a few more groups.
pub(super) const MOST_ROWS: usize = 16;
/// Steps that can be undone.
const MOST_STEPS: usize = 100;

/// The planner.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub rows: Vec<Row>,
    /// The rows before each step.
    pub(crate) past: Vec<Vec<Row>>,
    /// What stands in the field of the capacity.
    pub capacity: String,
    /// The comparison that is open, if its A is planned: the preset of the sequence goes by what it measured.
    pub(crate) measured: Option<u32>,
    /// What the simulator is asked: its serial, and about which plan.
    pub(crate) asked: Option<(u32, PlanQuestion)>,
    /// What it said; nothing where it could not be had.
    pub(crate) simulated: Option<(PlanQuestion, Option<Rc<WhatIf>>)>,
}

/// A row of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub what: What,
    /// The factor, or the number of the preset, as it was typed.
    pub by: String,
}

/// What a row changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A category, or a search.
    Group(String),
    Preset(Preset),
}

/// A field of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Group,
    By,
}

/// What happened in the planner, or to the curve over the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanAction {
    /// This stands in a field of the row of this place now.
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

    /// How it is written in a link, and read on the command line.
    pub(super) fn written(&self) -> String {
        match &self.what {
            What::Group(group) => [group, "=", &self.by].concat(),
            What::Preset(preset) if preset.has_number() => [preset.name(), "=", &self.by].concat(),
            What::Preset(preset) => preset.name().to_owned(),
        }
    }

    /// Whether nothing was typed yet.
    pub(super) fn is_empty(&self) -> bool {
        self.by.trim().is_empty() && matches!(&self.what, What::Group(group) if group.trim().is_empty())
    }

    /// Adds it to a question.
    ///
    /// # Errors
    /// What is wrong with it, as part of a sentence.
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

    /// What is wrong with it: a sentence, or nothing.
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

    /// The rows were these before the last step.
    pub(super) fn remember(&mut self, before: Vec<Row>) {
        if self.past.len() >= MOST_STEPS {
            self.past.remove(0);
        }
        self.past.push(before);
    }

    /// The typed capacity, or else the one of the picture.
    pub(super) fn capacity(&self, of_picture: Option<u64>) -> Option<u64> {
        typed_size(&self.capacity).ok().flatten().or(of_picture)
    }

    /// What is asked; `None` where nothing is planned, or something is wrong.
    pub(super) fn question(&self, capacity: Option<u64>) -> Option<PlanQuestion> {
        let mut question = PlanQuestion { capacity: self.capacity(capacity), ..PlanQuestion::default() };
        let mut rows = self.rows.iter().filter(|row| !row.is_empty()).peekable();
        if rows.peek().is_none() && question.capacity.is_none() {
            return None;
        }
        rows.try_for_each(|row| row.add_to(&mut question, self.measured)).ok()?;
        Some(question)
    }

    /// The presets in it.
    pub(super) fn presets(&self) -> impl Iterator<Item = Preset> {
        self.rows.iter().filter_map(|row| match row.what {
            What::Preset(preset) => Some(preset),
            What::Group(_) => None,
        })
    }
}
