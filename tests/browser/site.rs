//! The two origins of the tests: the one that hosts the page (in a sub-path, as on a shared host), and another one.

use crate::fixtures;
use server::Response;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::Duration;

/// Both servers. They answer alike:
///
/// | path | answer |
/// | --- | --- |
/// | `memscape/…` | the built page |
/// | `bare/…` | the same without its program |
/// | `snapshots/…` | a fixture, without CORS |
/// | `open/…` | a fixture, for every origin |
/// | `coded/…` | a fixture, said to be gzipped on its way |
/// | `slow.pickle`, `slow.zip` | 1 GiB, a few bytes at a time |
/// | `huge.pickle` | likewise 3 GiB |
/// | `endless.pickle` | 4 GiB, as fast as they can be had, each byte made to take thirteen in memory |
pub(crate) struct Site {
    /// The page's own origin, `http://127.0.0.1:port`.
    pub(crate) home: String,
    /// The other one.
    pub(crate) elsewhere: String,
    asked_elsewhere: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// The site of this test process.
    pub(crate) fn shared() -> &'static Site {
        static SITE: OnceLock<Site> = OnceLock::new();
        SITE.get_or_init(|| {
            assert!(
                dist().join("index.html").is_file(),
                "{} has no page: run ./run test or ./run build",
                dist().display()
            );
            let asked_elsewhere = Arc::new(Mutex::new(Vec::new()));
            let asked = Arc::clone(&asked_elsewhere);
            let any = || std::iter::once(0);
            let home = server::start(any(), answer).expect("a free port");
            let elsewhere = server::start(any(), move |path| {
                asked.lock().expect("no writer panics").push(path.to_owned());
                answer(path)
            })
            .expect("a free port");
            Site { home: format!("http://{home}"), elsewhere: format!("http://{elsewhere}"), asked_elsewhere }
        })
    }

    /// The page's address.
    pub(crate) fn page(&self) -> String {
        format!("{}/memscape/", self.home)
    }

    /// The page's address that asks for WebGPU, which the tests' browser has in software alone.
    pub(crate) fn page_by_webgpu(&self) -> String {
        format!("{}?renderer=webgpu", self.page())
    }

    /// The page's address with a link to a file in it.
    pub(crate) fn page_with(&self, file: &str) -> String {
        format!("{}#url={file}", self.page())
    }

    /// Which of the requests that reached the other origin name `part`.
    pub(crate) fn asked_elsewhere(&self, part: &str) -> Vec<String> {
        let asked = self.asked_elsewhere.lock().expect("no writer panics");
        asked.iter().filter(|path| path.contains(part)).cloned().collect()
    }
}

/// The folder with the built page: `MEMSCAPE_DIST`, relative to the checkout, or `dist`.
pub(crate) fn dist() -> PathBuf {
    let dist = std::env::var_os("MEMSCAPE_DIST").unwrap_or_else(|| "dist".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join(dist)
}

/// The folder with tools that `./run` installs: `MEMSCAPE_TOOLS`, or `memscape-build` in the user's cache.
pub(crate) fn tools() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    folder("MEMSCAPE_TOOLS").unwrap_or_else(|| cache.unwrap_or_default().join("memscape-build"))
}

fn answer(path: &str) -> Response {
    let dist = dist();
    if let "slow.pickle" | "slow.zip" | "huge.pickle" = path {
        return Response {
            status: "200 OK",
            content_type: "application/octet-stream",
            headers: Vec::new(),
            length: if path == "huge.pickle" { 3 << 30 } else { 1 << 30 },
            body: Box::new(Drip { head: if path == "slow.zip" { b"PK\x03\x04" } else { b"\x80\x04](" }, sent: 0 }),
        };
    }
    if path == "endless.pickle" {
        // Lists of lists of tuples, each tuple in the memo: one list alone would be too long before it is too large.
        static LISTS: LazyLock<Vec<u8>> =
            LazyLock::new(|| [b"](", b"N\x85\x94".repeat(1000).as_slice(), b"ea"].concat());
        let body = (&b"\x80\x04]"[..]).chain(Again { bytes: &LISTS, sent: 0 });
        return Response {
            status: "200 OK",
            content_type: "application/octet-stream",
            headers: Vec::new(),
            length: 4 << 30,
            body: Box::new(body),
        };
    }
    match path.split_once('/') {
        Some(("memscape", path)) => Response::file(&dist, path),
        Some(("bare", path)) if !path.ends_with(".wasm") => Response::file(&dist, path),
        Some(("snapshots", path)) => Response::file(&fixtures::folder(), path),
        Some(("open", path)) => {
            Response { headers: vec!["Access-Control-Allow-Origin: *"], ..Response::file(&fixtures::folder(), path) }
        }
        Some(("coded", path)) => {
            Response { headers: vec!["Content-Encoding: gzip"], ..Response::file(&fixtures::folder(), path) }
        }
        _ => Response::not_found(),
    }
}

/// A file that never ends: a list, a mark, and one `None` after the other, or what begins as an archive.
struct Drip {
    head: &'static [u8],
    sent: usize,
}

impl Read for Drip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(20));
        let length = buffer.len().min(64);
        for (at, byte) in buffer.iter_mut().take(length).enumerate() {
            *byte = self.head.get(self.sent + at).copied().unwrap_or(b'N');
        }
        self.sent += length;
        Ok(length)
    }
}

/// The same bytes again and again.
struct Again {
    bytes: &'static [u8],
    sent: usize,
}

impl Read for Again {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.iter().cycle().skip(self.sent % self.bytes.len());
        buffer.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
        self.sent += buffer.len();
        Ok(buffer.len())
    }
}
