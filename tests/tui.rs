//! `memscape tui` on an in-memory terminal: golden screens, and the effects of keys. `MEMSCAPE_BLESS=1 cargo test
//! --test native tui::` rewrites the screens. Review them before you commit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::generate;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use memscape::engine::{Engine, NeededBytes};
use memscape::protocol::Access;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use serde_json::json;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tui::{App, Depth, Disk, Found, Screen, Source, SurveyFile, plain};

/// Files of the samples folder, decompressed in memory.
struct Samples {
    /// Duration of a simulated disk stall after two thirds of the file.
    stall: Duration,
}

struct Bytes {
    bytes: Vec<u8>,
    at: usize,
    stall: Duration,
}

impl Source for Bytes {
    fn total_bytes(&self) -> Option<u64> {
        Some(self.bytes.len() as u64)
    }

    fn access(&self) -> Access {
        Access::Random
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.at = 0;
        Ok(())
    }

    fn chunk(&mut self, want: NeededBytes) -> io::Result<Vec<u8>> {
        if let NeededBytes::At(offset) = want {
            self.at = offset as usize;
        }
        let end = self.bytes.len().min(self.at + 50_000);
        if (self.at..end).contains(&(self.bytes.len() / 3 * 2)) {
            std::thread::sleep(self.stall);
        }
        let chunk = self.bytes[self.at.min(end)..end].to_vec();
        self.at = end;
        Ok(chunk)
    }

    fn copy_to_file(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn on_close(self: Box<Self>, _: Engine) {}
}

impl Disk for Samples {
    fn open(&self, path: &Path) -> io::Result<Box<dyn Source>> {
        let packed = std::fs::read(path)?;
        let mut bytes = Vec::new();
        match path.extension() {
            Some(ending) if ending == "gz" => drop(GzDecoder::new(&*packed).read_to_end(&mut bytes)?),
            _ => bytes = packed,
        }
        Ok(Box::new(Bytes { bytes, at: 0, stall: self.stall }))
    }

    fn snapshots(&self, path: &Path) -> Vec<Found> {
        vec![Found { path: path.to_owned(), name: path.file_name().unwrap().to_string_lossy().into_owned() }]
    }

    fn survey_function(&self) -> SurveyFile {
        |_| Err("not surveyed here".to_owned())
    }
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www").join(format!("{name}.pickle.gz"))
}

const COLOURS: Screen = Screen { depth: Depth::True, is_light: false, is_braille: false };

struct TerminalApp {
    app: App,
    size: [u16; 2],
}

impl TerminalApp {
    fn open(files: &[&str], size: [u16; 2], screen: Screen) -> TerminalApp {
        let mut seen = TerminalApp::loading(files, size, screen, Duration::ZERO);
        seen.settle();
        seen
    }

    /// Starts to load files from a disk that stalls for `stops`.
    fn loading(files: &[&str], size: [u16; 2], screen: Screen, stall: Duration) -> TerminalApp {
        let mut app = App::new(Box::new(Samples { stall }), screen);
        assert!(app.open(&files.iter().map(|name| sample(name)).collect::<Vec<_>>()));
        TerminalApp { app, size }
    }

    fn settle(&mut self) {
        loop {
            let is_other = self.app.update_layout(self.size[0], self.size[1]);
            if !self.app.work(&mut || true) && !is_other {
                return;
            }
        }
    }

    /// Presses keys: letters, or key names with modifiers.
    fn keys(&mut self, keys: &[&str]) -> &mut TerminalApp {
        for key in keys {
            self.app.key(&event(key));
            self.settle();
        }
        self
    }

    fn terminal(&self) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(self.size[0], self.size[1])).unwrap();
        terminal.draw(|frame| self.app.draw(frame)).unwrap();
        terminal
    }

    fn text(&self) -> String {
        let terminal = self.terminal();
        let buffer = terminal.backend().buffer();
        let row = |y: u16| -> String { (0..self.size[0]).map(|x| buffer.cell((x, y)).unwrap().symbol()).collect() };
        (0..self.size[1]).map(|y| row(y).trim_end().to_owned() + "\n").collect()
    }

    fn assert_shows(&self, texts: &[&str]) {
        let screen = self.text();
        for text in texts {
            assert!(screen.contains(text), "{text:?} is not on the screen:\n{screen}");
        }
    }
}

fn event(key: &str) -> KeyEvent {
    let (mut modifiers, mut rest) = (KeyModifiers::NONE, key);
    for (name, modifier) in
        [("Ctrl+", KeyModifiers::CONTROL), ("Alt+", KeyModifiers::ALT), ("Shift+", KeyModifiers::SHIFT)]
    {
        if let Some(more) = rest.strip_prefix(name).filter(|more| !more.is_empty()) {
            modifiers |= modifier;
            rest = more;
        }
    }
    let code = match rest {
        "Enter" => KeyCode::Enter,
        "Esc" => KeyCode::Esc,
        "Tab" => KeyCode::Tab,
        "Left" => KeyCode::Left,
        "Right" => KeyCode::Right,
        "Up" => KeyCode::Up,
        "Down" => KeyCode::Down,
        "Home" => KeyCode::Home,
        "End" => KeyCode::End,
        "PageDown" => KeyCode::PageDown,
        "Backspace" => KeyCode::Backspace,
        _ if rest.starts_with('F') && rest.len() > 1 => KeyCode::F(rest[1..].parse().unwrap()),
        _ => KeyCode::Char(rest.chars().next().unwrap()),
    };
    KeyEvent::new(code, modifiers)
}

/// Compares a screen with the golden one.
fn assert_golden(name: &str, seen: &TerminalApp) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/tui").join(format!("{name}.txt"));
    let screen = seen.text();
    if std::env::var_os("MEMSCAPE_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &screen).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == screen, "{name} differs from the golden screen:\n{screen}");
}

#[test]
fn oom_file_opens_with_oom_insight() {
    for size in [[80, 24], [120, 40], [200, 60]] {
        assert_golden(&format!("oom_{}x{}", size[0], size[1]), &TerminalApp::open(&["out-of-memory"], size, COLOURS));
    }
}

#[test]
fn reserved_view_draws_samples_and_hatches_paused_memory() {
    const START_US: u64 = 1_700_000_000_000_000;
    let mut value = crate::recorded::snapshot();
    let device = value["memscape"]["devices"][0].as_object_mut().unwrap();
    device.remove("process_bytes");
    let row = |us: u64, free: u64| json!([START_US + us, free << 20, 100 << 20]);
    value["memscape"]["samples"] = json!({"columns": ["time_us", "free_bytes", "reserved_bytes"], "device": 0, "every": 1,
        "rows": [row(500, 140), row(4_500, 80)], "events": []});
    value["memscape"]["paused"] = json!([{"begin_us": START_US + 2_000, "tag": "weights", "by": "torch_memory_saver",
        "bytes": 40 << 20, "device": 0}]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tui-observed");
    let mut gzip =
        GzEncoder::new(std::fs::File::create(file.with_extension("pickle.gz")).unwrap(), Compression::fast());
    gzip.write_all(value.to_string().as_bytes()).unwrap();
    gzip.finish().unwrap();
    let mut seen = TerminalApp::open(&[file.to_str().unwrap()], [120, 40], COLOURS);
    let count = |seen: &TerminalApp, text: &str| seen.text().matches(text).count();
    let before = count(&seen, "outside the allocator");
    assert_eq!(count(&seen, "paused, not on the device"), 0);
    seen.keys(&["Y", "Y"]);
    assert_eq!(count(&seen, "outside the allocator"), before + 1, "{}", seen.text());
    seen.assert_shows(&["paused, not on the device"]);
    seen.keys(&["8"]);
    assert_eq!(count(&seen, "outside the allocator"), before);
}

/// Partial figures are shown if loading takes longer than 400 ms, which the disk stall forces here.
#[test]
fn timeline_grows_while_file_loads() {
    let mut seen = TerminalApp::loading(&["training"], [120, 40], COLOURS, Duration::from_millis(500));
    loop {
        seen.app.update_layout(120, 40);
        assert!(seen.app.work(&mut || false), "the file opened before any partial figures:\n{}", seen.text());
        if seen.text().contains("Peak so far") {
            break;
        }
    }
    seen.assert_shows(&[
        "training.pickle.gz · GPU 0",
        "Peak so far ≈ 2.30 GiB",
        "▼ peak 2.30 GiB",
        "2 GiB┤",
        "▄▄▄▄████",
        "Reading 96 %",
    ]);
    // The window moves as usual. Keys that need the whole file have no effect.
    seen.app.key(&event("+"));
    seen.app.key(&event("Enter"));
    seen.settle();
    let finished = seen.keys(&["0"]).text();
    assert!(!finished.contains("so far"), "{finished}");
    assert_eq!(finished, TerminalApp::open(&["training"], [120, 40], COLOURS).keys(&["0"]).text());
}

#[test]
fn views_match_golden_screens() {
    let views = [("tree", "T"), ("flame", "F"), ("allocations", "L"), ("segments", "M"), ("events", "A")];
    for size in [[80, 24], [120, 40]] {
        let mut seen = TerminalApp::open(&["training"], size, COLOURS);
        for (name, key) in views {
            assert_golden(&format!("{name}_{}x{}", size[0], size[1]), seen.keys(&[key]));
        }
    }
}

#[test]
fn phases_have_a_row_below_the_axis() {
    let words = "--steps 2 --layers 2 --hidden 128 --record-from-start --no-annotations";
    let (options, _) = generate::Options::parse(words.split_whitespace().map(str::to_owned)).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&generate::generate(&options, Vec::new()).unwrap().0).unwrap();
    let name = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tui-phases");
    std::fs::write(name.with_extension("pickle.gz"), packed.finish().unwrap()).unwrap();
    let seen = TerminalApp::open(&[name.to_str().unwrap()], [160, 40], COLOURS);
    let text = seen.text();
    let row = text.lines().find(|line| line.contains("▏forward")).unwrap_or_else(|| panic!("{text}"));
    let places: Vec<usize> =
        row.match_indices("▏forward").chain(row.match_indices("▏backward")).map(|(at, _)| at).collect();
    assert_eq!(places.len(), 4, "two steps: {row}");
    assert!(places[0] < places[2] && places[2] < places[1] && places[1] < places[3], "{row}");
}

#[test]
fn selection_shows_stack_in_side_pane() {
    for size in [[80, 24], [120, 40]] {
        let mut seen = TerminalApp::open(&["training"], size, COLOURS);
        seen.keys(&["L", "Home", "Tab", "Right", "Left"]);
        assert_golden(&format!("selection_{}x{}", size[0], size[1]), &seen);
    }
}

#[test]
fn comparison_shows_two_lanes_and_insight() {
    let seen = TerminalApp::open(&["training", "leak"], [120, 40], COLOURS);
    assert_golden("comparison_120x40", &seen);
}

#[test]
fn screen_without_colours_uses_letters() {
    let mut seen = TerminalApp::open(&["training"], [120, 40], Screen { depth: Depth::None, ..COLOURS });
    seen.keys(&["T", "Tab"]);
    assert_golden("plain_colours_120x40", &seen);
    let buffer = seen.terminal().backend().buffer().clone();
    let coloured = buffer.content().iter().filter(|cell| matches!(cell.fg, ratatui::style::Color::Rgb(..)));
    assert_eq!(coloured.count(), 0);
}

/// The picture is the same as on the page: each column has the highest stack of its events, as in the scene.
#[test]
fn column_shows_highest_stack_of_its_events() {
    let seen = TerminalApp::open(&["leak"], [120, 40], COLOURS);
    let screen = seen.text();
    let rows: Vec<Vec<char>> = screen.lines().map(|line| line.chars().collect()).collect();
    let peak = rows.iter().position(|row| row.iter().any(|sign| "▄▀█".contains(*sign))).unwrap();
    // The peak is in the first rows of the picture, with a mark at its column.
    assert!(peak <= 4, "{screen}");
    seen.assert_shows(&["▼ peak"]);
}

#[test]
fn cursor_moves_all_views() {
    let mut seen = TerminalApp::open(&["training"], [120, 40], COLOURS);
    seen.keys(&["T", "@", "5", "0", "0", "Enter"]);
    seen.assert_shows(&["event 500", "▲ event 500"]);
    seen.keys(&["q", "Shift+Right"]);
    seen.assert_shows(&["event 501"]);
    seen.keys(&["x", "Shift+Right", "Shift+Right", "F8"]);
    seen.assert_shows(&["A → B", "Range"]);
}

#[test]
fn keys_zoom_pan_and_undo() {
    let mut seen = TerminalApp::open(&["training"], [120, 40], COLOURS);
    let whole = seen.text();
    let zoomed = seen.keys(&["+", "+", "+"]).text();
    assert_ne!(whole, zoomed);
    assert_ne!(zoomed, seen.keys(&["d"]).text());
    seen.keys(&["0"]);
    assert_eq!(whole, seen.text(), "the whole trace is shown again");
    assert_ne!(whole, seen.keys(&["Ctrl+b"]).text(), "braille");
}

#[test]
fn palette_and_help_list_terminal_keys() {
    let mut seen = TerminalApp::open(&["training"], [80, 24], COLOURS);
    seen.keys(&[":"]);
    for letter in "flame".chars() {
        seen.keys(&[&letter.to_string()]);
    }
    seen.assert_shows(&["Show the flame graph", "F"]);
    seen.keys(&["Enter"]);
    seen.assert_shows(&["Backspace out"]);
    seen.keys(&["?"]);
    seen.assert_shows(&["In the terminal", "Back to the timeline"]);
    seen.keys(&["Esc"]);
    assert!(!seen.text().contains("In the terminal"));
}

#[test]
fn mouse_selects_zooms_and_switches_tabs() {
    let mut seen = TerminalApp::open(&["training"], [120, 40], COLOURS);
    let mouse = |kind, column, row| MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
    let click = |seen: &mut TerminalApp, column: u16, row: u16| {
        for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left)] {
            seen.app.mouse(&mouse(kind, column, row));
            seen.settle();
        }
    };
    let tabs = seen.text().lines().position(|line| line.contains("T Call tree")).unwrap() as u16;
    click(&mut seen, 18, tabs);
    seen.assert_shows(&["in all"]);
    // A block of the picture, low in its middle.
    click(&mut seen, 40, 14);
    seen.assert_shows(&["innermost first"]);
    let before = seen.text();
    seen.app.mouse(&mouse(MouseEventKind::ScrollUp, 40, 14));
    seen.settle();
    assert_ne!(before, seen.text());
}

#[test]
fn unreadable_file_reports_error_and_keeps_open_file() {
    let mut seen = TerminalApp::open(&["training"], [80, 24], COLOURS);
    let broken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tui_broken.pickle");
    std::fs::write(&broken, b"\x80\x04broken").unwrap();
    seen.app.open(&[broken]);
    seen.settle();
    seen.assert_shows(&["Could not open", "training.pickle.gz", "Peak "]);
}

#[test]
fn plain_mode_prints_views_as_text() {
    let mut app = App::new(Box::new(Samples { stall: Duration::ZERO }), Screen { depth: Depth::None, ..COLOURS });
    app.open(&[sample("training")]);
    let mut output = Vec::new();
    let input = "T\nCtrl+e\n/train.py\n:show events\n?\n";
    plain(&mut app, &mut input.as_bytes(), &mut output).unwrap();
    let text = String::from_utf8(output).unwrap();
    let screens: Vec<&str> = text.split("— memscape —").collect();
    assert!(screens[1].contains("Peak live bytes (requested): "), "{text}");
    assert!(screens[2].contains("internal frames hidden"), "{text}");
    assert!(text.contains("events") && text.contains("In the terminal"), "{text}");
    assert!(!text.contains('\u{1b}'), "no escape sequences");
}

#[test]
fn any_size_draws_screen_and_invalid_file_shows_error() {
    for size in [[1, 1], [3, 2], [9, 5], [20, 8], [79, 23], [400, 100]] {
        let mut seen = TerminalApp::open(&["out-of-memory"], size, COLOURS);
        for key in ["T", "F", "L", "M", "A", "W", "Tab", "Tab", "?", "Esc", ":", "Esc", "o", "Esc", "V", "Ctrl+b"] {
            seen.keys(&[key]);
            assert_eq!(seen.text().lines().count(), usize::from(size[1]));
        }
    }
    for (name, bytes) in [("empty", &b""[..]), ("text", b"hello"), ("cut", b"\x80\x04\x95\xff\xff")] {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tui_{name}.pickle"));
        std::fs::write(&path, bytes).unwrap();
        let mut app = App::new(Box::new(Samples { stall: Duration::ZERO }), COLOURS);
        app.open(&[path]);
        let mut seen = TerminalApp { app, size: [80, 24] };
        seen.settle();
        assert!(seen.app.failure().is_some(), "{name}:\n{}", seen.text());
        seen.keys(&["T", "?", "q", "+", "Enter", "/", "Esc"]);
    }
}
