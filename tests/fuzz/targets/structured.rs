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
    let mut bytes = unwrap_write(writer.finish());
    for _ in 0..chance.int_in_range(0..=5u8)?.saturating_sub(2) {
        damage(chance, &mut bytes)?;
    }
    Ok(bytes)
}

fn writer(style: Style) -> Writer<Vec<u8>> {
    unwrap_write(Writer::new(Vec::new(), style))
}

/// Unwraps a write to a `Vec`, which cannot fail.
fn unwrap_write<T>(result: io::Result<T>) -> T {
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
        unwrap_write(self.writer.dict(2 + extras));
        self.write_name("segments");
        self.list(4, Self::segment)?;
        self.write_name("device_traces");
        unwrap_write(self.writer.list(traces));
        for _ in 0..traces {
            self.list(60, Self::event)?;
        }
        unwrap_write(self.writer.end());
        for _ in 0..extras {
            match self.chance.int_in_range(0..=4)? {
                0 => {
                    self.write_name("external_annotations");
                    self.list(6, Self::annotation)?;
                }
                1 => {
                    self.write_name("host_segments");
                    self.list(2, Self::segment)?;
                }
                2 => {
                    self.write_name("host_traces");
                    self.list(9, Self::event)?;
                }
                3 => {
                    self.write_name("allocator_settings");
                    self.value(2)?;
                }
                _ => {
                    self.any_name()?;
                    self.value(3)?;
                }
            }
        }
        unwrap_write(self.writer.end());
        Ok(())
    }

    fn segment(&mut self) -> Result<()> {
        let odd = self.is_rare()?;
        unwrap_write(self.writer.dict(6 + u64::from(odd)));
        self.write_name("device");
        self.write_small_int()?;
        self.write_name("address");
        self.address()?;
        self.write_name("total_size");
        self.size()?;
        self.write_name("stream");
        unwrap_write(self.writer.int(0));
        self.write_name("segment_type");
        self.write_name("large");
        self.write_name("blocks");
        self.list(5, Self::block)?;
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn block(&mut self) -> Result<()> {
        let odd = self.is_rare()?;
        unwrap_write(self.writer.dict(5 + u64::from(odd)));
        self.write_name("address");
        self.address()?;
        for key in ["size", "requested_size"] {
            self.write_name(key);
            self.size()?;
        }
        self.write_name("state");
        let states = ["active_allocated", "active_allocated", "active_pending_free", "inactive", "odd"];
        let state = *self.chance.choose(&states)?;
        self.write_name(state);
        self.write_name("frames");
        self.stack()?;
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn event(&mut self) -> Result<()> {
        if self.is_rare()? && !self.entries.is_empty() {
            let entry = *self.chance.choose(&self.entries)?;
            unwrap_write(self.writer.reference(entry));
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
        let odd = self.is_rare()?;
        unwrap_write(self.writer.dict(5 + u64::from(time) + u64::from(odd)));
        self.write_name("action");
        self.write_name(action);
        self.write_name(if action == "oom" { "device_free" } else { "addr" });
        self.address()?;
        self.write_name("size");
        self.size()?;
        self.write_name("stream");
        unwrap_write(self.writer.int(0));
        self.write_name("frames");
        self.stack()?;
        if time {
            self.write_name("time_us");
            self.time()?;
        }
        if odd {
            self.odd_field()?;
        }
        self.end_entry()
    }

    fn annotation(&mut self) -> Result<()> {
        unwrap_write(self.writer.dict(4));
        self.write_name("stage");
        let stage = *self.chance.choose(&["START", "END"])?;
        self.write_name(stage);
        self.write_name("name");
        let name = *self.chance.choose(&["a", "b"])?;
        unwrap_write(self.writer.text(name));
        self.write_name("device");
        self.write_small_int()?;
        self.write_name("time_us");
        self.time()?;
        self.end_entry()
    }

    fn end_entry(&mut self) -> Result<()> {
        if self.entries.len() < 8 {
            self.entries.push(unwrap_write(self.writer.end_shared()));
        } else {
            unwrap_write(self.writer.end());
        }
        Ok(())
    }

    /// Writes a list of frames, often a shared one.
    fn stack(&mut self) -> Result<()> {
        if !self.stacks.is_empty() && self.chance.int_in_range(0..=3u8)? > 0 {
            let stack = *self.chance.choose(&self.stacks)?;
            unwrap_write(self.writer.reference(stack));
            return Ok(());
        }
        self.items(4, |shaper| {
            unwrap_write(shaper.writer.dict(3));
            shaper.write_name("filename");
            let file = *shaper.chance.choose(&["train.py", "??", "", "/lib/python3/os.py"])?;
            unwrap_write(shaper.writer.text(file));
            shaper.write_name("name");
            let name = *shaper.chance.choose(&["f", "g"])?;
            unwrap_write(shaper.writer.text(name));
            shaper.write_name("line");
            shaper.write_small_int()?;
            unwrap_write(shaper.writer.end());
            Ok(())
        })?;
        if self.stacks.len() < 8 {
            self.stacks.push(unwrap_write(self.writer.end_shared()));
        } else {
            unwrap_write(self.writer.end());
        }
        Ok(())
    }

    /// Returns true for one input byte in 64, and false at the end of the input.
    fn is_rare(&mut self) -> Result<bool> {
        Ok(self.chance.int_in_range(0..=63u8)? == 63)
    }

    fn odd_field(&mut self) -> Result<()> {
        self.any_name()?;
        self.value(2)
    }

    /// Writes any value.
    fn value(&mut self, depth: u8) -> Result<()> {
        match self.chance.int_in_range(0..=if depth == 0 { 8 } else { 12 })? {
            0 => unwrap_write(self.writer.none()),
            1 => unwrap_write(self.writer.bool(true)),
            2 => self.address()?,
            3 => self.size()?,
            4 => self.time()?,
            5 => self.any_name()?,
            6 => {
                let float = *self.chance.choose(&[0.0, -1.5, f64::NAN, f64::INFINITY])?;
                unwrap_write(self.writer.float(float));
            }
            7 => unwrap_write(self.writer.pair(0, 1)),
            8 => match self.entries.is_empty() {
                true => unwrap_write(self.writer.none()),
                false => {
                    let entry = *self.chance.choose(&self.entries)?;
                    unwrap_write(self.writer.reference(entry));
                }
            },
            9 | 10 => self.list(3, |shaper| shaper.value(depth.saturating_sub(1)))?,
            _ => {
                let pairs = self.chance.int_in_range(0..=3)?;
                unwrap_write(self.writer.dict(pairs));
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
        unwrap_write(self.writer.end());
        Ok(())
    }

    fn items(&mut self, most: u64, item: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        let length = self.chance.int_in_range(0..=most)?;
        unwrap_write(self.writer.list(length));
        for _ in 0..length {
            item(self)?;
        }
        Ok(())
    }

    fn write_name(&mut self, name: &str) {
        unwrap_write(self.writer.name(name));
    }

    fn any_name(&mut self) -> Result<()> {
        let name = *self.chance.choose(KEYS)?;
        self.write_name(name);
        Ok(())
    }

    fn write_small_int(&mut self) -> Result<()> {
        let small: i8 = self.chance.int_in_range(-1..=3)?;
        unwrap_write(self.writer.int(small.into()));
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
        unwrap_write(self.writer.int(address));
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
        unwrap_write(self.writer.int(size));
        Ok(())
    }

    fn time(&mut self) -> Result<()> {
        let time = match self.chance.arbitrary::<u8>()? {
            0 => i128::from(i64::MAX),
            1 => i128::from(i64::MIN + 1),
            few => 1_700_000_000_000_000 + i128::from(few) * 1000,
        };
        unwrap_write(self.writer.int(time));
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
