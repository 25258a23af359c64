//! Statements that copy all tables to an SQLite file.

use crate::catalog::Catalog;
use crate::schema::TABLES;
use sqlite::Kind;

/// Table and columns of each index that a saved file has, for common lookups.
const INDEXES: [(&str, &str); 7] = [
    ("allocation", "device, id"),
    ("allocation", "stack"),
    ("event", "device, event"),
    ("curve", "device, event"),
    ("stack", "stack"),
    ("frame", "stack"),
    ("block", "segment"),
];

/// Returns the `CREATE TABLE`, `INSERT` and `CREATE INDEX` statements that copy all tables to the schema `saved`.
pub(crate) fn statements(catalog: &Catalog) -> Vec<String> {
    let is_function = |name: &str| TABLES.iter().any(|table| table.name == name && !table.arguments.is_empty());
    let mut statements = Vec::new();
    for (name, columns) in catalog.tables().filter(|(name, _)| !is_function(name)) {
        let definitions = columns.iter().map(|column| {
            let kind = if column.kind == Kind::Integer { "INTEGER" } else { "TEXT" };
            format!("{} {kind}", column.name)
        });
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        statements.push(format!("CREATE TABLE saved.{name}({})", definitions.collect::<Vec<_>>().join(", ")));
        // Our tables have no schema, so they are found under any schema without a table of that name.
        statements.push(format!("INSERT INTO saved.{name} SELECT {} FROM main.{name}", names.join(", ")));
    }
    let index = |(number, (table, columns)): (usize, &(&str, &str))| {
        format!("CREATE INDEX saved.{table}_{number} ON {table}({columns})")
    };
    statements.extend(INDEXES.iter().enumerate().map(index));
    statements
}
