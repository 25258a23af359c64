//! The Insights tab: requests for reports, user input, and evidence that a click shows.

mod data;

pub(crate) use data::{INITIAL_ROWS, MAX_ROWS, MORE_FACTOR, ReportItem, TopicQuestion};
pub use data::{InsightsAction, InsightsStep, InsightsTab};

pub mod cells;
mod evidence;
mod feature;
mod keys;
mod link;
pub mod view;

pub(crate) use feature::FEATURE;

use crate::change::Change;
use crate::comparing::view::side;
use crate::effect::{Effect, RanksEffect};
use crate::markdown::markdown;
use crate::settings::Dialog;
use crate::shared::Shared;
use crate::summary::device_name;
use crate::tab::Tab;
use engine::protocol::category::MAX_CATEGORIES;
use engine::protocol::{Answer, Chart, Question, Report, ReportQuestion, Topic};
use evidence::show_evidence;
use std::rc::Rc;

/// Returns the stack of a row.
fn row_stack<'a>(report: &'a Report, item: &ReportItem) -> Option<&'a [String]> {
    let sheet = report.sheets.iter().find(|sheet| Some(&sheet.key) == item.sheet.as_ref())?;
    Some(&sheet.rows.get(item.row)?.stack)
}

/// Returns the index of the device to show first in a newly opened file. If it ran out of memory, shows its OOM
/// report.
pub(crate) fn choose_device(why: &mut InsightsTab, shared: &mut Shared) -> usize {
    let Some(file) = shared.file() else { return 0 };
    let place = file.default_device();
    if file.devices.get(place).is_some_and(|device| device.oom_count() > 0) {
        why.topic = Topic::OutOfMemory;
        shared.views.show(Tab::Insights);
    } else if why.topic == Topic::OutOfMemory {
        why.topic = Topic::default();
    }
    place
}

/// Requests the visible report. A pending question is replaced only by one on another topic. Otherwise, dragging the
/// cursor would cancel each question.
fn ask_visible(why: &mut InsightsTab, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    // While rules are edited, their effect is requested.
    let edits = shared.rules.dialog == Dialog::Open;
    if !edits && shared.views.visible() != Some(Tab::Insights) {
        return;
    }
    let topic = if edits { Topic::Categories } else { why.topic };
    if topic == Topic::Ranks && !shared.ranks.is_ready() {
        return;
    }
    let rows = if edits { MAX_CATEGORIES as u32 } else { why.rows_to_request() };
    let at = match topic {
        // A changed survey is another question.
        Topic::Ranks => Some(shared.ranks.version),
        _ => topic.depends_on_cursor().then_some(shared.cursor.moment),
    };
    let pairing = shared.insight_pairing().filter(|_| topic == Topic::Comparison);
    if topic == Topic::Comparison && pairing.is_none() {
        return;
    }
    let question = TopicQuestion { topic, at, rows, version: why.version, pairing };
    let is_known = why.reports.iter().any(|(known, _)| *known == question);
    let waits = why.pending.is_some_and(|(_, asked)| asked.topic == topic);
    if waits {
        return;
    }
    // Then the other topics, one at a time, so that their warnings are known before they are opened.
    let wanted = if is_known { next_unknown_topic(why, shared).filter(|_| !edits) } else { Some(question) };
    if let Some(question) = wanted {
        send(why, shared, question, device, effects);
    }
}

fn send(why: &mut InsightsTab, shared: &mut Shared, question: TopicQuestion, device: i64, effects: &mut Vec<Effect>) {
    let topic = question.topic;
    let set = why.thresholds.iter().filter(|(of, ..)| *of == topic);
    let thresholds = set.map(|(_, key, value)| (key.clone(), *value)).collect();
    let serial = shared.next_serial();
    why.pending = Some((serial, question));
    if topic == Topic::Ranks {
        effects.push(Effect::Ranks(RanksEffect::Ask(serial, question.rows, shared.ranks.order)));
        return;
    }
    if let Some((a, pairing)) = question.pairing {
        effects.push(Effect::ask(serial, a, Question::Comparison(pairing, question.rows)));
        return;
    }
    let question =
        ReportQuestion { topic, at: question.at, thresholds, rows: question.rows, ..ReportQuestion::default() };
    effects.push(Effect::ask(serial, device, Question::Report(question)));
}

fn update_and_ask(why: &mut InsightsTab, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if let Some(topic) = shared.requested_topic.take() {
        (why.topic, why.active) = (topic, 0);
        shared.views.show(Tab::Insights);
    }
    let is_off = match why.topic {
        Topic::Comparison => !shared.is_compared(),
        Topic::Ranks => !shared.ranks.is_available(),
        _ => false,
    };
    if is_off {
        why.topic = Topic::default();
    }
    ask_visible(why, shared, device, effects);
    shared.topic = why.topic;
    shared.report_is_pending = why.pending.is_some();
}

/// Requests all reports after the picture, since the badge counts warnings while other tabs are visible too.
fn ask_unseen(why: &mut InsightsTab, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if let Some(question) = next_unknown_topic(why, shared).filter(|_| shared.rules.dialog == Dialog::Closed) {
        send(why, shared, question, device, effects);
        shared.report_is_pending = true;
    }
}

/// Returns the question for a topic without a report. `None` while another question is pending.
fn next_unknown_topic(why: &InsightsTab, shared: &Shared) -> Option<TopicQuestion> {
    let InsightsTab { pending, reports, version, .. } = why;
    let is_known_topic = |topic: Topic| reports.iter().any(|(of, _)| of.topic == topic);
    let topic = Topic::ALL.into_iter().find(|&topic| pending.is_none() && !is_known_topic(topic))?;
    let at = topic.depends_on_cursor().then_some(shared.cursor.moment);
    Some(TopicQuestion { topic, at, rows: INITIAL_ROWS as u32, version: *version, pairing: None })
}

/// Handles a change of device, file or categories. The user's settings are kept.
fn reset(why: &mut InsightsTab, shared: &mut Shared, change: Change) {
    if change == Change::Categories {
        // All reports that contain categories must be requested again.
        why.pending = None;
        why.version = why.version.wrapping_add(1);
    }
    if change.is_device_change() {
        let InsightsTab { topic, thresholds, version, .. } = std::mem::take(why);
        *why = InsightsTab { topic, thresholds, version, ..InsightsTab::default() };
    }
    shared.report_is_pending = why.pending.is_some();
}

/// Handles replies: reports, and positions of a span on the time axis.
fn take(
    why: &mut InsightsTab,
    shared: &mut Shared,
    serial: u32,
    answer: Answer,
    _: &mut Vec<Effect>,
) -> Option<Answer> {
    match answer {
        Answer::Report(report) => take_report(why, serial, *report),
        Answer::Moments(moments) => match why.pending_span.take_if(|(asked, _)| *asked == serial) {
            Some((_, span)) => evidence::on_moments(shared, span, &moments),
            None => return Some(Answer::Moments(moments)),
        },
        other => return Some(other),
    }
    shared.report_is_pending = why.pending.is_some();
    None
}

fn take_report(why: &mut InsightsTab, serial: u32, report: Report) {
    let Some((_, question)) = why.pending.take_if(|(asked, _)| *asked == serial) else { return };
    let before = why.report_of(question.topic).cloned();
    // If another row has moved to the position, its stack must not be expanded.
    why.open_stacks.retain(|(topic, item)| {
        let of = |report: &Report| row_stack(report, item).map(<[String]>::to_vec);
        *topic != question.topic || before.as_deref().and_then(of) == of(&report)
    });
    why.reports.retain(|(known, _)| known.topic != question.topic);
    why.reports.push((question, Rc::new(report)));
}

/// Handles user input in the tab.
pub(crate) fn act(why: &mut InsightsTab, shared: &mut Shared, action: InsightsAction, effects: &mut Vec<Effect>) {
    match action {
        InsightsAction::TopicChosen(topic) => (why.topic, why.active) = (topic, 0),
        InsightsAction::ItemClicked(place) => follow_item(why, shared, place, effects),
        InsightsAction::ItemShiftClicked(place) => {
            let opens = why.items().get(place).and_then(|item| why.evidence(item)?.open);
            match opens {
                Some((with, None)) => shared.ranks.request_open(shared.snapshot_index, with, true),
                _ => follow_item(why, shared, place, effects),
            }
        }
        InsightsAction::RankClicked(row, is_compared) => {
            let chart = why.report().and_then(|report| report.statements.first()?.chart.as_ref());
            if let Some(Chart::HeatMap(map)) = chart
                && let Some(place) = map.rows.get(row).and_then(|row| row.file_index)
            {
                shared.ranks.request_open(shared.snapshot_index, place, is_compared);
            }
        }
        InsightsAction::StackToggled(place) => toggle_stack(why, place),
        InsightsAction::ThresholdSet(sheet, text) => set_threshold(why, sheet, &text),
        InsightsAction::SheetToggled(sheet) => {
            let sheet = why.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone());
            sheet.into_iter().for_each(|key| why.toggle_collapsed(key));
        }
        InsightsAction::MoreClicked(sheet) => {
            let Some(key) = why.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone())
            else {
                return;
            };
            let (topic, rows) = (why.topic, why.row_limit(&key).saturating_mul(MORE_FACTOR).min(MAX_ROWS));
            why.row_limits.retain(|(of, known, _)| (*of, known) != (topic, &key));
            why.row_limits.push((topic, key, rows));
        }
        InsightsAction::Copied(sheet) => {
            let Some(text) = why.report().and_then(|report| report.sheets.get(sheet)).map(view::tab_separated) else {
                return;
            };
            effects.push(Effect::Copy(text));
        }
    }
}

/// Runs a command.
pub(crate) fn step(why: &mut InsightsTab, shared: &mut Shared, step: InsightsStep, effects: &mut Vec<Effect>) {
    let (active, count) = (why.active, why.items().len());
    let last = count.saturating_sub(1);
    match step {
        InsightsStep::Up => why.active = active.saturating_sub(1),
        InsightsStep::Down => why.active = (active + 1).min(last),
        InsightsStep::First => why.active = 0,
        InsightsStep::Last => why.active = last,
        InsightsStep::ShowEvidence => follow_item(why, shared, active, effects),
        InsightsStep::ToggleStack => toggle_stack(why, active),
        InsightsStep::Copy => {
            let Some((report, device)) = why.report().zip(shared.device()) else { return };
            let file = shared.file().map_or("", |file| &file.file);
            let of = match shared.comparing.pair.filter(|_| why.topic == Topic::Comparison) {
                Some(pair) => pair.map(|place| side(shared, place)).join(" → "),
                None => [file, " · ", &device_name(device.device)].concat(),
            };
            effects.push(Effect::Copy(markdown(report, &of)));
        }
    }
}

fn follow_item(why: &mut InsightsTab, shared: &mut Shared, place: usize, effects: &mut Vec<Effect>) {
    let Some(item) = why.items().into_iter().nth(place) else { return };
    why.active = place;
    match why.evidence(&item).cloned() {
        Some(evidence) => {
            why.clicked = Some((why.topic, item, evidence.clone()));
            if let Some([a, _]) = shared.comparing.pair.filter(|_| why.topic == Topic::Comparison) {
                // Moments in a comparison are those of A.
                shared.focus(a);
            }
            show_evidence(why, shared, evidence, effects);
        }
        // Without evidence, a click shows the stack.
        None => toggle_stack(why, place),
    }
}

fn toggle_stack(why: &mut InsightsTab, place: usize) {
    let Some(item) = why.items().into_iter().nth(place) else { return };
    why.active = place;
    let row = (why.topic, item);
    match why.open_stacks.iter().position(|known| *known == row) {
        Some(at) => drop(why.open_stacks.remove(at)),
        None => why.open_stacks.push(row),
    }
}

/// Sets a threshold. An empty field restores the default. Invalid numbers are ignored.
fn set_threshold(why: &mut InsightsTab, sheet: usize, text: &str) {
    let Some(threshold) = why.report().and_then(|report| report.sheets.get(sheet)?.threshold.clone()) else { return };
    let (topic, text) = (why.topic, text.trim());
    let value = text.parse().ok();
    // The reply for another threshold may still be pending.
    let conditions_hold = value == Some(threshold.value)
        && why.thresholds.iter().all(|(of, key, set)| (*of, key) != (topic, &threshold.key) || Some(*set) == value);
    if value.is_none() != text.is_empty() || conditions_hold {
        return;
    }
    why.thresholds.retain(|(of, key, _)| (*of, key) != (topic, &threshold.key));
    why.thresholds.extend(value.map(|value| (topic, threshold.key, value)));
    why.open_stacks.retain(|(of, _)| *of != topic);
    why.version = why.version.wrapping_add(1);
}
