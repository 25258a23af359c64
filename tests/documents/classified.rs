//! Checks of the commands in documents: which are run, with which placeholders, and which are exempt.

use super::workshop::{Workshop, has_python};
use super::{protocol, tasks, words};
use std::collections::BTreeSet;

/// Commands that are not run: prefix and reason.
pub(super) const EXEMPT: [(&str, &str); 1] =
    [("pip install target/wheels/memscape-*.whl", "needs a wheel: tests/wheel.sh installs it")];

/// Languages of blocks that are not run, and the reason.
pub(super) const EXEMPT_LANGUAGES: [(&str, &str); 5] = [
    ("html", "a page that embeds the viewer; tests/browser/embedding.rs runs the example"),
    ("js", "a page that embeds the viewer; tests/browser/embedding.rs runs the example"),
    ("nginx", "configuration of a server that is not ours"),
    ("text", "a diagram or an address, no command"),
    ("yaml", "a workflow of GitHub; tests/action.rs runs the action"),
];

/// Words that follow `memscape` in prose of `--help`, where it is not a command.
pub(super) const PROSE: [&str; 2] = ["does", "with"];

/// Placeholders in commands: command, placeholder, replacement. Other placeholders (`FILE`, `A`, `B`, `DIR`, `FOLDER`)
/// are names of files in the folder where commands run.
const PLACEHOLDERS: [(&str, &str, &str); 11] = [
    ("summary", "FILE...", "FILE"),
    ("mcp", "[FILE|FOLDER]", "FOLDER"),
    ("sql", "SELECT …", "SELECT 1"),
    // The generated file has fewer events than those in the documents.
    ("live", "126670", "300"),
    ("live", "52000000", "200"),
    ("peak", "1.2s", "5ms"),
    ("peak", "3s", "10ms"),
    ("events", "3200", "300"),
    ("events", "3220", "320"),
    // Stand for any command and any topic.
    ("COMMAND", "COMMAND", "oom"),
    ("help", "TOPIC", "opening"),
];

/// Runs the commands of documents in a [`Workshop`], and records which table entries were used.
pub(super) struct Session {
    pub(super) workshop: Workshop,
    pub(super) commands_run: usize,
    has_python: bool,
    commands: Vec<String>,
    used: BTreeSet<String>,
}

impl Session {
    pub(super) fn new(name: &str) -> Session {
        let workshop = Workshop::new(name);
        let help = workshop.memscape(&["--help".to_owned()], "").unwrap();
        let (_, list) = help.split_once("Commands:\n").unwrap();
        let list = list.lines().take_while(|line| !line.is_empty());
        let commands = list.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
        Session { workshop, commands_run: 0, has_python: has_python(), commands, used: BTreeSet::new() }
    }

    /// Returns the names of all commands of the program.
    pub(super) fn commands(&self) -> Vec<String> {
        self.commands.clone()
    }

    /// Returns an error for each table entry that no document uses.
    pub(super) fn unused(&self) -> Vec<String> {
        let placeholders = PLACEHOLDERS.map(|(command, from, _)| format!("{command} {from}"));
        let known = EXEMPT.iter().map(|(start, _)| (*start).to_owned()).chain(placeholders);
        known
            .filter(|entry| !self.used.contains(entry))
            .map(|entry| format!("no document has {entry:?}: remove it"))
            .collect()
    }

    /// Checks a command in a code span. A command without a file is not run, only its name and options are checked.
    ///
    /// # Errors
    /// Describes the failure in one sentence.
    pub(super) fn check_span(&mut self, span: &str) -> Result<(), String> {
        let words = words(span);
        let is_named = words.len() == 2 || words.get(2).is_some_and(|word| word.starts_with('-') && word != "--help");
        if words.first().is_some_and(|word| word == "memscape") && is_named {
            return self.check_names(&words[1..]);
        }
        self.check(span)
    }

    /// Checks that the command and its options exist.
    fn check_names(&mut self, words: &[String]) -> Result<(), String> {
        if !self.commands.contains(&words[0]) {
            return Err(format!("there is no command {}", words[0]));
        }
        if words[0] == "run" && !self.has_python {
            return Ok(());
        }
        let help = self.workshop.memscape(&[words[0].clone(), "--help".to_owned()], "")?;
        let is_known = |option: &str| help.split(&[' ', ',', '\n', '=', '['][..]).any(|known| known == option);
        let unknown = words.iter().find(|word| word.starts_with('-') && !is_known(word));
        unknown.map_or(Ok(()), |option| Err(format!("{} has no option {option}", words[0])))
    }

    /// Runs a command, or checks it if its kind cannot be run here. Empty lines and comments are accepted.
    ///
    /// # Errors
    /// Fails if the command fails or is of an unknown kind.
    pub(super) fn check(&mut self, command: &str) -> Result<(), String> {
        if let Some((start, _)) = EXEMPT.iter().find(|(start, _)| command.starts_with(start)) {
            self.used.insert((*start).to_owned());
            return Ok(());
        }
        let words = words(command);
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => Ok(()),
            ["memscape", ..] => self.run(&words[1..]),
            ["tar", "-xf", archive] => self.workshop.unpack(archive),
            ["torchrun", "--nproc-per-node", ranks, ref rest @ ..] => self.torchrun(ranks, rest),
            ["./run", ref rest @ ..] => tasks::check_run(rest),
            ["cargo", ref rest @ ..] => tasks::check_cargo(rest),
            _ => Err("unknown kind of command: give it one in tests/documents, or exempt it with a reason".to_owned()),
        }
    }

    fn run(&mut self, words: &[String]) -> Result<(), String> {
        self.commands_run += 1;
        let mut words = words.to_vec();
        let command = words[0].clone();
        for word in &mut words {
            let known = PLACEHOLDERS.iter().find(|(owner, from, _)| *owner == command && from == word);
            if let Some((owner, from, to)) = known {
                self.used.insert(format!("{owner} {from}"));
                *word = (*to).to_owned();
            }
        }
        match &*command {
            // Needs packages of PyPI: tests/fleet has them.
            "serve" if words.iter().any(|word| word == "--lake") => self.check_names(&words),
            "serve" => self.workshop.serve(&words[1..]),
            "tui" => {
                self.workshop.tui(&words[1..]);
                Ok(())
            }
            "run" | "fleet" if !self.has_python => Ok(()),
            "fleet" => self.check_fleet(&words),
            // Needs a running program: tests/cli_attach.rs has one.
            "attach" => self.check_names(&words),
            "ask" => {
                let answer = self.workshop.memscape(&words, &format!("{}\n", protocol::QUESTION))?;
                protocol::check_answer(&answer)
            }
            "mcp" => protocol::listed_tools(&self.workshop, &words).map(|_| ()),
            "sql" if words.iter().any(|word| word.contains("SELECT") || word == "--schema") => {
                self.workshop.memscape(&words, "").map(|_| ())
            }
            "sql" => self.workshop.memscape(&words, "SELECT 41 + 1;\n").and_then(|answer| {
                if answer.contains("42") { Ok(()) } else { Err(format!("answers a query with {answer}")) }
            }),
            _ => self.workshop.memscape(&words, "").map(|_| ()),
        }
    }

    /// Checks the action and the options of `memscape fleet`. It needs packages of PyPI, so `tests/fleet` runs it.
    fn check_fleet(&self, words: &[String]) -> Result<(), String> {
        let action = words.get(1).cloned().unwrap_or_default();
        let help = self.workshop.memscape(&["fleet".to_owned(), action.clone(), "--help".to_owned()], "")?;
        let is_known = |option: &str| help.split(&[' ', ',', '\n', '=', '[', ']'][..]).any(|known| known == option);
        let unknown = words.iter().find(|word| word.starts_with('-') && !is_known(word));
        unknown.map_or(Ok(()), |option| Err(format!("fleet {action} has no option {option}")))
    }

    /// Runs the last of the ranks that torchrun would start.
    fn torchrun(&mut self, ranks: &str, words: &[&str]) -> Result<(), String> {
        if !self.has_python {
            return Ok(());
        }
        let last: u32 = ranks.parse().map_err(|_| format!("torchrun starts {ranks} processes"))?;
        let mut python = self.workshop.command("python3");
        python.args(words).env("WORLD_SIZE", ranks).env("RANK", (last - 1).to_string());
        let output = self.workshop.output(python, "");
        let error = String::from_utf8_lossy(&output.stderr);
        if output.status.success() { Ok(()) } else { Err(format!("fails: {error}")) }
    }
}
