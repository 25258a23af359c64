//! `memscape plot`: the page's own state, told what to show, asks the engine; the picture it makes is written as SVG.

use super::asking::pick;
use super::input::Input;
use super::opening::{name_of, open};
use super::options::{Options, Theme};
use engine::Engine;
use engine::protocol::Reply;
use picture::render::Look;
use picture::svg::{self, Inks};
use picture::timeline::{Axis, time_axis_margin};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use ui::action::GivenFile;
use ui::export::{Format, Picture};
use ui::figure::sheet::LEAST_FRAME;
use ui::state::Canvas;
use ui::{Action, Command, Effect, State, update};

/// Writes the picture; what went wrong is one sentence.
pub(crate) fn plot(options: &Options) -> Result<(), String> {
    let mut input = Input::open(&options.file).map_err(|error| error.to_string())?;
    let mut members = Vec::new();
    let (summary, engine) = open(&mut input, name_of(&options.file), None, &mut members)?;
    if members.len() > 1 {
        eprintln!("memscape: {}: the first of {} snapshots in it", options.file, members.len());
    }
    let device = pick(&summary, options.device)?.device;
    let mut page = Page { state: State::default(), engine, effects: VecDeque::new() };
    let [frame, _] = LEAST_FRAME;
    page.act(Action::Resized(Canvas {
        width_px: options.width.saturating_sub(frame as u32).max(1),
        height_px: options.height,
        scale: 1.0,
    }));
    page.act(Action::FilesGiven(vec![GivenFile { name: "snapshot".to_owned(), bytes: 0 }]));
    page.act(Action::Replied { load: page.state.load, reply: Reply::Opened(Box::new(summary)) });
    page.act(Action::DeviceChosen(device));
    page.act(Action::StackingChosen(options.stack));
    page.act(Action::ColouringChosen(options.colour));
    if options.axis == Axis::Time {
        page.act(Action::Command(Command::ToggleAxis));
        if page.state.axis != Axis::Time {
            return Err(page.state.remark.unwrap_or_default());
        }
    }
    if options.from.is_some() || options.to.is_some() {
        let edges = edges(&page.state, options).ok_or("it has nothing there")?;
        page.act(Action::MinimapMoved(edges));
    }
    page.act(Action::Command(Command::Export(Format::Svg)));
    let picture = page.picture()?;
    let (look, inks) = match options.theme {
        Theme::Light => (Look::light(), Inks::LIGHT),
        Theme::Dark => (Look::dark(), Inks::DARK),
    };
    let look = if options.colour.is_ordered() { look.in_order() } else { look };
    let out: Box<dyn Write> = match options.out.as_str() {
        "-" => Box::new(io::stdout().lock()),
        path => Box::new(std::fs::File::create(path).map_err(|error| format!("{path}: {error}"))?),
    };
    let mut out = Text { out: io::BufWriter::new(out), error: None };
    let written = svg::write(&mut out, &picture.drawing(), &look, &inks);
    let flushed = out.out.flush();
    match out.error.or(flushed.err()) {
        // A closed pipe (`| head`) is no failure of ours.
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("{}: {error}", options.out)),
        Some(_) => Ok(()),
        None => written.map_err(|error| error.to_string()),
    }
}

/// The window's edges as parts of the axis; `None` for one that begins behind it.
fn edges(state: &State, options: &Options) -> Option<[f64; 2]> {
    let (device, plane) = (state.device()?, state.plane()?);
    let width = plane.extent.width as f64;
    let place = match (options.axis, device.time_us) {
        // Event k stands at k + 1, and what it brings about reaches to k + 2.
        (Axis::Events, _) => [options.from.map(|event| event + 1.0), options.to.map(|event| event + 2.0)],
        (Axis::Time, span) => {
            let (first, last) = span?;
            let margin = time_axis_margin(last.abs_diff(first)) as f64;
            [options.from, options.to].map(|seconds| seconds.map(|seconds| seconds * 1e6 + margin))
        }
    };
    let [from, to] = [place[0].unwrap_or(0.0) / width, place[1].map_or(1.0, |to| (to / width).min(1.0))];
    (from < to).then_some([from, to])
}

/// The page without a browser: its state, and the engine in place of its worker.
struct Page {
    state: State,
    engine: Engine,
    effects: VecDeque<Effect>,
}

impl Page {
    fn act(&mut self, action: Action) {
        self.effects.extend(update(&mut self.state, action, 0.0));
    }

    /// Answers what the state asks until it has its picture.
    fn picture(mut self) -> Result<Box<Picture>, String> {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::Export(picture) => return Ok(picture),
                Effect::Ask(request) => {
                    self.engine.request(request);
                    self.engine.step(&mut || true);
                    while let Some(reply) = self.engine.next_reply() {
                        self.act(Action::Replied { load: self.state.load, reply });
                    }
                }
                _ => {}
            }
        }
        Err(self.state.remark.unwrap_or_else(|| "there is nothing to draw".to_owned()))
    }
}

/// Text into a file, which keeps what went wrong.
struct Text {
    out: io::BufWriter<Box<dyn Write>>,
    error: Option<io::Error>,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}
