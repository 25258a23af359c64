//! The application: applies actions to the state of the `ui` crate, and carries out the resulting effects.

mod effects;

use crate::cells::{Blocks, Depth, letter_look};
use crate::field::{Field, FieldPurpose};
use crate::layout::PaneAreas;
use crate::panes::{Focus, Order, Press, Scrolled};
use crate::ranks::Survey;
use crate::source::Disk;
use crate::worker::Worker;
use picture::render::{CpuRenderer, PictureTheme};
use protocol::Reply;
use std::path::PathBuf;
use std::time::Instant;
use ui::features::command::Command;
use ui::features::{FeatureAction, State};
use ui::shell::action::Action;
use ui::shell::commands;
use ui::state::comparing::ComparingAction;
use ui::state::effect::GivenFile;
use ui::state::ranks::RanksAction;
use ui::state::stage::Stage;
use ui::text::tab::Tab;
use ui::update;

/// Display settings of the terminal.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub depth: Depth,
    /// True for a light background, which needs darker colours.
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
    /// Files that were open before the current load. Restored if loading fails.
    previous_files: Vec<File>,
    pub(crate) rasterizer: CpuRenderer,
    pub(crate) look: PictureTheme,
    pub(crate) screen: Screen,
    pub(crate) blocks: Blocks,
    pub(crate) layout: PaneAreas,
    pub(crate) focus: Focus,
    pub(crate) field: Option<Field>,
    /// Message shown in the last line until the next key press.
    pub(crate) message: String,
    /// Lines of the dialog with the link, while the dialog is open.
    pub(crate) link: Option<Vec<String>>,
    /// True in plain mode, which prints panes one after another as text.
    pub(crate) is_plain: bool,
    /// True if byte counts are displayed exactly instead of rounded.
    pub(crate) is_exact: bool,
    /// Scroll positions, in lines, of the report, the side pane and the help.
    pub(crate) scrolled: Scrolled,
    /// Index of the selected entry in the legend or the command palette.
    pub(crate) selected_entry: usize,
    pub(crate) orders: Vec<Order>,
    pub(crate) press: Option<Press>,
    clock: Instant,
    needs_redraw: bool,
    /// Number of actions applied so far. Wraps around on overflow.
    pub(crate) action_count: u64,
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
            previous_files: Vec::new(),
            rasterizer: CpuRenderer::new(),
            look: choose_look(screen),
            screen,
            blocks: if screen.is_braille { Blocks::Braille } else { Blocks::Half },
            layout: PaneAreas::default(),
            focus: Focus::default(),
            field: None,
            message: String::new(),
            link: None,
            is_plain: false,
            is_exact: false,
            scrolled: Scrolled::default(),
            selected_entry: 0,
            orders: Vec::new(),
            press: None,
            clock: Instant::now(),
            needs_redraw: true,
            action_count: 0,
        };
        // A terminal row is as high as two rows of the page's views, so give the views half the height.
        app.act(Action::ViewsResized(50));
        app
    }

    /// Opens the first snapshot in these files and folders. If two files are given, compares them. Returns `false` if
    /// no snapshot was found.
    pub fn open(&mut self, paths: &[PathBuf]) -> bool {
        let found: Vec<File> = paths
            .iter()
            .flat_map(|path| self.disk.snapshots(path))
            .map(|found| File { path: found.path, name: found.name })
            .collect();
        if found.is_empty() {
            self.message = "No snapshot found.".to_owned();
            return false;
        }
        let given = found.iter().map(given_file).collect();
        self.previous_files = std::mem::replace(&mut self.files, found);
        self.act(Action::FilesGiven(given));
        true
    }

    /// Opens a second file and compares the open file with it.
    pub(crate) fn compare(&mut self, path: PathBuf) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let file = File { path, name };
        let (from, files) = (self.files.len(), vec![given_file(&file)]);
        self.files.push(file);
        self.act(Action::Comparing(ComparingAction::FilesGiven(from, files)));
    }

    /// Applies an action to the state and carries out its effects.
    pub(crate) fn act(&mut self, action: Action) {
        self.action_count = self.action_count.wrapping_add(1);
        let now_ms = self.now_ms();
        let asks = action == Action::Command(commands::CHOOSE_EVENTS)
            || matches!(action, Action::Feature(FeatureAction::Palette(_)));
        let was_asked = matches!(self.state.stage, Stage::Choosing(_));
        let effects = update(&mut self.state, action, now_ms);
        for effect in effects {
            self.carry_out(effect);
        }
        self.needs_redraw = true;
        if let Stage::Choosing(choosing) = &self.state.stage {
            if !choosing.error.is_empty() {
                self.message = choosing.error.to_owned();
                self.open_field(FieldPurpose::Events);
            } else if asks {
                self.open_field(FieldPurpose::Events);
            } else if !was_asked {
                // The native program can use all of the machine's memory, so load all events without asking.
                self.act(Action::Command(commands::OPEN_ALL));
            }
        }
    }

    pub(crate) fn command(&mut self, command: Command) {
        self.act(Action::Command(command));
    }

    fn now_ms(&self) -> f64 {
        self.clock.elapsed().as_secs_f64() * 1e3
    }

    /// Continues pending work until there is none or `has_time` returns `false`. Returns `true` if work remains.
    pub fn work(&mut self, has_time: &mut dyn FnMut() -> bool) -> bool {
        if let Some(done) = self.survey.poll() {
            self.act(Action::Ranks(RanksAction::Surveyed(done)));
        }
        loop {
            let mut replies = Vec::new();
            let more = self.worker.work(has_time, &mut replies);
            let is_done = replies.is_empty();
            for (load, reply) in replies {
                if matches!(reply, Reply::Opened(_)) && load == self.state.load {
                    self.previous_files.clear();
                }
                self.act(Action::Replied { load, reply });
            }
            if more || is_done || !has_time() {
                return more || !is_done;
            }
        }
    }

    /// Returns true if the screen must be redrawn, and resets that flag.
    pub(crate) fn take_needs_redraw(&mut self) -> bool {
        std::mem::take(&mut self.needs_redraw)
    }

    pub(crate) fn request_redraw(&mut self) {
        self.needs_redraw = true;
    }

    /// Returns the error message of a file that could not be opened.
    pub fn failure(&self) -> Option<&str> {
        if let Stage::Failed(message) = &self.state.stage { Some(message) } else { None }
    }

    /// Returns true while the snapshots of many ranks are being scanned.
    pub(crate) fn is_surveying(&self) -> bool {
        self.survey.is_running()
    }

    /// Opens the text field in the last line of the screen. `purpose` determines what Enter does with the text.
    pub(crate) fn open_field(&mut self, purpose: FieldPurpose) {
        let state = &self.state;
        let text = match purpose {
            FieldPurpose::Find => state.find.text.clone(),
            FieldPurpose::Filter if state.views.tab == Tab::Events => state.events.text.clone(),
            FieldPurpose::Filter => state.table.text.clone(),
            FieldPurpose::Request => state.segments.request_text.clone(),
            FieldPurpose::Events => match &state.stage {
                Stage::Choosing(choosing) => choosing.initial_range.clone(),
                _ => String::new(),
            },
            _ => String::new(),
        };
        self.field = Some(Field::new(purpose, &text));
    }
}

fn choose_look(screen: Screen) -> PictureTheme {
    match (screen.depth, screen.is_light) {
        (Depth::None, _) => letter_look(),
        (_, true) => PictureTheme::light(),
        (_, false) => PictureTheme::dark(),
    }
}

fn given_file(file: &File) -> GivenFile {
    let bytes = std::fs::metadata(&file.path).map_or(0, |metadata| metadata.len());
    GivenFile { name: file.name.clone(), bytes }
}
