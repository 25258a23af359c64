//! Table and column names that a query may use.

use sqlite::Column;

/// Tables and the columns that `SELECT *` returns.
pub struct Catalog(Vec<(&'static str, Vec<Column>)>);

impl Catalog {
    /// Creates a catalog of these tables, without their hidden columns.
    pub(crate) fn new(tables: impl Iterator<Item = (&'static str, Vec<Column>)>) -> Catalog {
        let shown = |(name, columns): (&'static str, Vec<Column>)| {
            (name, columns.into_iter().filter(|column| !column.hidden).collect())
        };
        Catalog(tables.map(shown).collect())
    }

    /// Returns each table with its columns.
    pub fn tables(&self) -> impl Iterator<Item = &(&'static str, Vec<Column>)> {
        self.0.iter()
    }
}
