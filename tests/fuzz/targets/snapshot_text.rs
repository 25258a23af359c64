//! Text form of everything that the snapshot reader decodes from a pickle.

use memscape::pickle::{Limits, Unpickler};
use memscape::snapshot::{Event, EventSink, Reader, Snapshot, StackId};
use std::fmt::Write;

/// Returns all events with their labels and stacks, and all tables, or the error.
pub(crate) fn read(pickle: &[u8], limits: Limits, chunk: usize) -> String {
    let mut machine = Unpickler::new(Reader::new(Events::default()), limits);
    for piece in pickle.chunks(chunk) {
        if let Err(error) = machine.feed(piece) {
            return format!("{error:?}: {error}");
        }
    }
    let (reader, root) = match machine.finish() {
        Ok(finished) => finished,
        Err(error) => return format!("{error:?}: {error}"),
    };
    match reader.finish(root, 0) {
        Ok((snapshot, events)) => text(&snapshot, &events),
        Err(error) => format!("{error:?}: {error}"),
    }
}

#[derive(Default)]
struct Events(Vec<(u32, Event)>);

impl EventSink for Events {
    fn event_at(&mut self, trace: u32, event: &Event) {
        self.0.push((trace, *event));
    }
}

fn text(snapshot: &Snapshot, events: &Events) -> String {
    let mut out = String::new();
    // Prints the contents behind table ids, because shortcuts may assign other ids.
    let string = |id| snapshot.strings.text(id).into_owned();
    let stack = |id: StackId| {
        let frames = snapshot.stacks.frames(id).map(|frame| {
            let frame = snapshot.frames.frame(frame);
            let fx: Vec<_> = frame.fx.iter().map(|&(key, value)| (string(key), string(value))).collect();
            (string(frame.name), string(frame.filename), frame.line, fx)
        });
        (id == StackId::NONE, frames.collect::<Vec<_>>())
    };
    for (trace, event) in &events.0 {
        let labels = snapshot.labels.labels(event.labels);
        let lines = labels.forward_frames.map(|lines| {
            let lines = snapshot.lines.frames(lines);
            lines.map(|line| string(memscape::snapshot::StringId(line.0))).collect::<Vec<_>>()
        });
        let texts = [labels.compile_context, labels.user_metadata, labels.internal_metadata, labels.category];
        let texts = texts.map(|text| text.map(string));
        let labels = (labels.stream, labels.pool, texts, lines);
        let event = (event.address, event.size, event.time_us, event.action, stack(event.stack), labels);
        let _ = writeln!(out, "{trace} {event:?}");
    }
    for segment in &snapshot.segments {
        let _ = writeln!(out, "{segment:?} {:?}", stack(segment.stack));
    }
    for block in &snapshot.blocks {
        let _ = writeln!(out, "{block:?} {:?}", stack(block.stack));
    }
    for mark in &snapshot.marks {
        let _ = writeln!(out, "{mark:?} {}", string(mark.name));
    }
    let rest = (&snapshot.traces, &snapshot.settings, &snapshot.torch, &snapshot.warnings);
    let _ = writeln!(out, "{rest:?}");
    out
}
