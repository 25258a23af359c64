//! Answers from the recorder's observations: the holder of a tensor, and the bytes that were paused.

use super::data::{RecorderData, clipped};
use super::observed::{Holder, Paused, PausedBytes};
use super::tree::Token;
use base::sorted::{signed_key, sorted_numbers};

/// Maximum number of objects that are named in a reference cycle.
const MAX_CYCLE: usize = 16;

impl RecorderData {
    /// Returns what holds the tensor at an address that is live when the snapshot was saved. A crop may have reused the
    /// address, so it has none.
    pub fn holder_at(&self, device: i64, address: u64) -> Option<&Holder> {
        let holders = &self.observed.holders;
        let key = (device, address);
        let place = holders.partition_point(|holder| (holder.device, holder.address) < key);
        holders.get(place).filter(|holder| (holder.device, holder.address) == key && !self.is_crop)
    }

    /// Returns whether a holder is a reference cycle, which the garbage collector would free.
    pub fn is_cycle(&self, holder: &Holder) -> bool {
        self.tree.text(holder.root) == b"cycle"
    }

    /// Describes a holder, such as `__main__.HISTORY[0]['loss']`.
    pub fn describe_holder(&self, holder: &Holder) -> String {
        let text = |position| clipped(self.tree.text(position));
        let path = text(holder.path);
        match self.tree.text(holder.root) {
            b"cycle" => {
                ["reference cycle", &if path.is_empty() { self.cycle(holder) } else { suffix(": ", &path) }].concat()
            }
            b"graph" => {
                let node = text(holder.node);
                let saved = if node.is_empty() { String::new() } else { suffix(", saved by ", &node) };
                ["autograd graph", &saved, &suffix(" as ", &text(holder.saved_as)), &suffix(" of ", &path)].concat()
            }
            b"c++" => ["C++", &suffix(": ", &path)].concat(),
            _ if path.is_empty() => "unknown".to_owned(),
            _ => path,
        }
    }

    /// Returns the names of the types in a reference cycle, as the end of a text.
    fn cycle(&self, holder: &Holder) -> String {
        let mut tokens = self.tree.tokens(holder.cycle);
        let mut names = Vec::new();
        if tokens.next() == Some(Token::List) {
            while let Some(Token::Text(name)) = tokens.next_item().filter(|_| names.len() < MAX_CYCLE) {
                names.push(clipped(name));
            }
        }
        suffix(": ", &names.join(" ← "))
    }

    /// Returns the paused bytes of a device over time. `device_at` returns the device of the segment at an address.
    pub fn paused_over_time(&self, device: i64, device_at: impl Fn(u64) -> Option<i64>) -> PausedBytes {
        let is_of_device = |paused: &&Paused| {
            let recorded = paused.device.or_else(|| paused.address.and_then(&device_at));
            recorded.unwrap_or(0) == device && paused.end_us.is_none_or(|end| paused.begin_us < end)
        };
        let mut changes = Vec::new();
        for paused in self.observed.paused.iter().filter(is_of_device) {
            changes.push((paused.begin_us, true, paused.bytes));
            changes.extend(paused.end_us.map(|end| (end, false, paused.bytes)));
        }
        let order = changes.iter().zip(0..).map(|((us, ..), index)| (signed_key(*us).into(), index)).collect();
        let mut bytes = 0u128;
        let changes = sorted_numbers(order).into_iter().filter_map(|index| {
            let &(us, begins, amount) = changes.get(index as usize)?;
            bytes = if begins { bytes + u128::from(amount) } else { bytes.saturating_sub(amount.into()) };
            Some((us, u64::try_from(bytes).unwrap_or(u64::MAX)))
        });
        PausedBytes(changes.collect())
    }

    /// Returns the last event that the recorder noted between two times in µs since 1970, such as the creation of a
    /// process group.
    pub fn sample_event(&self, after_us: i64, until_us: i64) -> Option<String> {
        let events = self.observed.sample_events.iter();
        let found = events.rev().find(|(us, _)| (after_us..=until_us).contains(us));
        found.map(|&(_, text)| clipped(self.tree.text(text)))
    }
}

/// Returns a text after a separator, or nothing if it is empty.
fn suffix(separator: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { [separator, text].concat() }
}
