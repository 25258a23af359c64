//! Export of the visible picture and of data to files. Handles the dialog and pending requests, and collects the
//! contents of the picture.
//!
//! A picture at screen size is drawn from the scene on the screen. For a larger picture, the worker computes a separate
//! scene at full resolution. Until that scene arrives, no other scene is requested, because a newer request would
//! cancel it.

pub mod commands;
mod crop_range;
mod data;
mod formats;

pub use crop_range::{CropRange, ranges};
pub use data::{Dialog, Export, ExportAction};
pub use formats::{describe_scope, table_label};

use crate::features::feature::{Feature, close_nothing};
use crate::plot::figure::words::SheetText;
use crate::plot::figure::{Figure, sheet};
use crate::plot::overlay::Overlay;
use crate::plot::{legend, plots, surroundings};
use crate::state::change::{AskPhase, Change};
use crate::state::effect::Effect;
use crate::state::outbox::Outbox;
use crate::state::picture_file::{Format, Picture};
use crate::state::shared::Shared;
use base::units::group_digits;
use data::PendingPicture;
use picture::outline::{Rect, outline};
use picture::timeline::{OutlineRect, Scene, View};
use protocol::{Answer, ExportTable, Question};
use std::rc::Rc;

/// Maximum width and height of a picture that browsers can draw, in pixels.
pub const MAX_PX: u32 = 16_384;

fn handle_action(export: &mut Export, shared: &Shared, action: ExportAction, out: &mut Outbox) {
    match action {
        ExportAction::Closed => export.dialog = Dialog::Closed,
        ExportAction::PictureSaved(Ok(file)) => out.say(format!("Saved {file}.")),
        ExportAction::PictureSaved(Err(cause)) => out.say(save_error(&cause)),
        ExportAction::FileWritten(written) => {
            let left_out = export.writing.take().unwrap_or_default();
            out.say(match written {
                Ok(file) => format!("Saved {file}.{}", left_out.note()),
                Err(cause) => format!("The file could not be written: {cause}."),
            });
        }
        ExportAction::TableChosen(at) => export.table = ExportTable::ALL.get(at).copied().unwrap_or_default(),
        ExportAction::TraceChosen(name) => {
            out.say(format!("Export → Perfetto adds the memory to {name}, below its kernels."));
            export.trace = Some(name);
        }
        ExportAction::LeaveOut(name, is_left_out) => {
            export.leave_out.set(&name, is_left_out);
        }
        ExportAction::CropChosen(at) => export.crop = ranges(shared).get(at).copied().unwrap_or_default(),
    }
}

fn save_error(cause: &str) -> String {
    format!("The picture could not be saved: {cause}.")
}

/// Opens or closes the dialog. Opening requires a device.
fn toggle(export: &mut Export, shared: &Shared) {
    let can_open = shared.device().is_some() && export.dialog == Dialog::Closed;
    export.dialog = if can_open { Dialog::Open } else { Dialog::Closed };
    if can_open && (shared.cursor.range.is_some() || export.crop.events(shared).is_none()) {
        export.crop = ranges(shared).first().copied().unwrap_or_default();
    }
}

/// Saves the picture in a format, once everything on it is known.
pub(crate) fn save(export: &mut Export, shared: &Shared, format: Format, out: &mut Outbox) {
    export.dialog = Dialog::Closed;
    if shared.device().is_some() && !export.is_drawing() {
        export.requested_format = Some(format);
        out.say("Drawing the picture…");
    }
}

/// Starts the export of the requested picture once its marks (with phases), legend and outline are known. For a larger
/// picture, requests the scene first.
fn start_picture(export: &mut Export, shared: &Shared, device: i64, out: &mut Outbox) {
    let Some(format) = export.requested_format.filter(|_| !export.is_drawing()) else { return };
    let (Some(plane), Some(shown), Some(canvas)) = (shared.plane(), shared.view(), shared.canvas) else { return };
    let Some(scene) = shared.scene().cloned() else { return };
    let around = &shared.surroundings;
    let has_phases = around.marks.answer_to(&true).is_some();
    let is_known = has_phases && around.legend_of(legend::coloured_by(shared)).is_some();
    let outline = surroundings::outline_key(shared).map(|of| around.outline.answer_to(&of).cloned());
    if !is_known || outline == Some(None) {
        return;
    }
    export.requested_format = None;
    let times = f64::from(format.scale());
    let scaled = scaled_view(&shown, format);
    let mut pending = Box::new(PendingPicture {
        serials: [out.next_serial(), out.next_serial()],
        format,
        view: scaled,
        plot_settings: shared.plot_settings,
        faded: shared.surroundings.faded.clone(),
        figure: Figure::for_window(shared, &scaled, canvas.scale * times)
            .with_tools(Overlay::from_state(shared), times),
        words: SheetText::for_window(shared, &shown),
        outline: Vec::new(),
    });
    if format.scale() == 1 {
        pending.outline = outline.flatten().map_or_else(Vec::new, |rects| rects.to_vec());
        finish(*pending, scene, out);
        return;
    }
    // Adds a pixel on each side, since the picture continues there. A block that begins at the edge of the window is
    // then drawn with its outline.
    let view = plane.widened(scaled, 1, 1);
    let ([scene, outline], plot_settings) = (pending.serials, pending.plot_settings);
    if let Some(allocation) = surroundings::outline_key(shared).map(|of| of.allocation) {
        out.ask_with(outline, device, Question::Outline { view, plot_settings, allocation });
    }
    out.ask_with(scene, device, Question::Scene { view, plot_settings });
    export.pending_picture = Some(pending);
}

/// Returns the visible window `shown`, scaled to the resolution of a picture format.
fn scaled_view(shown: &View, format: Format) -> View {
    let times = f64::from(format.scale());
    View {
        x_per_px: shown.x_per_px / times,
        bytes_per_px: shown.bytes_per_px / times,
        left_px: shown.left_px * i64::from(format.scale()),
        bottom_px: shown.bottom_px * i64::from(format.scale()),
        width_px: shown.width_px.saturating_mul(format.scale()),
        height_px: shown.height_px.saturating_mul(format.scale()),
        ..*shown
    }
}

/// Handles a reply for the pending picture. Returns any other reply.
fn on_reply(export: &mut Export, _: &Shared, serial: u32, answer: Answer, out: &mut Outbox) -> Option<Answer> {
    let Some(pending) = &mut export.pending_picture else { return Some(answer) };
    match answer {
        Answer::Outline(rects) if serial == pending.serials[1] => pending.outline = rects,
        Answer::Scene(scene) if serial == pending.serials[0] => {
            if let Some(pending) = export.pending_picture.take() {
                let plot = pending.plot_settings.plot;
                finish(*pending, Rc::new(plots::without_curves(*scene, plot)), out);
            }
        }
        ref _reply => return Some(answer),
    }
    None
}

/// Registration of the export. Listed before the features that draw on the screen, so that the export receives the
/// reply with the scene of its picture first.
pub(crate) const FEATURE: Feature<Export, ExportAction> = Feature {
    reset,
    questions: &[(AskPhase::AfterScene, start_picture)],
    on_reply,
    on_action: handle_action,
    link_keys: &[],
    on_escape: close_nothing,
};

fn reset(export: &mut Export, _: &Shared, change: Change, _: &mut Outbox) {
    if change == Change::Device {
        let Export { table, leave_out, writing, .. } = *export;
        *export = Export { table, leave_out, writing, ..Export::default() };
    }
}

fn finish(pending: PendingPicture, scene: Rc<Scene>, out: &mut Outbox) {
    let sheet = sheet::sheet(&pending.figure, &pending.words, &scene);
    if sheet.size.iter().any(|&side| side > MAX_PX) {
        let [width, height] = sheet.size;
        out.say(save_error(&format!("{width} × {height} pixels: too large for the browser")));
        return;
    }
    // Scene and window have the same scale, so they differ by a shift of whole pixels.
    let shift = |from: i64, to: i64| i32::try_from(from - to).unwrap_or(0);
    let right = shift(scene.view.left_px, pending.view.left_px);
    let up = shift(scene.view.bottom_px, pending.view.bottom_px);
    let shifted = |rect: &OutlineRect| Rect {
        x: rect.x.map(|x| x.saturating_add(right)),
        y: rect.y.map(|y| y.saturating_add(up)),
    };
    let parts: Vec<Rect> = pending.outline.iter().map(shifted).collect();
    let thickness = 2 * (pending.figure.scale.round().max(1.0) as i32);
    out.push(Effect::Export(Box::new(Picture {
        format: pending.format,
        file_name: pending.words.file_stem + pending.format.extension(),
        sheet,
        view: pending.view,
        scene,
        plot_settings: pending.plot_settings,
        faded: pending.faded,
        outline: outline(&parts, thickness),
    })));
}

/// Returns the size of the picture in a format, such as `1,280 × 720 pixels`.
pub fn picture_size(shared: &Shared, format: Format) -> String {
    let (Some(view), Some(canvas), Some(scene)) = (shared.view(), shared.canvas, shared.scene()) else {
        return String::new();
    };
    let figure = Figure::for_window(shared, &scaled_view(&view, format), canvas.scale * f64::from(format.scale()));
    let [width, height] =
        sheet::sheet(&figure, &SheetText::for_window(shared, &view), scene).size.map(|side| group_digits(side.into()));
    format!("{width} × {height} pixels")
}
