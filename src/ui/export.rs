//! The visible picture as a file: what is asked for, what it still waits for, and everything that goes into it.
//!
//! At the size of the screen the scene that is shown is the picture. Larger ones get a scene of their own, so nothing is
//! interpolated; while the worker makes it, no other is asked for, or the newer one would overtake it.

use super::action::Effect;
use super::feature::{Change, Feature, Turn};
use super::figure::{Figure, sheet, words::Words};
use super::overlay::Overlay;
use super::plots;
use super::state::State;
use base::units::grouped;
use engine::protocol::{Answer, Ask, Looks, Question, Reply, Request};
use picture::outline::{Rect, outline};
use picture::shapes::Sheet;
use picture::svg::Drawing;
use picture::timeline::{OutlineRect, Scene, View};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The widest and highest picture that browsers draw, in pixels.
pub const MOST_PX: u32 = 16_384;

/// What file it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Pixels, as many as on the screen.
    Png1,
    /// Twice as many across and down.
    Png2,
    /// Four times as many.
    Png4,
    /// Rectangles.
    Svg,
}

impl Format {
    /// Pixels to a pixel of the screen.
    pub fn times(self) -> u32 {
        match self {
            Format::Png1 | Format::Svg => 1,
            Format::Png2 => 2,
            Format::Png4 => 4,
        }
    }

    /// The ending of its name, with the dot.
    pub fn ending(self) -> &'static str {
        if self == Format::Svg { ".svg" } else { ".png" }
    }
}

/// Whether the dialog that offers formats is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialog {
    /// No.
    #[default]
    Closed,
    /// Yes.
    Open,
}

/// What the page knows of exports.
#[derive(Clone, Debug, Default)]
pub struct Export {
    /// Whether formats are offered.
    pub dialog: Dialog,
    wanted: Option<Format>,
    making: Option<Box<Making>>,
}

/// A picture whose scene is on its way: everything but that, as it was when it was asked for.
#[derive(Clone, Debug)]
struct Making {
    /// Of the requests for scene and outline.
    serials: [u32; 2],
    format: Format,
    view: View,
    looks: Looks,
    faded: BTreeSet<u32>,
    figure: Figure,
    words: Words,
    outline: Vec<OutlineRect>,
}

/// A picture, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What it becomes.
    pub format: Format,
    /// Its file's name.
    pub file: String,
    /// What stands around it.
    pub sheet: Sheet,
    /// The window.
    pub view: View,
    /// Its geometry, which may reach beyond the window.
    pub scene: Rc<Scene>,
    /// What its colours tell.
    pub looks: Looks,
    /// Which slots of the palette are faded.
    pub faded: BTreeSet<u32>,
    /// The outline of the selection, in pixels of the window.
    pub outline: Vec<Rect>,
}

impl Picture {
    /// What of it is drawn.
    pub fn drawing(&self) -> Drawing<'_> {
        Drawing { sheet: &self.sheet, view: &self.view, scene: &self.scene, outline: &self.outline }
    }
}

impl Export {
    /// Whether the worker is making a scene for a file.
    pub(super) fn is_drawing(&self) -> bool {
        self.making.is_some()
    }
}

/// Opens or closes the dialog; there must be something to export.
pub(super) fn toggle(state: &mut State) {
    let can = state.geometry.scene.is_some() && state.export.dialog == Dialog::Closed;
    state.export.dialog = if can { Dialog::Open } else { Dialog::Closed };
}

/// The picture shall become a file.
pub(super) fn want(state: &mut State, format: Format) {
    state.export.dialog = Dialog::Closed;
    if state.device().is_some() && !state.export.is_drawing() {
        state.export.wanted = Some(format);
        state.remark = Some("Drawing the picture…".to_owned());
    }
}

/// The shell has made the file of this name, or could not.
pub(super) fn exported(state: &mut State, result: Result<String, String>) {
    state.remark = Some(match result {
        Ok(file) => format!("Saved {file}."),
        Err(cause) => format!("The picture could not be saved: {cause}."),
    });
}

/// Begins what is wanted, once everything it shows is known. To be called when the scene of the window is there.
fn begin(state: &mut State, device: i64, effects: &mut Vec<Effect>) {
    let Some(format) = state.export.wanted.filter(|_| !state.export.is_drawing()) else { return };
    let (Some(plane), Some(shown), Some(canvas)) = (state.plane(), state.view, state.canvas) else { return };
    let Some(scene) = state.geometry.scene.clone() else { return };
    let around = &state.around;
    let is_known = around.marks.latest().is_some() && around.legend_of(state.told_by_colour()).is_some();
    let outline = state.outlined().map(|of| around.outline.about(&of).cloned());
    if !is_known || outline == Some(None) {
        return;
    }
    state.export.wanted = None;
    let times = f64::from(format.times());
    let scaled = scaled(&shown, format);
    let mut making = Box::new(Making {
        serials: [state.next_serial(), state.next_serial()],
        format,
        view: scaled,
        looks: state.looks,
        faded: state.around.faded.clone(),
        figure: Figure::of(state, &scaled, canvas.scale * times).with_tools(Overlay::of(state), times),
        words: Words::of(state, &shown),
        outline: Vec::new(),
    });
    if format.times() == 1 {
        making.outline = outline.flatten().map_or_else(Vec::new, |rects| rects.to_vec());
        finish(state, *making, scene, effects);
        return;
    }
    // A pixel more on each side, where the picture goes on: so a block that begins at the edge of the window has its line there.
    let view = plane.widened(scaled, 1, 1);
    let ([scene, outline], looks) = (making.serials, making.looks);
    if let Some(allocation) = state.outlined().map(|of| of.allocation) {
        effects.push(Effect::Ask(Request::Ask(Ask {
            serial: outline,
            device,
            what: Question::Outline { view, looks, allocation },
        })));
    }
    effects.push(Effect::Ask(Request::Ask(Ask { serial: scene, device, what: Question::Scene { view, looks } })));
    state.export.making = Some(making);
}

/// The window with as many pixels as the format has.
fn scaled(shown: &View, format: Format) -> View {
    let times = f64::from(format.times());
    View {
        x_per_px: shown.x_per_px / times,
        bytes_per_px: shown.bytes_per_px / times,
        left_px: shown.left_px * i64::from(format.times()),
        bottom_px: shown.bottom_px * i64::from(format.times()),
        width_px: shown.width_px.saturating_mul(format.times()),
        height_px: shown.height_px.saturating_mul(format.times()),
        ..*shown
    }
}

/// Takes an answer that an export waits for; any other is given back.
fn take(state: &mut State, reply: Reply, _: f64, effects: &mut Vec<Effect>) -> Option<Reply> {
    let Some(making) = &mut state.export.making else { return Some(reply) };
    match reply {
        Reply::Answer { serial, answer: Answer::Outline(rects) } if serial == making.serials[1] => {
            making.outline = rects;
        }
        Reply::Answer { serial, answer: Answer::Scene(scene) } if serial == making.serials[0] => {
            if let Some(making) = state.export.making.take() {
                let plot = making.looks.plot;
                finish(state, *making, Rc::new(plots::bare(*scene, plot)), effects);
            }
        }
        reply => return Some(reply),
    }
    None
}

/// How it takes part: a picture for a file overtakes those for the screen, and it takes its scene before they do.
pub(super) const FEATURE: Feature = Feature { reset, asks: &[(Turn::AfterScene, begin)], take };

fn reset(state: &mut State, change: Change) {
    if change == Change::Device {
        state.export = Export::default();
    }
}

fn finish(state: &mut State, making: Making, scene: Rc<Scene>, effects: &mut Vec<Effect>) {
    let sheet = sheet::sheet(&making.figure, &making.words, &scene);
    if sheet.size.iter().any(|&side| side > MOST_PX) {
        let [width, height] = sheet.size;
        exported(state, Err(format!("{width} × {height} pixels are more than a browser draws")));
        return;
    }
    // Scene and window have one scale, so one is the other moved by whole pixels.
    let shift = |from: i64, to: i64| i32::try_from(from - to).unwrap_or(0);
    let right = shift(scene.view.left_px, making.view.left_px);
    let up = shift(scene.view.bottom_px, making.view.bottom_px);
    let placed = |rect: &OutlineRect| Rect {
        x: rect.x.map(|x| x.saturating_add(right)),
        y: rect.y.map(|y| y.saturating_add(up)),
    };
    let parts: Vec<Rect> = making.outline.iter().map(placed).collect();
    let thick = 2 * (making.figure.scale.round().max(1.0) as i32);
    effects.push(Effect::Export(Box::new(Picture {
        format: making.format,
        file: making.words.file + making.format.ending(),
        sheet,
        view: making.view,
        scene,
        looks: making.looks,
        faded: making.faded,
        outline: outline(&parts, thick),
    })));
}

/// How large the picture of a format is, for people: `1,280 × 720 pixels`.
pub fn pixels(state: &State, format: Format) -> String {
    let (Some(view), Some(canvas), Some(scene)) = (state.view, state.canvas, &state.geometry.scene) else {
        return String::new();
    };
    let figure = Figure::of(state, &scaled(&view, format), canvas.scale * f64::from(format.times()));
    let [width, height] = sheet::sheet(&figure, &Words::of(state, &view), scene).size.map(|side| grouped(side.into()));
    format!("{width} × {height} pixels")
}
