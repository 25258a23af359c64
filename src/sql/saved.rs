//! The statements that write the tables into a file of SQLite's.

use crate::catalog::Catalog;
use crate::schema::TABLES;
use sqlite::Kind;

/// What is looked up in the file most: by which columns.
const INDEXES: [(&str, &str); 7] = [
    ("allocation", "device, id"),
    ("allocation", "stack"),
    ("event", "device, event"),
    ("curve", "device, event"),
    ("stack", "stack"),
    ("frame", "stack"),
    ("block", "segment"),
];

/// `CREATE TABLE`, `INSERT` and indexes of each table, in the schema `saved`.
pub(crate) fn statements(catalog: &Catalog) -> Vec<String> {
    let is_function = |name: &str| TABLES.iter().any(|table| table.name == name && !table.arguments.is_empty());
    let mut statements = Vec::new();
    for (name, columns) in catalog.tables().filter(|(name, _)| !is_function(name)) {
        let defined = columns.iter().map(|column| {
            let kind = if column.kind == Kind::Integer { "INTEGER" } else { "TEXT" };
            format!("{} {kind}", column.name)
        });
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        statements.push(format!("CREATE TABLE saved.{name}({})", defined.collect::<Vec<_>>().join(", ")));
        // Ours is in no schema, so it is found under any that has no table of this name.
        statements.push(format!("INSERT INTO saved.{name} SELECT {} FROM main.{name}", names.join(", ")));
    }
    let index = |(number, (table, columns)): (usize, &(&str, &str))| {
        format!("CREATE INDEX saved.{table}_{number} ON {table}({columns})")
    };
    statements.extend(INDEXES.iter().enumerate().map(index));
    statements
}
