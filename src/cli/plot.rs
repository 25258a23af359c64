//! `memscape plot`: draws the timeline with the page's own state and writes it as SVG.

use super::common_args::SnapshotArgs;
use super::input::Input;
use super::kept_file::OpenedFile;
use super::open_snapshot::select_device;
use super::opening::open_first;
use super::output_file::{OutputFile, OutputWriter};
use super::rules::CategoryRules;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use picture::render::PictureTheme;
use picture::svg::{self, Inks};
use picture::timeline::{Axis, time_axis_margin};
use protocol::{Grouping, Reply};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Write};
use ui::features::State;
use ui::plot::figure::sheet::MIN_FRAME;
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::drawing::Canvas;
use ui::state::effect::{Effect, GivenFile};
use ui::state::picture_file::{Format, Picture};
use ui::update;

/// Allowed range of the width and height of the image, in CSS pixels.
const SIZE_PX: std::ops::RangeInclusive<i64> = 200..=16_000;

/// Arguments of `memscape plot`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Plot {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    /// SVG file to write, "-" for standard output
    #[arg(short, long = "output", value_name = "OUT.svg")]
    pub(crate) out: OutputFile,
    /// Width of the whole picture in CSS pixels
    #[arg(long, value_name = "PX", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(SIZE_PX))]
    pub(crate) width: u32,
    /// Height of the timeline in CSS pixels
    #[arg(long, value_name = "PX", default_value_t = 480, value_parser = clap::value_parser!(u32).range(SIZE_PX))]
    pub(crate) height: u32,
    /// First event; with --time, seconds since the first event
    #[arg(long, value_name = "EVENT", value_parser = parse_position)]
    pub(crate) from: Option<f64>,
    /// Last event; with --time, seconds since the first event
    #[arg(long, value_name = "EVENT", value_parser = parse_position)]
    pub(crate) to: Option<f64>,
    /// Draw wall-clock time on the horizontal axis instead of events
    #[arg(long)]
    pub(crate) time: bool,
    /// How to stack allocations
    #[arg(long, value_name = "KIND", default_value = BY_ALLOCATION, value_parser = stacking_parser())]
    pub(crate) stack: String,
    /// How to colour allocations
    #[arg(long, alias = "color", value_name = "KIND", default_value = "site", value_parser = colouring_parser())]
    pub(crate) colour: Grouping,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// Use colours for a dark background
    #[arg(long)]
    pub(crate) dark: bool,
}

/// Name of the default stacking order: by time of allocation.
const BY_ALLOCATION: &str = "allocation";

fn colouring_parser() -> impl TypedValueParser<Value = Grouping> {
    let names = PossibleValuesParser::new(Grouping::ALL.map(Grouping::name));
    names.map(|name| Grouping::from_name(&name).unwrap_or_default())
}

fn stacking_parser() -> PossibleValuesParser {
    let others = Grouping::ALL.map(|grouping| PossibleValue::new(grouping.name()));
    PossibleValuesParser::new([PossibleValue::new(BY_ALLOCATION).alias("birth")].into_iter().chain(others))
}

fn parse_position(text: &str) -> Result<f64, String> {
    let place = text.parse().ok().filter(|place: &f64| place.is_finite() && *place >= 0.0);
    place.ok_or_else(|| "expected a number ≥ 0".to_owned())
}

impl Plot {
    /// Returns an error message if arguments conflict, or `None`.
    pub(crate) fn conflict(&self) -> Option<String> {
        let (from, to) = (self.from?, self.to?);
        (from > to).then(|| "--from is after --to".to_owned())
    }
}

/// Draws the timeline and writes the image. Returns an error message on failure.
pub(crate) fn plot(options: &Plot) -> Result<(), String> {
    let mut input = Input::open(&options.source.file).map_err(|error| error.to_string())?;
    let (summary, mut engine) = open_first(&mut input, &options.source.file)?;
    options.rules.read()?.into_iter().for_each(|set| engine.classify(set));
    let device = select_device(&summary, options.source.device)?.device;
    let mut page = HeadlessPage { state: State::default(), engine, effects: VecDeque::new() };
    let [frame, _] = MIN_FRAME;
    page.act(Action::Resized(Canvas {
        width_px: options.width.saturating_sub(frame as u32).max(1),
        height_px: options.height,
        scale: 1.0,
    }));
    page.act(Action::FilesGiven(vec![GivenFile { name: "snapshot".to_owned(), bytes: 0 }]));
    page.act(Action::Replied { load: page.state.load, reply: Reply::Opened(Box::new(summary)) });
    page.act(Action::DeviceChosen(device));
    page.act(Action::StackingChosen(Grouping::from_name(&options.stack)));
    page.act(Action::ColouringChosen(options.colour));
    if options.time {
        page.act(Action::Command(commands::TOGGLE_AXIS));
        if page.state.axis != Axis::Time {
            return Err(page.state.remark.clone().unwrap_or_default());
        }
    }
    if options.from.is_some() || options.to.is_some() {
        let edges = range_fractions(&page.state, options).ok_or("nothing to draw: the range is outside the trace")?;
        page.act(Action::MinimapMoved(edges));
    }
    page.act(Action::Command(commands::export::save(Format::Svg)));
    let picture = page.picture()?;
    let (look, inks) =
        if options.dark { (PictureTheme::dark(), Inks::DARK) } else { (PictureTheme::light(), Inks::LIGHT) };
    let look = if options.colour.is_ordered() { look.with_ordered_palette() } else { look };
    let wrong = |error: io::Error| format!("{}: {error}", options.out.path().display());
    let mut out = TextWriter { out: options.out.create().map_err(wrong)?, error: None };
    let drawn = svg::write(&mut out, &picture.drawing(), &look, &inks);
    let finished = match out.error {
        Some(error) => Err(error),
        None => drawn.map_err(io::Error::other).and_then(|()| out.out.finish()),
    };
    match finished {
        // A closed pipe (`| head`) is not an error.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(wrong(error)),
        _ => Ok(()),
    }
}

/// Returns the start and end of the range as fractions of the axis, or `None` if the range is outside the trace.
fn range_fractions(state: &State, options: &Plot) -> Option<[f64; 2]> {
    let (device, plane) = (state.device()?, state.plane()?);
    let width = plane.extent.width as f64;
    let place = match (state.axis, device.time_us) {
        // Event k is drawn from k + 1 to k + 2.
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

/// The page without a browser: its state, and an engine instead of the web worker.
struct HeadlessPage {
    state: State,
    engine: OpenedFile,
    effects: VecDeque<Effect>,
}

impl HeadlessPage {
    fn act(&mut self, action: Action) {
        self.effects.extend(update(&mut self.state, action, 0.0));
    }

    /// Handles the requests of the page's state until the picture is complete.
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
        Err(self.state.remark.clone().unwrap_or_else(|| "nothing to draw".to_owned()))
    }
}

/// Adapter that implements `fmt::Write` for a file. Stores the I/O error, which `fmt::Error` cannot carry.
struct TextWriter {
    out: OutputWriter,
    error: Option<io::Error>,
}

impl fmt::Write for TextWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.out.write_all(text.as_bytes()).map_err(|error| {
            self.error = Some(error);
            fmt::Error
        })
    }
}
