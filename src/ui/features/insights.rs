//! The Insights tab: requests for reports, user input, and the evidence that a click on a row shows.

mod alarm;
mod data;

pub use alarm::no_alarm_text;
use data::BackgroundSimulation;
pub use data::{Alarm, InsightsAction, InsightsTab};
pub(crate) use data::{MAX_ROWS, MORE_FACTOR, ReportItem, TopicQuestion};

pub mod cells;
mod chart_view;
pub mod commands;
mod evidence;
mod feature;
mod link;
mod sheet_view;
mod simulation;
mod stacks;
pub mod view;

pub(crate) use feature::FEATURE;

use crate::plot::comparing;
use crate::state::change::Change;
use crate::state::effect::{Effect, RanksEffect};
use crate::state::outbox::{Intent, Outbox};
use crate::state::settings::Dialog;
use crate::state::shared::Shared;
use crate::text::size_text::{self, DefaultUnit};
use crate::text::tab::Tab;
use evidence::show_evidence;
use protocol::category::MAX_CATEGORIES;
use protocol::{Answer, Chart, Question, Report, ReportQuestion, Topic};
use simulation::{is_simulated, next_unknown_topic};
use stacks::{row_stacks, step_stack, toggle_stack};
use std::rc::Rc;

/// Returns the index of the device to show first in a newly opened file. If that device ran out of memory, also shows
/// its OOM report.
pub(crate) fn choose_device(tab: &mut InsightsTab, shared: &Shared, out: &mut Outbox) -> usize {
    let Some(file) = shared.file() else { return 0 };
    let index = file.default_device();
    let ran_out = file.devices.get(index).is_some_and(|device| device.oom_count() > 0);
    out.intend(Intent::GiveRoom(ran_out && shared.comparing.pending_second.is_none()));
    if ran_out {
        tab.topic = Topic::OutOfMemory;
        out.intend(Intent::Show(Tab::Insights));
    } else if tab.topic == Topic::OutOfMemory {
        tab.topic = Topic::default();
    }
    index
}

/// Requests the visible report. Waits for a pending request on the same topic, because dragging the cursor would
/// otherwise cancel every request.
fn ask_visible(tab: &mut InsightsTab, shared: &Shared, device: i64, out: &mut Outbox) {
    // While rules are edited, their effect is requested.
    let edits = shared.rules.dialog == Dialog::Open;
    if !edits && shared.views.visible() != Some(Tab::Insights) {
        return;
    }
    let topic = if edits { Topic::Categories } else { tab.topic };
    if topic == Topic::Ranks && !shared.ranks.is_ready() {
        return;
    }
    let rows = if edits { MAX_CATEGORIES as u32 } else { tab.rows_to_request() };
    let cursor_or_version = match topic {
        // A changed survey needs a new question.
        Topic::Ranks => Some(shared.ranks.version),
        _ => topic.depends_on_cursor().then_some(shared.cursor.moment),
    };
    let pairing = comparing::part::insight_pairing(shared).filter(|_| topic == Topic::Comparison);
    if topic == Topic::Comparison && pairing.is_none() {
        return;
    }
    let range = shared.cursor.range.filter(|_| topic.depends_on_range());
    let (version, is_simulated) = (tab.version, is_simulated(tab, topic));
    let question = TopicQuestion { topic, cursor_or_version, rows, version, range, is_simulated, pairing };
    let is_known = tab.reports.iter().any(|(known, _)| *known == question);
    let waits = tab.pending.is_some_and(|(_, asked)| asked.topic == topic);
    if waits {
        return;
    }
    // Then the other topics, one at a time, so that their warnings are known before they are opened.
    let wanted = if is_known { next_unknown_topic(tab, shared).filter(|_| !edits) } else { Some(question) };
    if let Some(question) = wanted {
        send(tab, shared, question, device, out);
    }
}

fn send(tab: &mut InsightsTab, shared: &Shared, question: TopicQuestion, device: i64, out: &mut Outbox) {
    let topic = question.topic;
    let set = tab.thresholds.iter().filter(|(of, ..)| *of == topic);
    let thresholds = set.map(|(_, key, value)| (key.clone(), *value)).collect();
    let (at, rows) = (question.cursor_or_version, question.rows);
    let serial = if topic == Topic::Ranks {
        let serial = out.next_serial();
        out.push(Effect::Ranks(RanksEffect::Ask(serial, rows, shared.ranks.order)));
        serial
    } else if let Some((a, pairing)) = question.pairing {
        out.ask(a, Question::Comparison(pairing, rows))
    } else {
        let known = tab.background.known.as_deref().filter(|_| question.is_simulated);
        let simulations = known.map(|simulations| Box::new(simulations.clone()));
        let range = question.range;
        let question = ReportQuestion { topic, at, thresholds, range, rows, simulations, ..ReportQuestion::default() };
        out.ask(device, Question::Report(question))
    };
    tab.pending = Some((serial, question));
}

/// Shows the insight that another part of the page has requested.
fn open_requested(tab: &mut InsightsTab, _: &Shared, _: i64, out: &mut Outbox) {
    if let Some(topic) = tab.requested_topic.take() {
        (tab.topic, tab.active) = (topic, 0);
        out.intend(Intent::Show(Tab::Insights));
    }
}

/// Opens [`Topic::Range`] when a range is selected while the tab is visible, and returns to the topic before it when
/// the range ends. A comparison stays, because it compares the range.
fn follow_range(tab: &mut InsightsTab, shared: &Shared) {
    let has_range = shared.cursor.range.is_some();
    if std::mem::replace(&mut tab.had_range, has_range) == has_range {
        return;
    }
    let before = tab.topic_before_range.take();
    if has_range && shared.views.visible() == Some(Tab::Insights) && tab.topic != Topic::Comparison {
        tab.topic_before_range = Some(tab.topic);
        (tab.topic, tab.active) = (Topic::Range, 0);
    } else if tab.topic.depends_on_range() {
        (tab.topic, tab.active) = (before.unwrap_or_default(), 0);
    }
}

fn update_and_ask(tab: &mut InsightsTab, shared: &Shared, device: i64, out: &mut Outbox) {
    alarm::update(tab, shared, out);
    follow_range(tab, shared);
    if !view::available_topics(shared).contains(&tab.topic) {
        tab.topic = Topic::default();
    }
    ask_visible(tab, shared, device, out);
}

/// Requests the reports of other topics, because the badge on the tab counts the warnings of all topics.
fn ask_unseen(tab: &mut InsightsTab, shared: &Shared, device: i64, out: &mut Outbox) {
    if let Some(question) = next_unknown_topic(tab, shared).filter(|_| shared.rules.dialog == Dialog::Closed) {
        send(tab, shared, question, device, out);
    }
}

/// Handles a change of device or categories. Keeps the user's settings.
fn reset(tab: &mut InsightsTab, _: &Shared, change: Change, _: &mut Outbox) {
    if matches!(change, Change::Categories | Change::InternalFrames) {
        // All reports that contain categories or stacks must be requested again.
        tab.pending = None;
        tab.version = tab.version.wrapping_add(1);
        // Plans depend on categories.
        tab.background = BackgroundSimulation::default();
    }
    if change.is_device_change() {
        let InsightsTab { topic, requested_topic, thresholds, version, .. } = std::mem::take(tab);
        *tab = InsightsTab { topic, requested_topic, thresholds, version, ..InsightsTab::default() };
    }
}

/// Handles a reply with a report or with positions on the time axis. Returns replies for other features.
fn take(tab: &mut InsightsTab, shared: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    match answer {
        Answer::Report(report) => {
            take_report(tab, serial, *report);
            alarm::open_failed_rank(tab, shared, out);
        }
        Answer::Moments(moments) => match tab.pending_span.take_if(|(asked, _)| *asked == serial) {
            Some((_, span)) => evidence::on_moments(shared, span, &moments, out),
            None => return Some(Answer::Moments(moments)),
        },
        Answer::WhatIf(settings) if tab.background.pending == Some(serial) => simulation::take(tab, shared, *settings),
        other => return Some(other),
    }
    None
}

fn take_report(tab: &mut InsightsTab, serial: u32, report: Report) {
    let Some((_, question)) = tab.pending.take_if(|(asked, _)| *asked == serial) else { return };
    let previous = tab.report_of(question.topic).cloned();
    // If the row at this position is a different one now, its stack must not be expanded.
    tab.open_stacks.retain(|(topic, item, _)| {
        let of = |report: &Report| row_stacks(report, item);
        *topic != question.topic || previous.as_deref().and_then(of) == of(&report)
    });
    tab.reports.retain(|(known, _)| known.topic != question.topic);
    tab.reports.push((question, Rc::new(report)));
}

/// Handles user input in the tab.
pub(crate) fn handle_action(tab: &mut InsightsTab, shared: &Shared, action: InsightsAction, out: &mut Outbox) {
    match action {
        InsightsAction::AlarmClicked => show_alarm(tab, shared, out),
        InsightsAction::TopicChosen(topic) => (tab.topic, tab.active) = (topic, 0),
        InsightsAction::ItemClicked(index) => follow_item(tab, shared, index, out),
        InsightsAction::ItemShiftClicked(index) => {
            let opens = tab.items().get(index).and_then(|item| tab.evidence(item)?.open);
            match opens {
                Some((with, None)) => out.intend(Intent::OpenFile(shared.snapshot_index, Some(with as usize))),
                _ => follow_item(tab, shared, index, out),
            }
        }
        InsightsAction::RankClicked(row, is_compared) => {
            let chart = tab.report().and_then(|report| report.statements.first()?.chart.as_ref());
            if let Some(Chart::HeatMap(map)) = chart
                && let Some(index) = map.rows.get(row).and_then(|row| row.file_index)
            {
                let (index, open) = (index as usize, shared.snapshot_index);
                let (opened, with) = if is_compared { (open, Some(index)) } else { (index, None) };
                out.intend(Intent::OpenFile(opened, with));
            }
        }
        InsightsAction::StackToggled(index) => toggle_stack(tab, index),
        InsightsAction::StackStepped(index, by) => step_stack(tab, index, by),
        InsightsAction::ThresholdSet(sheet, text) => set_threshold(tab, sheet, &text),
        InsightsAction::SheetToggled(sheet) => {
            let sheet = tab.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone());
            sheet.into_iter().for_each(|key| tab.toggle_collapsed(key));
        }
        InsightsAction::MoreClicked(sheet) => {
            let key = tab.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone());
            let Some(key) = key else { return };
            let (topic, rows) = (tab.topic, tab.row_limit(&key).saturating_mul(MORE_FACTOR).min(MAX_ROWS));
            tab.row_limits.retain(|(of, known, _)| (*of, known) != (topic, &key));
            tab.row_limits.push((topic, key, rows));
        }
        InsightsAction::Copied(sheet) => {
            let Some(text) = tab.report().and_then(|report| report.sheets.get(sheet)).map(view::tab_separated) else {
                return;
            };
            out.push(Effect::Copy(text));
        }
    }
}

/// Opens the report that raised the alarm, and shows the evidence of its headline.
fn show_alarm(tab: &mut InsightsTab, shared: &Shared, out: &mut Outbox) {
    let Alarm::Raised { topic, .. } = tab.alarm else { return };
    tab.topic = topic;
    out.intend(Intent::Show(Tab::Insights));
    out.intend(Intent::GiveRoom(shared.comparing.pair.is_none()));
    let headline = tab.report().and_then(|report| report.headline.as_ref());
    let item = headline.map_or(0, |headline| headline.statement as usize);
    follow_item(tab, shared, item, out);
}

fn follow_item(tab: &mut InsightsTab, shared: &Shared, index: usize, out: &mut Outbox) {
    let Some(item) = tab.items().into_iter().nth(index) else { return };
    tab.active = index;
    match tab.evidence(&item).cloned() {
        Some(evidence) => {
            out.intents.extend(tab.compared_at(&item).map(Intent::CompareAt));
            tab.clicked = Some((tab.topic, item, evidence.clone()));
            // Moments in a comparison are those of A.
            let a = shared.comparing.pair.map(|[a, _]| a).filter(|_| tab.topic == Topic::Comparison);
            out.intents.extend(a.map(Intent::Focus));
            let shown = a.unwrap_or(shared.device_index);
            show_evidence(tab, shared, shown, evidence, out);
        }
        // Without evidence, a click shows the stack.
        None => toggle_stack(tab, index),
    }
}

/// Sets the threshold of the table at index `sheet` from typed text. Empty text restores the default. Invalid numbers
/// are ignored.
fn set_threshold(tab: &mut InsightsTab, sheet: usize, text: &str) {
    let Some(threshold) = tab.report().and_then(|report| report.sheets.get(sheet)?.threshold.clone()) else { return };
    let (topic, text) = (tab.topic, text.trim());
    let typed_size = || size_text::parse(text, DefaultUnit::Byte).flatten().filter(|_| threshold.unit == "bytes");
    let value = text.parse().ok().or_else(typed_size);
    // The reply for another threshold may still be pending.
    let conditions_hold = value == Some(threshold.value)
        && tab.thresholds.iter().all(|(of, key, set)| (*of, key) != (topic, &threshold.key) || Some(*set) == value);
    if value.is_none() != text.is_empty() || conditions_hold {
        return;
    }
    tab.thresholds.retain(|(of, key, _)| (*of, key) != (topic, &threshold.key));
    tab.thresholds.extend(value.map(|value| (topic, threshold.key, value)));
    tab.open_stacks.retain(|(of, ..)| *of != topic);
    tab.version = tab.version.wrapping_add(1);
}
