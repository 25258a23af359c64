//! What the worker does before anybody gives it a file: it opens a made-up snapshot and asks about it what the page would, with a state,
//! an engine and a renderer that nobody sees.
//!
//! The browser compiles a function when it first runs, and optimises it when it has run for a while, for page and worker alike: they
//! share one module. So the first file is opened as fast as the second.

use crate::wire::FromWorker;
use engine::protocol::{Access, Request, Want};
use engine::rehearsal::MadeUp;
use engine::{Engine, Work};
use picture::render::{Drawing, Lane, Look, Twin};
use std::mem::ManuallyDrop;
use ui::effect::GivenFile;
use ui::figure::Figure;
use ui::shown::Canvas;
use ui::stage::Renderer;
use ui::url::Came;
use ui::{Action, Effect, State};

/// Steps of the made-up snapshot: events enough for what decodes them to be worth optimising.
const STEPS: u32 = 400;

/// The window that is rehearsed, in device pixels: about that of a laptop.
const CANVAS: Canvas = Canvas { width_px: 900, height_px: 420, scale: 1.0 };

/// A rehearsal.
pub(super) struct Rehearsal {
    file: MadeUp,
    engine: Engine,
    /// Never dropped: the page's never is, and what drops one would be some kilobytes of wasm.
    state: ManuallyDrop<State>,
    twin: Twin,
    look: Look,
}

impl Rehearsal {
    /// One that has not begun.
    #[inline(never)]
    pub(super) fn new() -> Rehearsal {
        let (state, twin) = (ManuallyDrop::new(State::that_came(Came::default())), Twin::new());
        let engine = Engine::without_simulator();
        let mut rehearsal = Rehearsal { file: MadeUp::new(STEPS), engine, state, twin, look: Look::light() };
        let given = GivenFile { name: "snapshot.pickle".to_owned(), bytes: 1 };
        let actions =
            [Action::Resized(CANVAS), Action::RendererChosen(Renderer::Cpu(None)), Action::FilesGiven(vec![given])];
        actions.into_iter().for_each(|action| rehearsal.act(action));
        rehearsal
    }

    /// Goes on for a slice.
    pub(super) fn step(&mut self, has_time: &mut dyn FnMut() -> bool) -> Work {
        if self.engine.wants() == Some(Want::Next) {
            match self.file.next() {
                Some(chunk) => self.engine.feed(chunk),
                None => self.engine.request(Request::EndOfFile),
            }
        }
        let work = self.engine.step(has_time);
        let mut is_over = work == Work::Idle && self.engine.wants().is_none();
        while let Some(reply) = self.engine.next_reply() {
            is_over = false;
            // As it would come to the page.
            let (message, _) = FromWorker::Reply { load: self.state.load, reply }.into_js();
            if let Some(FromWorker::Reply { load, reply }) = FromWorker::from_js(&message) {
                self.act(Action::Replied { load, reply });
            }
        }
        if is_over { Work::Idle } else { Work::More }
    }

    /// Ends it, however far it is.
    #[inline(never)]
    pub(super) fn end(mut self) {
        // Nothing is left of the file.
        self.act(Action::LoadFailed(String::new()));
    }

    fn act(&mut self, action: Action) {
        for effect in ui::update(&mut self.state, action, 0.0) {
            match effect {
                Effect::Load { member, .. } => {
                    let (name, access) = ("snapshot.pickle".to_owned(), Access::Forward);
                    self.engine.request(Request::Open { name, total_bytes: None, access, member });
                }
                Effect::Ask(request) => self.engine.request(request),
                Effect::Upload { scene, .. } => {
                    self.twin.upload(0, &scene);
                    self.draw();
                }
                _ => {}
            }
        }
    }

    fn draw(&self) {
        let Some(view) = self.state.view else { return };
        let lanes = [Lane { scene: 0, view: &view, look: &self.look, bottom_px: 0 }];
        let size_px = [CANVAS.width_px, CANVAS.height_px];
        let drawing = Drawing { size_px, background: self.look.background, lanes: &lanes, flame: None, overlay: &[] };
        self.twin.draw(&drawing);
        Figure::on_canvas(&self.state, &view, CANVAS).shapes([0.0, 0.0]);
    }
}
