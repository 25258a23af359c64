//! The tab "Why": which report is asked for and when, what of it is seen, and what a click on its evidence does.

pub mod cells;
mod evidence;
mod keys;
mod link;
pub mod view;

use super::effect::Effect;
use super::feature::{Change, Feature, Turn, ends_nothing};
use super::markdown::markdown;
use super::settings::Dialog;
use super::shared::Shared;
use super::summary::device_name;
use super::views::Tab;
use engine::protocol::category::MOST_CATEGORIES;
use engine::protocol::{Answer, DeviceSummary, Evidence, Question, Report, ReportQuestion, Span, Topic};
use evidence::{Brought, follow};
use std::rc::Rc;

/// Rows of a sheet that are seen until more are wanted…
const ROWS: u64 = 10;
/// …by this factor…
const MORE: u64 = 5;
/// …and no more than these.
const MOST_ROWS: u64 = 5000;

/// The tab.
#[derive(Clone, Debug, Default)]
pub struct Why {
    /// Whose report is seen.
    pub topic: Topic,
    /// The question that is on its way.
    asked: Option<(u32, TopicQuestion)>,
    /// What was told last, at most one report a topic.
    known: Vec<(TopicQuestion, Rc<Report>)>,
    /// Thresholds that a person has set.
    thresholds: Vec<(Topic, String, u64)>,
    /// How many rows of a sheet are seen, where that is not [`ROWS`].
    limits: Vec<(Topic, String, u64)>,
    /// Rows whose stacks are seen.
    unfolded: Vec<(Topic, Item)>,
    /// What was clicked last, with its evidence.
    marked: Option<(Topic, Item, Evidence)>,
    /// The item that keys start from, counted among all of the report.
    active: usize,
    /// Grows whenever the same question would be answered otherwise.
    version: u32,
    /// What the evidence that was clicked last has brought about.
    brought: Brought,
    /// The span to be shown as soon as the worker has said where it is on the time axis.
    sought: Option<(u32, Span)>,
}

/// All that an answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TopicQuestion {
    topic: Topic,
    at: Option<u32>,
    rows: u32,
    version: u32,
}

/// A place in a report: a statement, or a row of the sheet with this key.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Item {
    sheet: Option<String>,
    row: usize,
}

/// What a key does in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyStep {
    /// To the statement or row above.
    Up,
    /// To the one below.
    Down,
    /// To the first.
    First,
    /// To the last.
    Last,
    /// Shows its evidence.
    Follow,
    /// Shows its stack, or hides it.
    Unfold,
    /// Copies the report as Markdown.
    Copy,
}

/// What happened in the tab.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyAction {
    /// A topic was chosen.
    TopicChosen(Topic),
    /// A statement or row was clicked, by its place among all of the report.
    Picked(usize),
    /// The stack of that row is to be seen, or no longer.
    Unfolded(usize),
    /// This stands as the threshold of the sheet with this place.
    ThresholdSet(usize, String),
    /// More rows of it are wanted.
    More(usize),
    /// It is to be copied.
    Copied(usize),
}

impl Why {
    /// What was told last of the topic that is seen.
    fn report(&self) -> Option<&Rc<Report>> {
        self.report_of(self.topic)
    }

    fn report_of(&self, topic: Topic) -> Option<&Rc<Report>> {
        self.known.iter().find(|(question, _)| question.topic == topic).map(|(_, report)| report)
    }

    /// Whether what is seen is on its way.
    fn is_reading(&self) -> bool {
        self.asked.is_some_and(|(_, question)| question.topic == self.topic)
    }

    /// The thresholds that a person has set.
    pub(super) fn thresholds(&self) -> &[(Topic, String, u64)] {
        &self.thresholds
    }

    /// Sets them all.
    pub(super) fn set_thresholds(&mut self, all: Vec<(Topic, String, u64)>) {
        if self.thresholds != all {
            self.thresholds = all;
            self.unfolded.clear();
            self.version = self.version.wrapping_add(1);
        }
    }

    /// How many rows of sheets are seen, where a person wanted more.
    pub(super) fn limits(&self) -> &[(Topic, String, u64)] {
        &self.limits
    }

    /// Sets them all; the worker tells no more than [`MOST_ROWS`].
    pub(super) fn set_limits(&mut self, mut all: Vec<(Topic, String, u64)>) {
        all.iter_mut().for_each(|(_, _, rows)| *rows = (*rows).clamp(ROWS, MOST_ROWS));
        self.limits = all;
    }

    /// How many rows of a sheet are seen.
    fn limit(&self, key: &str) -> u64 {
        let limit = self.limits.iter().find(|(topic, of, _)| *topic == self.topic && of == key);
        limit.map_or(ROWS, |(_, _, rows)| *rows)
    }

    /// How many rows of a sheet are asked for: as many as of the sheet that shows most.
    fn rows(&self) -> u32 {
        let limits = self.limits.iter().filter(|(topic, ..)| *topic == self.topic);
        limits.map(|(_, _, rows)| *rows).max().unwrap_or(ROWS) as u32
    }

    /// All statements and rows that are seen, from top to bottom.
    fn items(&self) -> Vec<Item> {
        let Some(report) = self.report() else { return Vec::new() };
        let mut items: Vec<Item> = (0..report.statements.len()).map(|row| Item { sheet: None, row }).collect();
        for sheet in &report.sheets {
            let seen = sheet.rows.len().min(self.limit(&sheet.key) as usize);
            items.extend((0..seen).map(|row| Item { sheet: Some(sheet.key.clone()), row }));
        }
        items
    }

    fn evidence(&self, item: &Item) -> Option<&Evidence> {
        let report = self.report()?;
        match &item.sheet {
            None => report.statements.get(item.row)?.evidence.as_ref(),
            Some(key) => report.sheets.iter().find(|sheet| sheet.key == *key)?.rows.get(item.row)?.evidence.as_ref(),
        }
    }

    /// Whether an item is the one that was clicked last: it is still there, and shows the same.
    fn is_marked(&self, item: &Item) -> bool {
        let same = |(topic, marked, evidence): &(Topic, Item, Evidence)| {
            *topic == self.topic && marked == item && self.evidence(item) == Some(evidence)
        };
        self.marked.as_ref().is_some_and(same)
    }

    fn is_unfolded(&self, item: &Item) -> bool {
        self.unfolded.iter().any(|(topic, of)| *topic == self.topic && of == item)
    }
}

/// The stack of a row.
fn stack<'a>(report: &'a Report, item: &Item) -> Option<&'a [String]> {
    let sheet = report.sheets.iter().find(|sheet| Some(&sheet.key) == item.sheet.as_ref())?;
    Some(&sheet.rows.get(item.row)?.stack)
}

/// Whether memory ran out on a device while it was recorded.
fn ran_out(device: &DeviceSummary) -> bool {
    device.actions.iter().any(|(action, count)| action == "oom" && *count > 0)
}

/// A file was opened: the device to show first. Where memory ran out on one, it is that one, and why is seen at once.
pub(super) fn opened(why: &mut Why, shared: &mut Shared) -> usize {
    let place = shared.file().and_then(|file| file.devices.iter().position(ran_out));
    match place {
        Some(_) => {
            why.topic = Topic::OutOfMemory;
            shared.views.show(Tab::Why);
        }
        None if why.topic == Topic::OutOfMemory => why.topic = Topic::default(),
        None => {}
    }
    place.unwrap_or(0)
}

/// Asks for the report that is seen. A newer question ends the one on its way only where it is about another topic: while a moment
/// is dragged, each would end the one before.
fn ask(why: &mut Why, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    // While rules are edited, what they bring about.
    let edits = shared.rules.dialog == Dialog::Open;
    if !edits && shared.views.seen() != Some(Tab::Why) {
        return;
    }
    let topic = if edits { Topic::Categories } else { why.topic };
    let rows = if edits { MOST_CATEGORIES as u32 } else { why.rows() };
    let at = topic.has_moment().then_some(shared.pinned.moment);
    let question = TopicQuestion { topic, at, rows, version: why.version };
    let is_known = why.known.iter().any(|(known, _)| *known == question);
    let waits = why.asked.is_some_and(|(_, asked)| asked.topic == topic);
    if waits {
        return;
    }
    // Then the others, one after the other: which of them give alarm is seen before they are.
    let wanted = if is_known { unasked(why, shared).filter(|_| !edits) } else { Some(question) };
    let Some(question) = wanted else { return };
    let topic = question.topic;
    let set = why.thresholds.iter().filter(|(of, ..)| *of == topic);
    let thresholds = set.map(|(_, key, value)| (key.clone(), *value)).collect();
    let serial = shared.next_serial();
    why.asked = Some((serial, question));
    let question = ReportQuestion { topic, at: question.at, thresholds, rows: question.rows };
    effects.push(Effect::ask(serial, device, Question::Report(question)));
}

fn ask_one(why: &mut Why, shared: &mut Shared, device: i64, effects: &mut Vec<Effect>) {
    ask(why, shared, device, effects);
    shared.report_is_asked = why.asked.is_some();
}

/// A topic of which nothing is known yet, while nothing is on its way.
fn unasked(why: &Why, shared: &Shared) -> Option<TopicQuestion> {
    let Why { asked, known, version, .. } = why;
    let is_told = |topic: Topic| known.iter().any(|(of, _)| of.topic == topic);
    let topic = Topic::ALL.into_iter().find(|&topic| asked.is_none() && !is_told(topic))?;
    let at = topic.has_moment().then_some(shared.pinned.moment);
    Some(TopicQuestion { topic, at, rows: ROWS as u32, version: *version })
}

/// How it takes part.
pub(super) const FEATURE: Feature<Why, WhyAction, WhyStep> = Feature {
    reset,
    asks: &[(Turn::Early, ask_one)],
    take,
    act,
    command: step,
    keys: keys::KEYS,
    links: link::LINKS,
    escape: ends_nothing,
};

/// Another device, or another file: only what a person has set stays.
fn reset(why: &mut Why, shared: &mut Shared, change: Change) {
    if change == Change::Categories {
        // Whatever names categories is to be asked for again.
        why.asked = None;
        why.version = why.version.wrapping_add(1);
    }
    if change.is_of_device() {
        let Why { topic, thresholds, version, .. } = std::mem::take(why);
        *why = Why { topic, thresholds, version, ..Why::default() };
    }
    shared.report_is_asked = why.asked.is_some();
}

/// Takes the worker's answers: reports, and where a span is that was sought.
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
    // Where another row has come to stand, its stack is not what was asked for.
    why.unfolded.retain(|(topic, item)| {
        let of = |report: &Report| stack(report, item).map(<[String]>::to_vec);
        *topic != question.topic || before.as_deref().and_then(of) == of(&report)
    });
    why.known.retain(|(known, _)| known.topic != question.topic);
    why.known.push((question, Rc::new(report)));
}

/// Carries out what happened in the tab.
pub(super) fn act(why: &mut Why, shared: &mut Shared, action: WhyAction, effects: &mut Vec<Effect>) {
    match action {
        WhyAction::TopicChosen(topic) => (why.topic, why.active) = (topic, 0),
        WhyAction::Picked(place) => pick(why, shared, place, effects),
        WhyAction::Unfolded(place) => unfold(why, place),
        WhyAction::ThresholdSet(sheet, text) => set_threshold(why, sheet, &text),
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

/// Carries out a key.
pub(super) fn step(why: &mut Why, shared: &mut Shared, step: WhyStep, effects: &mut Vec<Effect>) {
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
            let of = [file, " · ", &device_name(device.device)].concat();
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
            follow(why, shared, evidence, effects);
        }
        // What rests on nothing but its stack shows that.
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

/// Sets a threshold. An empty field stands for the engine's own; what is no number changes nothing.
fn set_threshold(why: &mut Why, sheet: usize, text: &str) {
    let Some(threshold) = why.report().and_then(|report| report.sheets.get(sheet)?.threshold.clone()) else { return };
    let (topic, text) = (why.topic, text.trim());
    let value = text.parse().ok();
    // The answer to another one may still be on its way.
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
