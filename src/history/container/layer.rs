//! What every layer can do: turn some bytes into others, a bounded number at a time.

/// Why a layer can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Damaged,
    /// Its bytes end too soon.
    Cut,
    /// It asks for something we do not do.
    Refused(&'static str),
    /// It holds no snapshot: what it is instead.
    Foreign(&'static str),
}

/// Undoes one way of packing.
pub(super) trait Unpacker {
    /// Unpacks `input` as far as the capacity of `output` allows, without growing it; returns how many bytes it took: all, or the
    /// output is full. Called with nothing, it writes what it still holds.
    fn unpack(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<usize, Fault>;

    /// Nothing more comes, and nothing is left to write: was that all?
    fn finish(&self) -> Result<(), Fault>;

    /// Whether it left out bytes behind its end that are no padding of zeros.
    fn has_left_out(&self) -> bool {
        false
    }
}
