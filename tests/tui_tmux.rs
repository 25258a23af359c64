//! `memscape tui` in tmux, as over SSH: each task is done with keys at three screen sizes, and the screen shows the
//! same figures as `--json`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::tmux::{Tmux, has_tmux};
use memscape::units::group_digits;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SIZES: [[u16; 2]; 3] = [[80, 24], [120, 40], [200, 60]];
const PROGRAM: &str = env!("CARGO_BIN_EXE_memscape");

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("www").join(format!("{name}.pickle.gz")).display().to_string()
}

fn json(words: &[&str]) -> Value {
    let output = Command::new(PROGRAM).args(words).arg("--json").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn open(size: [u16; 2], files: &[&str]) -> Tmux {
    let tmux = Tmux::run(
        size,
        &[&format!("'{PROGRAM}' tui"), &files.iter().map(|file| format!("'{file}'")).collect::<Vec<_>>().join(" ")]
            .map(|it| it.to_owned())
            .join(" "),
    );
    tmux.wait_for(&["Peak ", "Insights"]);
    tmux
}

fn number(of: &Value) -> String {
    group_digits(of.as_u64().unwrap_or_else(|| panic!("{of} is not a number")))
}

/// Waits until all words of a text are on the screen. Lines may be wrapped and have a list beside them.
fn wait_for_words(tmux: &Tmux, text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    tmux.wait(&format!("waiting for the words of {text:?}"), |screen| words.iter().all(|word| screen.contains(word)));
}

/// Goes to the insight with this title.
fn go_to_insight(tmux: &Tmux, title: &str) {
    tmux.keys(&["W"]);
    for _ in 0..20 {
        let is_there = |screen: &str| screen.contains("Enter show");
        tmux.wait("the insights have the focus", is_there);
        // The link contains the chosen insight.
        tmux.keys(&["o"]);
        let link = tmux.wait_for(&["memscape html"]);
        tmux.keys(&["Escape"]);
        tmux.wait("the link is closed", |screen| !screen.contains("memscape html"));
        let flat: String = link.split_whitespace().collect();
        if flat.contains(&format!("topic={title}")) {
            return;
        }
        tmux.keys(&["Right"]);
    }
    panic!("no insight {title}");
}

#[test]
fn oom_file_shows_cause_of_oom_first() {
    if !has_tmux() {
        return;
    }
    let file = sample("out-of-memory");
    let report = json(&["oom", &file]);
    let statements = report["statements"].as_array().expect("statements").clone();
    let summary = json(&["summary", &file]);
    for size in SIZES {
        let tmux = open(size, &[&file]);
        wait_for_words(&tmux, statements[0]["text"].as_str().unwrap());
        // The file's exact byte counts.
        tmux.keys(&["Tab", "Tab", "Right"]);
        let device = &summary[0]["devices"][0];
        tmux.wait_for(&[
            &format!("{} B", number(&device["peak_requested"])),
            &format!("{} B", number(&device["peak_reserved"])),
            &format!("{} B", number(&device["end_requested"])),
        ]);
    }
}

#[test]
fn call_tree_shows_exact_bytes_at_peak() {
    if !has_tmux() {
        return;
    }
    let file = sample("training");
    let peak = json(&["peak", &file, "--by", "site"]);
    let first = &peak["rows"][0];
    for size in SIZES {
        let tmux = open(size, &[&file]);
        tmux.keys(&["C-e", "P", "T"]);
        // The whole tree and, inverted, the largest call site.
        tmux.wait_for(&[&format!("{} B in all", number(&peak["live_bytes"]))]);
        tmux.keys(&["r"]);
        let place = format!(
            "{}:{}",
            first["file"].as_str().unwrap().rsplit('/').next().unwrap(),
            first["line"].as_str().map_or_else(|| first["line"].to_string(), str::to_owned)
        );
        tmux.wait_for(&["inverted", &format!("{} B", number(&first["live_bytes"])), &place]);
        // Focuses on it and goes back.
        tmux.keys(&["Down", "f"]);
        tmux.wait("the row is at the top", |screen| !screen.contains("▾ all allocations"));
        tmux.keys(&["q"]);
        tmux.wait_for(&["▾ all allocations"]);
    }
}

#[test]
fn leaks_match_command_line() {
    if !has_tmux() {
        return;
    }
    let file = sample("leak");
    let report = json(&["leaks", &file]);
    let text = report["statements"][0]["text"].as_str().unwrap().to_owned();
    for size in SIZES {
        let tmux = open(size, &[&file]);
        go_to_insight(&tmux, "leaks");
        wait_for_words(&tmux, &text);
    }
}

#[test]
fn allocations_are_listed_selected_searched_and_copied() {
    if !has_tmux() {
        return;
    }
    let file = sample("training");
    let all = json(&["allocations", &file, ">=0"]);
    let found = json(&["allocations", &file, "train.py"]);
    let events = json(&["summary", &file])[0]["devices"][0]["events"].clone();
    let first = &all["rows"][0];
    for size in SIZES {
        let tmux = open(size, &[&file]);
        tmux.keys(&["C-e", "L", "F7"]);
        tmux.wait_for(&[
            &format!("Listed: {} B", number(&all["requested_bytes"])),
            &format!("{} B", number(&first["requested_bytes"])),
        ]);
        // The largest is first, and its stack is in the side pane.
        tmux.keys(&["Home"]);
        tmux.wait_for(&[&format!("{} B", number(&first["requested_bytes"]))]);
        tmux.keys(&["Tab"]);
        let site = first["call_site"].as_str().unwrap();
        let function = site.rsplit(' ').next().unwrap();
        tmux.wait_for(&["innermost first", function]);
        tmux.keys(&["q", "y"]);
        let number_of = format!("#{}", number(&first["number"]));
        tmux.wait("the selection is copied", |_| tmux.copied().contains(&number_of));
        // A search shows the number of matches.
        tmux.keys(&["/"]);
        tmux.text("train.py");
        tmux.keys(&["Enter"]);
        tmux.wait_for(&[&format!("{} B", number(&found["requested_bytes"]))]);
        tmux.keys(&["Escape", "Escape", "A"]);
        tmux.wait_for(&[&format!("{} events", number(&events))]);
    }
}

#[test]
fn segments_show_reserved_and_releasable_bytes() {
    if !has_tmux() {
        return;
    }
    let file = sample("out-of-memory");
    let state = json(&["segments", &file, "--at", "end"]);
    let sums = &state["sums"];
    for size in SIZES {
        let tmux = open(size, &[&file]);
        tmux.keys(&["C-e", "End", "M"]);
        tmux.wait_for(&[
            &format!("{} B reserved", number(&sums["reserved_bytes"])),
            &format!("{} segments", number(&sums["segment_count"])),
        ]);
        tmux.keys(&["r"]);
        tmux.wait_for(&["Size of a request"]);
        tmux.text("64MiB");
        tmux.wait_for(&["64.0 MiB"]);
        tmux.keys(&["Enter"]);
    }
}

#[test]
fn cursor_command_moves_all_views() {
    if !has_tmux() {
        return;
    }
    let file = sample("training");
    let at = json(&["live", &file, "--at", "1000"]);
    for size in SIZES {
        let tmux = open(size, &[&file]);
        tmux.keys(&["C-e", "T", "@"]);
        tmux.text("1000");
        tmux.keys(&["Enter"]);
        tmux.wait_for(&["event 1,000", &format!("{} B in all", number(&at["live_bytes"]))]);
        // The palette finds a view by name, and the help lists its key.
        tmux.keys(&[":"]);
        tmux.text("flame graph");
        tmux.keys(&["Enter"]);
        tmux.wait_for(&["Backspace"]);
        tmux.keys(&["?"]);
        tmux.wait_for(&["In the terminal"]);
        tmux.keys(&["/"]);
        tmux.text("suspend");
        tmux.keys(&["Enter"]);
        tmux.wait_for(&["fg brings it back"]);
        tmux.keys(&["q"]);
        tmux.wait("the help is closed", |screen| !screen.contains("fg brings it back"));
        // Switching to braille and back keeps the cursor.
        tmux.keys(&["C-b"]);
        tmux.wait_for(&["event 1,000"]);
        // The command for this view writes the page.
        tmux.keys(&["o"]);
        tmux.wait_for(&["memscape html", "--view", "memscape serve"]);
    }
}

#[test]
fn two_files_open_comparison_and_four_open_ranks() {
    if !has_tmux() {
        return;
    }
    let (a, b) = (sample("training"), sample("leak"));
    let tmux = open([120, 40], &[&a, &b]);
    tmux.wait_for(&["A · training", "B · leak", "Comparison"]);
    drop(tmux);
    let tmux = open([120, 40], &[&a, &b, &sample("out-of-memory"), &sample("cuda-graphs")]);
    tmux.wait_for(&["Ranks", "of each rank", "ran out of memory"]);
}

#[test]
fn resized_window_is_redrawn() {
    if !has_tmux() {
        return;
    }
    let tmux = open([80, 24], &[&sample("training")]);
    for size in [[200, 60], [40, 10], [10, 3], [1, 1], [120, 40]] {
        tmux.resize(size);
        tmux.wait("tmux has resized", |_| {
            tmux.expand_format("#{pane_width}x#{pane_height}") == format!("{}x{}", size[0], size[1])
        });
    }
    tmux.wait_for(&["Peak ", "Insights", "Selection"]);
}

/// Runs the program in a shell that prints the state of the terminal afterwards.
fn in_shell(tmux_size: [u16; 2]) -> Tmux {
    let file = sample("training");
    let tmux =
        Tmux::run(tmux_size, &format!("sh -c \"'{PROGRAM}' tui '{file}'; echo status=\\$?; stty -a; read line\""));
    tmux.wait_for(&["Peak ", "Insights"]);
    assert_eq!(tmux.expand_format("#{alternate_on}"), "1");
    tmux
}

fn check_restored(tmux: &Tmux, status: &str) {
    let screen = tmux.wait_for(&[status, "icanon"]);
    assert!(!screen.contains("-icanon") && !screen.contains("-echo "), "terminal is still in raw mode:\n{screen}");
    assert_eq!(tmux.expand_format("#{alternate_on} #{mouse_any_flag} #{cursor_flag}"), "0 0 1");
}

#[test]
fn quitting_restores_terminal() {
    if !has_tmux() {
        return;
    }
    for keys in [&["q"][..], &["Q"], &["C-c"], &["T", "q", "q"], &["?", "C-c"], &["/", "C-c"]] {
        let tmux = in_shell([80, 24]);
        tmux.keys(keys);
        check_restored(&tmux, "status=0");
    }
}

fn child_pid(of: &Tmux) -> String {
    let shell = of.expand_format("#{pane_pid}");
    let children = Command::new("pgrep").args(["-P", &shell]).output().unwrap();
    String::from_utf8(children.stdout).unwrap().trim().to_owned()
}

#[test]
fn signal_restores_terminal_and_closed_terminal_ends_program() {
    if !has_tmux() {
        return;
    }
    for (signal, status) in [("TERM", 0), ("INT", 0), ("HUP", 129)] {
        let tmux = in_shell([80, 24]);
        assert!(Command::new("kill").args([&format!("-{signal}"), &child_pid(&tmux)]).status().unwrap().success());
        check_restored(&tmux, &format!("status={status}"));
    }
    let tmux = in_shell([80, 24]);
    let process = child_pid(&tmux);
    tmux.hang_up();
    // A process that ended is listed as a zombie until its status is read.
    let is_there = || std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z"));
    for _ in 0..2000 {
        if !is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("the program is still running without its terminal");
}

#[test]
fn suspended_program_resumes() {
    if !has_tmux() {
        return;
    }
    let file = sample("training");
    let tmux = Tmux::run([80, 24], "bash --norc --noprofile -i");
    tmux.wait("a prompt", |screen| screen.contains('$') || screen.contains('#'));
    tmux.text(&format!("'{PROGRAM}' tui '{file}'\n"));
    tmux.wait_for(&["Peak ", "Insights"]);
    tmux.keys(&["C-z"]);
    tmux.wait_for(&["Stopped"]);
    assert_eq!(tmux.expand_format("#{alternate_on}"), "0");
    tmux.text("fg\n");
    tmux.wait_for(&["Peak ", "Insights"]);
    tmux.keys(&["T"]);
    tmux.wait_for(&["in all"]);
    tmux.keys(&["Q"]);
    tmux.wait("the shell is back", |_| tmux.expand_format("#{alternate_on}") == "0");
}
