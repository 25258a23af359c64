//! Test harness for the UI without a browser: a page, and a worker that answers at once or on the test's command.

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Details, DeviceSummary, FileSummary, SCHEMA};
use memscape::timeline::View;
use memscape::timeline::scene::SceneColumns;
use memscape::ui::features::State;
use memscape::ui::features::command::Command;
use memscape::ui::shell::action::Action;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::{Effect, GivenFile};
use memscape::ui::text::tab::Tab;
use memscape::ui::update;

/// Canvas of most tests.
pub(crate) const CANVAS: Canvas = Canvas { width_px: 100, height_px: 100, scale: 1.0 };

/// A page under test. Records its effects.
pub(crate) struct Page<W> {
    pub(crate) state: State,
    pub(crate) effects: Vec<Effect>,
    pub(crate) now_ms: f64,
    pub(crate) worker: W,
}

/// Answers requests in place of the engine's worker.
pub(crate) trait Worker {
    /// True if effects of earlier actions are kept as well.
    const KEEPS_EFFECTS: bool = false;

    /// Returns the answer to a request, or `None` if the test answers later.
    fn answer(&mut self, _request: &Request) -> Option<Answer> {
        None
    }
}

impl<W: Worker> Page<W> {
    /// Creates a page without a canvas.
    pub(crate) fn new(worker: W) -> Page<W> {
        let mut page = Page { state: State::default(), effects: Vec::new(), now_ms: 0.0, worker };
        // Insights are the first tab and ask questions of their own, so other tests switch to another one.
        page.act(Action::TabChosen(Tab::CallTree));
        page
    }

    /// Creates a page with a canvas and without a file.
    pub(crate) fn with_canvas(canvas: Canvas, worker: W) -> Page<W> {
        let mut page = Page::new(worker);
        page.act(Action::Resized(canvas));
        page
    }

    /// Creates a page on [`CANVAS`] with `a.pickle` open, which has the given devices.
    pub(crate) fn with_devices(worker: W, devices: Vec<DeviceSummary>) -> Page<W> {
        let mut page = Page::with_canvas(CANVAS, worker);
        page.load(devices);
        page
    }

    /// Opens `a.pickle` with the given devices.
    pub(crate) fn load(&mut self, devices: Vec<DeviceSummary>) {
        self.give_files(&["a.pickle"]);
        self.reply(opened_reply(devices));
    }

    pub(crate) fn give_files(&mut self, names: &[&str]) {
        let file = |name: &&str| GivenFile { name: (*name).into(), bytes: 10 };
        self.act(Action::FilesGiven(names.iter().map(file).collect()));
    }

    pub(crate) fn act(&mut self, action: Action) {
        let done = update(&mut self.state, action, self.now_ms);
        for effect in &done {
            if let Effect::Ask(request) = effect {
                let answer = self.worker.answer(request);
                self.reply_to(request, answer);
            }
        }
        if W::KEEPS_EFFECTS {
            self.effects.extend(done);
        } else {
            self.effects = done;
        }
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    pub(crate) fn reply(&mut self, reply: Reply) {
        self.act(Action::Replied { load: self.state.load, reply });
    }

    /// Replies with the answer to the question of this serial number.
    pub(crate) fn answer_with(&mut self, serial: u32, answer: Answer) {
        self.reply(Reply::Answer { serial, answer });
    }

    /// Replies to a request if it is a question and has an answer.
    pub(crate) fn reply_to(&mut self, request: &Request, answer: Option<Answer>) {
        if let (Request::Ask(Ask { serial, .. }), Some(answer)) = (request, answer) {
            self.answer_with(*serial, answer);
        }
    }

    /// Returns the first effect of the last action that `pick` accepts.
    pub(crate) fn find_effect<'a, T>(&'a self, pick: impl Fn(&'a Effect) -> Option<T>) -> Option<T> {
        self.effects.iter().find_map(pick)
    }

    /// Returns the first request of the last action that `pick` accepts.
    pub(crate) fn find_request<T>(&self, pick: impl Fn(&Request) -> Option<T>) -> Option<T> {
        self.find_effect(|effect| if let Effect::Ask(request) = effect { pick(request) } else { None })
    }

    /// Returns serial, device and view of the requested scene.
    pub(crate) fn scene_asked(&self) -> Option<(u32, i64, View)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device, question: Question::Scene { view, .. } }) => {
                Some((*serial, *device, *view))
            }
            _ => None,
        })
    }

    /// Returns serial and allocation of the requested details.
    pub(crate) fn details_asked(&self) -> Option<(u32, u32)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, question: Question::Details(allocation), .. }) => Some((*serial, *allocation)),
            _ => None,
        })
    }

    /// Answers the pending request for details.
    pub(crate) fn answer_details(&mut self, details: Details) {
        let serial = self.state.selecting.expect("details are requested");
        self.answer_with(serial, Answer::Details(Some(Box::new(details))));
    }
}

/// Returns the reply for an opened `a.pickle` with the given devices.
pub(crate) fn opened_reply(devices: Vec<DeviceSummary>) -> Reply {
    let (file, format) = ("a.pickle".into(), "pickle 4 (Python)".into());
    let (warnings, settings) = (vec![], vec![]);
    Reply::Opened(Box::new(FileSummary {
        schema: SCHEMA,
        file,
        format,
        torch: None,
        warnings,
        devices,
        settings,
        pools: Vec::new(),
        recorder: Vec::new(),
    }))
}

/// Builds columns one pixel wide with one moment each, 1 MiB requested and 2 MiB reserved.
pub(crate) fn columns(view: View) -> SceneColumns {
    let columns = view.width_px as usize;
    SceneColumns {
        edge_px: (0..=columns as i32).collect(),
        moment: (0..columns as u32).map(|column| (f64::from(column) * view.x_per_px) as u32).collect(),
        moments: vec![1; columns],
        total: vec![1 << 20; columns],
        reserved: vec![2 << 20; columns],
        pending: vec![0; columns],
        hidden: vec![0; columns],
        hidden_largest: vec![0; columns],
    }
}
