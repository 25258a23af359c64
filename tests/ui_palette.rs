//! The command palette without a browser: listed entries, search results, and the effects of choosing an entry.

use crate::face::{self, CANVAS, Worker, opened_reply};
use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{AxisPoint, DeviceSummary, Marks, RangeMark, RangeSource, Span, Topic};
use memscape::timeline::Scene;
use memscape::ui::features::State;
use memscape::ui::features::command::Command;
use memscape::ui::features::palette::{PaletteAction, PaletteTarget};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::shell::palette_entries::{Entry, PaletteView, view};
use memscape::ui::state::effect::Effect;
use memscape::ui::state::settings::{Dialog, Theme};
use memscape::ui::state::stage::Help;
use memscape::ui::text::tab::Tab;

/// A worker that answers with marks and empty scenes.
struct MarksWorker;

impl Worker for MarksWorker {
    fn answer(&mut self, request: &Request) -> Option<Answer> {
        let Request::Ask(Ask { question: what, .. }) = request else { return None };
        if let Question::Scene { view, .. } = what {
            let scene = Scene {
                view: *view,
                band_px: 1,
                columns: face::columns(*view),
                quads: vec![],
                ground: None,
                identities: vec![],
            };
            return Some(Answer::Scene(Box::new(scene)));
        }
        if *what != Question::Marks {
            return None;
        }
        let place = |events: f64| AxisPoint { events, time: 0 };
        let range = |name: &str, from: f64, to: f64| RangeMark {
            name: name.into(),
            source: RangeSource::Annotation,
            start: place(from),
            end: place(to),
            has_end: true,
            lane: 0,
            span: Span { from: from as u32, to: to as u32 },
            duration_us: 1000,
            shared_prefix: 0,
        };
        let ranges = vec![
            range("forward", 10.0, 20.5),
            range("backward", 20.5, 40.0),
            range("forward", 50.0, 60.0),
            range("optimizer step 29", 60.0, 61.0),
        ];
        Some(Answer::Marks(Box::new(Marks { ranges, lanes: 1, ..Marks::default() })))
    }
}

type Page = face::Page<MarksWorker>;

fn device(device: i64) -> DeviceSummary {
    DeviceSummary {
        device,
        events: 100,
        peak_requested: 1 << 20,
        peak_event: 30,
        drawn_peak: 1 << 20,
        ..DeviceSummary::default()
    }
}

fn page() -> Page {
    let mut page = Page::with_devices(MarksWorker, vec![device(0), device(1)]);
    page.command(toggle());
    page
}

fn toggle() -> Command {
    commands::palette::TOGGLE
}

fn shown(state: &State) -> PaletteView {
    view(state)
}

impl Page {
    fn palette(&mut self, action: PaletteAction) {
        self.act(Action::feature(action));
    }

    fn found(&mut self, text: &str) -> Vec<Entry> {
        self.palette(PaletteAction::Typed(text.into()));
        shown(&self.state).entries
    }

    fn first(&mut self, text: &str) -> Entry {
        self.found(text).into_iter().next().unwrap_or_else(|| panic!("nothing for {text}"))
    }

    /// Types a text and runs the best match.
    fn run(&mut self, text: &str) -> Entry {
        let entry = self.first(text);
        self.palette(PaletteAction::Picked(entry.target));
        entry
    }
}

#[test]
fn every_kind_of_entry_is_found_by_name() {
    let mut page = page();
    let mut first = |text: &str| {
        let entry = page.first(text);
        (entry.name, entry.kind)
    };
    let own = |name: &str, kind: &'static str| (name.to_owned(), kind);
    assert_eq!(first("go peak"), own("Go to the peak", "Move and zoom"));
    assert_eq!(first("show flame"), own("Show the flame graph", "View"));
    assert_eq!(first("fragm"), own(Topic::Fragmentation.title(), "Insight"));
    assert_eq!(first("gpu 1"), own("GPU 1", "Device"));
    assert_eq!(first("step 29"), own("optimizer step 29", "Annotation"));
    assert_eq!(first("dark"), own("Theme: dark", "Help and settings"), "a command without a key");
    assert_eq!(
        first("settings"),
        own("Open settings", "Help and settings"),
        "a match in the name ranks above a match in the kind"
    );
    page.act(Action::FilesGiven(
        ["one.pickle", "two.pickle"]
            .map(|name| memscape::ui::state::effect::GivenFile { name: name.into(), bytes: 1 })
            .into(),
    ));
    page.reply(opened_reply(vec![device(0)]));
    let two = page.first("two");
    assert_eq!((two.name.as_str(), two.kind), ("two.pickle", "File"));
    page.palette(PaletteAction::Picked(two.target));
    assert!(page.find_effect(|effect| matches!(effect, Effect::Load { .. }).then_some(())).is_some());
}

#[test]
fn available_commands_are_listed_with_keys() {
    let mut page = page();
    for (place, command) in commands::all().enumerate() {
        let idle = [toggle(), commands::CANCEL_LOADING, commands::OPEN_ALL, commands::COPY_SNIPPET];
        let found = page.found(command.title);
        let entry = found.iter().find(|entry| entry.target == PaletteTarget::Command(place));
        // Of several commands with the same name and group only the first is listed.
        let is_double = found.iter().any(|it| it.name == command.title);
        assert_eq!(entry.is_some() || is_double, !idle.contains(&command), "{}", command.title);
        if let Some(entry) = entry {
            assert_eq!((entry.name.as_str(), entry.keys.len()), (command.title, command.keys.len()));
        }
    }
}

#[test]
fn commands_available_without_file_are_listed() {
    let mut page = Page::with_canvas(CANVAS, MarksWorker);
    page.command(toggle());
    let names: Vec<String> = shown(&page.state).entries.into_iter().map(|entry| entry.name).collect();
    for name in ["Open a snapshot", "Open help", "Open settings", "Theme: dark"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }
    assert!(names.iter().all(|name| name != "Go to the peak" && name != "Peak"), "{names:?}");
}

#[test]
fn arrow_keys_wrap_and_typing_selects_best_match() {
    let mut page = page();
    let count = page.found("zoom").len();
    assert!(count > 3);
    assert_eq!(shown(&page.state).active, 0);
    page.palette(PaletteAction::Moved(-1));
    assert_eq!(shown(&page.state).active, count - 1, "up from the first is the last");
    page.palette(PaletteAction::Moved(2));
    assert_eq!(shown(&page.state).active, 1);
    page.found("zoom in");
    assert_eq!(shown(&page.state).active, 0);
    assert_eq!(page.found("qqqq zzzz"), vec![]);
    let nothing = shown(&page.state);
    assert_eq!((nothing.active, nothing.note.as_str()), (0, "Nothing matches “qqqq zzzz”."));
    page.palette(PaletteAction::Moved(5));
    assert_eq!(shown(&page.state).active, 0);
}

#[test]
fn matched_letters_are_marked() {
    let mut page = page();
    let entry = page.first("peak");
    let marked: String =
        entry.name.chars().enumerate().filter(|(at, _)| entry.matched.contains(at)).map(|it| it.1).collect();
    assert_eq!(marked.to_lowercase(), "peak");
}

#[test]
fn choosing_an_entry_runs_it_and_closes_palette() {
    let mut page = page();
    page.run("go to the peak");
    assert_eq!((page.state.palette.dialog, page.state.cursor.moment), (Dialog::Closed, 31));
    page.run("gpu 1");
    assert_eq!(page.state.device_index, 1);
    page.run("show events");
    assert_eq!(page.state.views.tab, Tab::Events);
    assert!(page.find_effect(|effect| (*effect == Effect::FocusView).then_some(())).is_some());
    page.run(Topic::Fragmentation.title());
    assert_eq!((page.state.views.tab, page.state.insights.topic), (Tab::Insights, Topic::Fragmentation));
    page.run("open help");
    assert_eq!(page.state.help, Help::Open);
    page.run("theme dark");
    assert_eq!(page.state.settings.theme, Theme::Dark);
    assert!(
        page.find_effect(|effect| matches!(effect, Effect::Store(text) if text.contains("theme=dark")).then_some(()))
            .is_some()
    );
}

#[test]
fn command_of_a_view_switches_to_that_view() {
    let mut page = page();
    page.act(Action::TabChosen(Tab::CallTree));
    page.run("flip the root");
    assert_eq!(page.state.views.tab, Tab::Flame);
}

#[test]
fn annotation_is_listed_once_and_selects_its_range() {
    let mut page = page();
    let found = page.found("forward");
    assert_eq!(found.iter().filter(|entry| entry.name == "forward").count(), 1);
    let entry = page.run("backward");
    assert_eq!((entry.name.as_str(), entry.target), ("backward", PaletteTarget::Annotation(1)));
    assert_eq!(page.state.cursor.range, Some(Span { from: 20, to: 40 }));
}

#[test]
fn recently_used_entries_come_first() {
    let mut page = page();
    page.run("go to the peak");
    page.run("fit the whole trace");
    page.command(toggle());
    let first =
        |page: &Page| shown(&page.state).entries.into_iter().take(2).map(|entry| entry.name).collect::<Vec<_>>();
    assert_eq!(page.state.palette.text, "", "palette opens with an empty search");
    assert_eq!(first(&page), ["Fit the whole trace", "Go to the peak"]);
    page.run("go to the peak");
    page.command(toggle());
    assert_eq!(first(&page), ["Go to the peak", "Fit the whole trace"]);
    page.act(Action::WorkerStopped("out of memory".into()));
    assert!(shown(&page.state).entries.iter().all(|entry| entry.name != "Go to the peak"), "not listed without a file");
    assert!(matches!(page.state.stage, memscape::ui::state::stage::Stage::Failed(_)));
    page.reply(Reply::Answer { serial: 0, answer: Answer::Marks(Box::default()) });
}
