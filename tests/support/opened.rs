//! Files opened through the engine, as the page and the command line do.

use memscape::engine::protocol::{Access, Details, FileSummary, HitAllocation, LoadRange, Looks, Member};
use memscape::engine::{Answer, Ask, Engine, Question, Reply, Request, Want};
use memscape::timeline::{Scene, View};
use std::path::PathBuf;

/// An engine with a file open.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    pub(crate) summary: FileSummary,
    /// The snapshots of the file, where there are several.
    pub(crate) members: Vec<Member>,
}

/// How a test hands over a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Bytes of a chunk.
    pub(crate) chunk: usize,
    /// Pieces of work of a slice.
    pub(crate) slice: usize,
    /// How the bytes can be reached, at first.
    pub(crate) access: Access,
    /// Which snapshot, of several.
    pub(crate) member: Option<u32>,
}

impl Default for Way {
    fn default() -> Way {
        Way { chunk: 1 << 20, slice: usize::MAX, access: Access::Anywhere, member: None }
    }
}

/// Opens bytes that arrive in chunks of this size; each slice may do `slice` pieces of work.
pub(crate) fn open_in(bytes: &[u8], chunk: usize, slice: usize) -> Result<Opened, String> {
    open_as(bytes, Way { chunk, slice, ..Way::default() })
}

/// Opens bytes in this way.
pub(crate) fn open_as(bytes: &[u8], way: Way) -> Result<Opened, String> {
    open_range(bytes, way, LoadRange::ALL)
}

/// Opens only these events of bytes.
pub(crate) fn open_range(bytes: &[u8], way: Way, load: LoadRange) -> Result<Opened, String> {
    let Way { chunk, slice, access, member } = way;
    let open = |access| Request::Open {
        name: "test.pickle".to_owned(),
        total_bytes: Some(bytes.len() as u64),
        access,
        member,
    };
    let mut engine = Engine::new();
    engine.request(Request::Load(load));
    engine.request(open(access));
    let mut at = 0;
    let mut members = Vec::new();
    loop {
        let want = engine.wants();
        match want {
            Some(Want::At(offset)) => {
                assert!(access == Access::Anywhere && offset <= bytes.len() as u64, "asked for byte {offset}");
                at = offset as usize;
            }
            Some(Want::Whole) => {
                assert!(access == Access::Forward, "it can be read anywhere already");
                return open_range(bytes, Way { access: Access::Anywhere, ..way }, load);
            }
            Some(Want::Next) | None => {}
        }
        if want.is_some() {
            let end = bytes.len().min(at + chunk);
            if at == end {
                engine.request(Request::EndOfFile);
            } else {
                engine.feed(bytes[at..end].to_vec());
            }
            at = end;
        }
        let mut left = slice;
        engine.step(&mut || {
            left = left.saturating_sub(1);
            left > 0
        });
        while let Some(reply) = engine.next_reply() {
            match reply {
                Reply::Opened(summary) => return Ok(Opened { engine, summary: *summary, members }),
                Reply::Members(found) => members = found,
                Reply::Failed { message } => return Err(message),
                _ => {}
            }
        }
    }
}

/// Opens bytes in one go.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, String> {
    open_in(bytes, 1 << 20, usize::MAX)
}

/// The next reply of an engine that is out of time after every look at the clock.
pub(crate) fn reply(engine: &mut Engine, request: Request) -> Reply {
    engine.request(request);
    loop {
        if let Some(reply) = engine.next_reply() {
            return reply;
        }
        engine.step(&mut || false);
    }
}

impl Opened {
    /// The next reply.
    pub(crate) fn reply(&mut self, request: Request) -> Reply {
        self.engine.request(request);
        loop {
            if let Some(reply) = self.engine.next_reply() {
                return reply;
            }
            self.engine.step(&mut || true);
        }
    }

    /// A scene of a device.
    pub(crate) fn scene(&mut self, device: i64, view: View) -> Scene {
        match self.reply(Request::Ask(Ask {
            serial: 1,
            device,
            what: Question::Scene { view, looks: Looks::default() },
        })) {
            Reply::Answer { answer: Answer::Scene(scene), .. } => *scene,
            other => panic!("a scene was asked for, not {other:?}"),
        }
    }

    /// What is at a byte of the stack at a moment.
    pub(crate) fn hit(&mut self, device: i64, moment: u32, byte: u64) -> Option<HitAllocation> {
        match self.reply(Request::Ask(Ask {
            serial: 2,
            device,
            what: Question::Hit { looks: Looks::default(), moment, byte },
        })) {
            Reply::Answer { answer: Answer::Hit { hit, .. }, .. } => hit,
            other => panic!("a hit was asked for, not {other:?}"),
        }
    }

    /// Everything about an allocation.
    pub(crate) fn details(&mut self, device: i64, allocation: u32) -> Option<Details> {
        match self.reply(Request::Ask(Ask { serial: 3, device, what: Question::Details(allocation) })) {
            Reply::Answer { answer: Answer::Details(details), .. } => details.map(|details| *details),
            other => panic!("details were asked for, not {other:?}"),
        }
    }
}

/// The folder of real snapshots, if it is there; said aloud when not.
pub(crate) fn snapshots() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("MEMSCAPE_SNAPSHOTS").map(PathBuf::from);
    let places =
        named.into_iter().chain(["../shared/snapshots", "../../shared/snapshots"].map(|place| root.join(place)));
    let found = places.into_iter().find(|place| place.join("expected.json").is_file());
    if found.is_none() {
        println!(
            "SKIPPED: no real snapshots (../shared/snapshots or MEMSCAPE_SNAPSHOTS): their numbers are not checked"
        );
    }
    found
}

/// The real pickles among them, by name.
#[allow(clippy::unwrap_used, reason = "how a test fails")]
pub(crate) fn real_pickles() -> Option<Vec<PathBuf>> {
    let mut files: Vec<_> = std::fs::read_dir(snapshots()?).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "pickle"));
    files.sort();
    assert!(!files.is_empty(), "a folder of snapshots without any");
    Some(files)
}
