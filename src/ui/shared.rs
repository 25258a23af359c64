//! What all features of the page share: what is open, what is shown of it and how, what is selected and looked for.

use super::change::Change;
use super::comparing::Comparing;
use super::effect::{DropHover, Pointer};
use super::find::{Find, SameStack};
use super::first_group::FirstGroup;
use super::lanes::Lanes;
use super::link::Linked;
use super::pinned::Pinned;
use super::planned::Planned;
use super::plots::Plots;
use super::previous::Previous;
use super::ranks::Ranks;
use super::rules::Rules;
use super::settings::Settings;
use super::shown::{BytesAxis, Canvas, Geometry, Hover, PointQuestion};
use super::side::Side;
use super::slices::Slices;
use super::stage::{Choice, Help, INSIDE, Letters, Renderer, Stage};
use super::surroundings::Surroundings;
use super::toast::Toast;
use super::tools::Tools;
use super::url::Came;
use super::views::Views;
use base::units::Bytes;
use engine::protocol::{Arrangement, Details, DeviceSummary, FileSummary, Looks, NodeLabel, Topic};
use picture::timeline::{Axis, View};

/// What all features share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Empty, loading, ready or failed.
    pub stage: Stage,
    /// The number of the latest load; what the worker says of earlier ones is dropped.
    pub load: u32,
    /// How many loads there were.
    pub(super) loads: u32,
    /// The file that the last action has left.
    pub(super) left: Option<Box<FileSummary>>,
    /// What was open before what is loading.
    pub(super) previous: Option<Box<Previous>>,
    /// What could not be opened while a file is.
    pub toast: Option<Toast>,
    /// The snapshots there are to choose from: of the files given last, or of the link.
    pub snapshots: Vec<Choice>,
    /// Which of them is open or loading.
    pub chosen: usize,
    /// The device that is shown: its place in the summary's list. Of several lanes, the focused one's.
    pub device_place: usize,
    /// Which other devices are shown beside it.
    pub lanes: Lanes,
    /// What the open file, or its device, is compared with.
    pub comparing: Comparing,
    /// What is known of all snapshots there are to choose from, where they are many.
    pub ranks: Ranks,
    /// The canvas; `None` until it has a size.
    pub canvas: Option<Canvas>,
    /// The window onto the shown device, as high as its lane; `None` until there is a device and a canvas.
    pub view: Option<View>,
    /// Order and colours of the stack.
    pub looks: Looks,
    /// Whether the order and colours of the file are still to be found.
    pub(super) first_group: FirstGroup,
    /// What the horizontal axis counts.
    pub axis: Axis,
    pub around: Surroundings,
    /// The annotation tracks.
    pub slices: Slices,
    /// What the legend is filtered by.
    pub legend_filter: String,
    /// Whether the bytes axis follows the window.
    pub bytes_axis: BytesAxis,
    /// The picture of the shown device and what is on its way.
    pub geometry: Geometry,
    /// Where the pointer is over the canvas.
    pub pointer: Option<Pointer>,
    pub hover: Option<Hover>,
    /// The question about a place that was not answered yet.
    pub question: Option<PointQuestion>,
    pub selection: Option<Box<Details>>,
    /// The addresses of the segment that was selected by a free part of it, while the selection is the allocation that keeps it.
    pub(super) segment: Option<([u64; 2], Option<u32>)>,
    /// The request for the details of what shall be selected.
    pub selecting: Option<u32>,
    pub find: Find,
    /// Whether all allocations of the selection's stack stand out.
    pub same_stack: SameStack,
    pub letters: Letters,
    /// Whether the list of keys is open.
    pub help: Help,
    /// What the help is filtered by.
    pub help_filter: String,
    pub came: Came,
    pub renderer: Renderer,
    /// Whether a file hangs over the page.
    pub drop_hover: DropHover,
    /// A remark for the status line that is not about the stage: "Copied".
    pub remark: Option<String>,
    /// How many commands were given: tells a remark that is made again from one that still stands.
    pub commands: u32,
    /// Cursor, ruler, markers: what a person puts on the picture.
    pub tools: Tools,
    /// The moment that was set last, and the range.
    pub pinned: Pinned,
    /// The tab of the side panel that is shown.
    pub side: Side,
    /// Whether it is up where it is a sheet: below the picture of a narrow window.
    pub sheet: bool,
    /// The moment or range that questions are about, and what of the answer is shown.
    pub views: Views,
    /// What the picture's height shows, where that is not the stack.
    pub plots: Plots,
    /// The peak without what is selected, or under a plan.
    pub planned: Planned,
    pub rules: Rules,
    /// What a person sets for all files.
    pub settings: Settings,
    /// What a link still wants, and what the page's own link needs to know.
    pub linked: Linked,
    /// Number of the last request that has one.
    pub serial: u32,
    /// What has changed that the features were not told of yet.
    pub changes: Vec<Change>,
    /// What is said when the text has reached the clipboard.
    pub(super) copied: Option<String>,
    /// The allocation that was selected where it was freed: the cursor stays there.
    pub(super) stays_put: Option<u32>,
    /// What the selected node is, with the arrangement that it is a node of.
    pub(super) node: Option<(Arrangement, u32, NodeLabel)>,
    /// An insight that is to be chosen.
    pub(super) topic_wanted: Option<Topic>,
    /// Which insight is chosen.
    pub(super) topic: Topic,
    /// The question to the simulated allocator that is on its way: it answers one at a time.
    pub(super) simulation: Option<u32>,
    /// Whether a report is on its way.
    pub(super) report_is_asked: bool,
}

impl Shared {
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

    /// The device that is drawn: of the open file, or of what is decoded so far.
    pub fn drawn_device(&self) -> Option<&DeviceSummary> {
        self.device_at(self.device_place)
    }

    /// The GPU's capacity: the typed one, or else what a recorder says the allocator can have of it.
    pub fn capacity(&self) -> Option<u64> {
        self.tools.capacity.or_else(|| self.device()?.available_bytes())
    }

    /// The same for the simulated allocator: where memory ran out, the failed request tells it more exactly.
    pub fn capacity_without_oom(&self) -> Option<u64> {
        let has_oom = self.device().is_some_and(|device| device.ooms() > 0);
        if has_oom { self.tools.capacity } else { self.capacity() }
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

    /// What the selected node is, once a view that shows it has said so.
    pub(super) fn node_label(&self) -> Option<&NodeLabel> {
        let of = (self.views.arrangement, self.views.node?);
        self.node.as_ref().filter(|(arrangement, node, _)| (*arrangement, *node) == of).map(|(.., label)| label)
    }

    /// A view says what the selected node is, where that is not known yet.
    pub(super) fn learn_node(&mut self, label: impl FnOnce(u32) -> Option<NodeLabel>) {
        if let Some(node) = self.views.node.filter(|_| self.node_label().is_none()) {
            self.node = label(node).map(|label| (self.views.arrangement, node, label)).or(self.node.take());
        }
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
