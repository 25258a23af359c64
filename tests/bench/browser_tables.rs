//! Tables of the report for each browser and for memory_viz.

use crate::figure::{Figure, three_digits};
use crate::goals::{self, Program};
use crate::memory_viz::Drawings;
use crate::opening::Openings;
use crate::other_browsers::OtherBrowser;
use crate::report::{FileMeasurements, cells};
use memscape::units::{Bytes, group_digits};

/// Programs measured besides the page in Chromium.
pub(crate) struct OtherPrograms {
    pub(crate) browsers: [OtherBrowser; 2],
    /// Source of memory_viz, or how to install it.
    pub(crate) memory_viz: Result<String, String>,
}

/// Note for browsers that can't cache decoded files.
const NO_FILES: &str = "has no `navigator.storage.getDirectory`: the page keeps nothing there. (WebKitGTK has the features `FileSystem` and \
    `StorageAPI` switched off, driven by WebDriver or not: `MiniBrowser --features=help`.)";

pub(crate) fn tables_by_browser(besides: &OtherPrograms, measured: &[&FileMeasurements]) -> String {
    let mut text = "## By browser\n\nPage load: from the address until the program runs, in a profile that has never seen the page, three \
         seconds after the browser was started (cold), and then once more in it (warm). Everything: the last insight is on the page, and \
         painted. Storage: the decoded file is kept for the next time, from 8 MiB on. Panning, turning the wheel and moving the cursor: 40 frames \
         or 30 places, in the first opening. No browser here has a GPU. WebKitGTK draws pages by \
         OpenGL all the same, in software: the first picture waits for its shaders and for the frame before. \
         `WEBKIT_DISABLE_DMABUF_RENDERER=1` avoids that.\n\n"
        .to_owned();
    text += &table("Chromium", Program::Chromium, measured, |file| Ok(&file.page.openings));
    for (at, browser) in besides.browsers.iter().enumerate() {
        match &browser.version {
            Err(why) => text += &format!("### {}\n\nNot measured: {why}.\n\n", browser.name),
            Ok(_) => {
                text += &table(browser.name, Program::OtherBrowser, measured, |file| {
                    file.other_browsers[at].as_ref().map_err(String::as_str)
                });
                if measured.iter().any(|file| file.other_browsers[at].as_ref().is_ok_and(|openings| !openings.has_opfs))
                {
                    text += &format!("This {} {NO_FILES}\n\n", browser.name);
                }
            }
        }
    }
    text + &memory_viz(besides, measured)
}

type Row<T> = (&'static str, fn(&T) -> String);

/// Figures without goals.
const ROWS: [Row<Openings>; 5] = [
    ("file to simulated settings in the insights, s", |it| number(&it.simulated)),
    ("file to its columns in the storage, s", |it| number(&it.cached)),
    ("bare `File.stream()` read, s", |it| number(&it.bare)),
    ("page's process, largest resident set, before the file", |it| bytes(&it.empty_resident)),
    ("the same, everything shown", |it| bytes(&it.resident)),
];

const MEMORY_VIZ_ROWS: [Row<Drawings>; 7] = [
    ("page load, cold, s", |it| number(&it.cold)),
    ("page load, warm, s", |it| number(&it.warm)),
    ("file to first picture, s", |it| number(&it.picture)),
    ("file to settled, s", |it| number(&it.settled)),
    ("longest gap of the page until then, ms", |it| number(&it.gap_ms)),
    ("page's process, largest resident set", |it| bytes(&it.resident)),
    ("polygons drawn", |it| it.polygons.median().map_or("–".to_owned(), |count| group_digits(count as u64))),
];

fn table<'a>(
    name: &str,
    program: Program,
    measured: &[&'a FileMeasurements],
    of: impl Fn(&'a FileMeasurements) -> Result<&'a Openings, &'a str>,
) -> String {
    let goals = goals::of_page(measured, program, |file| of(file).ok());
    format!("### {name}\n\n{goals}{}", rows_and_notes(&ROWS, measured, of))
}

fn memory_viz(besides: &OtherPrograms, measured: &[&FileMeasurements]) -> String {
    let title = "### memory_viz, in Chromium\n\n";
    match &besides.memory_viz {
        Err(why) => format!("{title}Not measured: {why}.\n\n"),
        Ok(said) => format!(
            "{title}From {said}. It draws the 15,000 largest allocations and sums up the others; of its other views and of insights it draws \
             nothing. Settled: no frame comes late any more. Its Chromium paints without the \
             GPU in software, which makes it faster. A file has {} s.\n\n{}",
            crate::memory_viz::FILE_TIMEOUT.as_secs(),
            rows_and_notes(&MEMORY_VIZ_ROWS, measured, |file| file.memory_viz.as_ref().map_err(String::as_str))
        ),
    }
}

/// Rows for all files, and the reasons of missing measurements below them.
fn rows_and_notes<'a, T: 'a>(
    rows: &[Row<T>],
    measured: &[&'a FileMeasurements],
    of: impl Fn(&'a FileMeasurements) -> Result<&'a T, &'a str>,
) -> String {
    let mut text = format!("| |{}\n", cells(measured.iter().map(|file| format!(" {} ", file.name))));
    text += &format!("| --- |{}\n", cells(measured.iter().map(|_| " --- ".to_owned())));
    for (what, row) in rows {
        let cell = |file: &&'a FileMeasurements| of(file).map_or(" – ".to_owned(), |it| format!(" {} ", row(it)));
        text += &format!("| {what} |{}\n", cells(measured.iter().map(cell)));
    }
    text += "\n";
    for file in measured {
        if let Err(why) = of(file) {
            text += &format!("{}: {why}.\n\n", file.name);
        }
    }
    text
}

fn number(figure: &Figure) -> String {
    figure.median().map_or("–".to_owned(), three_digits)
}

fn bytes(figure: &Figure) -> String {
    figure.median().map_or("–".to_owned(), |bytes| Bytes(bytes as u64).to_string())
}
