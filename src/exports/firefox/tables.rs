//! Tables of the Firefox profile format: frames, functions, stacks and strings.

use crate::frames::{Frame, FrameNumbers, Stack, StackOrigin, Texts};
use crate::json;
use analysis::{CodeOrigin, Sites};
use engine::Side;
use hashbrown::HashMap;
use std::io::{self, Write};

/// Indices of stacks, functions and strings, with the contents of their tables.
#[derive(Default)]
pub(super) struct Tables {
    frames: FrameNumbers,
    stacks: HashMap<Stack, u32, foldhash::fast::RandomState>,
    /// Row of each stack: the index of its callers' stack, and the index of its innermost frame.
    rows: Vec<(Option<u32>, u32)>,
    texts: HashMap<String, u32, foldhash::fast::RandomState>,
    strings: Vec<String>,
}

impl Tables {
    pub(super) fn text(&mut self, text: &str) -> u32 {
        let next = self.strings.len() as u32;
        let number = *self.texts.entry_ref(text).or_insert(next);
        if number == next {
            self.strings.push(text.to_owned());
        }
        number
    }

    /// Returns the index of a stack. The stacks of its callers have lower indices.
    pub(super) fn stack(&mut self, side: Side<'_>, stack: Stack) -> u32 {
        if let Some(&known) = self.stacks.get(&stack) {
            return known;
        }
        let mut unknown = Vec::new();
        let mut current = stack;
        let mut callers = loop {
            if let Some(&known) = self.stacks.get(&current) {
                break Some(known);
            }
            match side.snapshot().stacks.innermost(current.id) {
                Some((above, frame)) => {
                    unknown.push((current, Frame::Recorded(frame)));
                    current.id = above;
                }
                None if current.root == StackOrigin::Allocation => break None,
                None => {
                    unknown.push((current, Frame::Root(current.root)));
                    break None;
                }
            }
        };
        for (stack, frame) in unknown.into_iter().rev() {
            let number = self.rows.len() as u32;
            self.rows.push((callers, self.frames.number(frame)));
            self.stacks.insert(stack, number);
            callers = Some(number);
        }
        callers.unwrap_or(0)
    }

    /// Writes the tables of frames, functions, stacks and strings.
    pub(super) fn write(&mut self, side: Side<'_>, out: &mut dyn Write) -> io::Result<()> {
        let tables = self;
        let frames = std::mem::take(&mut tables.frames.frames);
        let mut functions = HashMap::<[Option<u32>; 2], u32, foldhash::fast::RandomState>::default();
        let mut function_rows = Vec::new();
        let mut frame_rows = Vec::new();
        for frame in &frames {
            let Texts { name, file, line } = frame.texts(side);
            let file = if file.is_empty() { None } else { Some(tables.text(&file)) };
            let key = [Some(tables.text(&name)), file];
            let next = function_rows.len() as u32;
            let function = *functions.entry(key).or_insert(next);
            if function == next {
                function_rows.push(key);
            }
            let category = match frame {
                Frame::Root(_) => 0,
                Frame::Recorded(id) => match Sites::code_origin(side.snapshot(), side.snapshot().frames.frame(*id)) {
                    CodeOrigin::User => 1,
                    CodeOrigin::Library => 2,
                    CodeOrigin::Native => 3,
                },
            };
            frame_rows.push((function, Some(line).filter(|&line| line > 0), category));
        }
        write!(out, "\"frameTable\":{{\"length\":{},\"address\":", frame_rows.len())?;
        let same = |out: &mut dyn Write, name: &str, value: &str, count: usize| -> io::Result<()> {
            write!(out, ",\"{name}\":")?;
            json::numbers(out, std::iter::repeat_n(value, count))
        };
        json::numbers(out, frame_rows.iter().map(|_| -1))?;
        for (name, value) in [
            ("inlineDepth", "0"),
            ("subcategory", "0"),
            ("nativeSymbol", "null"),
            ("innerWindowID", "0"),
            ("column", "null"),
        ] {
            same(out, name, value, frame_rows.len())?;
        }
        out.write_all(b",\"category\":")?;
        json::numbers(out, frame_rows.iter().map(|row| row.2))?;
        out.write_all(b",\"func\":")?;
        json::numbers(out, frame_rows.iter().map(|row| row.0))?;
        out.write_all(b",\"line\":")?;
        json::list(out, &frame_rows, |out, row| or_null(out, row.1))?;
        write!(out, "}},\n\"funcTable\":{{\"length\":{},\"name\":", function_rows.len())?;
        json::list(out, &function_rows, |out, row| or_null(out, row[0]))?;
        out.write_all(b",\"fileName\":")?;
        json::list(out, &function_rows, |out, row| or_null(out, row[1]))?;
        for (name, value) in [
            ("isJS", "false"),
            ("relevantForJS", "false"),
            ("resource", "-1"),
            ("lineNumber", "null"),
            ("columnNumber", "null"),
        ] {
            same(out, name, value, function_rows.len())?;
        }
        write!(out, "}},\n\"stackTable\":{{\"length\":{},\"prefix\":", tables.rows.len())?;
        json::list(out, &tables.rows, |out, row| or_null(out, row.0))?;
        out.write_all(b",\"frame\":")?;
        json::numbers(out, tables.rows.iter().map(|row| row.1))?;
        out.write_all(b"},\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]},")?;
        out.write_all(
            b"\n\"nativeSymbols\":{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]},",
        )?;
        out.write_all(b"\n\"stringArray\":")?;
        json::list(out, &tables.strings, |out, text| json::text(out, text))
    }
}

pub(super) fn or_null(out: &mut dyn Write, number: Option<u32>) -> io::Result<()> {
    match number {
        Some(number) => write!(out, "{number}"),
        None => out.write_all(b"null"),
    }
}
