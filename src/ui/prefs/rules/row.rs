//! Rows of the rules form: the editable fields, and a description of the conditions that the form cannot edit.

use base::units::pluralize;
use protocol::CategorySet;
use protocol::category::{Birth, CategoryRule, End, Looked, ModelCall, Place, SizeCondition, StackKind, StackOrigin};

/// Line number of the first rule in the text of a rule set ([`CategorySet::to_json`]).
const FIRST_RULE_LINE: usize = 6;

/// A rule, as shown in the form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleRow {
    /// Values of the fields in the order of [`crate::state::rules::RuleField::ALL`].
    pub values: [String; 5],
    /// Description of further conditions, which can only be edited as text.
    pub conditions: String,
    pub is_wrong: bool,
}

/// Builds the rows of a rule set. `error_lines` holds the numbers of the lines in the set's text that have errors.
pub(super) fn rows(set: &CategorySet, error_lines: &[u32]) -> Vec<RuleRow> {
    let row = |(index, rule): (usize, &CategoryRule)| RuleRow {
        values: [
            rule.category.clone(),
            rule.name.clone().unwrap_or_default(),
            rule.file.clone().unwrap_or_default(),
            rule.frame.clone().unwrap_or_default(),
            rule.note.clone(),
        ],
        conditions: conditions_text(rule),
        is_wrong: error_lines.iter().any(|&line| line as usize == index + FIRST_RULE_LINE),
    };
    set.rules.iter().enumerate().map(row).collect()
}

fn conditions_text(rule: &CategoryRule) -> String {
    let mut all = String::new();
    let frames = match rule.frames {
        Looked::Any => "",
        Looked::Innermost => "innermost frame only",
        Looked::Site => "call site only",
    };
    let stack = match rule.stack {
        None => "",
        Some(StackKind::Missing) => protocol::NO_STACK,
        Some(StackKind::Native) => "C++ frames only",
        Some(StackKind::Python) => "has Python frames",
    };
    let allocated = match rule.allocated {
        None => "",
        Some(Birth::Before) => "allocated before recording",
        Some(Birth::Recorded) => "allocated while recording",
    };
    let ends = match rule.ends {
        None => "",
        Some(End::Live) => "live at the end",
        Some(End::Freed) => "freed",
    };
    let model = match rule.model {
        None => "",
        Some(ModelCall::Later) => "call site before the model call",
        Some(ModelCall::Earlier) => "call site after the model call",
    };
    let origin = if rule.of == StackOrigin::Freed { "in the stack of the free" } else { "" };
    for text in [frames, origin, stack, allocated, ends, model] {
        append(&mut all, [text, "", ""]);
    }
    for (prefix, value) in [("recorded as “", &rule.recorded), ("classified by frames as “", &rule.classified)] {
        if let Some(value) = value {
            append(&mut all, [prefix, value, "”"]);
        }
    }
    if rule.least > 0 {
        append(&mut all, ["lifetime ≥ ", &pluralize(rule.least.into(), "event"), ""]);
    }
    if let Some(max) = rule.most {
        append(&mut all, ["lifetime ≤ ", &pluralize(max.into(), "event"), ""]);
    }
    if let Some(like) = &rule.like {
        append(
            &mut all,
            [&size_text(like), &reference_text(like), if like.at == Place::Anchored { " freed there" } else { "" }],
        );
    }
    all
}

/// Appends the concatenated parts to a comma-separated list. Does nothing if all parts are empty.
fn append(all: &mut String, parts: [&str; 3]) {
    if parts.iter().all(|part| part.is_empty()) {
        return;
    }
    all.push_str(if all.is_empty() { "" } else { ", " });
    parts.iter().for_each(|part| all.push_str(part));
}

fn size_text(like: &SizeCondition) -> String {
    let times = like.ratio.0.to_string();
    match like.ratio {
        (1, 1) => "same size as ".to_owned(),
        (_, 1) => times + "× the size of ",
        (_, divisor) => [&times, "/", &divisor.to_string(), " of the size of "].concat(),
    }
}

fn reference_text(like: &SizeCondition) -> String {
    match (&like.category, &like.name) {
        (Some(category), _) => ["“", category, "”"].concat(),
        (None, Some(name)) => ["a frame matching ", name].concat(),
        (None, None) => "any allocation".to_owned(),
    }
}
