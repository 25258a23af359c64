//! Parses the lines typed at the SQL prompt, including dot commands.

/// A parsed line of input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line of an SQL statement, which may span several lines.
    Sql(&'a str),
    Query(String),
    Schema(Option<&'a str>),
    Mode(&'a str),
    Save(&'a str),
    Canned(Option<&'a str>),
    Help,
    Quit,
    Error(String),
}

/// Builds a query for the allocations whose stack contains a text in any frame.
pub(super) fn find_query(text: &str) -> String {
    let pattern = regex_lite::escape(text).replace('\'', "''");
    format!(
        "SELECT device, id, human(requested_bytes) AS size, category, allocated_at, freed_at, call_site \
         FROM allocation WHERE frame_match(stack, '{pattern}') ORDER BY requested_bytes DESC LIMIT 200"
    )
}

/// Builds a query for one allocation and its stack.
pub(super) fn show_query(id: u32) -> String {
    format!(
        "SELECT a.device, a.id, human(a.requested_bytes) AS size, a.category, a.allocated_at, a.freed_at, f.position, \
         f.function, f.file, f.line FROM allocation a LEFT JOIN frame f ON f.stack = a.stack WHERE a.id = {id} \
         ORDER BY a.device, f.position"
    )
}

/// Parses a line. Dot commands begin with `.`. SnapViewer's forms of these commands begin with `--`.
pub(super) fn parse(line: &str) -> Line<'_> {
    let trimmed = line.trim();
    let (command, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
    let rest = rest.trim().trim_end_matches(';');
    let some = Some(rest).filter(|rest| !rest.is_empty());
    let needs = |what: &str| Line::Error(format!("{command} needs {what}"));
    match command {
        ".help" | "--help" => Line::Help,
        ".schema" | "--schema" => Line::Schema(some),
        ".quit" | ".exit" => Line::Quit,
        ".canned" => Line::Canned(some),
        ".mode" => some.map_or_else(|| needs("text, csv or json"), Line::Mode),
        ".save" => some.map_or_else(|| needs("a file"), Line::Save),
        ".find" | "--find" => some.map_or_else(|| needs("a text"), |text| Line::Query(find_query(text))),
        ".show" | "--show" => {
            let id = rest.trim_start_matches('#').parse().ok();
            id.map_or_else(|| needs("the number of an allocation"), |id| Line::Query(show_query(id)))
        }
        _ if command.starts_with('.') => Line::Error(format!("no command {command}: .help lists them")),
        _ => Line::Sql(line),
    }
}

/// Output of `.help`.
pub(super) const HELP: &str = "\
SELECT …;            a statement ends with a semicolon, and may have several lines
.schema [TABLE]      tables, their columns, functions
.canned [N]          queries that are ready made; run one of them
.find TEXT           allocations with this text in any frame of their stack
.show N              an allocation and its stack
.mode text|csv|json  how rows are printed
.save FILE           all tables as a file of SQLite's
.help                this list
.quit                leave (also Ctrl+D)
Tab completes tables, columns and functions; Ctrl+C stops a query.
";

#[cfg(test)]
#[path = "../../../tests/units/cli/sql_lines.rs"]
mod tests;
