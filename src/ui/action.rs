//! Inputs of the user interface: actions from the user, the worker and the browser, and commands bound to keys.

use super::axis_press::AxisPress;
use super::binding::Modifiers;
use super::comparing::{ComparingAction, ComparingStep};
use super::crosshair::CrosshairStep;
use super::drawing::Canvas;
use super::effect::{DropHover, GivenFile, Pointer, WheelAction};
use super::features::{FeatureAction, FeatureCommand};
use super::link::Link;
use super::plots::{PlotAction, PlotStep};
use super::range::{RangeScope, ViewScope};
use super::ranks::RanksAction;
use super::rows::RowsStep;
use super::rules::RulesAction;
use super::samples::Sample;
use super::settings::{SettingsAction, Theme};
use super::side::Side;
use super::stage::Renderer;
use super::tab::Tab;
use engine::protocol::{Direction, Grouping, Reply};

/// Something that happened: user input, a reply of the worker, or an event of the browser.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Feature(FeatureAction),
    /// A command, from a key or from its control on the page.
    Command(Command),
    /// Files were dropped, picked or pasted. [`Origin::File`](super::effect::Origin::File) indexes this list.
    FilesGiven(Vec<GivenFile>),
    /// Files were added to those the shell already keeps, starting at this index. The first of them is opened.
    FilesAdded(usize, Vec<GivenFile>),
    /// A snapshot was picked. Holds its index in [`super::shared::Shared::snapshots`].
    SnapshotChosen(usize),
    /// A range of events to load was entered. Holds the typed text. See [`super::load_dialog`].
    LoadRangeEntered(String),
    /// A link was opened or pasted, or is the page's own address.
    LinkGiven(Box<Link>),
    /// The notice about the link was dismissed.
    NoticeClosed,
    /// The message about a file that could not be opened was dismissed.
    ToastClosed,
    /// The fingerprint of the file of load `load` is known.
    Fingerprinted {
        load: u32,
        print: String,
    },
    /// The download of a linked file was interrupted and is being resumed.
    LinkInterrupted {
        load: u32,
        /// Bytes received so far.
        at: u64,
    },
    /// A linked file could not be fetched.
    LinkFailed {
        load: u32,
        /// HTTP status. `None` if there was no response that the page may read.
        status: Option<u16>,
    },
    Comparing(ComparingAction),
    Ranks(RanksAction),
    /// A grouping for stacking was chosen. `None` stacks in order of allocation.
    StackingChosen(Option<Grouping>),
    ColouringChosen(Grouping),
    /// The plot was changed, or the part of memory that it shows.
    Plot(PlotAction),
    /// A legend entry was clicked. Holds its palette slot.
    LegendClicked(u32),
    LegendFiltered(String),
    /// A legend entry was double-clicked, or its "only" button was pressed.
    LegendIsolated(u32),
    /// The minimap's window was moved or resized: its edges as fractions of the axis, 0 to 1.
    MinimapMoved([f64; 2]),
    /// Text was entered in the field that moves the cursor, such as an event or a time.
    GoToEntered(String),
    /// The pointer acted on the axis below the timeline.
    AxisPressed(AxisPress),
    /// A range was drawn on the minimap: its ends as fractions of the axis, 0 to 1.
    MinimapRangeDrawn([f64; 2]),
    /// The set of allocations that the views list for a range was chosen.
    RangeFilterChosen(RangeScope),
    ScopeChosen(ViewScope),
    /// Stacking and colouring were both set to this grouping. `None` stacks in order of allocation.
    GroupChosen(Option<Grouping>),
    /// A tab of the side panel was chosen.
    SideChosen(Side),
    /// The side panel, which is a sheet in narrow windows, was opened or closed.
    SheetToggled,
    /// The range was removed.
    RangeRemoved,
    TabChosen(Tab),
    /// The views were resized to this percentage of the window's height.
    ViewsResized(u32),
    FindTyped(String),
    /// A device was picked. Holds its ordinal.
    DeviceChosen(i64),
    /// The worker replied to load `load`.
    Replied {
        /// Load that the reply belongs to. Replies to earlier loads are dropped.
        load: u32,
        reply: Reply,
    },
    /// The worker stopped: out of memory, or a bug. Holds the cause.
    WorkerStopped(String),
    /// The shell could not start a load, for example because it could not create a worker. Holds the message.
    LoadFailed(String),
    Resized(Canvas),
    /// The renderer changed, so all scenes have to be uploaded again.
    RendererChosen(Renderer),
    PointerMoved(Pointer),
    PointerLeft,
    /// The timeline was dragged by this many device pixels, right and up.
    Dragged {
        right_px: f64,
        up_px: f64,
    },
    /// The pointer started to move while pressed, with these modifier keys held.
    DragStarted {
        /// Position of the press.
        from: Pointer,
        held: Modifiers,
    },
    /// The pointer moved here during a drag that measures or draws a box.
    DragMoved(Pointer),
    DragEnded,
    DragCancelled,
    MarkerAdded(Pointer),
    /// A marker was clicked in the list. Holds the marker's number.
    MarkerVisited(u32),
    MarkerRemoved(u32),
    /// The GPU capacity was typed, in GiB.
    CapacityTyped(String),
    Clicked(Pointer),
    /// The wheel turned over the canvas by `delta` CSS pixels, positive towards the user.
    Wheel {
        at: Pointer,
        delta: f64,
        axis: WheelAction,
    },
    DropHover(DropHover),
    /// Something was dropped, but the browser provided no file.
    DroppedNoFile,
    /// Copying to the clipboard succeeded, or failed with this cause.
    Copied(Result<(), String>),
    HelpClosed,
    HelpFiltered(String),
    Settings(SettingsAction),
    Rules(RulesAction),
}

/// A command of a key or a control. Every command is listed in the key table (`keys.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Feature(FeatureCommand),
    Comparing(ComparingStep),
    /// Move the crosshair.
    MoveCrosshair(CrosshairStep),
    /// Move through the rows of Allocations, or of the list of events if that tab is shown, or act on them.
    Rows(RowsStep),
    OpenFile,
    /// Open a snapshot that ships with the page.
    OpenSample(Sample),
    CancelLoading,
    /// Load all events: of the file that the load dialog is about, or of the open file if only a range is loaded.
    OpenAll,
    /// Ask which events of the open file to load.
    ChooseEvents,
    ToggleHelp,
    NextDevice,
    PreviousDevice,
    /// Switch between one device and all devices above each other.
    ToggleLanes,
    ChooseTheme(Theme),
    /// Turn single-letter keys on or off.
    ToggleLetters,
    CopyDetails,
    /// Copy a link to the current view.
    CopyLink,
    /// Copy the code that records a snapshot.
    CopySnippet,
    ClearSelection,
    /// Select the allocation before the selected one, in order of allocation.
    SelectPrevious,
    /// Select the allocation after the selected one, in order of allocation.
    SelectNext,
    MoveLeft,
    MoveRight,
    MoveUp,
    MoveDown,
    ZoomEventsIn,
    ZoomEventsOut,
    ZoomBytesIn,
    ZoomBytesOut,
    FitBoth,
    /// Let the byte axis follow the window, or stop that.
    ToggleFitBytes,
    GoToPeak,
    /// Switch the horizontal axis between events and time.
    ToggleAxis,
    AddMarker,
    RemoveMarker,
    /// Start or stop measuring.
    ToggleRuler,
    ZoomToRuler,
    /// Undo the last pan or zoom.
    UndoView,
    /// Redo the last pan or zoom.
    RedoView,
    FocusCapacity,
    /// Change the plot, or the part of memory that it shows.
    Plot(PlotStep),
    /// Stack by the next grouping.
    NextStacking,
    /// Colour by the next grouping.
    NextColouring,
    Find,
    /// Go to the next or previous match among the allocations that the views show.
    FindInScope(Direction),
    /// Turn Match case on or off.
    ToggleMatchCase,
    FindNext,
    FindPrevious,
    /// Highlight all allocations with the selected stack, or stop that.
    ToggleSameStack,
    ToggleRules,
    ToggleSettings,
    /// Save the page as HTML with the open snapshot inside.
    SaveHtml,
    CursorToPeak,
    CursorToEnd,
    FocusGoTo,
    /// Start a range at the cursor, or finish the one that is being extended.
    ToggleRange,
    /// Choose whether the views show the cursor, a range, its change or the whole trace.
    ChooseScope(ViewScope),
    /// Switch to the next set of allocations that the views can show for a range.
    NextRangeFilter,
    CursorToRangePeak,
    /// Select the next or previous annotation as the range.
    Annotation(Direction),
    ZoomToRange,
    /// Show this view and give it the focus.
    Show(Tab),
    /// Collapse or expand the views.
    FoldViews,
    /// Switch the focus between the timeline and the view.
    ChangeFocus,
}

impl Action {
    /// Wraps an action of a feature.
    pub fn feature(action: impl Into<FeatureAction>) -> Action {
        Action::Feature(action.into())
    }
}
