//! Rows of the Allocations table, as data and as text.

use crate::copying::{hexadecimal, number, pool, write_fields};
use crate::moments::elapsed_us;
use crate::open::OpenFile;
use crate::origin::{site_with_name, stack_of};
use analysis::site;
use base::units::{EventIdx, Moment};
use history::replay::{AllocationId, Provenance};
use history::snapshot::FrameId;
use protocol::TableRow;

/// Header line with the names of the fields that are written by [`write_line`].
pub(super) const HEADER: &str = "id\trequested_bytes\taddress\tstream\tpool\tallocated_event\tallocated_us\tage_events\tage_us\tfreed_event\tfreed_us\t\
lifetime_events\tlifetime_us\tcall_site\n";

/// Returns a row without its call site, and the frame of the call site if known. `None` if the device is unknown.
fn row_facts(file: &mut OpenFile, device: i64, moment: u32, id: u32) -> Option<(TableRow, Option<FrameId>)> {
    let history = file.histories.iter().find(|history| history.device == device)?;
    let (allocation, id) = (id, AllocationId(id));
    let source = history.allocations.provenance(id);
    let allocated_at = match source {
        Provenance::AllocatedBy(event) => Some(event),
        _ => None,
    };
    let (first_moment, freed_at, requested) = history.allocations.span(id);
    let freed = history.allocations.freed_at(id).and_then(Moment::event);
    let time = |event: u32| history.events.times.at(event);
    let until = moment.min(freed_at);
    let elapsed = |to: Option<EventIdx>| {
        allocated_at.zip(to).and_then(|(allocated_at, to)| elapsed_us(history, allocated_at, to))
    };
    let frame = file.sites.call_site(&file.snapshot, stack_of(&file.snapshot, history, id));
    let row = TableRow {
        allocation,
        requested,
        address: (source != Provenance::Unexplained).then(|| history.allocations.address(id)),
        stream: file.groups.stream(&file.snapshot, history, id),
        pool: file.groups.pool(&file.snapshot, history, id),
        allocated_at: allocated_at.map(|event| event.0),
        allocated_us: allocated_at.and_then(|event| time(event.0)),
        freed: freed.map(|event| event.0),
        freed_us: freed.and_then(|event| time(event.0)),
        age: until.saturating_sub(first_moment),
        age_us: elapsed(Moment(until).event()),
        lifetime_us: elapsed(freed),
        call_site: String::new(),
        matches: false,
    };
    Some((row, frame))
}

/// Returns a row of the table, including its call site.
pub(super) fn row(
    file: &mut OpenFile,
    device: i64,
    moment: u32,
    id: u32,
    search_serial: Option<u32>,
) -> Option<TableRow> {
    let (mut row, frame) = row_facts(file, device, moment, id)?;
    let site = frame.map_or_else(String::new, |frame| site::short_truncated(&file.snapshot, frame));
    row.call_site = match file.history(device) {
        Some(history) => site_with_name(&file.snapshot, history, AllocationId(id), site),
        None => site,
    };
    let found = file.found.as_ref().filter(|found| Some(found.serial) == search_serial && found.device == device);
    row.matches = found.is_some_and(|found| found.matches.contains(id));
    Some(row)
}

/// Appends a row as a line of tab-separated text. Unknown values are empty.
pub(super) fn write_line(text: &mut String, file: &mut OpenFile, device: i64, moment: u32, id: u32) {
    let Some((row, frame)) = row_facts(file, device, moment, id) else { return };
    let lifetime = row.freed.zip(row.allocated_at).map(|(freed, from)| i64::from(freed) - i64::from(from));
    let fields = [
        number(Some(row.allocation)),
        number(Some(row.requested)),
        hexadecimal(row.address),
        hexadecimal(row.stream),
        pool(row.pool),
        number(row.allocated_at),
        number(row.allocated_us),
        // The age of an allocation made before recording is unknown.
        number(row.allocated_at.map(|_| row.age)),
        number(row.age_us),
        number(row.freed),
        number(row.freed_us),
        number(lifetime),
        number(row.lifetime_us),
    ];
    write_fields(text, fields, &file.snapshot, frame);
}
