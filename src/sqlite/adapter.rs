//! Adapter between [`Table`] and SQLite's virtual tables. Contains the only unsafe code of the project.
#![allow(unsafe_code, reason = "SQLite's virtual tables are C structures; each use states its safety conditions")]

use crate::cell::{Cell, Value};
use crate::guard::Guard;
use crate::table::{Bound, Cursor, Filter, Kind, SeekColumn, Table};
use rusqlite::types::{Null, ToSqlOutput, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor, sqlite3_vtab,
    sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Error, Result};
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_int};
use std::rc::Rc;

/// Wrapper that makes a value `Send`, as interfaces of rusqlite require, although the value never leaves its thread.
pub(crate) struct Local<T>(T);

// SAFETY: the value is only reachable through its connection, which belongs to a `Database`. A `Database` is neither
// `Send` nor `Sync` (`Database::of_thread`).
unsafe impl<T> Send for Local<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Local<T> {}

impl<T> Local<T> {
    pub(crate) fn new(value: T) -> Local<T> {
        Local(value)
    }

    pub(crate) fn get(&self) -> &T {
        &self.0
    }
}

/// Sets the maximum memory that SQLite may use in this process, in bytes.
pub(crate) fn limit_memory(bytes: u64) {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    // SAFETY: it takes a number and may be called at any time from any thread.
    unsafe { rusqlite::ffi::sqlite3_hard_heap_limit64(bytes) };
}

/// Registers a table under a name. `guard` stops queries that exceed their limits.
pub(crate) fn add(connection: &Connection, name: &str, table: Rc<dyn Table>, guard: Rc<Guard>) -> Result<()> {
    const MODULE: Module<'static, VirtualTable> = Module::eponymous_only_module();
    connection.create_module(name, &MODULE, Some(Local::new((table, guard))))
}

/// Virtual table in SQLite's memory layout.
#[repr(C)]
struct VirtualTable {
    /// Must be the first field, because SQLite uses a pointer to it as a pointer to the structure.
    base: sqlite3_vtab,
    table: Rc<dyn Table>,
    guard: Rc<Guard>,
    seeks: Vec<SeekColumn>,
}

/// Cursor of a virtual table. Its base must be the first field, because SQLite uses a pointer to it as a pointer to the
/// structure.
#[repr(C)]
struct TableCursor {
    base: sqlite3_vtab_cursor,
    cursor: Box<dyn Cursor>,
    guard: Rc<Guard>,
    row: i64,
}

// SAFETY: `Adapter` is `repr(C)`, and its first field is a `sqlite3_vtab`.
unsafe impl VTab<'_> for VirtualTable {
    type Aux = Local<(Rc<dyn Table>, Rc<Guard>)>;
    type Cursor = TableCursor;

    fn connect(
        connection: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _arguments: &[&[u8]],
    ) -> Result<(Cow<'static, CStr>, Self)> {
        let (table, guard) = aux.ok_or_else(|| module_error("a table without rows"))?.get();
        connection.config(VTabConfig::Innocuous)?;
        let columns = table.columns();
        let columns = columns.iter().map(|column| {
            let kind = if column.kind == Kind::Integer { "INTEGER" } else { "TEXT" };
            [column.name, " ", kind, if column.hidden { " HIDDEN" } else { "" }].concat()
        });
        let schema = format!("CREATE TABLE x({})", columns.collect::<Vec<_>>().join(", "));
        let schema = CString::new(schema).map_err(|_| module_error("a column with a zero byte in its name"))?;
        let (table, guard, seeks) = (table.clone(), guard.clone(), table.seeks());
        Ok((Cow::Owned(schema), VirtualTable { base: sqlite3_vtab::default(), table, guard, seeks }))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<bool> {
        let mut rows = self.table.row_count() as f64 + 1.0;
        let (mut plan, mut values, mut fixed) = (String::new(), 0, Vec::new());
        for (constraint, mut usage) in info.constraints_and_usages() {
            let column = usize::try_from(constraint.column()).ok();
            let Some(seek) = self.seeks.iter().find(|seek| Some(seek.column) == column) else { continue };
            let bound = match constraint.operator() {
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Bound::Equal,
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => {
                    Bound::AtLeast
                }
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT | IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => {
                    Bound::AtMost
                }
                _ => continue,
            };
            if !constraint.is_usable() {
                // A table function needs its arguments first, because its rows depend on them.
                if seek.is_argument && bound == Bound::Equal {
                    return Ok(false);
                }
                continue;
            }
            if bound != Bound::Equal && (!seek.has_bounds || seek.is_argument) {
                continue;
            }
            values += 1;
            usage.set_argv_index(values);
            // SQLite rechecks all other conditions, because it knows how to compare texts with numbers.
            usage.set_omit(seek.is_argument);
            let operator = match bound {
                Bound::Equal => '=',
                Bound::AtLeast => '>',
                Bound::AtMost => '<',
            };
            plan += &format!("{operator}{} ", seek.column);
            rows *= if bound == Bound::Equal { seek.share } else { 0.3 };
            if bound == Bound::Equal {
                fixed.push(seek.column);
            }
        }
        info.set_idx_str(&plan);
        info.set_estimated_cost(rows.max(1.0) + 1.0);
        info.set_estimated_rows(rows.clamp(1.0, 1e15) as i64);
        let order: Vec<usize> = self.table.order().into_iter().filter(|column| !fixed.contains(column)).collect();
        let wanted: Vec<(usize, bool)> = info
            .order_bys()
            .map(|by| (usize::try_from(by.column()).unwrap_or(usize::MAX), by.is_order_by_desc()))
            .filter(|(column, _)| !fixed.contains(column))
            .collect();
        let is_ordered = !wanted.is_empty()
            && wanted.len() <= order.len()
            && wanted.iter().zip(&order).all(|(&(column, is_descending), &known)| column == known && !is_descending);
        info.set_order_by_consumed(is_ordered);
        Ok(true)
    }

    fn open(&mut self) -> Result<TableCursor> {
        let (cursor, guard) = (self.table.open(), self.guard.clone());
        Ok(TableCursor { base: sqlite3_vtab_cursor::default(), cursor, guard, row: 0 })
    }
}

// SAFETY: `Reading` is `repr(C)`, and its first field is a `sqlite3_vtab_cursor`.
unsafe impl VTabCursor for TableCursor {
    fn filter(&mut self, _number: c_int, plan: Option<&str>, values: &Filters<'_>) -> Result<()> {
        // Preparing a table takes no SQLite instruction, so the progress handler would not check the time.
        if self.guard.must_stop() {
            return Err(module_error("interrupted"));
        }
        let plan = plan.unwrap_or_default().split_whitespace();
        let filters: Vec<Filter<'_>> = plan
            .zip(values.iter())
            .filter_map(|(step, value)| {
                let (operator, column) = step.split_at_checked(1)?;
                let bound = match operator {
                    "=" => Bound::Equal,
                    ">" => Bound::AtLeast,
                    _ => Bound::AtMost,
                };
                Some(Filter { column: column.parse().ok()?, bound, value: to_value(value) })
            })
            .collect();
        self.row = 0;
        self.cursor.rewind(&filters).map_err(module_error)
    }

    fn next(&mut self) -> Result<()> {
        self.row += 1;
        self.cursor.advance();
        Ok(())
    }

    fn eof(&self) -> bool {
        self.cursor.is_at_end()
    }

    fn column(&self, context: &mut Context, column: c_int) -> Result<()> {
        match self.cursor.cell(usize::try_from(column).unwrap_or(usize::MAX)) {
            Cell::Null => context.set_result(Null),
            Cell::Integer(value) => context.set_result(value),
            Cell::Real(value) => context.set_result(value),
            Cell::Text(text) => context.set_result(ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()))),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row)
    }
}

/// Converts a value from SQLite.
pub(crate) fn to_value(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => std::str::from_utf8(text).map_or(Value::Blob(text), Value::Text),
        ValueRef::Blob(bytes) => Value::Blob(bytes),
    }
}

/// Creates an rusqlite error with this message.
pub(crate) fn module_error(what: impl Into<String>) -> Error {
    Error::ModuleError(what.into())
}
