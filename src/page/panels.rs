//! List of all parts of the page, in rendering order. A new tab needs a file in this folder and two lines below.

mod choosing;
mod comparing;
mod details;
mod events;
mod export;
mod find;
mod flame;
mod flame_canvas;
mod grid;
mod help;
mod histograms;
mod hover;
mod lanes;
mod legend;
mod live;
mod memory;
mod memory_canvas;
mod minimap;
mod moment;
mod overlay;
pub(super) mod palette;
mod pieces;
mod plan;
mod plots;
mod queries;
mod range;
mod rank_map;
mod ranks;
pub(super) mod recent;
mod report;
pub(super) mod rules;
mod rules_form;
pub(super) mod settings;
pub(super) mod side;
pub(super) mod sources;
mod stage;
mod summary;
mod table;
mod table_mini;
mod timeline;
pub(super) mod tree;
mod tree_row;
pub(super) mod views;
mod what_if;
mod why;

use crate::app::{App, Begin, Show, begin};
use crate::files::Given;
use crate::gestures::Gestures;
use crate::keys::Keys;
use ui::passes::Passes;

/// All parts, in rendering order. The timeline comes early, because it is what users wait for.
const PARTS: &[Begin] = &[
    begin::<Keys>,
    begin::<Given>,
    begin::<Gestures>,
    begin::<stage::Panel>,
    begin::<choosing::Panel>,
    begin::<recent::Panel>,
    begin::<live::Panel>,
    begin::<summary::Panel>,
    begin::<plots::Panel>,
    begin::<lanes::Panel>,
    begin::<minimap::Panel>,
    begin::<overlay::Panel>,
    begin::<comparing::Panel>,
    begin::<timeline::Panel>,
    begin::<views::Panel>,
    begin::<side::Panel>,
    begin::<table::Panel>,
    begin::<histograms::Panel>,
    begin::<details::Panel>,
    begin::<events::Panel>,
    begin::<memory::Panel>,
    begin::<find::Panel>,
    begin::<flame::Panel>,
    begin::<hover::Panel>,
    begin::<legend::Panel>,
    begin::<help::Panel>,
    begin::<export::Panel>,
    begin::<moment::Panel>,
    begin::<settings::Panel>,
    begin::<tree::Panel>,
    begin::<range::Panel>,
    begin::<rules::Panel>,
    begin::<palette::Panel>,
    begin::<sources::Panel>,
    begin::<queries::Panel>,
    begin::<ranks::Panel>,
    begin::<why::Panel>,
    begin::<what_if::Panel>,
    begin::<plan::Panel>,
    begin::<flame_canvas::Panel>,
    begin::<memory_canvas::Panel>,
];

/// Time budget, in milliseconds, for rendering in one frame. The rest follows in the next one.
const SLICE_MS: f64 = 6.0;

/// Render functions of all parts.
pub(super) struct Panels {
    shows: Vec<Show>,
    passes: Passes,
}

impl Panels {
    /// Initializes all parts.
    pub(super) fn begin(app: &'static App) -> Result<Panels, String> {
        let shows = PARTS.iter().map(|begin| begin(app)).collect::<Result<_, _>>()?;
        Ok(Panels { shows, passes: Passes::default() })
    }

    /// Renders all parts at once.
    pub(super) fn show(&mut self, app: &'static App) {
        let state = app.state.borrow();
        self.shows.iter_mut().for_each(|show| show(app, &state));
        self.passes.done(self.shows.len());
    }

    /// Renders as many parts as fit into a frame, and schedules another frame for the rest. `changed` is false if this
    /// frame only continues the previous one.
    pub(super) fn show_some(&mut self, app: &'static App, changed: bool) {
        let state = app.state.borrow();
        let clock = app.dom.window.performance();
        let now = || clock.as_ref().map_or(0.0, |clock| clock.now());
        let end = now() + SLICE_MS;
        let Panels { shows, passes } = self;
        let show = &mut |at: usize| shows.get_mut(at).into_iter().for_each(|show| show(app, &state));
        if passes.go_on(PARTS.len(), changed, &mut || now() < end, show) {
            app.frame.go_on();
        }
    }
}
