//! Order of the categories of a set when they are drawn on top of each other.

use super::{CategorySet, MAX_CATEGORIES, UNKNOWN};

/// Order of well-known categories when drawn on top of each other, bottom (longest-lived) first. Synonyms from Mosaic
/// share an entry, and therefore a colour.
const ORDER: &[&[&str]] = &[
    &["parameter", "parameters"],
    &["optimizer state", "optimizer"],
    &["gradient", "backward", "gradients"],
    &["kv cache"],
    &["activation", "activations"],
    &["temporary"],
    &["input"],
    &["network", "net"],
    &["fsdp"],
    &["net_setup"],
    &["stats"],
];

impl CategorySet {
    /// Returns the categories from the bottom of the stack to its top: well-known ones in their fixed order, then the
    /// others in the order of the rules, then "unknown".
    pub fn categories(&self) -> Vec<String> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        let mut unknown = UNKNOWN;
        for rule in &self.rules {
            let name = rule.category.as_str();
            if name.eq_ignore_ascii_case(UNKNOWN) {
                unknown = name;
            } else if found.len() + 1 < MAX_CATEGORIES && !found.iter().any(|(_, known)| *known == name) {
                let is_it = |names: &&[&str]| names.iter().any(|it| it.eq_ignore_ascii_case(name));
                found.push((ORDER.iter().position(is_it).unwrap_or(ORDER.len()), name));
            }
        }
        // A stable insertion sort, because there are few.
        let mut names: Vec<(usize, &str)> = Vec::new();
        for entry in found {
            let place = names.iter().take_while(|other| other.0 <= entry.0).count();
            names.insert(place, entry);
        }
        names.into_iter().map(|(_, name)| name).chain([unknown]).map(str::to_owned).collect()
    }
}
