//! State shared by all features of the page: the open file, the timeline and its tools, the selection and the search.

use crate::state::change::Change;
use crate::state::comparing::Comparing;
use crate::state::crosshair::column_under;
use crate::state::cursor::Cursor;
use crate::state::drawing::{BytesAxis, Canvas, Hover, PointQuestion};
use crate::state::effect::{DropHover, GivenFile, Origin, Pointer};
use crate::state::find::{Find, SameStack};
use crate::state::first_group::FirstGroup;
use crate::state::lanes::{Lane, Lanes};
use crate::state::link::LinkState;
use crate::state::partial::PartialState;
use crate::state::planned::Planned;
use crate::state::plots::Plots;
use crate::state::previous::Previous;
use crate::state::ranks::Ranks;
use crate::state::rules::Rules;
use crate::state::settings::Settings;
use crate::state::slices::Slices;
use crate::state::stage::{Help, Letters, Renderer, SnapshotChoice, Stage, shared_folders};
use crate::state::surroundings::Surroundings;
use crate::state::toast::Toast;
use crate::state::tools::Tools;
use crate::state::views::Views;
use crate::text::side::Side;
use crate::text::url::PageScheme;
use base::units::Bytes;
use picture::timeline::{Axis, Scene, View};
use protocol::{
    Arrangement, Details, DeviceSummary, FileSummary, MomentFacts, NodeLabel, Overview, PlotSettings, Topic,
};
use std::rc::Rc;

/// State shared by all features. It consists of parts, which are listed in `parts.rs`.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    pub stage: Stage,
    /// Id of the current load. Replies of the worker about earlier loads are dropped.
    pub load: u32,
    /// Id of the latest load. Unlike `load`, it does not decrease when a previous file is restored.
    pub(crate) last_load: u32,
    /// Summary of the file that the last action closed.
    pub(crate) closed_file: Option<Box<FileSummary>>,
    /// State of the previously open file, while another file is loading.
    pub(crate) previous: Option<Box<Previous>>,
    /// Message that a file could not be opened, shown while another file stays open.
    pub toast: Option<Toast>,
    /// List of snapshots: those in the files that were opened last, or those that the links point to.
    pub snapshots: Vec<SnapshotChoice>,
    /// Index in `snapshots` of the snapshot that is open or loading.
    pub snapshot_index: usize,
    /// Index of the shown device in the summary. If several devices are shown, the focused one.
    pub device_index: usize,
    /// Lanes: the timelines of devices, one below another.
    pub lanes: Lanes,
    /// Comparison with another device, which may be in a second file.
    pub comparing: Comparing,
    /// Rank survey, which scans the listed snapshots of many ranks.
    pub ranks: Ranks,
    /// Size of the canvas. `None` until the canvas is laid out.
    pub canvas: Option<Canvas>,
    /// Display settings that the user has chosen: plot, stacking order, colours and highlight.
    pub plot_settings: PlotSettings,
    /// Initial choice of stacking order and colours for a newly opened file.
    pub(crate) first_group: FirstGroup,
    /// Unit of the horizontal axis.
    pub axis: Axis,
    pub surroundings: Surroundings,
    pub slices: Slices,
    /// Text that filters the legend.
    pub legend_filter: String,
    pub bytes_axis: BytesAxis,
    /// Position of the pointer in the focused lane's window.
    pub pointer: Option<Pointer>,
    pub hover: Option<Hover>,
    /// The pending request for the object at a position.
    pub question: Option<PointQuestion>,
    pub selection: Option<Box<Details>>,
    /// The selected segment, if a free block in it was clicked: its address range, and the allocation that keeps the
    /// segment from being released. That allocation is then selected.
    pub(crate) segment: Option<([u64; 2], Option<u32>)>,
    /// Serial of the pending request for the details of the allocation to select.
    pub selecting: Option<u32>,
    pub find: Find,
    /// State of highlighting all allocations with the selected allocation's call stack.
    pub same_stack: SameStack,
    pub letters: Letters,
    /// State of the help dialog, which lists keyboard shortcuts.
    pub help: Help,
    /// Text that filters the help dialog.
    pub help_filter: String,
    pub page_scheme: PageScheme,
    pub renderer: Renderer,
    /// Position of a dragged file: over the page or not.
    pub drop_hover: DropHover,
    /// Short message for the status line, such as "Copied".
    pub remark: Option<String>,
    /// Number of commands run so far. It distinguishes a repeated status message from one that is still shown.
    pub commands: u32,
    /// Crosshair, ruler, markers and other tools of the timeline.
    pub tools: Tools,
    /// Cursor and selected range.
    pub cursor: Cursor,
    pub side: Side,
    /// True if the side panel is expanded in a narrow window, where it is a bottom sheet.
    pub side_is_expanded: bool,
    /// State shared by the views below the timeline.
    pub views: Views,
    /// State of the plots other than the stack plot.
    pub plots: Plots,
    /// Curves drawn over the recorded timeline.
    pub planned: Planned,
    pub rules: Rules,
    /// Settings that apply to all files.
    pub settings: Settings,
    /// Parts of the current link that are yet to be restored, and data for building links to the view.
    pub linked: LinkState,
    /// Serial of the last request to the worker.
    pub serial: u32,
    /// Changes that the features have yet to process.
    pub changes: Vec<Change>,
    /// Status message to show when the text has been copied to the clipboard.
    pub(crate) copied_remark: Option<String>,
    /// Id of an allocation that is selected from the list of events, and therefore does not move the cursor.
    pub(crate) selected_event_allocation: Option<u32>,
    /// Cached label of the selected tree node, preceded by the tree's arrangement and the node's id. The selected node
    /// itself is [`Views::node`].
    pub(crate) selected_label: Option<(Arrangement, u32, NodeLabel)>,
    /// Insight shown in the Insights tab.
    pub(crate) topic: Topic,
    /// Serial of the pending request to the simulated allocator. Only one request is pending at a time.
    pub(crate) simulation: Option<u32>,
    /// True if the engine of this program cannot simulate, so that reports need simulations from another worker.
    pub(crate) simulates_apart: bool,
    /// True while a report was requested from the worker and has not arrived.
    pub(crate) report_is_pending: bool,
}

impl Shared {
    /// Returns the moment of the crosshair: the one set by keys, or the one at the pixel under the pointer.
    pub fn crosshair_moment(&self) -> Option<u32> {
        if let Some(keys) = self.tools.crosshair.by_keys {
            return Some(keys.moment);
        }
        let (pointer, view, scene) = (self.pointer?, self.view()?, self.scene()?);
        scene.columns.moment.get(column_under(scene, &view, pointer.x)?).copied()
    }

    /// Returns the lane of the shown device. If several devices are shown, returns the focused lane.
    pub(crate) fn focused(&self) -> Option<&Lane> {
        self.lanes.get(self.device_index)
    }

    /// Returns the lane of the shown device, to be changed.
    pub(crate) fn focused_mut(&mut self) -> &mut Lane {
        self.lanes.get_mut(self.device_index)
    }

    /// Returns the visible window of the shown device's timeline. `None` without a device or a canvas.
    pub fn view(&self) -> Option<View> {
        self.focused()?.view
    }

    /// Returns the scene of the shown device.
    pub fn scene(&self) -> Option<&Rc<Scene>> {
        self.focused()?.geometry.scene.as_ref()
    }

    /// Returns the display settings with which the scene of the shown device was drawn.
    pub fn drawn_settings(&self) -> PlotSettings {
        self.focused().map_or_else(PlotSettings::default, |lane| lane.geometry.plot_settings)
    }

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

    /// Returns the device at `index` in the summary's list of devices.
    pub fn device_at(&self, index: usize) -> Option<&DeviceSummary> {
        self.drawn_file()?.devices.get(index)
    }

    /// Returns the device whose timeline is drawn. Unlike [`Shared::device`], it may belong to a file that is still
    /// loading.
    pub fn drawn_device(&self) -> Option<&DeviceSummary> {
        self.device_at(self.device_index)
    }

    /// Returns the summary of the file that the timeline shows: the open file, or the decoded part of a loading file.
    pub fn drawn_file(&self) -> Option<&FileSummary> {
        self.file().or_else(|| self.partial().map(|unfinished| &unfinished.file.summary))
    }

    /// Returns the partially decoded file. `None` if no file is loading, or nothing is decoded yet.
    pub fn partial(&self) -> Option<&PartialState> {
        match &self.stage {
            Stage::Loading(loading) => loading.partial.as_deref(),
            _ => None,
        }
    }

    /// Returns the overview curve of the shown device in the loading file, up to the last decoded event.
    pub(crate) fn partial_overview(&self) -> Option<&Rc<Overview>> {
        self.partial()?.overviews.get(self.device_index)
    }

    pub(crate) fn device_count(&self) -> usize {
        self.drawn_file().map_or(0, |file| file.devices.len())
    }

    /// Returns the moment after the device's last event.
    pub fn end_moment(&self) -> u32 {
        self.device().map_or(0, |device| u32::try_from(device.events).unwrap_or(u32::MAX))
    }

    /// Returns the first moment at which the device's requested bytes reach their maximum.
    pub fn peak_moment(&self) -> u32 {
        self.device().map_or(0, |device| device.peak_moment().0)
    }

    /// Returns facts about the cursor's moment. Until the worker has responded, they describe the previous moment.
    pub fn cursor_facts(&self) -> Option<&MomentFacts> {
        self.cursor.facts.latest()
    }

    /// Returns the latest facts from the worker. They may still describe a previous moment of the crosshair.
    pub fn crosshair_facts(&self) -> Option<&MomentFacts> {
        self.tools.crosshair.facts.as_ref()
    }

    /// Returns the GPU's capacity in bytes: the typed value, or else the recorded memory that is available to the
    /// allocator.
    pub fn capacity(&self) -> Option<u64> {
        self.tools.capacity.or_else(|| self.device()?.available_bytes())
    }

    /// Returns the capacity for the simulated allocator. If the trace has an out-of-memory event, the recorded capacity
    /// is not used, because the simulation derives a more precise limit from the failed request.
    pub fn capacity_without_oom(&self) -> Option<u64> {
        let has_oom = self.device().is_some_and(|device| device.oom_count() > 0);
        if has_oom { self.tools.capacity } else { self.capacity() }
    }

    /// Returns the lines of the list of snapshots. The path prefix that all names share is omitted, so that their
    /// differences are visible in a narrow list.
    pub fn snapshot_lines(&self) -> Vec<String> {
        let line = |(choice, name): (&SnapshotChoice, String)| match choice.bytes {
            Some(bytes) => [&name, " · ", &Bytes(bytes).to_string()].concat(),
            None => name,
        };
        self.snapshots.iter().zip(self.snapshot_names()).map(line).collect()
    }

    /// Returns the names of the snapshots without the path prefix that all share.
    pub(crate) fn snapshot_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.snapshots.iter().map(SnapshotChoice::name).collect();
        let prefix = shared_folders(&names);
        names.iter_mut().for_each(|name| drop(name.drain(..prefix)));
        names
    }

    /// Returns the label of the selected tree node. `None` until a view has provided it.
    pub(crate) fn node_label(&self) -> Option<&NodeLabel> {
        let selected = (self.views.arrangement, self.views.node?);
        self.selected_label
            .as_ref()
            .filter(|(arrangement, node, _)| (*arrangement, *node) == selected)
            .map(|(.., label)| label)
    }

    /// Returns the selected tree node if its label is unknown.
    pub(crate) fn unnamed_node(&self) -> Option<u32> {
        self.views.node.filter(|_| self.node_label().is_none())
    }
}

/// Appends files to the list of snapshots. `from` is the index of the first file in the shell's list. Returns the index
/// of the first new entry in the list of snapshots.
pub(crate) fn append_files(state: &mut Shared, from: usize, files: Vec<GivenFile>) -> usize {
    let first_new = state.snapshots.len();
    state.snapshots.extend((from..).zip(files).map(|(at, file)| SnapshotChoice {
        origin: Origin::File(at),
        member: None,
        file: file.name,
        path: None,
        bytes: Some(file.bytes),
        load: None,
    }));
    first_new
}
