//! Time from an open file to a picture: geometry natively and in the page's worker, and frames while panning.
//!
//! `./run measure` builds the page, runs `cargo bench --bench memscape -- picture --write` and so writes
//! `tests/bench/picture.md`. `--quick` stops at a million events.

use crate::cases::{Case, Extent};
use crate::chromium::{Adapter, Chromium};
use crate::figure::{Figure, three_digits};
use crate::{cases, machine, native, panning, windows};
use std::path::Path;

pub(crate) fn run(arguments: &[String]) {
    let has = |option: &str| arguments.iter().any(|word| word == option);
    let extent = if has("--quick") { Extent::Quick } else { Extent::Whole };
    let browser = Chromium::shared(Adapter::Software).call("", "Browser.getVersion", serde_json::json!({}));
    let mut report = format!(
        "# What a picture takes\n\nWritten by `./run measure`; never by hand. Milliseconds from a question to its answer, the machine's other \
         work included; *work* is the worker's own processor time. Later windows: twenty or so, near and far, with the margin for panning. \
         Software WebGPU draws the frames.\n\n{}",
        machine::describe(browser["product"].as_str().unwrap_or_default())
    );
    for case in cases::picture_cases(extent) {
        report += &measure(&case).unwrap_or_else(|reason| format!("\n## {}\n\nSkipped: {reason}.\n", case.name));
        // After each file, so that a later failure keeps the results of the earlier ones.
        if has("--write") {
            std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/picture.md"), &report)
                .expect("writable");
        }
    }
    print!("{report}");
}

/// Generates the file and returns its section of the report.
fn measure(case: &Case) -> Result<String, String> {
    eprintln!("measure: the picture of {}", case.name);
    let file = case.generate()?;
    let opening = native::open(&file.path);
    let mut text = format!(
        "\n## {}\n\n`{}`; opened natively in {} ms, {} ns an event; its first picture {{}} ns an event.\n\n\
         | | first window | later, median | worst | quads | θ px | a place asked about | worst |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        case.name,
        case.options,
        three_digits(opening * 1e3),
        three_digits(opening * 1e9 / file.events as f64),
    );
    let windows = windows::measure(&file.path);
    let first = windows.first().map_or(0.0, |birth| birth.first);
    text = text.replace("{}", &three_digits(first * 1e6 / file.events as f64));
    for it in &windows {
        text += &format!(
            "| natively, by {} | {} | {} | {} | {} | {} |\n",
            it.name,
            three_digits(it.first),
            median_and_worst(&it.later),
            it.quads,
            it.band_px,
            median_and_worst(&it.hits)
        );
    }
    let page = panning::measure(&file.path);
    text += &format!(
        "| worker, by birth | {} | {} | | | {} |\n| worker, by site | {} | {} | | | | |\n\n\
         Worker, later windows by birth: {} ms of work each. Longest slice natively: {} ms. A frame while panning, in Chromium: the page's own \
         code {} ms (median), {} ms (95 in 100); all of the main thread {} ms (mean); from frame to frame {} ms (median).\n",
        three_digits(page.first),
        median_and_worst(&page.later),
        median_and_worst(&page.hits),
        three_digits(page.grouped_first),
        median_and_worst(&page.grouped_later),
        three_digits(page.later_work),
        three_digits(windows.iter().map(|it| it.longest_slice).fold(0.0, f64::max)),
        cell(page.page_code.median()),
        cell(page.page_code.percentile(95)),
        three_digits(page.main_thread),
        cell(page.interval.median()),
    );
    Ok(text)
}

fn median_and_worst(figure: &Figure) -> String {
    format!("{} | {}", cell(figure.median()), cell(figure.worst()))
}

fn cell(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), three_digits)
}
