//! The SQL prompt: reads statements from a terminal, with history and completion, or from a pipe.

use super::answer::{self, OutputFormat};
use super::lines::{HELP, Line, parse};
use super::save::save;
use crate::output::{print, print_stderr};
use crate::output_file::OutputFile;
use crate::signals;
use crate::terminal::wrap_to_terminal;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use sql::{EXAMPLE_QUERIES, Queries, completions, schema_text};
use std::io::{self, BufRead, IsTerminal};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Completes the names of tables and columns and SQL keywords in rustyline.
struct SqlCompleter(Rc<Queries>);

impl Completer for SqlCompleter {
    type Candidate = String;

    fn complete(&self, line: &str, position: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let found = completions(self.0.catalog(), line, position);
        Ok((found.from, found.words))
    }
}

impl Helper for SqlCompleter {}
impl Highlighter for SqlCompleter {}
impl Validator for SqlCompleter {}

impl Hinter for SqlCompleter {
    type Hint = String;
}

/// Reads and runs statements until the input ends.
pub(super) fn run(queries: Queries, form: OutputFormat, inputs: &[&Path]) -> Result<(), String> {
    let queries = Rc::new(queries);
    let mut prompt = PromptState { queries: queries.clone(), form, inputs, statement: String::new() };
    if !io::stdin().is_terminal() {
        for line in io::stdin().lock().lines() {
            let line = line.map_err(|error| format!("standard input: {error}"))?;
            if prompt.process_line(&line)? == Next::Quit {
                return Ok(());
            }
        }
        // The last statement of a pipe needs no semicolon.
        return prompt.run_statement();
    }
    let cancel = queries.cancel();
    // rustyline handles Ctrl+C while a line is edited. This handler cancels a running query.
    if signals::handle(move |_| cancel.cancel()).is_err() {
        print_stderr("Ctrl+C ends the program");
    }
    let failed = |error: ReadlineError| error.to_string();
    let config = Config::builder().max_history_size(1000).map_err(failed)?.auto_add_history(false).build();
    let mut editor = Editor::<SqlCompleter, FileHistory>::with_config(config).map_err(failed)?;
    editor.set_helper(Some(SqlCompleter(queries)));
    let history = history_file();
    // The file does not exist on the first run.
    history.iter().for_each(|file| drop(editor.load_history(file)));
    print("Statements end with a semicolon. .help lists commands, .schema tables.\n")?;
    loop {
        let is_new = prompt.statement.trim().is_empty();
        match editor.readline(if is_new { "sql> " } else { "...> " }) {
            Ok(line) => {
                if !line.trim().is_empty() {
                    // Failing to record a line in the history is not worth an error.
                    let _ = editor.add_history_entry(&line);
                }
                match prompt.process_line(&line) {
                    Ok(Next::Quit) => break,
                    Ok(Next::Continue) => {}
                    Err(error) => print_stderr(&error),
                }
            }
            Err(ReadlineError::Interrupted) => prompt.statement.clear(),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    history.iter().for_each(|file| drop(editor.save_history(file)));
    Ok(())
}

/// Returns the path of the history file in the user's state folder. Creates the folder if necessary.
fn history_file() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || variable("HOME").or_else(|| variable("USERPROFILE")).map(|home| home.join(".local").join("state"));
    let folder = variable("XDG_STATE_HOME").or_else(home)?.join("memscape");
    std::fs::create_dir_all(&folder).ok()?;
    Some(folder.join("sql_history"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Continue,
    Quit,
}

/// State of the prompt: the statement typed so far, and the output format.
struct PromptState<'a> {
    queries: Rc<Queries>,
    form: OutputFormat,
    /// Paths of the open snapshots, which `.save` must not overwrite.
    inputs: &'a [&'a Path],
    statement: String,
}

impl PromptState<'_> {
    /// Handles a line: appends it to the statement, runs the statement once complete, or runs a dot command.
    fn process_line(&mut self, line: &str) -> Result<Next, String> {
        let line = if self.statement.trim().is_empty() { parse(line) } else { Line::Sql(line) };
        match line {
            Line::Sql(line) => {
                self.statement += line;
                self.statement += "\n";
                if line.trim_end().ends_with(';') {
                    self.run_statement()?;
                }
            }
            Line::Query(query) => answer::print(&self.queries, &query, self.form)?,
            Line::Schema(table) => print(&wrap_to_terminal(&schema_text(self.queries.catalog(), table)))?,
            Line::Help => print(&wrap_to_terminal(HELP))?,
            Line::Quit => return Ok(Next::Quit),
            Line::Error(error) => return Err(error),
            Line::Save(file) => save(&self.queries, &OutputFile::new(file, self.inputs)?)?,
            Line::Mode(name) => {
                self.form = match name {
                    "text" => OutputFormat::Text,
                    "csv" => OutputFormat::Csv,
                    "json" => OutputFormat::Json,
                    _ => return Err("expected .mode text, csv or json".to_owned()),
                }
            }
            Line::Canned(None) => {
                let list = EXAMPLE_QUERIES.iter().enumerate();
                let list: String = list.map(|(at, query)| format!("{:>3}  {}\n", at + 1, query.title)).collect();
                print(&list)?;
            }
            Line::Canned(Some(number)) => {
                let number = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
                let query =
                    number.and_then(|number| EXAMPLE_QUERIES.get(number)).ok_or("no such query: .canned lists them")?;
                print(&format!("{};\n", query.sql))?;
                answer::print(&self.queries, query.sql, self.form)?;
            }
        }
        Ok(Next::Continue)
    }

    /// Runs the statement typed so far, unless it is empty.
    fn run_statement(&mut self) -> Result<(), String> {
        let statement = std::mem::take(&mut self.statement);
        if statement.trim().is_empty() {
            return Ok(());
        }
        answer::print(&self.queries, &statement, self.form)
    }
}
