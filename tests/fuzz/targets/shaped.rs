//! Converts fuzzer input to a pickle that looks like a snapshot: keys and words of the format, few addresses and sizes
//! so that they collide, an odd value now and then, and some damage at the end.

use super::pickle_writer::{Reference, Style, Writer};
use arbitrary::{Result, Unstructured};
use memscape::snapshot::schema::KEYS;
use std::io;

/// Builds a file.
pub(crate) fn file(chance: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let style = match chance.int_in_range(0..=4)? {
        0 => Style::Cpp,
        protocol => Style::Python { protocol: 1 + protocol },
    };
    let mut shaper = Shaper { chance, writer: writer(style), stacks: Vec::new(), entries: Vec::new() };
    shaper.snapshot()?;
    let Shaper { chance, writer, .. } = shaper;
    let mut bytes = written(writer.finish());
    for _ in 0..chance.int_in_range(0..=5u8)?.saturating_sub(2) {
        damage(chance, &mut bytes)?;
    }
    Ok(bytes)
}

fn writer(style: Style) -> Writer<Vec<u8>> {
    written(Writer::new(Vec::new(), style))
}

/// Unwraps a write to a `Vec`, which cannot fail.
fn written<T>(result: io::Result<T>) -> T {
    result.expect("writing to a Vec cannot fail")
}

struct Shaper<'a, 'b> {
    chance: &'a mut Unstructured<'b>,
    writer: Writer<Vec<u8>>,
    /// Complete lists of frames that can be shared.
    stacks: Vec<Reference>,
    /// Other complete values that can be inserted where they do not belong.
    entries: Vec<Reference>,
}

impl Shaper<'_, '_> {
    fn snapshot(&mut self) -> Result<()> {
        let traces = self.chance.int_in_range(0..=2)?;
        let extras = self.chance.int_in_range(0..=2)?;
        written(self.writer.dict(2 + extras));
        self.name("segments");
        self.list(4, Self::segment)?;
        self.name("device_traces");
        written(self.writer.list(traces));
        for _ in 0..traces {
            self.list(60, Self::event)?;
        }
        written(self.writer.end());
        for _ in 0..extras {
            match self.chance.int_in_range(0..=4)? {
                0 => {
                    self.name("external_annotations");
                    self.list(6, Self::annotation)?;
                }
                1 => {
                    self.name("host_segments");
                    self.list(2, Self::segment)?;
                }
                2 => {
                    self.name("host_traces");
                    self.list(9, Self::event)?;
                }
                3 => {
                    self.name("allocator_settings");
                    self.value(2)?;
                }
                _ => {
                    self.any_name()?;
                    self.value(3)?;
                }
            }
        }
        written(self.writer.end());
        Ok(())
    }

    fn segment(&mut self) -> Result<()> {
        let odd = self.rarely()?;
        written(self.writer.dict(6 + u64::from(odd)));
        self.name("device");
        self.small()?;
        self.name("address");
        self.address()?;
        self.name("total_size");
        self.size()?;
        self.name("stream");
        written(self.writer.int(0));
        self.name("segment_type");
        self.name("large");
        self.name("blocks");
        self.list(5, Self::block)?;
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn block(&mut self) -> Result<()> {
        let odd = self.rarely()?;
        written(self.writer.dict(5 + u64::from(odd)));
        self.name("address");
        self.address()?;
        for key in ["size", "requested_size"] {
            self.name(key);
            self.size()?;
        }
        self.name("state");
        let states = ["active_allocated", "active_allocated", "active_pending_free", "inactive", "odd"];
        let state = *self.chance.choose(&states)?;
        self.name(state);
        self.name("frames");
        self.stack()?;
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn event(&mut self) -> Result<()> {
        if self.rarely()? && !self.entries.is_empty() {
            let entry = *self.chance.choose(&self.entries)?;
            written(self.writer.again(entry));
            return Ok(());
        }
        let actions = [
            "alloc",
            "alloc",
            "free_requested",
            "free_completed",
            "free_completed",
            "segment_alloc",
            "segment_free",
            "segment_map",
            "segment_unmap",
            "oom",
            "snapshot",
            "annotate",
            "odd",
        ];
        let action = *self.chance.choose(&actions)?;
        let time = self.chance.int_in_range(0..=3u8)? > 0;
        let odd = self.rarely()?;
        written(self.writer.dict(5 + u64::from(time) + u64::from(odd)));
        self.name("action");
        self.name(action);
        self.name(if action == "oom" { "device_free" } else { "addr" });
        self.address()?;
        self.name("size");
        self.size()?;
        self.name("stream");
        written(self.writer.int(0));
        self.name("frames");
        self.stack()?;
        if time {
            self.name("time_us");
            self.time()?;
        }
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn annotation(&mut self) -> Result<()> {
        written(self.writer.dict(4));
        self.name("stage");
        let stage = *self.chance.choose(&["START", "END"])?;
        self.name(stage);
        self.name("name");
        let name = *self.chance.choose(&["a", "b"])?;
        written(self.writer.text(name));
        self.name("device");
        self.small()?;
        self.name("time_us");
        self.time()?;
        self.end_entry()
    }

    fn end_entry(&mut self) -> Result<()> {
        if self.entries.len() < 8 {
            self.entries.push(written(self.writer.end_shared()));
        } else {
            written(self.writer.end());
        }
        Ok(())
    }

    /// Writes a list of frames, often a shared one.
    fn stack(&mut self) -> Result<()> {
        if !self.stacks.is_empty() && self.chance.int_in_range(0..=3u8)? > 0 {
            let stack = *self.chance.choose(&self.stacks)?;
            written(self.writer.again(stack));
            return Ok(());
        }
        self.items(4, |shaper| {
            written(shaper.writer.dict(3));
            shaper.name("filename");
            let file = *shaper.chance.choose(&["train.py", "??", "", "/lib/python3/os.py"])?;
            written(shaper.writer.text(file));
            shaper.name("name");
            let name = *shaper.chance.choose(&["f", "g"])?;
            written(shaper.writer.text(name));
            shaper.name("line");
            shaper.small()?;
            written(shaper.writer.end());
            Ok(())
        })?;
        if self.stacks.len() < 8 {
            self.stacks.push(written(self.writer.end_shared()));
        } else {
            written(self.writer.end());
        }
        Ok(())
    }

    /// Returns true for one input byte in 64, and false at the end of the input.
    fn rarely(&mut self) -> Result<bool> {
        Ok(self.chance.int_in_range(0..=63u8)? == 63)
    }

    fn odd_field(&mut self) -> Result<()> {
        self.any_name()?;
        self.value(2)
    }

    /// Writes any value.
    fn value(&mut self, depth: u8) -> Result<()> {
        match self.chance.int_in_range(0..=if depth == 0 { 8 } else { 12 })? {
            0 => written(self.writer.none()),
            1 => written(self.writer.bool(true)),
            2 => self.address()?,
            3 => self.size()?,
            4 => self.time()?,
            5 => self.any_name()?,
            6 => {
                let float = *self.chance.choose(&[0.0, -1.5, f64::NAN, f64::INFINITY])?;
                written(self.writer.float(float));
            }
            7 => written(self.writer.pair(0, 1)),
            8 => match self.entries.is_empty() {
                true => written(self.writer.none()),
                false => {
                    let entry = *self.chance.choose(&self.entries)?;
                    written(self.writer.again(entry));
                }
            },
            9 | 10 => self.list(3, |shaper| shaper.value(depth.saturating_sub(1)))?,
            _ => {
                let pairs = self.chance.int_in_range(0..=3)?;
                written(self.writer.dict(pairs));
                for _ in 0..pairs {
                    self.odd_field_below(depth)?;
                }
                self.end_entry()?;
            }
        }
        Ok(())
    }

    fn odd_field_below(&mut self, depth: u8) -> Result<()> {
        self.any_name()?;
        self.value(depth.saturating_sub(1))
    }

    /// Writes a list of up to `most` items. It ends early with the input.
    fn list(&mut self, most: u64, item: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        self.items(most, item)?;
        written(self.writer.end());
        Ok(())
    }

    fn items(&mut self, most: u64, item: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        let length = self.chance.int_in_range(0..=most)?;
        written(self.writer.list(length));
        for _ in 0..length {
            item(self)?;
        }
        Ok(())
    }

    fn name(&mut self, name: &str) {
        written(self.writer.name(name));
    }

    fn any_name(&mut self) -> Result<()> {
        let name = *self.chance.choose(KEYS)?;
        self.name(name);
        Ok(())
    }

    fn small(&mut self) -> Result<()> {
        let small: i8 = self.chance.int_in_range(-1..=3)?;
        written(self.writer.int(small.into()));
        Ok(())
    }

    /// Writes one of a few addresses, so that blocks collide, or an extreme one.
    fn address(&mut self) -> Result<()> {
        let address = match self.chance.arbitrary::<u8>()? {
            0 => i128::from(u64::MAX),
            1 => i128::from(u64::MAX - 511),
            2 => -512,
            3 => i128::from(i64::MAX),
            few => i128::from(few % 6) * 512,
        };
        written(self.writer.int(address));
        Ok(())
    }

    fn size(&mut self) -> Result<()> {
        let size = match self.chance.arbitrary::<u8>()? {
            0 => i128::from(i64::MAX),
            1 => 1 << 62,
            2 => 1 << 58,
            3 => -1,
            4 => 80 << 30,
            few @ 5..100 => i128::from(few),
            few => i128::from(few) << 9,
        };
        written(self.writer.int(size));
        Ok(())
    }

    fn time(&mut self) -> Result<()> {
        let time = match self.chance.arbitrary::<u8>()? {
            0 => i128::from(i64::MAX),
            1 => i128::from(i64::MIN + 1),
            few => 1_700_000_000_000_000 + i128::from(few) * 1000,
        };
        written(self.writer.int(time));
        Ok(())
    }
}

/// Changes a byte, or removes, repeats or copies a part.
fn damage(chance: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let at = chance.choose_index(bytes.len())?;
    let end = (at + chance.int_in_range(1..=40)?).min(bytes.len());
    match chance.int_in_range(0..=3)? {
        0 => bytes[at] = chance.arbitrary()?,
        1 => drop(bytes.drain(at..end)),
        2 => {
            let again = bytes[at..end].repeat(chance.int_in_range(1..=20)?);
            bytes.splice(at..at, again);
        }
        _ => {
            let part = bytes[at..end].to_vec();
            let to = chance.choose_index(bytes.len())?;
            bytes.splice(to..to, part);
        }
    }
    Ok(())
}
