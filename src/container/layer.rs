//! What every layer can do: turn some bytes into others, a bounded number at a time.

use super::gzip::Gzip;

/// Why a layer can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Its checks failed.
    Damaged,
    /// Its bytes end too soon.
    Cut,
}

/// One way of packing bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    /// RFC 1952.
    Gzip,
}

impl Packing {
    /// Its name, in messages and in the summary.
    pub(super) fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
        }
    }

    /// Undoes it, from the start.
    pub(super) fn unpacker(self) -> Box<dyn Unpacker> {
        match self {
            Packing::Gzip => Box::new(Gzip::new()),
        }
    }
}

/// Undoes one way of packing.
pub(super) trait Unpacker {
    /// Unpacks `input` as far as the capacity of `output` allows, without growing it; returns how many bytes it took: all, or the
    /// output is full. Called with nothing, it writes what it still holds.
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault>;

    /// Nothing more comes, and nothing is left to write: was that all?
    fn finish(&self) -> Result<(), Fault>;
}
