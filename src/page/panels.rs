//! Every part of the page, in the order in which they are shown. A new tab's is one file here and two lines below.

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

/// Brings them to life. The timeline comes early: it is what people wait for.
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

/// Milliseconds that showing may take of one frame; the rest follows in the next.
const SLICE_MS: f64 = 6.0;

/// What the page shows.
pub(super) struct Panels {
    shows: Vec<Show>,
    /// The part that is shown next: parts are shown in their order, however many frames that takes.
    next: usize,
    /// Whether something changed since the first was shown, so that all are shown again after the last.
    again: bool,
}

impl Panels {
    /// Brings all parts to life.
    pub(super) fn begin(app: &'static App) -> Result<Panels, String> {
        let shows = PARTS.iter().map(|begin| begin(app)).collect::<Result<_, _>>()?;
        Ok(Panels { shows, next: 0, again: false })
    }

    /// Shows the state, all of it.
    pub(super) fn show(&mut self, app: &'static App) {
        let state = app.state.borrow();
        self.shows.iter_mut().for_each(|show| show(app, &state));
        (self.next, self.again) = (0, false);
    }

    /// Shows as much of the state as a frame has time for, and asks for another one where that is not all. `changed` says whether this frame
    /// was asked for by more than that.
    pub(super) fn show_some(&mut self, app: &'static App, changed: bool) {
        let state = app.state.borrow();
        let clock = app.dom.window.performance();
        let now = || clock.as_ref().map_or(0.0, |clock| clock.now());
        let end = now() + SLICE_MS;
        self.again |= changed;
        loop {
            if self.next == 0 && !std::mem::take(&mut self.again) {
                return;
            }
            for show in self.shows.iter_mut().skip(self.next) {
                if now() >= end {
                    app.frame.go_on();
                    return;
                }
                show(app, &state);
                self.next += 1;
            }
            self.next = 0;
        }
    }
}
