//! DHAT's JSON, version 2: bytes per stack over the whole trace, at the maximum of the stack, at the peak of the trace,
//! and at the end.

use crate::frames::{FrameNumbers, Stack, outermost_first};
use crate::json;
use crate::profile::Total;
use base::units::{EventIdx, Moment};
use engine::Side;
use hashbrown::HashMap;
use history::replay::AllocationId;
use protocol::Scope;
use std::io::{self, Write};

/// Sums of a stack, which DHAT calls a program point.
#[derive(Clone, Default)]
struct Sums {
    all: Total,
    /// Sum of the lifetimes of all allocations, in events.
    lifetimes: u64,
    now: Total,
    max: Total,
    at_peak: Total,
    at_end: Total,
}

/// Writes the whole trace. DHAT's time unit is events.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, out: &mut dyn Write) -> io::Result<Total> {
    let history = side.history;
    let peak = Moment::after_event_or_minus_one(history.numbers.peak_event);
    let (stacks, sums) = sums(side, peak);
    let mut frames = FrameNumbers::default();
    // Frame 0 is the root.
    let mut stack_frames = Vec::new();
    for &stack in &stacks {
        let innermost_first = outermost_first(side, stack).into_iter().rev();
        stack_frames.push(innermost_first.map(|frame| frames.number(frame) + 1).collect::<Vec<u32>>());
    }
    out.write_all(b"{\"dhatFileVersion\":2,\"mode\":\"heap\",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":false,")?;
    out.write_all(b"\"tu\":\"events\",\"Mtu\":\"Mevents\",\"tuth\":100,\"cmd\":")?;
    json::text(out, &side.name())?;
    write!(out, ",\"pid\":{},\"te\":{},\"tg\":{},\"pps\":", history.device, history.event_count(), peak.0)?;
    json::list(out, sums.iter().zip(&stack_frames), |out, (sums, frames)| {
        let Sums { all, lifetimes, max, at_peak, at_end, .. } = sums;
        write!(out, "\n{{\"tb\":{},\"tbk\":{},\"tl\":{lifetimes}", all.bytes, all.count)?;
        write!(out, ",\"mb\":{},\"mbk\":{},\"gb\":{},\"gbk\":{}", max.bytes, max.count, at_peak.bytes, at_peak.count)?;
        write!(out, ",\"eb\":{},\"ebk\":{},\"fs\":", at_end.bytes, at_end.count)?;
        json::numbers(out, frames)?;
        out.write_all(b"}")
    })?;
    out.write_all(b",\"ftbl\":[\"[root]\"")?;
    for (number, frame) in (1..).zip(&frames.frames) {
        let texts = frame.texts(side);
        let label = match &*texts.file {
            "" => format!("0x{number:x}: {}", texts.name),
            file => format!("0x{number:x}: {} ({file}:{})", texts.name, texts.line),
        };
        out.write_all(b",\n")?;
        json::text(out, &label)?;
    }
    out.write_all(b"]}\n")?;
    Ok(Total::of(side, Scope::At(peak.0)))
}

fn sums(side: Side<'_>, peak: Moment) -> (Vec<Stack>, Vec<Sums>) {
    let history = side.history;
    let mut numbers = HashMap::<Stack, u32, foldhash::fast::RandomState>::default();
    let (mut stacks, mut sums, mut stack_numbers) = (Vec::new(), Vec::<Sums>::new(), Vec::new());
    let last = history.event_count();
    for (id, (allocated_at, freed_at, bytes)) in (0..).map(AllocationId).zip(history.allocations.spans()) {
        let stack = Stack::of_allocation(side, id);
        let next = stacks.len() as u32;
        let number = *numbers.entry(stack).or_insert(next);
        if number == next {
            stacks.push(stack);
            sums.push(Sums::default());
        }
        stack_numbers.push(number);
        let Some(known) = sums.get_mut(number as usize) else { continue };
        known.all.add(bytes);
        known.lifetimes = known.lifetimes.saturating_add(u64::from(freed_at.min(last).saturating_sub(allocated_at)));
        if allocated_at == 0 {
            known.now.add(bytes);
            known.max = known.now;
        }
        if allocated_at <= peak.0 && peak.0 < freed_at {
            known.at_peak.add(bytes);
        }
        if freed_at > last {
            known.at_end.add(bytes);
        }
    }
    for event in (0..last).map(EventIdx) {
        let Some((id, is_birth)) = history.lifetime_change(event) else { continue };
        let known = stack_numbers.get(id.0 as usize).and_then(|&number| sums.get_mut(number as usize));
        let Some(known) = known else { continue };
        let bytes = history.allocations.size(id);
        if is_birth {
            known.now.add(bytes);
        } else {
            known.now.bytes = known.now.bytes.saturating_sub(bytes);
            known.now.count = known.now.count.saturating_sub(1);
        }
        if known.now.bytes > known.max.bytes {
            known.max = known.now;
        }
    }
    (stacks, sums)
}
