//! What `memscape plot` is told.

use memscape::engine::protocol::Grouping;

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
    pub(crate) axis: memscape::timeline::Axis,
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
    /// Reads the arguments after `plot`; `None` when they make no sense.
    pub(crate) fn of(arguments: &[String]) -> Option<Options> {
        let mut options = Options {
            file: String::new(),
            out: String::new(),
            device: None,
            width: 1200,
            height: 480,
            from: None,
            to: None,
            axis: memscape::timeline::Axis::Events,
            stack: None,
            colour: Grouping::CallSite,
            theme: Theme::Light,
        };
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(argument) = rest.next() {
            match argument {
                "-o" | "--output" => options.out = rest.next()?.to_owned(),
                "--device" => options.device = Some(rest.next()?.parse().ok()?),
                "--width" => options.width = side(rest.next()?)?,
                "--height" => options.height = side(rest.next()?)?,
                "--from" => options.from = Some(place(rest.next()?)?),
                "--to" => options.to = Some(place(rest.next()?)?),
                "--time" => options.axis = memscape::timeline::Axis::Time,
                "--dark" => options.theme = Theme::Dark,
                "--stack" => {
                    options.stack = match rest.next()? {
                        "birth" => None,
                        name => Some(Grouping::named(name)?),
                    }
                }
                "--colour" | "--color" => options.colour = Grouping::named(rest.next()?)?,
                file if options.file.is_empty() && (file == "-" || !file.starts_with('-')) => {
                    options.file = file.to_owned();
                }
                _ => return None,
            }
        }
        let in_order = options.from.zip(options.to).is_none_or(|(from, to)| from <= to);
        (in_order && !options.file.is_empty() && !options.out.is_empty()).then_some(options)
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
        Options::of(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
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
