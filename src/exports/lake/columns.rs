//! The columns of the five tables, version 1. Columns may be added; a column never changes its meaning or unit.

use super::rows::{OomRow, SiteRow, SiteUseRow, SnapshotRow, StepRow};
use analysis::place::RULES_VERSION;

/// A column of a table of rows of type `R`.
#[derive(Clone, Copy, Debug)]
pub struct Column<R> {
    pub key: &'static str,
    pub cell: CellFn<R>,
}

/// Type of a column's values, and the function that returns the cell of a row. Any cell may be empty.
#[derive(Clone, Copy, Debug)]
pub enum CellFn<R> {
    /// A signed number of 64 bits, because some engines have no unsigned ones. Larger values saturate.
    Int(fn(&R) -> Option<i64>),
    Text(for<'a> fn(&'a R) -> Option<&'a str>),
    /// A time in µs since 1970.
    Time(fn(&R) -> Option<i64>),
}

use CellFn::{Int, Text, Time};

const fn column<R>(key: &'static str, cell: CellFn<R>) -> Column<R> {
    Column { key, cell }
}

fn int(number: u64) -> Option<i64> {
    Some(i64::try_from(number).unwrap_or(i64::MAX))
}

/// One row for each device of a snapshot, and one for a file that could not be read.
pub const SNAPSHOT: &[Column<SnapshotRow>] = &[
    column("batch", Text(|row| Some(&row.key.batch))),
    column("snapshot", Text(|row| Some(&row.key.snapshot))),
    column("device", Int(|row| row.key.device)),
    column("sha256", Text(|row| row.object.sha256.as_deref())),
    column("url", Text(|row| row.object.url.as_deref())),
    column("version", Text(|row| row.object.version.as_deref())),
    column("bytes", Int(|row| row.object.bytes)),
    column("modified", Time(|row| row.object.modified_us)),
    column("member", Text(|row| row.object.member.as_deref())),
    column("job", Text(|row| row.object.job.as_deref())),
    column("rank", Int(|row| row.object.rank)),
    column("step", Int(|row| row.object.step)),
    column("host", Text(|row| row.object.host.as_deref())),
    column("reason", Text(|row| row.object.reason.as_deref())),
    column("attempt", Int(|row| row.attempt)),
    column("git", Text(|row| row.git.as_deref())),
    column("status", Text(|row| Some(&row.object.status))),
    column("error", Text(|row| row.object.error.as_deref())),
    column("torch", Text(|row| row.torch.as_deref())),
    column("device_name", Text(|row| row.device_name.as_deref())),
    column("capacity_bytes", Int(|row| row.capacity_bytes)),
    column("events", Int(|row| row.events)),
    column("ooms", Int(|row| row.ooms)),
    column("base_bytes", Int(|row| row.base_bytes)),
    column("peak_bytes", Int(|row| row.peak_bytes)),
    column("end_bytes", Int(|row| row.end_bytes)),
    column("peak_reserved_bytes", Int(|row| row.peak_reserved_bytes)),
    column("end_reserved_bytes", Int(|row| row.end_reserved_bytes)),
    column("idle_at_reserved_peak_bytes", Int(|row| row.idle_at_reserved_peak_bytes)),
    column("conf", Text(|row| row.conf.as_deref())),
    column("settings", Text(|row| row.settings.as_deref())),
    column("verdict", Text(|row| row.verdict.as_deref())),
    column("survey_version", Int(|_| Some(RULES_VERSION))),
];

/// Memory by snapshot, device and call site.
pub const SITE_USE: &[Column<SiteUseRow>] = &[
    column("batch", Text(|row| Some(&row.key.batch))),
    column("snapshot", Text(|row| Some(&row.key.snapshot))),
    column("device", Int(|row| row.key.device)),
    column("site", Text(|row| Some(&row.site))),
    column("category", Text(|row| row.category.as_deref())),
    column("peak_bytes", Int(|row| int(row.sums.peak_bytes))),
    column("peak_count", Int(|row| int(row.sums.peak_count))),
    column("oom_bytes", Int(|row| int(row.sums.oom_bytes))),
    column("kept_bytes", Int(|row| int(row.sums.kept_bytes))),
    column("total_bytes", Int(|row| int(row.sums.total_bytes))),
    column("total_count", Int(|row| int(row.sums.total_count))),
];

/// Call sites of a batch, each once.
pub const SITE: &[Column<SiteRow>] = &[
    column("batch", Text(|row| Some(&row.batch))),
    column("site", Text(|row| Some(&row.site))),
    column("place", Text(|row| Some(&row.place))),
    column("file", Text(|row| Some(&row.file))),
    column("line", Int(|row| Some(row.line))),
    column("function", Text(|row| Some(&row.function))),
];

/// Failed requests.
pub const OOM: &[Column<OomRow>] = &[
    column("batch", Text(|row| Some(&row.key.batch))),
    column("snapshot", Text(|row| Some(&row.key.snapshot))),
    column("device", Int(|row| row.key.device)),
    column("event", Int(|row| Some(row.record.event.into()))),
    column("requested_bytes", Int(|row| int(row.record.requested_bytes))),
    column("live_bytes", Int(|row| int(row.record.live_bytes))),
    column("reserved_bytes", Int(|row| int(row.record.reserved_bytes))),
    column("device_free_bytes", Int(|row| row.record.device_free_bytes.and_then(int))),
    column("idle_bytes", Int(|row| row.record.idle_bytes.and_then(int))),
    column("outside_bytes", Int(|row| row.record.outside_bytes.and_then(int))),
    column("largest_hole_bytes", Int(|row| row.record.largest_hole_bytes.and_then(int))),
    column("kind", Text(|row| Some(row.record.kind.name()))),
    column("site", Text(|row| Some(&row.site))),
    column("signature", Text(|row| Some(&row.signature))),
    column("verdict", Text(|row| row.verdict.as_deref())),
];

/// Training steps.
pub const STEP: &[Column<StepRow>] = &[
    column("batch", Text(|row| Some(&row.key.batch))),
    column("snapshot", Text(|row| Some(&row.key.snapshot))),
    column("device", Int(|row| row.key.device)),
    column("step", Int(|row| Some(row.step))),
    column("begin_us", Int(|row| row.begin_us)),
    column("end_us", Int(|row| row.end_us)),
    column("peak_bytes", Int(|row| int(row.peak_bytes))),
    column("end_bytes", Int(|row| Some(row.end_bytes))),
    column("end_reserved_bytes", Int(|row| Some(row.end_reserved_bytes))),
];
