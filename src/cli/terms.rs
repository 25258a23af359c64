//! What `memscape live`, `peak`, `find`, `state` and the reports are told.

use base::units::BYTE_UNITS;
use engine::protocol::{Action, NamedEvent, Query, Topic, Turn};
use ui::typed_moment::{Typed, typed};

/// What one of them is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Terms {
    /// The snapshot; `-` is standard input.
    pub(crate) file: String,
    /// `find`: what to look for; `events`: which of them, as the page's list takes it.
    pub(crate) pattern: String,
    /// `events`: from here to there, both included.
    pub(crate) span: [Option<When>; 2],
    /// The device's ordinal; the first one otherwise.
    pub(crate) device: Option<i64>,
    /// `live`, `find` and the reports: when; `find` without it: ever.
    pub(crate) when: Option<When>,
    /// What allocations are put together by.
    pub(crate) by: By,
    /// `live` and `peak`: what counts.
    pub(crate) counting: Counting,
    /// `--by tree`: whether the innermost frames stand at the root.
    pub(crate) order: engine::protocol::Root,
    /// `--by tree`: whether internal frames are left out.
    pub(crate) internal: engine::protocol::Internal,
    /// The most lines that are printed.
    pub(crate) top: u32,
    /// For people, or for programs.
    pub(crate) form: Form,
    /// `peak`: the times it lies between, µs since 1970.
    pub(crate) window: [Option<Clock>; 2],
    /// Reports: what about.
    pub(crate) topic: Topic,
    /// Reports: the file of the rules that categories are told by.
    pub(crate) rules: Option<String>,
    /// Reports: thresholds that are to be others, key and value.
    pub(crate) thresholds: Vec<(String, u64)>,
    /// `state`: the pool and the stream it is about; all without.
    pub(crate) pool: Option<(u64, u64)>,
    pub(crate) stream: Option<u64>,
    /// `state`: bytes of a request that is asked about.
    pub(crate) request: Option<u64>,
    /// `state`: whether blocks are told as well.
    pub(crate) blocks: bool,
}

/// When.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum When {
    /// At the peak of requested bytes.
    Peak,
    /// At the peak of reserved bytes.
    ReservedPeak,
    /// After the last event.
    End,
    /// After this event; −1: before the first.
    Event(i64),
    /// After the events up to this time.
    Time(Clock),
    /// After this event.
    Named(NamedEvent),
}

/// What counts as live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counting {
    /// All that the device has live.
    Whole,
    /// Only what was born in the trace, as Mosaic counts.
    Mosaic,
}

impl Counting {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Counting::Whole => "whole",
            Counting::Mosaic => "mosaic",
        }
    }
}

/// A time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(crate) enum Clock {
    /// µs since 1970, as files have it.
    Since1970(i64),
    /// µs since the first event, as the page shows it.
    SinceFirst(u64),
}

/// What allocations are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// The innermost frame that is not internal.
    Site,
    /// The frames of their stacks, one below the other.
    Tree,
    /// The file of the innermost frame that is not internal.
    File,
    /// Its function.
    Function,
}

impl By {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            By::Site => "site",
            By::Tree => "tree",
            By::File => "file",
            By::Function => "function",
        }
    }
}

/// For people, or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
    /// Reports alone.
    Markdown,
}

/// Lines that are printed when nobody says how many; of a report those of each sheet, which are many.
const LINES: u32 = 20;
const LINES_OF_SHEET: u32 = 10;

impl Terms {
    /// Reads the arguments after the command.
    ///
    /// # Errors
    /// What makes no sense, in a few words.
    pub(crate) fn of(command: &str, arguments: &[String]) -> Result<Terms, String> {
        let mut terms = Terms {
            file: String::new(),
            pattern: String::new(),
            span: [None; 2],
            device: None,
            when: None,
            by: By::Site,
            counting: Counting::Whole,
            order: Default::default(),
            internal: Default::default(),
            top: if Topic::named(command).is_some() { LINES_OF_SHEET } else { LINES },
            form: Form::Text,
            window: [None; 2],
            topic: Topic::named(command).unwrap_or_default(),
            rules: None,
            thresholds: Vec::new(),
            pool: None,
            stream: None,
            request: None,
            blocks: false,
        };
        let mut rest = arguments.iter().map(String::as_str);
        let mut words = Vec::new();
        while let Some(argument) = rest.next() {
            let before = rest.clone();
            let taken = match argument {
                "--" => {
                    words.extend(rest.by_ref());
                    Some(())
                }
                word if word == "-" || !word.starts_with('-') => {
                    words.push(word);
                    Some(())
                }
                flag => terms.take(command, flag, &mut rest),
            };
            if taken.is_none() {
                let taken = before.len() - rest.len();
                let value = before.take(taken).next_back().unwrap_or_default();
                return Err(format!("{argument} {value}").trim_end().to_owned() + " makes no sense");
            }
        }
        let most = if command == "find" { 2 } else { 1 };
        match (words.as_slice(), terms.window) {
            ([], _) => return Err("which FILE?".to_owned()),
            ([_], _) if most == 2 => return Err("what PATTERN?".to_owned()),
            (words, _) if words.len() > most => {
                return Err(format!("{} is one too many", words.last().copied().unwrap_or_default()));
            }
            (_, [Some(from), Some(to)]) if from > to => return Err("--from is after --to".to_owned()),
            (words, _) => {
                let mut words = words.iter().map(|word| (*word).to_owned());
                terms.file = words.next().unwrap_or_default();
                if let Some(pattern) = words.next() {
                    terms.pattern = pattern;
                }
            }
        }
        Ok(terms)
    }

    /// Takes a flag, with its value; `None` when that makes no sense.
    fn take<'a>(&mut self, command: &str, flag: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<()> {
        let command = if Topic::named(command).is_some() { "a report" } else { command };
        match (command, flag) {
            (_, "--json") => self.form = Form::Json,
            (_, "--device") => self.device = Some(rest.next()?.parse().ok()?),
            (_, "--top") => self.top = rest.next()?.parse().ok()?,
            ("live" | "find" | "state" | "a report", "--at") => self.when = Some(when(rest.next()?)?),
            ("live" | "peak", "--by") => {
                let name = rest.next()?;
                self.by = [By::Site, By::Tree, By::File, By::Function].into_iter().find(|by| by.name() == name)?;
            }
            ("live" | "peak", "--inverted") => self.order = engine::protocol::Root::Innermost,
            ("live" | "peak", "--hide-internal") => self.internal = engine::protocol::Internal::Hidden,
            ("a report", "--markdown") => self.form = Form::Markdown,
            ("a report", "--rules") => self.rules = Some(rest.next()?.to_owned()),
            ("a report", "--threshold") => {
                let (key, value) = rest.next()?.split_once('=')?;
                self.thresholds.push((key.to_owned(), number(value)?));
            }
            ("live" | "peak", "--counting") => {
                let name = rest.next()?;
                self.counting = [Counting::Whole, Counting::Mosaic].into_iter().find(|it| it.name() == name)?;
            }
            ("state", "--pool") => {
                let (first, second) = rest.next()?.split_once(',')?;
                self.pool = Some((first.trim().parse().ok()?, second.trim().parse().ok()?));
            }
            ("state", "--stream") => self.stream = Some(stream(rest.next()?)?),
            ("state", "--request") => self.request = Some(number(rest.next()?)?),
            ("state", "--blocks") => self.blocks = true,
            ("events", "--from") => self.span[0] = Some(when(rest.next()?)?),
            ("events", "--to") => self.span[1] = Some(when(rest.next()?)?),
            ("events", "--filter") => self.restrict(rest.next()?),
            ("events", "--size") => {
                let size = rest.next()?;
                matches!(Query::parse(size), Ok(Query::Size(..))).then(|| self.restrict(size))?;
            }
            ("events", "--stream") => self.restrict(&["stream:", rest.next()?].concat()),
            ("events", "--pool") => self.restrict(&["pool:", rest.next()?].concat()),
            ("events", "--action") => {
                let names = rest.next()?;
                let is_one = |name: &str| Action::ALL.iter().any(|action| action.name() == name.trim());
                self.restrict(Some(names).filter(|names| names.split(',').all(is_one))?);
            }
            ("peak", "--from") => self.window[0] = Some(clock(rest.next()?)?),
            ("peak", "--to") => self.window[1] = Some(clock(rest.next()?)?),
            _ => return None,
        }
        Some(())
    }
}

impl Terms {
    /// One term more that has to hold.
    fn restrict(&mut self, term: &str) {
        self.pattern.push_str(if self.pattern.is_empty() { "" } else { " & " });
        self.pattern.push_str(term);
    }
}

/// A moment as the command line names it: `peak`, `reserved-peak`, `end`, `126670`, `1759252605604106us`, `alloc:7f89b4000000_0`, `free_completed:7f89b4000000_0`.
pub(crate) fn when(text: &str) -> Option<When> {
    let named = |turn, name: &str| {
        let (address, version) = name.rsplit_once('_')?;
        let address = u64::from_str_radix(address.strip_prefix("0x").unwrap_or(address), 16).ok()?;
        Some(When::Named(NamedEvent { turn, address, version: version.parse().ok()? }))
    };
    match text.split_once(':') {
        Some(("alloc", name)) => named(Turn::Alloc, name.trim()),
        Some(("free_completed", name)) => named(Turn::FreeCompleted, name.trim()),
        Some(_) => None,
        None => match text {
            "peak" => Some(When::Peak),
            "reserved-peak" => Some(When::ReservedPeak),
            "end" => Some(When::End),
            text => match text.parse() {
                Ok(event) => Some(When::Event(event)).filter(|_| event >= -1),
                Err(_) => clock(text).map(When::Time),
            },
        },
    }
}

/// `1759252605604106us`, or without its unit, since 1970; `1.25s` and `350ms` since the first event.
fn clock(text: &str) -> Option<Clock> {
    match text.strip_suffix("us").unwrap_or(text).parse() {
        Ok(us) => Some(Clock::Since1970(us)),
        Err(_) => match typed(text)? {
            Typed::Time(us) => Some(Clock::SinceFirst(us)),
            _ => None,
        },
    }
}

/// A stream's handle: `0`, `0x7f89b4000000`.
fn stream(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A whole number, also of a unit of bytes: `1MiB`.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match text.get(digits.len()..)? {
        "" => 0,
        unit => BYTE_UNITS.iter().position(|known| *known == unit)?,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << (10 * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(command: &str, line: &str) -> Result<Terms, String> {
        Terms::of(command, &line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn moments_are_told_in_many_ways() {
        let at = |text: &str| terms("live", &format!("a.pickle --at {text}")).map(|terms| terms.when.unwrap());
        assert_eq!((at("peak"), at("end"), at("-1")), (Ok(When::Peak), Ok(When::End), Ok(When::Event(-1))));
        assert_eq!(at("1759252605604106us"), Ok(When::Time(Clock::Since1970(1_759_252_605_604_106))));
        assert_eq!(at("350ms"), Ok(When::Time(Clock::SinceFirst(350_000))));
        assert_eq!(at("1.25s"), Ok(When::Time(Clock::SinceFirst(1_250_000))));
        let named = |turn| NamedEvent { turn, address: 0x7f89_b400_0000, version: 3 };
        assert_eq!(at("alloc:7f89b4000000_3"), Ok(When::Named(named(Turn::Alloc))));
        assert_eq!(at("free_completed:0x7f89b4000000_3"), Ok(When::Named(named(Turn::FreeCompleted))));
        for wrong in ["-2", "alloc:7f89b4000000", "free:1_0", "soon", "12h", "1.5"] {
            assert_eq!(at(wrong), Err(format!("--at {wrong} makes no sense")));
        }
    }

    #[test]
    fn arguments_come_in_any_order() {
        let read = terms("live", "--by tree --top 7 a.pickle --inverted --json --hide-internal --device 1").unwrap();
        assert_eq!((read.by, read.top, read.form, read.device), (By::Tree, 7, Form::Json, Some(1)));
        let read = terms("find", "a.pickle -- -x").unwrap();
        assert_eq!((read.file.as_str(), read.pattern.as_str()), ("a.pickle", "-x"));
        assert_eq!(terms("peak", "a --from 3us --to 9").unwrap().window, [3, 9].map(|us| Some(Clock::Since1970(us))));
    }

    #[test]
    fn thresholds_are_numbers_of_a_unit() {
        let read = terms("leaks", "a --threshold late=10 --threshold leak=3MiB --markdown --rules r.json").unwrap();
        assert_eq!(read.thresholds, [("late".to_owned(), 10), ("leak".to_owned(), 3 << 20)]);
        assert_eq!((read.form, read.rules.as_deref(), read.top), (Form::Markdown, Some("r.json"), 10));
        for wrong in ["late", "late=", "late=x", "late=-1", "late=1kB", "late=99999999999999999999", "late=16EiB"] {
            assert_eq!(
                terms("leaks", &format!("a --threshold {wrong}")),
                Err(format!("--threshold {wrong} makes no sense"))
            );
        }
        assert_eq!(terms("find", "a b --markdown"), Err("--markdown makes no sense".to_owned()));
    }

    #[test]
    fn a_part_of_memory_is_a_pool_and_a_stream() {
        let read = terms("state", "a --pool 1,2 --stream 0x7f --request 3MiB --blocks --at end").unwrap();
        assert_eq!(
            (read.pool, read.stream, read.request, read.blocks),
            (Some((1, 2)), Some(0x7f), Some(3 << 20), true)
        );
        for wrong in ["--pool 1", "--pool 1,x", "--stream 0xg", "--request 3MB"] {
            assert_eq!(terms("state", &format!("a {wrong}")), Err(format!("{wrong} makes no sense")));
        }
    }

    #[test]
    fn events_are_restricted() {
        let read =
            terms("events", "a --action alloc,oom --size >=1MiB --stream 0 --pool 0,1 --filter x --from 3 --to end")
                .unwrap();
        assert_eq!(read.pattern, "alloc,oom & >=1MiB & stream:0 & pool:0,1 & x");
        assert_eq!(read.span, [Some(When::Event(3)), Some(When::End)]);
        for wrong in ["--action", "--action frees", "--size x", "--at 3"] {
            assert!(
                terms("events", &format!("a {wrong}")).is_err_and(|error| error.ends_with("makes no sense")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let error = |command, line| terms(command, line).unwrap_err();
        assert_eq!(error("live", ""), "which FILE?");
        assert_eq!(error("find", "a"), "what PATTERN?");
        assert_eq!(error("live", "a b"), "b is one too many");
        assert_eq!(error("peak", "a --at 3"), "--at makes no sense");
        assert_eq!(error("live", "a --by colour"), "--by colour makes no sense");
        assert_eq!(error("peak", "a --from 9 --to 3"), "--from is after --to");
    }
}
