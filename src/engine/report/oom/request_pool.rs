//! The memory pool of a failed request: which segments could serve it, and what other pools kept reserved.

use super::facts::{OomFacts, OomState};
use super::kind_sums::KindSums;
use crate::report::leaks::{pool_name, stream_name};
use crate::report::writer::{ReportWriter, bytes_text, moment_evidence};
use crate::side::Side;
use crate::state::is_small;
use base::units::pluralize;
use history::replay::{AllocationId, SegmentKind, SegmentLifetimes};
use history::snapshot::StackId;
use protocol::Tone;

/// Maximum number of pools that a sentence names.
const MAX_NAMED: usize = 3;

/// Pool, stream and size class of a failed request.
#[derive(Clone, Copy)]
pub(super) struct RequestPool {
    /// `None` if it is neither recorded nor inferred.
    pool: Option<(u64, u64)>,
    is_inferred: bool,
    stream: u64,
    small: bool,
    /// Size of the request, rounded as the allocator does.
    rounded: u64,
}

impl RequestPool {
    /// Reads the pool of the request. If the file does not record it, the pool is that of the newest live allocation by
    /// the same call stack.
    pub(super) fn new(
        side @ Side { file, history }: Side<'_>,
        facts: &OomFacts,
        oom: &OomState,
        lives: &SegmentLifetimes,
    ) -> RequestPool {
        let labels = file.snapshot.labels.labels(history.events.labels(facts.event));
        let rounded = file.rounding.rounded(facts.request);
        let (pool, stream, small) = (labels.pool, labels.stream.unwrap_or_default(), is_small(rounded));
        let request = RequestPool { pool, is_inferred: false, stream, small, rounded };
        let stack = history.events.stack(facts.event);
        if pool.is_some() || matches!(stack, StackId::NONE | StackId::EMPTY) {
            return request;
        }
        let segments = oom.state.segments.iter();
        let kinds = segments.filter_map(|segment| Some((segment, lives.kinds().get(segment.kind as usize)?)));
        let newest = kinds.filter(|(_, kind)| request.has_stream_of(kind)).flat_map(|(segment, kind)| {
            let ids = oom.state.blocks_of(segment).iter().map(|block| block.id);
            let same = ids.filter(|&id| side.stack(AllocationId(id)) == stack).max();
            same.map(|id| (id, kind.pool.unwrap_or_default()))
        });
        let pool = newest.max().map(|(_, pool)| pool);
        let inferred = RequestPool { pool, is_inferred: pool.is_some(), ..request };
        // In a pool with a large enough free block, the request would not have failed.
        let has_room = oom
            .by_kind
            .kinds
            .iter()
            .any(|totals| inferred.is_served_by(&totals.kind) && totals.sums.largest_free >= rounded);
        if has_room { request } else { inferred }
    }

    /// Returns whether segments of a kind can serve the request. A pool that is not recorded is the default pool.
    pub(super) fn is_served_by(self, kind: &SegmentKind) -> bool {
        kind.pool.unwrap_or_default() == self.pool.unwrap_or_default() && self.has_stream_of(kind)
    }

    /// Returns whether PyTorch releases cached memory before the request fails. It does not during a capture, or while
    /// allocations go to a `MemPool`.
    pub(super) fn releases_cached(self) -> bool {
        self.pool.unwrap_or_default() == (0, 0)
    }

    fn has_stream_of(self, kind: &SegmentKind) -> bool {
        kind.stream.unwrap_or_default() == self.stream && kind.small == self.small
    }

    /// Returns whether the pool is recorded, or the only one.
    fn is_known(self, kinds: &[KindSums]) -> bool {
        self.pool.is_some() || kinds.iter().all(|totals| totals.kind.pool == Some((0, 0)))
    }

    /// Returns the table's answer to whether segments of a kind can serve the request.
    pub(super) fn serves_text(self, kinds: &[KindSums], kind: &SegmentKind) -> &'static str {
        match self.has_stream_of(kind) {
            false => "no",
            true if !self.is_known(kinds) => "not known",
            true => {
                if self.is_served_by(kind) {
                    "yes"
                } else {
                    "no"
                }
            }
        }
    }

    /// Writes the pool of the request, if the device has several, and the empty segments of other pools, if `missing`
    /// bytes of them would have served the request.
    pub(super) fn write(self, writer: &mut ReportWriter<'_>, oom: &OomState, missing: u64) {
        let (kinds, file) = (&*oom.by_kind.kinds, writer.side.file);
        let evidence = || Some(moment_evidence(oom.live.moment));
        let has_one = kinds.windows(2).all(|pair| match pair {
            [one, other] => (one.kind.pool, one.kind.stream) == (other.kind.pool, other.kind.stream),
            _ => true,
        });
        if has_one {
            return;
        }
        let serving = || kinds.iter().filter(|totals| self.is_served_by(&totals.kind)).map(|totals| totals.sums);
        let is_known = self.is_known(kinds);
        let reserved = serving().fold(0u64, |sum, sums| sum.saturating_add(sums.reserved));
        let mut text = format!(
            "Pool of the request: {}, {}{}: {} reserved.",
            pool_name(file, self.pool, self.small),
            stream_name(Some(self.stream)),
            match is_known {
                true if self.is_inferred => " (inferred: it holds the last allocation by the same call stack)",
                true => "",
                false => " (assumed: the file does not record it)",
            },
            bytes_text(reserved)
        );
        let largest = serving().map(|sums| sums.largest_free).max().unwrap_or(0);
        if !is_known && largest >= self.rounded {
            text.push_str(&format!(
                " A free block of ≤ {} there suggests that the request was in another pool.",
                bytes_text(largest)
            ));
        }
        writer.add_statement(Tone::Fact, text, evidence());

        // The default pool releases its empty segments before one of its requests fails.
        let is_other = |kind: &SegmentKind| match is_known {
            true => self.pool.unwrap_or_default() != (0, 0) || kind.pool != Some((0, 0)),
            false => kind.pool != Some((0, 0)) && !self.has_stream_of(kind),
        };
        let empty = |totals: &&KindSums| {
            totals.empty_segments > 0 && !self.is_served_by(&totals.kind) && is_other(&totals.kind)
        };
        let others: Vec<&KindSums> = kinds.iter().filter(empty).collect();
        let sum = |value: fn(&KindSums) -> u64| others.iter().fold(0u64, |sum, it| sum.saturating_add(value(it)));
        let bytes = sum(|it| it.empty_segment_bytes);
        if missing == 0 || bytes < missing {
            return;
        }
        let mut pools: Vec<(u64, u64)> = others.iter().map(|it| it.kind.pool.unwrap_or_default()).collect();
        pools.sort_unstable();
        pools.dedup();
        let named = pools.iter().take(MAX_NAMED).map(|&pool| match pool {
            (0, 0) => "the default pool".to_owned(),
            pool => file.groups.pool_label(pool),
        });
        let more = pools.len().saturating_sub(MAX_NAMED);
        let text = format!(
            "Empty segments that this request cannot use would have been large enough: {} in {} of {}{}.",
            bytes_text(bytes),
            pluralize(sum(|it| it.empty_segments), "segment"),
            named.collect::<Vec<String>>().join(", "),
            if more > 0 { format!(" and {more} more") } else { String::new() }
        );
        writer.add_statement(Tone::Alarm, text, evidence());
        let release = [writer.side.backend().module(), ".empty_cache()"].concat();
        writer.set_fix(&match (pools.contains(&(0, 0)), pools.len() == 1) {
            (true, true) => format!("Call {release} before this request."),
            (false, _) => "Delete the MemPool, or reset the CUDA graph, that owns them when it is no longer used.".to_owned(),
            (true, false) => format!(
                "Delete the MemPool, or reset the CUDA graph, that owns them when it is no longer used, and call {release}."
            ),
        });
    }
}
