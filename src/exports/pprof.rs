//! pprof's protobuf format (proto/profile.proto of google/pprof), with the sample types of heap profiles. The caller
//! must compress the output with gzip.

use crate::frames::{Frame, FrameNumbers};
use crate::profile::{Labels, Profile, Total};
use base::units::Moment;
use engine::Side;
use hashbrown::HashMap;
use protocol::{ExportQuestion, Grouping, Scope};
use std::io::{self, Write};

// Fields of proto/profile.proto.
const SAMPLE_TYPE: u64 = 1;
const SAMPLE: u64 = 2;
const MAPPING: u64 = 3;
const LOCATION: u64 = 4;
const FUNCTION: u64 = 5;
const STRING: u64 = 6;
const COMMENT: u64 = 13;
const DEFAULT_SAMPLE_TYPE: u64 = 14;

/// Builder of the string table. Index 0 is the empty string.
struct Strings {
    numbers: HashMap<String, u64, foldhash::fast::RandomState>,
    texts: Vec<String>,
}

impl Strings {
    fn new() -> Strings {
        let mut strings = Strings { numbers: HashMap::default(), texts: Vec::new() };
        strings.number("");
        strings
    }

    fn number(&mut self, text: &str) -> u64 {
        let next = self.texts.len() as u64;
        let number = *self.numbers.entry_ref(text).or_insert(next);
        if number == next {
            self.texts.push(text.to_owned());
        }
        number
    }
}

/// Writes the live bytes at the cursor as `inuse_space`, and the bytes allocated in the range as `alloc_space`.
///
/// # Errors
/// Returns the errors of `out`.
pub(crate) fn write(side: Side<'_>, question: &ExportQuestion, out: &mut dyn Write) -> io::Result<Total> {
    let (mut strings, mut frames) = (Strings::new(), FrameNumbers::default());
    for [kind, unit] in
        [["alloc_objects", "count"], ["alloc_space", "bytes"], ["inuse_objects", "count"], ["inuse_space", "bytes"]]
    {
        let mut value = Vec::new();
        number(&mut value, 1, strings.number(kind));
        number(&mut value, 2, strings.number(unit));
        message(out, SAMPLE_TYPE, &value)?;
    }
    let (live, none) = (Profile::labelled(side, Scope::At(question.cursor)), Total::default());
    let allocated = Profile::labelled(side, Scope::Allocated(question.range));
    let mut samples = Samples { side, strings: &mut strings, frames: &mut frames };
    for sample in &allocated.samples {
        let values = [sample.total, none];
        message(out, SAMPLE, &samples.sample(&sample.frames, sample.key, values))?;
    }
    for sample in &live.samples {
        let values = [none, sample.total];
        message(out, SAMPLE, &samples.sample(&sample.frames, sample.key, values))?;
    }
    // All names are present, so nothing needs symbolization.
    let mut mapping = Vec::new();
    number(&mut mapping, 1, 1);
    number(&mut mapping, 5, strings.number(&side.name()));
    (7..=9).for_each(|has| number(&mut mapping, has, 1));
    message(out, MAPPING, &mapping)?;
    for (id, frame) in (1..).zip(&frames.frames) {
        let texts = frame.texts(side);
        let (mut function, mut line, mut location) = (Vec::new(), Vec::new(), Vec::new());
        number(&mut function, 1, id);
        number(&mut function, 2, strings.number(&texts.name));
        number(&mut function, 4, strings.number(&texts.file));
        message(out, FUNCTION, &function)?;
        number(&mut line, 1, id);
        number(&mut line, 2, texts.line.into());
        number(&mut location, 1, id);
        number(&mut location, 2, 1);
        message(&mut location, 4, &line)?;
        message(out, LOCATION, &location)?;
    }
    let (after, span) = (Moment(question.cursor).event_or_minus_one(), question.range);
    let comment = format!(
        "Requested bytes of device {}. inuse: live after event {after}; alloc: allocated by events {} to {}.",
        side.history.device,
        span.from,
        i64::from(span.to) - 1
    );
    let comment = strings.number(&comment);
    let default = strings.number("inuse_space");
    for text in &strings.texts {
        message(out, STRING, text.as_bytes())?;
    }
    let mut last = Vec::new();
    number(&mut last, COMMENT, comment);
    number(&mut last, DEFAULT_SAMPLE_TYPE, default);
    out.write_all(&last)?;
    Ok(live.total)
}

/// Encoder of samples and of the tables that samples refer to.
struct Samples<'a> {
    side: Side<'a>,
    strings: &'a mut Strings,
    frames: &'a mut FrameNumbers,
}

impl Samples<'_> {
    fn sample(&mut self, frames: &[Frame], labels: Labels, totals: [Total; 2]) -> Vec<u8> {
        let (mut sample, mut part) = (Vec::new(), Vec::new());
        // Innermost frame first. Ids start at 1.
        frames.iter().rev().for_each(|&frame| varint(&mut part, u64::from(self.frames.number(frame)) + 1));
        bytes(&mut sample, 1, &part);
        part.clear();
        for total in totals {
            varint(&mut part, total.count);
            varint(&mut part, total.bytes);
        }
        bytes(&mut sample, 2, &part);
        let side = self.side;
        let category = side.group_label(Grouping::Category, labels.category);
        self.label(&mut sample, "category", &category);
        self.label(&mut sample, "device", &side.history.device.to_string());
        if let Some(pool) = labels.pool {
            self.label(&mut sample, "pool", &side.pool_label(pool));
        }
        if let Some(stream) = labels.stream {
            self.label(&mut sample, "stream", &format!("0x{stream:x}"));
        }
        if labels.metadata > 0 {
            self.label(&mut sample, "user_metadata", &side.group_label(Grouping::Metadata, labels.metadata));
        }
        let mut size = Vec::new();
        number(&mut size, 1, self.strings.number("bytes"));
        number(&mut size, 3, labels.size);
        number(&mut size, 4, self.strings.number("bytes"));
        bytes(&mut sample, 3, &size);
        sample
    }

    fn label(&mut self, sample: &mut Vec<u8>, key: &str, text: &str) {
        let mut label = Vec::new();
        number(&mut label, 1, self.strings.number(key));
        number(&mut label, 2, self.strings.number(text));
        bytes(sample, 3, &label);
    }
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a protobuf field that contains a number.
fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

/// Writes a protobuf field that contains a message, a string or packed numbers.
fn bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn message(out: &mut dyn Write, field: u64, content: &[u8]) -> io::Result<()> {
    let mut whole = Vec::new();
    bytes(&mut whole, field, content);
    out.write_all(&whole)
}
