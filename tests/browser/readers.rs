//! Exports in the pages of the tools that they are made for: speedscope's and DHAT's viewer, from the disk, with what they print compared
//! with our numbers. tests/readers.sh installs both; where one is missing, its test says so. The other readers are in tests/readers.py.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{LOWER, UPPER, folder, halves};
use crate::page::Page;
use crate::pictures::keep;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::path::{Path, PathBuf};
use std::process::Command;

/// speedscope in the folder of tools.
const SPEEDSCOPE: &str = "readers/node_modules/speedscope/dist/release/index.html";
const DHAT: [&str; 2] = ["/usr/libexec/valgrind/dh_view.html", "/usr/lib/valgrind/dh_view.html"];

/// What the small blocks of the file have.
const SMALL: u64 = 1 << 20;

/// The two halves at the peak, in a format.
fn exported(format: &str, name: &str) -> PathBuf {
    let out = folder().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    let done = command.arg("export").arg(halves()).args(["--to", format, "--at", "peak", "-o"]).arg(&out).status();
    assert!(done.expect("it runs").success());
    out
}

fn address(path: &Path) -> String {
    format!("file://{}", std::fs::canonicalize(path).expect("it is there").display())
}

/// As speedscope writes bytes.
fn gigabytes(bytes: u64) -> String {
    format!("{:.2} GB", bytes as f64 / f64::from(1 << 30))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn speedscope_shows_what_is_live_at_the_peak() {
    let speedscope = crate::site::tools().join(SPEEDSCOPE);
    if !speedscope.exists() {
        println!("SKIPPED: npm could not install speedscope");
        return;
    }
    let profile = std::fs::read(exported("speedscope", "halves.speedscope.json")).expect("it was written");
    // As speedscope's own command line gives its page a file.
    let script =
        format!("speedscope.loadFileFromBase64('halves.speedscope.json', '{}')", BASE64_STANDARD.encode(profile));
    let script = crate::fixtures::file("halves.speedscope.js", script.as_bytes());
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.resize(1440, 900);
    page.navigate(&format!("{}#localProfilePath={}", address(&speedscope), script.display()));
    page.wait_until("the profile is open", || page.text("body").contains("Sandwich"));
    keep(&page, "speedscope-time-order");
    page.evaluate(
        "[...document.querySelectorAll('div')].filter(it => it.textContent.endsWith('Sandwich')).pop().click()",
    );
    let text = || page.text("body");
    page.wait_until("the table of functions", || text().contains("make_lower"));
    for (function, bytes) in [("make_lower", LOWER), ("make_upper", UPPER)] {
        let row = format!(
            "[...document.querySelectorAll('tr')].find(it => it.textContent.includes('{function}')).textContent"
        );
        let row = page.evaluate(&row).as_str().unwrap_or_default().to_owned();
        assert!(row.contains(&gigabytes(bytes)), "{function}: {row}");
    }
    let share = format!("{:.0}%", 100.0 * LOWER as f64 / (LOWER + UPPER + SMALL) as f64);
    assert!(text().contains(&share), "{share}: {}", text());
    keep(&page, "speedscope-sandwich");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_viewer_of_dhat_shows_the_peak_and_the_end() {
    let Some(viewer) = DHAT.iter().map(Path::new).find(|path| path.exists()) else {
        println!("SKIPPED: valgrind's dh_view.html is not installed");
        return;
    };
    let profile = exported("dhat", "halves.dhat.json");
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.resize(1440, 900);
    page.navigate(&address(viewer));
    page.choose("input[type=file]", &[&profile]);
    let text = || page.text("body");
    page.wait_until("the profile is open", || text().contains("make_lower"));
    let plain = text().replace(',', "");
    for (what, bytes) in [("At t-gmax: ", LOWER + UPPER + SMALL), ("At t-end:  ", LOWER + UPPER)] {
        assert!(plain.contains(&format!("{what}{bytes} bytes")), "{what}{bytes}: {plain}");
    }
    keep(&page, "dhat-viewer");
}
