//! Keyboard shortcuts of the Insights tab.

use super::InsightsStep;
use crate::binding::{Binding, KeyScope, bind};
use crate::tab::Tab;

/// Id of the page element that the navigation commands belong to: the report.
const REPORT: &str = "insights-report";

pub(super) const KEYS: &[Binding<InsightsStep>] = {
    const AT: KeyScope = KeyScope::Tab(Tab::Insights);
    use InsightsStep::*;
    &[
        bind(AT, &["ArrowUp"], Up, "Go to the previous statement or row", REPORT),
        bind(AT, &["ArrowDown"], Down, "Go to the next statement or row", REPORT),
        bind(AT, &["Home"], First, "Go to the first statement", REPORT),
        bind(AT, &["End"], Last, "Go to the last row", REPORT),
        bind(AT, &["Enter"], ShowEvidence, "Show the evidence", REPORT),
        bind(AT, &["Space"], ToggleStack, "Show or hide the stack", REPORT),
        bind(AT, &["Shift+c"], Copy, "Copy the insight as Markdown", "insights-copy"),
    ]
};
