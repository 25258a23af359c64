//! The By source view without a browser: requests, clicks, and dropped source files.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::{
    Details, DeviceSummary, FrameText, LocationWeight, Scope, SourceFile, SourceLine, SourcesPage, Weight,
};
use memscape::ui::features::source_rows::text_view::text_view;
use memscape::ui::features::source_rows::{Expansion, Highlight, RowKind, view};
use memscape::ui::features::sources::{SourceAction, SourceText, inputs};
use memscape::ui::shell::action::Action;
use memscape::ui::state::effect::{Effect, GivenFile};
use memscape::ui::text::tab::Tab;

fn weights(now: u64, peak: u64) -> LocationWeight {
    let weight = |bytes: u64| Weight { bytes, count: u32::from(bytes > 0) };
    LocationWeight { now: weight(now), peak: weight(peak) }
}

fn source(path: &str, lines: &[(i64, u64, u64)]) -> SourceFile {
    let line = |&(line, now, peak): &(i64, u64, u64)| SourceLine {
        line: line.to_string(),
        weights: weights(now, peak),
        code: String::new(),
    };
    let sum = |of: fn(&(i64, u64, u64)) -> u64| lines.iter().map(of).sum::<u64>();
    let lines: Vec<SourceLine> = lines.iter().map(line).collect();
    SourceFile { path: path.into(), weights: weights(sum(|it| it.1), sum(|it| it.2)), lines, left_out: 0 }
}

fn page() -> SourcesPage {
    let files = vec![
        source("/home/me/model.py", &[(30, 600, 500), (7, 200, 0), (12, 0, 9)]),
        source("/home/me/deep/train.py", &[(4, 150, 1)]),
        source("/other/train.py", &[(0, 20, 1)]),
    ];
    SourcesPage { total: weights(1000, 511), elsewhere: weights(30, 0), left_out: LocationWeight::default(), files }
}

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    fn open() -> Page {
        let device = |device| DeviceSummary {
            device,
            events: 999,
            peak_event: 500,
            drawn_peak: 1 << 20,
            ..DeviceSummary::default()
        };
        Page::with_devices(SilentWorker, vec![device(0), device(1)])
    }

    /// A page with the view visible and answered.
    fn with_rows() -> Page {
        let mut page = Page::open();
        page.act(Action::TabChosen(Tab::Sources));
        page.answer();
        page
    }

    fn drop_text(&mut self, name: &str, text: &str) {
        let text = SourceText { name: name.into(), text: text.into() };
        self.act(Action::feature(SourceAction::Read(Ok(text))));
    }

    fn sources_request(&self) -> Option<(u32, Scope)> {
        self.find_request(|request| match request {
            Request::Ask(Ask { serial, device: 0, question: Question::Sources(scope) }) => Some((*serial, *scope)),
            _ => None,
        })
    }

    fn answer(&mut self) {
        let (serial, _) = self.sources_request().expect("a question");
        self.answer_with(serial, Answer::Sources(Box::new(page())));
    }

    fn pick(&mut self, place: usize) {
        self.act(Action::feature(SourceAction::RowClicked(place)));
    }

    fn labels(&self) -> Vec<String> {
        view(&self.state.sources, &self.state).rows.iter().map(|row| row.label.clone()).collect()
    }

    /// Index and name of the file to read.
    fn text_request(&self) -> Option<(usize, String)> {
        self.find_effect(|effect| match effect {
            Effect::ReadText(place, name) => Some((*place, name.clone())),
            _ => None,
        })
    }

    fn is_loading(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Load { .. }))
    }
}

#[test]
fn sources_are_requested_once_and_only_while_visible() {
    let mut page = Page::open();
    assert_eq!(page.sources_request(), None, "the call tree is visible");
    page.act(Action::TabChosen(Tab::Sources));
    let first = page.sources_request().expect("the view is visible");
    assert_eq!(first.1, Scope::At(501), "the peak");
    page.act(Action::GoToEntered("end".into()));
    assert_eq!(page.sources_request(), None, "one question is in flight");
    page.answer_with(first.0, Answer::Sources(Box::new(self::page())));
    assert_eq!(
        page.sources_request().map(|(_, scope)| scope),
        Some(Scope::At(999)),
        "the newest cursor position is next"
    );
    assert!(!page.labels().is_empty(), "the old rows stay until then");
    page.answer();
    page.act(Action::TabChosen(Tab::CallTree));
    page.act(Action::GoToEntered("3".into()));
    assert_eq!(page.sources_request(), None);
}

#[test]
fn largest_file_is_expanded_and_files_can_be_collapsed() {
    let mut page = Page::with_rows();
    let all = ["model.py", "30", "7", "12", "train.py", "train.py", "no frame in your code"];
    assert_eq!(page.labels(), all);
    let rows = view(&page.state.sources, &page.state).rows;
    assert_eq!(rows[0].kind, RowKind::File(Expansion::Expanded));
    assert_eq!((rows[0].exact.as_str(), rows[0].share.as_str(), rows[0].per_mille), ("800 B requested", "80.0 %", 800));
    assert_eq!(rows[0].folder(), "/home/me");
    assert_eq!((rows[1].path.as_str(), rows[1].exact_peak.as_str()), ("/home/me/model.py", "500 B requested"));
    page.pick(0);
    assert_eq!(page.labels(), ["model.py", "train.py", "train.py", "no frame in your code"]);
    page.pick(2);
    assert_eq!(page.labels(), ["model.py", "train.py", "train.py", "0", "no frame in your code"]);
    page.pick(4);
    page.pick(40);
    assert_eq!(page.labels().len(), 5, "clicks on a note or a missing row do nothing");
}

#[test]
fn click_on_line_searches_it_and_second_click_clears() {
    let mut page = Page::with_rows();
    page.state.views.node = Some(3);
    let before = inputs(&page.state.sources, &page.state);
    page.pick(1);
    assert_eq!(page.state.find.text, "@\"/home/me/model.py:30 \"");
    assert_eq!(page.state.views.node, None, "the node is deselected because it would hide the highlight");
    assert_ne!(inputs(&page.state.sources, &page.state), before);
    let picked = |page: &Page| {
        let marks = view(&page.state.sources, &page.state).rows.into_iter().map(|row| row.highlight.is_searched);
        marks.collect::<Vec<_>>()
    };
    assert_eq!(picked(&page), [false, true, false, false, false, false, false]);
    page.pick(0);
    assert_eq!(picked(&page), [true, false, false, false], "its folded file is marked instead");
    page.pick(0);
    page.pick(1);
    assert_eq!(page.state.find.text, "");
}

#[test]
fn line_of_selection_is_marked() {
    let mut page = Page::with_rows();
    let frame = |filename: &str, line: &str, user| FrameText {
        filename: filename.into(),
        line: line.into(),
        is_user_code: user,
        ..FrameText::default()
    };
    let frames = vec![frame("/torch/nn.py", "7", false), frame("/home/me/model.py", "7", true)];
    let mut details = Details { frames, ..Details::default() };
    let current =
        |page: &Page| view(&page.state.sources, &page.state).rows.iter().position(|row| row.highlight.is_current);
    page.state.selection = Some(Box::new(details.clone()));
    assert_eq!(current(&page), Some(2));
    details.is_free_stack = true;
    page.state.selection = Some(Box::new(details));
    assert_eq!(current(&page), None, "the stack of a free is not its call site");
}

#[test]
fn dropped_source_file_is_not_opened_as_snapshot() {
    let mut page = Page::with_rows();
    page.give_files(&["model.py"]);
    assert_eq!((page.text_request(), page.is_loading()), (Some((0, "model.py".into())), false));
    page.give_files(&["train.py", "unknown.py", "model.py"]);
    assert_eq!(page.text_request(), Some((2, "model.py".into())), "the largest of several files");
    page.give_files(&["b.pickle"]);
    assert_eq!((page.text_request(), page.is_loading()), (None, true));
    let mut page = Page::open();
    page.give_files(&["model.py", "b.pickle"]);
    assert_eq!(page.text_request(), None, "the files include a snapshot");
    let mut page = Page::open();
    page.act(Action::FilesGiven(vec![GivenFile { name: "model.py".into(), bytes: 1 << 30 }]));
    assert_eq!(page.text_request(), None, "too long for a source file");
    let mut page = Page::new(SilentWorker);
    page.give_files(&["model.py"]);
    assert_eq!((page.text_request(), page.is_loading()), (None, true), "no file is open");
}

#[test]
fn bytes_are_shown_beside_lines() {
    let mut page = Page::with_rows();
    assert_eq!(text_view(&page.state.sources, &page.state), None);
    page.drop_text("model.py", &"x = 1\n".repeat(40));
    let shown = text_view(&page.state.sources, &page.state).expect("the dropped source is shown");
    assert_eq!((shown.title.as_str(), shown.note.as_str()), ("/home/me/model.py", ""));
    let margins: Vec<_> =
        shown.lines.iter().map(|it| (it.line, it.now.as_str(), it.peak.as_str(), it.per_mille)).collect();
    assert_eq!(margins, [(30, "600 B", "500 B", 1000), (7, "200 B", "", 333), (12, "", "9 B", 0)]);
    assert_eq!(shown.lines[0].exact, "600 B requested; at the peak 500 B");
    page.act(Action::feature(SourceAction::LineClicked(7)));
    assert_eq!(page.state.find.text, "@\"/home/me/model.py:7 \"");
    let marks = text_view(&page.state.sources, &page.state)
        .expect("the source is shown")
        .lines
        .into_iter()
        .map(|it| it.highlight);
    let is_searched = |is_searched| Highlight { is_searched, is_current: false };
    assert_eq!(marks.collect::<Vec<_>>(), [is_searched(false), is_searched(true), is_searched(false)]);

    // A file shorter than the recorded one, and a file that the recording does not have.
    page.drop_text("model.py", "x = 1\n");
    let shown = text_view(&page.state.sources, &page.state).expect("the dropped source is shown");
    assert_eq!(shown.note, "This file is too short for 3 lines in the snapshot. Is it another version?");
    page.drop_text("deep/train.py", "");
    assert_eq!(
        text_view(&page.state.sources, &page.state).expect("the dropped source is shown").title,
        "/home/me/deep/train.py"
    );
    page.drop_text("a/unknown.py", "x = 1\n");
    let shown = text_view(&page.state.sources, &page.state).expect("the dropped source is shown");
    assert_eq!((shown.title.as_str(), shown.lines.len()), ("unknown.py", 0));
    assert_eq!(shown.note, "No allocation comes from a file with this name.");
    page.act(Action::feature(SourceAction::LineClicked(1)));
    page.act(Action::feature(SourceAction::Closed));
    assert_eq!(text_view(&page.state.sources, &page.state), None);
    page.act(Action::feature(SourceAction::Read(Err("a.py could not be read: gone.".into()))));
    assert_eq!(page.state.remark.as_deref(), Some("a.py could not be read: gone."));
}

#[test]
fn switching_device_keeps_only_dropped_source() {
    let mut page = Page::with_rows();
    page.drop_text("model.py", "x = 1\n");
    page.act(Action::DeviceChosen(1));
    let shown = text_view(&page.state.sources, &page.state).expect("the source stays");
    assert_eq!((shown.lines.len(), shown.note.as_str()), (0, ""), "no answer yet");
    assert!(view(&page.state.sources, &page.state).rows.is_empty());
}

#[test]
fn long_file_is_truncated_with_note() {
    let mut page = Page::open();
    page.act(Action::TabChosen(Tab::Sources));
    let (serial, _) = page.sources_request().expect("a question");
    let lines: Vec<_> = (1..=5000).map(|line| (line, 10_000 - line as u64, 1)).collect();
    let files = vec![source("/a.py", &lines), source("/b.py", &[(1, 1, 1)])];
    let answer = SourcesPage { total: files[0].weights, files, ..SourcesPage::default() };
    let total = answer.files[0].weights.now.bytes;
    page.answer_with(serial, Answer::Sources(Box::new(answer)));
    let rows = view(&page.state.sources, &page.state).rows;
    let labels: Vec<&str> = rows.iter().rev().take(2).map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["1 smaller file not shown", "3,501 smaller lines not shown"]);
    let number = |text: &str| text.replace(" B requested", "").replace(',', "").parse::<u64>().expect("a number");
    let sum: u64 = rows[1..rows.len() - 1].iter().map(|row| number(&row.exact)).sum();
    assert_eq!(sum, total, "hidden lines are included in the sum");
}
