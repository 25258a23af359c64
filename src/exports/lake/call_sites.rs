//! Sums over the allocations of a device by call site. The sums at the peak add up to the peak.

use super::rows::{Key, SiteRow, SiteSums, SiteUseRow};
use analysis::place::{CallSite, hash};
use analysis::{CodeOrigin, Sites};
use base::units::Moment;
use engine::Side;
use hashbrown::HashMap;
use history::replay::{AllocationId, Provenance};
use history::snapshot::{FrameId, StackId};
use protocol::{Grouping, Scope};
use std::collections::BTreeMap;

/// Maximum number of call sites of a device that get a row. The others are added up in the row `rest`.
const MAX_SITES: usize = 200;
/// Site of the row with the sums of all call sites that have no row.
const REST: &str = "rest";
/// Sentinel in place of a frame id: the allocation has no stack.
const NO_STACK: u32 = u32::MAX;

type ByFrame<V> = HashMap<u32, V, foldhash::fast::RandomState>;

/// Call sites of a device, and the sums over their allocations.
pub(super) struct CallSites<'a> {
    side: Side<'a>,
    roots: &'a [String],
    sites: Sites,
    /// Normalized call site of each frame, with its two hashes.
    known: ByFrame<Named>,
}

/// A normalized call site and its hashes.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) call_site: CallSite,
    pub(super) site: String,
    pub(super) place: String,
}

/// Sums by call site: rows, and the bytes of each place at the OOM.
pub(super) struct SiteRows {
    pub(super) uses: Vec<SiteUseRow>,
    pub(super) sites: Vec<Named>,
    pub(super) places_at_oom: BTreeMap<String, u64>,
}

impl<'a> CallSites<'a> {
    /// Creates an empty cache of call sites. `roots` are folders of the user's code.
    pub(super) fn new(side: Side<'a>, roots: &'a [String]) -> CallSites<'a> {
        CallSites { side, roots, sites: Sites::new(side.snapshot()), known: ByFrame::default() }
    }

    /// Returns the call site of a stack.
    pub(super) fn of_stack(&mut self, stack: StackId) -> &Named {
        let frame = self.frame(stack);
        self.named(frame)
    }

    fn frame(&mut self, stack: StackId) -> u32 {
        self.sites.call_site(self.side.snapshot(), stack).map_or(NO_STACK, |frame| frame.0)
    }

    fn frame_of(&mut self, id: AllocationId) -> u32 {
        // Unexplained bytes have no stack.
        if self.side.history.allocations.is_unexplained(id) { NO_STACK } else { self.frame(self.side.stack(id)) }
    }

    fn named(&mut self, frame: u32) -> &Named {
        let (snapshot, roots) = (self.side.snapshot(), self.roots);
        self.known.entry(frame).or_insert_with(|| {
            let call_site = match frame {
                NO_STACK => CallSite::default(),
                frame => {
                    let frame = snapshot.frames.frame(FrameId(frame));
                    let [file, name] = [frame.filename, frame.name].map(|id| snapshot.strings.text(id));
                    match Sites::code_origin(snapshot, frame) {
                        // The line of a C++ frame without a source file is an address.
                        CodeOrigin::Native if file.is_empty() => CallSite::new("??", 0, &name, roots),
                        _ => CallSite::new(&file, frame.line, &name, roots),
                    }
                }
            };
            let (site, place) = (call_site.site(), call_site.place());
            Named { call_site, site, place }
        })
    }

    /// Adds up the allocations of the device: at the moment `peak`, at the moment `oom`, and of the whole trace.
    pub(super) fn rows(&mut self, key: &Key, peak: Moment, oom: Option<Moment>) -> SiteRows {
        let (side, history) = (self.side, self.side.history);
        let mut by_frame: ByFrame<SiteSums> = ByFrame::default();
        let mut by_category: HashMap<(u32, u32), u64, foldhash::fast::RandomState> = HashMap::default();
        side.for_each_in_scope(Scope::At(peak.0), &mut |id, bytes| {
            let frame = self.frame_of(id);
            let sums = by_frame.entry(frame).or_default();
            (sums.peak_bytes, sums.peak_count) = (sums.peak_bytes.saturating_add(bytes), sums.peak_count + 1);
            let sum = by_category.entry((frame, side.group(Grouping::Category, id))).or_default();
            *sum = sum.saturating_add(bytes);
        });
        if let Some(oom) = oom {
            side.for_each_in_scope(Scope::At(oom.0), &mut |id, bytes| {
                let sums = by_frame.entry(self.frame_of(id)).or_default();
                sums.oom_bytes = sums.oom_bytes.saturating_add(bytes);
            });
        }
        side.for_each_in_scope(Scope::All, &mut |id, bytes| {
            let sums = by_frame.entry(self.frame_of(id)).or_default();
            (sums.total_bytes, sums.total_count) = (sums.total_bytes.saturating_add(bytes), sums.total_count + 1);
            let is_recorded = matches!(history.allocations.provenance(id), Provenance::AllocatedBy(_));
            if is_recorded && history.allocations.freed_at(id).is_none() {
                sums.kept_bytes = sums.kept_bytes.saturating_add(bytes);
            }
        });
        self.ranked(key, by_frame, by_category)
    }

    /// Merges frames with equal hashes, and ranks the call sites.
    fn ranked(
        &mut self,
        key: &Key,
        by_frame: ByFrame<SiteSums>,
        by_category: HashMap<(u32, u32), u64, foldhash::fast::RandomState>,
    ) -> SiteRows {
        // Ordered by hash, so that the rows do not depend on the seed of the hash tables.
        let mut merged: BTreeMap<String, (Named, SiteSums, BTreeMap<String, u64>)> = BTreeMap::new();
        let mut places_at_oom = BTreeMap::new();
        for (frame, sums) in by_frame {
            let named = self.named(frame);
            if sums.oom_bytes > 0 {
                let bytes: &mut u64 = places_at_oom.entry(named.place.clone()).or_default();
                *bytes = bytes.saturating_add(sums.oom_bytes);
            }
            let new = || (named.clone(), SiteSums::default(), BTreeMap::new());
            merged.entry(named.site.clone()).or_insert_with(new).1.add(&sums);
        }
        for ((frame, category), bytes) in by_category {
            let label = self.side.group_label(Grouping::Category, category);
            if let Some((.., categories)) = merged.get_mut(&self.named(frame).site) {
                let sum: &mut u64 = categories.entry(label).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        let mut all: Vec<_> = merged.into_iter().collect();
        all.sort_by_key(|(_, (_, sums, _))| std::cmp::Reverse(sums.rank()));
        let mut rest = SiteSums::default();
        let left_out = all.split_off(all.len().min(MAX_SITES));
        left_out.iter().for_each(|(_, (_, sums, _))| rest.add(sums));
        let (mut uses, mut sites) = (Vec::with_capacity(all.len() + 1), Vec::with_capacity(all.len()));
        for (site, (named, sums, categories)) in all {
            // The first of equal categories wins.
            let category = categories.into_iter().rev().max_by_key(|(_, bytes)| *bytes).map(|(label, _)| label);
            uses.push(SiteUseRow { key: key.clone(), site, category, sums });
            sites.push(named);
        }
        if !left_out.is_empty() {
            uses.push(SiteUseRow { key: key.clone(), site: REST.to_owned(), category: None, sums: rest });
        }
        SiteRows { uses, sites, places_at_oom }
    }
}

impl Named {
    /// Returns the row of table `site`.
    pub(super) fn row(&self, key: &Key) -> SiteRow {
        let CallSite { file, line, function } = self.call_site.clone();
        SiteRow {
            batch: key.batch.clone(),
            site: self.site.clone(),
            place: self.place.clone(),
            file,
            line: line.into(),
            function,
        }
    }
}

/// Returns the places that held a tenth or more of the live bytes: at most ten.
pub(super) fn holders(places: &BTreeMap<String, u64>) -> Vec<&str> {
    let all = places.values().fold(0u128, |sum, &bytes| sum + u128::from(bytes));
    places.iter().filter(|&(_, &bytes)| u128::from(bytes) * 10 >= all).map(|(place, _)| &**place).collect()
}

/// Returns the signature of an OOM: equal for requests from the same place while the same places held the memory.
pub(super) fn signature(requested_by: &str, holders: &[&str]) -> String {
    hash(&[&[requested_by][..], holders].concat())
}
