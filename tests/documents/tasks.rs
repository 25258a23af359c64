//! Checks names and options of `./run` and Cargo commands without running them.

use super::workshop::root;
use std::fs;
use std::path::Path;

/// Checks a task, its options and its arguments against `run`.
///
/// # Errors
/// Fails if `run` does not have them, or if no test has a given name.
pub(super) fn check_run(words: &[&str]) -> Result<(), String> {
    let text = fs::read_to_string(root().join("run")).unwrap();
    let [task, rest @ ..] = words else { return Err("names no task".to_owned()) };
    let usage: Vec<&str> = text.lines().filter(|line| line.starts_with(&format!("#   ./run {task} "))).collect();
    let mut cases = text.lines().filter_map(|line| line.strip_prefix("    ")?.split_once(')'));
    if usage.is_empty() || !cases.any(|(tasks, _)| tasks.split(" | ").any(|it| it == *task)) {
        return Err(format!("run has no task {task}"));
    }
    let known: Vec<&str> = usage.iter().flat_map(|line| line.split([' ', ':', '(', ')', '[', ']', '…'])).collect();
    for word in rest {
        let is_placeholder = word.chars().all(|it| it.is_ascii_uppercase() || it == '…');
        if word.starts_with('-') || is_placeholder {
            let is_known = known.contains(&word.trim_end_matches('…'));
            is_known.then_some(()).ok_or_else(|| format!("the usage of {task} does not name {word}"))?;
        } else {
            let (module, name) = word.rsplit_once("::").unwrap_or(("", word));
            let has_test = has_test(&root().join("tests"), module, name);
            has_test.then_some(()).ok_or_else(|| format!("no test has a name with {word}"))?;
        }
    }
    Ok(())
}

/// Returns true if a Rust file below `folder` has a function whose name contains `name`. A non-empty `module` has to be
/// the name of the file.
fn has_test(folder: &Path, module: &str, name: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return has_test(&path, module, name);
        }
        let is_of_module = module.is_empty() || path.file_stem().is_some_and(|stem| stem == module);
        let has_function = |text: String| {
            let names = text.lines().filter_map(|line| line.trim().strip_prefix("fn ")?.split('(').next());
            names.into_iter().any(|known| known.contains(name))
        };
        is_of_module
            && path.extension().is_some_and(|extension| extension == "rs")
            && fs::read_to_string(&path).is_ok_and(has_function)
    })
}

/// Checks that the packages and targets in a Cargo command exist.
///
/// # Errors
/// Fails if one does not exist, or if the command or an option is unknown.
pub(super) fn check_cargo(words: &[&str]) -> Result<(), String> {
    const COMMANDS: [&str; 8] = ["bench", "build", "check", "clippy", "fmt", "install", "run", "test"];
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let [command, rest @ ..] = words else { return Err("names no command".to_owned()) };
    if !COMMANDS.contains(command) {
        return Err(format!("unknown command of Cargo: {command}"));
    }
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        let is_known = match *word {
            "--workspace" | "--all-targets" | "--all" | "--locked" | "--release" => true,
            "--" => break,
            "--path" | "--target" | "--features" => rest.next().is_some(),
            kind @ ("--test" | "--bench" | "--example" | "--bin") => {
                let target = format!("[[{}]]\nname = \"{}\"", &kind[2..], rest.next().unwrap_or(&""));
                manifest.contains(&target)
            }
            "-p" | "--package" => {
                let name = format!("name = \"{}\"", rest.next().unwrap_or(&""));
                let manifests =
                    fs::read_dir(root().join("src")).unwrap().map(|it| it.unwrap().path().join("Cargo.toml"));
                manifests.filter_map(|path| fs::read_to_string(path).ok()).any(|text| text.contains(&name))
            }
            _ => return Err(format!("unknown argument of cargo {command}: {word}")),
        };
        is_known.then_some(()).ok_or_else(|| format!("the target of {word} does not exist"))?;
    }
    Ok(())
}

#[test]
fn unknown_tasks_and_targets_are_errors() {
    assert!(check_run(&["build", "--native"]).is_ok());
    assert!(check_run(&["build", "--nativ"]).is_err());
    assert!(check_run(&["bild"]).is_err());
    assert!(check_run(&["test", "lanes::no_such_test"]).is_err());
    assert!(check_run(&["test", "lanes::time_axis"]).is_ok());
    assert!(check_cargo(&["test", "--test", "layers"]).is_ok());
    assert!(check_cargo(&["test", "--test", "layer"]).is_err());
    assert!(check_cargo(&["check", "-p", "memscape-pag"]).is_err());
}
