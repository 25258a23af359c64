//! Commands of the Insights tab.

use crate::features::command::{rows, tab_row};
use crate::features::insights::stacks::{step_active_stack, toggle_stack};
use crate::features::insights::{InsightsTab, follow_item};
use crate::plot::comparing::view::side;
use crate::state::effect::Effect;
use crate::state::shared::Shared;
use crate::text::markdown::markdown;
use crate::text::summary::device_name;
use crate::text::tab::Tab::Insights;
use protocol::Topic;

/// Id of the page element that the navigation commands belong to: the report.
const REPORT: &str = "insights-report";

rows! {
    pub(crate) ROWS:
    UP = tab_row(Insights, &["ArrowUp"], "Go to the previous statement or row", REPORT,
        |state, _| state.insights.active = state.insights.active.saturating_sub(1));
    DOWN = tab_row(Insights, &["ArrowDown"], "Go to the next statement or row", REPORT,
        |state, _| state.insights.active = (state.insights.active + 1).min(last(&state.insights)));
    FIRST = tab_row(Insights, &["Home"], "Go to the first statement", REPORT, |state, _| state.insights.active = 0);
    LAST = tab_row(Insights, &["End"], "Go to the last row", REPORT,
        |state, _| state.insights.active = last(&state.insights));
    SHOW_EVIDENCE = tab_row(Insights, &["Enter"], "Show the evidence", REPORT, |state, out| {
        let active = state.insights.active;
        follow_item(&mut state.insights, &state.shared, active, out);
    });
    TOGGLE_STACK = tab_row(Insights, &["Space"], "Show or hide the stack", REPORT, |state, _| {
        let active = state.insights.active;
        toggle_stack(&mut state.insights, active);
    });
    NEXT_STACK = tab_row(Insights, &["s"], "Show the next stack of the row", REPORT,
        |state, _| step_active_stack(&mut state.insights, 1));
    PREVIOUS_STACK = tab_row(Insights, &[","], "Show the previous stack of the row", REPORT,
        |state, _| step_active_stack(&mut state.insights, -1));
    COPY = tab_row(Insights, &["Shift+c"], "Copy the insight as Markdown", "insights-copy",
        |state, out| out.extend(copied(&state.insights, &state.shared)));
}

/// Returns the index of the last statement or row of the report.
fn last(tab: &InsightsTab) -> usize {
    tab.items().len().saturating_sub(1)
}

/// Returns the effect that copies the report as Markdown.
fn copied(tab: &InsightsTab, shared: &Shared) -> Option<Effect> {
    let (report, device) = (tab.report()?, shared.device()?);
    let file = shared.file().map_or("", |file| &file.file);
    let subject = match shared.comparing.pair.filter(|_| tab.topic == Topic::Comparison) {
        Some(pair) => pair.map(|place| side(shared, place)).join(" → "),
        None => [file, " · ", &device_name(device)].concat(),
    };
    Some(Effect::Copy(markdown(report, &subject)))
}
