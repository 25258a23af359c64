//! What was asked about moments and ranges and is not answered yet: one question of each kind, the latest.

use super::details;
use super::flame::Flames;
use super::heaviest::Heaviest;
use super::legend;
use super::open::OpenFile;
use super::protocol::{FlameQuestion, Grouping, Looks, Only, Plot, Reply, Span, StateQuestion, TreeQuestion};
use super::range;
use super::sources::Sources;
use super::state::{Beneath, States};
use super::tree::Trees;
use std::collections::VecDeque;

/// The questions, and what was laid out for those before.
#[derive(Default)]
pub(super) struct Asked {
    flame: Option<(u32, i64, FlameQuestion)>,
    flames: Flames,
    range: Option<(u32, i64, Span)>,
    map: Option<(u32, i64, Only)>,
    tree: Option<(u32, i64, Box<TreeQuestion>)>,
    trees: Trees,
    heaviest: Option<Heaviest>,
    state: Option<(u32, i64, StateQuestion)>,
    states: States,
    memory_at: Option<(u32, i64, u32, u64)>,
    beneath: Beneath,
    sources: Option<Sources>,
    /// Those that may have to wait for categories, in the order they were asked in.
    legends: VecDeque<(u32, i64, Grouping, Option<u32>)>,
    details: VecDeque<(u32, i64, u32)>,
}

impl Asked {
    /// A question about a flame graph; it overtakes the one before.
    pub(super) fn flame(&mut self, serial: u32, device: i64, question: FlameQuestion) {
        self.flame = Some((serial, device, question));
    }

    /// A question about a range; it overtakes the one before.
    pub(super) fn range(&mut self, serial: u32, device: i64, span: Span) {
        self.range = Some((serial, device, span));
    }

    /// A question about addresses; it overtakes the one before.
    pub(super) fn map(&mut self, serial: u32, device: i64, only: Only) {
        self.map = Some((serial, device, only));
    }

    /// A question about a tree; it overtakes the one before.
    pub(super) fn tree(&mut self, serial: u32, device: i64, question: Box<TreeQuestion>) {
        self.tree = Some((serial, device, question));
    }

    /// A question about the allocator's state; it overtakes the one before.
    pub(super) fn state(&mut self, serial: u32, device: i64, question: StateQuestion) {
        self.state = Some((serial, device, question));
    }

    /// A question about an address at a moment; it overtakes the one before.
    pub(super) fn memory_at(&mut self, serial: u32, device: i64, moment: u32, address: u64) {
        self.memory_at = Some((serial, device, moment, address));
    }

    /// A question about a node; it overtakes the one before.
    pub(super) fn heaviest(&mut self, heaviest: Heaviest) {
        self.heaviest = Some(heaviest);
    }

    /// A question about files and lines; it overtakes the one before.
    pub(super) fn sources(&mut self, sources: Sources) {
        self.sources = Some(sources);
    }

    /// A question about colours.
    pub(super) fn legend(&mut self, serial: u32, device: i64, colouring: Grouping, at: Option<u32>) {
        self.legends.push_back((serial, device, colouring, at));
    }

    /// A question about an allocation.
    pub(super) fn details(&mut self, serial: u32, device: i64, allocation: u32) {
        self.details.push_back((serial, device, allocation));
    }

    /// Answers what waits for categories alone: `true` when nothing of it is left.
    pub(super) fn answer(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        while let Some(&(serial, device, colouring, at)) = self.legends.front() {
            if colouring == Grouping::Category && !file.categorize(has_time) {
                return false;
            }
            let entries = legend::legend(file, device, colouring, at);
            replies.extend(entries.map(|entries| Reply::Legend { serial, device, entries }));
            self.legends.pop_front();
        }
        while let Some(&(serial, device, allocation)) = self.details.front() {
            if !file.categorize(has_time) {
                return false;
            }
            let details = details::details(file, device, allocation).map(Box::new);
            replies.push_back(Reply::Details { serial, details });
            self.details.pop_front();
        }
        true
    }

    /// There is no file to answer from.
    pub(super) fn answer_nothing(&mut self, replies: &mut VecDeque<Reply>) {
        self.legends.clear();
        replies.extend(self.details.drain(..).map(|(serial, ..)| Reply::Details { serial, details: None }));
    }

    /// Nodes are numbered anew.
    pub(super) fn forget_trees(&mut self) {
        (self.trees, self.flames) = Default::default();
    }

    /// Bytes on the heap of what is kept.
    pub(super) fn heap_bytes(&self) -> usize {
        self.trees.heap_bytes()
            + self.states.heap_bytes()
            + self.beneath.heap_bytes()
            + self.sources.as_ref().map_or(0, Sources::heap_bytes)
    }

    /// Works while there is time: `true` when nothing is left to do.
    pub(super) fn step(
        &mut self,
        file: &mut OpenFile,
        replies: &mut VecDeque<Reply>,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        if !self.answer(file, replies, has_time) {
            return false;
        }
        if let Some((serial, device, only)) = self.map {
            let looks = Looks { plot: Plot::Addresses(only), ..Looks::default() };
            if !file.prepare_plot(device, looks, has_time) {
                return false;
            }
            replies.push_back(Reply::Map { serial, device, map: Box::new(file.map(device, only)) });
            self.map = None;
        }
        if let Some((serial, device, moment, address)) = self.memory_at {
            let Some((hit, memory)) = self.beneath.at(file, device, moment, address, has_time) else { return false };
            replies.push_back(Reply::Hit { serial, device, hit, memory });
            self.memory_at = None;
        }
        if let Some((serial, device, question)) = self.state {
            let Some(page) = self.states.page(file, device, question, has_time) else { return false };
            replies.push_back(Reply::State { serial, page: Box::new(page) });
            self.state = None;
        }
        if let Some((serial, device, question)) = self.flame {
            let Some(page) = self.flames.page(file, device, question, has_time) else { return false };
            replies.push_back(Reply::Flame { serial, page: Box::new(page) });
            self.flame = None;
        }
        if let Some((serial, device, span)) = self.range {
            let Some(facts) = range::facts(file, device, span, has_time) else { return false };
            replies.push_back(Reply::Range { serial, facts });
            self.range = None;
        }
        if let Some((serial, device, question)) = &self.tree {
            let Some(page) = self.trees.page(file, *device, question, has_time) else { return false };
            replies.push_back(Reply::Tree { serial: *serial, page: Box::new(page) });
            self.tree = None;
        }
        if let Some(heaviest) = &mut self.heaviest {
            if !heaviest.step(file, has_time) {
                return false;
            }
            replies.push_back(heaviest.reply());
            self.heaviest = None;
        }
        if let Some(sources) = &mut self.sources {
            let Some((serial, page)) = sources.step(file, has_time) else { return false };
            replies.push_back(Reply::Sources { serial, page: Box::new(page) });
            self.sources = None;
        }
        true
    }
}
