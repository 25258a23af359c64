//! A row of the event list, as values and as a line of text.

use crate::copying::{hexadecimal, number, pool, write_fields};
use crate::moments::elapsed_us;
use crate::open::OpenFile;
use analysis::site;
use base::units::{EventIdx, Moment};
use history::replay::Curve;
use history::snapshot::{Action, FrameId, UNKNOWN_FREE};
use protocol::EventRow;

/// Header line with the names of the fields that are written by [`write_line`].
pub(super) const HEADER: &str = "event\taction\ttime_us\tsince_us\tsize_bytes\taddress\tversion\tdevice_free_bytes\tstream\tpool\tallocation\t\
active_bytes\tawaiting_free_bytes\treserved_bytes\tcall_site\n";

/// Returns a row of the event list, and the frame of its call site if known. `None` if there is no such device or
/// event.
fn row_and_frame(file: &mut OpenFile, device: i64, event: u32) -> Option<(EventRow, Option<FrameId>)> {
    let side = file.side(device).filter(|side| event < side.history.event_count())?;
    let history = side.history;
    let (action, moment) = (history.events.action(event), Moment::after(EventIdx(event)));
    let (address, size) = history.address_and_size(EventIdx(event));
    let has_address = action.requires_address() || (action != Action::Oom && address != 0);
    let positive = |bytes: i64| u64::try_from(bytes).unwrap_or(0);
    let pending = |event| history.awaiting_free_change(event);
    let before = event.checked_sub(1).map(EventIdx);
    let row = EventRow {
        event,
        action: action as u8,
        time_us: history.events.times.at(event),
        since_us: before.and_then(|before| elapsed_us(history, before, EventIdx(event))),
        size,
        address: has_address.then_some(address),
        version: side.version_of(event),
        device_free: (action == Action::Oom && address != UNKNOWN_FREE).then_some(address),
        stream: side.event_stream(event),
        pool: side.event_pool(event),
        allocation: history.allocation_of(EventIdx(event)).map(|id| id.0),
        call_site: String::new(),
        active: positive(history.drawn_at(moment)),
        awaiting_free: positive(Curve::new(&history.awaiting_free, &pending).at(moment)),
        reserved: positive(history.reserved_at(moment)),
        matches: false,
    };
    let stack = side.event_stack(event);
    Some((row, file.sites.call_site(&file.snapshot, stack)))
}

/// Returns a row of the list, with its call site in short form.
pub(super) fn row(file: &mut OpenFile, device: i64, event: u32, search_serial: Option<u32>) -> Option<EventRow> {
    let (mut row, frame) = row_and_frame(file, device, event)?;
    row.call_site = frame.map_or_else(String::new, |frame| site::short_truncated(&file.snapshot, frame));
    let found = file.found.as_ref().filter(|found| Some(found.serial) == search_serial && found.device == device);
    row.matches = found.zip(row.allocation).is_some_and(|(found, id)| found.matches.contains(id));
    Some(row)
}

/// Appends a row as a line of text. Unknown values are empty.
pub(super) fn write_line(text: &mut String, file: &mut OpenFile, device: i64, event: u32) {
    let Some((row, frame)) = row_and_frame(file, device, event) else { return };
    let fields = [
        number(Some(row.event)),
        Action::ALL.get(usize::from(row.action)).map(|action| action.name().to_owned()),
        number(row.time_us),
        number(row.since_us),
        number(Some(row.size)),
        hexadecimal(row.address),
        number(row.address.map(|_| row.version)),
        number(row.device_free),
        hexadecimal(row.stream),
        pool(row.pool),
        number(row.allocation),
        number(Some(row.active)),
        number(Some(row.awaiting_free)),
        number(Some(row.reserved)),
    ];
    write_fields(text, fields, &file.snapshot, frame);
}
