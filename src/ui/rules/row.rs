//! A rule as the form shows it: the fields that are edited there, and in words what else it asks.

use base::units::counted;
use engine::protocol::CategorySet;
use engine::protocol::category::{Birth, CategoryRule, End, Likeness, Looked, ModelCall, Place, StackKind, StackOf};

/// The line of a set's text on which its first rule stands ([`CategorySet::to_json`]).
const FIRST_LINE: usize = 6;

/// A rule as the form shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleRow {
    /// The values of [`super::RuleField::ALL`].
    pub values: [String; 5],
    /// What else it asks, which the text alone can change.
    pub others: String,
    pub is_wrong: bool,
}

/// The rules of a set; `wrong` are the lines of its text with errors.
pub(super) fn rows(set: &CategorySet, wrong: &[u32]) -> Vec<RuleRow> {
    let row = |(place, rule): (usize, &CategoryRule)| RuleRow {
        values: [
            rule.category.clone(),
            rule.name.clone().unwrap_or_default(),
            rule.file.clone().unwrap_or_default(),
            rule.frame.clone().unwrap_or_default(),
            rule.note.clone(),
        ],
        others: others(rule),
        is_wrong: wrong.iter().any(|&line| line as usize == place + FIRST_LINE),
    };
    set.rules.iter().enumerate().map(row).collect()
}

fn others(rule: &CategoryRule) -> String {
    let mut all = Vec::new();
    let mut say = |text: &str| all.push(text.to_owned());
    match rule.frames {
        Looked::Any => {}
        Looked::Innermost => say("innermost frame only"),
        Looked::Site => say("call site only"),
    }
    if rule.of == StackOf::Freed {
        say("in the stack of the free");
    }
    match rule.stack {
        None => {}
        Some(StackKind::Missing) => say("no stack recorded"),
        Some(StackKind::Native) => say("C++ frames only"),
        Some(StackKind::Python) => say("has Python frames"),
    }
    match rule.born {
        None => {}
        Some(Birth::Before) => say("allocated before recording"),
        Some(Birth::Recorded) => say("allocated while recording"),
    }
    match rule.ends {
        None => {}
        Some(End::Live) => say("live at the end"),
        Some(End::Freed) => say("freed"),
    }
    match rule.model {
        None => {}
        Some(ModelCall::Later) => say("call site before the model call"),
        Some(ModelCall::Earlier) => say("call site after the model call"),
    }
    for (before, value) in [("recorded as “", &rule.recorded), ("frames say “", &rule.told)] {
        if let Some(value) = value {
            all.push([before, value, "”"].concat());
        }
    }
    if rule.least > 0 {
        all.push(["lives ≥ ", &counted(rule.least.into(), "event")].concat());
    }
    if let Some(most) = rule.most {
        all.push(["lives ≤ ", &counted(most.into(), "event")].concat());
    }
    all.extend(rule.like.as_ref().map(like));
    all.join(", ")
}

fn like(like: &Likeness) -> String {
    let (of, whose) = match (&like.category, &like.name) {
        (Some(category), _) => ("“", [category, "”"].concat()),
        (None, Some(name)) => ("a frame matching ", name.clone()),
        (None, None) => ("any allocation", String::new()),
    };
    let size = match like.ratio {
        (1, 1) => "same size as ".to_owned(),
        (times, 1) => [&times.to_string(), "× the size of "].concat(),
        (times, of) => [&times.to_string(), "/", &of.to_string(), " of the size of "].concat(),
    };
    let here = if like.at == Place::Here { " freed there" } else { "" };
    [&size, of, &whose, here].concat()
}
