//! Drawing of the timeline and the flame graph: scene, outlines and labels. They are redrawn only after a change.

use super::dom::{self, Dom};
use super::elements::{Find, elements};
use super::labels;
use super::outlines::outlines;
use super::sizes::Size;
use super::theme::Theme;
use gpu::{Gpu, SurfaceId};
use picture::render::{CpuRenderer, Drawing, Lane, OverlayRect, PictureTheme};
use picture::timeline::{Scene, View};
use protocol::{Highlight, PlotSettings};
use std::collections::BTreeSet;
use ui::features::State;
use ui::plot::figure::Figure;
use ui::state::lanes::ShownLane;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

elements! {
    HtmlCanvasElement: flame_canvas, labels, timeline;
}

/// Painter of the timeline and the flame graph.
pub(super) struct Painter {
    elements: Elements,
    surface: Surface,
    /// Canvases that replaced those of `index.html`, if any. The CPU renderer cannot use a canvas that had a WebGPU
    /// context.
    canvases: Option<[HtmlCanvasElement; 2]>,
    shown: Option<Picture>,
    frames: u64,
    /// Number of WebGPU devices requested so far.
    requests: u32,
    /// Number of times that a renderer was set up. Each time, the canvases lost their content.
    surface_count: u32,
}

enum Surface {
    /// No renderer is selected yet, or a new device is being requested.
    None,
    Gpu(Box<Gpu>),
    Cpu(CpuRenderer, [CanvasRenderingContext2d; 2]),
}

/// All inputs of the drawn picture, except the uploaded scenes.
#[derive(Clone, PartialEq)]
struct Picture {
    lanes: Vec<LanePicture>,
    overlay: Vec<OverlayRect>,
    figure: Figure,
    theme: Theme,
    faded: BTreeSet<u32>,
    stage: (u32, u32),
}

/// All inputs of a lane's drawn picture, except the uploaded scene.
#[derive(Clone, PartialEq)]
struct LanePicture {
    /// Id of the lane's scene: the index of the device.
    scene: u32,
    view: View,
    bottom_px: u32,
    plot_settings: PlotSettings,
}

impl LanePicture {
    fn from_lane(lane: &ShownLane<'_>) -> LanePicture {
        let plot_settings = lane.geometry.plot_settings;
        LanePicture { scene: lane.index as u32, view: *lane.view, bottom_px: lane.bottom_px, plot_settings }
    }
}

impl Painter {
    /// Creates a painter without a renderer.
    pub(super) fn new(dom: &Dom) -> Result<Painter, String> {
        let (surface, elements) = (Surface::None, Elements::find(dom)?);
        Ok(Painter { elements, surface, canvases: None, shown: None, frames: 0, requests: 0, surface_count: 0 })
    }

    /// Draws invisible text, since the first text on a canvas is slow.
    pub(super) fn warm_up(&self, theme: &Theme) {
        labels::prepare(&self.elements.labels, theme, self.elements.window.device_pixel_ratio());
    }

    /// Drops the renderer, because a new one is about to be requested. Returns the serial number of that request.
    pub(super) fn reset(&mut self) -> u32 {
        self.surface = Surface::None;
        self.shown = None;
        self.requests += 1;
        self.requests
    }

    /// Returns whether this is the serial number of the latest request for a renderer.
    pub(super) fn is_current(&self, request: u32) -> bool {
        self.requests == request
    }

    /// Returns the canvases of the timeline and of the flame graph.
    pub(super) fn canvases(&self) -> [HtmlCanvasElement; 2] {
        self.canvases.clone().unwrap_or_else(|| [self.elements.timeline.clone(), self.elements.flame_canvas.clone()])
    }

    /// Returns a number that changes whenever the canvases lose their content.
    pub(super) fn surface_count(&self) -> u32 {
        self.surface_count
    }

    /// Switches to this WebGPU device.
    pub(super) fn use_gpu(&mut self, gpu: Gpu) {
        (self.surface, self.shown) = (Surface::Gpu(Box::new(gpu)), None);
        self.surface_count += 1;
    }

    /// Switches to the CPU renderer.
    pub(super) fn use_cpu(&mut self) {
        labels::keep_in_memory();
        let [timeline, flame] = self.canvases().map(with_2d_context);
        self.surface = match (timeline.1, flame.1) {
            (Some(timeline), Some(flame)) => Surface::Cpu(CpuRenderer::new(), [timeline, flame]),
            _ => Surface::None,
        };
        self.canvases = Some([timeline.0, flame.0]);
        self.surface_count += 1;
        self.shown = None;
    }

    pub(super) fn upload(&mut self, device_index: usize, scene: &Scene) {
        self.shown = None;
        match &mut self.surface {
            Surface::None => {}
            Surface::Gpu(gpu) => gpu.upload(device_index as u32, scene),
            Surface::Cpu(renderer, _) => renderer.upload(device_index as u32, scene),
        }
    }

    /// Removes the scenes of devices that no longer have a lane.
    fn retain_scenes(&mut self, lanes: &[LanePicture]) {
        let wanted = |number| lanes.iter().any(|lane| lane.scene == number);
        match &mut self.surface {
            Surface::None => {}
            Surface::Gpu(gpu) => gpu.retain_scenes(&wanted),
            Surface::Cpu(renderer, _) => renderer.keep_scenes(&wanted),
        }
    }

    /// Draws the state on a stage of this size, unless the picture is unchanged. Returns true if the WebGPU device
    /// failed and another renderer must be selected.
    pub(super) fn show(&mut self, state: &State, theme: &Theme, stage: Size) -> bool {
        let (Some(view), Some(canvas)) = (state.view(), state.canvas) else { return false };
        let drawn = |lane: &ShownLane<'_>| lane.geometry.scene.is_some();
        let lanes: Vec<LanePicture> =
            state.shown_lanes().filter(drawn).map(|lane| LanePicture::from_lane(&lane)).collect();
        if lanes.is_empty() {
            return false;
        }
        let stage = stage.to_device(canvas.scale);
        let picture = Picture {
            lanes,
            overlay: outlines(state, &theme.look),
            figure: Figure::on_canvas(state, &view, canvas),
            theme: theme.clone(),
            faded: state.surroundings.faded.clone(),
            stage,
        };
        if self.shown.as_ref() == Some(&picture) || matches!(self.surface, Surface::None) {
            return false;
        }
        let [canvas_element, _] = self.canvases();
        self.retain_scenes(&picture.lanes);
        let themes: Vec<PictureTheme> =
            picture.lanes.iter().map(|lane| scene_look(&theme.look, lane.plot_settings, &picture.faded)).collect();
        let lanes = picture.lanes.iter().zip(&themes).map(|(lane, look)| Lane {
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
            Surface::Gpu(gpu) => gpu.draw(SurfaceId::Timeline, &drawing).is_ok(),
            Surface::Cpu(twin, [context, _]) => draw_on_cpu(twin, context, &canvas_element, &drawing),
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

    /// Draws the flame graph. Returns `None` if there is no renderer, and `Some(false)` if the WebGPU device failed and
    /// another renderer must be selected.
    pub(super) fn draw_flame(&mut self, drawing: &Drawing<'_>) -> Option<bool> {
        let [_, canvas] = self.canvases();
        let drawn = match &mut self.surface {
            Surface::None => return None,
            Surface::Gpu(gpu) => gpu.draw(SurfaceId::Flame, drawing).is_ok(),
            Surface::Cpu(twin, [_, context]) => draw_on_cpu(twin, context, &canvas, drawing),
        };
        if !drawn {
            self.surface = Surface::None;
        }
        Some(drawn)
    }
}

/// Returns a canvas with a 2D context for the CPU renderer. A canvas that already has a WebGPU context is replaced by a
/// copy.
fn with_2d_context(canvas: HtmlCanvasElement) -> (HtmlCanvasElement, Option<CanvasRenderingContext2d>) {
    if let Some(context) = labels::context_2d(&canvas) {
        return (canvas, Some(context));
    }
    let Some(fresh) = canvas.clone_node().ok().and_then(|node| node.dyn_into::<HtmlCanvasElement>().ok()) else {
        return (canvas, None);
    };
    let _ = canvas.replace_with_with_node_1(&fresh);
    let context = labels::context_2d(&fresh);
    (fresh, context)
}

/// Returns the theme's colours, adapted to a scene's colouring and highlight.
pub(super) fn scene_look(look: &PictureTheme, plot_settings: PlotSettings, faded: &BTreeSet<u32>) -> PictureTheme {
    let look = base_look(look, plot_settings.colouring.is_ordered(), faded);
    // A search makes its matches stand out. A selection is only hinted at.
    if matches!(plot_settings.highlight, Highlight::Stack(_)) { look.with_less_fading() } else { look }
}

/// Returns the theme's colours for a scene without highlight.
pub(super) fn base_look(look: &PictureTheme, is_ordered: bool, faded: &BTreeSet<u32>) -> PictureTheme {
    let look = if is_ordered { look.clone().with_ordered_palette() } else { look.clone() };
    look.with_faded(|slot| faded.contains(&slot))
}

fn draw_on_cpu(
    twin: &CpuRenderer,
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
