//! Result of scanning one rank: totals, call sites at the peak, and live bytes over time. The decoded file can be
//! dropped after the scan.

use crate::sums::site_of;
use analysis::Sites;
use base::slice::{SliceResult, TimeSlice};
use base::sorted::{sorted_numbers, two_part_key};
use base::units::{EventIdx, Moment};
use engine::{Side, StepSearch};
use hashbrown::HashMap;
use history::replay::{AllocationId, Candidates};
use serde::{Deserialize, Serialize};

/// Number of equal parts of a trace for which the live bytes are stored.
pub const BINS: u32 = 512;
/// Maximum number of call sites. Call sites with the most bytes are kept.
const MAX_SITES: usize = 256;
/// Maximum number of steps.
const MAX_STEPS: usize = 512;

/// Live bytes of a call site at the peak.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteBytes {
    pub site: String,
    pub bytes: u64,
    pub allocations: u64,
}

/// The first request that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfMemory {
    pub event: u32,
    pub time_us: Option<i64>,
    pub requested_bytes: u64,
    /// Free device memory in bytes, as reported by the driver. `None` if it was not recorded.
    pub device_free_bytes: Option<u64>,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
}

/// Result of scanning one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankSurvey {
    pub device: i64,
    pub events: u32,
    pub peak_requested: i64,
    /// Index of the event that reached the peak. −1 if the peak is before the first event.
    pub peak_event: i64,
    pub peak_reserved: i64,
    pub end_requested: u64,
    pub out_of_memory: Option<OutOfMemory>,
    /// Device memory in bytes, as stored by the recorder. Otherwise, the sum of reserved and free bytes at an
    /// out-of-memory error, which does not include other processes.
    pub capacity: Option<u64>,
    pub settings: Vec<(String, String)>,
    /// Keys and values that the recorder stored about the process.
    pub recorder: Vec<(String, String)>,
    /// Call sites with the most bytes at the peak.
    pub sites: Vec<SiteBytes>,
    /// Bytes of all call sites not listed in `sites`.
    pub other_bytes: u64,
    /// Maximum live bytes in each of [`BINS`] equal parts of the trace, counted in events.
    pub curve: Vec<u64>,
    /// First and last recorded time in µs since 1970, and the live bytes at [`BINS`] evenly spaced times in between.
    pub by_time: Option<(i64, i64, Vec<u64>)>,
    /// Description of how steps were found.
    pub steps_way: String,
    /// Peak of live bytes in each step.
    pub steps: Vec<u64>,
    /// First and last moment of each step.
    pub step_events: Vec<(u32, u32)>,
}

/// Resumable scan of a rank.
pub struct RankSurveyor {
    steps: StepSearch,
    sites: Sites,
    sums: HashMap<u32, (u64, u64), foldhash::fast::RandomState>,
    candidates: Option<Candidates>,
    next: usize,
    next_bin: usize,
    next_time: usize,
    found: RankSurvey,
}

/// Sentinel in place of a frame id: the allocation has no stack.
const NO_STACK: u32 = u32::MAX;
/// Sentinel in place of a frame id: unexplained bytes.
const UNEXPLAINED: u32 = u32::MAX - 1;

impl RankSurveyor {
    /// Creates a scan of a device. Call [`RankSurveyor::step`] to run it.
    pub fn new(side: &Side) -> RankSurveyor {
        let (sums, candidates, next, next_bin, next_time) = Default::default();
        let history = side.history;
        let numbers = &history.numbers;
        let snapshot = side.snapshot();
        let found = RankSurvey {
            device: history.device,
            events: history.event_count(),
            peak_requested: numbers.peak,
            peak_event: numbers.peak_event,
            peak_reserved: numbers.peak_reserved,
            end_requested: numbers.end,
            settings: snapshot.settings.clone(),
            recorder: snapshot.recorder.process_facts(),
            ..RankSurvey::default()
        };
        let steps = StepSearch::new(history.device);
        RankSurveyor { steps, sites: Sites::new(snapshot), sums, candidates, next, next_bin, next_time, found }
    }

    /// Continues the scan until it is complete or the time slice is used up. Each call must pass the same side.
    ///
    /// # Errors
    /// Returns an error if the time is up.
    pub fn step(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult<RankSurvey> {
        self.sum_up(side, slice)?;
        let history = side.history;
        let events = u64::from(history.event_count());
        let peak_in = |from: Moment, to: Moment| side.peak_bytes_in(from, to);
        while let Some(part) = slice.next_range(&mut self.next_bin, BINS as usize, 64)? {
            for bin in part {
                let edge = |bin: u64| (events * bin / u64::from(BINS)) as u32;
                let (from, to) = (edge(bin as u64), edge(bin as u64 + 1));
                self.found.curve.push(peak_in(Moment(from), Moment(to)));
            }
        }
        if let Some((first, last)) = history.numbers.time_us
            && let Some(clock) = history.events.times.time_axis()
        {
            let (_, _, values) = self.found.by_time.get_or_insert((first, last, Vec::new()));
            while let Some(part) = slice.next_range(&mut self.next_time, BINS as usize, 64)? {
                for bin in part {
                    let us = time_of_bin(first, last, bin as u32);
                    values.push(live(side, Moment(clock.events_before_us(us.saturating_add(1)))));
                }
            }
        }
        self.steps.step(side, slice)?;
        let mut found = std::mem::take(&mut self.found);
        found.steps_way = self.steps.rule().to_owned();
        let spans = self.steps.spans().iter().take(MAX_STEPS);
        found.step_events = spans.clone().map(|span| (span.from, span.to)).collect();
        found.steps = spans.map(|span| peak_in(Moment(span.from), Moment(span.to))).collect();
        found.out_of_memory = out_of_memory(side);
        let recorded = side.snapshot().recorder.device_fact(found.device, "capacity_bytes");
        let recorded = recorded.and_then(|bytes| bytes.parse().ok());
        let at_oom = found.out_of_memory.and_then(|oom| oom.reserved_bytes.checked_add(oom.device_free_bytes?));
        found.capacity = recorded.or(at_oom.filter(|&bytes| bytes > 0));
        self.name_sites(side, &mut found);
        Ok(found)
    }

    /// Continues summing the live bytes at the peak by call site.
    fn sum_up(&mut self, side: &Side, slice: &mut TimeSlice) -> SliceResult {
        let history = side.history;
        let (moment, _) = history.live_peak();
        let candidates = self.candidates.get_or_insert_with(|| history.live.candidates(&history.allocations, moment));
        while let Some(part) = slice.next_range(&mut self.next, candidates.len(), 8)? {
            for id in part.filter_map(|place| history.live.candidate(candidates, place)) {
                if !history.allocations.outlives(id, moment) {
                    continue;
                }
                let (bytes, count) = self.sums.entry(site(&mut self.sites, side, id)).or_default();
                *bytes = bytes.saturating_add(history.allocations.size(id));
                *count += 1;
            }
        }
        Ok(())
    }

    /// Looks up the names of the call sites, and merges call sites with the same name.
    fn name_sites(&mut self, side: &Side, found: &mut RankSurvey) {
        let mut named: HashMap<String, (u64, u64), foldhash::fast::RandomState> = HashMap::default();
        for (&frame, &(bytes, count)) in &self.sums {
            let name = match frame {
                UNEXPLAINED => "unexplained".to_owned(),
                NO_STACK => site_of(side, &mut self.sites, history::snapshot::StackId::NONE, false),
                frame => analysis::site::short_truncated(side.snapshot(), history::snapshot::FrameId(frame)),
            };
            let sum = named.entry(name).or_default();
            *sum = (sum.0.saturating_add(bytes), sum.1 + count);
        }
        let mut named: Vec<(String, (u64, u64))> = named.into_iter().collect();
        named.sort_unstable();
        let order = named.iter().zip(0..).map(|((_, (bytes, count)), at)| (two_part_key(!bytes, !count), at)).collect();
        for (place, at) in sorted_numbers(order).into_iter().enumerate() {
            let Some((site, (bytes, allocations))) = named.get_mut(at as usize) else { continue };
            match place < MAX_SITES {
                true => {
                    let site = std::mem::take(site);
                    found.sites.push(SiteBytes { site, bytes: *bytes, allocations: *allocations });
                }
                false => found.other_bytes = found.other_bytes.saturating_add(*bytes),
            }
        }
    }
}

/// Returns the frame id of an allocation's call site, or a sentinel.
fn site(sites: &mut Sites, side: &Side, id: AllocationId) -> u32 {
    if side.history.allocations.is_unexplained(id) {
        return UNEXPLAINED;
    }
    sites.call_site(side.snapshot(), side.stack(id)).map_or(NO_STACK, |frame| frame.0)
}

/// Returns the time of the value with index `bin` in [`RankSurvey::by_time`].
fn time_of_bin(first: i64, last: i64, bin: u32) -> i64 {
    let passed = u128::from(last.abs_diff(first)) * u128::from(bin) / u128::from(BINS - 1);
    first.saturating_add_unsigned(u64::try_from(passed).unwrap_or(u64::MAX))
}

fn live(side: &Side, moment: Moment) -> u64 {
    u64::try_from(side.history.drawn_at(moment)).unwrap_or(0)
}

fn out_of_memory(side: &Side) -> Option<OutOfMemory> {
    let history = side.history;
    let event = history.oom_events().next()?;
    let moment = Moment::after(EventIdx(event));
    let (_, requested_bytes) = history.address_and_size(EventIdx(event));
    Some(OutOfMemory {
        event,
        time_us: history.events.times.at(event),
        requested_bytes,
        device_free_bytes: history.free_at_oom(EventIdx(event)),
        live_bytes: live(side, moment),
        reserved_bytes: u64::try_from(history.reserved_at(moment)).unwrap_or(0),
    })
}

impl RankSurvey {
    /// Returns the live bytes at the stored time nearest to `us`, or `None` if `us` is outside the recording.
    pub fn live_at(&self, us: i64) -> Option<u64> {
        let (first, last, values) = self.by_time.as_ref()?;
        if us < *first || us > *last {
            return None;
        }
        let span = u128::from(last.abs_diff(*first)).max(1);
        let bin = (u128::from(us.abs_diff(*first)) * u128::from(BINS - 1) + span / 2) / span;
        values.get(usize::try_from(bin).ok()?).copied()
    }
}
