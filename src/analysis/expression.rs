//! Regular expressions: does a text hold what an expression describes?
//!
//! Only that question, so it takes a fifth of what a crate for it does (`regex-lite`: 48 kB of wasm). The tests hold it against that crate.
//!
//! ```text
//! expression = alternative ("|" alternative)*
//! repeated   = one ("*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}") ["?"]     (the last "?" is for those who write it; it changes nothing)
//! one        = character | "." | "[" ["^"] ranges "]" | "(" expression ")" | "(?:" expression ")" | "^" | "$"
//!            | "\" and one of: d D w W s S (digits, word characters, spaces, or not), b B (at the edge of a word, or not),
//!              A z (start, end), n t r, or a sign that stands for itself
//! ```
//! Letters, digits, spaces and case are those of ASCII. An expression becomes a list of steps; a text is gone through once, with all
//! places in the list that it may have led to (Thompson's construction): that takes their product, whatever the expression.

mod reader;

/// A regular expression.
#[derive(Clone, Debug)]
pub struct Expression {
    steps: Vec<Step>,
    classes: Vec<Class>,
    folds_case: bool,
}

/// How case is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// As it is.
    Matters,
    /// Small and capital ASCII letters are the same.
    Folds,
}

/// Why a text is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// A group is not closed, or closed without being open.
    #[error("a bracket has no partner")]
    Bracket,
    /// Nothing stands before `*`, `+`, `?` or `{`, or what stands there is repeated already.
    #[error("nothing to repeat before * + ? or {{")]
    Repeat,
    /// A `{…}` is none of the three forms, or goes down.
    #[error("{{…}} takes one number or two, the smaller first")]
    Count,
    /// A range goes down, or one of its ends is more than one character.
    #[error("a range in […] goes from a smaller to a larger character")]
    Range,
    /// A backslash before nothing, or before a letter or digit without a meaning.
    #[error("an unknown sign follows a \\")]
    Escape,
    /// A group of another kind than `(…)` and `(?:…)`.
    #[error("groups are (…) or (?:…)")]
    Group,
    /// It has more than a thousand steps, or too many groups in each other.
    #[error("it is too large")]
    TooLarge,
}

/// A step. Ways lead to others, counted from the step itself: so a part can be repeated by copying it.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// This character.
    One(char),
    /// Any but the end of a line.
    Any,
    /// One of the class of this number.
    Class(u16),
    /// On to both.
    Split(i32, i32),
    /// On to there.
    Jump(i32),
    /// On, where this holds.
    Check(Place),
}

#[derive(Clone, Debug, Default)]
struct Class {
    negated: bool,
    /// Both ends included; ascending and apart from each other, so that a long class costs a letter no more than a short one.
    ranges: Vec<(char, char)>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Start,
    End,
    WordEdge,
    NoWordEdge,
}

impl Class {
    fn holds(&self, letter: char) -> bool {
        let after = self.ranges.partition_point(|&(from, _)| from <= letter);
        after.checked_sub(1).and_then(|before| self.ranges.get(before)).is_some_and(|&(_, to)| letter <= to)
    }
}

impl Expression {
    /// Reads an expression.
    ///
    /// # Errors
    /// It is none; the error says why.
    pub fn new(text: &str, case: Case) -> Result<Expression, ExpressionError> {
        let (steps, classes) = reader::read(text)?;
        Ok(Expression { steps, classes, folds_case: case == Case::Folds })
    }

    /// Whether the text holds what this describes.
    pub fn is_in(&self, text: &str) -> bool {
        let mut now = Places::new(self.steps.len());
        let mut next = Places::new(self.steps.len());
        let mut before = None;
        let mut letters = text.chars();
        loop {
            let letter = letters.next();
            // It may begin anywhere.
            now.open.push(0);
            if self.follow(&mut now, before, letter) {
                return true;
            }
            let Some(letter) = letter else { return false };
            for &at in &now.held {
                if self.steps.get(at as usize).is_some_and(|step| self.takes(step, letter)) {
                    next.open.push(at + 1);
                }
            }
            std::mem::swap(&mut now, &mut next);
            next.clear();
            before = Some(letter);
        }
    }

    /// Follows all ways from the open places to steps that take a character; whether one leads to the end.
    fn follow(&self, places: &mut Places, before: Option<char>, after: Option<char>) -> bool {
        while let Some(at) = places.open.pop() {
            let Some(step) = self.steps.get(at as usize) else { return true };
            if !places.visit(at) {
                continue;
            }
            let mut way = |by: i32| places.open.push(at.wrapping_add_signed(by));
            match *step {
                Step::Split(one, other) => {
                    way(one);
                    way(other);
                }
                Step::Jump(by) => way(by),
                Step::Check(place) => {
                    if place.holds(before, after) {
                        way(1);
                    }
                }
                Step::One(_) | Step::Any | Step::Class(_) => places.held.push(at),
            }
        }
        false
    }

    fn takes(&self, step: &Step, letter: char) -> bool {
        match step {
            Step::One(wanted) if self.folds_case => wanted.eq_ignore_ascii_case(&letter),
            Step::One(wanted) => *wanted == letter,
            Step::Any => letter != '\n',
            Step::Class(number) => {
                let Some(class) = self.classes.get(usize::from(*number)) else { return false };
                let either = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
                let held = class.holds(letter) || (self.folds_case && either.iter().any(|&letter| class.holds(letter)));
                held != class.negated
            }
            Step::Split(..) | Step::Jump(_) | Step::Check(_) => false,
        }
    }
}

impl Place {
    fn holds(self, before: Option<char>, after: Option<char>) -> bool {
        let is_word = |letter: Option<char>| letter.is_some_and(|it| it.is_ascii_alphanumeric() || it == '_');
        match self {
            Place::Start => before.is_none(),
            Place::End => after.is_none(),
            Place::WordEdge => is_word(before) != is_word(after),
            Place::NoWordEdge => is_word(before) == is_word(after),
        }
    }
}

/// Places in the list of steps.
struct Places {
    /// Those whose ways were not followed yet.
    open: Vec<u32>,
    /// Those that wait for a character.
    held: Vec<u32>,
    visited: Vec<bool>,
}

impl Places {
    fn new(steps: usize) -> Places {
        Places { open: Vec::new(), held: Vec::new(), visited: vec![false; steps] }
    }

    /// `false` for one that was visited before.
    fn visit(&mut self, at: u32) -> bool {
        self.visited.get_mut(at as usize).is_some_and(|visited| !std::mem::replace(visited, true))
    }

    fn clear(&mut self) {
        self.held.clear();
        self.visited.fill(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_in(expression: &str, text: &str) -> bool {
        Expression::new(expression, Case::Matters).expect(expression).is_in(text)
    }

    #[test]
    fn every_form() {
        let cases = [
            (r"train\.py:\d+ step$", "/home/me/train.py:233 step", true),
            (r"train\.py:\d+ step$", "/home/me/train.py:233 steps", false),
            ("^/home|^/x", "/x/torch", true),
            ("^/home|^/y", "/x/home", false),
            ("(ab|cd)+e", "xabcdabe", true),
            ("^(ab|cd){2,3}$", "abcdab", true),
            ("^(ab|cd){2,3}$", "abcdabcd", false),
            ("^(ab|cd){2}$", "abcd", true),
            ("^a{2,}$", "aaaa", true),
            ("^a{2,}$", "a", false),
            ("[]x-]", "-", true),
            ("[^]x]", "]x", false),
            (r"[\d.]+ms", "1.5ms", true),
            (r"^[\D]$", "5", false),
            (r"^[^\W]$", "_", true),
            (r"\bstep\b", "a step.", true),
            (r"\bstep\b", "a steps", false),
            (r"\Bep", "step", true),
            ("^.*$", "ä ö", true),
            ("", "", true),
            ("a|", "b", true),
            ("x*?y", "y", true),
            ("(a*)*b", "aab", true),
            (r"std::vector\<int\>", "std::vector<int>", true),
        ];
        for (expression, text, expected) in cases {
            assert_eq!(is_in(expression, text), expected, "{expression} in {text}");
        }
        let folded = Expression::new("Tr[A-C]in", Case::Folds).expect("it is one");
        assert!(folded.is_in("TRAIN") && folded.is_in("train") && !folded.is_in("trdin"));
    }

    #[test]
    fn what_is_none() {
        use ExpressionError::*;
        let cases = [
            ("(", Bracket),
            (")", Bracket),
            ("a)", Bracket),
            ("[a", Bracket),
            ("[]", Bracket),
            ("*", Repeat),
            ("a|*", Repeat),
            ("a**", Repeat),
            ("a{", Count),
            ("a{2", Count),
            ("a{x}", Count),
            ("a{3,2}", Count),
            ("a{-1}", Count),
            ("[z-a]", Range),
            (r"[a-\d]", Range),
            ("\\", Escape),
            (r"\1", Escape),
            (r"\p{L}", Escape),
            (r"[\b]", Escape),
            ("(?=a)", Group),
            ("(?i)a", Group),
            ("((a{100}){100}){100}", TooLarge),
            ("(){99999999999}", TooLarge),
            ("a{1001}", TooLarge),
        ];
        for (text, expected) in cases {
            assert_eq!(Expression::new(text, Case::Matters).err(), Some(expected), "{text}");
        }
        assert_eq!(Expression::new(&"(".repeat(10_000), Case::Matters).err(), Some(TooLarge));
        assert_eq!(Expression::new(&"|".repeat(499), Case::Matters).err(), None);
        assert_eq!(Expression::new(&"|".repeat(1_000_000), Case::Matters).err(), Some(TooLarge));
    }

    #[test]
    fn a_hostile_expression_takes_linear_time() {
        let text = format!("{}b", "a".repeat(4000));
        let long_class: String =
            (0..160).filter_map(|at| char::from_u32(0x400 + 2 * at)).flat_map(|from| [from, '-', from]).collect();
        let long_class = format!("([{long_class}]|a){{0,150}}c");
        for hostile in ["^(a+)+$", "^(a|aa)*$", "^(a?){30}a{30}$", "(((a*)*)*)*c", "^(.{0,30}){8}x", &long_class] {
            assert!(!is_in(hostile, &text), "{hostile}");
        }
    }

    #[test]
    fn ranges_of_a_class_may_overlap_and_stand_in_any_order() {
        for letter in 'a'..='z' {
            let expected = matches!(letter, 'b'..='g' | 'x');
            assert_eq!(is_in("^[xd-gb-ec-d]$", &letter.to_string()), expected, "{letter}");
            assert_eq!(is_in("^[^xd-gb-ec-d]$", &letter.to_string()), !expected, "{letter}");
        }
    }

    /// Expressions of every form that means the same in regex-lite.
    fn expressions() -> impl Strategy<Value = String> {
        let sign = prop::sample::select(vec![
            "a", "b", "A", "é", " ", ".", "_", "1", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b", r"\B", "^", "$",
            r"\.", "[ab]", "[^a]", "[a-z]", r"[\d_]", "[^A-Z1]", r"[^\w]", r"[\Wa]", r"\A", r"\z", "",
        ]);
        sign.prop_map(str::to_owned).prop_recursive(5, 24, 4, |inner| {
            let count =
                prop::sample::select(vec!["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,2}?", "{0}"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..5).prop_map(|parts| parts.concat()),
                (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("(?:{one}|{other})")),
                (inner.clone(), count).prop_map(|(one, count)| format!("({one}){count}")),
                inner.prop_map(|one| format!("({one})")),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn it_says_what_regex_lite_says(
            expression in expressions(),
            texts in prop::collection::vec("[aAbé _1.\n]{0,8}", 1..8),
            folds: bool,
        ) {
            let case = if folds { Case::Folds } else { Case::Matters };
            let ours = Expression::new(&expression, case);
            prop_assume!(!matches!(ours, Err(ExpressionError::TooLarge)));
            let ours = ours.expect("every form is one of ours");
            let theirs = regex_lite::RegexBuilder::new(&expression).case_insensitive(folds).build().expect("and of theirs");
            for text in texts {
                prop_assert_eq!(ours.is_in(&text), theirs.is_match(&text), "{} in {:?}", expression, text);
            }
        }

        #[test]
        fn no_text_panics(text in r"[ab*+?{}()\[\]|^$.,0-9\\dwz:-]{0,20}", in_text in "[ab1]{0,9}") {
            if let Ok(expression) = Expression::new(&text, Case::Folds) {
                let _ = expression.is_in(&in_text);
            }
        }
    }
}
