//! Time from the request for a snapshot to the open file over a connection of 20 MB/s, simulated on the loopback: sent
//! as it is, gzipped while it is sent, compressed by zstd before, decoded to columns by the server, and as `memscape
//! serve` sends it. `cargo bench --bench memscape -- serve`.
//!
//! The receiver is native and decodes as the page does: gzip in a thread of its own, like a browser's network process,
//! the rest in the engine.

use crate::cases::Case;
use crate::figure::three_digits;
use crate::served::{Server, Unchunked};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use memscape::engine::{Engine, NeededBytes, Reply, Request};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// Number of measurements of each.
const RUNS: usize = 2;
/// Throughput of the connection, in bytes per second.
const BYTES_PER_SECOND: f64 = 20e6;
/// Bytes that the receiver reads at a time, and chunks that it queues for the engine.
const CHUNK: usize = 256 << 10;
const QUEUED_CHUNKS: usize = 16;
/// Stand-in for the page, which is not opened here.
const VIEWER: &str = "<html><body><script id=\"part-wasm\"></script></body></html>";

pub(crate) fn run(_: &[String]) {
    // 312 MB.
    let case = Case::new("2 M events", "--events 2000000 --frames 60", 400_000_000);
    match case.generate() {
        Ok(file) => measure(&file.path, file.bytes),
        Err(reason) => println!("{}: skipped, {reason}", case.name),
    }
}

/// Encoding of the file on the connection.
#[derive(Clone, Copy)]
enum Encoding {
    Raw,
    Gzip(u32),
    Zstd,
    /// Decoded by the server first, then sent as gzipped columns.
    Columns(u32),
    Serve,
}

/// Prints a row for each encoding of the file.
fn measure(path: &Path, bytes: u64) {
    println!("{bytes} bytes; seconds until the file is open at the other end (native)");
    println!("{:34} {:>12} {:>10} {:>8} {:>10}", "way", "bytes sent", "20 MB/s", "of raw", "no limit");
    let zst = path.with_extension("zst");
    let packed = Command::new("zstd").args(["-q", "-f", "-3"]).arg(path).arg("-o").arg(&zst).status();
    let mut ways = vec![
        ("as it is", Encoding::Raw),
        ("gzip on its way, level 1", Encoding::Gzip(1)),
        ("gzip on its way, level 3", Encoding::Gzip(3)),
        ("gzip on its way, level 6", Encoding::Gzip(6)),
        ("columns, gzip level 1", Encoding::Columns(1)),
        ("columns, gzip level 6", Encoding::Columns(6)),
        ("memscape serve", Encoding::Serve),
    ];
    match packed {
        Ok(status) if status.success() => ways.push(("zstd -3, packed before", Encoding::Zstd)),
        _ => println!("zstd: skipped, there is no such program here"),
    }
    // In turn, and the best of each, since the load of the machine changes.
    let mut best = vec![[f64::INFINITY; 2]; ways.len()];
    let mut sent = vec![0; ways.len()];
    for _ in 0..RUNS {
        for (place, (_, way)) in ways.iter().enumerate() {
            let source = if matches!(way, Encoding::Zstd) { &zst } else { path };
            for (rate, best) in [BYTES_PER_SECOND, f64::INFINITY].into_iter().zip(&mut best[place]) {
                let (seconds, bytes) = open_over(source, *way, rate);
                *best = best.min(seconds);
                sent[place] = bytes;
            }
        }
    }
    for (place, (name, _)) in ways.iter().enumerate() {
        let [slow, fast] = best[place];
        let of_raw = three_digits(slow / best[0][0]);
        println!("{name:34} {:>12} {:>10} {of_raw:>8} {:>10}", sent[place], three_digits(slow), three_digits(fast));
    }
    let _ = std::fs::remove_file(zst);
}

/// Sends and opens the file; returns the seconds from the request to the open file, and the bytes sent.
fn open_over(path: &Path, way: Encoding, rate: f64) -> (f64, u64) {
    let server = matches!(way, Encoding::Serve).then(|| {
        let viewer = path.with_extension("html");
        std::fs::write(&viewer, VIEWER).expect("target/ is writable");
        Server::start(&viewer, &[path.to_str().expect("UTF-8")])
    });
    let started = Instant::now();
    let (stream, packed) = match &server {
        Some(server) => server.request_gzip(),
        None => (send_once(path.to_owned(), way), matches!(way, Encoding::Gzip(_) | Encoding::Columns(_))),
    };
    let line = ThrottledStream { stream, started, rate, received: 0 };
    let (to_engine, chunks) = sync_channel::<Vec<u8>>(QUEUED_CHUNKS);
    let reading = std::thread::spawn(move || {
        let mut line = BufReader::with_capacity(CHUNK, line);
        let is_serve = matches!(way, Encoding::Serve);
        match (is_serve, packed) {
            (true, true) => forward_chunks(&mut GzDecoder::new(Unchunked::new(&mut line)), &to_engine),
            (false, true) => forward_chunks(&mut GzDecoder::new(&mut line), &to_engine),
            (_, false) => forward_chunks(&mut line, &to_engine),
        }
        line.into_inner().received
    });
    open_with(|| chunks.recv().unwrap_or_default());
    let seconds = started.elapsed().as_secs_f64();
    (seconds, reading.join().expect("it reads to the end"))
}

/// Opens a file from chunks; an empty chunk ends it.
fn open_with(mut next: impl FnMut() -> Vec<u8>) -> Engine {
    let mut engine = Engine::new();
    engine.request(Request::open("bench", None));
    while engine.is_loading() {
        if engine.wants() == Some(NeededBytes::Next) {
            match next() {
                chunk if chunk.is_empty() => engine.request(Request::EndOfFile),
                chunk => engine.feed(chunk),
            }
        }
        engine.step(&mut || true);
        while let Some(reply) = engine.next_reply() {
            if let Reply::Failed { message } = reply {
                panic!("{message}");
            }
        }
    }
    engine
}

/// Passes chunks from the connection to the engine.
fn forward_chunks(source: &mut dyn Read, to_engine: &std::sync::mpsc::SyncSender<Vec<u8>>) {
    loop {
        let mut chunk = Vec::with_capacity(CHUNK);
        if source.take(CHUNK as u64).read_to_end(&mut chunk).expect("the server sends it all") == 0 {
            return;
        }
        to_engine.send(chunk).expect("the engine reads to the end");
    }
}

/// Starts a server that sends the file once, without a header.
fn send_once(path: std::path::PathBuf, way: Encoding) -> TcpStream {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("the server listens");
    std::thread::spawn(move || {
        let (mut out, _) = listener.accept().expect("the client connects");
        let mut file = BufReader::with_capacity(CHUNK, File::open(&path).expect("just written"));
        let packed = |out, level| GzEncoder::new(io::BufWriter::with_capacity(64 << 10, out), Compression::new(level));
        match way {
            Encoding::Gzip(level) => {
                let mut gzip = packed(out, level);
                io::copy(&mut file, &mut gzip).expect("sent");
                gzip.finish().expect("sent").flush().expect("sent");
            }
            Encoding::Columns(level) => {
                let engine = open_with(|| {
                    let mut chunk = Vec::with_capacity(CHUNK);
                    file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk).expect("just written");
                    chunk
                });
                let gzip = engine.write_columns(packed(out, level)).expect("sent");
                gzip.finish().expect("sent").flush().expect("sent");
            }
            Encoding::Raw | Encoding::Zstd | Encoding::Serve => drop(io::copy(&mut file, &mut out).expect("sent")),
        }
    });
    TcpStream::connect(address).expect("the server listens")
}

/// Connection with limited throughput.
struct ThrottledStream {
    stream: TcpStream,
    started: Instant,
    rate: f64,
    received: u64,
}

impl Read for ThrottledStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        self.received += count as u64;
        let due = Duration::from_secs_f64(self.received as f64 / self.rate);
        std::thread::sleep(due.saturating_sub(self.started.elapsed()));
        Ok(count)
    }
}
