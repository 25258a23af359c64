//! The Insights tab: requests for reports, user input, and evidence that a click shows.

mod data;

pub(crate) use data::{Item, MORE, MOST_ROWS, ROWS, TopicQuestion};
pub use data::{Why, WhyAction, WhyStep};

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
use engine::protocol::category::MOST_CATEGORIES;
use engine::protocol::{Answer, Chart, Question, Report, ReportQuestion, Topic};
use evidence::follow;
use std::rc::Rc;

/// Returns the stack of a row.
fn stack<'a>(report: &'a Report, item: &Item) -> Option<&'a [String]> {
    let sheet = report.sheets.iter().find(|sheet| Some(&sheet.key) == item.sheet.as_ref())?;
    Some(&sheet.rows.get(item.row)?.stack)
}

/// Returns the index of the device to show first in a newly opened file. If it ran out of memory, shows its OOM
/// report.
pub(crate) fn opened(why: &mut Why, shared: &mut Shared) -> usize {
    let Some(file) = shared.file() else { return 0 };
    let place = file.default_device();
    if file.devices.get(place).is_some_and(|device| device.ooms() > 0) {
        why.topic = Topic::OutOfMemory;
        shared.views.show(Tab::Why);
    } else if why.topic == Topic::OutOfMemory {
        why.topic = Topic::default();
    }
    place
}

/// Requests the visible report. A pending question is replaced only by one on another topic. Otherwise, dragging the
/// cursor would cancel each question.
fn ask(why: &mut Why, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    // While rules are edited, their effect is requested.
    let edits = shared.rules.dialog == Dialog::Open;
    if !edits && shared.views.seen() != Some(Tab::Why) {
        return;
    }
    let topic = if edits { Topic::Categories } else { why.topic };
    if topic == Topic::Ranks && !shared.ranks.can_be_asked() {
        return;
    }
    let rows = if edits { MOST_CATEGORIES as u32 } else { why.rows() };
    let at = match topic {
        // A changed survey is another question.
        Topic::Ranks => Some(shared.ranks.version),
        _ => topic.has_moment().then_some(shared.pinned.moment),
    };
    let pairing = shared.whole_pairing().filter(|_| topic == Topic::Comparison);
    if topic == Topic::Comparison && pairing.is_none() {
        return;
    }
    let question = TopicQuestion { topic, at, rows, version: why.version, pairing };
    let is_known = why.known.iter().any(|(known, _)| *known == question);
    let waits = why.asked.is_some_and(|(_, asked)| asked.topic == topic);
    if waits {
        return;
    }
    // Then the other topics, one at a time, so that their warnings are known before they are opened.
    let wanted = if is_known { unasked(why, shared).filter(|_| !edits) } else { Some(question) };
    if let Some(question) = wanted {
        send(why, shared, question, device, effects);
    }
}

fn send(why: &mut Why, shared: &mut Shared, question: TopicQuestion, device: i64, effects: &mut Vec<Effect>) {
    let topic = question.topic;
    let set = why.thresholds.iter().filter(|(of, ..)| *of == topic);
    let thresholds = set.map(|(_, key, value)| (key.clone(), *value)).collect();
    let serial = shared.next_serial();
    why.asked = Some((serial, question));
    if topic == Topic::Ranks {
        effects.push(Effect::Ranks(RanksEffect::Ask(serial, question.rows, shared.ranks.order)));
        return;
    }
    if let Some((a, pairing)) = question.pairing {
        effects.push(Effect::ask(serial, a, Question::Comparison(pairing, question.rows)));
        return;
    }
    let question = ReportQuestion { topic, at: question.at, thresholds, rows: question.rows };
    effects.push(Effect::ask(serial, device, Question::Report(question)));
}

fn ask_one(why: &mut Why, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if let Some(topic) = shared.topic_wanted.take() {
        (why.topic, why.active) = (topic, 0);
        shared.views.show(Tab::Why);
    }
    let is_gone = match why.topic {
        Topic::Comparison => !shared.is_compared(),
        Topic::Ranks => !shared.ranks.is_any(),
        _ => false,
    };
    if is_gone {
        why.topic = Topic::default();
    }
    ask(why, shared, device, effects);
    shared.topic = why.topic;
    shared.report_is_asked = why.asked.is_some();
}

/// Requests all reports after the picture, since the badge counts warnings while other tabs are visible too.
fn ask_unseen(why: &mut Why, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    if let Some(question) = unasked(why, shared).filter(|_| shared.rules.dialog == Dialog::Closed) {
        send(why, shared, question, device, effects);
        shared.report_is_asked = true;
    }
}

/// Returns the question for a topic without a report. `None` while another question is pending.
fn unasked(why: &Why, shared: &Shared) -> Option<TopicQuestion> {
    let Why { asked, known, version, .. } = why;
    let is_told = |topic: Topic| known.iter().any(|(of, _)| of.topic == topic);
    let topic = Topic::ALL.into_iter().find(|&topic| asked.is_none() && !is_told(topic))?;
    let at = topic.has_moment().then_some(shared.pinned.moment);
    Some(TopicQuestion { topic, at, rows: ROWS as u32, version: *version, pairing: None })
}

/// Handles a change of device, file or categories. The user's settings are kept.
fn reset(why: &mut Why, shared: &mut Shared, change: Change) {
    if change == Change::Categories {
        // All reports that contain categories must be requested again.
        why.asked = None;
        why.version = why.version.wrapping_add(1);
    }
    if change.is_of_device() {
        let Why { topic, thresholds, version, .. } = std::mem::take(why);
        *why = Why { topic, thresholds, version, ..Why::default() };
    }
    shared.report_is_asked = why.asked.is_some();
}

/// Handles replies: reports, and positions of a span on the time axis.
fn take(why: &mut Why, shared: &mut Shared, serial: u32, answer: Answer, _: &mut Vec<Effect>) -> Option<Answer> {
    match answer {
        Answer::Report(report) => take_report(why, serial, *report),
        Answer::Moments(moments) => match why.sought.take_if(|(asked, _)| *asked == serial) {
            Some((_, span)) => evidence::found(shared, span, &moments),
            None => return Some(Answer::Moments(moments)),
        },
        other => return Some(other),
    }
    shared.report_is_asked = why.asked.is_some();
    None
}

fn take_report(why: &mut Why, serial: u32, report: Report) {
    let Some((_, question)) = why.asked.take_if(|(asked, _)| *asked == serial) else { return };
    let before = why.report_of(question.topic).cloned();
    // If another row has moved to the position, its stack must not be expanded.
    why.unfolded.retain(|(topic, item)| {
        let of = |report: &Report| stack(report, item).map(<[String]>::to_vec);
        *topic != question.topic || before.as_deref().and_then(of) == of(&report)
    });
    why.known.retain(|(known, _)| known.topic != question.topic);
    why.known.push((question, Rc::new(report)));
}

/// Handles user input in the tab.
pub(crate) fn act(why: &mut Why, shared: &mut Shared, action: WhyAction, effects: &mut Vec<Effect>) {
    match action {
        WhyAction::TopicChosen(topic) => (why.topic, why.active) = (topic, 0),
        WhyAction::Picked(place) => pick(why, shared, place, effects),
        WhyAction::PickedToCompare(place) => {
            let opens = why.items().get(place).and_then(|item| why.evidence(item)?.open);
            match opens {
                Some((with, None)) => shared.ranks.want(shared.chosen, with, true),
                _ => pick(why, shared, place, effects),
            }
        }
        WhyAction::RankPicked(row, is_compared) => {
            let chart = why.report().and_then(|report| report.statements.first()?.chart.as_ref());
            if let Some(Chart::Map(map)) = chart
                && let Some(place) = map.rows.get(row).and_then(|row| row.place)
            {
                shared.ranks.want(shared.chosen, place, is_compared);
            }
        }
        WhyAction::Unfolded(place) => unfold(why, place),
        WhyAction::ThresholdSet(sheet, text) => set_threshold(why, sheet, &text),
        WhyAction::Folded(sheet) => {
            let sheet = why.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone());
            sheet.into_iter().for_each(|key| why.fold(key));
        }
        WhyAction::More(sheet) => {
            let Some(key) = why.report().and_then(|report| report.sheets.get(sheet)).map(|sheet| sheet.key.clone())
            else {
                return;
            };
            let (topic, rows) = (why.topic, why.limit(&key).saturating_mul(MORE).min(MOST_ROWS));
            why.limits.retain(|(of, known, _)| (*of, known) != (topic, &key));
            why.limits.push((topic, key, rows));
        }
        WhyAction::Copied(sheet) => {
            let Some(text) = why.report().and_then(|report| report.sheets.get(sheet)).map(view::tab_separated) else {
                return;
            };
            effects.push(Effect::Copy(text));
        }
    }
}

/// Runs a command.
pub(crate) fn step(why: &mut Why, shared: &mut Shared, step: WhyStep, effects: &mut Vec<Effect>) {
    let (active, count) = (why.active, why.items().len());
    let last = count.saturating_sub(1);
    match step {
        WhyStep::Up => why.active = active.saturating_sub(1),
        WhyStep::Down => why.active = (active + 1).min(last),
        WhyStep::First => why.active = 0,
        WhyStep::Last => why.active = last,
        WhyStep::Follow => pick(why, shared, active, effects),
        WhyStep::Unfold => unfold(why, active),
        WhyStep::Copy => {
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

fn pick(why: &mut Why, shared: &mut Shared, place: usize, effects: &mut Vec<Effect>) {
    let Some(item) = why.items().into_iter().nth(place) else { return };
    why.active = place;
    match why.evidence(&item).cloned() {
        Some(evidence) => {
            why.marked = Some((why.topic, item, evidence.clone()));
            if let Some([a, _]) = shared.comparing.pair.filter(|_| why.topic == Topic::Comparison) {
                // Moments in a comparison are those of A.
                shared.focus(a);
            }
            follow(why, shared, evidence, effects);
        }
        // Without evidence, a click shows the stack.
        None => unfold(why, place),
    }
}

fn unfold(why: &mut Why, place: usize) {
    let Some(item) = why.items().into_iter().nth(place) else { return };
    why.active = place;
    let row = (why.topic, item);
    match why.unfolded.iter().position(|known| *known == row) {
        Some(at) => drop(why.unfolded.remove(at)),
        None => why.unfolded.push(row),
    }
}

/// Sets a threshold. An empty field restores the default. Invalid numbers are ignored.
fn set_threshold(why: &mut Why, sheet: usize, text: &str) {
    let Some(threshold) = why.report().and_then(|report| report.sheets.get(sheet)?.threshold.clone()) else { return };
    let (topic, text) = (why.topic, text.trim());
    let value = text.parse().ok();
    // The reply for another threshold may still be pending.
    let is_so = value == Some(threshold.value)
        && why.thresholds.iter().all(|(of, key, set)| (*of, key) != (topic, &threshold.key) || Some(*set) == value);
    if value.is_none() != text.is_empty() || is_so {
        return;
    }
    why.thresholds.retain(|(of, key, _)| (*of, key) != (topic, &threshold.key));
    why.thresholds.extend(value.map(|value| (topic, threshold.key, value)));
    why.unfolded.retain(|(of, _)| *of != topic);
    why.version = why.version.wrapping_add(1);
}
