//! A small HTTP server for files, on localhost only: `./run serve` and the browser tests use the same one.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// What is sent for one path.
pub(crate) struct Response {
    /// `200 OK`.
    pub(crate) status: &'static str,
    /// Its `Content-Type`.
    pub(crate) content_type: &'static str,
    /// Further header lines.
    pub(crate) headers: Vec<&'static str>,
    /// Bytes of the body, promised in the header.
    pub(crate) length: u64,
    /// The body.
    pub(crate) body: Box<dyn Read + Send>,
}

impl Response {
    /// The file at `path` (as in the URL, without its leading slash) under `root`; `index.html` for a folder; 404 where
    /// there is none.
    pub(crate) fn file(root: &Path, path: &str) -> Response {
        Response::try_file(root, path).unwrap_or_else(|_| Response::not_found())
    }

    /// 404.
    pub(crate) fn not_found() -> Response {
        let body = "there is no such file\n";
        Response {
            status: "404 Not Found",
            content_type: "text/plain; charset=utf-8",
            headers: Vec::new(),
            length: body.len() as u64,
            body: Box::new(body.as_bytes()),
        }
    }

    fn try_file(root: &Path, path: &str) -> io::Result<Response> {
        let relative = Path::new(path);
        // Nothing above the root: only plain names.
        if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut full: PathBuf = root.join(relative);
        if full.is_dir() {
            full.push("index.html");
        }
        let file = File::open(&full)?;
        let content_type = content_type(&full);
        Ok(Response {
            status: "200 OK",
            content_type,
            headers: Vec::new(),
            length: file.metadata()?.len(),
            body: Box::new(file),
        })
    }
}

/// Listens on the first free port of `ports` on localhost (port 0: any) and answers GET and HEAD with what `answer` makes of
/// the path (percent-decoded, without query and leading slash), a thread a connection, until the process ends.
///
/// # Errors
/// Where no port is free.
pub(crate) fn start<A>(mut ports: impl Iterator<Item = u16>, answer: A) -> io::Result<SocketAddr>
where
    A: Fn(&str) -> Response + Send + Sync + 'static,
{
    let listener = loop {
        let port = ports.next().ok_or(io::ErrorKind::AddrInUse)?;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => break listener,
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(error),
        }
    };
    let address = listener.local_addr()?;
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            // A client that hangs up ends its own connection and nothing else.
            std::thread::spawn(move || serve(stream, &*answer));
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream, answer: &dyn Fn(&str) -> Response) -> io::Result<()> {
    let mut request = String::new();
    let mut lines = BufReader::new(stream.try_clone()?.take(64 * 1024));
    lines.read_line(&mut request)?;
    let mut header = String::new();
    // Up to the empty line; nothing in it matters here.
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let response = answer(&percent_decoded(path.trim_start_matches('/')));
    write!(
        stream,
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-cache\r\nConnection: close\r\n",
        response.status, response.content_type, response.length
    )?;
    for line in &response.headers {
        write!(stream, "{line}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    if method != "HEAD" {
        let mut body = response.body;
        io::copy(&mut body, &mut stream)?;
    }
    stream.flush()
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(b'%');
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// By the name's ending. wasm must have its own type, or browsers don't compile it while it arrives.
fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
