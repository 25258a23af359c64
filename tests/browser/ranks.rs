//! Surveys of many ranks in the page: results as from the engine, charts, opening and comparing ranks, cancelling and
//! resuming.

use crate::comparing::wait_for_report;
use crate::fixtures::write_file;
use crate::opening::open_empty_page;
use crate::page::Page;
use crate::screenshots::save_drawn_screenshot;
use crate::segments::generate_file;
use memscape::compare::ranks::{FileSurvey, Order, Rank, Ranks, parse_names, report};
use memscape::engine::Opening;
use memscape::protocol::{NeededBytes, Report};
use memscape::slice::TimeSlice;
use std::path::PathBuf;

const OPTIONS: &str = "--steps 3 --layers 2 --hidden 128 --sequence 64 --record-from-start --frames 12";

/// Files of eight ranks: five alike, one that leaks, one missing and one truncated.
fn eight_ranks(name: &str) -> Vec<PathBuf> {
    let path = |rank: usize| format!("{name}_rank{rank}.pickle");
    let mut files: Vec<PathBuf> = (0..5).map(|rank| generate_file(&path(rank), OPTIONS)).collect();
    files.push(generate_file(&path(5), &format!("{OPTIONS} --extra-leak 4")));
    let bytes = std::fs::read(&files[0]).expect("the file was generated");
    files.push(write_file(&path(7), &bytes[..bytes.len() / 2]));
    files
}

/// Expected report, computed without a page.
fn expected_report(files: &[PathBuf]) -> Report {
    expected_in_order(files, Order::Rank)
}

fn expected_in_order(files: &[PathBuf], order: Order) -> Report {
    let name = |path: &PathBuf| path.file_name().expect("the path has a file name").to_string_lossy().into_owned();
    let names: Vec<String> = files.iter().map(name).collect();
    let parsed = parse_names(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let mut ranks = Vec::new();
    for ((place, path), named) in files.iter().enumerate().zip(parsed) {
        let rank = Rank { place: Some(place as u32), ..Rank::from_file(names[place].clone(), named) };
        let bytes = std::fs::read(path).expect("the file was generated");
        let mut has_time = || true;
        let slice = &mut TimeSlice::new(&mut has_time);
        let mut opening = Opening::new(names[place].clone(), bytes.len() as u64, None, u64::MAX);
        let mut at = 0;
        let opened = loop {
            match opening.wants() {
                Some(NeededBytes::At(offset)) => at = offset as usize,
                Some(_) => {}
                None => match opening.step(slice) {
                    Ok(None) => continue,
                    Ok(Some(opened)) => break Ok(opened),
                    Err(error) => break Err(error),
                },
            }
            opening.feed(bytes[at..].to_vec());
            at = bytes.len();
        };
        match opened {
            Err(error) => ranks.push(rank.with_error(error)),
            Ok(opened) => {
                let mut survey = FileSurvey::new(&opened.summary()).expect("the file has a device");
                let of = survey.step(|device| opened.side(device), slice).expect("the slice never expires");
                ranks.extend(rank.of_file(of).0);
            }
        }
    }
    report(&Ranks::new(ranks, Vec::new()), 10, order)
}

fn report_topic(page: &Page) -> Option<String> {
    page.attribute("#insights-report", "data-topic")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn dropped_ranks_are_scanned_opened_and_compared() {
    let files = eight_ranks("surveyed");
    let page = open_empty_page();
    page.drop_files(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.wait_for_state("ready");
    page.wait_for(&Some("ranks".to_owned()), || report_topic(&page));
    wait_for_report(&page, &expected_report(&files));
    page.wait_for(&"7 files surveyed.".to_owned(), || page.text("#ranks-status"));
    assert!(page.attribute("#ranks-toggle", "hidden").is_some());
    assert_eq!(page.evaluate("document.querySelectorAll('.chart.map canvas[data-ranks]').length"), 6);
    save_drawn_screenshot(&page, "ranks");
    page.prefer_color_scheme("dark");
    save_drawn_screenshot(&page, "ranks, dark");
    page.resize(600, 900);
    save_drawn_screenshot(&page, "ranks, 600");
    page.prefer_color_scheme("light");
    page.resize(1280, 800);

    // The outlier, rank 5, is compared with the median rank of its group as A.
    let outlier = "[data-sheet='outliers'] tbody tr";
    page.click(outlier);
    page.wait_for(&Some("comparison".to_owned()), || report_topic(&page));
    page.wait_until("the ranks are compared", || {
        let statements = page.text("#insights-statements");
        statements.starts_with("B's peak is 12.0 MiB higher")
    });
    page.wait_until("the lane has the file's name", || page.text("#lane-labels").contains("surveyed_rank2.pickle"));
    save_drawn_screenshot(&page, "ranks-compared");

    // Back to the ranks, then opens another one.
    page.click("[data-topic='ranks']");
    page.wait_until("the map of ranks is shown", || {
        page.evaluate("!!document.querySelector('[data-rank=\"3\"]')") == true
    });
    page.click("[data-rank='3']");
    page.wait_until("rank 3 is open", || page.evaluate("document.title").to_string().contains("surveyed_rank3"));
    page.wait_for_state("ready");
    wait_for_report(&page, &expected_report(&files));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn broken_first_file_does_not_hide_other_ranks() {
    let mut files = eight_ranks("broken-first");
    let good = std::fs::read(&files[1]).expect("the file was generated");
    files[0] = write_file("broken-first_rank0.pickle", &good[..good.len() / 3]);
    let page = open_empty_page();
    page.drop_files(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.wait_for_state("ready");
    wait_for_report(&page, &expected_report(&files));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn cancelled_rank_scan_resumes() {
    let one = generate_file("many.pickle", "--events 20000 --frames 12");
    let bytes = std::fs::read(one).expect("the file was generated");
    let files: Vec<PathBuf> = (0..60).map(|rank| write_file(&format!("many_rank{rank}.pickle"), &bytes)).collect();
    let page = open_empty_page();
    page.drop_files(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.wait_for_state("ready");
    // Cancelled by script as soon as it runs: a real click might come after the survey has finished.
    let cancel = "(it => !!it && !document.querySelector('#ranks').hidden && it.innerText === 'Cancel' && (it.click(), true))\
                  (document.querySelector('#ranks-toggle'))";
    page.wait_until("the survey runs", || page.evaluate(cancel) == true);
    page.wait_until("the survey is cancelled", || page.text("#ranks-status").starts_with("Cancelled: "));
    assert_eq!(page.text("#ranks-toggle"), "Resume");
    page.click("#ranks-toggle");
    wait_for_report(&page, &expected_report(&files));
    // The workers that read files have ended, whichever had started when the scan was cancelled. The workers of the
    // open file, of its simulation in the background, and of the collected results remain.
    page.wait_for(&3, || page.workers().len() - page.ended_worker_count());
    assert!(page.ended_worker_count() >= 2);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn ranks_open_and_compare_with_keys() {
    let files = eight_ranks("by-keys");
    let page = open_empty_page();
    page.drop_files(&files.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    page.wait_for_state("ready");
    wait_for_report(&page, &expected_report(&files));
    let focus = |rank: usize| page.evaluate(&format!("document.querySelector('[data-rank=\"{rank}\"]').focus()"));
    focus(3);
    page.press_enter();
    page.wait_until("rank 3 is open", || page.evaluate("document.title").to_string().contains("by-keys_rank3"));
    page.wait_for_state("ready");
    wait_for_report(&page, &expected_report(&files));
    // With Shift, the rank is compared with the open one.
    focus(5);
    page.press_shift_enter();
    page.wait_for(&Some("comparison".to_owned()), || report_topic(&page));
    page.wait_until("the ranks are compared", || page.text("#insights-statements").contains("12.0 MiB higher"));
    page.wait_until("the lane has the file's name", || page.text("#lane-labels").contains("by-keys_rank3.pickle"));
    assert_eq!(page.errors(), Vec::<String>::new());
}
