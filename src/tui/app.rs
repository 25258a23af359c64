//! The application: applies actions to the state of `ui` and carries out the resulting effects.

use crate::cells::{Blocks, Depth, plain_look};
use crate::field::{Field, Of};
use crate::layout::Places;
use crate::panes::{Focus, Order, Press, Scrolled};
use crate::ranks::Survey;
use crate::source::Disk;
use crate::worker::{Load, Worker};
use compare::Which;
use engine::protocol::{Answer, LoadRange, Reply};
use picture::render::{Look, Twin};
use std::path::PathBuf;
use std::time::Instant;
use ui::comparing::ComparingAction;
use ui::effect::{FileToSurvey, GivenFile, Origin, RanksEffect};
use ui::ranks::RanksAction;
use ui::stage::Stage;
use ui::tab::Tab;
use ui::{Action, Command, Effect, FeatureAction, State, update};

/// Display settings of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub depth: Depth,
    /// True for colours on a light background.
    pub is_light: bool,
    pub is_braille: bool,
}

/// A file opened by the user.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
}

/// The terminal application.
pub struct App {
    pub(crate) state: State,
    pub(crate) worker: Worker,
    survey: Survey,
    disk: Box<dyn Disk>,
    pub(crate) files: Vec<File>,
    /// Files that were open before the ones being loaded. Restored if loading fails.
    files_before: Vec<File>,
    pub(crate) twin: Twin,
    pub(crate) look: Look,
    pub(crate) screen: Screen,
    pub(crate) blocks: Blocks,
    pub(crate) places: Places,
    pub(crate) focus: Focus,
    pub(crate) field: Option<Field>,
    /// Message in the last line, until the next key press.
    pub(crate) note: String,
    /// Lines of the link dialog, while it is open.
    pub(crate) link: Option<Vec<String>>,
    /// True in plain mode, where nothing is drawn side by side.
    pub(crate) is_plain: bool,
    /// True if byte counts are shown exactly.
    pub(crate) is_exact: bool,
    /// Scroll positions of the report, the side pane and the help, in lines.
    pub(crate) scrolled: Scrolled,
    /// Selected entry of the legend or the palette.
    pub(crate) entry: usize,
    pub(crate) orders: Vec<Order>,
    pub(crate) press: Option<Press>,
    clock: Instant,
    is_stale: bool,
    /// Number of actions so far, wrapping.
    pub(crate) acts: u64,
}

impl App {
    /// Creates the application without an open file.
    pub fn new(disk: Box<dyn Disk>, screen: Screen) -> App {
        let mut app = App {
            state: State::default(),
            worker: Worker::new(),
            survey: Survey::default(),
            disk,
            files: Vec::new(),
            files_before: Vec::new(),
            twin: Twin::new(),
            look: look(screen),
            screen,
            blocks: if screen.is_braille { Blocks::Braille } else { Blocks::Half },
            places: Places::default(),
            focus: Focus::default(),
            field: None,
            note: String::new(),
            link: None,
            is_plain: false,
            is_exact: false,
            scrolled: Scrolled::default(),
            entry: 0,
            orders: Vec::new(),
            press: None,
            clock: Instant::now(),
            is_stale: true,
            acts: 0,
        };
        // A terminal row is as high as two rows of the page's views, so give the views half the height.
        app.act(Action::ViewsResized(50));
        app
    }

    /// Opens the first snapshot of these files and folders. Two files are compared. Returns `false` if no snapshot was
    /// found.
    pub fn open(&mut self, paths: &[PathBuf]) -> bool {
        let found: Vec<File> = paths
            .iter()
            .flat_map(|path| self.disk.snapshots(path))
            .map(|found| File { path: found.path, name: found.name })
            .collect();
        if found.is_empty() {
            self.note = "No snapshot found.".to_owned();
            return false;
        }
        let given = found.iter().map(given).collect();
        self.files_before = std::mem::replace(&mut self.files, found);
        self.act(Action::FilesGiven(given));
        true
    }

    /// Compares the open file with another one.
    pub(crate) fn compare(&mut self, path: PathBuf) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let file = File { path, name };
        let (from, files) = (self.files.len(), vec![given(&file)]);
        self.files.push(file);
        self.act(Action::Comparing(ComparingAction::FilesGiven(from, files)));
    }

    /// Applies an action to the state and carries out its effects.
    pub(crate) fn act(&mut self, action: Action) {
        self.acts = self.acts.wrapping_add(1);
        let now_ms = self.now_ms();
        let asks = action == Action::Command(Command::ChooseEvents)
            || matches!(action, Action::Feature(FeatureAction::Palette(_)));
        let was_asked = matches!(self.state.stage, Stage::Choosing(_));
        let effects = update(&mut self.state, action, now_ms);
        for effect in effects {
            self.perform(effect);
        }
        self.is_stale = true;
        if let Stage::Choosing(choosing) = &self.state.stage {
            if !choosing.wrong.is_empty() {
                self.note = choosing.wrong.to_owned();
                self.ask_for(Of::Events);
            } else if asks {
                self.ask_for(Of::Events);
            } else if !was_asked {
                // The native program can use all of the machine's memory, so load all events without asking.
                self.act(Action::Command(Command::OpenAll));
            }
        }
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    fn now_ms(&self) -> f64 {
        self.clock.elapsed().as_secs_f64() * 1e3
    }

    /// Works until there is nothing to do or `has_time` returns `false`. Returns `true` if work is left.
    pub fn work(&mut self, has_time: &mut dyn FnMut() -> bool) -> bool {
        if let Some(done) = self.survey.take() {
            self.act(Action::Ranks(RanksAction::Surveyed(done)));
        }
        loop {
            let mut replies = Vec::new();
            let more = self.worker.work(has_time, &mut replies);
            let is_done = replies.is_empty();
            for (load, reply) in replies {
                if matches!(reply, Reply::Opened(_)) && load == self.state.load {
                    self.files_before.clear();
                }
                self.act(Action::Replied { load, reply });
            }
            if more || is_done || !has_time() {
                return more || !is_done;
            }
        }
    }

    /// Returns whether the screen needs to be redrawn, and resets that flag.
    pub(crate) fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.is_stale)
    }

    pub(crate) fn touch(&mut self) {
        self.is_stale = true;
    }

    /// Returns the error of a file that could not be opened, as one sentence.
    pub fn failure(&self) -> Option<&str> {
        if let Stage::Failed(message) = &self.state.stage { Some(message) } else { None }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Load { origin, member, load, range } => {
                if let Err(cause) = self.load(&origin, (member, load, Which::First), range) {
                    self.act(Action::LoadFailed(cause));
                }
            }
            Effect::LoadSecond { origin, member, load } => {
                if let Err(cause) = self.load(&origin, (member, load, Which::Second), LoadRange::ALL) {
                    self.act(Action::Comparing(ComparingAction::Refused(load, cause)));
                }
            }
            Effect::EndSecond => self.worker.end_second(),
            Effect::Ask(request) => self.worker.ask(request),
            Effect::BackToOpen => {
                if !self.files_before.is_empty() {
                    self.files = std::mem::take(&mut self.files_before);
                }
                self.worker.back();
            }
            Effect::Upload { device_place, scene } => {
                let places: Vec<usize> = self.state.shown_lanes().map(|lane| lane.place).collect();
                self.twin.keep_scenes(&|number| places.contains(&(number as usize)));
                self.twin.upload(device_place as u32, &scene);
            }
            Effect::FocusFind => self.ask_for(Of::Find),
            Effect::FocusFilter => self.ask_for(Of::Filter),
            Effect::FocusRequest => self.ask_for(Of::Request),
            Effect::FocusMoment => self.ask_for(Of::Moment),
            Effect::FocusCapacity => self.ask_for(Of::Capacity),
            Effect::PickFile => self.ask_for(Of::Open),
            Effect::PickSecond => self.ask_for(Of::Compare),
            Effect::FocusView => self.focus = Focus::View,
            Effect::ChangeFocus => {
                self.focus = if self.focus == Focus::Timeline { Focus::View } else { Focus::Timeline };
            }
            Effect::Copy(text) | Effect::CopyPromised(text) => self.copy(text),
            Effect::CopyLink(fragment) => self.copy(["#", &fragment].concat()),
            Effect::Ranks(effect) => self.survey(effect),
            Effect::Export(_) | Effect::WriteFile(_) | Effect::SaveHtml(_) | Effect::PickTrace => {
                self.note = "Files are written by memscape export, plot and html: o shows the command.".to_owned();
            }
            // Effects for a browser, or for parts of the page that the terminal does not have.
            Effect::PromiseCopy
            | Effect::ReadText(..)
            | Effect::Store(_)
            | Effect::StoreRules(_)
            | Effect::ReadYaml(_)
            | Effect::Save(..)
            | Effect::FollowSource
            | Effect::CancelSimulation
            | Effect::EndSimulation
            | Effect::ReplaceWorker => {}
        }
    }

    fn survey(&mut self, effect: RanksEffect) {
        match effect {
            RanksEffect::Begin(files) => {
                let path = |of: FileToSurvey| {
                    let Origin::File(place) = of.origin else { return None };
                    Some((of.name, self.files.get(place)?.path.clone()))
                };
                let files = files.into_iter().filter_map(path).collect();
                self.survey.begin(files, self.disk.survey());
            }
            // Local files are listed completely from the start.
            RanksEffect::List | RanksEffect::Cut(_) => {}
            RanksEffect::Ask(serial, rows, order) => {
                let answer = Answer::Report(Box::new(self.survey.report(rows, order)));
                self.act(Action::Ranks(RanksAction::Told(Reply::Answer { serial, answer })));
            }
            RanksEffect::Names(typed) => self.survey.name_by(typed),
            RanksEffect::Cancel => self.survey.cancel(),
            RanksEffect::Resume => self.survey.resume(self.disk.survey()),
            RanksEffect::End => self.survey = Survey::default(),
        }
    }

    /// Returns true while ranks are being surveyed.
    pub(crate) fn is_surveying(&self) -> bool {
        self.survey.is_running()
    }

    fn copy(&mut self, text: String) {
        self.orders.push(Order::Copy(text));
        self.act(Action::Copied(Ok(())));
    }

    fn load(
        &mut self,
        origin: &Origin,
        (member, load, which): (Option<u32>, u32, Which),
        range: LoadRange,
    ) -> Result<(), String> {
        let Origin::File(place) = origin else { return Err("Links are opened in a browser.".to_owned()) };
        let Some(file) = self.files.get(*place) else { return Err("The file is gone.".to_owned()) };
        let name = file.name.clone();
        let wrong = |error: String| [&name, ": ", &error].concat();
        let source = self.disk.open(&file.path).map_err(|error| wrong(error.to_string()))?;
        self.worker.load(Load { source, name: name.clone(), member, load, which, range }).map_err(wrong)
    }

    /// Opens the text field in the last line.
    pub(crate) fn ask_for(&mut self, of: Of) {
        let state = &self.state;
        let text = match of {
            Of::Find => state.find.text.clone(),
            Of::Filter if state.views.tab == Tab::Events => state.events.text.clone(),
            Of::Filter => state.table.text.clone(),
            Of::Request => state.memory.text.clone(),
            Of::Events => match &state.stage {
                Stage::Choosing(choosing) => choosing.offered.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        self.field = Some(Field::new(of, &text));
    }
}

fn look(screen: Screen) -> Look {
    match (screen.depth, screen.is_light) {
        (Depth::None, _) => plain_look(),
        (_, true) => Look::light(),
        (_, false) => Look::dark(),
    }
}

fn given(file: &File) -> GivenFile {
    let bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    GivenFile { name: file.name.clone(), bytes }
}
