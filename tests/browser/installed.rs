//! The page as an installed app: works offline, caches one build as a whole and no snapshots, opens files from the
//! system and from other apps.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::{folder, halves};
use crate::opening::wait_for_halves;
use crate::page::Page;
use crate::site::dist;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use server::Response;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// HTTP server whose files can be replaced and that can be switched off.
#[derive(Clone, Default)]
struct Host(Arc<Mutex<HostState>>);

#[derive(Default)]
struct HostState {
    is_off: bool,
    /// Contents that replace files of `dist/`, by name.
    other: BTreeMap<String, String>,
    asked: Vec<String>,
}

fn read_dist(name: &str) -> String {
    std::fs::read_to_string(dist().join(name)).expect("./run build created it")
}

impl Host {
    fn start(&self) -> String {
        halves();
        let host = self.clone();
        let answer = move |path: &str| {
            let mut hosted = host.0.lock().expect("the mutex is not poisoned");
            hosted.asked.push(path.to_owned());
            let name = path.strip_prefix("a/b/").unwrap_or("none");
            match hosted.other.get(if name.is_empty() { "index.html" } else { name }) {
                _ if hosted.is_off => Response::not_found(),
                Some(text) => {
                    let (text, plain) = (text.clone(), Response::file(&dist(), name));
                    Response { length: text.len() as u64, body: Box::new(std::io::Cursor::new(text)), ..plain }
                }
                None => match name.strip_prefix("run/") {
                    Some(name) => Response::file(&folder(), name),
                    None => Response::file(&dist(), name),
                },
            }
        };
        format!("http://{}/a/b/", server::start(std::iter::once(0), answer).expect("a free port"))
    }

    fn switch_off(&self) {
        let mut hosted = self.0.lock().expect("the mutex is not poisoned");
        hosted.is_off = true;
        hosted.asked.clear();
    }

    /// Paths requested since [`Host::go`], except the service worker's script, which browsers check on their own.
    fn requests(&self) -> Vec<String> {
        let asked = self.0.lock().expect("the mutex is not poisoned").asked.clone();
        asked.into_iter().filter(|path| path != "a/b/offline.js").collect()
    }

    fn replace(&self, name: &str, text: String) {
        self.0.lock().expect("the mutex is not poisoned").other.insert(name.to_owned(), text);
    }
}

/// Opens a page and waits until its service worker is active.
fn open_installed(address: &str) -> Page {
    let page = Page::open(Chromium::shared(Adapter::Missing), address);
    page.wait_for_state("empty");
    let state = "navigator.serviceWorker.getRegistration().then(it => it?.active?.state ?? '')";
    page.wait_for(&json!("activated"), || page.evaluate(state));
    page
}

const CACHED_PATHS: &str = "caches.keys().then(async names => (await Promise.all(names.map(async name => \
    (await (await caches.open(name)).keys()).map(request => new URL(request.url).pathname)))).flat().sort())";

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn installed_page_works_offline_and_caches_only_its_build() {
    let host = Host::default();
    let address = host.start();
    let page = open_installed(&address);
    let mut files: Vec<String> = std::fs::read_dir(dist())
        .expect("./run build created it")
        .map(|entry| entry.expect("a file"))
        // The manual is not cached.
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().expect("UTF-8"))
        .filter(|name| name != "offline.js" && name != "sql-part.html")
        .map(|name| format!("/a/b/{}", if name == "index.html" { "" } else { &name }))
        .collect();
    files.sort();
    assert_eq!(page.evaluate(CACHED_PATHS), json!(files), "the cache holds the build and nothing else");
    // Neither a linked nor a dropped snapshot is cached.
    page.navigate("about:blank");
    page.navigate(&format!("{address}#url=run/halves.pickle"));
    wait_for_halves(&page);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    assert_eq!(page.evaluate(CACHED_PATHS), json!(files));
    host.switch_off();
    page.navigate("about:blank");
    page.navigate(&address);
    page.wait_for_state("empty");
    page.click("#open-leak");
    page.wait_for_state("ready");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    // Parts that are fetched on first use.
    page.click("[data-topic='what-if'], [data-topic='settings']");
    page.wait_until("the timeline is drawn", || page.attribute("#timeline", "data-frames").is_some());
    assert_eq!(host.requests(), Vec::<String>::new());
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn new_build_replaces_old_one_only_when_complete() {
    let host = Host::default();
    let address = host.start();
    let page = open_installed(&address);
    let hash = |text: &str| {
        let bytes = BASE64_STANDARD.encode(text);
        let digest = format!(
            "crypto.subtle.digest('SHA-256', Uint8Array.from(atob('{bytes}'), letter => letter.charCodeAt(0))) \
             .then(hash => btoa(String.fromCharCode(...new Uint8Array(hash))))"
        );
        page.evaluate(&digest).as_str().expect("the hash is a string").to_owned()
    };
    let (index, script) = (read_dist("index.html"), read_dist("offline.js"));
    let second = index.replace("<title>memscape</title>", "<title>memscape two</title>");
    assert_ne!(index, second);
    let script = script.replace(&hash(&index), &hash(&second)).replace("BUILD = \"memscape-", "BUILD = \"memscape-2");
    // Only a part of the new build is served: nothing changes.
    host.replace("offline.js", script);
    let update = "navigator.serviceWorker.getRegistration().then(it => it.update()).then(async it => { \
        while (it.installing) await new Promise(done => { it.installing.onstatechange = done; }); return !!it.waiting; })";
    assert_eq!(page.evaluate(update), json!(false));
    page.reload();
    page.wait_for_state("empty");
    assert_eq!(page.evaluate("document.title"), json!("memscape"));
    // The build is complete: reloading the only open page activates it.
    host.replace("index.html", second);
    assert_eq!(page.evaluate(update), json!(true));
    // The documents from before the last reloads may still count as other pages. Then a later reload activates it.
    let begins = |_| {
        page.reload();
        page.wait_until("the page has a title", || page.evaluate("document.title") != "");
        page.evaluate("document.title") == "memscape two"
    };
    assert!((0..20).any(begins));
    page.wait_for(&json!(1), || page.evaluate("caches.keys().then(names => names.length)"));
}

/// Expression of a `File` with the bytes of [`halves`].
fn file_in_page() -> String {
    let bytes = BASE64_STANDARD.encode(std::fs::read(halves()).expect("just written"));
    format!("new File([Uint8Array.from(atob('{bytes}'), letter => letter.charCodeAt(0))], 'halves.pickle')")
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_launch_from_system_opens_file() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(
        "Object.defineProperty(window, 'launchQueue', { value: { setConsumer(launch) { window.launch = launch; } } })",
    );
    page.navigate(&crate::site::Site::shared().page());
    page.wait_for_state("empty");
    let handle = format!("({{ kind: 'file', name: 'halves.pickle', getFile: async () => {} }})", file_in_page());
    page.evaluate(&format!("launch({{ files: [{handle}] }}), 0"));
    wait_for_halves(&page);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn file_shared_by_another_app_opens() {
    let host = Host::default();
    let address = host.start();
    let page = open_installed(&address);
    page.reload();
    page.wait_for_state("empty");
    let before = page.evaluate(CACHED_PATHS);
    // The request that the system posts. The system would also follow the redirect.
    let posted = format!(
        "(async () => {{ const form = new FormData(); form.append('snapshot', {}); \
         return (await fetch('./?share', {{ method: 'POST', body: form }})).ok; }})()",
        file_in_page()
    );
    assert_eq!(page.evaluate(&posted), json!(true));
    page.navigate(&format!("{address}?shared"));
    wait_for_halves(&page);
    assert_eq!(page.evaluate(CACHED_PATHS), before, "the shared file is not cached");
    page.reload();
    page.wait_until("the page asks for the file by name", || !page.text("#link-choose").is_empty());
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn single_file_page_is_not_installable() {
    let (page, parts) = (read_dist("memscape.html"), read_dist("index.html"));
    assert!(parts.contains("rel=\"manifest\"") && parts.contains("worker-src 'self' blob:;"));
    assert!(!page.contains("rel=\"manifest\"") && !page.contains("manifest-src") && page.contains("worker-src blob:;"));
    let manifest: Value = serde_json::from_str(&read_dist("memscape.webmanifest")).expect("JSON");
    // Relative, so that the page works at any path.
    for name in ["id", "start_url", "scope"] {
        assert_eq!(manifest[name], "./");
    }
    assert!(dist().join(manifest["icons"][0]["src"].as_str().expect("a name")).is_file());
}
