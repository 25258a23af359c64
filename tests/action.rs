//! `action.yml`: its scripts run as in a workflow, over three commits of a program.

#![cfg(unix)]

use crate::cli_check::snapshot;
use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value, json};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Parses YAML without anchors and tags. All scalars are texts.
fn yaml(text: &str) -> Value {
    let (mut open, mut root): (Vec<(bool, Vec<Value>)>, Value) = (Vec::new(), Value::Null);
    for event in Parser::new_from_str(text) {
        let value = match event.unwrap().0 {
            Event::Scalar(text, ..) => json!(text),
            Event::SequenceStart(..) => {
                open.push((false, Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push((true, Vec::new()));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (is_mapping, items) = open.pop().unwrap();
                let pair = |pair: &[Value]| (pair[0].as_str().unwrap().to_owned(), pair[1].clone());
                if is_mapping { Value::Object(items.chunks(2).map(pair).collect()) } else { Value::Array(items) }
            }
            _ => continue,
        };
        match open.last_mut() {
            Some((_, items)) => items.push(value),
            None => root = value,
        }
    }
    root
}

fn action() -> Value {
    yaml(&std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("action.yml")).unwrap())
}

fn steps() -> Vec<Value> {
    action()["runs"]["steps"].as_array().unwrap().clone()
}

/// A repository where the action runs.
struct Workflow {
    folder: PathBuf,
    inputs: Map<String, Value>,
}

impl Workflow {
    /// Creates a repository with programs for the action: `memscape`, and stand-ins for `python` and `gh` that write
    /// down their arguments.
    fn new(name: &str, inputs: &Value) -> Workflow {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("action").join(name);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_memscape"), folder.join("bin/memscape")).unwrap();
        for program in ["python", "gh"] {
            let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>../{program}.txt\n");
            std::fs::write(folder.join("bin").join(program), script).unwrap();
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(folder.join("bin").join(program), executable).unwrap();
        }
        let mut all = Map::new();
        for (name, input) in action()["inputs"].as_object().unwrap() {
            all.insert(name.clone(), inputs.get(name).unwrap_or(&input["default"]).clone());
        }
        Workflow { folder, inputs: all }
    }

    /// Runs all steps for a commit on a branch. Returns the exit status of the last step that fails.
    fn run(&self, branch: &str, snapshot: &str) -> i32 {
        let work = self.folder.join("work");
        let _ = std::fs::remove_dir_all(&work);
        std::fs::create_dir_all(&work).unwrap();
        std::fs::write(work.join("rank00000_step000010_exit.json"), snapshot).unwrap();
        let (mut status, mut check_status, mut is_renewed) = (0, String::new(), false);
        for step in steps() {
            let input = |name: &str| self.inputs[name].as_str().unwrap();
            let is_kept_baseline = input("baseline") == ".memscape";
            let is_run = match step["if"].as_str() {
                None | Some("always()") => true,
                Some("inputs.package != ''") => !input("package").is_empty(),
                Some("inputs.baseline == '.memscape'") => is_kept_baseline,
                Some("inputs.comment == 'true' && github.event_name == 'pull_request'") => {
                    input("comment") == "true" && branch != "main"
                }
                Some("steps.renew.outcome == 'success'") => is_renewed,
                Some(other) => {
                    assert!(other.starts_with("steps.check.outputs.status == '0' && inputs.baseline == '.memscape'"));
                    check_status == "0" && is_kept_baseline && branch == "main"
                }
            };
            if !is_run || status != 0 && step["if"] != "always()" {
                continue;
            }
            match step["uses"].as_str() {
                Some("actions/cache/restore@v4") => self.copy("cache", "work/.memscape"),
                Some("actions/cache/save@v4") => self.copy("work/.memscape", "cache"),
                Some(other) => assert_eq!(other, "actions/upload-artifact@v4"),
                None => {
                    let code = self.run_script(&step, &check_status);
                    status = if code == 0 { status } else { code };
                    is_renewed |= step["id"] == "renew" && code == 0;
                }
            }
            let output = std::fs::read_to_string(work.join("output.txt")).unwrap_or_default();
            check_status = output.trim().strip_prefix("status=").unwrap_or_default().to_owned();
        }
        status
    }

    fn copy(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|path| self.folder.join(path));
        if from.exists() {
            let _ = std::fs::remove_dir_all(&to);
            assert!(Command::new("cp").arg("-R").args([from, to]).status().unwrap().success());
        }
    }

    /// Runs a step as GitHub does. Expressions are only in its environment.
    fn run_script(&self, step: &Value, check_status: &str) -> i32 {
        let path = [self.folder.join("bin").to_str().unwrap(), ":", &std::env::var("PATH").unwrap()].concat();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"].as_str().unwrap()]);
        command.current_dir(self.folder.join("work")).env("PATH", path);
        command.env("GITHUB_OUTPUT", "output.txt").env("GITHUB_STEP_SUMMARY", "summary.md");
        for (name, value) in step["env"].as_object().unwrap() {
            let expression = value.as_str().unwrap().trim_start_matches("${{ ").trim_end_matches(" }}");
            let value = match expression.strip_prefix("inputs.") {
                Some(input) => self.inputs[input].as_str().unwrap(),
                None if expression == "steps.check.outputs.status" => check_status,
                None => "value",
            };
            command.env(name, value);
        }
        command.output().unwrap().status.code().unwrap()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.join(path)).unwrap_or_default()
    }
}

#[test]
fn three_commits_set_the_baseline_exceed_it_and_keep_it() {
    let workflow = Workflow::new("commits", &json!({"files": "*.json", "comment": "true", "budget": "1GiB"}));
    let [normal, larger] = [100, 120].map(|mib| snapshot(mib, "step", "train.py"));
    assert_eq!(workflow.run("main", &normal), 0);
    assert!(
        workflow.read("work/summary.md").contains("not checked: no baseline"),
        "{}",
        workflow.read("work/summary.md")
    );
    assert!(workflow.folder.join("cache/rank00000_step000010_exit.json").exists());
    assert_eq!(workflow.run("feature", &larger), 3);
    let summary = workflow.read("work/summary.md");
    assert!(summary.contains("**✗ exceeded:** 100 MiB → 120 MiB") && summary.contains("`train.py step`"), "{summary}");
    // The comment is the summary, and the larger snapshot is not the new baseline.
    assert_eq!(workflow.read("work/memscape-report/comment.md"), summary);
    assert_eq!(workflow.run("feature", &normal), 0);
    assert!(workflow.read("work/summary.md").contains("✓ 100 MiB → 100 MiB"));
    // By default nothing is installed: memscape is not published, so the name may be that of another package.
    assert_eq!(workflow.read("python.txt"), "");
    assert_eq!(workflow.read("gh.txt").lines().filter(|line| *line == "comment").count(), 2);
}

#[test]
fn named_package_is_installed() {
    let inputs = json!({"files": "*.json", "package": "dist/memscape.whl"});
    let workflow = Workflow::new("package", &inputs);
    assert_eq!(workflow.run("main", &snapshot(100, "step", "train.py")), 0);
    assert_eq!(workflow.read("python.txt"), "-m\npip\ninstall\n--quiet\ndist/memscape.whl\n");
}

#[test]
fn inputs_are_not_run_as_commands() {
    let text = "$(touch hacked) `touch hacked`; touch hacked";
    for (input, files) in [("budget", "*.json"), ("max-growth", "*.json"), ("baseline", "*.json"), ("files", text)] {
        let mut inputs = json!({"files": files});
        inputs[input] = json!(text);
        let workflow = Workflow::new("injection", &inputs);
        let status = workflow.run("main", &snapshot(1, "f", "a.py"));
        assert!(!workflow.folder.join("work/hacked").exists(), "{input}");
        // A baseline may be missing. The other texts are no sizes and no files.
        assert_eq!(status == 0, input == "baseline", "{input}: {status}");
    }
    for step in steps() {
        assert!(!step["run"].as_str().unwrap_or_default().contains("${{"), "{step}");
    }
}

#[test]
fn every_input_is_described_and_used() {
    let steps = json!(steps()).to_string();
    for (name, input) in action()["inputs"].as_object().unwrap() {
        assert!(input["description"].as_str().is_some_and(|text| text.len() > 10), "{name}");
        assert!(steps.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
}
