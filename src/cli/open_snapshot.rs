//! An open snapshot with a selected device, and helper functions to query it.

use super::cancellation::{self, CancelFlag};
use super::common_args::{SnapshotArgs, TimeArg, TracePosition};
use super::input::Input;
use super::kept_file::{self, OpenedFile};
use super::opening::open_first;
use super::output::{printable, with_fields};
use base::units::{Bytes, Moment, group_digits, pluralize};
use engine::{Answer, Ask, Engine, Question, Reply, Request, Side, Work};
use picture::timeline::{Axis, time_axis_margin};
use protocol::{CategorySet, DeviceSummary, FileSummary, MomentFacts, MomentSpec, Report, ReportQuestion};
use serde_json::{Value, json};
use ui::text::summary::{device_name, loaded_range};

/// Sends a query about the selected device of a snapshot. Returns `None` if there is no answer.
macro_rules! ask_device {
    ($snapshot:expr, $Variant:ident($question:expr)) => {
        match $snapshot.ask_device(engine::Question::$Variant($question)) {
            Some(engine::Answer::$Variant(answer)) => Some(answer),
            _ => None,
        }
    };
}
pub(crate) use ask_device;

/// An open snapshot with a selected device.
pub(crate) struct OpenSnapshot {
    pub(crate) summary: FileSummary,
    pub(crate) device: DeviceSummary,
    /// True if the user selected the device with `--device`.
    pub(crate) is_device_chosen: bool,
    engine: OpenedFile,
}

impl OpenSnapshot {
    /// Opens a file and selects the device with the given ordinal, or the default device.
    ///
    /// # Errors
    /// Returns an error message if the file cannot be read or has no such device.
    pub(crate) fn open(source: &SnapshotArgs) -> Result<OpenSnapshot, String> {
        if let Some((summary, engine, device)) = kept_file::take(&source.file) {
            return OpenSnapshot::with_device(summary, engine, source.device.or(device));
        }
        let mut input = Input::open(&source.file).map_err(|error| error.to_string())?;
        let (summary, opened) = open_first(&mut input, &source.file)?;
        OpenSnapshot::with_device(summary, opened, source.device)
    }

    /// Selects a device of a file that is already open.
    ///
    /// # Errors
    /// Returns an error message if the file has no such device.
    pub(crate) fn with_device(
        summary: FileSummary,
        engine: OpenedFile,
        device: Option<i64>,
    ) -> Result<OpenSnapshot, String> {
        let (is_device_chosen, device) = (device.is_some(), select_device(&summary, device)?.clone());
        Ok(OpenSnapshot { summary, device, is_device_chosen, engine })
    }

    /// Returns the engine that has the file open.
    pub(crate) fn into_engine(self) -> OpenedFile {
        self.engine
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the history of the selected device.
    pub(crate) fn side(&self) -> Option<Side<'_>> {
        self.engine.side(self.device.device)
    }

    /// Classifies allocations by these category rules, until the current command ends.
    pub(crate) fn classify(&mut self, set: CategorySet) {
        self.engine.classify(set);
    }

    /// Finishes the engine's background work, so that all queries are available and fast.
    pub(crate) fn prepare(&mut self) {
        while self.engine.step(&mut cancellation::should_continue) == Work::More && cancellation::should_continue() {}
    }

    /// Sends a request and waits for its reply. Returns `None` if there is no reply or the work is cancelled.
    pub(crate) fn ask(&mut self, request: Request) -> Option<Reply> {
        self.engine.request(request);
        loop {
            let work = self.engine.step(&mut cancellation::should_continue);
            let reply = self.engine.next_reply();
            if reply.is_some() || work == Work::Idle || !cancellation::should_continue() {
                return reply;
            }
        }
    }

    /// Returns the heading of text output, such as `a.pickle · GPU 0`.
    pub(crate) fn heading(&self) -> String {
        let range = loaded_range(&self.device).map_or_else(String::new, |range| [" · ", &range].concat());
        format!("{} · {}{range}", printable(&self.summary.file), device_name(&self.device))
    }

    /// Builds the JSON output of a command: fields common to all commands, followed by `fields`.
    pub(crate) fn document(&self, fields: Value) -> Value {
        let other = |device: &DeviceSummary| json!({"device": device.device, "ooms": device.oom_count()});
        let head = json!({
            "schema": self.summary.schema,
            "file": self.summary.file,
            "device": self.device.device,
            "other_devices": self.others().map(other).collect::<Vec<Value>>(),
        });
        with_fields(head, fields)
    }

    pub(crate) fn others(&self) -> impl Iterator<Item = &DeviceSummary> {
        self.summary.devices.iter().filter(|device| device.device != self.device.device)
    }

    /// Returns the last line of text output, which lists the other devices and their OOMs. Empty if the user selected a
    /// device or there is only one.
    pub(crate) fn other_devices_line(&self) -> String {
        if self.is_device_chosen || self.others().next().is_none() {
            return String::new();
        }
        let has_oom = self.summary.devices.iter().any(|device| device.oom_count() > 0);
        let other = |device: &DeviceSummary| {
            let peak = Bytes(device.drawn_peak);
            let oom = match device.oom_count() {
                0 if has_oom => ", no OOM".to_owned(),
                0 => String::new(),
                ooms => format!(", {}", pluralize(ooms, "OOM")),
            };
            format!("{} (peak {peak}{oom})", device_name(device))
        };
        let others: Vec<String> = self.others().map(other).collect();
        format!("\nOther devices (see --device): {}\n", others.join(", "))
    }

    /// Returns the moment with the peak of live bytes.
    pub(crate) fn peak(&self) -> u32 {
        self.device.peak_moment().0
    }

    /// Returns the state of memory at a position in the trace.
    ///
    /// # Errors
    /// Returns an error message if the trace has no such position.
    pub(crate) fn facts_at(&mut self, when: TracePosition) -> Result<MomentFacts, String> {
        let at = match when {
            TracePosition::Peak => MomentSpec::Moment(self.peak()),
            TracePosition::ReservedPeak if self.device.has_reserved() => MomentSpec::PeakReserved,
            TracePosition::ReservedPeak => return Err("no segments recorded: reserved bytes are unknown".to_owned()),
            TracePosition::OutOfMemory if self.device.oom_count() > 0 => MomentSpec::OutOfMemory,
            TracePosition::OutOfMemory => return Err("no OOM in this trace".to_owned()),
            TracePosition::End => MomentSpec::Moment(u32::MAX),
            TracePosition::Event(event)
                if self.device.loaded.is_some_and(|(first, _)| event < i64::from(first) - 1) =>
            {
                return Err(self.not_loaded(event));
            }
            TracePosition::Event(event) if event < self.device.events as i64 => {
                MomentSpec::Moment(Moment::after_event_or_minus_one(event).0)
            }
            TracePosition::Event(event) => return Err(self.no_event(event)),
            TracePosition::Time(clock) => self.at_time(self.time(clock)?, Edge::Included)?,
            TracePosition::Named(named) => MomentSpec::After(named),
        };
        self.moment_facts(at)
    }

    fn not_loaded(&self, event: i64) -> String {
        let range = loaded_range(&self.device).unwrap_or_default();
        format!("event {} is not loaded: {range}", group_digits(event.unsigned_abs()))
    }

    fn no_event(&self, event: i64) -> String {
        if self.device.loaded.is_some_and(|(_, behind)| behind > 0) {
            return self.not_loaded(event);
        }
        match self.device.events.checked_sub(1) {
            None => format!("no event {event}: the trace is empty"),
            Some(last) => {
                format!("no event {}: the last is {}", group_digits(event.unsigned_abs()), group_digits(last))
            }
        }
    }

    /// Converts a time to µs since 1970.
    ///
    /// # Errors
    /// Returns an error message if the file has no recorded times.
    pub(crate) fn time(&self, clock: TimeArg) -> Result<i64, String> {
        let (first, _) = self.times()?;
        Ok(match clock {
            TimeArg::Since1970(us) => us,
            TimeArg::SinceFirst(us) => first.saturating_add_unsigned(us),
        })
    }

    fn times(&self) -> Result<(i64, i64), String> {
        self.device.time_us.ok_or("the trace has no timestamps (PyTorch 2.2 and later record them)".to_owned())
    }

    /// Returns the moment after all events before `us` (µs since 1970). `edge` specifies if events at exactly that time
    /// are included.
    ///
    /// # Errors
    /// Returns an error message if the file has no recorded times.
    pub(crate) fn at_time(&self, us: i64, edge: Edge) -> Result<MomentSpec, String> {
        let (first, last) = self.times()?;
        let margin = time_axis_margin(last.abs_diff(first)) as f64;
        let half = match edge {
            Edge::Included => 0.5,
            Edge::Excluded => -0.5,
        };
        Ok(MomentSpec::X(Axis::Time, us.saturating_sub(first) as f64 + margin + half))
    }

    /// Sends a query about the selected device. Returns `None` if there is no result.
    pub(crate) fn ask_device(&mut self, what: Question) -> Option<Answer> {
        let ask = Ask { serial: 0, device: self.device.device, question: what };
        match self.ask(Request::Ask(ask))? {
            Reply::Answer { answer, .. } => Some(answer),
            _ => None,
        }
    }

    /// Computes several insights on a device. Returns `None` if the work is cancelled.
    pub(crate) fn reports(&mut self, device: i64, questions: &[ReportQuestion]) -> Option<Vec<Report>> {
        let cancelled = CancelFlag::current();
        self.engine.reports(device, questions, &|| !cancelled.is_set())
    }

    /// Returns the state of memory at a moment.
    ///
    /// # Errors
    /// Returns an error message if the moment does not exist.
    pub(crate) fn moment_facts(&mut self, at: MomentSpec) -> Result<MomentFacts, String> {
        let moments = ask_device!(self, Moments(vec![at]));
        moments.and_then(|moments| moments.first().copied()).ok_or("no such event".to_owned())
    }
}

/// Fetches the first `wanted` rows of a list, in as many requests as needed. `ask` requests a page, given the first row
/// and the number of rows. `rows` returns a page's rows and the total number of rows.
pub(crate) fn fetch_rows<P, R>(
    wanted: u32,
    rows: fn(&mut P) -> (&mut Vec<R>, u32),
    mut ask: impl FnMut([u32; 2]) -> Option<Box<P>>,
) -> Option<Box<P>> {
    let mut whole = ask([0, wanted])?;
    loop {
        let (known, count) = rows(&mut whole);
        let first = known.len() as u32;
        if first >= wanted.min(count) {
            return Some(whole);
        }
        let mut next = ask([first, wanted - first])?;
        let (next, _) = rows(&mut next);
        if next.is_empty() {
            return Some(whole);
        }
        known.append(next);
    }
}

/// Inclusion of events at exactly a given time: before the moment (included) or after it (excluded).
pub(crate) enum Edge {
    Included,
    Excluded,
}

/// Returns the device with the given ordinal, or the default device. The error lists the available devices.
pub(crate) fn select_device(summary: &FileSummary, wanted: Option<i64>) -> Result<&DeviceSummary, String> {
    let found = match wanted {
        Some(wanted) => summary.devices.iter().find(|device| device.device == wanted),
        None => summary.devices.get(summary.default_device()),
    };
    found.ok_or_else(|| {
        let devices: Vec<String> = summary.devices.iter().map(|device| device.device.to_string()).collect();
        match devices.len() {
            0 => {
                "no device has events or segments: enable recording with torch.cuda.memory._record_memory_history() before the \
                 code to profile"
                    .to_owned()
            }
            _ => format!("no such device; available: {}", devices.join(", ")),
        }
    })
}
