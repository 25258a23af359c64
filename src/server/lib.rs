//! Static file server on localhost, for `./run serve` and the browser tests.
//!
//! [`start`] accepts connections and calls a function that returns the response to each path. [`Response::file`] serves
//! a file from a folder. The module `parts` waits for files of the page that are still being built.

pub mod parts;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Response to a GET or HEAD request.
pub struct Response {
    /// Status code and reason phrase, such as `200 OK`.
    pub status: &'static str,
    /// Value of the `Content-Type` header.
    pub content_type: &'static str,
    /// Additional header lines, without line ends.
    pub headers: Vec<&'static str>,
    /// Value of the `Content-Length` header, in bytes.
    pub length: u64,
    /// Reader of the body, which is read while it is sent.
    pub body: Box<dyn Read + Send>,
}

impl Response {
    /// Returns the file at `path` (a URL path without leading slash) below `root`. Returns `index.html` for a folder,
    /// or a 404 if the file does not exist.
    pub fn file(root: &Path, path: &str) -> Response {
        Response::try_file(root, path).unwrap_or_else(|_| Response::not_found())
    }

    /// Returns status 404 with a plain-text body.
    pub fn not_found() -> Response {
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
        // Rejects `..` and absolute paths.
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

/// Listens on the first free port of `ports` on localhost, where 0 means any free port. Answers GET and HEAD requests
/// until the process ends.
///
/// `answer` is called with the percent-decoded path, without query and leading slash, and returns the response. Each
/// connection has its own thread.
///
/// # Errors
/// Returns an error if no port is free or the system does not allow listening.
pub fn start<A>(mut ports: impl Iterator<Item = u16>, answer: A) -> io::Result<SocketAddr>
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
            // An error means that the client hung up.
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
    // Skips the request's header, up to its empty line.
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    let mut words = request.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(['?', '#']).next().unwrap_or_default();
    let response = answer(&percent_decode(path.trim_start_matches('/')));
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

fn percent_decode(path: &str) -> String {
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

/// Returns the MIME type for a file extension. Browsers compile wasm while it is downloaded only if the type is
/// `application/wasm`.
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
