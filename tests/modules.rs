//! The report on modules compared with the ground truth of generated files, with real files, and with stacks that only
//! look like modules.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::opened;
use crate::reported;

use crate::trained;

use memscape::engine::{Ask, Question, Request};
use memscape::protocol::{Cell, Report, ReportQuestion, Sheet, SheetRow, Topic};
use opened::{Opened, reply};
use reported::{cell, text};
use std::collections::BTreeMap;
use trained::generated;

fn report_request(device: i64, rows: u32) -> Request {
    let question =
        ReportQuestion { topic: Topic::Modules, at: None, thresholds: Vec::new(), rows, ..ReportQuestion::default() };
    Request::Ask(Ask { serial: 7, device, question: Question::Report(question) })
}

fn report(opened: &mut Opened, device: i64, rows: u32) -> Report {
    reported::report_of(opened.reply(report_request(device, rows)))
}

fn number(sheet: &Sheet, row: &SheetRow, key: &str) -> u64 {
    u64::try_from(reported::number(sheet, row, key)).unwrap()
}

/// Call locations of a row's module, outermost first, as `file:line` like the ground truth has them.
fn call_path(row: &SheetRow) -> Vec<String> {
    row.stack.iter().rev().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

#[test]
fn module_rows_match_ground_truth() {
    for words in [
        "--steps 3 --layers 3 --hidden 512",
        "--events 9000 --ring 4000 --layers 6 --pending --private-pools",
        "--steps 7 --layers 2 --hidden 256 --expandable --style cpp --prerecord-mib 64",
        "--steps 3 --layers 2 --hidden 256 --devices 2 --leak --layer-annotations --prerecord-mib 64",
        "--steps 2 --layers 2 --hidden 128 --record-from-start --no-annotations",
        "--example",
    ] {
        let (mut opened, truth) = generated(words);
        for device in &truth.devices {
            let report = report(&mut opened, device.device, 10_000);
            let [sheet] = report.sheets.as_slice() else { panic!("{:?}", report.sheets) };
            let rows: BTreeMap<Vec<String>, &SheetRow> = sheet.rows.iter().map(|row| (call_path(row), row)).collect();
            assert_eq!((rows.len(), sheet.rows.len()), (device.layers.len(), device.layers.len()), "{words}");
            for layer in &device.layers {
                let row = rows.get(&layer.called_at).unwrap_or_else(|| panic!("{words}: no {:?}", layer.called_at));
                let found = [
                    "events",
                    "allocations",
                    "requested_bytes",
                    "frees",
                    "freed_bytes",
                    "peak_live_bytes",
                    "peak_reserved_bytes",
                    "duration_us",
                ]
                .map(|key| number(sheet, row, key));
                let expected = [
                    layer.events,
                    layer.allocations,
                    layer.allocated_bytes,
                    layer.frees,
                    layer.freed_bytes,
                    layer.peak_requested,
                    layer.peak_reserved,
                    layer.last_us - layer.first_us,
                ];
                assert_eq!(found, expected, "{words}: {}", layer.layer);
                let Cell::Ratio(fragmentation) = cell(sheet, row, "mean_fragmentation") else { panic!("no ratio") };
                assert!((fragmentation - layer.mean_fragmentation).abs() < 1e-9, "{words}: {}", layer.layer);
                assert_eq!(row.depth as usize, layer.called_at.len() - 1, "{words}: {}", layer.layer);
                let is_annotated = words.contains("--layer-annotations") && layer.class == "Block";
                let name = if is_annotated { &layer.layer } else { layer.file.rsplit('/').next().unwrap() };
                assert_eq!(text(sheet, row, "module"), name, "{words}");
            }
            // Each row follows the row of the module that calls it.
            for (row, before) in sheet.rows.iter().skip(1).zip(&sheet.rows) {
                assert!(row.depth <= before.depth + 1, "{words}");
                let outer = &call_path(row)[..row.depth as usize];
                assert!(call_path(before).starts_with(outer), "{words}: {row:?} after {before:?}");
            }
        }
    }
}

#[test]
fn sliced_report_equals_unsliced_and_row_limit_keeps_outermost_modules() {
    let (mut opened, _) = generated("--events 5000 --layers 5 --prerecord-mib 64");
    let whole = report(&mut opened, 0, 10_000);
    assert_eq!(reported::report_of(reply(&mut opened.engine, report_request(0, 10_000))), whole);
    let few = report(&mut opened, 0, 7);
    assert_eq!((few.sheets[0].rows.len(), few.sheets[0].left_out as usize), (7, whole.sheets[0].rows.len() - 7));
    assert!(few.sheets[0].rows.iter().all(|row| row.depth < 2), "{few:?}");
    assert_eq!(report(&mut opened, 99, 10), Report { topic: Topic::Modules, ..Report::default() });
}
