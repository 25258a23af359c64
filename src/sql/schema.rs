//! Descriptions of tables and columns, for `.schema` and the list next to the page's SQL editor.

use crate::catalog::Catalog;
use crate::functions::FUNCTIONS;

/// Name, arguments and meaning of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableDescription {
    pub name: &'static str,
    /// Arguments of a table function. Empty for an ordinary table.
    pub arguments: &'static str,
    pub about: &'static str,
}

const fn table(name: &'static str, arguments: &'static str, about: &'static str) -> TableDescription {
    TableDescription { name, arguments, about }
}

/// Descriptions of all tables.
pub const TABLES: [TableDescription; 15] = [
    table("allocation", "", "all allocations, those from before recording included"),
    table("event", "", "the trace, in order"),
    table("stack", "", "stacks of allocations, events, segments and blocks, with their innermost frame"),
    table("frame", "", "frames of each stack, the innermost at position 0"),
    table("segment", "", "reserved memory, range by range, from when to when"),
    table("block", "", "blocks of the segments at the end, as recorded"),
    table("annotation", "", "annotated ranges of time"),
    table("curve", "", "totals after each event; event −1 is before recording"),
    table("step", "", "training steps"),
    table("sample", "", "memory over time as sampled by the recorder, also outside the allocator"),
    table("phase", "", "forward, backward and optimizer phases of the steps"),
    table("meta", "", "the file, its devices and allocator settings"),
    table("live_at", "when", "allocations that are live at a moment"),
    table("tree", "when", "the call tree of what is live at a moment"),
    table("between", "from, to", "what was allocated or freed after one moment and up to another"),
];

/// Description of the `when` argument of table functions.
pub(crate) const WHEN: &str =
    "when: 'peak' (if omitted), 'reserved-peak', 'oom', 'end', or an event's number; −1 is before recording";

/// Name and description of each column whose name does not explain itself.
const NOTES: [(&str, &str); 20] = [
    ("id", "the number that a search for #123 finds"),
    ("requested_bytes", "bytes the program asked for"),
    ("allocated_rounded_bytes", "bytes of the block; a lower bound where the file has none"),
    ("reserved_bytes", "bytes taken from the driver"),
    ("live_bytes", "requested bytes that are live"),
    ("awaiting_free_bytes", "freed by the program, still in use by another stream"),
    ("allocated_at", "event; empty: allocated before recording"),
    ("freed_at", "event; empty: live at the end"),
    ("free_requested_at", "event"),
    ("delta_bytes", "adds up to the difference of live bytes"),
    ("stack", "a number of stack and frame"),
    ("allocation", "an id of allocation"),
    ("segment", "an id of segment"),
    ("held_by", "the Python object that holds it at the end, where the recorder found it"),
    (
        "outside_bytes",
        "device memory that is neither free nor reserved: context of the driver, collectives, other processes",
    ),
    ("paused_bytes", "reserved, but not on the device"),
    ("resident_bytes", "host memory of the process"),
    ("inferred", "1: from call stacks; 0: from an annotation"),
    ("user_metadata", "text of _set_memory_metadata, else of the newest annotation"),
    ("own_code", "1: neither of a library nor C++"),
];

/// Returns the description of a column. Empty if its name explains itself.
pub(crate) fn note(column: &str) -> &'static str {
    NOTES.iter().find(|(name, _)| *name == column).map_or("", |(_, note)| *note)
}

/// Describes the tables, their columns and the functions as text. `only` restricts the description to one table.
pub fn schema_text(catalog: &Catalog, only: Option<&str>) -> String {
    let mut text = String::new();
    for (name, columns) in catalog.tables() {
        let Some(described) = TABLES.iter().find(|table| table.name == *name) else { continue };
        if only.is_some_and(|only| only != *name) {
            continue;
        }
        let arguments =
            if described.arguments.is_empty() { String::new() } else { format!("({})", described.arguments) };
        text += &format!("{name}{arguments}  {}\n", described.about);
        for column in columns {
            // The key column of a table needs no reference to itself.
            let note = if column.name == *name { "" } else { note(column.name) };
            text += format!("    {:24} {note}", column.name).trim_end();
            text += "\n";
        }
    }
    if only.is_none() {
        text += &format!("\n{WHEN}\n\nFunctions\n");
        FUNCTIONS.iter().for_each(|(call, about)| text += &format!("    {call:28} {about}\n"));
    }
    text
}
