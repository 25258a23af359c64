//! A temporary folder with the files that documents name, to run their commands.

use crate::generate::{Options, generate};
use crate::tmux::{Tmux, has_tmux};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The program under test.
pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_memscape");

/// Stand-in for the single-file page, with the only element that the program looks for.
const VIEWER: &str = "<html><body><script id=\"part-wasm\">AAAA</script></body></html>";

/// A torch.profiler trace at the time of the generated snapshots. Times are in µs.
const TRACE: &str =
    r#"{"traceEvents": [{"ph": "X", "name": "kernel", "ts": 1760000000000400, "dur": 1000, "pid": 0, "tid": 7}]}"#;

/// Script that the Python package runs as the program. It adds the options for the page, and opens no browser.
const WRAPPER: &str = "#!/bin/sh
command=$1
shift
case $command in
    html) set -- --viewer \"$MEMSCAPE_VIEWER\" \"$@\" ;;
    serve) set -- --viewer \"$MEMSCAPE_VIEWER\" --no-browser \"$@\" ;;
esac
exec \"$MEMSCAPE_PROGRAM\" \"$command\" \"$@\"
";

/// A folder with `FILE`, `A`, `B`, `DIR`, `FOLDER`, `runs/today` and the other files that documents name.
pub(super) struct Workshop {
    pub(super) folder: PathBuf,
}

impl Workshop {
    /// Creates the folder and its files. `name` must be unique among tests.
    pub(super) fn new(name: &str) -> Workshop {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("documents").join(name);
        let _ = fs::remove_dir_all(&folder);
        let workshop = Workshop { folder };
        let root = root();
        for name in ["out-of-memory", "leak", "training", "cuda-graphs"] {
            let sample = format!("www/{name}.pickle.gz");
            let bytes = fs::read(root.join(&sample)).unwrap();
            workshop.write(&sample, &bytes);
            // Where a reader of a tutorial has it.
            workshop.write(&format!("{name}.pickle.gz"), &bytes);
        }
        for entry in fs::read_dir(root.join("www/docs/samples")).unwrap() {
            let path = entry.unwrap().path();
            workshop.write(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap());
        }
        let small = "--layers 2 --hidden 64 --frames 12 --record-from-start";
        let long = format!("{small} --steps 3 --sequence 128");
        let file = snapshot(&format!("--example {small}"));
        for path in [
            "FILE",
            "FOLDER/a.pickle",
            "runs/today/a.pickle",
            "runs/a/rank00000_step000120_oom.pickle.gz",
            "snapshot.pickle",
        ] {
            workshop.write(path, &file);
        }
        workshop.write("A", &snapshot(&format!("{small} --steps 3 --sequence 64")));
        workshop.write("B", &snapshot(&long));
        workshop.write("b.pickle", &snapshot(&long));
        for rank in 0..8 {
            let leak = if rank == 7 { "--extra-leak 4" } else { "" };
            workshop.write(&format!("DIR/rank{rank}.pickle"), &snapshot(&format!("{small} --steps 3 {leak}")));
        }
        workshop.unpack("ranks.tar").unwrap();
        workshop.write("trace.json.gz", TRACE.as_bytes());
        workshop.write("list.jsonl", b"{\"path\": \"FILE\"}\n");
        workshop.write("train.py", b"import torch\nkept = torch.empty(1 << 20)\n");
        workshop.write("viewer.html", VIEWER.as_bytes());
        workshop.write("memscape-program", WRAPPER.as_bytes());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let wrapper = workshop.folder.join("memscape-program");
            fs::set_permissions(wrapper, fs::Permissions::from_mode(0o755)).unwrap();
        }
        workshop
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Returns a command that runs in the folder, with our Python package, the stand-in for PyTorch and the wrapper
    /// script.
    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let paths = ["tests/python/standin", "src/python"].map(|path| root().join(path));
        command.current_dir(&self.folder).env("PYTHONPATH", std::env::join_paths(paths).unwrap());
        command.env("MEMSCAPE_PYTHON", "python3").env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("MEMSCAPE_BINARY", self.folder.join("memscape-program"));
        command.env("MEMSCAPE_VIEWER", self.folder.join("viewer.html")).env("MEMSCAPE_PROGRAM", PROGRAM);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command with this standard input, and waits for its end.
    pub(super) fn output(&self, mut command: Command, input: &str) -> Output {
        let mut child = command.spawn().unwrap();
        // The program may end without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Runs `tar` to unpack an archive of the manual.
    ///
    /// # Errors
    /// Fails if `tar` does.
    pub(super) fn unpack(&self, archive: &str) -> Result<(), String> {
        let mut tar = self.command("tar");
        tar.args(["-xf", archive]);
        let output = self.output(tar, "");
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("fails: {error}")) }
    }

    /// Runs `memscape` with this standard input, and returns its output.
    ///
    /// # Errors
    /// Fails if the command fails, or neither prints nor writes anything.
    pub(super) fn memscape(&self, words: &[String], input: &str) -> Result<String, String> {
        let mut command = self.command(PROGRAM);
        match words {
            [html, rest @ ..] if html == "html" => command.args(["html", "--viewer", "viewer.html"]).args(rest),
            _ => command.args(words),
        };
        let output = self.output(command, input);
        let [out, error] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        match output.status.code() {
            // The status of `check` is its result.
            Some(3) if words.first().is_some_and(|word| word == "check") => Ok(out),
            Some(0) if !(out.is_empty() && error.is_empty()) || self.has_written(words) => Ok(out),
            Some(0) => Err("prints and writes nothing".to_owned()),
            status => Err(format!("ends with {status:?}: {error}")),
        }
    }

    /// Returns true if the command has written its output file: the value of `-o`, a man page or a recorded snapshot.
    fn has_written(&self, words: &[String]) -> bool {
        let after_option = words.iter().skip_while(|word| *word != "-o").nth(1).map(String::as_str);
        let path = match (&*words[0], after_option) {
            ("man", _) => format!("{}/memscape.1", words[1]),
            ("run", folder) => format!("{}/rank00000_step000000_exit.pickle.gz", folder.unwrap_or("memscape")),
            (_, path) => path.unwrap_or_default().to_owned(),
        };
        fs::metadata(self.folder.join(path)).is_ok_and(|file| file.is_file() && file.len() > 0)
    }

    /// Runs `memscape serve` until it prints its address.
    ///
    /// # Errors
    /// Fails if the program ends before that.
    pub(super) fn serve(&self, words: &[String]) -> Result<(), String> {
        let mut command = self.command(PROGRAM);
        command.args(["serve", "--no-browser", "--viewer", "viewer.html"]).args(words);
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let is_ready = lines.map_while(Result::ok).any(|line| line.contains("Ctrl+C"));
        let _ = process.kill();
        process.wait().unwrap();
        if is_ready { Ok(()) } else { Err("ends before it listens".to_owned()) }
    }

    /// Runs `memscape tui` in tmux until it shows its views. Does nothing without tmux.
    pub(super) fn tui(&self, words: &[String]) {
        if has_tmux() {
            let folder = self.folder.display();
            let terminal = Tmux::run([100, 30], &format!("cd '{folder}' && '{PROGRAM}' tui '{}'", words.join("' '")));
            terminal.wait_for(&["Insights", "Peak"]);
        }
    }
}

/// Returns the root of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns true if python3 is installed. Prints a SKIPPED line if not.
pub(super) fn has_python() -> bool {
    let has = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("SKIPPED: commands and code in documents that need python3, which is not installed");
    }
    has
}

/// Generates a snapshot with these options of the generator.
fn snapshot(options: &str) -> Vec<u8> {
    let (options, _) = Options::parse(options.split_whitespace().map(str::to_owned)).unwrap();
    generate(&options, Vec::new()).unwrap().0
}
