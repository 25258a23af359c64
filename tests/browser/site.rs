//! The two HTTP servers of the tests: one hosts the page, under a path as on a shared host, the other is another
//! origin.

use crate::fixtures;
use server::Response;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::Duration;

/// Addresses of both servers, which serve the same paths:
///
/// | path | response |
/// | --- | --- |
/// | `memscape/…` | the built page |
/// | `bare/…` | the built page without its wasm |
/// | `snapshots/…` | a fixture, without CORS header |
/// | `open/…` | a fixture, with a CORS header that allows every origin |
/// | `coded/…` | a gzipped fixture, with `Content-Encoding: gzip` |
/// | `slow.pickle`, `slow.zip` | 1 GiB, a few bytes at a time |
/// | `huge.pickle` | 3 GiB, a few bytes at a time |
/// | `endless.pickle` | 4 GiB at full speed; each byte takes thirteen in memory |
pub(crate) struct Site {
    /// Origin of the page, `http://127.0.0.1:port`.
    pub(crate) origin: String,
    /// The other origin.
    pub(crate) other_origin: String,
    elsewhere_requests: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Returns the site of this test process, started on the first call.
    pub(crate) fn shared() -> &'static Site {
        static SITE: OnceLock<Site> = OnceLock::new();
        SITE.get_or_init(|| {
            assert!(
                dist().join("index.html").is_file(),
                "no page in {}: run ./run test or ./run build",
                dist().display()
            );
            let elsewhere_requests = Arc::new(Mutex::new(Vec::new()));
            let asked = Arc::clone(&elsewhere_requests);
            let any = || std::iter::once(0);
            let home = server::start(any(), respond).expect("a free port");
            let elsewhere = server::start(any(), move |path| {
                asked.lock().expect("the mutex is not poisoned").push(path.to_owned());
                respond(path)
            })
            .expect("a free port");
            Site { origin: format!("http://{home}"), other_origin: format!("http://{elsewhere}"), elsewhere_requests }
        })
    }

    /// Address of the page.
    pub(crate) fn page(&self) -> String {
        format!("{}/memscape/", self.origin)
    }

    /// Address of the page with WebGPU requested: the test browser has only a software adapter, which is not used by
    /// default.
    pub(crate) fn page_with_webgpu(&self) -> String {
        format!("{}?renderer=webgpu", self.page())
    }

    /// Address of the page with a link to a file.
    pub(crate) fn page_with_link(&self, file: &str) -> String {
        format!("{}#url={file}", self.page())
    }

    /// Paths requested from the other origin that contain `part`.
    pub(crate) fn elsewhere_requests(&self, part: &str) -> Vec<String> {
        let asked = self.elsewhere_requests.lock().expect("the mutex is not poisoned");
        asked.iter().filter(|path| path.contains(part)).cloned().collect()
    }
}

/// Folder with the built page: `MEMSCAPE_DIST`, relative to the checkout, or `dist`.
pub(crate) fn dist() -> PathBuf {
    let dist = std::env::var_os("MEMSCAPE_DIST").unwrap_or_else(|| "dist".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join(dist)
}

/// Folder with the tools that `./run` installs: `MEMSCAPE_TOOLS`, or `memscape-build` in the user's cache.
pub(crate) fn tools() -> PathBuf {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    folder("MEMSCAPE_TOOLS").unwrap_or_else(|| cache.unwrap_or_default().join("memscape-build"))
}

fn respond(path: &str) -> Response {
    let dist = dist();
    if let "slow.pickle" | "slow.zip" | "huge.pickle" = path {
        return Response {
            status: "200 OK",
            content_type: "application/octet-stream",
            headers: Vec::new(),
            length: if path == "huge.pickle" { 3 << 30 } else { 1 << 30 },
            body: Box::new(SlowBody { head: if path == "slow.zip" { b"PK\x03\x04" } else { b"\x80\x04](" }, sent: 0 }),
        };
    }
    if path == "endless.pickle" {
        // Lists of lists of memoized tuples: a single list would exceed the limit of its length before it exceeds the
        // memory.
        static LISTS: LazyLock<Vec<u8>> =
            LazyLock::new(|| [b"](", b"N\x85\x94".repeat(1000).as_slice(), b"ea"].concat());
        let body = (&b"\x80\x04]"[..]).chain(RepeatingBody { bytes: &LISTS, sent: 0 });
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

/// Slow, endless body: `head`, then `None` opcodes.
struct SlowBody {
    head: &'static [u8],
    sent: usize,
}

impl Read for SlowBody {
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

/// Endless body that repeats the same bytes.
struct RepeatingBody {
    bytes: &'static [u8],
    sent: usize,
}

impl Read for RepeatingBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.bytes.iter().cycle().skip(self.sent % self.bytes.len());
        buffer.iter_mut().zip(bytes).for_each(|(to, &from)| *to = from);
        self.sent += buffer.len();
        Ok(buffer.len())
    }
}
