//! Lists of frames without internal ones: rows of reports, details and comparisons of all real files.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::reported;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Details, FrameText, Report, ReportQuestion, Topic};
use memscape::ui::scope::details::{Run, view};
use opened::{Opened, open, snapshots};
use std::collections::HashMap;

/// Returns whether the default rules hide a frame. Written again, independently of the rules' syntax.
fn is_internal(name: &str, file: &str) -> bool {
    let file = file.replace('\\', "/");
    let is_package = ["site-packages/torch/", "dist-packages/torch/", "/lib/python3", "<frozen", "<string>"];
    let base = file.rsplit('/').next().unwrap_or_default();
    let is_binary = base.contains(".so") || base == "python" || base.starts_with("python3");
    let is_source =
        [".cpp", ".cc", ".cu", ".c", ".h", ".cuh", ".hpp", ".S", ".o"].iter().any(|end| base.ends_with(end));
    is_package.iter().any(|part| file.contains(part))
        || matches!(name, "_call_impl" | "_wrapped_call_impl")
        || matches!(&*file, "" | "??" | "none")
        || is_binary
        || is_source
}

fn is_internal_frame(frame: &FrameText) -> bool {
    is_internal(&frame.name, &frame.filename)
}

/// Formats a frame as reports list it.
fn line(frame: &FrameText) -> String {
    let place = match (frame.filename.as_str(), frame.line.as_str()) {
        ("" | "??" | "none", _) => String::new(),
        (file, "0") => format!("{file} "),
        (file, line) => format!("{file}:{line} "),
    };
    place + &frame.name
}

fn details(opened: &mut Opened, device: i64, allocation: u32) -> Details {
    match opened.reply(Request::Ask(Ask { serial: 3, device, question: Question::Details(allocation) })) {
        Reply::Answer { answer: Answer::Details(Some(details)), .. } => *details,
        other => panic!("no details: {other:?}"),
    }
}

/// Checks the first stack of each row that shows an allocation against the frames of that allocation. Returns the
/// number of stacks with frames of the user.
fn check(file: &str, report: &Report, of: &mut dyn FnMut(u32) -> Details) -> usize {
    let mut checked = 0;
    for row in report.sheets.iter().flat_map(|sheet| &sheet.rows) {
        for stack in std::iter::once(&row.stack).chain(&row.other_stacks) {
            assert!(stack.windows(2).all(|pair| pair[0] != pair[1]), "{file}: equal neighbours in {stack:?}");
        }
        for (place, stack) in row.other_stacks.iter().enumerate() {
            assert!(*stack != row.stack && !row.other_stacks[..place].contains(stack), "{file}: {stack:?} twice");
        }
        let Some(allocation) = row.evidence.as_ref().and_then(|evidence| evidence.allocation) else { continue };
        let frames = of(allocation).frames;
        if row.stack.is_empty() || frames.iter().all(is_internal_frame) {
            continue;
        }
        let mut shown: Vec<String> = frames.iter().filter(|frame| !is_internal_frame(frame)).map(line).collect();
        shown.dedup();
        assert_eq!(row.stack[..], shown[..shown.len().min(200)], "{file}: allocation {allocation}");
        checked += 1;
    }
    checked
}

#[test]
fn no_list_of_frames_begins_with_an_internal_frame_on_real_files() {
    let Some(folder) = snapshots() else { return };
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".pickle") {
            continue;
        }
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        for device in opened.summary.devices.clone() {
            let device = device.device;
            let mut known: HashMap<u32, Details> = HashMap::new();
            for topic in [Topic::Peak, Topic::Leaks, Topic::Categories, Topic::Savings, Topic::OutOfMemory] {
                // Few enough rows that the limit of the lines of a report is not reached.
                let question = ReportQuestion { topic, rows: 200, ..ReportQuestion::default() };
                let ask = Ask { serial: 7, device, question: Question::Report(question) };
                let report = reported::report_of(opened.reply(Request::Ask(ask)));
                let mut of = |id: u32| known.entry(id).or_insert_with(|| details(&mut opened, device, id)).clone();
                checked += check(&name, &report, &mut of);
            }
            for details in known.values() {
                let runs = view(details);
                let runs = runs.runs();
                let first = runs.iter().find_map(|run| if let Run::Shown(frame) = run { Some(frame) } else { None });
                let has_own = details.frames.iter().any(|frame| !is_internal_frame(frame));
                if let Some(first) = first.filter(|_| has_own) {
                    assert!(!is_internal(&first.name, &first.source[0]), "{name}: {first:?}");
                }
                assert!(details.frames.is_empty() || first.is_some(), "{name}: all frames are folded");
            }
        }
    }
    assert!(checked > 500, "{checked} stacks of the user were checked");
}
