//! `memscape survey`: reads a list of files, each once, and writes the rows of the five tables of a lake. The Python
//! package runs it for every batch of files (`src/python/memscape/fleet`).

mod file;
mod list;
mod tables;

use super::file_survey::default_memory_bytes;
use super::input::Input;
use super::output::print;
use super::output_file::OutputFile;
use super::ranks_survey::parse_memory;
use clap::Args;
use file::survey_file;
use list::Entry;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tables::{Format, TableName, Tables};

/// Arguments of `memscape survey`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Arguments {
    /// Format of the five tables: snapshot, site_use, site, oom and step
    #[arg(long, value_name = "FORMAT", default_value = "lake")]
    to: Format,
    /// List of files, "-" for standard input; a line is a JSON object
    ///
    /// Keys: path; url, version, bytes, modified_us and job, which are copied to the rows; status and error, for a file
    /// that is known to be unreadable. The next line is read when the previous file is done.
    #[arg(long, value_name = "FILE")]
    list: PathBuf,
    /// Folder for the tables, which is created
    #[arg(short = 'o', long = "tables", value_name = "FOLDER")]
    folder: PathBuf,
    /// Name of the batch, which is copied to every row
    #[arg(long, value_name = "NAME", default_value = "")]
    batch: String,
    /// Folder of the program's source code, so that call sites in it are equal on all machines; may be repeated
    #[arg(long = "root", value_name = "FOLDER")]
    roots: Vec<String>,
    /// Memory that may be used to read a file; a larger file gets the status too_big. If omitted, half of the free
    /// memory
    #[arg(long, value_name = "BYTES", value_parser = parse_memory)]
    memory: Option<u64>,
}

impl Arguments {
    /// Surveys the files of the list. Prints a line of JSON for each file, and one with the numbers of rows at the end.
    /// A file that cannot be read is a row with a status.
    ///
    /// # Errors
    /// Returns an error message if the list cannot be read, or the tables cannot be written or would overwrite the
    /// list or a listed file.
    pub(crate) fn run(&self) -> Result<(), String> {
        let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
        let batch: Arc<str> = self.batch.as_str().into();
        let memory = self.memory.unwrap_or_else(default_memory_bytes);
        let mut tables = Tables::default();
        let outputs = TableName::ALL.map(|table| OutputFile::in_folder(&self.folder, &self.to.file_name(table)));
        let refuse = |input: &Path| outputs.iter().try_for_each(|output| output.reject_inputs(&[input]));
        refuse(&self.list)?;
        let list = Input::open(&self.list).map_err(|error| named(&self.list, error))?;
        for (line, number) in BufReader::new(list.into_reader()).lines().zip(1..) {
            let line = line.map_err(|error| named(&self.list, error))?;
            if line.trim().is_empty() {
                continue;
            }
            let entry = Entry::parse(&line).map_err(|error| format!("{}:{number}: {error}", self.list.display()))?;
            entry.path.as_deref().map_or(Ok(()), refuse)?;
            let object = survey_file(entry, &batch, &self.roots, memory, &mut tables);
            let done = json!({"url": object.url, "status": object.status, "error": object.error});
            print(&format!("{done}\n"))?;
        }
        std::fs::create_dir_all(&self.folder).map_err(|error| named(&self.folder, error))?;
        let counts = tables.write(self.to, &|name| OutputFile::in_folder(&self.folder, name))?;
        print(&format!("{}\n", json!({"batch": self.batch, "rows": counts})))
    }
}
