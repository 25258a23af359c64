//! Rows of one device of an open file.

use super::call_sites::{CallSites, holders, signature};
use super::rows::{Key, Object, OomRow, SiteRow, SiteUseRow, SnapshotRow, StepRow};
use base::slice::TimeSlice;
use base::units::Moment;
use engine::{Side, StepSearch, oom_records};
use protocol::{CAPACITY, DeviceSummary};

/// Maximum number of steps and of OOMs of a device that get a row.
const MAX_ROWS: usize = 10_000;
/// Maximum length of a text that the recorder wrote, in characters.
const MAX_CHARS: usize = 200;
/// Setting with the allocator's configuration.
const CONF: &str = "PYTORCH_CUDA_ALLOC_CONF";

/// Rows of one device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceRows {
    pub snapshot: SnapshotRow,
    pub uses: Vec<SiteUseRow>,
    pub sites: Vec<SiteRow>,
    pub ooms: Vec<OomRow>,
    pub steps: Vec<StepRow>,
}

/// Returns the rows of a device, without the verdicts. Needs
/// [`Engine::side_for_sums`](engine::Engine::side_for_sums).
/// Facts of the recorder replace those in the name of the file. `roots` are folders of the user's code.
pub fn device_rows(
    side: Side<'_>,
    summary: &DeviceSummary,
    key: &Key,
    object: &Object,
    roots: &[String],
) -> DeviceRows {
    let key = Key { device: Some(summary.device), ..key.clone() };
    let history = side.history;
    let mut sites = CallSites::new(side, roots);
    let records = oom_records(&side);
    let newest = records.last().map(|oom| Moment(oom.event.saturating_add(1)));
    let (peak, _) = history.live_peak();
    let sums = sites.rows(&key, peak, newest);
    let mut named = sums.sites;
    let holders = holders(&sums.places_at_oom);
    let mut ooms = Vec::new();
    for record in records.iter().rev().take(MAX_ROWS) {
        let requested_by = sites.of_stack(side.event_stack(record.event)).clone();
        let signature = signature(&requested_by.place, &holders);
        ooms.push(OomRow {
            key: key.clone(),
            record: *record,
            site: requested_by.site.clone(),
            signature,
            verdict: None,
        });
        named.push(requested_by);
    }
    ooms.reverse();
    DeviceRows {
        snapshot: snapshot_row(side, summary, key.clone(), object.clone()),
        uses: sums.uses,
        sites: named.iter().map(|named| named.row(&key)).collect(),
        ooms,
        steps: steps(side, &key),
    }
}

fn snapshot_row(side: Side<'_>, summary: &DeviceSummary, key: Key, mut object: Object) -> SnapshotRow {
    let (snapshot, history) = (side.snapshot(), side.history);
    let recorder = &snapshot.recorder;
    let text = |name: &str| recorder.fact(name).map(truncated).filter(|text| !text.is_empty());
    // Only digits: a file may contain anything under these keys.
    let number = |name: &str| recorder.fact(name)?.parse::<u32>().ok().map(i64::from);
    object.rank = number("rank").or(object.rank);
    object.step = recorder.fact("step").and_then(|step| step.parse().ok()).filter(|&step| step >= 0).or(object.step);
    object.host = text("host").or(object.host);
    object.reason = text("reason").or(object.reason);
    object.job = text("job").or(object.job);
    let reserved_peak = history.reserved_peak();
    let (most, live_then) = (history.reserved_at(reserved_peak), history.drawn_at(reserved_peak));
    let conf = snapshot.settings.iter().find(|(name, _)| name == CONF).map(|(_, value)| value.clone());
    SnapshotRow {
        key,
        object,
        attempt: number("attempt"),
        git: text("git"),
        torch: text("torch"),
        device_name: recorder.device_fact(summary.device, "name").map(truncated),
        capacity_bytes: summary.recorder_value(CAPACITY).map(signed),
        events: Some(signed(summary.events)),
        ooms: Some(signed(summary.oom_count())),
        base_bytes: Some(summary.base_requested),
        peak_bytes: Some(signed(summary.drawn_peak)),
        end_bytes: Some(signed(summary.end_requested)),
        peak_reserved_bytes: Some(summary.peak_reserved).filter(|_| summary.has_reserved()),
        end_reserved_bytes: Some(signed(summary.reserved_end)).filter(|_| summary.has_reserved()),
        idle_at_reserved_peak_bytes: (most > 0).then(|| most.saturating_sub(live_then)),
        conf,
        settings: None,
        verdict: None,
    }
}

fn steps(side: Side<'_>, key: &Key) -> Vec<StepRow> {
    let history = side.history;
    let has_time = &mut || true;
    let slice = &mut TimeSlice::new(has_time);
    let mut search = StepSearch::new(history.device);
    while search.step(&side, slice).is_err() {}
    let spans = search.spans().iter().take(MAX_ROWS).zip(0..);
    let row = |(span, step): (&protocol::Span, i64)| StepRow {
        key: key.clone(),
        step,
        begin_us: history.events.times.at(span.from),
        end_us: span.to.checked_sub(1).and_then(|last| history.events.times.at(last)),
        peak_bytes: side.peak_bytes_in(Moment(span.from), Moment(span.to)),
        end_bytes: history.drawn_at(Moment(span.to)),
        end_reserved_bytes: history.reserved_at(Moment(span.to)),
    };
    spans.map(row).collect()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn truncated(text: &str) -> String {
    text.chars().take(MAX_CHARS).collect()
}
