//! Inputs of the user interface: user input, worker replies and browser events.

use crate::features::FeatureAction;
use crate::features::command::Command;
use crate::state::axis_press::AxisPress;
use crate::state::binding::Modifiers;
use crate::state::comparing::ComparingAction;
use crate::state::drawing::Canvas;
use crate::state::effect::{DropHover, GivenFile, Pointer, WheelAction};
use crate::state::link::Link;
use crate::state::plots::PlotAction;
use crate::state::range::{RangeScope, ViewScope};
use crate::state::ranks::RanksAction;
use crate::state::rules::RulesAction;
use crate::state::settings::SettingsAction;
use crate::state::stage::Renderer;
use crate::text::side::Side;
use crate::text::tab::Tab;
use protocol::{Grouping, Reply};

/// Something that happened: user input, a reply of the worker, or a browser event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Feature(FeatureAction),
    /// A command was given by a key or by its control on the page.
    Command(Command),
    /// Files were dropped, picked or pasted. Replaces the shell's list of files, which
    /// [`Origin::File`](crate::state::effect::Origin::File) indexes.
    FilesGiven(Vec<GivenFile>),
    /// Files were appended to the shell's list of files. Holds the index of the first appended file, which is opened,
    /// and the appended files.
    FilesAdded(usize, Vec<GivenFile>),
    /// A snapshot was picked. Holds its index in [`crate::state::shared::Shared::snapshots`].
    SnapshotChosen(usize),
    /// A range of events to load was entered. Holds the typed text. See [`super::load_dialog`].
    LoadRangeEntered(String),
    /// A link was opened or pasted, or is the page's own address.
    LinkGiven(Box<Link>),
    /// The notice about the link was dismissed.
    NoticeClosed,
    /// The message about a file that could not be opened was dismissed.
    ToastClosed,
    /// The fingerprint of a file was computed. `load` is the id of the load that reads the file.
    Fingerprinted {
        load: u32,
        print: String,
    },
    /// The download of a linked file was interrupted and is being resumed.
    LinkInterrupted {
        load: u32,
        /// Number of bytes received so far.
        at: u64,
    },
    /// A linked file could not be fetched.
    LinkFailed {
        load: u32,
        /// HTTP status. `None` if the browser hides the response from the page, or there was none.
        status: Option<u16>,
    },
    Comparing(ComparingAction),
    Ranks(RanksAction),
    /// A grouping for stacking the timeline was chosen. `None` stacks allocations in allocation order.
    StackingChosen(Option<Grouping>),
    ColouringChosen(Grouping),
    /// Another plot, or another part of memory to plot, was chosen.
    Plot(PlotAction),
    /// A legend entry was clicked. Holds its index in the palette.
    LegendClicked(u32),
    LegendFiltered(String),
    /// A legend entry was double-clicked, or its "only" button was pressed.
    LegendIsolated(u32),
    /// The minimap's window was moved or resized. Holds its left and right edge as fractions of the axis, 0 to 1.
    MinimapMoved([f64; 2]),
    /// Text was entered in the field that moves the cursor, such as an event or a time.
    GoToEntered(String),
    /// A pointer event on the axis below the timeline.
    AxisPressed(AxisPress),
    /// A range was drawn on the minimap. Holds its ends as fractions of the axis, 0 to 1.
    MinimapRangeDrawn([f64; 2]),
    /// A filter was chosen for the allocations that the views list while a range is selected.
    RangeFilterChosen(RangeScope),
    ScopeChosen(ViewScope),
    /// A grouping was chosen for both stacking and colouring. `None` stacks allocations in allocation order.
    GroupChosen(Option<Grouping>),
    /// A tab of the side panel was chosen.
    SideChosen(Side),
    /// The side panel was opened or closed. In narrow windows it is a bottom sheet.
    SheetToggled,
    /// The selected range was cleared.
    RangeRemoved,
    TabChosen(Tab),
    /// The views were resized to this percentage of the window's height.
    ViewsResized(u32),
    FindTyped(String),
    /// A device was picked. Holds its ordinal.
    DeviceChosen(i64),
    /// The worker replied.
    Replied {
        /// Id of the load that the reply belongs to. Replies to earlier loads are dropped.
        load: u32,
        reply: Reply,
    },
    /// The worker stopped because it ran out of memory or because of a bug. Holds the error message.
    WorkerStopped(String),
    /// The code of insights and comparisons could not be fetched. The shell repeats the request. Holds the error
    /// message.
    LaterCodeFailed(String),
    /// The shell could not start a load, for example because it could not create a worker. Holds the error message.
    LoadFailed(String),
    Resized(Canvas),
    /// The renderer changed, so all scenes must be uploaded again.
    RendererChosen(Renderer),
    PointerMoved(Pointer),
    PointerLeft,
    /// The timeline was dragged by this many device pixels to the right and upwards.
    Dragged {
        right_px: f64,
        up_px: f64,
    },
    /// A drag started: the pointer moved while pressed. `held` are the modifier keys.
    DragStarted {
        /// Position at which the pointer was pressed.
        from: Pointer,
        held: Modifiers,
    },
    /// The pointer moved here during a drag that measures a distance or draws a zoom box.
    DragMoved(Pointer),
    DragEnded,
    DragCancelled,
    MarkerAdded(Pointer),
    /// A marker was clicked in the list. Holds the marker's number.
    MarkerVisited(u32),
    MarkerRemoved(u32),
    /// The device capacity was typed, in GiB.
    CapacityTyped(String),
    Clicked(Pointer),
    /// The wheel was turned over the canvas by `delta` CSS pixels, positive towards the user.
    Wheel {
        at: Pointer,
        delta: f64,
        axis: WheelAction,
    },
    DropHover(DropHover),
    /// Something was dropped, but the browser provided no file.
    DroppedNoFile,
    /// Copying to the clipboard succeeded, or failed with this error message.
    Copied(Result<(), String>),
    HelpClosed,
    HelpFiltered(String),
    Settings(SettingsAction),
    Rules(RulesAction),
}

impl Action {
    /// Wraps an action of a feature in [`Action::Feature`].
    pub fn feature(action: impl Into<FeatureAction>) -> Action {
        Action::Feature(action.into())
    }
}

impl<A: Into<FeatureAction>> From<A> for Action {
    fn from(action: A) -> Action {
        Action::feature(action)
    }
}
