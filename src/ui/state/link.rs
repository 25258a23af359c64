//! A link as stored in the fragment of the page's address, and the state of a link that is being followed.

use crate::state::effect::Origin;
use crate::state::stage::SnapshotChoice;
use crate::text::load_range::LINK_KEY;
use crate::text::url::{percent_encoded, value_in_query};

/// Version of the link format that is written.
pub const FORMAT_VERSION: u32 = 1;
/// Maximum length of a fragment, in bytes. Longer ones are ignored.
pub(crate) const MAX_FRAGMENT: usize = 1 << 16;
/// Maximum number of snapshots in a link.
pub(crate) const MAX_SNAPSHOTS: usize = 1000;
/// Link key for the address of the file to compare with.
pub(crate) const COMPARE_WITH: &str = "with";
/// Link key for the tab.
pub(crate) const TAB: &str = "tab";
/// Maximum number of characters of an unknown key that are shown.
const MAX_UNKNOWN_NAME: usize = 40;

/// A parsed link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Version of the link format, if present. 0 if it is not a number.
    pub version: Option<u32>,
    /// Addresses of the snapshots as given: absolute, or relative to the page.
    pub urls: Vec<String>,
    pub snapshot: usize,
    /// Index of the snapshot in a file that holds several.
    pub member: Option<u32>,
    /// Name of a file without an address.
    pub name: String,
    /// Fingerprint of the file ([`crate::text::fingerprint`]). Empty if unknown.
    pub fingerprint: String,
    /// Keys that were not understood.
    pub unknown: Unknown,
    /// Keys and values that describe the view, in the order of the key table. Keys with default values are omitted.
    pub(crate) values: Vec<(&'static str, String)>,
}

/// Keys of a link that were not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    pub count: usize,
    /// The first of these keys, truncated if it is long.
    pub first: String,
}

impl Unknown {
    pub(crate) fn add(&mut self, name: &str) {
        if self.count == 0 {
            self.first = name.chars().take(MAX_UNKNOWN_NAME).collect();
        }
        self.count += 1;
    }

    /// Returns a sentence about the ignored keys. `None` if there are none.
    pub(crate) fn message(&self) -> Option<String> {
        let others = match self.count.checked_sub(1)? {
            0 => String::new(),
            others => [" and ", &others.to_string(), " more"].concat(),
        };
        Some(["Ignored in the link: ", &self.first, &others, "."].concat())
    }
}

impl Link {
    /// Returns the fragment without its `#`. [`Link::parse`] restores the link from it, with the current format
    /// version.
    pub fn fragment(&self) -> String {
        let mut text = ["v=", &FORMAT_VERSION.to_string()].concat();
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                text.extend(["&", name, "=", &percent_encoded(value)]);
            }
        };
        let number = |number: usize| if number == 0 { String::new() } else { number.to_string() };
        self.urls.iter().for_each(|url| put("url", url));
        put("name", &self.name);
        put("print", &self.fingerprint);
        put("open", &number(self.snapshot));
        put("member", &self.member.map_or_else(String::new, |member| member.to_string()));
        self.values.iter().for_each(|(name, value)| put(name, value));
        text
    }

    /// Returns true if this entry of the snapshot list is the one that the link opens.
    pub(crate) fn points_to(&self, choice: &SnapshotChoice) -> bool {
        let is_same_address = matches!(&choice.origin, Origin::Link(url) if self.urls.get(self.snapshot) == Some(url));
        is_same_address && choice.member.is_none_or(|member| member == self.member.unwrap_or(0))
    }

    /// Returns true if both links open the same snapshots.
    pub fn has_same_file(&self, other: &Link) -> bool {
        let hosted_files =
            |link: &Link| (link.urls.clone(), link.snapshot, link.member, link.value(LINK_KEY).to_owned());
        if self.urls.is_empty() && other.urls.is_empty() {
            self.fingerprint == other.fingerprint || self.fingerprint.is_empty()
        } else {
            // Without a URL and a fingerprint, the link applies to the open file.
            (self.urls.is_empty() && self.fingerprint.is_empty()) || hosted_files(self) == hosted_files(other)
        }
    }

    /// Removes the file from the link, so that only the view is left.
    #[must_use]
    pub fn without_file(self) -> Link {
        Link {
            version: self.version,
            member: self.member,
            values: self.values,
            unknown: self.unknown,
            ..Link::default()
        }
    }

    /// Returns true if the link names a file that has no address.
    pub(crate) fn needs_local_file(&self) -> bool {
        self.urls.is_empty() && !(self.name.is_empty() && self.fingerprint.is_empty())
    }

    /// Returns all addresses in the link: those of the snapshots and that of the file to compare with.
    pub fn addresses(&self) -> impl Iterator<Item = &str> {
        let with = Some(self.value(COMPARE_WITH)).filter(|with| !with.is_empty());
        self.urls.iter().map(String::as_str).chain(with)
    }

    /// Sets the name or address of the file to compare with.
    pub(crate) fn compare_with(&mut self, address: &str) {
        self.remove(COMPARE_WITH);
        self.values.push((COMPARE_WITH, address.to_owned()));
    }

    /// Removes all keys of the view except these.
    pub(crate) fn keep(&mut self, keys: &[&str]) {
        self.values.retain(|(name, _)| keys.contains(name));
    }

    pub(crate) fn remove(&mut self, key: &str) {
        self.values.retain(|(name, _)| *name != key);
    }

    /// Adds the tab that the query of the page's address names (`?embed&tab=insights`).
    pub fn show_tab_of(&mut self, query: &str) {
        self.values.extend(value_in_query(query, TAB).filter(|tab| !tab.is_empty()).map(|tab| (TAB, tab)));
    }

    /// Returns true if a tab is all that the link says of the view. A link with a version was written by the page, and
    /// describes the whole view.
    pub(crate) fn names_only_tab(&self) -> bool {
        self.version.is_none() && matches!(self.values.as_slice(), [(TAB, _)])
    }

    /// Returns true if the link contains keys of the view.
    pub fn has_view(&self) -> bool {
        !self.values.is_empty()
    }

    pub(crate) fn value(&self, name: &str) -> &str {
        self.values.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value)
    }
}

/// State of the link that is being followed.
#[derive(Clone, Debug, Default)]
pub struct LinkState {
    /// The link that waits for its file to be opened.
    pub pending: Option<Link>,
    /// Fingerprint of the open file. Empty until it is known.
    pub fingerprint: String,
    /// Message about the link, shown until it is closed.
    pub notice: Option<String>,
    /// Window to show once the height of the plot is known.
    pub(crate) pending_window: Option<LinkWindow>,
    /// Vertical windows of the lanes that are not focused, applied once the heights of their plots are known: device
    /// ordinal, and lower and upper edge in bytes.
    pub(crate) pending_heights: Option<Vec<(i64, [u64; 2])>>,
    /// Serial number of the request for the details of an allocation that is selected without moving the window.
    pub(crate) select_without_move: Option<u32>,
}

impl LinkState {
    /// Resets the state when the file is closed or replaced. Keeps the pending link, which waits for a file or can be
    /// loaded again.
    pub(crate) fn on_file_closed(&mut self) {
        let pending = self.pending.take();
        let is_waiting_for_file = pending.as_ref().is_some_and(|link| link.urls.is_empty());
        let notice = self.notice.take().filter(|_| is_waiting_for_file);
        *self = LinkState { pending, notice, ..LinkState::default() };
    }

    /// Returns the name of the file that the link waits for. Empty if the link has no name. `None` if it does not wait
    /// for a file.
    pub fn needed_file(&self) -> Option<&str> {
        let link = self.pending.as_ref().filter(|link| link.needs_local_file())?;
        Some(&link.name)
    }

    /// Closes the message, so that the link no longer waits for a file.
    pub(crate) fn close_notice(&mut self) {
        (self.pending, self.notice) = (None, None);
    }
}

/// Edges of the visible window in axis units, independent of the canvas size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LinkWindow {
    /// Left and right edge in millionths of the axis unit. `None` for the whole axis.
    pub(crate) x: Option<[i64; 2]>,
    /// Lower and upper edge in bytes of the plot's height. `None` for the full height.
    pub(crate) y: Option<[u64; 2]>,
}
