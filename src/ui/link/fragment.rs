//! A link as the fragment of the address has it, and what the page keeps of one that is followed.

use crate::effect::Origin;
use crate::load_range::KEY;
use crate::stage::Choice;
use crate::url::percent_encoded;

/// The version that is written.
pub const VERSION: u32 = 1;
/// Characters of a fragment that are read: longer ones are nobody's link.
pub(super) const LONGEST: usize = 1 << 16;
/// Snapshots that a link may name.
pub(super) const MOST_SNAPSHOTS: usize = 1000;
/// The key of the address of the file to compare with.
pub(super) const WITH: &str = "with";
/// Letters of a key that was not understood which are shown.
const LONGEST_NAME: usize = 40;

/// A link, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The version it was written by, where it says so; 0 where that is no number.
    pub version: Option<u32>,
    /// Addresses of the snapshots, as they were given: absolute, or relative to the page.
    pub urls: Vec<String>,
    pub chosen: usize,
    /// Which of the snapshots in that file, where there are several.
    pub member: Option<u32>,
    /// The name of a file that has no address.
    pub name: String,
    /// What tells the file from others ([`crate::fingerprint`]); empty where that was not known.
    pub print: String,
    /// What there is no key for.
    pub unknown: Unknown,
    /// What is seen of it: names of the keys with their values, in that order; what stands as every page begins is left out.
    pub(super) values: Vec<(&'static str, String)>,
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
    pub(super) fn add(&mut self, name: &str) {
        if self.count == 0 {
            self.first = name.chars().take(LONGEST_NAME).collect();
        }
        self.count += 1;
    }

    /// A sentence about them, where there are any.
    pub(super) fn said(&self) -> Option<String> {
        let others = match self.count.checked_sub(1)? {
            0 => String::new(),
            others => [" and ", &others.to_string(), " more"].concat(),
        };
        Some(["Ignored in the link: ", &self.first, &others, "."].concat())
    }
}

impl Link {
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

    /// Whether it is a link to what is behind this entry of the list.
    pub(crate) fn is_about(&self, choice: &Choice) -> bool {
        let is_there = matches!(&choice.origin, Origin::Link(url) if self.urls.get(self.chosen) == Some(url));
        is_there && choice.member.is_none_or(|member| member == self.member.unwrap_or(0))
    }

    /// Whether both are about the same snapshots.
    pub fn is_of_same_file(&self, other: &Link) -> bool {
        let hosted = |link: &Link| (link.urls.clone(), link.chosen, link.member, link.value(KEY).to_owned());
        if self.urls.is_empty() && other.urls.is_empty() {
            self.print == other.print || self.print.is_empty()
        } else {
            // Without either it is about whatever is open.
            (self.urls.is_empty() && self.print.is_empty()) || hosted(self) == hosted(other)
        }
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

    /// Whether it names a file that has no address.
    pub(super) fn asks(&self) -> bool {
        self.urls.is_empty() && !(self.name.is_empty() && self.print.is_empty())
    }

    /// All addresses that it leads to: of the snapshots, and of the one to compare with.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let with = Some(self.value(WITH)).filter(|with| !with.is_empty());
        self.urls.iter().map(String::as_str).chain(with)
    }

    /// What it shows is compared with the file of this name or address.
    pub(crate) fn compare_with(&mut self, address: &str) {
        self.forget(WITH);
        self.values.push((WITH, address.to_owned()));
    }

    /// It no longer says anything of this.
    pub(crate) fn forget(&mut self, key: &str) {
        self.values.retain(|(name, _)| *name != key);
    }

    /// Whether it says how anything is seen.
    pub fn has_view(&self) -> bool {
        !self.values.is_empty()
    }

    pub(crate) fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(of, _)| *of == name).map_or("", |(_, value)| value)
    }
}

/// What a link still wants.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// The link whose file is not open yet.
    pub wanted: Option<Link>,
    /// What tells the open file from others; empty until that is known.
    pub print: String,
    /// What is to be said of the link, until somebody closes it.
    pub notice: Option<String>,
    /// The window that is to be shown as soon as it is known how high the plot is.
    pub(crate) window: Option<Window>,
    /// Likewise of the lanes without the focus: devices by their ordinals, edges in bytes of the height.
    pub(crate) heights: Option<Vec<(i64, [u64; 2])>>,
    /// The request for the details of an allocation that shall be selected without a move of the window.
    pub(crate) quiet: Option<u32>,
}

impl Linked {
    /// Another file is opened, or none. A link that asks for one goes on asking; one to a hosted file holds until another is chosen, for
    /// what failed may be tried again.
    pub(crate) fn leave_file(&mut self) {
        let wanted = self.wanted.take();
        let asks = wanted.as_ref().is_some_and(|link| link.urls.is_empty());
        let notice = self.notice.take().filter(|_| asks);
        *self = Linked { wanted, notice, ..Linked::default() };
    }

    /// The name of the file that a link asks for; empty where it has none.
    pub fn asks_for(&self) -> Option<&str> {
        let link = self.wanted.as_ref().filter(|link| link.asks())?;
        Some(&link.name)
    }

    /// What is said of the link was read: it asks for nothing any more.
    pub(crate) fn close_notice(&mut self) {
        (self.wanted, self.notice) = (None, None);
    }
}

/// A window, however large the canvas is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Its edges, in [`PARTS`] of the axis' unit; `None`: the whole axis.
    pub(super) x: Option<[i64; 2]>,
    /// Its edges in bytes of the picture's height; `None`: all of it.
    pub(super) y: Option<[u64; 2]>,
}
