//! The insights Leaks & waste, Peak and OOM: leaks of generated files are found, healthy training raises no alarm, and
//! numbers agree with all other views.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use crate::opened;
use crate::reported;

use crate::trained;

use memscape::engine::{Answer, Ask, Question, Reply, Request};
use memscape::protocol::{Arrangement, Cell, Chart, Grouping, Scope, Tone, Topic, TreeQuestion};
use memscape::units::Moment;
use opened::{Opened, open, real_pickles};
use reported::{cell, number, report, report_of, report_request, sheet, text};
use trained::generated;

/// Topics under test.
const TOPICS: [Topic; 3] = [Topic::Peak, Topic::OutOfMemory, Topic::Leaks];

fn alarms(opened: &mut Opened) -> Vec<String> {
    let devices: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
    let mut alarms = Vec::new();
    for device in devices {
        for topic in TOPICS {
            let report = report(opened, device, topic, &[]);
            let statements = report.statements.into_iter().filter(|it| it.tone == Tone::Alarm).map(|it| it.text);
            alarms.extend(statements);
            let rows = report.sheets.into_iter().flat_map(|sheet| sheet.rows);
            alarms.extend(rows.filter(|row| row.tone == Tone::Alarm).map(|row| format!("{:?}", row.cells)));
        }
    }
    alarms
}

/// memviz-neo raises 454 alarms on train-fp32-1185-segments alone.
#[test]
fn real_files_raise_no_alarm() {
    for path in real_pickles().unwrap_or_default() {
        let mut opened = open(&std::fs::read(&path).unwrap()).unwrap();
        let mut alarms = alarms(&mut opened);
        // Two recordings of a program that shows how to find a leak: 40 MiB in each of its 3 steps.
        if ["no-time-expandable", "no-time-segments-freed"]
            .iter()
            .any(|name| path.ends_with([name, ".pickle"].concat()))
        {
            assert_eq!(
                alarms.iter().filter(|it| it.contains(" grew 40.0 MiB in each of the 3 steps, none freed")).count(),
                2
            );
            alarms.retain(|it| !it.contains("memory_leaks_demo.py:11 train_one_step"));
        }
        assert_eq!(alarms, Vec::<String>::new(), "{}", path.display());
    }
}

#[test]
fn healthy_training_raises_no_alarm() {
    for words in [
        "--steps 12 --layers 4",
        "--steps 5 --layers 4 --record-from-start",
        "--events 9000 --layers 3 --no-annotations",
        "--events 9000 --layers 3 --ring 7000 --no-time",
        "--steps 8 --layers 3 --expandable --private-pools --snapshots --host",
        "--steps 9 --layers 3 --pending",
        "--steps 7 --layers 3 --compile-contexts --layer-annotations --devices 2",
    ] {
        for seed in 1..4 {
            let (mut opened, _) = generated(&format!("{words} --seed {seed}"));
            assert_eq!(alarms(&mut opened), Vec::<String>::new(), "{words}, seed {seed}");
        }
    }
}

#[test]
fn leak_is_found_with_exact_bytes() {
    for words in
        ["--steps 7 --layers 3", "--steps 12 --layers 2 --pending", "--events 14000 --layers 3 --no-annotations"]
    {
        let (mut opened, truth) = generated(&format!("{words} --leak"));
        let truth = &truth.devices[0];
        let actual = report(&mut opened, 0, Topic::Leaks, &[("alive", 1)]);
        let statements: Vec<&str> =
            actual.statements.iter().filter(|it| it.tone == Tone::Alarm).map(|it| it.text.as_str()).collect();
        let [statements] = statements.as_slice() else { panic!("{words}: {statements:?}") };
        let grows = sheet(&actual, "grows");
        let [row] = grows.rows.as_slice() else { panic!("{words}: {:?}", grows.rows) };
        let site = text(grows, row, "call_site");
        assert!(statements.starts_with(site) && site.contains("log_metrics"), "{statements}");
        let alive = sheet(&actual, "alive");
        let stays = alive.rows.iter().find(|row| text(alive, row, "call_site") == site).unwrap();
        let (blocks, bytes) = (i128::from(truth.leaked_blocks), i128::from(truth.leaked_requested));
        assert_eq!((number(alive, stays, "count"), number(alive, stays, "live_bytes")), (blocks, bytes), "{words}");
        // The recording may end in the middle of a step.
        assert!(number(grows, row, "count") >= blocks - 1 && number(grows, row, "live_bytes") <= bytes, "{words}");
        if words.contains("--steps") {
            let left_out = format!("The first two of the {} steps are left out", truth.steps);
            assert!(grows.note.starts_with(&left_out), "{words}: {}", grows.note);
            assert_eq!((number(grows, row, "count"), number(grows, row, "live_bytes")), (blocks, bytes), "{words}");
            assert_eq!(
                number(grows, row, "new_count"),
                i128::from(truth.steps) - 2,
                "{words}: all but those of the first two steps"
            );
        }
        let evidence = row.evidence.as_ref().unwrap();
        assert!(evidence.span.is_some() && evidence.allocation.is_some());
        let peak = report(&mut opened, 0, Topic::Peak, &[]);
        assert!(
            peak.statements.iter().any(|it| it.text == **statements),
            "{words}: the peak report contains the same alarm"
        );
        // A growth in fewer steps than the threshold is not reported.
        let strict = report(&mut opened, 0, Topic::Leaks, &[("steps", 1000)]);
        assert!(strict.statements.iter().all(|it| it.tone != Tone::Alarm), "{words}");
    }
}

#[test]
fn few_steps_are_all_compared() {
    let (mut opened, _) = generated("--steps 3 --layers 2 --leak");
    let actual = report(&mut opened, 0, Topic::Leaks, &[]);
    let grows = sheet(&actual, "grows");
    let [row] = grows.rows.as_slice() else { panic!("{:?}", grows.rows) };
    assert_eq!(number(grows, row, "steps"), 3);
    assert!(grows.note.starts_with("With two or three steps, all are compared."), "{}", grows.note);
}

#[test]
fn longest_wait_for_other_stream_matches_generator() {
    for words in ["--events 8000 --layers 3 --pending", "--events 9000 --layers 3 --pending --ring 4000 --seed 5"] {
        let (mut opened, truth) = generated(words);
        let truth = &truth.devices[0];
        let actual = report(&mut opened, 0, Topic::Leaks, &[("late", 1)]);
        let late = sheet(&actual, "late");
        let of_file = |row: &&memscape::protocol::SheetRow| {
            number(late, row, "free_requested_at") >= 0 && *cell(late, row, "free_completed_at") != Cell::Empty
        };
        let longest = late.rows.iter().filter(of_file).map(|row| number(late, row, "waited_events")).max();
        assert_eq!(longest, Some(i128::from(truth.longest_wait)), "{words}");
        let pending = late.rows.iter().filter(|row| *cell(late, row, "free_completed_at") == Cell::Empty);
        let bytes: i128 = pending.clone().map(|row| number(late, row, "requested_bytes")).sum();
        let known = (i128::from(truth.pending_requested), truth.pending_blocks as usize);
        assert_eq!((bytes, pending.count()), known, "{words}: pending at the end");
        let none = report(&mut opened, 0, Topic::Leaks, &[("late", truth.longest_wait + 10_000)]);
        assert!(sheet(&none, "late").rows.is_empty());
        assert!(none.statements.iter().any(|it| it.tone == Tone::Good && it.text.contains("No free took longer")));
    }
}

#[test]
fn peak_report_matches_summary_tree_and_legend() {
    let (mut opened, _) = generated("--steps 4 --layers 3 --pending --leak");
    let mut files = vec![("generated".to_owned(), opened)];
    for path in real_pickles().unwrap_or_default() {
        opened = open(&std::fs::read(&path).unwrap()).unwrap();
        files.push((path.display().to_string(), opened));
    }
    for (name, opened) in &mut files {
        for device in opened.summary.devices.clone() {
            let actual = report(opened, device.device, Topic::Peak, &[]);
            let live = sheet(&actual, "live");
            assert_eq!(live.total[0], Cell::Bytes(device.drawn_peak), "{name}");
            let rows: i128 = live.rows.iter().map(|row| number(live, row, "live_bytes")).sum();
            assert_eq!(rows, i128::from(device.drawn_peak), "{name}");
            let chart = actual.statements.iter().find_map(|it| match &it.chart {
                Some(Chart::Parts(parts)) => Some(parts.iter().map(|part| part.bytes).collect::<Vec<u64>>()),
                _ => None,
            });
            if device.drawn_peak > 0 {
                let (parts, whole) = (chart.expect("a chart of the peak"), device.drawn_peak);
                assert!(parts.iter().all(|&bytes| bytes > 0 && bytes >= whole / 200), "{name}: {parts:?} of {whole}");
                let left_out = whole - parts.iter().sum::<u64>();
                assert!(left_out <= whole / 200, "{name}: {left_out} of {whole} are not in the chart");
            }
            let categories = sheet(&actual, "categories");
            let rows: i128 = categories.rows.iter().map(|row| number(categories, row, "live_bytes")).sum();
            assert_eq!(rows, i128::from(device.drawn_peak), "{name}: categories");
            let moment = Moment::after_event_or_minus_one(device.peak_event).0;
            let question = TreeQuestion {
                scope: Scope::At(moment),
                arrangement: Arrangement::default(),
                focus: None,
                folds: Vec::new(),
                reveal: None,
                search_serial: None,
                rows: [0, 1],
            };
            let request =
                Request::Ask(Ask { serial: 1, device: device.device, question: Question::Tree(Box::new(question)) });
            let Reply::Answer { answer: Answer::Tree(page), .. } = opened.reply(request) else {
                panic!("{name}: no tree")
            };
            assert_eq!(live.total[3], Cell::Count(page.total.count.into()), "{name}: allocations");
            for (colouring, sheet_key, column) in
                [(Grouping::CallSite, "live", "call_site"), (Grouping::Category, "categories", "category")]
            {
                let request = Request::Ask(Ask {
                    serial: 1,
                    device: device.device,
                    question: Question::Legend { colouring, at: None },
                });
                let Reply::Answer { answer: Answer::Legend(entries), .. } = opened.reply(request) else {
                    panic!("{name}: no legend")
                };
                let rows = sheet(&actual, sheet_key);
                for row in &rows.rows {
                    let label = text(rows, row, column);
                    let shown: Vec<_> = entries.iter().filter(|it| it.groups == 1 && it.label == label).collect();
                    if let ([entry], true) = (shown.as_slice(), label != "no stack recorded") {
                        let same = rows.rows.iter().filter(|it| text(rows, it, column) == label).count();
                        if same == 1 {
                            let bytes = i128::from(entry.peak_requested);
                            assert_eq!(bytes, number(rows, row, "live_bytes"), "{name}: {label}");
                        }
                    }
                }
            }
        }
    }
}

/// Slices that end at every check of the clock give the same reports, and a row limit only cuts them.
#[test]
fn sliced_reports_equal_unsliced() {
    let (mut opened, _) = generated("--steps 5 --layers 3 --pending --leak --oom");
    for topic in TOPICS {
        let whole = report(&mut opened, 0, topic, &[]);
        let sliced = report_of(opened::reply(&mut opened.engine, report_request(0, topic, None, &[])));
        assert_eq!(whole, sliced, "{topic:?}");
        let mut request = report_request(0, topic, None, &[]);
        if let Request::Ask(Ask { question: Question::Report(question), .. }) = &mut request {
            question.rows = 2;
        }
        let short = report_of(opened.reply(request));
        for (short, whole) in short.sheets.iter().zip(&whole.sheets) {
            assert_eq!(short.rows, whole.rows[..whole.rows.len().min(2)], "{topic:?}: {}", short.key);
            let all = short.rows.len() as u32 + short.left_out;
            // The number of allocations before recording is unknown.
            assert!(all == whole.rows.len() as u32 || short.key == "before", "{topic:?}: {}", short.key);
            assert_eq!(short.total, whole.total, "{topic:?}: {}", short.key);
        }
    }
    assert_eq!(report(&mut opened, 5, Topic::Leaks, &[]).sheets, [], "unknown device");
}

/// The cursor's event has a column of its own next to the peak.
#[test]
fn peak_report_has_column_for_cursor() {
    let (mut opened, _) = generated("--steps 3 --layers 2");
    let device = opened.summary.devices[0].clone();
    let actual = report_of(opened.reply(report_request(0, Topic::Peak, Some(u32::MAX), &[])));
    let live = sheet(&actual, "live");
    assert_eq!(live.total[4], Cell::Bytes(device.end_requested));
    let rows: i128 = live.rows.iter().map(|row| number(live, row, "live_bytes_at_cursor")).sum();
    assert!(rows > 0 && rows <= i128::from(device.end_requested));
}

#[test]
fn releasable_bytes_exclude_private_pools_and_host() {
    let mib = 1u64 << 20;
    let segment = |device: i64, at: u64, pool: [u64; 2]| {
        let block =
            serde_json::json!({"address": at * 100 * mib, "size": 2 * mib, "requested_size": 0, "state": "inactive"});
        serde_json::json!({"device": device, "address": at * 100 * mib, "total_size": 2 * mib, "stream": 0, "segment_type": "large",
                           "segment_pool_id": pool, "blocks": [block]})
    };
    let actual = |device: i64, pools: &[[u64; 2]]| {
        let segments: Vec<_> = (1u64..).zip(pools).map(|(at, &pool)| segment(device, at, pool)).collect();
        let file = serde_json::json!({"segments": segments, "device_traces": []});
        let mut opened = open(file.to_string().as_bytes()).unwrap();
        let report = report(&mut opened, device, Topic::Leaks, &[]);
        let statements = report.statements.iter().find(|it| it.text.contains("empty segment")).unwrap();
        (statements.text.clone(), statements.fix.clone())
    };
    let [own, graph] = [[0, 0], [0, 3]];
    let is = |actual: (String, String), text: &str, fix: &str| assert_eq!(actual, (text.to_owned(), fix.to_owned()));
    // The peak stays, so this is not recommended.
    let released = " torch.cuda.empty_cache() returns this memory to the driver, without effect on the peak.";
    is(actual(0, &[own, own]), &["2 empty segments at the end: 4.00 MiB.", released].concat(), "");
    is(actual(0, &[graph]), "1 empty segment at the end: 2.00 MiB, all in private pools.", "");
    is(actual(-1, &[own]), "1 empty segment at the end: 2.00 MiB.", "");
    is(actual(0, &[own]), &["1 empty segment at the end: 2.00 MiB.", released].concat(), "");
    let mixed = "3 empty segments at the end: 6.00 MiB. Of these, 1 (2.00 MiB) can be released; the rest belongs to private pools.";
    is(actual(0, &[own, graph, graph]), mixed, "");
}

#[test]
fn rows_at_cursor_sum_to_total() {
    let (mut opened, _) = generated("--steps 4 --layers 3");
    let events = opened.summary.devices[0].events as u32;
    let mut others = 0;
    for at in (0..events).step_by(29).chain([events, u32::MAX]) {
        let report = report_of(opened.reply(report_request(0, Topic::Peak, Some(at), &[])));
        let live = sheet(&report, "live");
        let place = live.columns.iter().position(|column| column.key == "live_bytes_at_cursor").unwrap();
        let sum: i128 = live.rows.iter().map(|row| number(live, row, "live_bytes_at_cursor")).sum();
        let Cell::Bytes(total) = live.total[place] else { panic!("{:?}", live.total) };
        assert_eq!(sum, i128::from(total), "at {at}");
        others += live.rows.iter().filter(|row| number(live, row, "live_bytes") == 0).count();
        let Reply::Answer { answer: Answer::Moments(moments), .. } = opened.reply(Request::Ask(Ask {
            serial: 1,
            device: 0,
            question: Question::Moments(vec![memscape::protocol::MomentSpec::Moment(at)]),
        })) else {
            panic!("no moment")
        };
        assert_eq!(total, moments[0].requested, "at {at}");
    }
    assert!(others > 0, "no row is live only at another moment");
}

#[test]
fn recording_of_one_event_says_nothing_about_frees() {
    let Some(paths) = real_pickles() else { return };
    let one = paths.iter().filter(|path| path.to_string_lossy().contains("-one-event"));
    for path in one {
        let mut opened = open(&std::fs::read(path).unwrap()).unwrap();
        let devices: Vec<i64> = opened.summary.devices.iter().map(|device| device.device).collect();
        for device in devices {
            let report = report(&mut opened, device, Topic::Leaks, &[]);
            let all = report.statements.iter().map(|it| it.text.as_str()).collect::<Vec<&str>>().join("\n");
            assert!(all.starts_with("Only one event was recorded"), "{all}");
            assert!(!all.contains("never freed") && !all.contains("No free took longer"), "{all}");
        }
    }
}
