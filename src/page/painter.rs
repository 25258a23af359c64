//! The picture: scene, outlines and labels on the canvas, drawn when something of it changed and only then.

use super::dom::{self, Dom};
use super::elements::{Find, elements};
use super::labels;
use super::outlines::outlines;
use super::sizes::Size;
use super::theme::Theme;
use engine::protocol::{Highlight, Looks};
use picture::render::{Drawing, Gpu, Lane, Look, OverlayRect, Twin, Which};
use picture::timeline::{Scene, View};
use std::collections::BTreeSet;
use ui::State;
use ui::figure::Figure;
use ui::lanes::ShownLane;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

elements! {
    HtmlCanvasElement: flame_canvas, labels, timeline;
}

/// Draws the timeline, and for whoever knows it the flame graph.
pub(super) struct Painter {
    elements: Elements,
    surface: Surface,
    /// The canvases, once they are others than the skeleton's: one that had WebGPU can't have the twin.
    canvases: Option<[HtmlCanvasElement; 2]>,
    shown: Option<Picture>,
    frames: u64,
    /// How many devices were asked for.
    made: u32,
    /// How many surfaces there were.
    surfaces: u32,
}

enum Surface {
    /// The browser was not asked yet, or is about to give a new device.
    None,
    Gpu(Box<Gpu>),
    Cpu(Twin, [CanvasRenderingContext2d; 2]),
}

/// Everything a picture depends on, but for the geometry.
#[derive(Clone, PartialEq)]
struct Picture {
    lanes: Vec<LanePicture>,
    overlay: Vec<OverlayRect>,
    figure: Figure,
    theme: Theme,
    faded: BTreeSet<u32>,
    stage: (u32, u32),
}

/// What of a lane its picture depends on.
#[derive(Clone, PartialEq)]
struct LanePicture {
    /// The number of its scene: the device's place.
    scene: u32,
    view: View,
    bottom_px: u32,
    looks: Looks,
}

impl LanePicture {
    fn of(lane: &ShownLane<'_>) -> LanePicture {
        let looks = lane.geometry.looks;
        LanePicture { scene: lane.place as u32, view: *lane.view, bottom_px: lane.bottom_px, looks }
    }
}

impl Painter {
    /// One that has nothing to draw with yet.
    pub(super) fn new(dom: &Dom) -> Result<Painter, String> {
        let (surface, elements) = (Surface::None, Elements::find(dom)?);
        Ok(Painter { elements, surface, canvases: None, shown: None, frames: 0, made: 0, surfaces: 0 })
    }

    /// Makes the first text, which takes longest.
    pub(super) fn prepare(&self, theme: &Theme) {
        labels::prepare(&self.elements.labels, theme, self.elements.window.device_pixel_ratio());
    }

    /// A new surface is on its way, as number…
    pub(super) fn begin(&mut self) -> u32 {
        self.surface = Surface::None;
        self.shown = None;
        self.made += 1;
        self.made
    }

    /// Whether the surface asked for as number `made` is the latest.
    pub(super) fn is_current(&self, made: u32) -> bool {
        self.made == made
    }

    /// The canvases of the timeline and of the flame graph.
    pub(super) fn canvases(&self) -> [HtmlCanvasElement; 2] {
        self.canvases.clone().unwrap_or_else(|| [self.elements.timeline.clone(), self.elements.flame_canvas.clone()])
    }

    /// Another number than before where what was drawn is gone.
    pub(super) fn surfaces(&self) -> u32 {
        self.surfaces
    }

    /// Draws with this device from now on.
    pub(super) fn use_gpu(&mut self, gpu: Gpu) {
        (self.surface, self.shown) = (Surface::Gpu(Box::new(gpu)), None);
        self.surfaces += 1;
    }

    /// Draws with the twin from now on.
    pub(super) fn use_twin(&mut self) {
        let [timeline, flame] = self.canvases().map(plain);
        self.surface = match (timeline.1, flame.1) {
            (Some(timeline), Some(flame)) => Surface::Cpu(Twin::new(), [timeline, flame]),
            _ => Surface::None,
        };
        self.canvases = Some([timeline.0, flame.0]);
        self.surfaces += 1;
        self.shown = None;
    }

    /// Takes new geometry of a device.
    pub(super) fn upload(&mut self, device_place: usize, scene: &Scene) {
        self.shown = None;
        match &mut self.surface {
            Surface::None => {}
            Surface::Gpu(gpu) => gpu.upload(device_place as u32, scene),
            Surface::Cpu(twin, _) => twin.upload(device_place as u32, scene),
        }
    }

    /// Forgets the scenes of devices that have no lane any more.
    fn keep_scenes(&mut self, lanes: &[LanePicture]) {
        let wanted = |number| lanes.iter().any(|lane| lane.scene == number);
        match &mut self.surface {
            Surface::None => {}
            Surface::Gpu(gpu) => gpu.keep_scenes(&wanted),
            Surface::Cpu(twin, _) => twin.keep_scenes(&wanted),
        }
    }

    /// Draws the state on a stage of this size, if the picture changed. `true` when the device failed: choose another.
    pub(super) fn show(&mut self, state: &State, theme: &Theme, stage: Size) -> bool {
        let (Some(view), Some(canvas)) = (state.view, state.canvas) else { return false };
        let drawn = |lane: &ShownLane<'_>| lane.geometry.scene.is_some();
        let lanes: Vec<LanePicture> = state.shown_lanes().filter(drawn).map(|lane| LanePicture::of(&lane)).collect();
        if lanes.is_empty() {
            return false;
        }
        let stage = stage.on_device(canvas.scale);
        let picture = Picture {
            lanes,
            overlay: outlines(state, &theme.look),
            figure: Figure::on_canvas(state, &view, canvas),
            theme: theme.clone(),
            faded: state.around.faded.clone(),
            stage,
        };
        if self.shown.as_ref() == Some(&picture) || matches!(self.surface, Surface::None) {
            return false;
        }
        let [canvas_element, _] = self.canvases();
        self.keep_scenes(&picture.lanes);
        let looks: Vec<Look> = picture.lanes.iter().map(|lane| look(&theme.look, lane.looks, &picture.faded)).collect();
        let lanes = picture.lanes.iter().zip(&looks).map(|(lane, look)| Lane {
            scene: lane.scene,
            view: &lane.view,
            look,
            bottom_px: lane.bottom_px,
        });
        let lanes: Vec<Lane<'_>> = lanes.collect();
        let size_px = [canvas.width_px, canvas.height_px];
        let background = theme.look.background;
        let drawing = Drawing { size_px, background, lanes: &lanes, flame: None, overlay: &picture.overlay };
        let drawn = match &mut self.surface {
            Surface::None => return false,
            Surface::Gpu(gpu) => gpu.draw(Which::Timeline, &drawing).is_ok(),
            Surface::Cpu(twin, [context, _]) => draw_with_twin(twin, context, &canvas_element, &drawing),
        };
        if !drawn {
            self.surface = Surface::None;
            return true;
        }
        let scenes = state.shown_lanes().filter_map(|lane| lane.geometry.scene.as_ref());
        let band_px = scenes.map(|scene| scene.band_px).max().unwrap_or(1);
        labels::draw(&self.elements.labels, &picture.figure, theme, &theme.look, stage);
        self.frames += 1;
        dom::set_attribute(&canvas_element, "data-frames", &self.frames.to_string());
        dom::set_attribute(&canvas_element, "data-band-px", &band_px.to_string());
        self.shown = Some(picture);
        false
    }

    /// Draws the flame graph; `None` while there is nothing to draw with, `Some(false)` when the device failed: choose another.
    pub(super) fn draw_flame(&mut self, drawing: &Drawing<'_>) -> Option<bool> {
        let [_, canvas] = self.canvases();
        let drawn = match &mut self.surface {
            Surface::None => return None,
            Surface::Gpu(gpu) => gpu.draw(Which::Flame, drawing).is_ok(),
            Surface::Cpu(twin, [_, context]) => draw_with_twin(twin, context, &canvas, drawing),
        };
        if !drawn {
            self.surface = Surface::None;
        }
        Some(drawn)
    }
}

/// A canvas that the twin can draw on, in the place of this one if need be.
fn plain(canvas: HtmlCanvasElement) -> (HtmlCanvasElement, Option<CanvasRenderingContext2d>) {
    if let Some(context) = labels::bare_context(&canvas) {
        return (canvas, Some(context));
    }
    let Some(fresh) = canvas.clone_node().ok().and_then(|node| node.dyn_into::<HtmlCanvasElement>().ok()) else {
        return (canvas, None);
    };
    let _ = canvas.replace_with_with_node_1(&fresh);
    let context = labels::bare_context(&fresh);
    (fresh, context)
}

/// The theme's colours for what a scene's colours tell.
pub(super) fn look(look: &Look, looks: Looks, faded: &BTreeSet<u32>) -> Look {
    let look = faded_look(look, looks.colouring.is_ordered(), faded);
    // A search is asked for its matches; a selection asks for no more than a hint.
    if matches!(looks.highlight, Highlight::Stack(_)) { look.stepping_back() } else { look }
}

/// The same where nothing stands out.
pub(super) fn faded_look(look: &Look, is_ordered: bool, faded: &BTreeSet<u32>) -> Look {
    let look = if is_ordered { look.clone().in_order() } else { look.clone() };
    look.with_faded(|slot| faded.contains(&slot))
}

fn draw_with_twin(
    twin: &Twin,
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    drawing: &Drawing<'_>,
) -> bool {
    let image = twin.draw(drawing);
    if (canvas.width(), canvas.height()) != (image.width, image.height) {
        canvas.set_width(image.width);
        canvas.set_height(image.height);
    }
    ImageData::new_with_u8_clamped_array_and_sh(Clamped(&image.pixels), image.width, image.height)
        .and_then(|data| context.put_image_data(&data, 0.0, 0.0))
        .is_ok()
}
