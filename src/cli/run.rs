//! `memscape run`: records a Python program. The recorder is Python, so this finds the Python that has it.

use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Arguments of `memscape run`.
#[derive(Args, Clone, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Run {
    /// Options, the program, and its own arguments: see memscape run --help
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Run {
    /// Runs the program and ends as it does.
    ///
    /// # Errors
    /// There is no Python: one sentence.
    pub(crate) fn run(&self) -> Result<(), Vec<String>> {
        let mut last = String::from("there is no python");
        for python in pythons() {
            let mut command = Command::new(&python);
            command.args(["-m", "memscape.run"]).args(&self.arguments);
            match end_as(command) {
                Ok(status) => std::process::exit(status),
                Err(error) => last = format!("{}: {error}", python.display()),
            }
        }
        Err(vec![format!("{last}; name the Python that has the package memscape in MEMSCAPE_PYTHON")])
    }
}

/// Where Python may be: named, beside this program as pip installs it, in the environment that is active, on the PATH.
fn pythons() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("MEMSCAPE_PYTHON") {
        return vec![named.into()];
    }
    let beside = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let active = std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin"));
    let names = ["python3", "python", "python.exe"];
    let in_folders = [beside, active].into_iter().flatten().flat_map(|folder| names.map(|name| folder.join(name)));
    in_folders.filter(|path| path.is_file()).chain(["python3", "python"].map(PathBuf::from)).collect()
}

/// Becomes the program, so that signals reach it.
#[cfg(unix)]
fn end_as(mut command: Command) -> std::io::Result<i32> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program; its exit status.
#[cfg(not(unix))]
fn end_as(mut command: Command) -> std::io::Result<i32> {
    Ok(command.status()?.code().unwrap_or(1))
}
