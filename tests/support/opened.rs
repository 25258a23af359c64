//! Opens files through the engine, as the page and the command line do.

use memscape::engine::{Answer, Ask, Engine, NeededBytes, Question, Reply, Request};
use memscape::protocol::{Access, Details, FileSummary, HitAllocation, LoadRange, Member, PlotSettings};
use memscape::timeline::{Scene, View};
use std::path::{Path, PathBuf};

/// An engine with a file open.
pub(crate) struct Opened {
    pub(crate) engine: Engine,
    pub(crate) summary: FileSummary,
    /// Snapshots of an archive with several of them. Empty for any other file.
    pub(crate) members: Vec<Member>,
}

/// Options for opening a file in a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenOptions {
    /// Chunk size in bytes.
    pub(crate) chunk: usize,
    /// Number of clock checks per slice.
    pub(crate) slice: usize,
    /// Initial access to the bytes.
    pub(crate) access: Access,
    /// Index of the snapshot in an archive.
    pub(crate) member: Option<u32>,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions { chunk: 1 << 20, slice: usize::MAX, access: Access::Random, member: None }
    }
}

/// Opens a file in chunks of `chunk` bytes. Each slice may check the clock `slice` times.
pub(crate) fn open_in_chunks(bytes: &[u8], chunk: usize, slice: usize) -> Result<Opened, String> {
    open_with(bytes, OpenOptions { chunk, slice, ..OpenOptions::default() })
}

pub(crate) fn open_with(bytes: &[u8], way: OpenOptions) -> Result<Opened, String> {
    open_range(bytes, way, LoadRange::ALL)
}

/// Opens a range of the events of a file.
pub(crate) fn open_range(bytes: &[u8], way: OpenOptions, load: LoadRange) -> Result<Opened, String> {
    let OpenOptions { chunk, slice, access, member } = way;
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
            Some(NeededBytes::At(offset)) => {
                assert!(access == Access::Random && offset <= bytes.len() as u64, "asked for byte {offset}");
                at = offset as usize;
            }
            Some(NeededBytes::WholeFile) => {
                assert!(access == Access::Sequential, "the engine asks for the whole file despite random access");
                return open_range(bytes, OpenOptions { access: Access::Random, ..way }, load);
            }
            Some(NeededBytes::Next) | None => {}
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

/// Opens a file in one chunk, with unlimited slices.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, String> {
    open_in_chunks(bytes, 1 << 20, usize::MAX)
}

/// Sends a request and returns the reply, in the shortest possible slices.
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
    /// Sends a request and returns the reply, in unlimited slices.
    pub(crate) fn reply(&mut self, request: Request) -> Reply {
        self.engine.request(request);
        loop {
            if let Some(reply) = self.engine.next_reply() {
                return reply;
            }
            self.engine.step(&mut || true);
        }
    }

    pub(crate) fn scene(&mut self, device: i64, view: View) -> Scene {
        match self.reply(Request::Ask(Ask {
            serial: 1,
            device,
            question: Question::Scene { view, plot_settings: PlotSettings::default() },
        })) {
            Reply::Answer { answer: Answer::Scene(scene), .. } => *scene,
            other => panic!("expected a scene, got {other:?}"),
        }
    }

    /// Returns the allocation at a byte of the stack at a moment.
    pub(crate) fn hit(&mut self, device: i64, moment: u32, byte: u64) -> Option<HitAllocation> {
        match self.reply(Request::Ask(Ask {
            serial: 2,
            device,
            question: Question::Hit { plot_settings: PlotSettings::default(), moment, byte },
        })) {
            Reply::Answer { answer: Answer::Hit { hit, .. }, .. } => hit,
            other => panic!("expected a hit, got {other:?}"),
        }
    }

    pub(crate) fn details(&mut self, device: i64, allocation: u32) -> Option<Details> {
        match self.reply(Request::Ask(Ask { serial: 3, device, question: Question::Details(allocation) })) {
            Reply::Answer { answer: Answer::Details(details), .. } => details.map(|details| *details),
            other => panic!("expected details, got {other:?}"),
        }
    }
}

/// Returns the folder of real snapshots. Prints a note if there is none.
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

/// Returns the paths of the real pickles, sorted by name.
#[allow(clippy::unwrap_used, reason = "tests may panic")]
pub(crate) fn real_pickles() -> Option<Vec<PathBuf>> {
    let mut files: Vec<_> = std::fs::read_dir(snapshots()?).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "pickle"));
    files.sort();
    assert!(!files.is_empty(), "the folder of snapshots is empty");
    Some(files)
}

/// Returns the folder of the recordings of PyTorch's allocator. Prints a note with `unchecked` if it is missing.
pub(crate) fn recordings_folder(unchecked: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = std::env::var_os("MEMSCAPE_SNAPSHOTS").map(|folder| PathBuf::from(folder).join("../recordings"));
    let places = ["../shared/recordings", "../../shared/recordings"].map(|place| root.join(place));
    let found = named.into_iter().chain(places).find(|place| place.is_dir());
    if found.is_none() {
        println!("SKIPPED: no recordings (../shared/recordings): {unchecked}");
    }
    found
}
