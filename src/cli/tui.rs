//! `memscape tui`: starts the terminal interface of `src/tui` on local files.

use super::cache::CacheEntry;
use super::file_survey::survey_file;
use super::input::Input;
use super::opening::cache_entry;
use super::output::{print, standard_output};
use super::serve::snapshots;
use clap::{Args, ValueEnum};
use engine::{Engine, NeededBytes};
use protocol::Access;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use tui::{App, Depth, Disk, Found, Screen, Source, SurveyFile};

/// Arguments of `memscape tui`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Tui {
    /// Snapshots, archives or folders with snapshots; two files are compared
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    /// Print the view as text, then read names of keys, one line at a time: for screen readers and scripts
    #[arg(long)]
    pub(crate) plain: bool,
    /// Draw the timeline in braille instead of half blocks (Ctrl+B)
    #[arg(long)]
    pub(crate) braille: bool,
    /// Colours of the terminal; if omitted, determined by NO_COLOR, COLORTERM and TERM
    #[arg(long, alias = "color", value_enum, value_name = "COLOURS")]
    pub(crate) colour: Option<Colours>,
    /// Background of the terminal; if omitted, determined by COLORFGBG, else dark
    #[arg(long, value_enum, value_name = "THEME")]
    pub(crate) theme: Option<Theme>,
}

/// Number of colours that the terminal supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colours {
    /// 16 million
    True,
    /// The 256 of xterm
    #[value(name = "256")]
    Indexed,
    /// None: letters say what colours would
    None,
}

/// Background of the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Theme {
    Dark,
    Light,
}

impl Tui {
    fn screen(&self) -> Screen {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let depth = match self.colour {
            Some(Colours::True) => Depth::True,
            Some(Colours::Indexed) => Depth::Indexed,
            Some(Colours::None) => Depth::None,
            None if !variable("NO_COLOR").is_empty() || self.plain || variable("TERM") == "dumb" => Depth::None,
            None if ["truecolor", "24bit"].contains(&variable("COLORTERM").as_str())
                || variable("TERM").contains("direct") =>
            {
                Depth::True
            }
            None => Depth::Indexed,
        };
        // In `15;0` the last number is the background colour. 7 and 15 are white.
        let ground = variable("COLORFGBG");
        let is_light = match self.theme {
            Some(theme) => theme == Theme::Light,
            None => matches!(ground.rsplit(';').next(), Some("7" | "15")),
        };
        Screen { depth, is_light, is_braille: self.braille }
    }
}

/// Runs `memscape tui`. Returns error messages on failure.
pub(crate) fn tui(arguments: &Tui) -> Result<(), Vec<String>> {
    if !arguments.plain && !io::stdout().is_terminal() {
        return Err(vec!["memscape tui needs a terminal; --plain prints what it shows".to_owned()]);
    }
    let absent = |path: &PathBuf| std::fs::metadata(path).err().map(|error| format!("{}: {error}", path.display()));
    let absent: Vec<String> = arguments.paths.iter().filter_map(absent).collect();
    if !absent.is_empty() {
        return Err(absent);
    }
    let mut app = App::new(Box::new(LocalDisk), arguments.screen());
    if !app.open(&arguments.paths) {
        let paths: Vec<String> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(vec![[&paths.join(", "), ": no snapshot found"].concat()]);
    }
    let wrong = |error: io::Error| vec![error.to_string()];
    if arguments.plain {
        tui::plain(&mut app, &mut io::stdin().lock(), &mut standard_output()).map_err(wrong)?;
        return app.failure().map_or(Ok(()), |failure| Err(vec![failure.to_owned()]));
    }
    // Print the links again, so that they can be copied after the screen is restored.
    let link = tui::run(&mut app).map_err(wrong)?;
    if link.is_empty() { Ok(()) } else { print(&(link.join("\n") + "\n")).map_err(|error| vec![error]) }
}

/// Access to the local file system, for the terminal interface.
struct LocalDisk;

impl Disk for LocalDisk {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let input = Input::open(path)?;
        let place = cache_entry(&input, None);
        let kept = place.as_ref().and_then(CacheEntry::open_verified);
        let place = place.filter(|_| kept.is_none());
        Ok(Box::new(LocalSource { input: kept.unwrap_or(input), place }))
    }

    fn survey_function(&self) -> SurveyFile {
        |path| survey_file(path, Box::new(|| Ok(())))
    }

    fn snapshots(&self, path: &Path) -> Vec<Found> {
        snapshots(path).into_iter().map(|snapshot| Found { path: snapshot.path, name: snapshot.name }).collect()
    }
}

/// An open file, or its cache entry. `place` is the cache entry to write when the file is closed, if the entry does not
/// exist yet.
struct LocalSource {
    input: Input,
    place: Option<CacheEntry>,
}

impl Source for LocalSource {
    fn total_bytes(&self) -> Option<u64> {
        self.input.total_bytes()
    }

    fn access(&self) -> Access {
        self.input.access()
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.input.rewind()
    }

    fn chunk(&mut self, want: NeededBytes) -> io::Result<Vec<u8>> {
        self.input.chunk(want)
    }

    fn copy_to_file(&mut self) -> io::Result<()> {
        self.input.copy_to_file()
    }

    fn on_close(self: Box<Self>, engine: Engine) {
        if let Some(place) = self.place {
            place.store(engine);
        }
    }
}
