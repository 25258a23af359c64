//! The names that a query may use: tables and their columns.

use sqlite::Column;

/// The tables and the columns that `SELECT *` gives.
pub struct Catalog(Vec<(&'static str, Vec<Column>)>);

impl Catalog {
    /// Of these tables.
    pub(crate) fn of(tables: impl Iterator<Item = (&'static str, Vec<Column>)>) -> Catalog {
        let shown = |(name, columns): (&'static str, Vec<Column>)| {
            (name, columns.into_iter().filter(|column| !column.hidden).collect())
        };
        Catalog(tables.map(shown).collect())
    }

    /// Each table with its columns.
    pub fn tables(&self) -> impl Iterator<Item = &(&'static str, Vec<Column>)> {
        self.0.iter()
    }
}
