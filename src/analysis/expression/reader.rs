//! The text of an expression → its steps.

use super::{Class, ExpressionError, Place, Step};
use base::sorted::{pair, sorted_by_key};

/// Steps an expression may have.
const MOST_STEPS: usize = 1000;
/// How deep groups may stand in each other.
const DEEPEST: u32 = 50;

const DIGITS: &[(char, char)] = &[('0', '9')];
const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
const SPACES: &[(char, char)] = &[('\t', '\r'), (' ', ' ')];

/// Reads a whole expression.
pub(super) fn read(text: &str) -> Result<(Vec<Step>, Vec<Class>), ExpressionError> {
    let mut reader = Reader { rest: text, depth: 0, classes: Vec::new() };
    let steps = reader.alternatives()?;
    if reader.rest.is_empty() { Ok((steps, reader.classes)) } else { Err(ExpressionError::Bracket) }
}

/// What is left of an expression.
struct Reader<'a> {
    rest: &'a str,
    depth: u32,
    classes: Vec<Class>,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn alternatives(&mut self) -> Result<Vec<Step>, ExpressionError> {
        let mut steps = self.sequence()?;
        let mut before = Vec::new();
        while self.skip("|") {
            if before.len() > MOST_STEPS {
                return Err(ExpressionError::TooLarge);
            }
            before.push(std::mem::replace(&mut steps, self.sequence()?));
        }
        while let Some(mut one) = before.pop() {
            one.insert(0, Step::Split(1, one.len() as i32 + 2));
            one.push(Step::Jump(steps.len() as i32 + 1));
            one.extend_from_slice(&steps);
            steps = within(one)?;
        }
        Ok(steps)
    }

    fn sequence(&mut self) -> Result<Vec<Step>, ExpressionError> {
        let mut steps = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let one = self.one()?;
            steps.extend_from_slice(&self.repeated(one)?);
            steps = within(steps)?;
        }
        Ok(steps)
    }

    fn one(&mut self) -> Result<Vec<Step>, ExpressionError> {
        let step = match self.next() {
            Some('(') => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(ExpressionError::TooLarge);
                }
                if self.skip("?") && !self.skip(":") {
                    return Err(ExpressionError::Group);
                }
                let steps = self.alternatives()?;
                self.depth -= 1;
                return if self.skip(")") { Ok(steps) } else { Err(ExpressionError::Bracket) };
            }
            Some('[') => {
                let class = self.class()?;
                self.step_of(class)?
            }
            Some('.') => Step::Any,
            Some('^') => Step::Check(Place::Start),
            Some('$') => Step::Check(Place::End),
            Some('*' | '+' | '?' | '{') | None => return Err(ExpressionError::Repeat),
            Some('\\') => match self.escaped()? {
                Escaped::Letter(letter) => Step::One(letter),
                Escaped::Place(place) => Step::Check(place),
                Escaped::Class(ranges, negated) => self.step_of(Class { negated, ranges: ranges.to_vec() })?,
            },
            Some(letter) => Step::One(letter),
        };
        Ok(vec![step])
    }

    /// Repeats steps as what follows them says.
    fn repeated(&mut self, one: Vec<Step>) -> Result<Vec<Step>, ExpressionError> {
        let (least, most) = match self.rest.chars().next() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let (counts, rest) = self.rest.split_once('}').ok_or(ExpressionError::Count)?;
                self.rest = rest;
                let counts = counts.strip_prefix('{').unwrap_or_default();
                let number = |text: &str| text.parse::<usize>().map_err(|_| ExpressionError::Count);
                match counts.split_once(',') {
                    None => (number(counts)?, Some(number(counts)?)),
                    Some((least, "")) => (number(least)?, None),
                    Some((least, most)) => (number(least)?, Some(number(most)?)),
                }
            }
            _ => return Ok(one),
        };
        let _ = self.skip("*") || self.skip("+") || self.skip("?");
        let _ = self.skip("?");
        if self.rest.starts_with(['*', '+', '?', '{']) {
            return Err(ExpressionError::Repeat);
        }
        if most.is_some_and(|most| most < least) {
            return Err(ExpressionError::Count);
        }
        // Also what has no steps of its own is not repeated without end.
        let times = least.max(most.unwrap_or(0)).max(1);
        if times.saturating_mul(one.len() + 2) > MOST_STEPS {
            return Err(ExpressionError::TooLarge);
        }
        let length = one.len() as i32;
        let mut steps = Vec::new();
        for _ in 0..least {
            steps.extend_from_slice(&one);
        }
        match most {
            None => {
                steps.push(Step::Split(1, length + 2));
                steps.extend_from_slice(&one);
                steps.push(Step::Jump(-length - 1));
            }
            Some(most) => {
                for _ in least..most {
                    steps.push(Step::Split(1, length + 1));
                    steps.extend_from_slice(&one);
                }
            }
        }
        within(steps)
    }

    fn step_of(&mut self, mut class: Class) -> Result<Step, ExpressionError> {
        let ranges = sorted_by_key(class.ranges, |&(from, to)| pair(from.into(), to.into()));
        class.ranges = Vec::new();
        for (from, to) in ranges {
            match class.ranges.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => class.ranges.push((from, to)),
            }
        }
        let number = u16::try_from(self.classes.len()).map_err(|_| ExpressionError::TooLarge)?;
        self.classes.push(class);
        Ok(Step::Class(number))
    }

    fn class(&mut self) -> Result<Class, ExpressionError> {
        let mut class = Class { negated: self.skip("^"), ranges: Vec::new() };
        let mut is_first = true;
        loop {
            let from = match self.next() {
                None => return Err(ExpressionError::Bracket),
                Some(']') if !is_first => return Ok(class),
                Some('\\') => match self.escaped()? {
                    Escaped::Letter(letter) => letter,
                    Escaped::Class(ranges, negated) => {
                        class.add(ranges, negated);
                        is_first = false;
                        continue;
                    }
                    Escaped::Place(_) => return Err(ExpressionError::Escape),
                },
                Some(letter) => letter,
            };
            is_first = false;
            let mut to = from;
            if self.rest.starts_with('-') && !self.rest.starts_with("-]") {
                let _ = self.next();
                to = match self.next() {
                    None => return Err(ExpressionError::Bracket),
                    Some('\\') => match self.escaped()? {
                        Escaped::Letter(letter) => letter,
                        _ => return Err(ExpressionError::Range),
                    },
                    Some(letter) => letter,
                };
            }
            if to < from {
                return Err(ExpressionError::Range);
            }
            class.ranges.push((from, to));
        }
    }

    fn escaped(&mut self) -> Result<Escaped, ExpressionError> {
        Ok(match self.next() {
            Some('d') => Escaped::Class(DIGITS, false),
            Some('D') => Escaped::Class(DIGITS, true),
            Some('w') => Escaped::Class(WORD, false),
            Some('W') => Escaped::Class(WORD, true),
            Some('s') => Escaped::Class(SPACES, false),
            Some('S') => Escaped::Class(SPACES, true),
            Some('b') => Escaped::Place(Place::WordEdge),
            Some('B') => Escaped::Place(Place::NoWordEdge),
            Some('A') => Escaped::Place(Place::Start),
            Some('z') => Escaped::Place(Place::End),
            Some('n') => Escaped::Letter('\n'),
            Some('t') => Escaped::Letter('\t'),
            Some('r') => Escaped::Letter('\r'),
            Some(sign) if !sign.is_ascii_alphanumeric() => Escaped::Letter(sign),
            _ => return Err(ExpressionError::Escape),
        })
    }
}

/// What a backslash makes of the sign behind it.
enum Escaped {
    Letter(char),
    Place(Place),
    Class(&'static [(char, char)], bool),
}

fn within(steps: Vec<Step>) -> Result<Vec<Step>, ExpressionError> {
    if steps.len() > MOST_STEPS { Err(ExpressionError::TooLarge) } else { Ok(steps) }
}

impl Class {
    fn add(&mut self, ranges: &[(char, char)], negated: bool) {
        if !negated {
            self.ranges.extend_from_slice(ranges);
            return;
        }
        let mut next = '\0';
        for &(from, to) in ranges {
            let before = char::from_u32(u32::from(from).wrapping_sub(1)).unwrap_or(next);
            self.ranges.push((next, before));
            next = char::from_u32(u32::from(to) + 1).unwrap_or(to);
        }
        self.ranges.push((next, char::MAX));
    }
}
