//! The command of each insight, such as `memscape oom`, from the rows of [`Topic::ALL`].

use super::insights::{FragmentationArgs, InsightArgs, insight};
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use protocol::Topic;

/// Command of an insight, with its arguments.
#[derive(Clone, Debug)]
pub(crate) struct InsightCommand {
    pub(crate) topic: Topic,
    pub(crate) terms: InsightArgs,
    only_stranded: bool,
}

impl InsightCommand {
    /// Returns the output of the command.
    ///
    /// # Errors
    /// Same as [`insight`].
    pub(crate) fn run(&self) -> Result<String, String> {
        insight(self.topic, &self.terms, self.only_stranded)
    }
}

/// Returns the insights that have a command. `memscape peak` is another command, which lists what is live.
fn topics() -> impl Iterator<Item = Topic> {
    Topic::ALL.into_iter().filter(|topic| *topic != Topic::Peak)
}

/// Returns the insight whose command has this name.
fn topic_of(name: &str) -> Option<Topic> {
    topics().find(|topic| topic.name() == name)
}

impl Subcommand for InsightCommand {
    fn augment_subcommands(parent: Command) -> Command {
        parent.subcommands(topics().map(|topic| {
            let command = Command::new(topic.name());
            let command = match topic {
                Topic::Fragmentation => FragmentationArgs::augment_args(command),
                _ => InsightArgs::augment_args(command),
            };
            command.about(topic.help()).long_about(None).aliases(topic.old_names())
        }))
    }

    fn augment_subcommands_for_update(parent: Command) -> Command {
        InsightCommand::augment_subcommands(parent)
    }

    fn has_subcommand(name: &str) -> bool {
        topic_of(name).is_some()
    }
}

impl FromArgMatches for InsightCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<InsightCommand, Error> {
        let named = matches.subcommand().and_then(|(name, matches)| Some((topic_of(name)?, matches)));
        let (topic, matches) = named.ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))?;
        let only_stranded = topic == Topic::Fragmentation && matches.get_flag("stranded");
        Ok(InsightCommand { topic, terms: InsightArgs::from_arg_matches(matches)?, only_stranded })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = InsightCommand::from_arg_matches(matches)?;
        Ok(())
    }
}
