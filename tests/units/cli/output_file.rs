//! Unit tests of `src/cli/output_file.rs`, and of the output arguments of all commands.

use super::*;
use crate::{Memscape, parse};
use clap::{Arg, Command, CommandFactory};
use std::any::TypeId;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("memscape-output-file-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn is_of<T: 'static>(argument: &Arg) -> bool {
    argument.get_value_parser().type_id() == TypeId::of::<T>()
}

/// Returns the command-line words for an argument with this value, or with its first possible value if `None`.
fn words(argument: &Arg, value: Option<&Path>) -> Vec<String> {
    let first = || argument.get_possible_values().first().map(|value| value.get_name().to_owned());
    let value = value.map(|path| path.to_str().unwrap().to_owned()).or_else(first).unwrap();
    argument.get_long().map(|long| format!("--{long}")).into_iter().chain([value]).collect()
}

#[test]
fn output_equal_to_an_input_is_rejected_by_every_command() {
    let folder = folder("commands");
    let [input, other, link, hard, link_out] =
        ["in.pickle", "other.pickle", "link.pickle", "hard.pickle", "out"].map(|name| folder.join(name));
    fs::write(&input, "snapshot").unwrap();
    fs::write(&other, "other").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&input, &link).unwrap();
    #[cfg(not(unix))]
    fs::hard_link(&input, &link).unwrap();
    fs::hard_link(&input, &hard).unwrap();
    let mut tried = Vec::new();
    let cli = Memscape::command();
    let outputs = |command: &'_ Command| -> Vec<Arg> {
        command.get_arguments().filter(|argument| is_of::<OutputFile>(argument)).cloned().collect()
    };
    for (command, out) in
        cli.get_subcommands().flat_map(|command| outputs(command).into_iter().map(move |out| (command, out)))
    {
        let is_short = out.get_short() == Some('o');
        assert_eq!(out.get_long() == Some("output"), is_short, "{}", command.get_name());
        let inputs: Vec<&Arg> = command.get_arguments().filter(|argument| is_of::<PathBuf>(argument)).collect();
        for read in &inputs {
            for written in [&input, &link, &hard] {
                let mut line = vec!["memscape".to_owned(), command.get_name().to_owned()];
                for argument in command.get_arguments() {
                    match argument.get_id() {
                        id if id == read.get_id() => line.extend(words(argument, Some(&input))),
                        id if id == out.get_id() => line.extend(words(argument, Some(written))),
                        _ if argument.is_required_set() && is_of::<PathBuf>(argument) => {
                            line.extend(words(argument, Some(&other)));
                        }
                        _ if argument.is_required_set() => line.extend(words(argument, None)),
                        _ => {}
                    }
                }
                let (_, refused) = parse(line.iter().map(OsString::from)).unwrap_or_else(|error| panic!("{error}"));
                let message = refused.expect_err(&line.join(" "));
                assert!(message.contains("would overwrite the input") && message.contains("in.pickle"), "{message}");
            }
        }
        let fresh: Vec<String> = command
            .get_arguments()
            .filter(|argument| argument.is_required_set() || argument.get_id() == out.get_id())
            .flat_map(|argument| match argument.get_id() {
                id if id == out.get_id() => words(argument, Some(&link_out)),
                _ if is_of::<PathBuf>(argument) => words(argument, Some(&input)),
                _ => words(argument, None),
            })
            .collect();
        let line = ["memscape", command.get_name()].map(str::to_owned).into_iter().chain(fresh);
        let (_, refused) = parse(line.map(OsString::from)).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(refused, Ok(()), "{}", command.get_name());
        tried.push((command.get_name().to_owned(), inputs.len()));
    }
    let mut names: Vec<&str> = tried.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "check").count(), 3, "JSON, JUnit and Markdown");
    names.dedup();
    assert_eq!(names, ["whatif", "check", "ranks", "crop", "convert", "export", "plot", "html"]);
    assert!(tried.iter().all(|(_, inputs)| *inputs > 0), "{tried:?}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn argument_named_output_is_an_output_file() {
    for command in Memscape::command().get_subcommands() {
        for argument in command.get_arguments() {
            // `check` writes several reports, `attach` and `survey` write into a folder.
            let is_report =
                command.get_name() == "check" && ["json", "junit", "markdown"].map(Some).contains(&argument.get_long());
            let is_folder = command.get_name() == "attach";
            let is_named = argument.get_long() == Some("output") || argument.get_id() == "out";
            assert_eq!(
                is_named && !is_folder || is_report,
                is_of::<OutputFile>(argument),
                "{} {}",
                command.get_name(),
                argument.get_id()
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn dangling_link_stays_a_link_and_existing_file_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("links");
    let [link, file] = ["link", "file"].map(|name| folder.join(name));
    std::os::unix::fs::symlink("file", &link).unwrap();
    let write = |text: &str| {
        let mut out = OutputFile(link.clone()).create().unwrap();
        out.write_all(text.as_bytes()).and_then(|()| out.finish()).unwrap();
    };
    write("first");
    assert!(link.is_symlink() && fs::read(&file).unwrap() == b"first");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
    write("second");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
    assert_eq!(OutputFile(link.clone()).create().err().unwrap().to_string(), "is read-only");
    assert_eq!((fs::read(&file).unwrap(), fs::read_dir(&folder).unwrap().count()), (b"second".to_vec(), 2));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn name_of_maximum_length_is_written() {
    let folder = folder("long");
    let file = folder.join("x".repeat(255));
    let mut out = OutputFile(file.clone()).create().unwrap();
    out.write_all(b"all").and_then(|()| out.finish()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"all");
    fs::remove_dir_all(&folder).unwrap();
}
