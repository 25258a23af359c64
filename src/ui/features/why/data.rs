//! The reports that are known, what of them is seen, and what can be done with them.

use engine::protocol::{Evidence, Pairing, Report, Span, Topic};
use std::rc::Rc;

/// What evidence has brought about, to be taken back when other evidence is followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Brought {
    pub(crate) find: Option<String>,
    pub(crate) allocation: Option<u32>,
}

/// Rows of a sheet that are seen until more are wanted…
pub(crate) const ROWS: u64 = 10;

/// …by this factor…
pub(crate) const MORE: u64 = 5;

/// …and no more than these.
pub(crate) const MOST_ROWS: u64 = 5000;

/// The tab.
#[derive(Clone, Debug, Default)]
pub struct Why {
    pub topic: Topic,
    /// The question that is on its way.
    pub(crate) asked: Option<(u32, TopicQuestion)>,
    /// What was told last, at most one report a topic.
    pub(crate) known: Vec<(TopicQuestion, Rc<Report>)>,
    pub(crate) thresholds: Vec<(Topic, String, u64)>,
    /// How many rows of a sheet are seen, where that is not [`ROWS`].
    pub(crate) limits: Vec<(Topic, String, u64)>,
    pub(crate) unfolded: Vec<(Topic, Item)>,
    /// Sheets of which only the title is seen.
    pub(crate) folded: Vec<(Topic, String)>,
    /// What was clicked last, with its evidence.
    pub(crate) marked: Option<(Topic, Item, Evidence)>,
    /// The item that keys start from, counted among all of the report.
    pub(crate) active: usize,
    /// Grows whenever the same question would be answered otherwise.
    pub(crate) version: u32,
    /// What the evidence that was clicked last has brought about.
    pub(crate) brought: Brought,
    /// The span to be shown as soon as the worker has said where it is on the time axis.
    pub(crate) sought: Option<(u32, Span)>,
}

impl Why {
    /// What was told last of the topic that is seen.
    pub(crate) fn report(&self) -> Option<&Rc<Report>> {
        self.report_of(self.topic)
    }

    pub(crate) fn report_of(&self, topic: Topic) -> Option<&Rc<Report>> {
        self.known.iter().find(|(question, _)| question.topic == topic).map(|(_, report)| report)
    }

    /// Whether what is seen is on its way.
    pub(crate) fn is_reading(&self) -> bool {
        self.asked.is_some_and(|(_, question)| question.topic == self.topic)
    }

    /// The thresholds that a person has set.
    pub(crate) fn thresholds(&self) -> &[(Topic, String, u64)] {
        &self.thresholds
    }

    /// Sets them all.
    pub(crate) fn set_thresholds(&mut self, all: Vec<(Topic, String, u64)>) {
        if self.thresholds != all {
            self.thresholds = all;
            self.unfolded.clear();
            self.version = self.version.wrapping_add(1);
        }
    }

    /// How many rows of sheets are seen, where a person wanted more.
    pub(crate) fn limits(&self) -> &[(Topic, String, u64)] {
        &self.limits
    }

    /// Sets them all; the worker tells no more than [`MOST_ROWS`].
    pub(crate) fn set_limits(&mut self, mut all: Vec<(Topic, String, u64)>) {
        all.iter_mut().for_each(|(_, _, rows)| *rows = (*rows).clamp(ROWS, MOST_ROWS));
        self.limits = all;
    }

    /// Whether only the title of a sheet is seen.
    pub(crate) fn is_folded(&self, key: &str) -> bool {
        self.folded.iter().any(|(topic, of)| *topic == self.topic && of == key)
    }

    /// Folds a sheet away, or back.
    pub(crate) fn fold(&mut self, key: String) {
        let sheet = (self.topic, key);
        match self.folded.iter().position(|known| *known == sheet) {
            Some(at) => drop(self.folded.remove(at)),
            None => self.folded.push(sheet),
        }
    }

    /// How many rows of a sheet that has so many are seen.
    pub(crate) fn seen(&self, key: &str, rows: usize) -> usize {
        if self.is_folded(key) { 0 } else { rows.min(self.limit(key) as usize) }
    }

    /// How many rows of a sheet are seen where it is not folded.
    pub(crate) fn limit(&self, key: &str) -> u64 {
        let limit = self.limits.iter().find(|(topic, of, _)| *topic == self.topic && of == key);
        limit.map_or(ROWS, |(_, _, rows)| *rows)
    }

    /// How many rows of a sheet are asked for: as many as of the sheet that shows most.
    pub(crate) fn rows(&self) -> u32 {
        let limits = self.limits.iter().filter(|(topic, ..)| *topic == self.topic);
        limits.map(|(_, _, rows)| *rows).max().unwrap_or(ROWS) as u32
    }

    /// All statements and rows that are seen, from top to bottom.
    pub(crate) fn items(&self) -> Vec<Item> {
        let Some(report) = self.report() else { return Vec::new() };
        let mut items: Vec<Item> = (0..report.statements.len()).map(|row| Item { sheet: None, row }).collect();
        for sheet in &report.sheets {
            let seen = self.seen(&sheet.key, sheet.rows.len());
            items.extend((0..seen).map(|row| Item { sheet: Some(sheet.key.clone()), row }));
        }
        items
    }

    pub(crate) fn evidence(&self, item: &Item) -> Option<&Evidence> {
        let report = self.report()?;
        match &item.sheet {
            None => report.statements.get(item.row)?.evidence.as_ref(),
            Some(key) => report.sheets.iter().find(|sheet| sheet.key == *key)?.rows.get(item.row)?.evidence.as_ref(),
        }
    }

    /// Whether an item is the one that was clicked last: it is still there, and shows the same.
    pub(crate) fn is_marked(&self, item: &Item) -> bool {
        let same = |(topic, marked, evidence): &(Topic, Item, Evidence)| {
            *topic == self.topic && marked == item && self.evidence(item) == Some(evidence)
        };
        self.marked.as_ref().is_some_and(same)
    }

    pub(crate) fn is_unfolded(&self, item: &Item) -> bool {
        self.unfolded.iter().any(|(topic, of)| *topic == self.topic && of == item)
    }
}

/// All that an answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TopicQuestion {
    pub(crate) topic: Topic,
    pub(crate) at: Option<u32>,
    pub(crate) rows: u32,
    pub(crate) version: u32,
    /// A's ordinal, and what it is compared with.
    pub(crate) pairing: Option<(i64, Pairing)>,
}

/// A place in a report: a statement, or a row of the sheet with this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) sheet: Option<String>,
    pub(crate) row: usize,
}

/// What a key does in the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyStep {
    /// To the statement or row above.
    Up,
    Down,
    First,
    Last,
    Follow,
    /// Shows its stack, or hides it.
    Unfold,
    Copy,
}

/// What happened in the tab.
#[derive(Clone, Debug, PartialEq)]
pub enum WhyAction {
    TopicChosen(Topic),
    /// A statement or row was clicked, by its place among all of the report.
    Picked(usize),
    /// The same with Shift: the snapshot it opens is compared with the open one.
    PickedToCompare(usize),
    /// A row of the map of ranks was clicked; with Shift, its snapshot is compared with the open one.
    RankPicked(usize, bool),
    /// The stack of that row is to be seen, or no longer.
    Unfolded(usize),
    /// This stands as the threshold of the sheet with this place.
    ThresholdSet(usize, String),
    More(usize),
    /// The title of that sheet was clicked.
    Folded(usize),
    Copied(usize),
}
