//! `memscape serve` over HTTP: requests of a browser, and raw requests over TCP, including hostile ones.

#![cfg(unix)]

use crate::generate::{Options, generate};
use crate::served::{Server, Unchunked};
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The smallest page that `memscape serve` accepts as a viewer.
const VIEWER: &str = "<html><body><script id=\"part-wasm\"></script></body></html>";

/// Starts a server with a minimal page.
fn start(words: &[&str]) -> Server {
    Server::start(&file("viewer.html", VIEWER.as_bytes()), words)
}

/// Sends a raw request and returns the response.
fn raw(server: &Server, request: &[u8]) -> Response {
    let mut stream = server.connect();
    // The server may answer before it has read everything.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    Response::parse(&bytes)
}

/// Requests a path below the token and returns the response.
fn get(server: &Server, path: &str, headers: &str) -> Response {
    let (mut stream, head) = server.request(path, headers);
    let mut bytes = head.into_bytes();
    stream.read_to_end(&mut bytes).unwrap();
    Response::parse(&bytes)
}

struct Response {
    status: String,
    head: String,
    body: Vec<u8>,
}

impl Response {
    fn parse(bytes: &[u8]) -> Response {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap_or_default().to_owned();
        Response { status, head, body: bytes.get(end + 4..).unwrap_or_default().to_vec() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(known, value)| known.eq_ignore_ascii_case(name).then_some(value))
    }
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-serve");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    // Tests write the same file in parallel while their servers read it, so it is renamed into place.
    let started = folder.join(format!("{name}.{:?}", std::thread::current().id()));
    std::fs::write(&started, bytes).unwrap();
    std::fs::rename(&started, &path).unwrap();
    path
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-serve").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn snapshot() -> Vec<u8> {
    let (options, _) = Options::parse("--events 2000".split(' ').map(str::to_owned)).unwrap();
    generate(&options, Vec::new()).unwrap().0
}

#[test]
fn address_redirects_to_page_and_snapshot() {
    let bytes = snapshot();
    let path = file("it's \"odd\" #1.pickle", &bytes);
    let server = start(&[path.to_str().unwrap()]);
    assert!(server.output.starts_with("1 snapshot at http://127.0.0.1:"), "{}", server.output);
    let first = get(&server, "", "");
    let name = "it%2527s%2520%2522odd%2522%2520%25231.pickle";
    assert_eq!(
        (first.status.as_str(), first.header("Location")),
        ("302", Some(format!("page?live#url=0/{name}").as_str()))
    );
    let page = get(&server, "page", "");
    // If memscape was built with the page, it appends its SQL module.
    let text = String::from_utf8_lossy(&page.body);
    let (head, tail) = VIEWER.split_at(VIEWER.find("</body>").unwrap());
    assert_eq!(page.status, "200");
    assert!(text.starts_with(head) && text.ends_with(tail), "{}", text.get(..200).unwrap_or(&text));
    for (header, value) in
        [("Referrer-Policy", "no-referrer"), ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store")]
    {
        assert_eq!(page.header(header), Some(value));
    }
    let path = "0/it%27s%20%22odd%22%20%231.pickle";
    assert_eq!(get(&server, path, "").body, bytes);
    let packed = get(&server, path, "Accept-Encoding: gzip\r\n");
    assert_eq!(packed.header("Content-Encoding"), Some("gzip"));
    assert_eq!(packed.header("X-Uncompressed-Length"), Some(bytes.len().to_string().as_str()));
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(Unchunked::new(packed.body.as_slice())).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == bytes, "decompressed bytes equal the file");
    let head = raw(&server, format!("HEAD /{}/{path} HTTP/1.1\r\nHost: localhost\r\n\r\n", server.token).as_bytes());
    assert_eq!((head.status.as_str(), head.body.len()), ("200", 0));
    assert_eq!(head.header("Content-Length"), Some(bytes.len().to_string().as_str()));
    let part = get(&server, path, "Range: bytes=1000-\r\nAccept-Encoding: gzip\r\n");
    assert_eq!((part.status.as_str(), part.body.as_slice()), ("206", &bytes[1000..]));
    assert_eq!(get(&server, path, "Range: bytes=999999999-\r\n").status, "416");
    assert_eq!(get(&server, path, "Range: bytes=1000-\r\nIf-Range: \"other\"\r\n").status, "200");
}

#[test]
fn response_with_rank_scan_is_a_few_kilobytes() {
    use memscape::compare::ranks::FileSurveys;
    let bytes = snapshot();
    let path = file("surveyed.pickle", &bytes);
    let other = file("surveyed-not.pickle", b"no snapshot");
    let server = start(&[path.to_str().unwrap(), other.to_str().unwrap()]);
    let sent = get(&server, "0/surveyed.pickle?survey", "");
    assert_eq!((sent.status.as_str(), sent.header("Content-Type")), ("200", Some("application/x-memscape-survey")));
    let of: FileSurveys = memscape::protocol::decode(&sent.body).unwrap();
    let summary = crate::opened::open(&bytes).unwrap().summary;
    let device = &summary.devices[summary.default_device()];
    assert_eq!(
        (of.devices.len(), of.devices[0].peak_requested, u64::from(of.devices[0].events)),
        (1, device.peak_requested, device.events)
    );
    assert!(sent.body.len() < 16 << 10 && sent.body.len() < bytes.len() / 10, "{}", sent.body.len());
    let refused = get(&server, "1/surveyed-not.pickle?survey", "");
    assert_eq!(refused.status, "422");
    assert!(!refused.body.is_empty() && refused.body.len() < 1000);
    assert_eq!(get(&server, "9/none.pickle?survey", "").status, "404");
    assert!(get(&server, "0/surveyed.pickle?other", "").body == bytes);
}

/// The columns are shorter and open like the file. Range requests refer to the original file, and files that are no
/// snapshots are sent unchanged.
#[test]
fn large_snapshot_is_sent_as_columns() {
    let (options, _) = Options::parse("--events 80000 --frames 60".split(' ').map(str::to_owned)).unwrap();
    let bytes = generate(&options, Vec::new()).unwrap().0;
    assert!(bytes.len() > 8 << 20, "{}", bytes.len());
    let path = file("columns.pickle", &bytes);
    let other = file("other.pickle", &vec![b'x'; 9 << 20]);
    let server = start(&[path.to_str().unwrap(), other.to_str().unwrap()]);
    let sent = get(&server, "0/columns.pickle", "Accept-Encoding: gzip\r\n");
    assert_eq!((sent.header("Content-Encoding"), sent.header("Accept-Ranges")), (None, Some("none")));
    assert_eq!(sent.header("Content-Length"), Some(sent.body.len().to_string().as_str()));
    assert!(sent.body.len() < bytes.len() / 20, "{} of {}", sent.body.len(), bytes.len());
    let [ours, whole] = [&sent.body, &bytes].map(|bytes| crate::opened::open(bytes).unwrap().summary);
    assert_eq!((ours.devices, ours.warnings), (whole.devices, whole.warnings));
    let part = get(&server, "0/columns.pickle", "Range: bytes=10-19\r\nAccept-Encoding: gzip\r\n");
    assert_eq!((part.status.as_str(), part.body.as_slice()), ("206", &bytes[10..20]));
    assert!(get(&server, "0/columns.pickle", "").body == bytes, "clients without gzip get the file");
    let other_sent = get(&server, "1/other.pickle", "Accept-Encoding: gzip\r\n");
    assert_eq!(other_sent.header("Content-Encoding"), Some("gzip"));
    [path, other].into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

/// Returns the processor time of a process so far, in hundredths of a second.
fn processor_time(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
}

/// Reloading the page uses the cached columns, unless the file has changed.
#[test]
fn reload_uses_cached_columns() {
    let generated = |seed: &str| {
        let words = format!("--events 80000 --frames 60 --seed {seed}");
        let (options, _) = Options::parse(words.split(' ').map(str::to_owned)).unwrap();
        generate(&options, Vec::new()).unwrap().0
    };
    let path = file("kept.pickle", &generated("1"));
    let server = start(&[path.to_str().unwrap()]);
    let sent = || get(&server, "0/kept.pickle", "Accept-Encoding: gzip\r\n").body;
    let process = server.process.id();
    let started = processor_time(process);
    let first = sent();
    let decoding = processor_time(process) - started;
    assert!((0..20).all(|_| sent() == first));
    let again = processor_time(process) - started - decoding;
    assert!(again < decoding.max(1) * 10, "twenty times: {again} after {decoding} hundredths of a second");
    std::fs::write(&path, generated("2")).unwrap();
    let other = sent();
    assert!(other != first && sent() == other);
    let whole = crate::opened::open(&std::fs::read(&path).unwrap()).unwrap().summary;
    assert_eq!(crate::opened::open(&other).unwrap().summary.devices, whole.devices);
    std::fs::remove_file(path).unwrap();
}

/// Requests of twelve closed pages are not decoded before the one that is still waiting.
#[test]
fn requests_of_closed_connections_are_not_decoded() {
    let (options, _) = Options::parse("--events 400000 --frames 60".split(' ').map(str::to_owned)).unwrap();
    let bytes = generate(&options, Vec::new()).unwrap().0;
    let paths: Vec<PathBuf> = (0..12).map(|rank| file(&format!("gone{rank}.pickle"), &bytes)).collect();
    let server = start(&paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
    let process = server.process.id();
    let sent = |rank: usize| get(&server, &format!("{rank}/gone{rank}.pickle"), "Accept-Encoding: gzip\r\n");
    let started = processor_time(process);
    assert_eq!(sent(0).header("Accept-Ranges"), Some("none"));
    let one = processor_time(process) - started;
    for rank in 1..12 {
        let mut stream = server.connect();
        let head = format!(
            "GET /{}/{rank}/gone{rank}.pickle HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n",
            server.token
        );
        stream.write_all(head.as_bytes()).unwrap();
    }
    // Each request takes the lock in turn. Waits until the server is idle.
    let quiet = || {
        let before = processor_time(process);
        std::thread::sleep(Duration::from_millis(300));
        processor_time(process) == before
    };
    let waiting = Instant::now();
    while !quiet() {
        assert!(waiting.elapsed() < Duration::from_secs(120), "the server does not become idle");
    }
    let gone = processor_time(process) - started - one;
    assert!(gone < 6 * one, "eleven closed requests took {gone} hundredths of a second, one took {one}");
    assert_eq!(sent(5).header("Accept-Ranges"), Some("none"), "the waiting request is answered");
    paths.into_iter().for_each(|path| std::fs::remove_file(path).unwrap());
}

#[test]
fn requests_without_token_or_valid_host_are_rejected() {
    let path = file("a.pickle", &snapshot());
    let server = start(&[path.to_str().unwrap()]);
    let token = &server.token;
    let with = |line: &str, headers: &str| raw(&server, format!("{line}\r\n{headers}\r\n").as_bytes());
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil:80", "10.0.0.1", ""] {
        let answer = with(&format!("GET /{token}/ HTTP/1.1"), &format!("Host: {host}\r\n"));
        assert_eq!(answer.status, "403", "{host}");
        assert!(!answer.head.contains("Location"), "{}", answer.head);
    }
    let wrong = "0".repeat(32);
    let upper = token.to_uppercase() + "x";
    for path in ["", "page", "0/a.pickle", &wrong, &upper, "favicon.ico", &token[..31]] {
        assert_eq!(with(&format!("GET /{path} HTTP/1.1"), "Host: localhost\r\n").status, "404", "{path}");
    }
    for path in
        ["../page", "%2e%2e/page", "0/../../etc/passwd", "0/..%2f..%2fetc%2fpasswd", "1/a.pickle", "0/b", "pagex"]
    {
        assert_eq!(get(&server, path, "").status, "404", "{path}");
    }
    let page = format!("GET /{token}/page HTTP/1.1");
    assert_eq!(with(&page, "").status, "400", "no host");
    assert_eq!(with(&page, "Host: localhost\r\nHost: localhost\r\n").status, "400");
    assert_eq!(with(&format!("GET http://localhost/{token}/page HTTP/1.1"), "Host: localhost\r\n").status, "400");
    assert_eq!(with(&page.replace("1.1", "1.0"), "Host: localhost\r\n").status, "200");
    assert_eq!(with(&page.replace("1.1", "3.0"), "Host: localhost\r\n").status, "400");
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get"] {
        let answer = with(&page.replace("GET", method), "Host: localhost\r\nContent-Length: 3\r\n\r\nabc");
        assert_eq!((answer.status.as_str(), answer.header("Allow")), ("405", Some("GET, HEAD")), "{method}");
    }
    assert_eq!(with(&page, &format!("Host: localhost\r\nX: {}\r\n", "x".repeat(20_000))).status, "431");
    assert_eq!(raw(&server, b"\xff\xfe\x00\r\n\r\n").status, "400");
    for head in [
        "GET",
        "GET /",
        "GET  / HTTP/1.1\r\nHost: localhost",
        "GET / HTTP/1.1 x\r\nHost: localhost",
        "GET x HTTP/1.1\r\nHost: localhost",
        "GET / HTTP/1.0",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil",
        "GET / HTTP/1.1\r\nHost : localhost",
        "GET / HTTP/1.1\r\nHost: localhost\r\n folded: x",
        "GET / HTTP/1.1\r\nHost: localhost\r\nnothing",
    ] {
        assert_eq!(raw(&server, format!("{head}\r\n\r\n").as_bytes()).status, "400", "{head:?}");
    }
    assert_eq!(raw(&server, b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n").status, "400");
    assert_eq!(with("OPTIONS * HTTP/1.1", "").status, "400");
    // The server still works.
    assert_eq!(get(&server, "page", "").status, "200");
}

#[test]
fn idle_connections_are_dropped() {
    let server = start(&[]);
    let mut silent: Vec<TcpStream> = (0..100).map(|_| server.connect()).collect();
    // Beyond the connection limit the server answers at once.
    let mut text = String::new();
    let last = silent.last_mut().unwrap();
    let _ = last.read_to_string(&mut text);
    assert!(text.starts_with("HTTP/1.1 503"), "{text}");
    // Idle connections are dropped, including one that sends a byte now and then.
    let started = Instant::now();
    loop {
        let _ = silent[0].write_all(b"x");
        let mut stream = server.connect();
        let request = format!("GET /{}/page HTTP/1.1\r\nHost: localhost\r\n\r\n", server.token);
        let mut bytes = Vec::new();
        let _ = stream.write_all(request.as_bytes()).and_then(|()| stream.read_to_end(&mut bytes));
        if Response::parse(&bytes).status == "200" {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "the server does not recover");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Each client sends bytes one by one and reads nothing. Half of them have not finished their request, and half have
/// been answered.
#[test]
fn slow_clients_are_dropped() {
    let server = start(&["--head-deadline", "1000"]);
    let connect = |place: usize| {
        let mut stream = server.connect();
        let started: &[u8] = if place < 32 { b"GET / HTTP" } else { b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" };
        stream.write_all(started).map(|()| stream)
    };
    let mut dripping: Vec<TcpStream> = (0..64).filter_map(|place| connect(place).ok()).collect();
    let started = Instant::now();
    let page = format!("GET /{}/page HTTP/1.1\r\nHost: localhost\r\n\r\n", server.token);
    loop {
        dripping.retain_mut(|stream| stream.write_all(b"x").is_ok());
        let mut bytes = Vec::new();
        let mut stream = server.connect();
        let _ = stream.write_all(page.as_bytes()).and_then(|()| stream.read_to_end(&mut bytes));
        if Response::parse(&bytes).status == "200" && dripping.is_empty() {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "{} connections are still open", dripping.len());
        std::thread::sleep(Duration::from_millis(120));
    }
}

/// Opens the program in `BROWSER`, as in a remote terminal. The address contains a one-time token, since process lists
/// show it.
#[test]
fn browser_is_opened_with_one_time_address() {
    let folder = folder("browser");
    let program = file(
        "browser.sh",
        format!("#!/bin/sh\necho \"$1\" > '{0}/new' && mv '{0}/new' '{0}/address'\n", folder.display()).as_bytes(),
    );
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let viewer = file("viewer.html", VIEWER.as_bytes());
    let mut command = Command::new(env!("CARGO_BIN_EXE_memscape"));
    command.args(["serve", "--viewer"]).arg(viewer).stdout(std::process::Stdio::null());
    let mut process = command.env("BROWSER", &program).env("SSH_CONNECTION", "1 2 3 4").spawn().unwrap();
    let started = Instant::now();
    let address = loop {
        match std::fs::read_to_string(folder.join("address")) {
            Ok(address) => break address.trim().to_owned(),
            Err(_) => assert!(started.elapsed() < Duration::from_secs(20), "the browser was not started"),
        }
        std::thread::yield_now();
    };
    let (server, once) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let status = |path: &str, host: &str| {
        let mut stream = TcpStream::connect(server).unwrap();
        stream.write_all(format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        Response::parse(&bytes)
    };
    assert_eq!(status(once, "evil").status, "403");
    let enter = status(once, "localhost");
    assert_eq!((enter.status.as_str(), status(once, "localhost").status.as_str()), ("302", "404"));
    let token = enter.header("Location").unwrap().trim_matches('/').to_owned();
    for (path, expected) in
        [("", "302"), ("/", "302"), ("/page", "200"), ("/pages", "404"), ("//page", "404"), ("/../page", "404")]
    {
        assert_eq!(status(&(token.clone() + path), "localhost").status, expected, "{path}");
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

/// A compressed response has no length. Its end is marked by the last chunk, which never arrives.
#[test]
fn truncated_file_ends_response_early() {
    let mut state = 1u32;
    let random = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let path = file("cut.pickle", &random.take(32 << 20).collect::<Vec<u8>>());
    let server = start(&[path.to_str().unwrap()]);
    let (stream, head) = server.request("0/cut.pickle", "Accept-Encoding: gzip\r\n");
    assert!(head.contains("content-encoding: gzip") && head.contains("-gzip\""), "{head}");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(1 << 20).unwrap();
    let read = Unchunked::new(std::io::BufReader::new(stream)).read_to_end(&mut Vec::new());
    assert!(read.is_err());
    std::fs::remove_file(path).unwrap();
}

/// The event stream sends the full list on each change.
#[test]
fn event_stream_reports_new_and_changed_files() {
    let folder = folder("heard");
    let server = start(&[folder.to_str().unwrap()]);
    let (stream, head) = server.request("changes", "");
    assert!(head.contains("content-type: text/event-stream") && head.contains("cache-control: no-"), "{head}");
    let mut events = std::io::BufReader::new(Unchunked::new(std::io::BufReader::new(stream)));
    let mut received = || {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            events.read_line(&mut line).unwrap();
            match line.trim_end().strip_prefix("data: ") {
                Some(count) if count.starts_with("files ") => {}
                Some(file) => lines.push(file.to_owned()),
                None if line.trim_end().is_empty() => return lines,
                None => {}
            }
        }
    };
    // The number of files changes before a file is completely written.
    let mut heard_of = |files: usize| loop {
        let lines = received();
        if lines.len() == files {
            return lines;
        }
    };
    heard_of(0);
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    put("rank7.pickle", &snapshot());
    let first = heard_of(1);
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let [line] = first.as_slice() else { panic!("{first:?}") };
    assert!(line.starts_with("7 ") && line.ends_with(" 0/rank7.pickle"), "{line}");
    put("rank7.pickle", b"\x80\x04]");
    put("rank8.pickle", &snapshot());
    let second = heard_of(2);
    let of_seven = second.iter().find(|line| line.ends_with("/rank7.pickle")).unwrap();
    assert_eq!(words(of_seven)[1], words(line)[1], "an incomplete file does not replace the previous version");
}

#[test]
fn new_files_in_folder_are_served() {
    let folder = folder("growing");
    let server = start(&[folder.to_str().unwrap()]);
    assert!(server.output.starts_with("0 snapshots at "), "{}", server.output);
    assert_eq!(get(&server, "", "").header("Location"), Some("page?live#"));
    std::fs::create_dir(folder.join("rank1")).unwrap();
    std::fs::write(folder.join("rank1/a.pickle"), snapshot()).unwrap();
    std::fs::write(folder.join("loss.png"), b"x").unwrap();
    assert_eq!(get(&server, "", "").header("Location"), Some("page?live#url=0/rank1%252Fa.pickle"));
    assert_eq!(get(&server, "0/rank1%2Fa.pickle", "").status, "200");
    std::fs::remove_file(folder.join("rank1/a.pickle")).unwrap();
    let gone = get(&server, "0/rank1%2Fa.pickle", "");
    assert!(gone.status == "404" && gone.body.starts_with(b"cannot read the file"), "{}", gone.head);
}

/// With 500 files of long names, the printed address stays short, the redirect is bounded, and the rest is counted.
#[test]
fn redirect_to_many_files_has_bounded_length() {
    let folder = folder("many");
    for place in 0..500 {
        std::fs::write(folder.join(format!("snapshot-of-the-run-{place:030}.pickle")), b"x").unwrap();
    }
    let server = start(&[folder.to_str().unwrap()]);
    assert!(server.output.lines().all(|line| line.len() < 150), "{}", server.output);
    assert!(server.output.starts_with("500 snapshots at "), "{}", server.output);
    assert!(server.output.contains("The page lists the 200 newest. A survey of ranks reads all."), "{}", server.output);
    let location = get(&server, "", "").header("Location").unwrap().to_owned();
    assert_eq!(location.matches("url=").count(), 200);
    assert!(location.len() <= 33 << 10, "{}", location.len());
    // The event stream has the number of files, and the survey gets all of them.
    let (stream, _) = server.request("changes", "");
    let mut events = std::io::BufReader::new(Unchunked::new(std::io::BufReader::new(stream)));
    let mut line = String::new();
    events.read_line(&mut line).unwrap();
    assert_eq!(line.trim_end(), "data: files 500");
    let all = get(&server, "listing", "");
    assert_eq!(all.header("Content-Type"), Some("application/x-memscape-listing"));
    let all = String::from_utf8(all.body).unwrap();
    assert_eq!(all.lines().count(), 500);
    assert_eq!(
        get(&server, &format!("{}?survey", all.lines().last().unwrap()), "").status,
        "422",
        "the file is no snapshot"
    );
}

#[test]
fn ctrl_c_during_response_exits_with_status_0() {
    let large = file("large.pickle", &vec![b'x'; 64 << 20]);
    let mut server = start(&[large.to_str().unwrap()]);
    let mut stream = server.connect();
    let request = format!("GET /{}/0/large.pickle HTTP/1.1\r\nHost: localhost\r\n\r\n", server.token);
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = vec![0; 1 << 20];
    stream.read_exact(&mut bytes).unwrap();
    let sent = Command::new("kill").args(["-INT", &server.process.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let status = server.process.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{status}");
    // The connection ends before the response is complete.
    let left = std::io::copy(&mut stream, &mut std::io::sink()).unwrap_or(0);
    assert!(left < 63 << 20, "{left}");
    std::fs::remove_file(large).unwrap();
}

#[test]
fn invalid_arguments_report_error() {
    let run = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_memscape")).arg("serve").args(words).output().unwrap();
    let viewer = file("viewer.html", VIEWER.as_bytes());
    let viewer = viewer.to_str().unwrap();
    for (words, status, says) in [
        (&["--port", "x"][..], 2, "invalid value 'x' for '--port <N>'"),
        (&["--bind", "x"], 2, "unexpected argument '--bind'"),
        (&["-"], 2, "standard input cannot be served"),
        (&["/nonexistent.pickle", "--viewer", viewer], 1, "/nonexistent.pickle"),
        (&["/nonexistent/", "--viewer", viewer], 1, "/nonexistent/"),
        (&["/tmp", "/nonexistent", "--viewer", viewer], 1, "/nonexistent"),
        (&["/dev/null", "--viewer", viewer], 1, "neither a file nor a folder"),
        (&["--viewer", "/nonexistent.html"], 1, "/nonexistent.html"),
        (&["--viewer", "/dev/null"], 1, "not a memscape.html"),
        (&["--host", "203.0.113.1", "--viewer", viewer], 1, "203.0.113.1"),
    ] {
        let output = run(words);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{words:?}: {error}");
        assert!(error.contains(says) && (error.lines().count() == 1 || status == 2), "{words:?}: {error}");
    }
}
