//! Warm-up of the worker before the first file. It opens a generated snapshot and sends the same requests as the page,
//! using a state, an engine and a renderer of a simulated page.
//!
//! Browsers compile a function on its first call and optimize it later. Page and worker share one module, so the
//! warm-up speeds up both, and the first file opens as fast as the second.

use crate::wire::{FromWorker, attach_columns, detach_columns};
use channel::{pack, unpack};
use compare::is_gated;
use engine::rehearsal::SyntheticSnapshot;
use engine::{Engine, Work};
use picture::render::{CpuRenderer, Drawing, Lane, PictureTheme};
use protocol::{Access, NeededBytes, Request};
use std::mem::ManuallyDrop;
use ui::features::State;
use ui::plot::figure::Figure;
use ui::shell::action::Action;
use ui::state::drawing::Canvas;
use ui::state::effect::{Effect, GivenFile};
use ui::state::stage::Renderer;
use ui::text::url::PageScheme;

/// Number of training steps in the generated snapshot: enough for the browser to optimize the decoder.
const STEPS: u32 = 400;

/// Canvas of the simulated page, about as large as on a laptop.
const CANVAS: Canvas = Canvas { width_px: 900, height_px: 420, scale: 1.0 };

/// A warm-up in progress.
pub(super) struct WarmUp {
    file: SyntheticSnapshot,
    engine: Engine,
    /// True if the code behind gates is linked. Questions that need it are left out until then.
    has_later_code: bool,
    /// State of a simulated page, which is never shown. The state is never dropped, because the code for that would add
    /// kilobytes to the wasm module.
    state: ManuallyDrop<State>,
    twin: CpuRenderer,
    look: PictureTheme,
}

impl WarmUp {
    /// Creates a warm-up, which starts with the first call of [`WarmUp::step`].
    pub(super) fn new() -> WarmUp {
        let (state, twin) = (ManuallyDrop::new(State::new(PageScheme::default())), CpuRenderer::new());
        let engine = Engine::without_simulator();
        let mut rehearsal = WarmUp {
            file: SyntheticSnapshot::new(STEPS),
            engine,
            has_later_code: false,
            state,
            twin,
            look: PictureTheme::light(),
        };
        let given = GivenFile { name: "snapshot.pickle".to_owned(), bytes: 1 };
        let actions =
            [Action::Resized(CANVAS), Action::RendererChosen(Renderer::Cpu(None)), Action::FilesGiven(vec![given])];
        actions.into_iter().for_each(|action| rehearsal.act(action));
        rehearsal
    }

    /// Continues the warm-up for a time slice. `has_later_code` is true if the code behind gates is linked.
    pub(super) fn step(&mut self, has_later_code: bool, has_time: &mut dyn FnMut() -> bool) -> Work {
        self.has_later_code = has_later_code;
        if self.engine.wants() == Some(NeededBytes::Next) {
            match self.file.next() {
                Some(chunk) => self.engine.feed(chunk),
                None => self.engine.request(Request::EndOfFile),
            }
        }
        let work = self.engine.step(has_time);
        let mut is_over = work == Work::Idle && self.engine.wants().is_none();
        while let Some(mut reply) = self.engine.next_reply() {
            is_over = false;
            // Converted to a message and back, as for the page.
            let buffers = detach_columns(&mut reply);
            let message = pack(&FromWorker::Reply { load: self.state.load, reply }, &buffers);
            if let Some((FromWorker::Reply { load, mut reply }, buffers)) = unpack(message) {
                attach_columns(&mut reply, &buffers);
                self.act(Action::Replied { load, reply });
            }
        }
        if is_over { Work::Idle } else { Work::More }
    }

    /// Ends the warm-up, even if it is not complete.
    pub(super) fn end(mut self) {
        // Closes the snapshot, which frees its memory.
        self.act(Action::LoadFailed(String::new()));
    }

    fn act(&mut self, action: Action) {
        for effect in ui::update(&mut self.state, action, 0.0) {
            match effect {
                Effect::Load { member, .. } => {
                    let (name, access) = ("snapshot.pickle".to_owned(), Access::Sequential);
                    self.engine.request(Request::Open { name, total_bytes: None, access, member });
                }
                Effect::Ask(request) if self.has_later_code || !is_gated(&request) => {
                    self.engine.request(request);
                }
                Effect::Upload { scene, .. } => {
                    self.twin.upload(0, &scene);
                    self.draw();
                }
                _ => {}
            }
        }
    }

    fn draw(&self) {
        let Some(view) = self.state.view() else { return };
        let lanes = [Lane { scene: 0, view: &view, look: &self.look, bottom_px: 0 }];
        let size_px = [CANVAS.width_px, CANVAS.height_px];
        let drawing = Drawing { size_px, background: self.look.background, lanes: &lanes, flame: None, overlay: &[] };
        self.twin.draw(&drawing);
        Figure::on_canvas(&self.state, &view, CANVAS).shapes([0.0, 0.0]);
    }
}
