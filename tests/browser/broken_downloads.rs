//! Links whose connection breaks while the file is sent, or whose length is not known: resumed, or reported as an
//! error.

use crate::chromium::{Adapter, Chromium};
use crate::fixtures::halves;
use crate::hostile::{list, pickle};
use crate::opening::wait_for_halves;
use crate::packed::zstd;
use crate::page::Page;
use crate::site::Site;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// HTTP server that closes connections early.
#[derive(Clone, Default)]
struct Server {
    body: Vec<u8>,
    /// Number of bytes after which each response breaks, in order. Later responses are complete.
    break_after: Vec<usize>,
    /// Set if the server supports range requests: error of the start in its `Content-Range`, in bytes.
    range_error: Option<usize>,
    /// Header lines of each response, in order. The last entry is used for all later responses.
    headers: Vec<String>,
    /// Number of bytes after which the server stalls until the client hangs up.
    stall_after: Option<usize>,
}

/// State shared by the server and the test.
#[derive(Default)]
struct ServerState {
    /// Method and start of the range of each request, such as `GET 1000` or `GET all`.
    requests: Mutex<Vec<String>>,
    /// Number of bytes that the worker has read. A connection breaks no earlier, because the browser drops bytes in
    /// transit when it breaks.
    read_bytes: AtomicUsize,
}

impl ServerState {
    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("the mutex is not poisoned").clone()
    }

    /// Waits until the worker has read this many bytes, then lets the connection break.
    #[track_caller]
    fn break_at(&self, page: &Page, bytes: usize) {
        page.wait_until(&format!("the worker has read {bytes} bytes"), || {
            page.engine_workers().last().is_some_and(|worker| page.evaluate_in(worker, "self.came ?? 0") == bytes)
        });
        self.read_bytes.store(bytes, Ordering::SeqCst);
    }
}

/// Script that makes the worker count the bytes it reads. The worker's script is a blob that the page creates.
const COUNT_READS: &str = "if (self.window) { const { Blob } = self; \
    const count = `{ self.came = 0; const { read } = ReadableStreamDefaultReader.prototype; \
        ReadableStreamDefaultReader.prototype.read = async function () { const result = await read.call(this); \
            self.came += result.value?.byteLength ?? 0; return result; } }\n`; \
    self.Blob = class extends Blob { constructor(parts, options) { \
        super(options?.type?.includes('javascript') ? [count, ...parts] : parts, options); } }; }";

impl Server {
    /// Starts the server, which runs until the process ends. Returns the URL of its file and the shared state.
    fn start(self) -> (String, Arc<ServerState>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("the server listens");
        let talk = Arc::<ServerState>::default();
        let (server_talk, server) = (Arc::clone(&talk), Arc::new(self));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (talk, server) = (Arc::clone(&server_talk), Arc::clone(&server));
                // A thread per connection, so that errors affect only that connection.
                std::thread::spawn(move || server.respond(stream, &talk));
            }
        });
        (format!("http://{address}/halves.pickle"), talk)
    }

    fn respond(&self, mut stream: TcpStream, talk: &ServerState) -> io::Result<()> {
        let (mut line, mut lines) = (String::new(), BufReader::new(stream.try_clone()?));
        let (mut from, mut method) = (None, String::new());
        while lines.read_line(&mut line)? > 2 {
            if method.is_empty() {
                method = line.split(' ').next().unwrap_or_default().to_owned();
            }
            if let Some(range) = line.to_ascii_lowercase().strip_prefix("range: bytes=") {
                from = range.trim().trim_end_matches('-').parse::<usize>().ok();
            }
            line.clear();
        }
        if method.is_empty() {
            return Ok(());
        }
        let turn = {
            let mut log = talk.requests.lock().expect("the mutex is not poisoned");
            log.push(format!("{method} {}", from.map_or_else(|| "all".to_owned(), |from| from.to_string())));
            log.len() - 1
        };
        let header = self.headers.get(turn).or(self.headers.last()).cloned().unwrap_or_default();
        let (whole, at) = (self.body.len(), self.range_error.and(from).unwrap_or(0));
        let status = match self.range_error.filter(|_| at > 0) {
            None => "200 OK".to_owned(),
            Some(off) => format!("206 Partial Content\r\nContent-Range: bytes {}-{}/{whole}", at + off, whole - 1),
        };
        let rest = &self.body[at..];
        write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n{header}\r\n\r\n",
            rest.len()
        )?;
        let sent = self.break_after.get(turn).copied().unwrap_or(rest.len()).min(rest.len());
        let held = self.stall_after.unwrap_or(usize::MAX).min(sent);
        stream.write_all(&rest[..held])?;
        stream.flush()?;
        if held < sent {
            return lines.read_line(&mut line).map(|_| ());
        }
        while sent < rest.len() && talk.read_bytes.load(Ordering::SeqCst) < at + sent {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Header lines of a response that other origins may read and resume.
const CORS_HEADERS: &str = "Access-Control-Allow-Origin: *\r\nLast-Modified: Sat, 01 Nov 2025 10:00:00 GMT";

fn halves_bytes() -> Vec<u8> {
    std::fs::read(halves()).expect("just written")
}

/// Waits until the worker has read some bytes. The page's progress may be up to 50 ms older.
#[track_caller]
fn wait_for_bytes(page: &Page) {
    page.wait_until("some bytes were read", || {
        let came = |worker: &String| page.evaluate_in(worker, "self.came ?? 0").as_u64();
        page.engine_workers().last().and_then(came).is_some_and(|bytes| bytes > 0)
    });
}

fn open_link(address: &str) -> Page {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.run_before_load(COUNT_READS);
    page.navigate(&Site::shared().page_with_link(address));
    page
}

/// Server of [`halves`] whose first response breaks in the middle.
fn breaking_server() -> Server {
    let body = halves_bytes();
    let break_after = vec![body.len() / 2];
    Server { body, break_after, range_error: Some(0), headers: vec![CORS_HEADERS.to_owned()], stall_after: None }
}

/// Opens the file of a server and checks that the error has the expected text and that this many requests were sent.
#[track_caller]
fn assert_fails(server: Server, message: &str, requests: usize) {
    let (break_after, is_coded) = (server.break_after[0], server.headers[0].contains("Content-Encoding: "));
    let (address, talk) = server.start();
    let page = open_link(&address);
    if is_coded {
        // The page counts decoded bytes, not bytes on the network.
        wait_for_bytes(&page);
        talk.read_bytes.store(break_after, Ordering::SeqCst);
    } else {
        talk.break_at(&page, break_after);
    }
    page.wait_for_state("error");
    let error = page.text("#error");
    assert!(error.contains(" stopped at ") && error.contains(message), "{error:?} does not say {message:?}");
    let asked = talk.requests();
    assert_eq!(asked.len(), requests, "{asked:?}");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn broken_download_resumes() {
    let whole = halves_bytes().len();
    let server = Server { break_after: vec![whole / 3, whole / 4], ..breaking_server() };
    let (address, talk) = server.start();
    let page = open_link(&address);
    talk.break_at(&page, whole / 3);
    talk.break_at(&page, whole / 3 + whole / 4);
    wait_for_halves(&page);
    assert!(page.text("#status").contains("Resuming"), "{}", page.text("#status"));
    assert_eq!(
        talk.requests(),
        ["GET all".to_owned(), format!("GET {}", whole / 3), format!("GET {}", whole / 3 + whole / 4)],
        "no preflight request is sent"
    );
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn download_broken_before_first_byte_restarts() {
    let (address, talk) = Server { break_after: vec![0], range_error: None, ..breaking_server() }.start();
    wait_for_halves(&open_link(&address));
    assert_eq!(talk.requests(), ["GET all", "GET all"]);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn broken_archive_download_resumes() {
    let body = crate::zip::zip_of(&[("a.pickle", &halves_bytes())]);
    let half = body.len() / 2;
    let (address, talk) = Server { break_after: vec![half], body, ..breaking_server() }.start();
    let page = open_link(&address);
    talk.break_at(&page, half);
    wait_for_halves(&page);
    assert_eq!(talk.requests().len(), 2);
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn download_that_cannot_resume_reports_reason() {
    let open = |more: &str| format!("Access-Control-Allow-Origin: *{more}");
    let later = "\r\nLast-Modified: Sun, 02 Nov 2025 10:00:00 GMT";
    assert_fails(Server { range_error: None, ..breaking_server() }, "does not support range requests", 2);
    assert_fails(
        Server { range_error: Some(7), headers: exposed_headers(CORS_HEADERS, CORS_HEADERS), ..breaking_server() },
        "a different range",
        2,
    );
    assert_fails(Server { headers: vec![CORS_HEADERS.to_owned(), open(later)], ..breaking_server() }, "has changed", 2);
    let tag = |tag: &str| open(&format!("\r\nETag: \"{tag}\""));
    assert_fails(Server { headers: exposed_headers(&tag("a"), &tag("b")), ..breaking_server() }, "has changed", 2);
    assert_fails(Server { headers: vec![tag("a")], ..breaking_server() }, "sends no length, ETag or Last-Modified", 1);
    assert_fails(Server { headers: vec![open("")], ..breaking_server() }, "sends no length, ETag or Last-Modified", 1);
}

/// Header lines of two responses, with an added header that exposes them to other origins.
fn exposed_headers(first: &str, second: &str) -> Vec<String> {
    [first, second]
        .map(|it| format!("{it}\r\nAccess-Control-Expose-Headers: ETag, Content-Range, Content-Encoding"))
        .into()
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn compressed_response_shows_length_and_cannot_resume() {
    use flate2::{Compression, write::GzEncoder};
    let long = pickle(&[&list(&b"N".repeat(4 << 20))]);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(&long).expect("writing to a Vec succeeds");
    let gzip = gzip.finish().expect("writing to a Vec succeeds");
    let coded = format!("{CORS_HEADERS}\r\nContent-Encoding: gzip\r\nX-Uncompressed-Length: {}", long.len());
    let exposed = format!("{coded}\r\nAccess-Control-Expose-Headers: Content-Encoding, X-Uncompressed-Length");
    for (header, total) in [(&exposed, " of 4.00 MiB"), (&coded, "")] {
        let server = Server {
            body: gzip.clone(),
            stall_after: Some(2 << 20),
            headers: vec![header.clone()],
            ..breaking_server()
        };
        let (address, _) = Server { break_after: Vec::new(), ..server }.start();
        let page = open_link(&address);
        let text = || page.text("#progress-text");
        wait_for_bytes(&page);
        page.wait_until("the total size is shown", || text().contains(total));
        page.click("#cancel");
        page.wait_for(&"empty".to_owned(), || page.state());
    }
    // After a break, a compressed response can't be resumed.
    assert_fails(
        Server { body: gzip, break_after: vec![1 << 20], headers: vec![exposed], ..breaking_server() },
        "the server compresses it",
        1,
    );
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn zstd_content_encoding_is_decoded_by_browser() {
    // Chromium accepts zstd and brotli only over HTTPS and from localhost.
    let header = format!("{CORS_HEADERS}\r\nContent-Encoding: zstd");
    let server =
        Server { body: zstd(&halves_bytes()), break_after: Vec::new(), headers: vec![header], ..breaking_server() };
    wait_for_halves(&open_link(&server.start().0));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn opening_another_file_ends_pause_between_retries() {
    let body = halves_bytes();
    let half = body.len() / 2;
    // Every retry fails, so the pauses grow to eight seconds.
    let server = Server { break_after: vec![half, 0, 0, 0, 0, 0], body, ..breaking_server() };
    let (address, talk) = server.start();
    let page = open_link(&address);
    talk.break_at(&page, half);
    page.wait_until("the page retries", || talk.requests().len() >= 3);
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let before = talk.requests().len();
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(talk.requests().len(), before, "the page still retries");
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn server_name_is_shown_before_request() {
    let (address, talk) = Server { break_after: Vec::new(), ..breaking_server() }.start();
    let server = address.split('/').nth(2).expect("the URL has a host").to_owned();
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    // No frames, as in a background tab.
    page.run_before_load(
        "if (self.window) { const wait = []; window.frame = requestAnimationFrame.bind(window); \
         window.requestAnimationFrame = (then) => wait.push(then); \
         window.look = () => { const now = wait.splice(0); now.forEach((then) => window.frame(then)); return now.length; }; }",
    );
    page.navigate(&Site::shared().page_with_link(&address));
    page.wait_until("the program has started", || {
        page.evaluate("document.querySelector('#snippet').textContent.length > 0") == true
    });
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(talk.requests().len(), 0, "the server was contacted before its name was shown");
    page.evaluate("look()");
    page.wait_until("the server's name is shown", || page.text("#loading-name").contains(&format!("from {server}")));
    assert_eq!(talk.requests().len(), 0, "the server was contacted before its name was painted");
    page.wait_until("the file is open", || page.evaluate("look()").is_number() && page.state() == "ready");
    assert_eq!(talk.requests().len(), 1);
}

#[test]
fn test_server_supports_range_requests() {
    let (address, talk) = breaking_server().start();
    talk.read_bytes.store(usize::MAX, Ordering::SeqCst);
    let host = address.split('/').nth(2).expect("the URL has a host");
    let mut stream = TcpStream::connect(host).expect("the server listens");
    stream.write_all(b"GET /halves.pickle HTTP/1.1\r\nRange: bytes=10-\r\n\r\n").expect("the request is sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(String::from_utf8_lossy(&answer).contains("206 Partial Content"));
}
