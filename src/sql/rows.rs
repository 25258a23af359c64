//! Adapter between this crate's tables and [`sqlite::Table`]. Rows are read one device (or file) at a time.

use crate::source::{At, Source};
use crate::when::TracePosition;
use engine::tables::{self, ValueType};
use sqlite::{Bound, Cell, Column, Cursor, Filter, Kind, SeekColumn, Table, Value};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Source of a table's rows: each device has its own, or each file as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowScope {
    Device,
    File,
}

/// Row indices within a device or file, as a range or a list.
#[derive(Clone, Debug)]
pub(crate) enum RowSet {
    Range(std::ops::Range<u32>),
    List(Rc<Vec<u32>>),
}

impl RowSet {
    pub(crate) const NONE: RowSet = RowSet::Range(0..0);

    /// Returns the rows whose keys are in `keys`. The keys of `rows` are consecutive, from `first` on.
    pub(crate) fn keyed(rows: std::ops::Range<u32>, first: i64, keys: &RangeInclusive<i64>) -> RowSet {
        let row = |key: i64| rows.start + key.saturating_sub(first).clamp(0, rows.len() as i64) as u32;
        let (from, to) = (row(*keys.start()), row(keys.end().saturating_add(1)));
        RowSet::Range(from..to.max(from))
    }

    fn row(&self, at: u32) -> Option<u32> {
        match self {
            RowSet::Range(range) => range.start.checked_add(at).filter(|row| *row < range.end),
            RowSet::List(list) => list.get(at as usize).copied(),
        }
    }
}

/// Rows that a query requests from a table: a range of keys, and the table function's arguments.
pub(crate) struct RowRequest {
    pub(crate) keys: RangeInclusive<i64>,
    pub(crate) arguments: Vec<Option<TracePosition>>,
}

/// Name, type and cell of a column.
pub(crate) type OwnColumn<R> = (&'static str, Kind, for<'a> fn(&At<'a>, <R as Rows>::Item<'a>) -> Cell<'a>);

/// Contents of a table, implemented by each SQL table of this crate.
pub(crate) trait Rows: Default + 'static {
    /// A row of a table with [`Rows::COLUMNS`].
    type Item<'a>;

    const SCOPE: RowScope;
    /// Columns except `device` and those of the engine.
    const COLUMNS: &'static [OwnColumn<Self>] = &[];
    /// Columns that the engine declares. They follow the others.
    const DECLARED: &'static [tables::Column] = &[];
    /// Index of the key column, whose values ascend within each device.
    const KEY_COLUMN: Option<usize>;
    /// Names of the hidden columns that contain the arguments of a table function.
    const ARGUMENTS: &'static [&'static str] = &[];

    /// Returns the approximate number of rows.
    fn count(source: &Source) -> u64;

    /// Selects the rows that match the request in a device or file. `part` is the index of the device.
    fn prepare(&mut self, source: &Source, part: usize, wanted: &RowRequest) -> Result<RowSet, String>;

    /// Returns the row that the cells of [`Rows::COLUMNS`] describe.
    fn item<'a>(&'a self, _: &At<'a>) -> Option<Self::Item<'a>> {
        None
    }

    /// Returns the row that the cells of [`Rows::DECLARED`] describe.
    fn row<'a>(&'a self, _: &'a Source, _part: usize, _row: u32) -> Option<tables::Row<'a>> {
        None
    }
}

fn to_cell(value: tables::Value<'_>) -> Cell<'_> {
    match value {
        tables::Value::Empty => Cell::Null,
        tables::Value::Unsigned(number) => number.into(),
        tables::Value::Signed(number) => number.into(),
        tables::Value::Bool(flag) => flag.into(),
        tables::Value::Text(text) => text.into(),
    }
}

/// Adapter that lets SQLite read a table from a source.
pub(crate) struct TableAdapter<R> {
    source: Rc<Source>,
    rows: PhantomData<R>,
}

impl<R: Rows> TableAdapter<R> {
    pub(crate) fn new(source: &Rc<Source>) -> Rc<TableAdapter<R>> {
        Rc::new(TableAdapter { source: source.clone(), rows: PhantomData })
    }
}

/// Returns the index of the first column in [`Rows::COLUMNS`]. The columns of a table are, in this order: device (if
/// any), its own columns, those of the engine, arguments, side, rank.
const fn first_own<R: Rows>() -> usize {
    if matches!(R::SCOPE, RowScope::Device) { 1 } else { 0 }
}

fn first_argument<R: Rows>() -> usize {
    first_own::<R>() + R::COLUMNS.len() + R::DECLARED.len()
}

fn side_column<R: Rows>() -> usize {
    first_argument::<R>() + R::ARGUMENTS.len()
}

impl<R: Rows> Table for TableAdapter<R> {
    fn columns(&self) -> Vec<Column> {
        let [has_sides, has_ranks] = self.source.has_labels();
        let device = Column { name: "device", kind: Kind::Integer, hidden: false };
        let own_columns = R::COLUMNS.iter().map(|&(name, kind, _)| Column { name, kind, hidden: false });
        let declared = R::DECLARED.iter().map(|column| {
            let kind = if column.value_type() == ValueType::Text { Kind::Text } else { Kind::Integer };
            Column { name: column.key, kind, hidden: false }
        });
        let arguments = R::ARGUMENTS.iter().map(|&name| Column { name, kind: Kind::Text, hidden: true });
        let side = Column { name: "side", kind: Kind::Text, hidden: !has_sides };
        let rank = Column { name: "rank", kind: Kind::Integer, hidden: !has_ranks };
        let first = (R::SCOPE == RowScope::Device).then_some(device);
        first.into_iter().chain(own_columns).chain(declared).chain(arguments).chain([side, rank]).collect()
    }

    fn seeks(&self) -> Vec<SeekColumn> {
        let parts = 1.0 / self.source.parts.len().max(1) as f64;
        let files = 1.0 / self.source.files.len().max(1) as f64;
        let seek = |column, share| SeekColumn { column, has_bounds: false, share, is_argument: false };
        let mut seeks: Vec<SeekColumn> = (first_argument::<R>()..side_column::<R>())
            .map(|column| SeekColumn { is_argument: true, ..seek(column, 1.0) })
            .collect();
        seeks.extend((R::SCOPE == RowScope::Device).then(|| seek(0, parts)));
        seeks.extend([seek(side_column::<R>(), files), seek(side_column::<R>() + 1, files)]);
        let rows = R::count(&self.source).max(1) as f64;
        let key = |key| SeekColumn { has_bounds: true, ..seek(first_own::<R>() + key, 1.0 / rows) };
        seeks.extend(R::KEY_COLUMN.map(key));
        seeks
    }

    fn order(&self) -> Vec<usize> {
        // The key does not order the rows of several files.
        if self.source.files.len() > 1 {
            return Vec::new();
        }
        let device = (R::SCOPE == RowScope::Device && self.source.parts.len() > 1).then_some(0);
        device.into_iter().chain(R::KEY_COLUMN.map(|key| first_own::<R>() + key)).collect()
    }

    fn row_count(&self) -> u64 {
        R::count(&self.source)
    }

    fn open(&self) -> Box<dyn Cursor> {
        let wanted = RowRequest { keys: i64::MIN..=i64::MAX, arguments: Vec::new() };
        let (parts, rows, set) = (Vec::new(), R::default(), RowSet::NONE);
        Box::new(RowCursor { source: self.source.clone(), wanted, parts, rows, next_part: 0, set, at: 0, here: None })
    }
}

/// Cursor over the rows of several devices or files.
struct RowCursor<R> {
    source: Rc<Source>,
    wanted: RowRequest,
    /// Indices of the devices to read.
    parts: Vec<usize>,
    next_part: usize,
    rows: R,
    set: RowSet,
    at: u32,
    /// Current row: index of the device in [`Source::parts`], and index of the row. `None` after the last row.
    here: Option<(usize, u32)>,
}

impl<R: Rows> RowCursor<R> {
    /// Restricts the rows by a filter. Returns false if no row can match.
    fn apply_filter(&mut self, filter: &Filter<'_>) -> Result<bool, String> {
        let Filter { column, bound, value } = *filter;
        let source = &self.source;
        if (first_argument::<R>()..side_column::<R>()).contains(&column) {
            if let Some(slot) = self.wanted.arguments.get_mut(column - first_argument::<R>()) {
                *slot = Some(TracePosition::parse(value)?);
            }
            return Ok(true);
        }
        if value == Value::Null {
            return Ok(false);
        }
        if Some(column) == R::KEY_COLUMN.map(|key| first_own::<R>() + key) {
            let (from, to) = (*self.wanted.keys.start(), *self.wanted.keys.end());
            let below = |value: f64| value.floor().clamp(i64::MIN as f64, i64::MAX as f64) as i64;
            let bounds = match value {
                Value::Integer(value) => Some((value, value)),
                Value::Real(value) => Some((below(value), below(value.ceil()))),
                // SQLite compares other types itself.
                _ => None,
            };
            if let Some((low, high)) = bounds {
                self.wanted.keys = match bound {
                    Bound::Equal => from.max(low)..=to.min(high),
                    Bound::AtLeast => from.max(low)..=to,
                    Bound::AtMost => from..=to.min(high),
                };
            }
            return Ok(true);
        }
        let label = |part: usize| source.file_of(part).map(|file| &file.label);
        let (number, text) = (value.integer(), value.text());
        // SQLite filters values of other types itself.
        if R::SCOPE == RowScope::Device && column == 0 && number.is_some() {
            self.parts.retain(|&part| source.parts.get(part).map(|part| part.device) == number);
        } else if column == side_column::<R>() && text.is_some() {
            self.parts.retain(|&part| label(part).is_some_and(|label| label.side == text));
        } else if column == side_column::<R>() + 1 && number.is_some() {
            self.parts.retain(|&part| label(part).is_some_and(|label| label.rank.map(i64::from) == number));
        }
        Ok(true)
    }

    /// Moves to the next row that exists, if necessary in a later device or file.
    fn seek_row(&mut self) -> Result<(), String> {
        loop {
            if let (Some(row), Some(&part)) = (self.set.row(self.at), self.parts.get(self.next_part.wrapping_sub(1))) {
                self.here = Some((part, row));
                return Ok(());
            }
            let Some(&part) = self.parts.get(self.next_part) else {
                self.here = None;
                return Ok(());
            };
            self.next_part += 1;
            self.at = 0;
            self.set = match self.rows.prepare(&self.source, part, &self.wanted) {
                Ok(set) => set,
                // The event may exist on another device.
                Err(_) if self.parts.len() > 1 => RowSet::NONE,
                Err(why) => return Err(why),
            };
        }
    }
}

impl<R: Rows> Cursor for RowCursor<R> {
    fn rewind(&mut self, filters: &[Filter<'_>]) -> Result<(), String> {
        self.wanted = RowRequest { keys: i64::MIN..=i64::MAX, arguments: vec![None; R::ARGUMENTS.len()] };
        (self.set, self.at, self.next_part, self.here) = (RowSet::NONE, 0, 0, None);
        self.parts = match R::SCOPE {
            RowScope::Device => (0..self.source.parts.len()).collect(),
            RowScope::File => self.source.files.iter().filter_map(|file| file.parts.clone().next()).collect(),
        };
        for filter in filters {
            if !self.apply_filter(filter)? {
                self.parts.clear();
            }
        }
        self.seek_row()
    }

    fn advance(&mut self) {
        self.at += 1;
        match (self.set.row(self.at), &mut self.here) {
            (Some(row), Some((_, here))) => *here = row,
            // An event missing on this device is no error if an earlier one had it.
            _ => drop(self.seek_row()),
        }
    }

    fn is_at_end(&self) -> bool {
        self.here.is_none()
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        let Some((part, row)) = self.here else { return Cell::Null };
        if let Some(index) = column.checked_sub(first_own::<R>()) {
            if let Some((.., cell)) = R::COLUMNS.get(index) {
                return self.source.at(part, row).and_then(|at| Some(cell(&at, self.rows.item(&at)?))).into();
            }
            if let Some(column) = R::DECLARED.get(index - R::COLUMNS.len()) {
                return self.rows.row(&self.source, part, row).map_or(Cell::Null, |row| to_cell(column.value(&row)));
            }
        }
        let label = self.source.file_of(part).map(|file| &file.label);
        match column.checked_sub(side_column::<R>()) {
            Some(0) => label.and_then(|label| label.side).into(),
            Some(1) => label.and_then(|label| label.rank).into(),
            _ if column == 0 => self.source.parts.get(part).map(|part| part.device).into(),
            _ => Cell::Null,
        }
    }
}
