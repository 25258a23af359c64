//! Links: all that is seen, as the fragment of the page's address has it. Parsing never fails: what is not understood is left out.
//!
//! ```text
//! #v=1&url=run/a.pickle&axis=time&x=0..512000&at=126670&stack=site&show=reserved&tab=why&topic=leaks
//! ```
//! `v` counts ways of writing: of a later one, what has stayed the same is read, and the page says so. It says as well what it did not
//! understand of a link. What is as every page begins is not written, so a link is as long as what was changed. Rules, settings and the theme are never in it (DESIGN.md §7).

mod keys;
mod points;
mod reading;
mod restore;
mod values;
mod window;

pub use restore::Linked;
pub(super) use restore::{given, opened, printed};
pub(super) use window::settle;

use super::effect::{Effect, Origin};
use super::shared::{Choice, Shared, Stage};
use super::url::{percent_decoded, percent_encoded};
use keys::KEYS;

/// The version that is written.
pub const VERSION: u32 = 1;
/// Characters of a fragment that are read: longer ones are nobody's link.
const LONGEST: usize = 1 << 16;
/// Snapshots that a link may name.
const MOST_SNAPSHOTS: usize = 1000;
/// Letters of a key that was not understood which are shown.
const LONGEST_NAME: usize = 40;

/// A link, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The version it was written by, where it says so; 0 where that is no number.
    pub version: Option<u32>,
    /// Addresses of the snapshots, as they were given: absolute, or relative to the page.
    pub urls: Vec<String>,
    /// Which of them is open.
    pub chosen: usize,
    /// Which of the snapshots in that file, where there are several.
    pub member: Option<u32>,
    /// The name of a file that has no address.
    pub name: String,
    /// What tells the file from others ([`crate::fingerprint`]); empty where that was not known.
    pub print: String,
    /// What there is no key for.
    pub unknown: Unknown,
    /// What is seen of it: names of [`KEYS`] with their values, in that order; what stands as every page begins is left out.
    values: Vec<(&'static str, String)>,
}

/// Parts of a link that were not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    /// How many.
    pub count: usize,
    /// The key of the first of them, as it stands in the link; not all of a long one.
    pub first: String,
}

impl Unknown {
    fn add(&mut self, name: &str) {
        if self.count == 0 {
            self.first = name.chars().take(LONGEST_NAME).collect();
        }
        self.count += 1;
    }

    /// A sentence about them, where there are any.
    fn said(&self) -> Option<String> {
        let others = match self.count.checked_sub(1)? {
            0 => String::new(),
            others => [" and ", &others.to_string(), " more"].concat(),
        };
        Some(["Not understood in the link: ", &self.first, &others, "."].concat())
    }
}

impl Link {
    /// Reads a fragment, or as much of it as can be understood: whatever stands in it, it is a link.
    pub fn parse(fragment: &str) -> Link {
        let mut link = Link::default();
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        if fragment.len() > LONGEST {
            return link;
        }
        let mut values = [const { None }; KEYS.len()];
        for (name, value) in fragment.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
            let text = percent_decoded(value);
            match name {
                "v" => link.version = Some(text.parse().unwrap_or(0)),
                "url" if !text.is_empty() && link.urls.len() < MOST_SNAPSHOTS => link.urls.push(text),
                "open" if text.parse::<u64>().is_ok() => link.chosen = text.parse().unwrap_or(0),
                "member" if text.parse::<u32>().is_ok() => link.member = text.parse().ok(),
                "name" => link.name = text,
                "print" => link.print = text,
                "" => {}
                _ => match KEYS.iter().zip(&mut values).find(|(key, _)| key.name == name) {
                    Some((_, value)) if !text.is_empty() => *value = Some(text),
                    Some(_) => {}
                    None => link.unknown.add(name),
                },
            }
        }
        link.chosen = link.chosen.min(link.urls.len().saturating_sub(1));
        let named = KEYS.iter().zip(values);
        link.values = named.filter_map(|(key, value)| Some((key.name, value?))).collect();
        link
    }

    /// The fragment, without its `#`: what [`Link::parse`] reads the same link from, with the version that is written.
    pub fn fragment(&self) -> String {
        let mut text = ["v=", &VERSION.to_string()].concat();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                text.extend(["&", name, "=", &percent_encoded(value)]);
            }
        };
        let number = |number: usize| if number == 0 { String::new() } else { number.to_string() };
        self.urls.iter().for_each(|url| put("url", url));
        put("name", &self.name);
        put("print", &self.print);
        put("open", &number(self.chosen));
        put("member", &self.member.map_or_else(String::new, |member| member.to_string()));
        self.values.iter().for_each(|(name, value)| put(name, value));
        text
    }

    /// What is seen now; `None` while no file is open.
    pub fn of(state: &Shared) -> Option<Link> {
        if !matches!(state.stage, Stage::Ready(_)) {
            return None;
        }
        let chosen = state.snapshots.get(state.chosen)?;
        let mut link = Link { version: Some(VERSION), print: state.linked.print.clone(), ..Link::default() };
        match &chosen.origin {
            Origin::File(_) => link.name.clone_from(&chosen.file),
            Origin::Link(address) => {
                link.urls = listed(state);
                link.chosen = link.urls.iter().position(|url| url == address).unwrap_or(0);
            }
        }
        link.member = chosen.path.as_ref().and(chosen.member);
        let values = KEYS.iter().map(|key| (key.name, (key.get)(state)));
        link.values = values.filter(|(_, value)| (1..=LONGEST_VALUE).contains(&value.len())).collect();
        Some(link)
    }

    /// Whether it is a link to what is behind this entry of the list.
    pub(super) fn is_about(&self, choice: &Choice) -> bool {
        let is_there = matches!(&choice.origin, Origin::Link(url) if self.urls.get(self.chosen) == Some(url));
        is_there && choice.member.is_none_or(|member| member == self.member.unwrap_or(0))
    }

    /// Whether both are about the same snapshots.
    pub fn is_of_same_file(&self, other: &Link) -> bool {
        let hosted = |link: &Link| (link.urls.clone(), link.chosen, link.member);
        if self.urls.is_empty() && other.urls.is_empty() {
            self.print == other.print || self.print.is_empty()
        } else {
            // Without either it is about whatever is open.
            (self.urls.is_empty() && self.print.is_empty()) || hosted(self) == hosted(other)
        }
    }

    /// Whether going from one to the other is a step that a browser's "back" should undo: another file, device, plot, view, topic, range
    /// or selection. Windows, moments and what is typed change too often for that.
    pub fn is_step_from(&self, before: &Link) -> bool {
        let steps = |link: &Link| -> Vec<(&str, String)> {
            let is_step = |name: &str| KEYS.iter().any(|key| key.name == name && key.is_step);
            link.values.iter().filter(|(name, _)| is_step(name)).cloned().collect()
        };
        !self.is_of_same_file(before) || steps(self) != steps(before)
    }

    /// The link without what it opens: only how it is seen.
    #[must_use]
    pub fn seen_only(self) -> Link {
        Link {
            version: self.version,
            member: self.member,
            values: self.values,
            unknown: self.unknown,
            ..Link::default()
        }
    }

    /// Whether it says how anything is seen.
    pub fn has_view(&self) -> bool {
        !self.values.is_empty()
    }

    fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(of, _)| *of == name).map_or("", |(_, value)| value)
    }
}

/// The addresses of the snapshots there are to choose from.
fn listed(state: &Shared) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    for choice in &state.snapshots {
        match &choice.origin {
            // Those of one archive stand behind each other.
            Origin::Link(url) if urls.last() != Some(url) => urls.push(url.clone()),
            _ => {}
        }
    }
    urls
}

/// Copies the link to what is seen.
pub(super) fn copy(state: &mut Shared, effects: &mut Vec<Effect>) {
    let Some(link) = Link::of(state) else {
        state.remark = Some("Open a snapshot first.".to_owned());
        return;
    };
    let text = if link.urls.is_empty() {
        format!("Copied the link. It does not hold the file: whoever opens it is asked for {}.", link.name)
    } else {
        "Copied the link.".to_owned()
    };
    state.table.copied = Some(text);
    effects.push(Effect::CopyLink(link.fragment()));
}
