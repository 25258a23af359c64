//! Interface between the unpickler and the receiver of its values.

/// Result of a constructor of plain values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constructed<V> {
    Value(V),
    /// An empty list, which later instructions fill.
    List,
    /// An empty dict, which later instructions fill.
    Dict,
}

/// Receiver of decoded values. Inner values are built before the containers that hold them.
///
/// The parser owns the stack, the marks and the memo. The builder owns the values. The parser copies handles freely and
/// stores one per memo entry, so they should be small, such as 8 bytes.
///
/// An open container also has a handle ([`Builder::open_handle`]). The parser assigns its `slot`. Slots are small and
/// reused after the container is finished, so a builder can keep its open containers in a `Vec` indexed by slot.
///
/// If a fast path gives up, the values that it built are dropped and built again.
pub trait Builder {
    /// Handle of a value.
    type Value: Copy;
    /// Error returned for a rejected value.
    type Error;

    /// Returns the handle of the open container in `slot`.
    fn open_handle(&self, slot: u32) -> Self::Value;
    /// Returns the slot if `value` is an open container.
    fn open_slot(&self, value: Self::Value) -> Option<u32>;

    /// Builds `None`.
    fn none(&mut self) -> Result<Self::Value, Self::Error>;
    /// Builds `True` or `False`.
    fn bool(&mut self, value: bool) -> Result<Self::Value, Self::Error>;
    /// Builds an integer that fits into `i64`.
    fn int(&mut self, value: i64) -> Result<Self::Value, Self::Error>;
    /// Builds a larger integer from its two's complement, least significant byte first, as in LONG1.
    fn big_int(&mut self, little_endian: &[u8]) -> Result<Self::Value, Self::Error>;
    /// Builds a float.
    fn float(&mut self, value: f64) -> Result<Self::Value, Self::Error>;
    /// Builds a string. Python writes lone surrogates as three bytes each ("surrogatepass"), so it may not be UTF-8.
    fn string(&mut self, bytes: &[u8]) -> Result<Self::Value, Self::Error>;
    /// Builds a bytes object.
    fn bytes(&mut self, bytes: &[u8]) -> Result<Self::Value, Self::Error>;
    /// Builds a tuple of finished values.
    fn tuple(&mut self, items: &[Self::Value]) -> Result<Self::Value, Self::Error>;

    /// Builds a reference to the constructor `module.name`, if it is known to return a plain value. It is never called.
    /// `below` is the topmost value of the stack.
    fn global(&mut self, module: &str, name: &str, below: Option<Self::Value>) -> Option<Self::Value> {
        let _ = (module, name, below);
        None
    }

    /// Returns what a known constructor makes of `arguments`, usually a tuple. Both are finished. Returns `None` if
    /// `constructor` is not one, or the arguments are not those that it takes.
    fn construct(&mut self, constructor: Self::Value, arguments: Self::Value) -> Option<Constructed<Self::Value>> {
        let _ = (constructor, arguments);
        None
    }

    /// Returns the value that a known constructor made after its state was set. Returns `None` if the state changes the
    /// value.
    fn with_state(&mut self, value: Self::Value, state: Self::Value) -> Option<Self::Value> {
        let _ = (value, state);
        None
    }

    /// Starts an empty list in `slot`.
    fn open_list(&mut self, slot: u32);
    /// Starts an empty dict in `slot`.
    fn open_dict(&mut self, slot: u32);
    /// Appends finished values to the open list in `slot`. Python's pickler writes lists in batches of 1000, PyTorch's
    /// C++ pickler in one batch of any length. The error contains the index of the rejected item.
    fn append(&mut self, slot: u32, items: &[Self::Value]) -> Result<(), (usize, Self::Error)>;
    /// Adds the pairs (key, value, key, value, …) to the open dict in `slot`. The length of `pairs` is even. If a key
    /// occurs twice, the last value counts. The error contains the index of the rejected element in `pairs`.
    fn set_items(&mut self, slot: u32, pairs: &[Self::Value]) -> Result<(), (usize, Self::Error)>;
    /// Completes the container in `slot` and returns its final handle. The slot may be reused at once.
    fn finish(&mut self, slot: u32) -> Result<Self::Value, Self::Error>;

    /// Builds a complete dict from `keys` and as many `values`. The result is the same as from [`Builder::open_dict`],
    /// [`Builder::set_items`] and [`Builder::finish`]. Returns `None`, without side effects, if those methods must be
    /// called instead or would reject the dict.
    fn build_dict(&mut self, keys: &[Self::Value], values: &[Self::Value]) -> Option<Self::Value> {
        let _ = (keys, values);
        None
    }

    /// Drops the empty open list in `slot`. Called if the parser uses an equal finished list instead. The slot may be
    /// reused at once.
    fn drop_list(&mut self, slot: u32) {
        let _ = slot;
    }

    /// Returns whether a finished value may be shared: it can be in any number of lists, and a list of such values can
    /// be used in place of an equal list. True only for plain values that are built without side effects and accepted
    /// by every list.
    fn is_shareable(&self, value: Self::Value) -> bool {
        let _ = value;
        true
    }

    /// Returns the number of values in the open list in `slot`, for the path in an error message.
    fn open_len(&self, slot: u32) -> u64;
    /// Returns the text of a finished string or integer `key`, for the path in an error message.
    fn key_text(&self, key: Self::Value) -> Option<String>;
}
