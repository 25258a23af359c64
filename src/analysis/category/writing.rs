//! Serializes category rules in memscape's JSON format, or in Mosaic's if Mosaic's format can express them.

use super::{Birth, CategoryRule, CategorySet, End, Looked, ModelCall, Order, Place, StackKind, StackOrigin, Turn};
use base::escape::Json;

impl CategorySet {
    /// Writes memscape's JSON format, one rule per line.
    pub fn to_json(&self) -> String {
        let mut text = String::from("{\n  \"schema\": 1,\n  \"name\": ");
        text += &Json(&self.name).to_string();
        text.push_str(",\n  \"order\": ");
        text += &Json(word(self.order, Order::WORDS)).to_string();
        text.push_str(",\n  \"rules\": [");
        for (at, rule) in self.rules.iter().enumerate() {
            text.push_str(if at == 0 { "\n    {" } else { ",\n    {" });
            rule.write(&mut text);
            text.push('}');
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Writes Mosaic's JSON, which is also YAML: categories with their patterns.
    ///
    /// # Errors
    /// Returns the number, from 1, of the first rule that Mosaic's format cannot express. Mosaic supports only `frame`
    /// patterns that are matched against any frame, rule by rule, and one rule per category.
    pub fn to_mosaic(&self) -> Result<String, usize> {
        let mut text = String::from("{");
        for (at, rule) in self.rules.iter().enumerate() {
            let plain = CategoryRule {
                category: rule.category.clone(),
                frame: rule.frame.clone(),
                note: rule.note.clone(),
                turn: rule.turn,
                ..CategoryRule::default()
            };
            let is_alone = self.order == Order::Rules || rule.turn == Turn::Single;
            let is_new = self.rules.iter().take(at).all(|before| before.category != rule.category);
            match &rule.frame {
                Some(pattern) if plain == *rule && is_alone && is_new => {
                    text.push_str(if at == 0 { "\n  " } else { ",\n  " });
                    text += &Json(&rule.category).to_string();
                    text.push_str(": ");
                    text += &Json(pattern).to_string();
                }
                _ => return Err(at + 1),
            }
        }
        text.push_str("\n}\n");
        Ok(text)
    }
}

impl CategoryRule {
    fn write(&self, text: &mut String) {
        let mut first = true;
        let mut pair = |name: &str, value: &str| {
            text.push_str(if std::mem::take(&mut first) { "" } else { ", " });
            *text += &Json(name).to_string();
            text.push_str(": ");
            *text += &Json(value).to_string();
        };
        pair("category", &self.category);
        for (name, value) in [
            ("name", &self.name),
            ("file", &self.file),
            ("frame", &self.frame),
            ("recorded", &self.recorded),
            ("classified", &self.classified),
        ] {
            value.iter().for_each(|value| pair(name, value));
        }
        for (name, word, usual) in [
            ("frames", word(self.frames, Looked::WORDS), "any"),
            ("of", word(self.of, StackOrigin::WORDS), "alloc"),
            ("turn", word(self.turn, Turn::WORDS), "ordered"),
            ("stack", self.stack.map_or("", |it| word(it, StackKind::WORDS)), ""),
            ("allocated", self.allocated.map_or("", |it| word(it, Birth::WORDS)), ""),
            ("ends", self.ends.map_or("", |it| word(it, End::WORDS)), ""),
            ("model", self.model.map_or("", |it| word(it, ModelCall::WORDS)), ""),
            ("note", &self.note, ""),
        ] {
            if word != usual {
                pair(name, word);
            }
        }
        let mut number = |name: &str, value: u32| {
            [", \"", name, "\": ", &value.to_string()].iter().for_each(|part| text.push_str(part));
        };
        if self.least > 0 {
            number("least", self.least);
        }
        self.most.iter().for_each(|&most| number("most", most));
        if let Some(like) = &self.like {
            text.push_str(", \"like\": {\"ratio\": \"");
            [&like.ratio.0.to_string(), "/", &like.ratio.1.to_string(), "\""]
                .iter()
                .for_each(|part| text.push_str(part));
            let location = Some(word(like.at, Place::WORDS)).filter(|location| *location != "anywhere");
            for (name, value) in
                [("category", like.category.as_deref()), ("name", like.name.as_deref()), ("at", location)]
            {
                if let Some(value) = value {
                    [", \"", name, "\": "].iter().for_each(|part| text.push_str(part));
                    *text += &Json(value).to_string();
                }
            }
            if let Some(each) = like.each {
                [", \"each\": ", &each.to_string()].iter().for_each(|part| text.push_str(part));
            }
            text.push('}');
        }
    }
}

fn word<T: Copy + PartialEq>(value: T, words: &[(&'static str, T)]) -> &'static str {
    words.iter().find(|(_, it)| *it == value).map_or("", |(word, _)| word)
}
