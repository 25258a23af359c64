//! List of all parts of the page, in rendering order. To add a tab, add a file to this folder and two lines below.

mod comparing;
mod cursor_panel;
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
mod insights;
mod lanes;
mod legend;
mod live;
mod load_range;
mod minimap;
mod overlay;
pub(super) mod palette;
mod pieces;
mod plan;
mod plots;
pub(super) mod queries;
mod range;
mod rank_map;
mod ranks;
pub(super) mod recent;
mod report;
pub(super) mod rules;
mod rules_form;
mod segments;
mod segments_canvas;
pub(super) mod settings;
pub(super) mod side;
pub(super) mod sources;
mod stage;
mod summary;
mod table;
mod table_mini;
pub(super) mod timeline;
pub(super) mod tree;
mod tree_row;
pub(super) mod views;
mod what_if;

use crate::app::{App, RenderPart, StartPart, start_part};
use crate::embedding::Embedding;
use crate::files::FileInput;
use crate::gestures::Gestures;
use crate::keys::Keys;
use ui::plot::passes::RenderPasses;

/// All parts of the page, in rendering order. The timeline comes early, because users wait for it.
const PARTS: &[StartPart] = &[
    start_part::<Keys>,
    start_part::<FileInput>,
    start_part::<Embedding>,
    start_part::<Gestures>,
    start_part::<stage::Panel>,
    start_part::<timeline::Panel>,
    start_part::<load_range::Panel>,
    start_part::<recent::Panel>,
    start_part::<live::Panel>,
    start_part::<summary::Panel>,
    start_part::<plots::Panel>,
    start_part::<lanes::Panel>,
    start_part::<minimap::Panel>,
    start_part::<overlay::Panel>,
    start_part::<comparing::Panel>,
    start_part::<views::Panel>,
    start_part::<side::Panel>,
    start_part::<table::Panel>,
    start_part::<histograms::Panel>,
    start_part::<details::Panel>,
    start_part::<events::Panel>,
    start_part::<segments::Panel>,
    start_part::<find::Panel>,
    start_part::<flame::Panel>,
    start_part::<hover::Panel>,
    start_part::<legend::Panel>,
    start_part::<help::Panel>,
    start_part::<export::Panel>,
    start_part::<cursor_panel::Panel>,
    start_part::<settings::Panel>,
    start_part::<tree::Panel>,
    start_part::<range::Panel>,
    start_part::<rules::Panel>,
    start_part::<palette::Panel>,
    start_part::<sources::Panel>,
    start_part::<queries::Panel>,
    start_part::<ranks::Panel>,
    start_part::<insights::Panel>,
    start_part::<what_if::Panel>,
    start_part::<plan::Panel>,
    start_part::<flame_canvas::Panel>,
    start_part::<segments_canvas::Panel>,
];

/// Time budget, in milliseconds, for rendering parts in one frame. The remaining parts are rendered in the next frame.
const SLICE_MS: f64 = 4.0;

/// Render functions of all parts.
pub(super) struct Panels {
    renders: Vec<RenderPart>,
    passes: RenderPasses,
}

impl Panels {
    /// Initializes all parts.
    pub(super) fn start(app: &'static App) -> Result<Panels, String> {
        let renders = PARTS.iter().map(|begin| begin(app)).collect::<Result<_, _>>()?;
        Ok(Panels { renders, passes: RenderPasses::default() })
    }

    /// Renders all parts at once.
    pub(super) fn render_all(&mut self, app: &'static App) {
        let state = app.state.borrow();
        self.renders.iter_mut().for_each(|show| show(app, &state));
        self.passes.finish(self.renders.len());
    }

    /// Renders as many parts as the time budget of a frame allows, and schedules another frame for the others.
    /// `changed` is false if this frame only continues the previous one.
    pub(super) fn render_slice(&mut self, app: &'static App, changed: bool) {
        let state = app.state.borrow();
        let clock = app.dom.window.performance();
        let now = || clock.as_ref().map_or(0.0, |clock| clock.now());
        let end = now() + SLICE_MS;
        let Panels { renders, passes } = self;
        let show = &mut |at: usize| renders.get_mut(at).into_iter().for_each(|show| show(app, &state));
        if passes.run_frame(PARTS.len(), changed, &mut || now() < end, show) {
            app.frame.resume();
        }
    }
}
