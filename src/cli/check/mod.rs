//! `memscape check`: checks snapshots against limits and a baseline, for CI. The exit status is 3 if a limit is
//! exceeded.

mod arguments;
mod baseline;
mod device;
mod json;
mod junit;
mod limits;
mod markdown;
mod snapshots;
mod text;
mod verdict;

use crate::output::{print, to_pretty_json};
use crate::output_file::OutputFile;
use crate::terminal::wrap_to_terminal;
use arguments::{By, ListedRanks};
use std::io::Write;
use std::process::ExitCode;
use verdict::Verdict;

pub(crate) use arguments::Arguments;

/// Renders a report as text.
type Render<'a> = &'a dyn Fn() -> Result<String, String>;

/// Exit status if a limit is exceeded.
const EXCEEDED: u8 = 3;

impl Arguments {
    /// Returns an error message if two outputs are the same file.
    pub(crate) fn conflict(&self) -> Option<String> {
        let outputs = [&self.json, &self.junit, &self.markdown].map(Option::as_ref);
        let pairs = [[0, 1], [0, 2], [1, 2]].map(|pair| pair.map(|index: usize| outputs.get(index).copied().flatten()));
        let is_same =
            |[one, other]: [Option<&OutputFile>; 2]| one.zip(other).is_some_and(|(one, other)| one.is_same(other));
        pairs.into_iter().any(is_same).then(|| "two outputs are the same file".to_owned())
    }

    /// Checks the snapshots, prints the result and writes the reports.
    ///
    /// # Errors
    /// Returns an error message for each snapshot that cannot be read, and for each report that cannot be written.
    pub(crate) fn run(&self) -> Result<ExitCode, Vec<String>> {
        let mut verdict = snapshots::check_all(self);
        if self.ranks == ListedRanks::Worst {
            verdict.keep_worst();
        }
        let mut errors: Vec<String> = verdict.errors.iter().map(|(file, error)| format!("{file}: {error}")).collect();
        errors.extend(self.write(&verdict).err());
        match (errors.is_empty(), verdict.is_exceeded) {
            (false, _) => Err(errors),
            (true, true) => Ok(ExitCode::from(EXCEEDED)),
            (true, false) => Ok(ExitCode::SUCCESS),
        }
    }

    /// Writes all reports. The text is printed unless a report is written to standard output.
    fn write(&self, verdict: &Verdict) -> Result<(), String> {
        let by = value_title(self.by);
        let reports: [(&Option<OutputFile>, Render<'_>); 3] = [
            (&self.json, &|| Ok(to_pretty_json(&json::as_json(verdict, &self.limits(), self.by)))),
            (&self.junit, &|| junit::as_junit(verdict)),
            (&self.markdown, &|| Ok(markdown::as_markdown(verdict, by))),
        ];
        let outputs = || reports.iter().filter_map(|(out, text)| Some((out.as_ref()?, text)));
        if !outputs().any(|(out, _)| out.is_standard_output()) {
            print(&wrap_to_terminal(&text::as_text(verdict)))?;
        }
        for (out, text) in outputs() {
            let wrong = |error: std::io::Error| format!("{}: {error}", out.path().display());
            let text = text()?;
            if out.is_standard_output() {
                print(&text)?;
            } else {
                let mut file = out.create().map_err(wrong)?;
                file.write_all(text.as_bytes()).and_then(|()| file.finish()).map_err(wrong)?;
            }
        }
        Ok(())
    }
}

/// Returns the plural of a grouping, for headings.
fn value_title(by: By) -> &'static str {
    match by {
        By::Function => "functions",
        By::Line => "call sites",
        By::File => "files",
        By::Module => "modules",
    }
}
