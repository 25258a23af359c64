//! Exports opened in the HTML viewers of speedscope and DHAT, whose numbers are compared with ours. `tests/readers.sh`
//! installs both; if one is missing, its test prints a message and passes. The other readers are tested by
//! `tests/readers.py`.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{LOWER_BYTES, UPPER_BYTES, folder, halves};
use crate::page::Page;
use crate::screenshots::save_screenshot;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Path of speedscope's page in the folder of tools.
const SPEEDSCOPE: &str = "readers/node_modules/speedscope/dist/release/index.html";
const DHAT: [&str; 2] = ["/usr/libexec/valgrind/dh_view.html", "/usr/lib/valgrind/dh_view.html"];

/// Requested bytes of a small block of [`halves`].
const SMALL_BYTES: u64 = 1 << 20;

/// Exports the peak of [`halves`] in a format.
fn export_peak(format: &str, name: &str) -> PathBuf {
    let out = folder().join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    let done = command.arg("export").arg(halves()).args(["--to", format, "--at", "peak", "-o"]).arg(&out).status();
    assert!(done.expect("the command runs").success());
    out
}

fn file_url(path: &Path) -> String {
    format!("file://{}", std::fs::canonicalize(path).expect("the file exists").display())
}

/// Formats bytes as speedscope does.
fn gigabytes(bytes: u64) -> String {
    format!("{:.2} GB", bytes as f64 / f64::from(1 << 30))
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn speedscope_shows_live_bytes_at_peak() {
    let speedscope = crate::site::tools().join(SPEEDSCOPE);
    if !speedscope.exists() {
        println!("SKIPPED: npm could not install speedscope");
        return;
    }
    let profile = std::fs::read(export_peak("speedscope", "halves.speedscope.json")).expect("the export was written");
    // A script in the format that speedscope's command line writes for its page.
    let script =
        format!("speedscope.loadFileFromBase64('halves.speedscope.json', '{}')", BASE64_STANDARD.encode(profile));
    let script = crate::fixtures::write_file("halves.speedscope.js", script.as_bytes());
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.resize(1440, 900);
    page.navigate(&format!("{}#localProfilePath={}", file_url(&speedscope), script.display()));
    page.wait_until("the profile is open", || page.text("body").contains("Sandwich"));
    save_screenshot(&page, "speedscope-time-order");
    page.evaluate(
        "[...document.querySelectorAll('div')].filter(it => it.textContent.endsWith('Sandwich')).pop().click()",
    );
    let text = || page.text("body");
    page.wait_until("the table of functions is shown", || text().contains("make_lower"));
    for (function, bytes) in [("make_lower", LOWER_BYTES), ("make_upper", UPPER_BYTES)] {
        let row = format!(
            "[...document.querySelectorAll('tr')].find(it => it.textContent.includes('{function}')).textContent"
        );
        let row = page.evaluate(&row).as_str().unwrap_or_default().to_owned();
        assert!(row.contains(&gigabytes(bytes)), "{function}: {row}");
    }
    let share = format!("{:.0}%", 100.0 * LOWER_BYTES as f64 / (LOWER_BYTES + UPPER_BYTES + SMALL_BYTES) as f64);
    assert!(text().contains(&share), "{share}: {}", text());
    save_screenshot(&page, "speedscope-sandwich");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn dhat_viewer_shows_peak_and_end() {
    let Some(viewer) = DHAT.iter().map(Path::new).find(|path| path.exists()) else {
        println!("SKIPPED: valgrind's dh_view.html is not installed");
        return;
    };
    let profile = export_peak("dhat", "halves.dhat.json");
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.resize(1440, 900);
    page.navigate(&file_url(viewer));
    page.choose_files("input[type=file]", &[&profile]);
    let text = || page.text("body");
    page.wait_until("the profile is open", || text().contains("make_lower"));
    let plain = text().replace(',', "");
    for (what, bytes) in
        [("At t-gmax: ", LOWER_BYTES + UPPER_BYTES + SMALL_BYTES), ("At t-end:  ", LOWER_BYTES + UPPER_BYTES)]
    {
        assert!(plain.contains(&format!("{what}{bytes} bytes")), "{what}{bytes}: {plain}");
    }
    save_screenshot(&page, "dhat-viewer");
}
