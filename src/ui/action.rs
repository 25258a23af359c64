//! What can happen to the page: an action of the person, the worker or the browser, and the commands that keys and controls give.

use super::axis_press::AxisPress;
use super::binding::Modifiers;
use super::comparing::{ComparingAction, ComparingStep};
use super::cursor::CursorStep;
use super::effect::{DropHover, GivenFile, Pointer, WheelAxis};
use super::features::{FeatureAction, FeatureCommand};
use super::link::Link;
use super::plots::{PlotAction, PlotStep};
use super::range::{About, ViewScope};
use super::ranks::RanksAction;
use super::rows::RowsStep;
use super::rules::RulesAction;
use super::samples::Sample;
use super::settings::{SettingsAction, Theme};
use super::shown::Canvas;
use super::side::Side;
use super::stage::Renderer;
use super::tab::Tab;
use engine::protocol::{Direction, Grouping, Reply};

/// Something happened: a person did it, the worker said it, or the browser reported it.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Feature(FeatureAction),
    /// A command, by key or by its control.
    Command(Command),
    /// Files were dropped, picked or pasted; the shell keeps them in this order.
    FilesGiven(Vec<GivenFile>),
    /// These came in addition, the first as that many-th file the shell keeps: the first is opened.
    FilesAdded(usize, Vec<GivenFile>),
    /// One of the snapshots was picked, by its place in [`super::shared::Shared::snapshots`].
    SnapshotChosen(usize),
    /// These events of the file that is asked about are to be loaded.
    EventsTyped(String),
    /// The page's address, or the page itself, is a link.
    LinkGiven(Box<Link>),
    /// What is said of the link was read.
    NoticeClosed,
    /// What was said of a file that could not be opened was read.
    ToastClosed,
    /// What tells the file of load `load` from others is known.
    Fingerprinted {
        load: u32,
        print: String,
    },
    /// The link of a load broke half-way, and the rest is asked for.
    LinkBroke {
        load: u32,
        /// Bytes that came.
        at: u64,
    },
    /// The link of a load could not be fetched.
    LinkFailed {
        load: u32,
        /// The HTTP status; `None` when there was no answer the page may read.
        status: Option<u16>,
    },
    /// Something happened to the comparison.
    Comparing(ComparingAction),
    /// Something happened to the survey of many ranks.
    Ranks(RanksAction),
    /// Allocations shall be stacked by groups; `None`: in order of birth.
    StackingChosen(Option<Grouping>),
    ColouringChosen(Grouping),
    /// What the picture's height shows was chosen, or of which part of memory.
    Plot(PlotAction),
    /// An entry of the legend was clicked: its slot.
    LegendClicked(u32),
    /// This stands in the filter of the legend.
    LegendFiltered(String),
    /// An entry of the legend was double-clicked, or its "only" button pressed.
    LegendIsolated(u32),
    /// The minimap's window was moved or resized: its edges as parts of the whole axis, from 0 to 1.
    MinimapMoved([f64; 2]),
    /// This stands in the field of the moment.
    MomentTyped(String),
    /// The pointer did this on the axis below the picture.
    AxisPressed(AxisPress),
    /// A range was drawn on the small picture: its ends as parts of the whole axis, from 0 to 1.
    RangeDrawn([f64; 2]),
    /// What the views show of the range was chosen.
    AboutChosen(About),
    /// What the views are about was chosen.
    ScopeChosen(ViewScope),
    /// Bytes were grouped by this, in order and colour together; `None`: in the order of allocation.
    GroupChosen(Option<Grouping>),
    /// A tab of the side panel was chosen.
    SideChosen(Side),
    /// The side panel of a narrow window was opened or closed.
    SheetToggled,
    /// The range is no longer wanted.
    RangeEnded,
    /// A view was chosen among the tabs.
    TabChosen(Tab),
    /// The views shall have so many percent of the window's height.
    ViewsResized(u32),
    /// This stands in the field of the search.
    FindTyped(String),
    /// A device was picked, by its ordinal.
    DeviceChosen(i64),
    /// The worker answered to load number `load`.
    Replied {
        /// The load it belongs to; answers to earlier loads are dropped.
        load: u32,
        reply: Reply,
    },
    /// The worker is gone: out of memory, or a bug.
    WorkerDied(String),
    /// The shell itself can't go on with a load: it could not make a worker, or may not follow a link. One sentence.
    LoadFailed(String),
    Resized(Canvas),
    /// Pictures are drawn this way from now on.
    RendererChosen(Renderer),
    PointerMoved(Pointer),
    PointerLeft,
    /// The picture was dragged by this many device pixels, right and up.
    Dragged {
        right_px: f64,
        up_px: f64,
    },
    /// A press of the pointer began to move, here and with these keys held.
    DragBegan {
        /// Where.
        from: Pointer,
        held: Modifiers,
    },
    /// A press that measures or draws a box moved on to here.
    DrawnTo(Pointer),
    DragEnded,
    DragCancelled,
    MarkerPut(Pointer),
    /// The marker with this number was clicked in the list.
    MarkerVisited(u32),
    /// The marker with this number is no longer wanted.
    MarkerRemoved(u32),
    /// This stands in the field of the GPU's capacity.
    CapacityTyped(String),
    Clicked(Pointer),
    /// The wheel turned by `delta` CSS pixels over the canvas, positive towards the user.
    Wheel {
        /// Where.
        at: Pointer,
        delta: f64,
        axis: WheelAxis,
    },
    /// A file is being dragged over the page, or no longer.
    DropHover(DropHover),
    /// Something was dropped, but the browser passed on no file.
    DroppedNoFile,
    /// Text reached the clipboard, or did not.
    Copied(Result<(), String>),
    HelpClosed,
    /// This stands in the filter of the help.
    HelpFiltered(String),
    Settings(SettingsAction),
    /// Something happened to the rules of categories.
    Rules(RulesAction),
}

/// What a key or a control asks for. Every one stands in the key table (`keys.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    Feature(FeatureCommand),
    Comparing(ComparingStep),
    /// The cursor goes somewhere.
    Cursor(CursorStep),
    /// Something with the rows that are seen: of the table, or of the list of events.
    Rows(RowsStep),
    OpenFile,
    /// Open a snapshot that ships with the page.
    OpenSample(Sample),
    CancelLoading,
    /// Load all events, where that is asked or a range is loaded.
    OpenAll,
    /// Ask which events of the open file are loaded.
    ChooseEvents,
    /// Show or hide the list of keys.
    ToggleHelp,
    NextDevice,
    /// The device before.
    PreviousDevice,
    /// One device, or all above each other.
    ToggleLanes,
    /// Light or dark, or as the system has it.
    ChooseTheme(Theme),
    /// Allow or forbid single-letter keys.
    ToggleLetters,
    CopyDetails,
    /// Copy the link to what is seen.
    CopyLink,
    /// Copy the lines that record a snapshot.
    CopySnippet,
    ClearSelection,
    /// Select the allocation born before this one.
    SelectPrevious,
    /// Select the allocation born after this one.
    SelectNext,
    MoveLeft,
    MoveRight,
    /// Move to more bytes.
    MoveUp,
    /// Move to fewer bytes.
    MoveDown,
    ZoomEventsIn,
    ZoomEventsOut,
    /// Fewer bytes, higher.
    ZoomBytesIn,
    /// More bytes.
    ZoomBytesOut,
    FitBoth,
    /// The bytes axis follows the window, or not.
    ToggleFitBytes,
    GoToPeak,
    /// Events or wall-clock on the horizontal axis.
    ToggleAxis,
    PutMarker,
    RemoveMarker,
    /// Measure, or stop it.
    ToggleRuler,
    ZoomToRuler,
    /// The window before this one.
    WindowBack,
    /// The window after this one.
    WindowForward,
    TypeCapacity,
    /// Something with what the picture's height shows.
    Plot(PlotStep),
    /// Stack by the next kind of group.
    NextStacking,
    /// Colour by the next kind of group.
    NextColouring,
    Find,
    /// Go to the next match of what the views show, or to the one before.
    FindHere(Direction),
    /// Heed capitals in the search, or no longer.
    FindCapitals,
    FindNext,
    /// Go to the match before.
    FindPrevious,
    /// All of the selection's stack stand out, or do not.
    ToggleSameStack,
    /// Open the rules of categories, or close them.
    ToggleRules,
    /// Open the settings, or close them.
    ToggleSettings,
    /// So does the page with the open snapshot in it.
    SaveHtml,
    PinPeak,
    PinEnd,
    TypeMoment,
    /// Begin a range at the cursor, or let it be as it is.
    ToggleRange,
    /// What the views are about.
    ChooseScope(ViewScope),
    /// Show the next choice of what a range has.
    NextAbout,
    PinRangePeak,
    /// The next annotation becomes the range, or the one before.
    Annotation(Direction),
    /// The window shows the range.
    ZoomToRange,
    /// Show this view, and give it the focus.
    Show(Tab),
    /// Fold the views away, or back.
    FoldViews,
    /// The focus from the timeline to the view, or back.
    ChangeFocus,
}

impl Action {
    /// An action of a feature.
    pub fn of(action: impl Into<FeatureAction>) -> Action {
        Action::Feature(action.into())
    }
}
