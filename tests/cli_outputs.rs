//! Files that commands write: never one of the inputs, and either complete or absent, even if the disk is full or a
//! signal arrives.

#![cfg(unix)]

use serde_json::{Value, json};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const MEMSCAPE: &str = env!("CARGO_BIN_EXE_memscape");
const MIB: u64 = 1 << 20;

/// Commands that write one file, without their output option. `{in}` and `{other}` are snapshots, and `{trace}` is a
/// torch.profiler trace.
const COMMANDS: [&str; 15] = [
    "whatif {in} --set max_split_size_mb:64",
    "ranks {in} {other}",
    "crop {in}",
    "convert {in} --to pickle",
    "convert {in} --to json",
    "convert {in} --to columns",
    "convert {in} --to snapviewer",
    "export {in} --to csv",
    "export {in} --to parquet --table events",
    "export {in} --to sqlite",
    "export {in} --to speedscope",
    "export {in} --to trace --onto {trace}",
    "plot {in}",
    "html {in}",
    "html {in} --with {other}",
];

/// Creates an empty folder.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-outputs").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Builds a snapshot with the given number of allocations.
fn snapshot(allocations: u64) -> String {
    let alloc = |number: u64| {
        let frame = json!({"name": format!("f{}", number % 97), "filename": "a.py", "line": number % 89});
        json!({"action": "alloc", "addr": number * MIB, "size": MIB, "stream": 0, "time_us": number, "frames": [frame]})
    };
    let block =
        |number: u64| json!({"size": MIB, "requested_size": MIB, "state": "active_allocated", "address": number * MIB});
    let blocks: Vec<Value> = (0..allocations).map(block).collect();
    let segment = json!({"device": 0, "address": 0, "total_size": allocations * MIB, "stream": 0, "segment_type": "large",
        "blocks": blocks});
    let trace: Vec<Value> = (0..allocations).map(alloc).collect();
    json!({"segments": [segment], "device_traces": [trace]}).to_string()
}

/// Creates a folder with the inputs of [`COMMANDS`].
fn inputs(name: &str, allocations: u64) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("in.json"), snapshot(allocations)).unwrap();
    std::fs::write(folder.join("other.json"), snapshot(60)).unwrap();
    let trace = json!({"traceEvents": [{"ph": "X", "name": "k", "ts": 1, "dur": 1, "pid": 1, "tid": 1}]});
    std::fs::write(folder.join("trace.json"), trace.to_string()).unwrap();
    let page = ["<html><body><script id=\"part-wasm\"></script>", &"x".repeat(4000), "</body></html>"].concat();
    std::fs::write(folder.join("page.html"), page).unwrap();
    folder
}

/// Returns the arguments of a line of [`COMMANDS`]. Adds a viewer, since tests run without the built-in one.
fn words(line: &str) -> Vec<String> {
    let page = if line.starts_with("html") { " --viewer page.html" } else { "" };
    let named =
        |word: &str| word.replace("{in}", "in.json").replace("{other}", "other.json").replace("{trace}", "trace.json");
    [line, page].concat().split_whitespace().map(named).collect()
}

fn run(folder: &Path, words: &[String], out: &str) -> Output {
    Command::new(MEMSCAPE).args(words).args(["-o", out]).current_dir(folder).output().unwrap()
}

fn error(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Returns paths and contents of all files in a folder.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.map(|path| (path.clone(), std::fs::read(path).unwrap_or_default())).collect();
    files.sort();
    files
}

#[test]
fn output_equal_to_input_is_rejected() {
    let folder = inputs("inputs", 3);
    for name in ["in.json", "other.json", "trace.json", "page.html"] {
        symlink(name, folder.join(["link-", name].concat())).unwrap();
        std::fs::hard_link(folder.join(name), folder.join(["hard-", name].concat())).unwrap();
    }
    let before = contents(&folder);
    for line in COMMANDS {
        let words = words(line);
        for input in ["in.json", "other.json", "trace.json", "page.html"] {
            if !words.iter().any(|word| word == input) {
                continue;
            }
            for out in ["", "./", "link-", "hard-"].map(|prefix| [prefix, input].concat()) {
                let output = run(&folder, &words, &out);
                let message = error(&output);
                assert_eq!(output.status.code(), Some(1), "{line} -o {out}: {message}");
                assert!(
                    message.contains("would overwrite the input") && message.contains(input),
                    "{line} -o {out}: {message}"
                );
                assert_eq!((message.lines().count(), output.stdout.len()), (1, 0), "{line} -o {out}: {message}");
                assert!(contents(&folder) == before, "{line} -o {out}");
            }
        }
    }
}

#[test]
fn all_commands_with_output_are_tested() {
    let help = |words: &[&str]| {
        let output = Command::new(MEMSCAPE).args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let commands = help(&["--help"]);
    let commands =
        commands.lines().filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with([' ', '-'])));
    let mut written = Vec::new();
    for command in
        commands.filter_map(|line| line.split_whitespace().next()).filter(|name| !["attach", "run"].contains(name))
    {
        if help(&[command, "--help"]).contains("--output <") {
            written.push(command.to_owned());
        }
    }
    let mut tried: Vec<&str> = COMMANDS.iter().filter_map(|line| line.split_whitespace().next()).collect();
    tried.dedup();
    assert_eq!(written, tried);
}

#[test]
fn ranks_report_does_not_overwrite_snapshot() {
    let folder = folder("ranks");
    std::fs::create_dir(folder.join("dump")).unwrap();
    for rank in 0..2 {
        std::fs::write(folder.join(format!("dump/rank{rank}.json")), snapshot(2)).unwrap();
    }
    let before = contents(&folder.join("dump"));
    let ranks = ["ranks".to_owned(), "dump".to_owned()];
    symlink("dump/rank1.json", folder.join("link.html")).unwrap();
    for out in ["dump/rank1.json", "link.html"] {
        let output = run(&folder, &ranks, out);
        let message = error(&output);
        assert!(
            output.status.code() == Some(1) && message.contains("overwrite the input dump/rank1.json"),
            "{message}"
        );
        assert!(contents(&folder.join("dump")) == before);
    }
    let output = run(&folder, &ranks, "dump/ranks.html");
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn output_to_file_read_from_stdin_is_rejected() {
    let folder = inputs("streams", 3);
    let before = contents(&folder);
    for line in ["memscape crop - -o in.json < in.json", "memscape crop in.json -o - >> in.json"] {
        let line = line.replace("memscape", MEMSCAPE);
        let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap();
        let message = error(&output);
        assert!(output.status.code() == Some(1) && message.contains("would overwrite the input"), "{line}: {message}");
        assert!(contents(&folder) == before, "{line}");
    }
}

#[test]
fn survey_tables_do_not_overwrite_list_or_snapshot() {
    let folder = folder("survey");
    let tables = folder.join("tables");
    std::fs::create_dir(&tables).unwrap();
    std::fs::write(folder.join("a.json"), snapshot(2)).unwrap();
    std::fs::write(tables.join("oom.jsonl"), snapshot(2)).unwrap();
    std::fs::write(tables.join("site.jsonl"), json!({"path": "a.json"}).to_string()).unwrap();
    let link = folder.join("link.json");
    symlink("tables/oom.jsonl", &link).unwrap();
    for (list, input) in [
        ("tables/site.jsonl", "tables/site.jsonl"),
        ("list", "tables/oom.jsonl"),
        ("list", "./tables/../tables/oom.jsonl"),
        ("list", "link.json"),
    ] {
        let lines = [json!({"path": "a.json"}), json!({"path": input})].map(|line| line.to_string());
        std::fs::write(folder.join("list"), lines.join("\n")).unwrap();
        let before = contents(&tables);
        let survey = ["survey", "--list", list, "--to", "jsonl"].map(str::to_owned);
        let output = run(&folder, &survey, "tables");
        let message = error(&output);
        assert!(
            output.status.code() == Some(1) && message.contains(&format!("would overwrite the input {input};")),
            "{message}"
        );
        assert!(contents(&tables) == before);
    }
    // Tables of an earlier survey are replaced.
    std::fs::write(folder.join("list"), json!({"path": "a.json"}).to_string()).unwrap();
    let output = run(&folder, &["survey", "--list", "list", "--to", "jsonl"].map(str::to_owned), "tables");
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn sql_save_does_not_overwrite_snapshot() {
    let folder = inputs("prompt", 3);
    let before = contents(&folder);
    let save = |file: &str| {
        let line = format!("printf '.save {file}\\n' | {MEMSCAPE} sql in.json --with other.json");
        Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap()
    };
    for input in ["in.json", "./other.json"] {
        let output = save(input);
        assert!(!output.status.success() && error(&output).contains("would overwrite the input"), "{}", error(&output));
    }
    assert!(contents(&folder) == before);
    let output = save("page.html");
    assert!(output.status.success(), "{}", error(&output));
    assert!(std::fs::read(folder.join("page.html")).unwrap().starts_with(b"SQLite format 3\0"));
    assert_eq!(contents(&folder).len(), before.len());
}

#[test]
fn full_disk_keeps_existing_output() {
    let folder = inputs("full", 400);
    for line in COMMANDS {
        std::fs::write(folder.join("out"), "kept").unwrap();
        let before = contents(&folder);
        let words = words(line).join(" ");
        // Limits files to 1 KiB. SIGXFSZ is ignored, so that writes fail with an error.
        let limited = format!("trap '' XFSZ; ulimit -f 1; exec {MEMSCAPE} {words} -o out");
        let output = Command::new("bash").args(["-c", &limited]).current_dir(&folder).output().unwrap();
        let message = error(&output);
        assert_eq!(output.status.code(), Some(1), "{line}: {message}");
        assert!(message.contains("out: "), "{line}: {message}");
        assert!(contents(&folder) == before, "{line}: {message}");
    }
    let pages = self::folder("full-man");
    let limited = format!("trap '' XFSZ; ulimit -f 1; exec {MEMSCAPE} man .");
    let output = Command::new("bash").args(["-c", &limited]).current_dir(&pages).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(
        contents(&pages)
            .iter()
            .all(|(path, page)| path.extension().is_some_and(|it| it == "1") && page.ends_with(b"\n"))
    );
}

#[test]
fn output_in_missing_folder_names_folder_to_create() {
    let folder = inputs("missing", 3);
    let before = contents(&folder);
    for line in COMMANDS {
        for (out, cause) in [
            ("none/out", "none/out: no such folder; create it first\n"),
            ("", "the name of the output file is empty\n"),
        ] {
            let output = run(&folder, &words(line), out);
            let message = error(&output);
            assert_eq!(output.status.code(), Some(1), "{line} -o '{out}': {message}");
            assert!(message.ends_with(cause), "{line} -o '{out}': {message}");
            assert!(contents(&folder) == before, "{line} -o '{out}'");
        }
    }
}

/// The name of the temporary file and the name of parquet's error mean nothing to users.
#[test]
fn write_error_is_only_the_cause() {
    let folder = inputs("cause", 400);
    std::fs::write(folder.join("file"), "").unwrap();
    std::fs::write(folder.join("file at path x"), "").unwrap();
    for line in COMMANDS {
        for (out, cause) in [
            ("/dev/full", "/dev/full: No space left on device (os error 28)\n"),
            ("file/out", "file/out: Not a directory (os error 20)\n"),
            ("file at path x/out", "file at path x/out: Not a directory (os error 20)\n"),
        ] {
            let output = run(&folder, &words(line), out);
            let message = error(&output);
            let is_alone = message.rsplit("memscape: ").next().is_some_and(|text| {
                let text = text.strip_suffix(cause).unwrap_or("?");
                text.is_empty() || text == "in.json: "
            });
            assert!(output.status.code() == Some(1) && is_alone, "{line} -o {out}: {message}");
        }
    }
}

#[test]
fn full_standard_output_is_an_error() {
    for words in [&["--version"][..], &["--help"], &["help"], &["help", "sql"], &["summary", "--help"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let output = Command::new(MEMSCAPE).args(words).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        assert_eq!(error(&output), "memscape: standard output: No space left on device (os error 28)\n", "{words:?}");
    }
}

#[test]
fn signal_during_write_leaves_no_file() {
    let folder = inputs("signal", 60_000);
    let names = || {
        let mut names: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    };
    let before = names();
    for (line, signal, status_of_signal) in [
        ("export {in} --to sqlite", "INT", 130),
        ("export {in} --to sqlite", "TERM", 143),
        ("export {in} --to trace --largest 60000", "TERM", 143),
        ("convert {in} --to pickle", "HUP", 129),
    ] {
        let mut process = Command::new(MEMSCAPE)
            .args(words(line))
            .args(["-o", "out"])
            .current_dir(&folder)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while names() == before && process.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < Duration::from_secs(60), "{line}");
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = Command::new("kill")
            .args(["-s", signal, &process.id().to_string()])
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let status = process.wait().unwrap();
        // If the command finished before the signal, the file is complete.
        let is_complete = std::fs::remove_file(folder.join("out")).is_ok();
        assert_eq!(status.code(), Some(if is_complete { 0 } else { status_of_signal }), "{line} {signal}");
        assert_eq!(names(), before, "{line} {signal}");
    }
}

#[test]
fn ignored_signal_ends_nothing() {
    let folder = inputs("nohup", 20_000);
    // The shell sends the signal until the command has ended.
    let line = format!(
        "trap '' HUP; {MEMSCAPE} export in.json --to sqlite -o out & while kill -s HUP $! 2>/dev/null; do :; done; wait $!"
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, error(&output));
    assert!(folder.join("out").exists());
}

#[test]
fn pipes_and_devices_are_written_directly() {
    let folder = inputs("pipes", 3);
    let plain = run(&folder, &words("export {in} --to csv"), "-");
    assert!(plain.status.success() && plain.stdout.starts_with(b"id,"), "{}", error(&plain));
    for out in ["/dev/stdout", "/dev/fd/1"] {
        assert_eq!(run(&folder, &words("export {in} --to csv"), out).stdout, plain.stdout, "{out}");
    }
    // Content before and after the export is kept.
    let line = format!("(echo before; {MEMSCAPE} export in.json --to csv -o /dev/stdout; echo after) > all.csv");
    assert!(Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap().status.success());
    assert_eq!(std::fs::read(folder.join("all.csv")).unwrap(), [b"before\n", &*plain.stdout, b"after\n"].concat());
    assert!(run(&folder, &words("export {in} --to sqlite"), "/dev/null").status.success());
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    let line = format!("mkfifo pipe; {MEMSCAPE} export in.json --to csv -o pipe & cat pipe");
    let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output().unwrap();
    assert_eq!(output.stdout, plain.stdout);
}
