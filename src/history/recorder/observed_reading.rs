//! Parsing of the recorder's observations: the fields `holders`, `paused` and `samples`.

use super::observed::{Holder, Observed, Paused, Sample};
use super::tree::{Token, Tokens};
use base::sorted::{signed_key, sorted_numbers, two_part_key};

// Maximum numbers of rows in each table. The recorder writes at most 20,000 samples per device, and far fewer of the
// others.
const MAX_HOLDERS: usize = 100_000;
const MAX_PAUSED: usize = 10_000;
const MAX_SAMPLES: usize = 400_000;
const MAX_SAMPLE_EVENTS: usize = 10_000;
/// Maximum number of columns in a table of samples.
const MAX_COLUMNS: usize = 32;

impl Observed {
    /// Sorts the tables. Call it when all are read.
    pub(super) fn sort(&mut self) {
        let key = |holder: &Holder| two_part_key(signed_key(holder.device), holder.address);
        let order = sorted_numbers(self.holders.iter().map(key).zip(0..).collect());
        self.holders = order.iter().filter_map(|&index| self.holders.get(index as usize).copied()).collect();
    }

    /// Reads the field `holders`: what holds each tensor, in the list `of`.
    pub(super) fn parse_holders(&mut self, tokens: &mut Tokens<'_>) {
        while let Some((key, value)) = tokens.next_pair() {
            match (key, value) {
                (b"of", Token::List) => each_dict(tokens, |tokens| self.parse_holder(tokens)),
                (_, value) => tokens.skip_value(value),
            }
        }
    }

    fn parse_holder(&mut self, tokens: &mut Tokens<'_>) {
        let (mut device, mut address) = (0, None);
        let [mut root, mut path, mut node, mut saved_as, mut cycle] = [0; 5];
        each_value(tokens, |key, value, position| match (key, value) {
            (b"addr", Token::Int(number)) => address = u64::try_from(number).ok(),
            (b"device", Token::Int(number)) => device = number,
            (b"root", Token::Text(_)) => root = position,
            (b"path", Token::Text(_)) => path = position,
            (b"node", Token::Text(_)) => node = position,
            (b"saved_as", Token::Text(_)) => saved_as = position,
            (b"cycle", Token::List) => cycle = position,
            _ => {}
        });
        if let Some(address) = address.filter(|_| self.holders.len() < MAX_HOLDERS) {
            self.holders.push(Holder { device, address, root, path, node, saved_as, cycle });
        }
    }

    /// Reads the field `paused`, a list.
    pub(super) fn parse_paused(&mut self, tokens: &mut Tokens<'_>) {
        each_dict(tokens, |tokens| {
            let (mut paused, mut bytes, mut in_ranges) = (Paused::default(), None, 0u64);
            while let Some((key, value)) = tokens.next_pair() {
                match (key, value) {
                    (b"device", Token::Int(number)) => paused.device = Some(number),
                    (b"begin_us", Token::Int(number)) => paused.begin_us = number,
                    (b"end_us", Token::Int(number)) => paused.end_us = Some(number),
                    (b"bytes", Token::Int(number)) => bytes = u64::try_from(number).ok(),
                    (b"ranges", Token::List) => {
                        each_row(tokens, |range| {
                            let [address, size] = [0, 1].map(|place| range.get(place).copied().flatten());
                            paused.address = paused.address.or(address.and_then(|it| u64::try_from(it).ok()));
                            in_ranges =
                                in_ranges.saturating_add(size.and_then(|it| u64::try_from(it).ok()).unwrap_or(0));
                        });
                    }
                    (_, value) => tokens.skip_value(value),
                }
            }
            paused.bytes = bytes.unwrap_or(in_ranges);
            if self.paused.len() < MAX_PAUSED && paused.bytes > 0 {
                self.paused.push(paused);
            }
        });
    }

    /// Reads the field `samples`: a table of one device.
    pub(super) fn parse_samples(&mut self, tokens: &mut Tokens<'_>) {
        let (mut device, mut names, mut events) = (0, Vec::new(), Vec::new());
        let mut rows: Vec<Vec<Option<i64>>> = Vec::new();
        let room = MAX_SAMPLES.saturating_sub(self.samples.len());
        while let Some((key, value)) = tokens.next_pair() {
            match (key, value) {
                (b"device", Token::Int(number)) => device = number,
                (b"columns", Token::List) => {
                    while let Some(item) = tokens.next_item() {
                        match item {
                            Token::Text(name) if names.len() < MAX_COLUMNS => names.push(name.to_vec()),
                            other => tokens.skip_value(other),
                        }
                    }
                }
                (b"rows", Token::List) => each_row(tokens, |row| {
                    if rows.len() < room {
                        rows.push(row.to_vec());
                    }
                }),
                (b"events", Token::List) => {
                    while let Some(item) = tokens.next_item() {
                        let Token::List = item else {
                            tokens.skip_value(item);
                            continue;
                        };
                        let (time, place) = (tokens.next_item(), tokens.offset());
                        if let (Some(Token::Int(us)), Some(Token::Text(_))) = (time, tokens.clone().next_item()) {
                            events.push((us, place));
                        }
                        match time {
                            Some(token @ (Token::List | Token::Dict)) => {
                                tokens.skip_value(token);
                                tokens.skip_rest();
                            }
                            Some(_) => tokens.skip_rest(),
                            None => {}
                        }
                    }
                }
                (_, value) => tokens.skip_value(value),
            }
        }
        let place = |wanted: &[u8]| names.iter().position(|name| name == wanted);
        let columns =
            [&b"free_bytes"[..], b"reserved_bytes", b"live_bytes", b"rss_bytes", b"shared_bytes", b"pinned_bytes"];
        let (time, places) = (place(b"time_us"), columns.map(place));
        for row in rows {
            let at = |place: Option<usize>| row.get(place?).copied().flatten();
            let Some(time_us) = at(time) else { continue };
            let [free, reserved, live, resident, shared, pinned] =
                places.map(|place| at(place).and_then(|it| u64::try_from(it).ok()));
            self.samples.push(Sample { device, time_us, free, reserved, live, resident, shared, pinned });
        }
        events.truncate(MAX_SAMPLE_EVENTS.saturating_sub(self.sample_events.len()));
        self.sample_events.append(&mut events);
    }
}

/// Calls `read` for each dict of a list, whose start token was read.
pub(super) fn each_dict(tokens: &mut Tokens<'_>, mut read: impl FnMut(&mut Tokens<'_>)) {
    while let Some(item) = tokens.next_item() {
        match item {
            Token::Dict => read(tokens),
            other => tokens.skip_value(other),
        }
    }
}

/// Calls `read` for each entry of a dict, with the position of its value. Containers are skipped afterwards.
fn each_value(tokens: &mut Tokens<'_>, mut read: impl FnMut(&[u8], Token<'_>, u32)) {
    loop {
        let mut ahead = tokens.clone();
        let _ = ahead.next();
        let position = ahead.offset();
        let Some((key, value)) = tokens.next_pair() else { return };
        read(key, value, position);
        tokens.skip_value(value);
    }
}

/// Calls `read` for each list of a list. Items that are no integers are `None`.
fn each_row(tokens: &mut Tokens<'_>, mut read: impl FnMut(&[Option<i64>])) {
    let mut row = Vec::new();
    while let Some(item) = tokens.next_item() {
        let Token::List = item else {
            tokens.skip_value(item);
            continue;
        };
        row.clear();
        while let Some(item) = tokens.next_item() {
            let number = if let Token::Int(number) = item { Some(number) } else { None };
            tokens.skip_value(item);
            if row.len() < MAX_COLUMNS {
                row.push(number);
            }
        }
        read(&row);
    }
}
