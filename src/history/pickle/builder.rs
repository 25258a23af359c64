//! What the machine asks of whoever receives the values.

/// Receives values as they are decoded, innermost first.
///
/// The machine owns the stack, the marks and the memo; the builder owns everything a value *is*. Handles are plain numbers: the
/// machine copies them freely and keeps one per memo slot, so they should be 8 bytes.
///
/// An open container is a handle as well ([`Builder::open_handle`]); `slot` numbers are the machine's, small, and reused after
/// the container is finished, so a builder can keep its open containers in a `Vec` indexed by slot.
///
/// A value may be made, used nowhere and made again: a short cut gave up.
pub trait Builder {
    /// A value: small, `Copy`.
    type Value: Copy;
    /// Why the builder refuses a value.
    type Error;

    /// The handle that stands for the open container `slot` until it is finished.
    fn open_handle(&self, slot: u32) -> Self::Value;
    /// The slot if `value` is an open container.
    fn open_slot(&self, value: Self::Value) -> Option<u32>;

    /// `None`.
    fn none(&mut self) -> Result<Self::Value, Self::Error>;
    /// `True` or `False`.
    fn bool(&mut self, value: bool) -> Result<Self::Value, Self::Error>;
    /// An integer of 64 signed bits.
    fn int(&mut self, value: i64) -> Result<Self::Value, Self::Error>;
    /// A larger integer: two's complement, least significant byte first, as LONG1 holds it.
    fn big_int(&mut self, little_endian: &[u8]) -> Result<Self::Value, Self::Error>;
    /// A float.
    fn float(&mut self, value: f64) -> Result<Self::Value, Self::Error>;
    /// A string. Python writes lone surrogates as three bytes each ("surrogatepass"), so this may not be UTF-8.
    fn string(&mut self, bytes: &[u8]) -> Result<Self::Value, Self::Error>;
    /// A bytes object.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Self::Value, Self::Error>;
    /// A tuple of finished values.
    fn tuple(&mut self, items: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// A new empty list in `slot`.
    fn open_list(&mut self, slot: u32);
    /// A new empty dict in `slot`.
    fn open_dict(&mut self, slot: u32);
    /// Appends finished values to the open list in `slot`. Lists come in several batches (Python: of 1000) or in one of any
    /// length (C++). The error says which of `items` it is about.
    fn append(&mut self, slot: u32, items: &[Self::Value]) -> Result<(), (usize, Self::Error)>;
    /// Adds key, value, key, value… to the open dict in `slot`; of equal keys the last wins. The length is even. The error
    /// says which of `pairs` (as an index into the slice) it is about.
    fn set_items(&mut self, slot: u32, pairs: &[Self::Value]) -> Result<(), (usize, Self::Error)>;
    /// The container in `slot` is complete: what it is from now on. The slot may be reused at once.
    fn finish(&mut self, slot: u32) -> Result<Self::Value, Self::Error>;

    /// A dict with these keys and values, as many of the one as of the other, at once: just what [`Builder::open_dict`],
    /// [`Builder::set_items`] with the pairs and [`Builder::finish`] would make. `None`, without any effect that could be seen,
    /// when those shall be called instead, or when they would refuse it.
    fn whole_dict(&mut self, keys: &[Self::Value], values: &[Self::Value]) -> Option<Self::Value> {
        let _ = (keys, values);
        None
    }

    /// The list in `slot`, still empty, will not be finished: an equal one was before. The slot may be reused at once.
    fn abandon(&mut self, slot: u32) {
        let _ = slot;
    }

    /// Whether a finished value may stand in any number of lists, and a list of such values for every equal one: it must be a
    /// plain value, whose making had no other effect and which no list refuses.
    fn is_shareable(&self, value: Self::Value) -> bool {
        let _ = value;
        true
    }

    /// How many values the open list in `slot` holds, for the path in an error message.
    fn open_len(&self, slot: u32) -> u64;
    /// How the finished value `key` reads in the path of an error message, when it is a string or an integer.
    fn key_text(&self, key: Self::Value) -> Option<String>;
}
