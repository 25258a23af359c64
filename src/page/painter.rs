//! The picture: scene, outlines and labels on the canvas, drawn when something of it changed and only then.

use super::dom::{self, Elements};
use super::labels;
use super::theme::Theme;
use crate::render::placement::Placement;
use crate::render::{Drawing, Gpu, Lane, Look, OverlayRect, Twin};
use crate::timeline::{OutlineRect, Quad, Scene, View, outline};
use crate::ui::State;
use crate::ui::outline::{Rect, outline as strokes};
use std::collections::BTreeSet;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};

/// Draws the timeline.
#[derive(Default)]
pub(super) struct Painter {
    surface: Surface,
    /// The canvas, once it is another than the skeleton's: one that had WebGPU can't have the twin.
    canvas: Option<HtmlCanvasElement>,
    /// What is on the canvas now.
    shown: Option<Picture>,
    frames: u64,
    /// How many devices were asked for.
    made: u32,
}

#[derive(Default)]
enum Surface {
    /// The browser was not asked yet, or is about to give a new device.
    #[default]
    None,
    Gpu(Box<Gpu>),
    Cpu(Twin, CanvasRenderingContext2d),
}

/// Everything a picture depends on, but for the geometry.
#[derive(Clone, PartialEq)]
struct Picture {
    view: View,
    overlay: Vec<OverlayRect>,
    labels: labels::Labels,
    theme: Theme,
    faded: BTreeSet<u32>,
    stage: (u32, u32),
}

impl Painter {
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

    /// The canvas.
    pub(super) fn canvas(&self, elements: &Elements) -> HtmlCanvasElement {
        self.canvas.clone().unwrap_or_else(|| elements.timeline.clone())
    }

    /// Draws with this device from now on.
    pub(super) fn use_gpu(&mut self, gpu: Gpu) {
        (self.surface, self.shown) = (Surface::Gpu(Box::new(gpu)), None);
    }

    /// Draws with the twin from now on.
    pub(super) fn use_twin(&mut self, elements: &Elements) {
        let context = |canvas: &HtmlCanvasElement| -> Option<CanvasRenderingContext2d> {
            canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
        };
        let mut canvas = self.canvas(elements);
        let mut found = context(&canvas);
        if found.is_none()
            && let Some(fresh) = canvas.clone_node().ok().and_then(|node| node.dyn_into::<HtmlCanvasElement>().ok())
        {
            let _ = canvas.replace_with_with_node_1(&fresh);
            found = context(&fresh);
            canvas = fresh;
        }
        self.canvas = Some(canvas);
        self.surface = found.map_or(Surface::None, |context| Surface::Cpu(Twin::new(), context));
        self.shown = None;
    }

    /// Takes new geometry.
    pub(super) fn upload(&mut self, scene: &Scene) {
        self.shown = None;
        match &mut self.surface {
            Surface::None => {}
            Surface::Gpu(gpu) => gpu.upload(0, scene),
            Surface::Cpu(twin, _) => twin.upload(0, scene),
        }
    }

    /// Draws the state, if the picture changed. `true` when the device failed: choose another.
    pub(super) fn show(&mut self, elements: &Elements, state: &State, theme: &Theme) -> bool {
        let (Some(view), Some(scene), Some(canvas)) = (state.view, &state.geometry.scene, state.canvas) else {
            return false;
        };
        let stage = labels::stage_size(elements, canvas.scale);
        let picture = Picture {
            view,
            overlay: overlay(state, scene, &view, &theme.look),
            labels: labels::Labels::of(state, &view),
            theme: theme.clone(),
            faded: state.around.faded.clone(),
            stage,
        };
        if self.shown.as_ref() == Some(&picture) || matches!(self.surface, Surface::None) {
            return false;
        }
        let canvas_element = self.canvas(elements);
        let look = look(state, &theme.look);
        let lanes = [Lane::alone(&view, &look)];
        let size_px = [view.width_px, view.height_px];
        let drawing = Drawing { size_px, background: look.background, lanes: &lanes, overlay: &picture.overlay };
        let drawn = match &mut self.surface {
            Surface::None => return false,
            Surface::Gpu(gpu) => gpu.draw(&drawing).is_ok(),
            Surface::Cpu(twin, context) => draw_with_twin(twin, context, &canvas_element, &drawing),
        };
        if !drawn {
            self.surface = Surface::None;
            return true;
        }
        picture.labels.draw(elements, theme, stage, canvas.scale);
        self.frames += 1;
        dom::set_attribute(&canvas_element, "data-frames", &self.frames.to_string());
        dom::set_attribute(&canvas_element, "data-band-px", &scene.band_px.to_string());
        self.shown = Some(picture);
        false
    }
}

/// The theme's colours for what the scene's colours tell.
fn look(state: &State, look: &Look) -> Look {
    let ordered = state.geometry.looks.colouring.is_ordered();
    let look = if ordered { look.clone().in_order() } else { look.clone() };
    look.with_faded(|slot| state.around.faded.contains(&slot))
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

/// The outlines of what is under the pointer and of what is selected, in that order, so that the selection lies on top.
fn overlay(state: &State, scene: &Scene, view: &View, look: &Look) -> Vec<OverlayRect> {
    if state.hover.is_none() && state.selection.is_none() {
        return Vec::new();
    }
    let thick = state.canvas.map_or(1, |canvas| canvas.scale.round().max(1.0) as i32);
    let placement = Placement::new(&scene.view, view);
    let placed = |quad: &Quad| Rect { x: quad.x.map(|x| placement.column(x)), y: quad.y.map(|y| placement.row(y)) };
    let of = |rank: u32| outline(scene, rank).map(|quad| placed(&quad)).collect::<Vec<_>>();
    let mut rects = Vec::new();
    let mut add = |parts: &[Rect], thick: i32, rgba: [u8; 4]| {
        rects.extend(strokes(parts, thick).into_iter().map(|stroke| OverlayRect { x: stroke.x, y: stroke.y, rgba }));
    };
    if let Some(hover) = &state.hover {
        let parts = match hover.spot.single() {
            Some(rank) => of(rank),
            None => scene.quads.get(hover.spot.quad).map(placed).into_iter().collect(),
        };
        add(&parts, thick, look.hover);
    }
    if let Some(selection) = &state.selection {
        // The worker knows where it is also where the scene does not draw it by itself.
        let exact = state.outlined().and_then(|of| state.around.outline.about(of));
        let parts = exact.map(|rects| {
            let placed = |rect: &OutlineRect| Rect {
                x: rect.x.map(|x| placement.column(x as i16)),
                y: rect.y.map(|y| placement.row(y as i16)),
            };
            rects.iter().map(placed).collect()
        });
        add(&parts.unwrap_or_else(|| of(selection.allocation)), 2 * thick, look.selection);
    }
    rects
}
