//! JSON writer, without whitespace. Pairs become lists, and shared values are repeated.

use super::{Items, ValueWriter};
use base::escape::Json;
use std::io::{self, Write};

/// Writer of one JSON value.
pub struct JsonWriter<W> {
    out: W,
    /// State of each open container: for a dict, the number of keys and values written so far. `None` for a list.
    open: Vec<Option<u64>>,
}

impl<W: Write> JsonWriter<W> {
    /// Creates a writer to `out`.
    pub fn new(out: W) -> JsonWriter<W> {
        JsonWriter { out, open: Vec::new() }
    }

    /// Writes the separator before a key or value of a dict.
    fn write_separator(&mut self) -> io::Result<()> {
        let Some(Some(count)) = self.open.last_mut() else { return Ok(()) };
        *count += 1;
        match *count {
            1 => Ok(()),
            count if count % 2 == 0 => self.out.write_all(b":"),
            _ => self.out.write_all(b","),
        }
    }

    fn close_container(&mut self, bracket: &[u8]) -> io::Result<()> {
        self.open.pop();
        self.out.write_all(bracket)
    }
}

impl<W: Write> ValueWriter for JsonWriter<W> {
    fn bool(&mut self, value: bool) -> io::Result<()> {
        self.write_separator()?;
        self.out.write_all(if value { b"true" } else { b"false" })
    }

    fn int(&mut self, value: i128) -> io::Result<()> {
        self.write_separator()?;
        write!(self.out, "{value}")
    }

    /// Writes a number, or a string if JSON cannot represent it.
    fn float(&mut self, value: f64) -> io::Result<()> {
        self.write_separator()?;
        match value.is_finite() {
            true => write!(self.out, "{value:?}"),
            false => write!(self.out, "\"{value}\""),
        }
    }

    fn text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_separator()?;
        write!(self.out, "{}", Json(&String::from_utf8_lossy(bytes)))
    }

    fn key(&mut self, key: &'static str) -> io::Result<()> {
        self.write_separator()?;
        write!(self.out, "{}", Json(key))
    }

    fn memoize(&mut self) -> io::Result<Option<u32>> {
        Ok(None)
    }

    fn reference(&mut self, _: u32) -> io::Result<()> {
        Err(io::Error::other("JSON has no references"))
    }

    fn pair(&mut self, first: i128, second: i128) -> io::Result<()> {
        self.write_separator()?;
        write!(self.out, "[{first},{second}]")
    }

    fn dict(&mut self) -> io::Result<()> {
        self.write_separator()?;
        self.open.push(Some(0));
        self.out.write_all(b"{")
    }

    fn end_dict(&mut self) -> io::Result<()> {
        self.close_container(b"}")
    }

    fn list(&mut self) -> io::Result<Items> {
        self.write_separator()?;
        self.open.push(None);
        self.out.write_all(b"[")?;
        Ok(Items::default())
    }

    fn item(&mut self, items: &mut Items) -> io::Result<()> {
        items.0 += 1;
        match items.0 {
            1 => Ok(()),
            _ => self.out.write_all(b","),
        }
    }

    fn end_list(&mut self, _: Items) -> io::Result<()> {
        self.close_container(b"]")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
