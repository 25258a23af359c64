//! Contents of the planner.

use crate::features::plan::{Plan, RowSubject, is_seen, words};
use crate::plot::planned::DrawnCurve;
use crate::state::shared::Shared;
use crate::text::size_text::{capitalize, parse_size};
use base::units::{Bytes, group_digits};
use protocol::{Factor, PlanRow, Preset};

/// Headings of the table of groups, with tooltips.
pub const HEADINGS: [(&str, &str); 4] = [
    ("Group", "A category or a search; allocations in several groups have the product of their factors"),
    ("Factor", "What the requested bytes are multiplied by"),
    ("Live at the peak", "Requested bytes at the recorded peak"),
    ("Allocations", "In the whole trace"),
];

/// Contents of the planner: its form and the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanView {
    pub rows: Vec<PlanRowView>,
    pub can_undo: bool,
    pub capacity: String,
    pub capacity_hint: String,
    pub capacity_error: &'static str,
    pub is_drawn: bool,
    /// Results of the plan: labels and values.
    pub facts: Vec<(&'static str, String)>,
    pub groups: Vec<[String; 4]>,
    /// Caveats about the result.
    pub caveats: Vec<&'static str>,
    /// Error or hint, shown instead of a result.
    pub note: String,
}

/// A row of the planner's form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanRowView {
    /// The group as typed. `None` for a preset.
    pub group: Option<String>,
    /// Description of a preset.
    pub title: &'static str,
    /// The factor as typed. `None` for a preset without a number.
    pub factor: Option<String>,
    pub error: String,
}

/// Returns the contents of the planner. `None` while it is hidden.
pub fn view(plan: &Plan, shared: &Shared) -> Option<PlanView> {
    if !is_seen(shared) {
        return None;
    }
    let question = plan.question(shared.capacity());
    let page = question.as_ref().and_then(|question| shared.planned.page(question));
    let problem = page.map(|page| &page.error).filter(|problem| !problem.is_empty());
    let page = page.filter(|page| page.error.is_empty());
    let capacity = plan.capacity(shared.capacity());
    let mut groups = Vec::new();
    let mut caveats: Vec<&str> = Vec::new();
    if let Some((page, question)) = page.zip(question.as_ref()) {
        groups.extend(page.groups.iter().map(group));
        if question.batch != Factor::ONE {
            let name = "grows with the batch".to_owned();
            groups.push([name, question.batch.to_string(), Bytes(page.batch_at_peak).to_string(), String::new()]);
        }
        let caveat = |preset: Preset| match preset {
            Preset::Sequence if plan.comparison.is_some() => words::MEASURED_CAVEAT,
            preset => preset.caveat(),
        };
        for caveat in plan.presets().map(caveat) {
            if !caveats.contains(&caveat) {
                caveats.push(caveat);
            }
        }
        if capacity.is_some() {
            caveats.push(words::CAPACITY_CAVEAT);
        }
    }
    let basis = words::PlanBasis::from_presets(plan.presets(), plan.comparison.is_some());
    let mut facts = page.map_or_else(Vec::new, |page| words::facts(page, capacity, basis));
    if page.is_some() {
        let simulated = plan.simulated.as_ref().filter(|(of, _)| Some(of) == question.as_ref());
        let reserved = match simulated {
            Some((_, Some(simulated))) => words::reserved_text(simulated),
            Some((_, None)) => "not simulated".to_owned(),
            None => "Simulating…".to_owned(),
        };
        facts.push(("Reserved (simulated)", reserved));
    }
    Some(PlanView {
        rows: plan.rows.iter().map(row).collect(),
        can_undo: !plan.undo.is_empty(),
        capacity: plan.capacity.clone(),
        capacity_hint: shared.capacity().map_or_else(|| "80 GiB".to_owned(), |bytes| Bytes(bytes).to_string()),
        capacity_error: parse_size(&plan.capacity).err().unwrap_or_default(),
        is_drawn: shared.planned.drawn == DrawnCurve::Plan,
        facts,
        groups,
        caveats,
        note: match problem {
            Some(problem) => capitalize(problem) + ".",
            None if page.is_some() => String::new(),
            None if question.is_some() => "Computing…".to_owned(),
            None => "Change the size of a group, or set a device memory size, to see the new peak.".to_owned(),
        },
    })
}

fn row(row: &super::EditedRow) -> PlanRowView {
    let error = row.error();
    match &row.subject {
        RowSubject::Group(group) => {
            PlanRowView { group: Some(group.clone()), title: "", factor: Some(row.factor.clone()), error }
        }
        RowSubject::Preset(preset) => {
            let factor = preset.has_number().then(|| row.factor.clone());
            PlanRowView { group: None, title: words::preset_title(*preset), factor, error }
        }
    }
}

fn group(row: &PlanRow) -> [String; 4] {
    [row.name.clone(), row.factor.to_string(), Bytes(row.at_peak).to_string(), group_digits(row.count)]
}
