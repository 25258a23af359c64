//! Generated files with numbered frames for stress tests of stacks, and measurements of the engine's longest time
//! between checks of the clock.

use cpu_time::ThreadTime;
use memscape::engine::{Engine, NeededBytes, Reply, Request};
use std::time::Duration;

/// Builds a pickle with functions `f0`, `f1`, … as frames. Each allocation has a size and a stack of frame numbers,
/// innermost first.
pub(crate) fn pickle(frames: u32, allocations: impl Iterator<Item = (u64, Vec<u32>)>) -> Vec<u8> {
    write_pickle("/home/me/a.py", frames, |frame| (format!("f{frame}"), 7), allocations)
}

/// Builds a pickle whose frames are lines of one function, each with one allocation.
pub(crate) fn pickle_of_lines(path: &str, count: u32) -> Vec<u8> {
    write_pickle(
        path,
        count,
        |frame| ("f".to_owned(), frame + 1),
        (0..count).map(|at| (u64::from(at % 1000) + 1, vec![at])),
    )
}

fn write_pickle(
    path: &str,
    frames: u32,
    frame_of: impl Fn(u32) -> (String, u32),
    allocations: impl Iterator<Item = (u64, Vec<u32>)>,
) -> Vec<u8> {
    let mut bytes = b"\x80\x02}(X\x08\x00\x00\x00segments]X\x0d\x00\x00\x00device_traces](](".to_vec();
    let word = |bytes: &mut Vec<u8>, text: &str| {
        bytes.extend([b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat());
    };
    // A first event, which is no allocation, defines all frames.
    let entry = |bytes: &mut Vec<u8>, action: &str, address: u64, size: u64| {
        bytes.extend(b"}(");
        for (key, value) in [("addr", address), ("size", size), ("stream", 0)] {
            word(bytes, key);
            bytes.extend([b"\x8a\x09", &value.to_le_bytes()[..], b"\x00"].concat());
        }
        word(bytes, "action");
        word(bytes, action);
        word(bytes, "frames");
        bytes.extend(b"](");
    };
    entry(&mut bytes, "snapshot", 0, 0);
    for frame in 0..frames {
        bytes.extend(b"}(");
        let (name, line) = frame_of(frame);
        word(&mut bytes, "name");
        word(&mut bytes, &name);
        word(&mut bytes, "filename");
        // The path is memo slot 0, and the frames follow.
        if frame == 0 {
            word(&mut bytes, path);
        }
        bytes.push(if frame == 0 { b'r' } else { b'j' });
        bytes.extend(0u32.to_le_bytes());
        word(&mut bytes, "line");
        bytes.extend([b"J", &line.to_le_bytes()[..], b"ur"].concat());
        bytes.extend((frame + 1).to_le_bytes());
    }
    bytes.extend(b"eu");
    for (address, (size, stack)) in (1u64..).zip(allocations) {
        entry(&mut bytes, "alloc", address << 12, size);
        for frame in stack {
            bytes.push(b'j');
            bytes.extend((frame + 1).to_le_bytes());
        }
        bytes.extend(b"eu");
    }
    bytes.extend(b"eeu.");
    bytes
}

/// An open file.
pub(crate) struct OpenFile {
    pub(crate) engine: Engine,
    /// Last moment of the first device.
    pub(crate) last: u32,
    /// Longest time between two checks of the clock.
    pub(crate) slowest: Duration,
    /// Descriptions of slow answers.
    pub(crate) slow: Vec<String>,
}

pub(crate) fn open(bytes: &[u8]) -> OpenFile {
    let mut engine = Engine::new();
    engine.request(Request::open("x", None));
    let mut chunks = bytes.chunks(1 << 20);
    loop {
        if engine.wants() == Some(NeededBytes::Next) {
            match chunks.next() {
                Some(chunk) => engine.feed(chunk.to_vec()),
                None => engine.request(Request::EndOfFile),
            }
        }
        engine.step(&mut || true);
        match engine.next_reply() {
            Some(Reply::Opened(file)) => {
                let last = file.devices[0].events as u32;
                return OpenFile { engine, last, slowest: Duration::ZERO, slow: Vec::new() };
            }
            Some(Reply::Failed { message }) => panic!("{message}"),
            _ => {}
        }
    }
}

impl OpenFile {
    /// Sends a request and returns its answer, measuring the processor time between checks of the clock.
    pub(crate) fn reply(&mut self, request: Request) -> Reply {
        let mut asked = ThreadTime::now();
        self.engine.request(request);
        loop {
            self.slowest = self.slowest.max(asked.elapsed());
            if let Some(reply) = self.engine.next_reply() {
                return reply;
            }
            let slowest = &mut self.slowest;
            asked = ThreadTime::now();
            self.engine.step(&mut || {
                *slowest = (*slowest).max(asked.elapsed());
                asked = ThreadTime::now();
                true
            });
        }
    }
}
