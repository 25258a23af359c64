//! The 8-byte handle of a decoded value: 5 bits of kind, 59 bits of payload.

/// What a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A container that is not finished; payload: the machine's slot.
    Open,
    /// `None`, `True`, `False`: payload 0, 1, 2.
    Constant,
    /// An integer of 59 signed bits.
    Int,
    /// A larger integer; payload: its place in the table of wide integers.
    WideInt,
    /// A float; payload: its place in the table of floats.
    Float,
    String,
    /// A bytes object, which nothing in a snapshot is. No payload.
    Bytes,
    Frame,
    /// A list of frames; payload: the id of the stack.
    Stack,
    /// A trace event that no list has taken yet; payload: its row.
    Event,
    /// A list of events; payload: its place among the traces.
    Trace,
    Block,
    Segment,
    Annotation,
    /// An entry of an old block's history.
    HistoryEntry,
    /// A list of anything else, or mixed.
    List,
    /// A dict that is none of the above.
    Dict,
    Tuple,
}

const KINDS: [Kind; 18] = [
    Kind::Open,
    Kind::Constant,
    Kind::Int,
    Kind::WideInt,
    Kind::Float,
    Kind::String,
    Kind::Bytes,
    Kind::Frame,
    Kind::Stack,
    Kind::Event,
    Kind::Trace,
    Kind::Block,
    Kind::Segment,
    Kind::Annotation,
    Kind::HistoryEntry,
    Kind::List,
    Kind::Dict,
    Kind::Tuple,
];

const PAYLOAD_BITS: u32 = 59;
const PAYLOAD: u64 = (1 << PAYLOAD_BITS) - 1;

/// A decoded value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(u64);

impl Value {
    /// Python's `None`.
    pub const NONE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS);
    /// `False`.
    pub const FALSE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS | 1);
    /// `True`.
    pub const TRUE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS | 2);
    /// A bytes object.
    pub const BYTES: Value = Value((Kind::Bytes as u64) << PAYLOAD_BITS);

    /// A handle whose payload is a table's index.
    #[inline(always)]
    pub fn new(kind: Kind, index: u32) -> Value {
        Value((kind as u64) << PAYLOAD_BITS | u64::from(index))
    }

    /// An integer, if it fits into 59 signed bits.
    #[inline(always)]
    pub fn int(value: i64) -> Option<Value> {
        let shift = 64 - PAYLOAD_BITS;
        (value << shift >> shift == value).then_some(Value((Kind::Int as u64) << PAYLOAD_BITS | value as u64 & PAYLOAD))
    }

    /// What it stands for.
    #[inline(always)]
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> PAYLOAD_BITS) as usize]
    }

    /// The payload as a table's index.
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.0 as u32
    }

    /// The payload as an integer of 59 signed bits.
    #[inline(always)]
    pub fn small_int(self) -> i64 {
        let shift = 64 - PAYLOAD_BITS;
        (self.0 << shift) as i64 >> shift
    }

    /// Whether it is of this kind.
    #[inline(always)]
    pub fn is(self, kind: Kind) -> bool {
        self.0 >> PAYLOAD_BITS == kind as u64
    }

    /// The index, if it is of this kind.
    #[inline(always)]
    pub fn as_kind(self, kind: Kind) -> Option<u32> {
        self.is(kind).then_some(self.index())
    }
}

impl Kind {
    /// How a value of this kind is called in an error message.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Open => "an unfinished container",
            Kind::Constant => "None or a bool",
            Kind::Int | Kind::WideInt => "an integer",
            Kind::Float => "a float",
            Kind::String => "a string",
            Kind::Bytes => "bytes",
            Kind::Frame => "a frame",
            Kind::Stack => "a list of frames",
            Kind::Event => "an event",
            Kind::Trace => "a list of events",
            Kind::Block => "a block",
            Kind::Segment => "a segment",
            Kind::Annotation => "an annotation",
            Kind::HistoryEntry => "a history entry",
            Kind::List => "a list",
            Kind::Dict => "a dict",
            Kind::Tuple => "a tuple",
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/units/history/snapshot/value.rs"]
mod tests;
