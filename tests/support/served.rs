//! Runs `memscape serve` for tests and benchmarks, with a minimal client.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server. Killed on drop.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
    /// Output of the process in whole lines.
    pub(crate) output: String,
}

impl Server {
    /// Starts the server with the given viewer page and arguments.
    pub(crate) fn start(viewer: &Path, words: &[&str]) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_memscape"))
            .args(["serve", "--no-browser", "--viewer"])
            .arg(viewer)
            .args(words)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("memscape is built");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut output = String::new();
        while !output.contains("Ctrl+C") {
            assert!(lines.read_line(&mut output).expect("text") > 0, "the server ended: {output}");
        }
        let (_, address) = output.split_once("http://127.0.0.1:").expect("an address");
        let (port, rest) = address.split_once('/').expect("a path");
        let token = rest.split('/').next().unwrap_or_default().to_owned();
        Server { process, port: port.parse().expect("a port"), token, output }
    }

    /// Returns the address that the server printed.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        stream
    }

    /// Sends a request. Returns the connection and the head of the response.
    pub(crate) fn request(&self, path: &str, headers: &str) -> (TcpStream, String) {
        let mut stream = self.connect();
        let request = format!("GET /{}/{path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n", self.token);
        stream.write_all(request.as_bytes()).expect("the server listens");
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("a head");
            head.extend(byte);
        }
        (stream, String::from_utf8(head).expect("text"))
    }

    /// Requests the first listed snapshot as a browser does. Returns the connection, and whether the body is chunked
    /// gzip.
    pub(crate) fn request_gzip(&self) -> (TcpStream, bool) {
        let (_, head) = self.request("", "");
        let link = head.split("url=").nth(1).and_then(|link| link.split(['&', '\r']).next()).expect("a snapshot");
        let (stream, head) = self.request(&link.replace("%25", "%"), "Accept-Encoding: gzip\r\n");
        (stream, head.to_ascii_lowercase().contains("content-encoding: gzip"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reader of a body with chunked transfer encoding.
pub(crate) struct Unchunked<R> {
    source: R,
    left: usize,
    is_over: bool,
}

impl<R: BufRead> Unchunked<R> {
    /// Starts at the first chunk.
    pub(crate) fn new(source: R) -> Unchunked<R> {
        Unchunked { source, left: 0, is_over: false }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.source.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }
}

impl<R: BufRead> Read for Unchunked<R> {
    /// # Errors
    /// If the last chunk is missing.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.is_over {
            self.left = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
            self.is_over = self.left == 0;
        }
        let room = buffer.len().min(self.left);
        let count = self.source.read(&mut buffer[..room])?;
        self.left -= count;
        match (count, self.left) {
            (0, left) if left > 0 => Err(io::ErrorKind::UnexpectedEof.into()),
            (1.., 0) => self.line().map(|_| count),
            _ => Ok(count),
        }
    }
}
