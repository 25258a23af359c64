//! Parses rule documents and reports all their errors. Accepts memscape's JSON, and Mosaic's JSON and YAML.
//!
//! ```text
//! ours      {"schema": 1, "name": …, "order": …, "rules": [{"category": …, "name": …, …}, …]}
//! Mosaic's  {CATEGORY: PATTERN, …}
//!           {"rules": [{"name": CATEGORY, "pattern": PATTERN, "description": …, "priority": …}, …]}
//! ```
//! Mosaic's patterns are searched for in functions and files: each rule in all frames, before the next rule. As in
//! Mosaic, priorities are ignored.

use super::compiled::CompiledSet;
use super::document::{Document, ParsedDocument, ValueId, ValueKind};
use super::problem::{SetError, SetProblem};
use super::{
    Birth, CategoryRule, CategorySet, End, Looked, MAX_CATEGORIES, MAX_MIXED_RULES, MAX_NAME_LEN, MAX_RULES,
    MAX_SIZE_RULES, MAX_TEXT_LEN, ModelCall, Order, Place, SizeCondition, StackKind, StackOrigin, Turn,
};
use base::sorted::sorted_by_key;

/// Maximum length of a document in bytes.
const LONGEST: usize = 4 << 20;
/// Maximum number of reported errors.
const MAX_ERRORS: usize = 50;

impl CategorySet {
    /// Parses category rules from memscape's or Mosaic's JSON format.
    ///
    /// # Errors
    /// Returns all errors, sorted by line. A syntax error is the only error returned.
    pub fn parse(text: &str) -> Result<CategorySet, Vec<SetError>> {
        CategorySet::from_document(Document::parse_json(CategorySet::check_length(text)?))
    }

    /// Checks the length of a text and strips a byte order mark.
    ///
    /// # Errors
    /// Returns an error if the text is too long.
    pub fn check_length(text: &str) -> Result<&str, Vec<SetError>> {
        if text.len() > LONGEST {
            return Err(vec![SetError { line: 1, cause: SetProblem::TooMany("bytes", LONGEST) }]);
        }
        Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
    }

    /// Returns true if a text is JSON rather than YAML. YAML may also start with a bracket, but JSON's first key is in
    /// double quotes.
    pub fn is_json(text: &str) -> bool {
        let inner = text.trim_start_matches('\u{feff}').trim_start();
        let first = inner.trim_start_matches(|it: char| matches!(it, '{' | '[') || it.is_whitespace());
        inner.starts_with(['{', '[']) && (first.is_empty() || first.starts_with(['"', '}', ']']))
    }

    /// Converts a parsed document to a set of category rules.
    ///
    /// # Errors
    /// Returns all errors, sorted by line.
    pub fn from_document(read: ParsedDocument) -> Result<CategorySet, Vec<SetError>> {
        let (document, outermost) =
            read.map_err(|(line, why)| vec![SetError { line, cause: SetProblem::Syntax(why) }])?;
        let mut reader = SetReader { errors: Vec::new(), document };
        let set = reader.set(outermost);
        let SetReader { mut errors, .. } = reader;
        errors = sorted_by_key(errors, |error| error.line.into());
        errors.truncate(MAX_ERRORS);
        if errors.is_empty() { Ok(set) } else { Err(errors) }
    }
}

struct SetReader {
    errors: Vec<SetError>,
    document: Document,
}

impl SetReader {
    fn add_error(&mut self, line: u32, cause: SetProblem) {
        self.errors.push(SetError { line, cause });
    }

    fn set(&mut self, outermost: ValueId) -> CategorySet {
        let mut set = CategorySet { name: "custom".to_owned(), ..CategorySet::default() };
        let (line, kind) = self.value(outermost);
        let rules = match kind {
            ValueKind::List(rules) => rules,
            ValueKind::Dict(pairs) if self.member(&pairs, "rules").is_some_and(|rules| !self.is_text(rules)) => {
                let mut rules = Vec::new();
                for (key, value) in pairs {
                    let (line, name) = self.key(key);
                    match (name.as_str(), self.value(value).1) {
                        ("rules", ValueKind::List(list)) => rules = list,
                        ("rules", ValueKind::Dict(pairs)) => self.mosaic(&pairs, &mut set),
                        ("schema" | "version", ValueKind::Number(1)) => {}
                        ("schema", _) => self.value_error(line, &name, "1, the only supported version"),
                        ("name", _) => set.name = self.text(line, &name, value, MAX_NAME_LEN),
                        ("order", _) => set.order = self.word(line, &name, value, Order::WORDS).unwrap_or_default(),
                        ("rules", _) => self.value_error(line, &name, "a list of rules"),
                        _ => self.add_error(line, SetProblem::Key(name)),
                    }
                }
                rules
            }
            ValueKind::Dict(pairs) => {
                self.mosaic(&pairs, &mut set);
                Vec::new()
            }
            _ => {
                self.add_error(
                    line,
                    SetProblem::Syntax("rules must be a list, or categories with their patterns".to_owned()),
                );
                Vec::new()
            }
        };
        let mut lines = Vec::new();
        for rule in rules.into_iter().take(MAX_RULES + 1) {
            let (line, kind) = self.value(rule);
            match kind {
                ValueKind::Dict(pairs) => {
                    set.rules.push(self.rule(line, &pairs));
                    lines.push(line);
                }
                _ => self.add_error(line, SetProblem::Syntax("a rule must be an object".to_owned())),
            }
        }
        self.check(line, &set);
        set
    }

    /// Adds an error for each limit that the whole set exceeds.
    fn check(&mut self, line: u32, set: &CategorySet) {
        let count = |is_it: fn(&CategoryRule) -> bool| set.rules.iter().filter(|rule| is_it(rule)).count();
        let mixed = |rule: &CategoryRule| rule.has_pattern() && !rule.is_frames_only();
        for (what, count, most) in [
            ("rules", set.rules.len(), MAX_RULES),
            ("categories", set.categories().len(), MAX_CATEGORIES - 1),
            ("rules that match frames and something else", count(mixed), MAX_MIXED_RULES),
            ("rules that compare sizes", count(|rule| rule.like.is_some()), MAX_SIZE_RULES),
        ] {
            if count > most {
                self.add_error(line, SetProblem::TooMany(what, most));
            }
        }
    }

    /// Reads Mosaic's simple format, which maps each category to a pattern.
    fn mosaic(&mut self, pairs: &[(ValueId, ValueId)], set: &mut CategorySet) {
        for &(key, value) in pairs.iter().take(MAX_RULES + 1) {
            let (line, category) = self.key(key);
            let frame = Some(self.text(line, &category, value, MAX_TEXT_LEN));
            let rule = CategoryRule { category, frame, ..CategoryRule::default() };
            self.check_rule(line, &[], &rule);
            set.rules.push(rule);
        }
    }

    fn rule(&mut self, line: u32, pairs: &[(ValueId, ValueId)]) -> CategoryRule {
        let mut rule = CategoryRule::default();
        // Mosaic's rules have the category in "name".
        let is_mosaics = self.member(pairs, "pattern").is_some();
        for &(key, value) in pairs {
            let (line, name) = self.key(key);
            let name = name.as_str();
            match name {
                "name" if is_mosaics => rule.category = self.text(line, name, value, MAX_NAME_LEN),
                "pattern" => rule.frame = Some(self.text(line, name, value, MAX_TEXT_LEN)),
                "description" | "note" => rule.note = self.text(line, name, value, MAX_TEXT_LEN),
                "priority" => {}
                "category" => rule.category = self.text(line, name, value, MAX_NAME_LEN),
                "name" => rule.name = Some(self.text(line, name, value, MAX_TEXT_LEN)),
                "file" => rule.file = Some(self.text(line, name, value, MAX_TEXT_LEN)),
                "frame" => rule.frame = Some(self.text(line, name, value, MAX_TEXT_LEN)),
                "frames" => rule.frames = self.word(line, name, value, Looked::WORDS).unwrap_or_default(),
                "of" => rule.of = self.word(line, name, value, StackOrigin::WORDS).unwrap_or_default(),
                "turn" => rule.turn = self.word(line, name, value, Turn::WORDS).unwrap_or_default(),
                "recorded" => rule.recorded = Some(self.text(line, name, value, MAX_NAME_LEN)),
                "classified" | "told" => rule.classified = Some(self.text(line, name, value, MAX_NAME_LEN)),
                "stack" => rule.stack = self.word(line, name, value, StackKind::WORDS),
                "allocated" | "born" => rule.allocated = self.word(line, name, value, Birth::WORDS),
                "ends" => rule.ends = self.word(line, name, value, End::WORDS),
                "least" => rule.least = self.number(line, name, value),
                "most" => rule.most = Some(self.number(line, name, value)),
                "model" => rule.model = self.word(line, name, value, ModelCall::WORDS),
                "like" => rule.like = Some(self.like(line, value)),
                _ => self.add_error(line, SetProblem::Key(name.to_owned())),
            }
        }
        self.check_rule(line, pairs, &rule);
        rule
    }

    fn like(&mut self, line: u32, value: ValueId) -> SizeCondition {
        let mut like = SizeCondition { ratio: (1, 1), ..SizeCondition::default() };
        let (_, ValueKind::Dict(pairs)) = self.value(value) else {
            self.value_error(line, "like", "an object");
            return like;
        };
        for (key, value) in pairs {
            let (line, name) = self.key(key);
            let name = name.as_str();
            match name {
                "category" => like.category = Some(self.text(line, name, value, MAX_NAME_LEN)),
                "name" => like.name = Some(self.text(line, name, value, MAX_TEXT_LEN)),
                "each" => like.each = Some(self.number(line, name, value)),
                "at" => like.at = self.word(line, name, value, Place::WORDS).unwrap_or_default(),
                "ratio" => {
                    let text = self.text(line, name, value, MAX_NAME_LEN);
                    let (first, second) = text.split_once('/').unwrap_or((&text, "1"));
                    match (first.trim().parse(), second.trim().parse()) {
                        (Ok(first), Ok(second)) if first > 0 && second > 0 => like.ratio = (first, second),
                        _ => self.value_error(line, name, "a ratio such as \"1/4\" or \"2\""),
                    }
                }
                _ => self.add_error(line, SetProblem::Key(name.to_owned())),
            }
        }
        like
    }

    /// Adds errors found in one rule. `pairs` are the rule's keys and values in the document, with line numbers.
    fn check_rule(&mut self, line: u32, pairs: &[(ValueId, ValueId)], rule: &CategoryRule) {
        if rule.category.trim().is_empty() {
            self.add_error(line, SetProblem::Missing("category"));
        } else if rule.category.chars().nth(MAX_NAME_LEN).is_some() {
            self.add_error(line, SetProblem::TooMany("characters in a category", MAX_NAME_LEN));
        }
        for cause in CompiledSet::problems(rule) {
            let value = match cause {
                SetProblem::Pattern(key, _) => self.member(pairs, key).or(self.member(pairs, "pattern")),
                _ => None,
            };
            let line = value.map_or(line, |value| self.value(value).0);
            self.add_error(line, cause);
        }
    }

    fn value(&self, id: ValueId) -> (u32, ValueKind) {
        let (line, kind) = self.document.value(id);
        (line, kind.clone())
    }

    fn is_text(&self, id: ValueId) -> bool {
        matches!(self.document.value(id).1, ValueKind::Text(_))
    }

    fn key(&self, id: ValueId) -> (u32, String) {
        match self.document.value(id) {
            (line, ValueKind::Text(text)) => (line, text.clone()),
            (line, _) => (line, String::new()),
        }
    }

    /// Returns the value of the key `wanted`. If the key occurs several times, returns the last value.
    fn member(&self, pairs: &[(ValueId, ValueId)], wanted: &str) -> Option<ValueId> {
        let is_it = |(key, _): &&(ValueId, ValueId)| matches!(self.document.value(*key).1, ValueKind::Text(name) if name == wanted);
        pairs.iter().rev().find(is_it).map(|&(_, value)| value)
    }

    fn value_error(&mut self, line: u32, name: &str, takes: &str) {
        self.add_error(line, SetProblem::Value(name.to_owned(), takes.to_owned()));
    }

    fn text(&mut self, line: u32, name: &str, value: ValueId, max_len: usize) -> String {
        match self.value(value).1 {
            ValueKind::Text(text) if text.len() <= max_len => return text,
            ValueKind::Text(_) => self.add_error(line, SetProblem::TooMany("bytes in a string", max_len)),
            _ => self.value_error(line, name, "a string"),
        }
        // A valid value, so that only one error is reported.
        "1".to_owned()
    }

    fn number(&mut self, line: u32, name: &str, value: ValueId) -> u32 {
        match self.value(value).1 {
            ValueKind::Number(number) if u32::try_from(number).is_ok() => number as u32,
            _ => {
                self.value_error(line, name, "a whole number below 2^32");
                0
            }
        }
    }

    fn word<T: Copy>(&mut self, line: u32, name: &str, value: ValueId, words: &[(&str, T)]) -> Option<T> {
        let kind = self.value(value).1;
        let found = words.iter().find(|(word, _)| matches!(&kind, ValueKind::Text(text) if text == word));
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.value_error(line, name, &all.join(" or "));
        }
        found.map(|(_, value)| *value)
    }
}
