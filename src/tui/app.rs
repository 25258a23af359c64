//! The shell: files and keys ↔ ui, worker ↔ engine. Actions go into the page's state, and what follows is carried out here.

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

/// How the screen looks.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub depth: Depth,
    /// Colours for a light background.
    pub is_light: bool,
    pub is_braille: bool,
}

/// A file that was given.
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
}

/// The program in the terminal.
pub struct App {
    pub(crate) state: State,
    pub(crate) worker: Worker,
    survey: Survey,
    disk: Box<dyn Disk>,
    pub(crate) files: Vec<File>,
    /// Those before what is loading.
    files_before: Vec<File>,
    pub(crate) twin: Twin,
    pub(crate) look: Look,
    pub(crate) screen: Screen,
    pub(crate) blocks: Blocks,
    pub(crate) places: Places,
    pub(crate) focus: Focus,
    pub(crate) field: Option<Field>,
    /// What is said at the foot until the next key.
    pub(crate) note: String,
    /// The link and the command for what was seen, while they are shown.
    pub(crate) link: Option<Vec<String>>,
    /// Whether lines are read one after the other: nothing stands beside them.
    pub(crate) is_plain: bool,
    /// Whether bytes are shown to the last one.
    pub(crate) is_exact: bool,
    /// Lines of the panes that are scrolled away: of the report, the side, the help.
    pub(crate) scrolled: Scrolled,
    /// The entry of the legend, and of the palette, that keys have led to.
    pub(crate) entry: usize,
    pub(crate) orders: Vec<Order>,
    pub(crate) press: Option<Press>,
    clock: Instant,
    is_stale: bool,
    /// How many actions there were.
    pub(crate) acts: u64,
}

impl App {
    /// Nothing is open yet.
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
        // A row of a terminal is as high as two of a page.
        app.act(Action::ViewsResized(50));
        app
    }

    /// Opens the first snapshot of these files and folders; two files are compared. `false` where there is none.
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

    /// Takes an action into the state, and carries out what follows.
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
                // A terminal's memory is the machine's: nobody has to choose.
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

    /// Works until there is nothing to do or `has_time` says no. `true`: there is more.
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

    /// Whether something has changed since this was asked last.
    pub(crate) fn take_stale(&mut self) -> bool {
        std::mem::take(&mut self.is_stale)
    }

    pub(crate) fn touch(&mut self) {
        self.is_stale = true;
    }

    /// What could not be opened: one sentence.
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
            // The browser's, or a part of the page that the terminal does not have.
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
            // Files of this machine are listed whole.
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

    /// Whether ranks are still to be surveyed.
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

    /// Has a text typed.
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
