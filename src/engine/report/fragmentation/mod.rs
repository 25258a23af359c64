//! Report on fragmentation: reserved bytes lost because blocks are larger than requests (internal) or because free
//! bytes are scattered (external), when it was worst, and whether it caused a request to the driver.

mod course;
mod moments;
mod pinned;

use super::job::Job;
use super::layout::{DriverRequest, Layout, kind_name};
use super::leaks::{pool_name, stream_name};
use super::writing::{Writing, at, bytes, row, threshold, when};
use crate::open::OpenFile;
use crate::protocol::{Cell, Report, ReportQuestion, StateFit, Threshold, Tone};
use crate::report::column::{self, sheet};
use crate::state::{Fits, Keeping};
use base::apart::apart;
use base::slice::{Slice, Sliced, Spent};
use base::units::{EventIdx, counted, grouped, percent};
use course::{By, Course, Free};
use history::replay::{DeviceHistory, SegmentLives};
pub(super) use moments::{MUCH, most_requested, most_reserved, newest_failure};

/// Default size of the request to place.
const REQUEST: u64 = 20 << 20;

/// Report on fragmentation, in progress.
pub(super) struct Fragmentation {
    device: i64,
    question: ReportQuestion,
    course: Option<Course>,
    parts: Option<Parts>,
}

struct Parts {
    /// State at the reported moment. `worst` is the state with the most free bytes.
    moment: Layout,
    worst: Layout,
    /// Driver request that led to peak reserved, and the state before it. `failed` is the newest OOM and its state.
    driver: Option<(DriverRequest, Layout)>,
    failed: Option<(u32, Layout)>,
    request: Threshold,
    fits: Fits,
    keeping: Keeping,
}

impl Fragmentation {
    pub(super) fn new(device: i64, question: ReportQuestion) -> Fragmentation {
        Fragmentation { device, question, course: None, parts: None }
    }
}

impl Parts {
    fn new(
        file: &OpenFile,
        history: &DeviceHistory,
        lives: &SegmentLives,
        question: &ReportQuestion,
        course: &Course,
    ) -> Parts {
        let peak = most_reserved(history);
        let layout = |moment| Layout::new(history, lives, moment);
        let request = threshold(question, ["request", "a request of", "bytes"], REQUEST);
        Parts {
            moment: layout(question.at.unwrap_or_else(|| most_requested(history)).min(history.event_count())),
            worst: layout(course.worst().map_or(0, |worst| worst.moment)),
            driver: DriverRequest::before(file, history, lives, peak).map(|driver| (driver, layout(driver.event))),
            failed: newest_failure(history).map(|event| (event, layout(event))),
            fits: Fits::new(file, request.value),
            keeping: Keeping::default(),
            request,
        }
    }
}

impl Job for Fragmentation {
    fn step(&mut self, file: &mut OpenFile, slice: &mut Slice) -> Sliced<Report> {
        file.segment_lives(self.device, slice)?;
        let file = &*file;
        let (Some(history), Some(lives)) = (file.history(self.device), file.segments(self.device)) else {
            return Ok(Report { topic: self.question.topic, ..Report::default() });
        };
        let course = self.course.get_or_insert_with(|| Course::new(history));
        apart(|| course.step(file, history, slice))?;
        let parts = self.parts.get_or_insert_with(|| Parts::new(file, history, lives, &self.question, course));
        let Parts { moment, worst, driver, failed, fits, keeping, request: _ } = parts;
        let layouts =
            [Some(moment), Some(worst), driver.as_mut().map(|it| &mut it.1), failed.as_mut().map(|it| &mut it.1)];
        for layout in layouts.into_iter().flatten() {
            apart(|| layout.step(file, history, lives, slice))?;
        }
        keeping.step(file, history, lives, (&parts.moment.state, None), slice)?;
        let told = apart(|| fits.step(&parts.moment.state, lives, slice))?;
        let parts = self.parts.take().ok_or(Spent)?;
        apart(|| {
            let mut writing = Writing::new(file, history, &self.question);
            say(&mut writing, &parts, lives, course);
            let kept = parts.keeping.told(file, history);
            pinned::write(&mut writing, &kept, &parts.moment);
            parts.moment.write(&mut writing, "moment", "Reserved and free bytes, by pool");
            write_fits(&mut writing, &parts, told);
            parts.worst.write(&mut writing, "worst", "At maximum free bytes, by pool");
            write_moments(&mut writing, "worst_bytes", "Most free bytes", course.worst_moments(By::Bytes, history));
            write_moments(
                &mut writing,
                "worst_share",
                "Highest fragmentation",
                course.worst_moments(By::Share, history),
            );
            write_moments(&mut writing, "over_time", "Over the trace", course.over_time());
            Ok(writing.report)
        })
    }
}

/// Formats a share that is an upper bound: `≤ 12.3 %`.
fn at_most(part: u64, whole: u64) -> String {
    let share = percent(part, whole);
    ["≤ ", if share.starts_with('>') { "100 %" } else { &share }].concat()
}

/// Formats free bytes, number of blocks and largest block: `≤ 1.29 GiB free (cached) in 45 blocks, largest ≤ 200 MiB`.
fn free_words(free: u64, blocks: u32, largest: u64) -> String {
    ["≤ ", &bytes(free), " free (cached) in ", &counted(blocks.into(), "block"), ", largest ≤ ", &bytes(largest)]
        .concat()
}

fn say(writing: &mut Writing<'_>, parts: &Parts, lives: &SegmentLives, course: &Course) {
    let history = writing.history;
    let Parts { moment, worst, driver, failed, .. } = parts;
    if lives.ranges.is_empty() {
        let text = "No segments recorded: reserved and free bytes are unknown.";
        writing.say(Tone::Fact, text.to_owned(), None);
        return;
    }
    let sums = moment.whole;
    let which = match moment.moment {
        moment if moment == most_requested(history) => " (the peak)",
        moment if moment == most_reserved(history) => " (peak reserved)",
        _ => "",
    };
    let words = [
        "Fragmentation ",
        &when(moment.moment),
        which,
        ": ",
        &at_most(sums.free, sums.reserved),
        " of ",
        &bytes(sums.reserved),
        " reserved, ",
        &free_words(sums.free, sums.free_blocks, sums.largest_free),
        if moment.state.astray.count > 0 { ". Live in the recorded segments: " } else { ". Live: " },
        &bytes(sums.requested),
        "; lost to rounding: ≥ ",
        &bytes(sums.rounded.saturating_sub(sums.requested)),
        ".",
    ];
    let text = words.concat();
    let tone = if sums.free < sums.reserved / 10 { Tone::Good } else { Tone::Fact };
    writing.say(tone, text, Some(at(moment.moment)));
    writing.parts(&[
        ("live", sums.requested),
        ("lost to rounding", sums.rounded.saturating_sub(sums.requested)),
        ("free (cached)", sums.free),
    ]);
    if let Some((driver, layout)) = driver {
        let free = layout.rooms.serving(driver.kind);
        let kind = kind_name(writing.file, &driver.kind);
        let needs = driver.request.map_or_else(String::new, |request| [" for a block of ", &bytes(request)].concat());
        let mut text = [
            "Peak reserved: ",
            &bytes(layout.whole.reserved.saturating_add(driver.taken)),
            " at event ",
            &grouped(driver.event.into()),
            ". The driver was asked for ",
            &bytes(driver.taken),
            &needs,
            ", with ",
            &free_words(free.free, free.free_blocks, free.largest_free),
            " in that pool (",
            &kind,
            ")",
        ]
        .concat();
        let is_scattered = driver.is_scattered(&free);
        text.push_str(match () {
            () if is_scattered => ". Enough in total, but not in one block.",
            () if driver.request.is_some_and(|request| free.free < request) => ". Too little in total.",
            () => ".",
        });
        let is_much = free.free >= MUCH && free.free >= layout.whole.reserved / 10;
        writing.say(if is_scattered && is_much { Tone::Alarm } else { Tone::Fact }, text, Some(at(driver.event)));
    }
    if let Some((event, layout)) = failed {
        let (_, request) = history.address_and_size(EventIdx(*event));
        let sums = layout.whole;
        let mut text = [
            "OOM at event ",
            &grouped((*event).into()),
            ": ",
            &bytes(request),
            " requested, with ",
            &free_words(sums.free, sums.free_blocks, sums.largest_free),
        ]
        .concat();
        let is_scattered = sums.free >= request && sums.largest_free < request;
        text.push_str(if is_scattered { ". Enough in total, but not in one block." } else { "." });
        text.push_str(" See Out of memory.");
        writing.say(Tone::Alarm, text, Some(at(*event)));
    }
    if let Some(most) = course.worst().filter(|most| most.free > 0 && most.moment != moment.moment) {
        let text = [
            "Most free (cached) ",
            &when(most.moment),
            ": ≤ ",
            &bytes(most.free),
            " of ",
            &bytes(most.reserved),
            " reserved (",
            &percent(most.free, most.reserved),
            "), largest block ≤ ",
            &bytes(worst.whole.largest_free),
            ".",
        ];
        writing.say(Tone::Fact, text.concat(), Some(at(most.moment)));
    }
    let astray = moment.state.astray;
    if astray.count > 0 {
        let text = [
            &bytes(astray.bytes),
            " live in ",
            &counted(astray.count.into(), "allocation"),
            " are outside the recorded segments: the file does not list all of them.",
        ];
        writing.say(Tone::Fact, text.concat(), Some(at(moment.moment)));
    }
}

fn write_fits(writing: &mut Writing<'_>, parts: &Parts, fits: Vec<StateFit>) {
    let file = writing.file;
    let goes = |fit: &StateFit| match fit.block {
        Some((address, _)) => format!("free block at 0x{address:x}"),
        None if fit.free >= fit.rounded => "new segment, though enough is free in total".to_owned(),
        None => "new segment".to_owned(),
    };
    let columns = [
        column::text("pool", "pool", |fit: &StateFit| pool_name(file, fit.pool, fit.rounded <= 1 << 20)),
        column::text("stream", "stream", |fit: &StateFit| stream_name(fit.stream)),
        column::bytes("allocated_rounded_bytes", "≥ allocated (rounded)", |fit: &StateFit| fit.rounded),
        column::text("placement", "placement", goes),
        column::cell("block_bytes", "≤ free block", |fit: &StateFit| {
            fit.block.map_or(Cell::Nothing, |(_, bytes)| Cell::Bytes(bytes))
        }),
        column::cell("new_segment_bytes", "from the driver", |fit: &StateFit| {
            if fit.block.is_none() { Cell::Bytes(fit.new_segment) } else { Cell::Nothing }
        }),
        column::bytes("free_bytes", "≤ free (cached)", |fit: &StateFit| fit.free),
        column::bytes("largest_free_bytes", "≤ largest free block", |fit: &StateFit| fit.largest_free),
    ];
    let note = "By pool and stream: the smallest free block that may fit the request, or the segment that the driver would be asked for.";
    let mut sheet = sheet(["request", "Where a request would be placed", note], &columns);
    sheet.threshold = Some(parts.request.clone());
    let fits: Vec<&StateFit> = fits.iter().collect();
    writing.fill(sheet, &columns, &fits, |_, _| row(at(parts.moment.moment)));
}

fn write_moments(writing: &mut Writing<'_>, key: &str, title: &str, moments: Vec<Free>) {
    let note = match key {
        "worst_bytes" => "",
        "worst_share" => "Only where reserved bytes are at least half of their peak.",
        _ => "The most free bytes in each of 48 equal parts of the trace.",
    };
    let columns = [
        column::event("event", "after event", |it: &Free| it.moment),
        column::bytes("free_bytes", "≤ free (cached)", |it: &Free| it.free),
        column::bytes("reserved_bytes", "reserved", |it: &Free| it.reserved),
        column::share("fragmentation", "≤ fragmentation", |it: &Free| (it.free, it.reserved)),
        column::bytes("live_bytes", "live", |it: &Free| it.requested),
    ];
    let moments: Vec<&Free> = moments.iter().collect();
    writing.fill(sheet([key, title, note], &columns), &columns, &moments, |_, it| row(at(it.moment)));
}
