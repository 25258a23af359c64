//! What `memscape plot` is told.

use engine::protocol::Grouping;

/// CSS pixels that make a picture people can read, and that browsers draw.
const SIDES: std::ops::RangeInclusive<u32> = 200..=16_000;

/// What `memscape plot` is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    /// The snapshot; `-` is standard input.
    pub(crate) file: String,
    /// Where the picture goes; `-` is standard output.
    pub(crate) out: String,
    /// The device's ordinal; the first one otherwise.
    pub(crate) device: Option<i64>,
    /// Of the whole picture, in CSS pixels.
    pub(crate) width: u32,
    /// Of the timeline, in CSS pixels.
    pub(crate) height: u32,
    /// The first event, or second.
    pub(crate) from: Option<f64>,
    /// The last one.
    pub(crate) to: Option<f64>,
    /// What the horizontal axis counts.
    pub(crate) axis: picture::timeline::Axis,
    /// How it is stacked.
    pub(crate) stack: Option<Grouping>,
    /// What colours tell.
    pub(crate) colour: Grouping,
    /// Its colours.
    pub(crate) theme: Theme,
}

/// Colours for paper, or for a dark page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Theme {
    Light,
    Dark,
}

impl Options {
    /// Reads the arguments after `plot`.
    ///
    /// # Errors
    /// What makes no sense, in a few words.
    pub(crate) fn of(arguments: &[String]) -> Result<Options, String> {
        let mut options = Options {
            file: String::new(),
            out: String::new(),
            device: None,
            width: 1200,
            height: 480,
            from: None,
            to: None,
            axis: picture::timeline::Axis::Events,
            stack: None,
            colour: Grouping::CallSite,
            theme: Theme::Light,
        };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            let before = rest.clone();
            if options.take(argument, &mut rest).is_none() {
                let taken = before.len() - rest.len();
                let value = before.take(taken).next_back().unwrap_or_default();
                return Err(format!("{argument} {value}").trim_end().to_owned() + " makes no sense");
            }
        }
        let in_order = options.from.zip(options.to).is_none_or(|(from, to)| from <= to);
        match () {
            () if options.file.is_empty() => Err("which FILE?".to_owned()),
            () if options.out.is_empty() => Err("where to? -o OUT.svg is missing".to_owned()),
            () if !in_order => Err("--from is after --to".to_owned()),
            () => Ok(options),
        }
    }

    /// Takes one argument, with its value; `None` when that makes no sense.
    fn take<'a>(&mut self, argument: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        match argument {
            "-o" | "--output" => self.out = rest.next()?.to_owned(),
            "--device" => self.device = Some(rest.next()?.parse().ok()?),
            "--width" => self.width = side(rest.next()?)?,
            "--height" => self.height = side(rest.next()?)?,
            "--from" => self.from = Some(place(rest.next()?)?),
            "--to" => self.to = Some(place(rest.next()?)?),
            "--time" => self.axis = picture::timeline::Axis::Time,
            "--dark" => self.theme = Theme::Dark,
            "--stack" => {
                self.stack = match rest.next()? {
                    "birth" => None,
                    name => Some(Grouping::named(name)?),
                }
            }
            "--colour" | "--color" => self.colour = Grouping::named(rest.next()?)?,
            file if self.file.is_empty() && (file == "-" || !file.starts_with('-')) => {
                self.file = file.to_owned();
            }
            _ => return None,
        }
        Some(())
    }
}

fn side(text: &str) -> Option<u32> {
    text.parse().ok().filter(|side| SIDES.contains(side))
}

fn place(text: &str) -> Option<f64> {
    text.parse().ok().filter(|place: &f64| place.is_finite() && *place >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Option<Options> {
        Options::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).ok()
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let error = |line: &str| Options::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).err();
        assert_eq!(error("a.pickle -o b.svg --stack foo").as_deref(), Some("--stack foo makes no sense"));
        assert_eq!(error("a.pickle -o b.svg --width").as_deref(), Some("--width makes no sense"));
        assert_eq!(error("a.pickle").as_deref(), Some("where to? -o OUT.svg is missing"));
        assert_eq!(error("a.pickle -o b.svg --from 5 --to 2").as_deref(), Some("--from is after --to"));
    }

    #[test]
    fn arguments_come_in_any_order() {
        let read = options("--dark -o - a.pickle --from 3 --to 7 --stack pool --color size --device -1").unwrap();
        assert_eq!((read.file.as_str(), read.out.as_str(), read.device), ("a.pickle", "-", Some(-1)));
        assert_eq!((read.from, read.to, read.theme), (Some(3.0), Some(7.0), Theme::Dark));
        assert_eq!((read.stack, read.colour), (Some(Grouping::Pool), Grouping::Size));
        assert_eq!(options("- -o x.svg").unwrap().file, "-");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for line in [
            "",
            "a",
            "-o x",
            "a b -o x",
            "a -o",
            "a -o x --width 3",
            "a -o x --from x",
            "a -o x --from 5 --to 2",
            "a -o x --stack colour",
            "a -o x --png",
            "a -o x --from nan",
        ] {
            assert_eq!(options(line), None, "{line}");
        }
    }
}
