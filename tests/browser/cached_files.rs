//! Cache of decoded large files in the browser's storage: used when a file is opened again, never for a changed file,
//! and optional.

use crate::chromium::{Adapter, Chromium};
use crate::generate::{Options, generate};
use crate::opening::{open_empty_page, summary_values};
use crate::page::Page;
use crate::screenshots::save_drawn_screenshot;
use crate::site::Site;
use std::path::{Path, PathBuf};

/// Generates a snapshot of about 9 MB, which depends on the seed.
fn large_snapshot(name: &str, seed: u32) -> PathBuf {
    let words = format!("--events 80000 --frames 60 --seed {seed}");
    let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).expect("known options");
    let bytes = generate(&options, Vec::new()).expect("writing to a Vec succeeds").0;
    assert!(bytes.len() > 8 << 20, "{}", bytes.len());
    crate::fixtures::write_file(name, &bytes)
}

/// Entries of the cache's list in `localStorage`.
fn cache_entries(page: &Page) -> Vec<String> {
    let text = page.evaluate("localStorage['memscape.kept'] ?? ''");
    text.as_str().expect("the list is a string").lines().skip(1).map(str::to_owned).collect()
}

#[track_caller]
fn open_and_summarize(page: &Page, path: &Path) -> [String; 5] {
    page.choose_files("input#file", &[path]);
    page.wait_for_state("ready");
    page.wait_until_settled("the summary", || summary_values(page))
}

#[track_caller]
fn wait_for_cached(page: &Page, count: usize) -> Vec<String> {
    page.wait_until(&format!("{count} files are cached"), || cache_entries(page).len() == count);
    cache_entries(page)
}

fn load_page_again(page: &Page) {
    page.navigate("about:blank");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
}

fn fingerprint(page: &Page) -> String {
    let hash = || page.evaluate("location.hash").as_str().unwrap_or_default().to_owned();
    page.wait_until("the address has the fingerprint", || hash().contains("print="));
    hash().split("print=").nth(1).and_then(|rest| rest.split('&').next()).unwrap_or_default().to_owned()
}

/// Script that records the sizes of the files passed to the worker.
const RECORD_READS: &str = "{ window.read = []; const post = Worker.prototype.postMessage; \
    Worker.prototype.postMessage = function (message, ...rest) { \
        if (message?.[1] instanceof File) read.push(message[1].size); return post.call(this, message, ...rest); }; }";

fn open_watched_page() -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(RECORD_READS);
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page
}

/// Returns whether the worker last read another file than `path`, by its size: the cached one.
fn was_read_from_cache(page: &Page, path: &Path) -> bool {
    let length = std::fs::metadata(path).expect("just written").len();
    page.evaluate(&format!("read.at(-1) !== {length}")) == true
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn reopened_file_is_read_from_cache() {
    let path = large_snapshot("kept.pickle", 1);
    let page = open_watched_page();
    let first = open_and_summarize(&page, &path);
    assert!(!was_read_from_cache(&page, &path));
    let kept = wait_for_cached(&page, 1);
    let name = fingerprint(&page);
    load_page_again(&page);
    assert_eq!(open_and_summarize(&page, &path), first);
    assert!(was_read_from_cache(&page, &path), "the cached file was read");
    assert_eq!((fingerprint(&page), page.text("#file-name")), (name, "kept.pickle".to_owned()));
    assert_ne!(cache_entries(&page), kept, "the entry's time of use has changed");
    // The settings show the size of the cache and clear it.
    page.click("#settings-open");
    page.wait_until("the size of the cache is shown", || page.text("#kept-note").ends_with(" of 1 file is kept."));
    page.evaluate("document.getElementById('kept-note').scrollIntoView()");
    save_drawn_screenshot(&page, "settings-kept");
    page.click("#kept-clear");
    page.wait_for(&"Nothing is kept.".to_owned(), || page.text("#kept-note"));
    page.click("#setting-keep");
    page.wait_until("the choice is stored", || {
        page.evaluate("localStorage['memscape.settings'].includes('keep=nothing')") == true
    });
    load_page_again(&page);
    open_and_summarize(&page, &path);
    fingerprint(&page);
    assert!(!was_read_from_cache(&page, &path));
    assert_eq!(cache_entries(&page), Vec::<String>::new());
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn changed_file_is_decoded_again() {
    let path = large_snapshot("kept-changed.pickle", 1);
    let changed = std::fs::metadata(&path).and_then(|it| it.modified()).expect("the modification time");
    let page = open_watched_page();
    open_and_summarize(&page, &path);
    wait_for_cached(&page, 1);
    // Same size and modification time, but other bytes.
    let mut bytes = std::fs::read(&path).expect("just written");
    let at =
        bytes.windows(9).position(|it| it == b"trainer.p").or_else(|| bytes.windows(3).position(|it| it == b".py"));
    let at = at.expect("the snapshot contains a file name");
    bytes[at + 1] = b'q';
    crate::fixtures::write_file("kept-changed.pickle", &bytes);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|it| it.set_modified(changed))
        .expect("the file can be changed");
    load_page_again(&page);
    open_and_summarize(&page, &path);
    assert!(!was_read_from_cache(&page, &path), "a file with other bytes was read from the cache");
    // Same bytes, but another modification time.
    wait_for_cached(&page, 2);
    std::fs::File::options()
        .write(true)
        .open(&path)
        .and_then(|it| it.set_modified(changed + std::time::Duration::from_secs(60)))
        .expect("the file can be changed");
    load_page_again(&page);
    open_and_summarize(&page, &path);
    assert!(!was_read_from_cache(&page, &path), "a file with another modification time was read from the cache");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn damaged_or_missing_cache_is_rebuilt() {
    let path = large_snapshot("kept-damaged.pickle", 1);
    let page = open_watched_page();
    let first = open_and_summarize(&page, &path);
    let folder = "(await (await navigator.storage.getDirectory()).getDirectoryHandle('kept'))";
    let damage = format!(
        "(async () => {{ for await (const handle of {folder}.values()) {{ const file = await handle.getFile(); \
         const out = await handle.createWritable(); await out.write(file.slice(0, file.size / 2)); await out.close(); }} }})()"
    );
    let lose =
        format!("(async () => {{ for await (const name of {folder}.keys()) await {folder}.removeEntry(name); }})()");
    for harm in [damage, lose] {
        let kept = wait_for_cached(&page, 1);
        page.evaluate(&harm);
        load_page_again(&page);
        assert_eq!(open_and_summarize(&page, &path), first);
        assert!(!was_read_from_cache(&page, &path), "the original file was read");
        page.wait_until("the file is cached again", || cache_entries(&page).len() == 1 && cache_entries(&page) != kept);
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn unavailable_or_full_storage_is_reported_and_files_open() {
    let refused =
        "StorageManager.prototype.getDirectory = async () => { throw new DOMException('no', 'SecurityError') };";
    let full = "FileSystemFileHandle.prototype.createWritable = async () => { throw new DOMException('no', 'QuotaExceededError') };";
    let none = "delete StorageManager.prototype.getDirectory; Object.defineProperty(window, 'localStorage', \
                { get() { throw new DOMException('no', 'SecurityError') } });";
    let nothing = "This browser keeps nothing for this page.";
    let path = large_snapshot("kept-not.pickle", 1);
    for (harm, said) in [(refused, nothing), (full, "The browser has no room for more."), (none, nothing)] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.run_before_load(harm);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        open_and_summarize(&page, &path);
        page.click("#settings-open");
        page.wait_for(&format!("Nothing is kept. {said}"), || page.text("#kept-note"));
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}

/// Prints times without limits, since the machine may be busy.
#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn time_to_first_frame_of_cached_file_is_printed() {
    let path = std::env::var_os("MEMSCAPE_KEPT").map_or_else(crate::large::large_file, PathBuf::from);
    let page = open_empty_page();
    let timed = || {
        page.evaluate(
            "{ window.seen = {}; document.getElementById('file').addEventListener('change', () => { seen.begun = performance.now(); }, true); \
             new MutationObserver((changes, observer) => { if (document.body.dataset.state === 'ready' \
             && changes.some(change => change.attributeName === 'data-frames')) { seen.picture = performance.now(); observer.disconnect(); } }) \
             .observe(document, { subtree: true, attributes: true, attributeFilter: ['data-frames'] }); }",
        );
        page.choose_files("input#file", &[&path]);
        page.wait_until("the timeline is drawn", || page.evaluate("'picture' in seen") == true);
        page.evaluate("seen.picture - seen.begun").as_f64().expect("milliseconds") / 1000.0
    };
    let first = timed();
    let kept = wait_for_cached(&page, 1);
    let mut second = Vec::new();
    for _ in 0..3 {
        load_page_again(&page);
        second.push(timed());
    }
    let bytes = path.metadata().expect("the file exists").len();
    println!("{bytes} bytes: the picture after {first:.2} s, opened again after {second:.2?} s, of {}", kept[0]);
}
