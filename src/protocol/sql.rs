//! Messages between the SQL tab and its worker.

use super::CategorySet;
use serde::{Deserialize, Serialize};

/// Request to the SQL worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SqlRequest {
    /// Opens a snapshot, or the snapshots A and B of a comparison. Their columns are in the attached buffers.
    Open {
        name: String,
        categories: Box<CategorySet>,
        /// True if B is in the file that was opened second.
        is_b_second: bool,
    },
    /// Requests the syntax of a query that is being edited, and suggestions for the word that ends at the byte offset
    /// `cursor`.
    Edit {
        serial: u32,
        text: String,
        cursor: Option<usize>,
    },
    Run(String),
    /// Sorts the result by the column with this index. Reverses the order if it is already sorted by this column.
    Sort(usize),
    /// Requests the next rows of the result.
    More,
    /// Requests a file, or text for the clipboard.
    Export(SqlFormat),
}

/// Files and texts that [`SqlRequest::Export`] can request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SqlFormat {
    /// All rows of the result as text for the clipboard, separated by tabs.
    Text,
    /// All rows of the result as CSV.
    Csv,
    /// All rows of the result as an SQLite file.
    Sqlite,
    /// The whole snapshot as a file for another tool, instead of the result.
    Snapshot(SqlFile),
}

base::listed! {
    /// Export of a whole snapshot that is written with SQL. The text is its name on the command line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum SqlFile {
        MindStudio = "mindstudio",
    }
}

impl SqlFile {
    /// Returns the name of the file that the page saves, and what the file contains.
    const fn row(self) -> [&'static str; 2] {
        match self {
            // MindStudio Insight recognizes `memscope_dump_` with a number.
            SqlFile::MindStudio => ["memscope_dump_1.db", "allocations and memory of the driver"],
        }
    }

    pub fn file_name(self) -> &'static str {
        self.row()[0]
    }

    /// Describes the contents of the file.
    pub fn contents(self) -> &'static str {
        self.row()[1]
    }
}

/// Reply of the SQL worker. Errors are messages for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SqlReply {
    Opened(Result<Schema, String>),
    /// Syntax and suggestions for [`SqlRequest::Edit`] with the same serial.
    Edited {
        serial: u32,
        tokens: Vec<Token>,
        completion: Completion,
    },
    Ran {
        query: String,
        result: Result<QueryResult, String>,
    },
    /// The first rows of the sorted result.
    Sorted {
        column: usize,
        is_descending: bool,
        rows: Vec<Row>,
    },
    /// The next rows of the result.
    More(Vec<Row>),
    /// The result as text for the clipboard.
    Text(String),
    /// The result as a file with this name, whose content is the attached buffer.
    File(Result<String, String>),
}

/// Tables, functions and ready-made queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    pub tables: Vec<SchemaTable>,
    /// Call syntax and description of each function.
    pub functions: Vec<(String, String)>,
    /// Title and text of each ready-made query.
    pub examples: Vec<(String, String)>,
}

/// Table, or table function, of the schema.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaTable {
    /// Name, with the arguments of a table function.
    pub call: String,
    pub about: String,
    /// Query that shows rows of the table.
    pub example: String,
    /// Name and description of each column. Descriptions may be empty.
    pub columns: Vec<(String, String)>,
}

/// Syntax class of a token, for highlighting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenClass {
    Plain,
    Keyword,
    /// Name of a table or column in the catalog.
    Known,
    Function,
    Number,
    Text,
    Comment,
}

/// Byte range and syntax class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
    pub from: usize,
    pub to: usize,
    pub class: TokenClass,
}

/// Suggestions for completing the word at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    /// Byte offset at which the word to replace starts.
    pub from: usize,
    /// Suggestions, the most likely first.
    pub words: Vec<String>,
}

/// Result of a query, with its first rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryResult {
    /// Name of each column, and whether all its cells are numbers or empty.
    pub columns: Vec<(String, bool)>,
    pub rows: Vec<Row>,
    /// Number of rows that the worker has.
    pub row_count: usize,
    /// True if the query has more rows than the worker keeps.
    pub is_cut: bool,
    /// Duration of the query.
    pub seconds: f64,
    /// Chart of the rows, if they form a series.
    pub chart: Option<Chart>,
}

/// Row of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Text of each cell. Long texts are cut.
    pub cells: Vec<String>,
    /// Allocation or event that the row is about.
    pub target: Option<RowTarget>,
}

/// Allocation or event that a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowTarget {
    /// Ordinal of the device. `None` for the shown device.
    pub device: Option<i64>,
    pub allocation: Option<u32>,
    pub event: Option<u32>,
}

/// Line chart of a series of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chart {
    /// Column and SVG path of each line. The chart is 1000 units wide and 100 units high.
    pub lines: Vec<(String, String)>,
    /// Ranges of the values and of the horizontal axis, as text.
    pub ranges: [String; 2],
}
