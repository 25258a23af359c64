//! What the engine tells.

use super::{
    AddressMap, Curves, Details, EventsPage, FileSummary, FlamePage, HitAllocation, HitMemory, LegendEntry, Marks,
    Match, Member, MomentFacts, Overview, Progress, RangeFacts, Report, SourcesPage, StatePage, Stepped, TablePage,
    TableText, Tally, TreePage,
};
use base::codec::Coded;
use picture::timeline::{OutlineRect, Scene, View};

/// What the engine tells.
#[derive(Clone, Debug, PartialEq, Coded)]
pub enum Reply {
    /// How far loading is.
    Progress(Progress),
    /// The file holds several snapshots. The one asked for is opened next; the others wait for a [`Request::Open`](super::Request::Open)
    /// of their own.
    Members(Vec<Member>),
    /// The file is open.
    Opened(Box<FileSummary>),
    /// The file can't be opened; the one before it is closed as well.
    Failed {
        /// One sentence with place and cause.
        message: String,
    },
    /// Loading was given up.
    Cancelled,
    /// Geometry.
    Scene {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The geometry.
        scene: Box<Scene>,
    },
    /// What a [`Request::Hit`](super::Request::Hit) found.
    Hit {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The allocation there, if there is one.
        hit: Option<HitAllocation>,
        /// The segment and what is free; not in a picture of the stack.
        memory: Option<Box<HitMemory>>,
    },
    /// What a [`Request::Map`](super::Request::Map) asked for; nothing on a device that the file does not have.
    Map {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The addresses.
        map: Box<AddressMap>,
    },
    /// What a [`Request::Curves`](super::Request::Curves) asked for; without columns on a device that the file does not have.
    Curves {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The totals.
        curves: Box<Curves>,
    },
    /// What a [`Request::State`](super::Request::State) asked for; nothing on a device that the file does not have.
    State {
        /// The request's.
        serial: u32,
        /// The state.
        page: Box<StatePage>,
    },
    /// What a [`Request::Events`](super::Request::Events) asked for; nothing on a device that the file does not have.
    Events {
        /// The request's.
        serial: u32,
        /// The part of the list.
        page: Box<EventsPage>,
    },
    /// What a [`Request::Moments`](super::Request::Moments) asked for.
    Moments {
        /// The request's.
        serial: u32,
        /// One for each that was asked about, in their order; none for an event that there is not.
        moments: Vec<MomentFacts>,
    },
    /// What a [`Request::Step`](super::Request::Step) asked for.
    Stepped {
        /// The request's.
        serial: u32,
        /// Where it led.
        to: Stepped,
    },
    /// What a [`Request::Marks`](super::Request::Marks) asked for.
    Marks {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The marks.
        marks: Box<Marks>,
    },
    /// What a [`Request::Overview`](super::Request::Overview) asked for.
    Overview {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The silhouette.
        overview: Box<Overview>,
    },
    /// What a [`Request::Legend`](super::Request::Legend) asked for: the entries by slot.
    Legend {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// The entries.
        entries: Vec<LegendEntry>,
    },
    /// What a [`Request::Outline`](super::Request::Outline) asked for, in pixels of the view: from left to right, nothing when it is
    /// outside.
    Outline {
        /// The request's.
        serial: u32,
        /// Of this allocation.
        allocation: u32,
        /// For this window.
        view: View,
        /// The rectangles.
        rects: Vec<OutlineRect>,
    },
    /// What a [`Request::Details`](super::Request::Details) asked for; `None` when there is no such allocation.
    Details {
        /// The request's.
        serial: u32,
        /// The allocation.
        details: Option<Box<Details>>,
    },
    /// What a [`Request::Find`](super::Request::Find) found; nothing on a device that the file does not have.
    Found {
        /// The request's.
        serial: u32,
        /// The device's ordinal.
        device: i64,
        /// How much.
        tally: Tally,
    },
    /// Where a [`Request::FindNext`](super::Request::FindNext) leads: `None` when there is no match, or when the search is not the latest
    /// finished one.
    FoundNext {
        /// The request's.
        serial: u32,
        /// The match.
        found: Option<Match>,
    },
    /// What a [`Request::SameStack`](super::Request::SameStack) counted.
    SameStack {
        /// The request's.
        serial: u32,
        /// How much.
        tally: Tally,
    },
    /// What a [`Request::Flame`](super::Request::Flame) asked for.
    Flame {
        /// The request's.
        serial: u32,
        /// The boxes.
        page: Box<FlamePage>,
    },
    /// What a [`Request::Sources`](super::Request::Sources) asked for.
    Sources {
        /// The request's.
        serial: u32,
        /// Files and lines.
        page: Box<SourcesPage>,
    },
    /// What a [`Request::Range`](super::Request::Range) asked for.
    Range {
        /// The request's.
        serial: u32,
        /// What happened.
        facts: RangeFacts,
    },
    /// What a [`Request::Tree`](super::Request::Tree) asked for.
    Tree {
        /// The request's.
        serial: u32,
        /// The part of the tree.
        page: Box<TreePage>,
    },
    /// What a [`Request::Table`](super::Request::Table) asked for; nothing on a device that the file does not have.
    Table {
        /// The request's.
        serial: u32,
        /// The part of the table.
        page: Box<TablePage>,
    },
    /// The next part of what a [`Request::TableText`](super::Request::TableText) asked for.
    TableText {
        /// The request's.
        serial: u32,
        /// The part.
        part: TableText,
    },
    /// What a [`Request::Report`](super::Request::Report) asked for; without statements and sheets on a device that the file does not have.
    Report {
        /// The request's.
        serial: u32,
        /// The report.
        report: Box<Report>,
    },
    /// What a [`Request::Heaviest`](super::Request::Heaviest) asked for: of equal ones the one born first; `None` when there is none.
    Heaviest {
        /// The request's.
        serial: u32,
        /// The allocation.
        allocation: Option<u32>,
    },
}
