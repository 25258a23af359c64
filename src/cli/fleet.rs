//! `memscape fleet`: surveys and queries many snapshots. It is part of the Python package.

use super::run::run_module;
use clap::Args;
use std::ffi::OsString;

/// Help text for the actions, which are defined in `src/python/memscape/_fleet_options.py`.
const ACTIONS: &str = "\
Actions:
  survey URL... LAKE   Read the snapshots below these addresses that the lake does not have yet
  ask LAKE QUESTION    Answer a question by name, or in SQL
  report LAKE          Write a page without scripts
  open URL             Open a stored snapshot, or run another command on it
  views LAKE           Print the views as SQL
  compact LAKE         Register and merge the parts of the lake as Delta tables

Needs the Python package with extras: pip install 'memscape[fleet]', and s3, gcs, azure, ray or delta.
For the options of an action: memscape fleet ACTION --help. MEMSCAPE_PYTHON names the Python to use.";

/// Arguments of `memscape fleet`.
#[derive(Args, Clone, Debug)]
#[command(after_help = ACTIONS, override_usage = "memscape fleet <ACTION> [ARGUMENTS]...")]
pub(crate) struct Fleet {
    /// Action (below), and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Fleet {
    /// Runs the Python package and exits with its status.
    ///
    /// # Errors
    /// Returns an error message if no Python could be started.
    pub(crate) fn run(&self) -> Result<(), Vec<String>> {
        run_module("memscape._fleet", &self.arguments)
    }
}
