//! `memscape sql`: runs SQL queries on one snapshot, on two snapshots, or on the snapshots of many ranks.

mod answer;
mod clock;
mod lines;
mod prompt;
mod save;
mod sources;

use crate::rules::CategoryRules;
use crate::terminal::wrap_to_terminal;
use answer::OutputFormat;
use clap::Args;
use clock::now_ms;
pub(crate) use save::save_snapshot;
use sql::{Limits, Queries};
use std::path::{Path, PathBuf};

/// Arguments of `memscape sql`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Sql {
    /// Snapshot to read, "-" for standard input; or a folder with the snapshots of many ranks, which adds a column rank
    pub(crate) file: PathBuf,
    /// SELECT statement; if omitted, statements are read from the terminal or standard input (.help lists its commands)
    pub(crate) query: Option<String>,
    /// Second snapshot: tables have the rows of both and a column "side" with the value A or B
    #[arg(long, value_name = "FILE")]
    pub(crate) with: Option<PathBuf>,
    /// List allocations with this text in any frame of their stack, largest first
    #[arg(long, value_name = "TEXT", conflicts_with = "query")]
    pub(crate) find: Option<String>,
    /// Show the allocation with this number, and its stack
    #[arg(long, value_name = "N", conflicts_with_all = ["query", "find"])]
    pub(crate) show: Option<u32>,
    /// Print tables and columns
    #[arg(long, conflicts_with_all = ["query", "find", "show"])]
    pub(crate) schema: bool,
    /// Seconds after which a query is stopped; 0: no limit
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub(crate) timeout: u64,
    /// Memory that queries may take beside the snapshot, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u64).range(8..1 << 20))]
    pub(crate) memory: u64,
    #[command(flatten)]
    pub(crate) rules: CategoryRules,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

impl Sql {
    /// Returns true if the arguments contain a query. Standard input is then not read.
    pub(crate) fn is_complete(&self) -> bool {
        self.query.is_some() || self.find.is_some() || self.show.is_some() || self.schema
    }

    fn inputs(&self) -> Vec<&Path> {
        [Some(&*self.file), self.with.as_deref()].into_iter().flatten().collect()
    }

    /// Runs the query from the arguments, or reads statements until the input ends.
    ///
    /// # Errors
    /// Returns an error message if a file cannot be read or the query fails.
    pub(crate) fn run(&self) -> Result<(), String> {
        let source = sources::open(&self.file, self.with.as_deref(), &self.rules)?;
        let limits = Limits { seconds: self.timeout, memory: self.memory << 20 };
        let queries = Queries::new(source, now_ms, limits).map_err(|error| error.to_string())?;
        let format = match (self.json, self.csv) {
            (true, _) => OutputFormat::Json,
            (_, true) => OutputFormat::Csv,
            _ => OutputFormat::Text,
        };
        if self.schema {
            return super::output::print(&wrap_to_terminal(&sql::schema_text(queries.catalog(), None)));
        }
        let found = self.find.as_deref().map(lines::find_query);
        let shown = self.show.map(lines::show_query);
        match self.query.clone().or(found).or(shown) {
            Some(query) => answer::print(&queries, &query, format),
            None => prompt::run(queries, format, &self.inputs()),
        }
    }
}
