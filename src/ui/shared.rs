//! State shared by all features of the page: the open file, the timeline and its tools, the selection and the search.

use super::change::Change;
use super::comparing::Comparing;
use super::cursor::Cursor;
use super::drawing::{BytesAxis, Canvas, Geometry, Hover, PointQuestion};
use super::effect::{DropHover, Pointer};
use super::find::{Find, SameStack};
use super::first_group::FirstGroup;
use super::lanes::Lanes;
use super::link::LinkState;
use super::planned::Planned;
use super::plots::Plots;
use super::previous::Previous;
use super::ranks::Ranks;
use super::rules::Rules;
use super::settings::Settings;
use super::side::Side;
use super::slices::Slices;
use super::stage::{ARCHIVE_SEPARATOR, Help, Letters, Renderer, SnapshotChoice, Stage};
use super::surroundings::Surroundings;
use super::toast::Toast;
use super::tools::Tools;
use super::url::PageScheme;
use super::views::Views;
use base::units::Bytes;
use engine::protocol::{Arrangement, Details, DeviceSummary, FileSummary, Looks, NodeLabel, Topic};
use picture::timeline::{Axis, View};

/// State shared by all features. It consists of parts, which `parts.rs` lists.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub stage: Stage,
    /// Number of the current load. Replies of the worker about earlier loads are dropped.
    pub load: u32,
    /// Number of the latest load. Unlike `load`, it never decreases.
    pub(super) last_load: u32,
    /// The file that the last action closed.
    pub(super) closed_file: Option<Box<FileSummary>>,
    /// The previously open file, while another one is loading.
    pub(super) previous: Option<Box<Previous>>,
    /// Message about a file that could not be opened while another one stays open.
    pub toast: Option<Toast>,
    /// The snapshots to choose from: those in the files that were opened last, or behind the links.
    pub snapshots: Vec<SnapshotChoice>,
    /// Index of the snapshot that is open or loading.
    pub snapshot_index: usize,
    /// Index of the shown device in the summary. With several lanes, the focused one.
    pub device_index: usize,
    /// Layout of the lanes, and the devices that are shown in addition to the focused one.
    pub lanes: Lanes,
    /// The comparison with a second file or device.
    pub comparing: Comparing,
    /// The survey of all listed snapshots, if there are many.
    pub ranks: Ranks,
    /// Size of the canvas. `None` until the canvas is laid out.
    pub canvas: Option<Canvas>,
    /// The window onto the shown device, as high as its lane. `None` without a device or a canvas.
    pub view: Option<View>,
    /// Stacking order and colours that the user has chosen.
    pub looks: Looks,
    /// The pending choice of the initial stacking order and colours for a file.
    pub(super) first_group: FirstGroup,
    /// Unit of the horizontal axis.
    pub axis: Axis,
    pub surroundings: Surroundings,
    pub slices: Slices,
    /// Text that filters the legend.
    pub legend_filter: String,
    pub bytes_axis: BytesAxis,
    /// The scene of the shown device and its pending request.
    pub geometry: Geometry,
    /// Position of the pointer over the canvas.
    pub pointer: Option<Pointer>,
    pub hover: Option<Hover>,
    /// The pending question about a position.
    pub question: Option<PointQuestion>,
    pub selection: Option<Box<Details>>,
    /// Address range of the segment that was selected by one of its free blocks, and the allocation that keeps the
    /// segment from being released. That allocation is then the selection.
    pub(super) segment: Option<([u64; 2], Option<u32>)>,
    /// Serial of the request for the details of the allocation to select.
    pub selecting: Option<u32>,
    pub find: Find,
    /// Highlighting of all allocations with the selection's call stack.
    pub same_stack: SameStack,
    pub letters: Letters,
    /// State of the dialog that lists keyboard shortcuts.
    pub help: Help,
    /// Text that filters the list of keyboard shortcuts.
    pub help_filter: String,
    pub page_scheme: PageScheme,
    pub renderer: Renderer,
    /// Position of a dragged file relative to the page.
    pub drop_hover: DropHover,
    /// A short remark for the status line, such as "Copied".
    pub remark: Option<String>,
    /// Number of commands so far. Distinguishes a repeated remark from one that is still shown.
    pub commands: u32,
    /// Crosshair, ruler, markers and other tools on the timeline.
    pub tools: Tools,
    /// The cursor and the range.
    pub cursor: Cursor,
    pub side: Side,
    /// True if the side panel is expanded in a narrow window, where it is a sheet below the timeline.
    pub side_is_expanded: bool,
    /// State shared by the views below the timeline.
    pub views: Views,
    /// State of the plots other than the stack.
    pub plots: Plots,
    /// Curves drawn over the recorded one.
    pub planned: Planned,
    pub rules: Rules,
    /// Settings that apply to all files.
    pub settings: Settings,
    /// Parts of a link that are still pending, and data for the page's own link.
    pub linked: LinkState,
    /// Serial of the last question.
    pub serial: u32,
    /// Changes that the features have not processed yet.
    pub changes: Vec<Change>,
    /// Remark to show once the text has been copied to the clipboard.
    pub(super) copied_remark: Option<String>,
    /// An allocation that was selected from the list of events. Selecting it does not move the cursor.
    pub(super) selected_event_allocation: Option<u32>,
    /// Cached label of the selected node, with its arrangement and its id. The selection itself is [`Views::node`].
    pub(super) selected_label: Option<(Arrangement, u32, NodeLabel)>,
    /// Insight to show next.
    pub(super) requested_topic: Option<Topic>,
    /// Insight that is shown in the Insights tab.
    pub(super) topic: Topic,
    /// Serial of the pending question to the simulated allocator, which answers one at a time.
    pub(super) simulation: Option<u32>,
    /// True while a report is pending.
    pub(super) report_is_pending: bool,
}

impl Shared {
    pub fn file(&self) -> Option<&FileSummary> {
        match &self.stage {
            Stage::Ready(file) => Some(file),
            _ => None,
        }
    }

    /// Returns the shown device.
    pub fn device(&self) -> Option<&DeviceSummary> {
        self.file()?.devices.get(self.device_index)
    }

    /// Returns the device that is drawn. Unlike [`Shared::device`], it may belong to a file that is still loading.
    pub fn drawn_device(&self) -> Option<&DeviceSummary> {
        self.device_at(self.device_index)
    }

    /// Returns the GPU's capacity in bytes: the typed value, or the memory available to the allocator according to the
    /// recorder.
    pub fn capacity(&self) -> Option<u64> {
        self.tools.capacity.or_else(|| self.device()?.available_bytes())
    }

    /// Returns the capacity for the simulated allocator. After an out-of-memory event only the typed value counts,
    /// because the failed request determines the capacity more precisely than the recorder's value.
    pub fn capacity_without_oom(&self) -> Option<u64> {
        let has_oom = self.device().is_some_and(|device| device.oom_count() > 0);
        if has_oom { self.tools.capacity } else { self.capacity() }
    }

    /// Returns the lines of the list of snapshots. A common prefix (archive, folders) is omitted, because it would hide
    /// the differences in a narrow list.
    pub fn snapshot_lines(&self) -> Vec<String> {
        let names: Vec<String> = self.snapshots.iter().map(SnapshotChoice::name).collect();
        let prefix = shared_folders(&names);
        let line = |(choice, name): (&SnapshotChoice, &String)| {
            let name = name.get(prefix..).unwrap_or(name);
            choice.bytes.map_or_else(|| name.to_owned(), |bytes| format!("{name} · {}", Bytes(bytes)))
        };
        self.snapshots.iter().zip(&names).map(line).collect()
    }

    /// Returns the label of the selected node, if a view has provided it.
    pub(super) fn node_label(&self) -> Option<&NodeLabel> {
        let selected = (self.views.arrangement, self.views.node?);
        self.selected_label
            .as_ref()
            .filter(|(arrangement, node, _)| (*arrangement, *node) == selected)
            .map(|(.., label)| label)
    }

    /// Stores the label of the selected node, unless it is already known.
    pub(super) fn set_node_label(&mut self, label: impl FnOnce(u32) -> Option<NodeLabel>) {
        if let Some(node) = self.views.node.filter(|_| self.node_label().is_none()) {
            self.selected_label =
                label(node).map(|label| (self.views.arrangement, node, label)).or(self.selected_label.take());
        }
    }

    /// Returns a serial that no pending question uses.
    pub(super) fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}

/// Returns the length in bytes of the archive and folder names that all names have in common.
fn shared_folders(names: &[String]) -> usize {
    let Some((first, others)) = names.split_first() else { return 0 };
    let end = |(at, separator): (usize, &str)| at + separator.len();
    let ends = first.match_indices('/').chain(first.match_indices(ARCHIVE_SEPARATOR)).map(end);
    let is_shared =
        |end: &usize| first.get(..*end).is_some_and(|head| others.iter().all(|name| name.starts_with(head)));
    ends.filter(is_shared).max().unwrap_or(0)
}
