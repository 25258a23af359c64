//! As much of HTTP as one person's browser needs: GET and HEAD, a request a connection, a thread each, not more than so many at a time.

use super::peer::Peer;
use super::request::{self, Asked, Method};
use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Connections at a time: a browser makes six to a server. Who comes after is told to come again.
const MOST_CONNECTIONS: usize = 64;
/// How long a client may leave what it is sent untouched: a tab may be busy decoding. Without the token nobody is sent more than a
/// sentence, which fits into the system's buffer.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long, and how far, what a client still sends is read before the connection is closed.
const LEAVING: Duration = Duration::from_millis(200);
const LEFT_OVER: u64 = 64 << 10;

/// What every answer says: no other site may frame, embed or read it, no address is handed on, nothing is kept on the disk.
const ALWAYS: &str = "Connection: close\r\n\
    Cache-Control: no-store\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n\
    Content-Security-Policy: frame-ancestors 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n";

/// What writes the body, chunk by chunk. Where it fails the connection ends early, and the client knows that something is missing.
pub(super) type Body = Box<dyn FnOnce(&mut dyn Write) -> io::Result<()>>;

/// What is sent.
pub(super) struct Response {
    /// `200 OK`.
    pub(super) status: &'static str,
    /// Header lines, without their ends.
    pub(super) headers: Vec<String>,
    /// How long the body is, where that is known before it is sent.
    pub(super) length: Option<u64>,
    /// Writes the body.
    pub(super) body: Body,
}

impl Response {
    /// A short text.
    pub(super) fn text(status: &'static str, text: impl Into<String>) -> Response {
        let text = text.into();
        Response {
            status,
            headers: vec!["Content-Type: text/plain; charset=utf-8".to_owned()],
            length: Some(text.len() as u64),
            body: Box::new(move |out| out.write_all(text.as_bytes())),
        }
    }

    /// What is asked for is there. The address holds no control characters.
    pub(super) fn elsewhere(address: &str) -> Response {
        let mut response = Response::text("302 Found", "");
        response.headers.push(format!("Location: {address}"));
        response
    }
}

/// Answers until the process ends.
pub(super) fn answer(listener: &TcpListener, respond: impl Fn(&Asked, &Peer) -> Response + Send + Sync + 'static) {
    // What every connection holds a share of: so many there are.
    let respond = Arc::new(respond);
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else {
            // Out of files, most likely: those that are open end at some time.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if Arc::strong_count(&respond) > MOST_CONNECTIONS {
            let _ =
                stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
            continue;
        }
        let respond = Arc::clone(&respond);
        // A client that hangs up ends its own connection and nothing else; so does a system that has no thread for it.
        let _ = std::thread::Builder::new().spawn(move || serve(stream, &*respond));
    }
}

fn serve(mut stream: TcpStream, respond: &dyn Fn(&Asked, &Peer) -> Response) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(asked) = request::read(&mut stream)? else { return Ok(()) };
    let (method, response) = match asked {
        Ok(asked) => (asked.method, respond(&asked, &Peer::of(&stream))),
        Err((status, text)) => {
            let mut refused = Response::text(status, text);
            refused.headers.push("Allow: GET, HEAD".to_owned());
            (Method::Get, refused)
        }
    };
    send(response, method, &stream)?;
    // To close while something is unread would reset the connection, and the client might lose what it was sent.
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(LEAVING))?;
    io::copy(&mut stream.take(LEFT_OVER), &mut io::sink()).map(drop)
}

fn send(response: Response, method: Method, stream: &TcpStream) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 << 10, stream);
    write!(out, "HTTP/1.1 {}\r\n{ALWAYS}", response.status)?;
    for header in &response.headers {
        write!(out, "{header}\r\n")?;
    }
    match response.length {
        Some(length) => write!(out, "Content-Length: {length}\r\n\r\n")?,
        None => out.write_all(b"Transfer-Encoding: chunked\r\n\r\n")?,
    }
    match (method, response.length) {
        (Method::Head, _) => {}
        (Method::Get, Some(_)) => (response.body)(&mut out)?,
        (Method::Get, None) => {
            (response.body)(&mut Chunks(&mut out))?;
            // Without it the client knows that something is missing.
            out.write_all(b"0\r\n\r\n")?;
        }
    }
    out.flush()
}

/// Each write is a chunk, and is sent at once.
struct Chunks<'a, W: Write>(&'a mut W);

impl<W: Write> Write for Chunks<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            write!(self.0, "{:x}\r\n", bytes.len())?;
            self.0.write_all(bytes)?;
            self.0.write_all(b"\r\n")?;
            self.0.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
