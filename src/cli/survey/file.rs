//! Surveys one file: its SHA-256, and the rows of each device of each snapshot in it.

use super::list::{Entry, shortened};
use super::tables::Tables;
use crate::cancellation::CancelFlag;
use crate::input::Input;
use crate::opening::open_with;
use engine::Engine;
use exports::lake::{DeviceRows, Key, Object, SnapshotRow, device_rows, id_of_text};
use protocol::{FileSummary, Member, NeededBytes, ReportQuestion, Topic};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Number of characters of a SHA-256 that identify a snapshot.
const ID_CHARS: usize = 16;
/// Maximum number of findings about an OOM that are stored.
const MAX_FINDINGS: usize = 3;

/// A file that could not be read: its status, and the reason.
struct Failure(&'static str, String);

impl Failure {
    fn apply(&self, object: &mut Object) {
        object.status = self.0.to_owned();
        object.error = Some(shortened(&self.1));
    }
}

/// Surveys a file and adds its rows. A file that cannot be read gets one row. Returns the status of the file.
pub(super) fn survey_file(
    entry: Entry,
    batch: &Arc<str>,
    roots: &[String],
    memory: u64,
    tables: &mut Tables,
) -> Object {
    let (path, mut object) = entry.into_object();
    let Some(path) = path else {
        tables.snapshots.push(row_without_device(batch, &object));
        return object;
    };
    let mut rows = Vec::new();
    match read(&path, &mut object, batch, roots, memory, &mut rows) {
        Ok(()) => rows.into_iter().for_each(|rows| tables.add(rows)),
        Err(failure) => {
            failure.apply(&mut object);
            tables.snapshots.push(row_without_device(batch, &object));
        }
    }
    object
}

/// Returns the row of a file that has no device or could not be read.
fn row_without_device(batch: &Arc<str>, object: &Object) -> SnapshotRow {
    SnapshotRow {
        key: Key { batch: batch.clone(), snapshot: id(object), device: None },
        object: object.clone(),
        ..SnapshotRow::default()
    }
}

/// Returns the id of a snapshot. A file that was not read is identified by its address and version.
fn id(object: &Object) -> Arc<str> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    match (&object.sha256, &object.member) {
        (Some(sha256), None) => sha256.get(..ID_CHARS).unwrap_or_default().into(),
        (Some(sha256), Some(member)) => id_of_text(&[sha256, member]).into(),
        (None, _) => id_of_text(&[&text(&object.url), &text(&object.version)]).into(),
    }
}

/// Reads a file and adds the rows of all devices of all snapshots in it.
fn read(
    path: &Path,
    object: &mut Object,
    batch: &Arc<str>,
    roots: &[String],
    memory: u64,
    rows: &mut Vec<DeviceRows>,
) -> Result<(), Failure> {
    let mut input = Input::open(path).map_err(|error| from_io(&error))?;
    // Hashing needs a second pass over the bytes.
    input.copy_to_file().map_err(|error| from_io(&error))?;
    let bytes = hash(&mut input, object).map_err(|error| from_io(&error))?;
    object.bytes = object.bytes.or(i64::try_from(bytes).ok());
    if bytes == 0 {
        return Err(Failure("empty", "the file is empty".to_owned()));
    }
    let mut members: Vec<Member> = Vec::new();
    let mut open = |member, members: &mut Vec<Member>| {
        open_with(Engine::with_memory_limit(memory), &mut input, "", member, members, false).map_err(|error| {
            let is_too_big = error.starts_with("not enough memory");
            let error = error.replace("Use the command line", "Use a larger --memory");
            Failure(if is_too_big { "too_big" } else { "decode" }, error)
        })
    };
    let first = open(None, &mut members);
    if members.len() < 2 {
        let (summary, engine) = first?;
        add_snapshot(&summary, engine, object, batch, roots, rows);
        return Ok(());
    }
    let mut first = Some(first);
    let mut counts = HashMap::new();
    for (member, place) in members.into_iter().zip(0..) {
        let mut object = Object { member: Some(numbered(member.name, &mut counts)), ..object.clone() };
        match first.take().unwrap_or_else(|| open(Some(place), &mut Vec::new())) {
            Ok((summary, engine)) => add_snapshot(&summary, engine, &object, batch, roots, rows),
            Err(failure) => {
                failure.apply(&mut object);
                let snapshot = row_without_device(batch, &object);
                rows.push(DeviceRows { snapshot, ..DeviceRows::default() });
            }
        }
    }
    Ok(())
}

/// Returns the name of a member of an archive, with a number if it is not the first with this name: names are a part of
/// the ids of snapshots. `counts` has the number of members with each name so far.
fn numbered(name: String, counts: &mut HashMap<String, usize>) -> String {
    let count = counts.entry(name.clone()).or_default();
    *count += 1;
    if *count == 1 {
        return name;
    }
    // A member may have the name with the number itself.
    let numbered_name = format!("{name} ({count})");
    numbered(numbered_name, counts)
}

/// Reads the whole file, stores its SHA-256 in `object`, and returns its length.
fn hash(input: &mut Input, object: &mut Object) -> io::Result<u64> {
    let (mut digest, mut bytes) = (Sha256::new(), 0);
    input.rewind()?;
    loop {
        let chunk = input.chunk(NeededBytes::Next)?;
        if chunk.is_empty() {
            break;
        }
        bytes += chunk.len() as u64;
        digest.update(chunk);
    }
    let mut text = String::with_capacity(64);
    for byte in digest.finalize() {
        // Writing to a String never fails.
        let _ = write!(text, "{byte:02x}");
    }
    object.sha256 = Some(text);
    Ok(bytes)
}

fn from_io(error: &io::Error) -> Failure {
    let status = match error.kind() {
        io::ErrorKind::NotFound => "gone",
        io::ErrorKind::PermissionDenied => "denied",
        _ => "read",
    };
    Failure(status, error.to_string())
}

/// Adds the rows of an open snapshot.
fn add_snapshot(
    summary: &FileSummary,
    mut engine: Engine,
    object: &Object,
    batch: &Arc<str>,
    roots: &[String],
    rows: &mut Vec<DeviceRows>,
) {
    let key = Key { batch: batch.clone(), snapshot: id(object), device: None };
    let sorted: BTreeMap<&String, &String> = summary.settings.iter().map(|(name, value)| (name, value)).collect();
    let settings = if sorted.is_empty() { None } else { serde_json::to_string(&sorted).ok() };
    if summary.devices.is_empty() {
        let snapshot = SnapshotRow { settings: settings.clone(), ..row_without_device(batch, object) };
        rows.push(DeviceRows { snapshot, ..DeviceRows::default() });
    }
    for device in &summary.devices {
        let Some(side) = engine.side_for_sums(device.device) else { continue };
        let mut found = device_rows(side, device, &key, object, roots);
        found.snapshot.settings.clone_from(&settings);
        if !found.ooms.is_empty() {
            let findings = oom_findings(&mut engine, device.device);
            found.snapshot.verdict = findings.first().cloned();
            let all = Some(findings.join(" ")).filter(|text| !text.is_empty());
            found.ooms.iter_mut().for_each(|oom| oom.verdict.clone_from(&all));
        }
        rows.push(found);
    }
}

/// Returns the first findings of `memscape oom`: the request, what was live, and the largest call sites. The others
/// need plans and simulations, which would take most of the time.
fn oom_findings(engine: &mut Engine, device: i64) -> Vec<String> {
    let question = ReportQuestion {
        topic: Topic::OutOfMemory,
        rows: 1,
        simulations: Some(Box::default()),
        ..ReportQuestion::default()
    };
    let cancelled = CancelFlag::current();
    let reports = engine.reports(device, &[question], &|| !cancelled.is_set());
    let findings = reports.into_iter().flatten().flat_map(|report| report.statements).take(MAX_FINDINGS);
    findings.map(|finding| finding.text).collect()
}
