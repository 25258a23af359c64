//! Everything the page knows.

use super::action::{DropHover, Origin, Pointer};
use super::events::Events;
use super::export::Export;
use super::find::{Find, SameStack};
use super::flame::FlameGraph;
use super::hover::Spot;
use super::html::Saving;
use super::lanes::Lanes;
use super::link::Linked;
use super::memory::Memory;
use super::pinned::Pinned;
use super::plots::Plots;
use super::rules::Rules;
use super::settings::Settings;
use super::sources::Sources;
use super::surroundings::Surroundings;
use super::table::Table;
use super::tools::Tools;
use super::tree::Tree;
use super::url::Came;
use super::views::Views;
use super::why::Why;
use base::units::Bytes;
use engine::protocol::{Details, DeviceSummary, FileSummary, HitAllocation, HitMemory, Looks, Phase, Plot};
use picture::timeline::{Axis, Scene, View};
use std::rc::Rc;

/// Everything the page knows. Only [`super::update()`] changes it.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Empty, loading, ready or failed.
    pub stage: Stage,
    /// The number of the latest load; what the worker says of earlier ones is dropped.
    pub load: u32,
    /// The snapshots there are to choose from: of the files given last, or of the link.
    pub snapshots: Vec<Choice>,
    /// Which of them is open or loading.
    pub chosen: usize,
    /// The device that is shown: its place in the summary's list. Of several lanes, the focused one's.
    pub device_place: usize,
    /// Which other devices are shown beside it.
    pub lanes: Lanes,
    /// The canvas; `None` until it has a size.
    pub canvas: Option<Canvas>,
    /// The window onto the shown device, as high as its lane; `None` until there is a device and a canvas.
    pub view: Option<View>,
    /// Order and colours of the stack.
    pub looks: Looks,
    /// What the horizontal axis counts.
    pub axis: Axis,
    /// What stands around the stack.
    pub around: Surroundings,
    /// Whether the bytes axis follows the window.
    pub bytes_axis: BytesAxis,
    /// The picture of the shown device and what is on its way.
    pub geometry: Geometry,
    /// Where the pointer is over the canvas.
    pub pointer: Option<Pointer>,
    /// What is under it.
    pub hover: Option<Hover>,
    /// The question about a place that was not answered yet.
    pub question: Option<HoverQuestion>,
    /// What is selected.
    pub selection: Option<Box<Details>>,
    /// The request for the details of what shall be selected.
    pub selecting: Option<u32>,
    /// What is looked for.
    pub find: Find,
    /// Whether all allocations of the selection's stack stand out.
    pub same_stack: SameStack,
    /// Whether single-letter keys work.
    pub letters: Letters,
    /// Whether the list of keys is open.
    pub help: Help,
    /// The picture on its way to a file.
    pub export: Export,
    /// Whether a page with the snapshot in it is on its way to a file.
    pub html: Saving,
    /// How the page came here.
    pub came: Came,
    /// How pictures are drawn.
    pub renderer: Renderer,
    /// Whether a file hangs over the page.
    pub drop_hover: DropHover,
    /// A remark for the status line that is not about the stage: "Copied".
    pub remark: Option<String>,
    /// How many commands were given: tells a remark that is made again from one that still stands.
    pub commands: u32,
    /// Cursor, ruler, markers: what a person puts on the picture.
    pub tools: Tools,
    /// The view "By source".
    pub sources: Sources,
    /// The moment that was set last, and the range.
    pub pinned: Pinned,
    /// The moment or range that questions are about, and what of the answer is shown.
    pub views: Views,
    /// The view "Why".
    pub why: Why,
    /// What the picture's height shows, where that is not the stack.
    pub plots: Plots,
    /// What is seen of the call tree.
    pub tree: Tree,
    /// What tells categories.
    pub rules: Rules,
    /// What a person sets for all files.
    pub settings: Settings,
    /// The table of allocations.
    pub table: Table,
    /// The list of events.
    pub events: Events,
    /// The allocator's state.
    pub memory: Memory,
    /// The flame graph among them.
    pub flame: FlameGraph,
    /// What a link still wants, and what the page's own link needs to know.
    pub linked: Linked,
    /// Number of the last request that has one.
    pub serial: u32,
}

/// Between an archive and what is in it.
const INSIDE: &str = " › ";

/// A snapshot there is to choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The file it is in.
    pub origin: Origin,
    /// Its place among several in that file, once that is known.
    pub member: Option<u32>,
    /// The file's name.
    pub file: String,
    /// Its path in the file, where there are several.
    pub path: Option<String>,
    /// Its length in bytes, where known.
    pub bytes: Option<u64>,
}

impl Choice {
    /// Its name: the file's, and the path in it where there are several.
    pub fn name(&self) -> String {
        match &self.path {
            None => self.file.clone(),
            Some(path) => format!("{}{INSIDE}{path}", self.file),
        }
    }
}

/// The stage of the page; `body[data-state]`.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Stage {
    /// Nothing was opened.
    #[default]
    Empty,
    /// A file is on its way.
    Loading(Loading),
    /// A file is open.
    Ready(Box<FileSummary>),
    /// The last file could not be opened: one sentence.
    Failed(String),
}

/// A file on its way.
#[derive(Clone, Debug, PartialEq)]
pub struct Loading {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes in all, where known.
    pub total_bytes: Option<u64>,
    /// What is being done.
    pub phase: Phase,
    /// When it began, on the shell's clock.
    pub started_ms: f64,
    /// When the last progress came.
    pub latest_ms: f64,
}

/// The canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Canvas {
    /// Device pixels; at least 1.
    pub width_px: u32,
    /// Device pixels; at least 1.
    pub height_px: u32,
    /// Device pixels to a CSS pixel; positive.
    pub scale: f64,
}

/// Whether the bytes axis follows the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BytesAxis {
    /// It stays as the user put it.
    #[default]
    Free,
    /// It always shows 0 to the highest total in the window.
    FitsWindow,
}

/// The picture and what is on its way.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// The last scene that came.
    pub scene: Option<Rc<Scene>>,
    /// The request that was not answered yet. There is one at a time among all lanes, always for the newest window: a slow scene
    /// is then finished and shown instead of being overtaken for ever.
    pub in_flight: Option<u32>,
    /// Whether the scene is of groups that are told otherwise by now.
    pub is_stale: bool,
    /// Order and colours of that scene; until the next one comes, what is seen is of these.
    pub looks: Looks,
}

/// What is under the pointer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hover {
    /// The device, by its place in the summary's list.
    pub place: usize,
    /// What the scene says at once.
    pub spot: Spot,
    /// What the picture's height is there.
    pub plot: Plot,
    /// What the worker said last, as long as it may still hold here.
    pub hit: Option<HitAllocation>,
    /// What it said last of the segment and of what is free.
    pub memory: Option<Box<HitMemory>>,
    /// The place it said that of.
    pub answered: Option<Spot>,
}

/// What the worker was asked about a place. There is one question at a time, and the next is about the newest place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HoverQuestion {
    /// Of the request.
    pub serial: u32,
    /// The device, by its place in the summary's list.
    pub device_place: usize,
    /// The place.
    pub spot: Spot,
    /// Why it was asked.
    pub purpose: Purpose,
}

/// Why the worker was asked about a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// For the hover card.
    Tell,
    /// It was clicked.
    Select,
    /// A link has the segment there chosen.
    Choose,
}

/// Whether single-letter keys work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Letters {
    /// They do.
    #[default]
    On,
    /// They do not: for those who dictate to their computer.
    Off,
}

/// Whether the list of keys is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Help {
    /// No.
    #[default]
    Closed,
    /// Yes.
    Open,
}

/// How pictures are drawn.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Renderer {
    /// The browser was not asked yet.
    #[default]
    Unknown,
    /// WebGPU.
    WebGpu,
    /// The CPU twin, and why, where a person may want to know.
    Cpu(Option<String>),
}

impl State {
    /// The open file.
    pub fn file(&self) -> Option<&FileSummary> {
        match &self.stage {
            Stage::Ready(file) => Some(file),
            _ => None,
        }
    }

    /// The device that is shown.
    pub fn device(&self) -> Option<&DeviceSummary> {
        self.file()?.devices.get(self.device_place)
    }

    /// The lines of the list of snapshots: what is the same for all of them (the archive, the folders) would hide in a narrow list
    /// what is not, so it is left out.
    pub fn snapshot_lines(&self) -> Vec<String> {
        let names: Vec<String> = self.snapshots.iter().map(Choice::name).collect();
        let shared = shared_folders(&names);
        let line = |(choice, name): (&Choice, &String)| {
            let name = name.get(shared..).unwrap_or(name);
            choice.bytes.map_or_else(|| name.to_owned(), |bytes| format!("{name} · {}", Bytes(bytes)))
        };
        self.snapshots.iter().zip(&names).map(line).collect()
    }

    /// A number for a request: not one of those still on their way.
    pub(super) fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}

/// Bytes of the archive and the folders that all names begin with.
fn shared_folders(names: &[String]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let end = |(at, separator): (usize, &str)| at + separator.len();
    let ends = first.match_indices('/').chain(first.match_indices(INSIDE)).map(end);
    let is_shared =
        |end: &usize| first.get(..*end).is_some_and(|head| others.iter().all(|name| name.starts_with(head)));
    ends.filter(is_shared).max().unwrap_or(0)
}
