//! Runs the engines of the open file and of the second file, with which the open file is compared. They read from disk
//! and work in time slices.

use crate::source::Source;
use compare::{FileSlot, Pair};
use engine::{Engine, PartialSchedule, Work};
use protocol::{LoadRange, NeededBytes, Reply, Request};
use std::io;
use std::time::Instant;

/// Equivalent of the page's web worker in the terminal interface.
pub(crate) struct Worker {
    engines: Engines,
    /// Engines of the previous file, kept until the new file is open.
    previous: Option<Engines>,
    clock: Instant,
    /// Schedule for displaying partial results while a file is decoded.
    pace: PartialSchedule,
}

struct Engines {
    pair: Pair,
    reading: Option<Load>,
    /// Sources that have been read completely, indexed by [`FileSlot`].
    finished_sources: [Option<Box<dyn Source>>; 2],
    /// Load ids of the first and of the second file. Each reply is tagged with the load id of its file.
    loads: [u32; 2],
    is_open: bool,
}

/// A file to read.
pub(crate) struct Load {
    pub(crate) source: Box<dyn Source>,
    pub(crate) name: String,
    pub(crate) member: Option<u32>,
    pub(crate) load: u32,
    pub(crate) which: FileSlot,
    /// Range of events to load from the file.
    pub(crate) range: LoadRange,
}

impl Engines {
    fn new() -> Engines {
        Engines {
            pair: Pair::new(Engine::new),
            reading: None,
            finished_sources: [None, None],
            loads: [0; 2],
            is_open: false,
        }
    }

    fn start(&mut self, mut load: Load) -> io::Result<()> {
        load.source.rewind()?;
        self.drop_source(load.which);
        let (total_bytes, access) = (load.source.total_bytes(), load.source.access());
        let open = Request::Open { name: load.name.clone(), total_bytes, access, member: load.member };
        match load.which {
            FileSlot::First => {
                self.pair.request(Request::Load(load.range));
                self.pair.request(open);
            }
            FileSlot::Second => self.pair.open_second(open),
        }
        self.reading = Some(load);
        Ok(())
    }

    /// Drops the source of a file. Called when the engine opens another file or a member of this file.
    fn drop_source(&mut self, which: FileSlot) {
        if let Some(read) = self.finished_sources.get_mut(which as usize) {
            *read = None;
        }
    }

    /// Reads the next bytes and passes them to the engine that needs them. Returns false if no file is being read.
    fn feed_next(&mut self) -> io::Result<bool> {
        let Some(mut load) = self.reading.take() else { return Ok(false) };
        match self.pair.wants() {
            // The engine has all it needs, or an error occurred.
            None => {}
            Some(NeededBytes::WholeFile) => {
                load.source.copy_to_file()?;
                self.start(load)?;
            }
            Some(want) => {
                let chunk = load.source.chunk(want)?;
                if chunk.is_empty() {
                    self.pair.request(Request::EndOfFile);
                    if let Some(read) = self.finished_sources.get_mut(load.which as usize) {
                        *read = Some(load.source);
                    }
                } else {
                    self.pair.feed(chunk);
                    self.reading = Some(load);
                }
            }
        }
        Ok(true)
    }
}

impl Worker {
    pub(crate) fn new() -> Worker {
        Worker { engines: Engines::new(), previous: None, clock: Instant::now(), pace: PartialSchedule::default() }
    }

    /// Starts reading a file. The previous file stays open until the new file is open.
    pub(crate) fn load(&mut self, load: Load) -> Result<(), String> {
        if load.which == FileSlot::First {
            self.pace = PartialSchedule::start(self.now_ms());
            let before = std::mem::replace(&mut self.engines, Engines::new());
            if before.is_open {
                self.previous = Some(before);
            }
        }
        if let Some(number) = self.engines.loads.get_mut(load.which as usize) {
            *number = load.load;
        }
        self.engines.start(load).map_err(|error| error.to_string())
    }

    /// Makes the previous file current again, after loading a new file failed.
    pub(crate) fn restore_previous(&mut self) {
        if let Some(before) = self.previous.take() {
            self.engines = before;
        }
    }

    pub(crate) fn ask(&mut self, request: Request) {
        if request == Request::Cancel {
            self.engines.reading = None;
        }
        self.engines.pair.request(request);
    }

    pub(crate) fn end_second(&mut self) {
        self.engines.reading.take_if(|load| load.which == FileSlot::Second);
        self.engines.drop_source(FileSlot::Second);
        self.engines.pair.close_second();
    }

    /// Continues pending work until there is none or `has_time` returns `false`. Appends replies with their load ids to
    /// `replies`. Returns `true` if work remains.
    pub(crate) fn work(&mut self, has_time: &mut dyn FnMut() -> bool, replies: &mut Vec<(u32, Reply)>) -> bool {
        loop {
            let work = self.engines.pair.step(has_time);
            self.take_replies(replies);
            self.add_partial(replies);
            if work == Work::More {
                if !has_time() {
                    return true;
                }
                continue;
            }
            let load = self.engines.reading.as_ref().map_or(0, |load| load.load);
            match self.engines.feed_next() {
                Ok(false) => return false,
                Ok(true) if has_time() => {}
                Ok(true) => return true,
                Err(error) => {
                    self.engines.pair.request(Request::Cancel);
                    replies.push((load, Reply::Failed { message: error.to_string() }));
                    return true;
                }
            }
        }
    }

    fn now_ms(&self) -> f64 {
        self.clock.elapsed().as_secs_f64() * 1e3
    }

    /// Appends the data decoded so far as a partial result, if one is due.
    fn add_partial(&mut self, replies: &mut Vec<(u32, Reply)>) {
        let now = self.now_ms();
        if self.pace.is_due(now)
            && let Some(reply) = self.engines.pair.partial()
        {
            replies.push((self.engines.loads.first().copied().unwrap_or_default(), reply));
            self.pace = PartialSchedule::after_update(now, self.now_ms());
        }
    }

    fn take_replies(&mut self, replies: &mut Vec<(u32, Reply)>) {
        let mut is_opened = false;
        while let Some((which, reply)) = self.engines.pair.next_reply() {
            // Questions and answers use the load number of the first file, even if they concern both.
            let which = if matches!(reply, Reply::Answer { .. }) { FileSlot::First } else { which };
            is_opened |= which == FileSlot::First && matches!(reply, Reply::Opened(_));
            if matches!(reply, Reply::Members(_)) {
                self.engines.drop_source(which);
            }
            replies.push((self.engines.loads.get(which as usize).copied().unwrap_or_default(), reply));
        }
        if is_opened {
            (self.engines.is_open, self.previous) = (true, None);
        }
    }
}

impl Drop for Engines {
    fn drop(&mut self) {
        let pair = std::mem::replace(&mut self.pair, Pair::new(Engine::without_simulator));
        for (read, engine) in self.finished_sources.iter_mut().zip(pair.into_engines()) {
            if let (Some(read), Some(engine)) = (read.take(), engine) {
                read.on_close(engine);
            }
        }
    }
}
