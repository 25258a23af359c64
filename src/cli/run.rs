//! `memscape run`: records a Python program. The recorder is a Python package, so the command looks for a Python that
//! can import it.

use clap::Args;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Help text for the recorder's options, which are defined in `src/python/memscape/run.py`.
const OPTIONS: &str = "\
Options of the recorder, before PROGRAM:
  -o, --output <DIR>       Folder for snapshots [default: memscape]
      --entries <N>        Events to keep per device [default: 1000000]
      --stacks <STACKS>    python, or all: C++ frames as well; dumps take minutes [default: python]
      --every <N>          Save after every N steps
      --steps <N,N>        Save after the steps with these numbers, from 0 on
      --on-new-peak        Save when the peak is 1 % above the highest so far
      --on-growth <SIZE>   Save when what is live after a step has grown by so much, such as 256MiB
      --on-signal <NAME>   Save on this signal, such as SIGUSR2
      --ranks <RANKS>      Ranks that record, such as 0,8-15 [default: all]
      --keep <N>           Files of each reason to keep, the newest [default: 5]
      --holders <N>        Allocations whose holders are looked up, or none [default: auto]
      --sources            Put the source files that occur in stacks into the snapshot
  -m                       PROGRAM is a module, as with python -m

Snapshots are saved when the program runs out of memory, fails or ends. MEMSCAPE_PYTHON names the Python to use.";

/// Arguments of `memscape run`.
#[derive(Args, Clone, Debug)]
#[command(after_help = OPTIONS, override_usage = "memscape run [OPTIONS] [-m] <PROGRAM> [ARGUMENTS]...")]
pub(crate) struct Run {
    /// Options of the recorder (below), the program, and its own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Run {
    /// Runs the program and exits with its status.
    ///
    /// # Errors
    /// Returns an error message if no Python could be started.
    pub(crate) fn run(&self) -> Result<(), Vec<String>> {
        run_module("memscape.run", &self.arguments)
    }
}

/// Runs a module of the Python package and exits with its status.
///
/// # Errors
/// Returns an error message if no Python could be started.
pub(crate) fn run_module(module: &str, arguments: &[OsString]) -> Result<(), Vec<String>> {
    let status = with_python(module, arguments, exec).map_err(|error| vec![error])?;
    std::process::exit(status)
}

/// Starts a module of the Python package, by calling `start` with each Python that has the package until one can be
/// started.
///
/// # Errors
/// Returns an error message if no Python could be started, or none has the package.
pub(crate) fn with_python<T>(
    module: &str,
    arguments: &[OsString],
    start: impl Fn(Command) -> std::io::Result<T>,
) -> Result<T, String> {
    let (mut last, mut without_package) = (String::from("there is no python"), None);
    for python in python_candidates() {
        if is_package_missing(&python) {
            let named = || format!("{} has no package memscape (pip install memscape)", python.display());
            without_package.get_or_insert_with(named);
            continue;
        }
        let mut command = Command::new(&python);
        command.args(["-m", module]).args(arguments);
        match start(command) {
            Ok(started) => return Ok(started),
            Err(error) => last = format!("{}: {error}", python.display()),
        }
    }
    let cause = without_package.unwrap_or(last);
    Err(format!("{cause}; name the Python that has the package memscape in MEMSCAPE_PYTHON"))
}

/// Returns true if an interpreter starts but lacks the package memscape. A folder of this name without `__init__.py`
/// does not count as the package.
fn is_package_missing(python: &Path) -> bool {
    const CHECK: &str = "import importlib.util, sys; found = importlib.util.find_spec('memscape'); \
        sys.exit(3 if found is None or found.origin is None else 0)";
    let mut check = Command::new(python);
    let status = check.args(["-c", CHECK]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.code() == Some(3))
}

/// Returns the Python interpreters to try: only `MEMSCAPE_PYTHON` if set, otherwise the ones next to this program (as
/// installed by pip), in the active virtual environment, and on the PATH.
fn python_candidates() -> Vec<PathBuf> {
    if let Some(named) = std::env::var_os("MEMSCAPE_PYTHON") {
        return vec![named.into()];
    }
    let program_folder = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_owned));
    let active = std::env::var_os("VIRTUAL_ENV").map(|folder| Path::new(&folder).join("bin"));
    let names = ["python3", "python", "python.exe"];
    let in_folders =
        [program_folder, active].into_iter().flatten().flat_map(|folder| names.map(|name| folder.join(name)));
    in_folders.filter(|path| path.is_file()).chain(["python3", "python"].map(PathBuf::from)).collect()
}

/// Replaces this process with the program, so that the program receives signals.
#[cfg(unix)]
fn exec(mut command: Command) -> std::io::Result<i32> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the program and returns its exit status.
#[cfg(not(unix))]
fn exec(mut command: Command) -> std::io::Result<i32> {
    Ok(command.status()?.code().unwrap_or(1))
}
