//! `memscape help`: the help of a command, or a page of the manual.

use super::markdown_text::to_text;
use super::output::{print, print_clap};
use super::terminal::line_width;
use clap::{Args, Command};

/// Returns a page of `www/docs` with its topic.
macro_rules! page {
    ($topic:literal) => {
        ($topic, include_str!(concat!(env!("OUT_DIR"), "/docs/", $topic, ".md")))
    };
}

/// Pages of the manual, in the order of `www/docs/index.md`: topic and Markdown.
const PAGES: &[(&str, &str)] = &[
    page!("tutorial-oom"),
    page!("tutorial-leak"),
    page!("tutorial-fragmentation"),
    page!("tutorial-ranks"),
    page!("tutorial-ci"),
    page!("opening"),
    page!("views"),
    page!("searching"),
    page!("insight-topics"),
    page!("comparing"),
    page!("checking"),
    page!("fleets"),
    page!("planning"),
    page!("recording"),
    page!("trainers"),
    page!("python"),
    page!("commands"),
    page!("queries"),
    page!("terminal"),
    page!("agents"),
    page!("exporting"),
    page!("sharing"),
    page!("embedding"),
    page!("hosting"),
    page!("limits"),
    page!("building"),
];

/// Width of the longest topic, in columns.
const TOPIC_WIDTH: usize = 22;
/// Maximum width of text in columns. Longer lines are hard to read.
const MAX_WIDTH: usize = 100;
/// Width of text that is written to a pipe or a file, in columns.
const PIPE_WIDTH: usize = 80;

/// Arguments of `memscape help`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Help {
    /// Command, or topic of the manual; if omitted, all commands and topics are listed
    #[arg(value_name = "COMMAND|TOPIC")]
    name: Option<String>,
}

impl Help {
    /// Returns an error message if there is no such command or topic, or `None`.
    pub(crate) fn conflict(&self, cli: &Command) -> Option<String> {
        let name = self.name.as_deref().filter(|name| page(name).is_none() && cli.find_subcommand(name).is_none())?;
        let topics: Vec<&str> = PAGES.iter().map(|(topic, _)| *topic).collect();
        let topics = topics.join(", ");
        Some(format!("there is no command or topic {name:?}\n\nTopics: {topics}"))
    }

    /// Prints the help or the page.
    ///
    /// # Errors
    /// Returns an error message if standard output cannot be written.
    pub(crate) fn run(&self, cli: Command) -> Result<(), String> {
        if let Some(markdown) = self.name.as_deref().and_then(page) {
            return print(&to_text(markdown, line_width().map_or(PIPE_WIDTH, |width| width.min(MAX_WIDTH))));
        }
        let words = ["memscape"].into_iter().chain(self.name.as_deref()).chain(["--help"]);
        // clap returns the help as an error.
        if let Err(help) = cli.try_get_matches_from(words) {
            print_clap(&help)?;
        }
        if self.name.is_none() { print(&topic_list()) } else { Ok(()) }
    }
}

/// Returns the Markdown of the page about a topic.
fn page(name: &str) -> Option<&'static str> {
    PAGES.iter().find(|(topic, _)| *topic == name).map(|(_, markdown)| *markdown)
}

/// Returns the list of topics, each with the title of its page.
fn topic_list() -> String {
    let title = |markdown: &str| markdown.lines().next().unwrap_or_default().trim_start_matches("# ").to_owned();
    let rows = PAGES.iter().map(|(topic, markdown)| format!("  {topic:<TOPIC_WIDTH$} {}\n", title(markdown)));
    ["\nTopics of the manual (memscape help TOPIC):\n", &rows.collect::<String>()].concat()
}
