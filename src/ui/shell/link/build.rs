//! Creates links from the state, and parses links from an address.

use crate::features::{State, link_keys};
use crate::shell::link::keys::KEYS;
use crate::state::effect::{Effect, Origin};
use crate::state::link::{FORMAT_VERSION, Link, MAX_FRAGMENT, MAX_SNAPSHOTS};
use crate::state::link_value::MAX_VALUE;
use crate::state::outbox::Outbox;
use crate::state::shared::Shared;
use crate::state::stage::Stage;
use crate::text::url::{percent_decoded, percent_encoded};

/// Returns the name of each link key, and true if a change of its value adds an entry to the browser's history.
fn keys() -> impl Iterator<Item = (&'static str, bool)> {
    KEYS.iter().map(|key| (key.name, key.adds_history)).chain(link_keys())
}

impl Link {
    /// Parses a fragment. Never fails: unknown keys are counted and otherwise ignored.
    pub fn parse(fragment: &str) -> Link {
        let mut link = Link::default();
        let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
        if fragment.len() > MAX_FRAGMENT {
            return link;
        }
        let mut values: Vec<_> = keys().map(|(name, _)| (name, None)).collect();
        for (name, value) in fragment.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
            let text = percent_decoded(value);
            match name {
                "v" => link.version = Some(text.parse().unwrap_or(0)),
                "url" if !text.is_empty() && link.urls.len() < MAX_SNAPSHOTS => link.urls.push(text),
                "open" if text.parse::<u64>().is_ok() => link.snapshot = text.parse().unwrap_or(0),
                "member" if text.parse::<u32>().is_ok() => link.member = text.parse().ok(),
                "name" => link.name = text,
                "print" => link.fingerprint = text,
                "" => {}
                _ => match values.iter_mut().find(|(key, _)| *key == name) {
                    Some((_, value)) if !text.is_empty() => *value = Some(text),
                    Some(_) => {}
                    None => link.unknown.add(name),
                },
            }
        }
        link.snapshot = link.snapshot.min(link.urls.len().saturating_sub(1));
        link.values = values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        link
    }

    /// Returns the link to the current view. `None` if no file is open.
    pub fn from_state(state: &State) -> Option<Link> {
        if !matches!(state.stage, Stage::Ready(_)) {
            return None;
        }
        let chosen = state.snapshots.get(state.snapshot_index)?;
        let mut link =
            Link { version: Some(FORMAT_VERSION), fingerprint: state.linked.fingerprint.clone(), ..Link::default() };
        match &chosen.origin {
            Origin::File(_) => link.name.clone_from(&chosen.file),
            Origin::Link(address) => {
                link.urls = snapshot_urls(state, address);
                link.snapshot = link.urls.iter().position(|url| url == address).unwrap_or(0);
            }
        }
        link.member = chosen.path.as_ref().and(chosen.member);
        let values = KEYS.iter().map(|key| (key.name, (key.get)(state)));
        let values = values.chain(state.link_values());
        link.values = values.filter(|(_, value)| (1..=MAX_VALUE).contains(&value.len())).collect();
        Some(link)
    }

    /// Returns true if the change from `before` adds a step for the browser's Back button: another file, device, plot,
    /// view, topic, range or selection. The visible window, the cursor and typed text change too often for that.
    pub fn is_step_from(&self, before: &Link) -> bool {
        let steps = |link: &Link| -> Vec<(&str, String)> {
            let adds_history = |name: &str| keys().any(|(key, adds_history)| key == name && adds_history);
            link.values.iter().filter(|(name, _)| adds_history(name)).cloned().collect()
        };
        !self.has_same_file(before) || steps(self) != steps(before)
    }
}

/// Maximum length of all addresses in a link, in bytes. The rest of the fragment is for the view.
const MAX_ADDRESSES: usize = MAX_FRAGMENT - (8 << 10);

/// Returns the addresses of all listed snapshots, or only `address` if they are too many or too long for a link.
pub(super) fn snapshot_urls(state: &Shared, address: &str) -> Vec<String> {
    let mut urls: Vec<String> = Vec::new();
    for choice in &state.snapshots {
        match &choice.origin {
            // Members of one archive are adjacent.
            Origin::Link(url) if urls.last() != Some(url) => urls.push(url.clone()),
            _ => {}
        }
    }
    let bytes = |url: &String| "&url=".len() + percent_encoded(url).len();
    if urls.len() > MAX_SNAPSHOTS || urls.iter().map(bytes).sum::<usize>() > MAX_ADDRESSES {
        return vec![address.to_owned()];
    }
    urls
}

/// Returns a link that opens another snapshot of the list in the current view. `None` if no file is open or that
/// snapshot has no address.
pub(crate) fn for_snapshot(state: &State, index: usize) -> Option<Link> {
    let choice = state.snapshots.get(index)?;
    let Origin::Link(address) = &choice.origin else { return None };
    let urls = snapshot_urls(state, address);
    let snapshot = urls.iter().position(|url| url == address)?;
    Some(Link {
        urls,
        snapshot,
        member: choice.member,
        name: String::new(),
        fingerprint: String::new(),
        ..Link::from_state(state)?
    })
}

/// Copies the link to the current view.
pub(crate) fn copy_link(state: &mut State, out: &mut Outbox) {
    let Some(link) = Link::from_state(state) else {
        state.remark = Some("Open a snapshot first.".to_owned());
        return;
    };
    let text = if link.urls.is_empty() {
        format!("Link copied. It does not contain the file: opening it asks for {}.", link.name)
    } else {
        "Link copied.".to_owned()
    };
    state.copied_remark = Some(text);
    out.push(Effect::CopyLink(link.fragment()));
}
