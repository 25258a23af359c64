//! The table `meta`: facts about the file, its devices and allocator settings.

use crate::rows::{OwnColumn, RowRequest, RowScope, RowSet, Rows};
use crate::source::{At, Source};
use protocol::{DeviceSummary, FileSummary};
use sqlite::Kind;

/// Table of facts, with a row for each device and key.
#[derive(Default)]
pub(super) struct Meta {
    rows: Vec<(Option<i64>, String, MetaValue)>,
}

pub(super) enum MetaValue {
    Number(i64),
    Text(String),
}

fn of_file(summary: &FileSummary) -> Vec<(Option<i64>, String, MetaValue)> {
    let text = |key: &str, value: &str| (None, key.to_owned(), MetaValue::Text(value.to_owned()));
    let mut rows = vec![text("file", &summary.file), text("format", &summary.format)];
    rows.extend(summary.torch.iter().map(|torch| text("torch", torch)));
    rows.push((None, "schema".to_owned(), MetaValue::Number(summary.schema.into())));
    rows.extend(summary.settings.iter().map(|(key, value)| text(&["setting.", key].concat(), value)));
    rows.extend(summary.warnings.iter().map(|warning| text(&["warning.", &warning.kind].concat(), &warning.message)));
    rows.extend(summary.devices.iter().flat_map(of_device));
    rows
}

fn of_device(device: &DeviceSummary) -> Vec<(Option<i64>, String, MetaValue)> {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let mut rows = vec![
        ("events", number(device.events)),
        ("allocations", number(device.allocations)),
        ("baseline_bytes", device.base_requested),
        ("peak_live_bytes", number(device.drawn_peak)),
        ("peak_event", device.peak_event),
        ("end_live_bytes", number(device.end_requested)),
        ("peak_reserved_bytes", device.peak_reserved),
        ("end_reserved_bytes", number(device.reserved_end)),
        ("segments", number(device.segments)),
        ("annotations", number(device.annotations)),
        ("ooms", number(device.oom_count())),
    ];
    if let Some((first, last)) = device.time_us {
        rows.extend([("first_time_us", first), ("last_time_us", last)]);
    }
    rows.into_iter().map(|(key, value)| (Some(device.device), key.to_owned(), MetaValue::Number(value))).collect()
}

impl Rows for Meta {
    type Item<'a> = &'a (Option<i64>, String, MetaValue);

    const SCOPE: RowScope = RowScope::File;
    const COLUMNS: &'static [OwnColumn<Self>] = &[
        ("device", Kind::Integer, |_, (device, ..)| (*device).into()),
        ("key", Kind::Text, |_, (_, key, _)| key.as_str().into()),
        ("value", Kind::Text, |_, (.., value)| match value {
            MetaValue::Number(value) => (*value).into(),
            MetaValue::Text(text) => text.as_str().into(),
        }),
    ];
    const KEY_COLUMN: Option<usize> = None;

    fn count(_: &Source) -> u64 {
        50
    }

    fn prepare(&mut self, source: &Source, part: usize, _: &RowRequest) -> Result<RowSet, String> {
        self.rows = source.file_of(part).map_or_else(Vec::new, |file| of_file(&file.summary));
        Ok(RowSet::Range(0..self.rows.len() as u32))
    }

    fn item<'a>(&'a self, at: &At<'a>) -> Option<Self::Item<'a>> {
        self.rows.get(at.row as usize)
    }
}
