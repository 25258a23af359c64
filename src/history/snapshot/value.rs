//! Handle of a decoded value. It has 8 bytes: 5 bits for the kind and 59 bits for the payload.

/// Kind of a decoded value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Unfinished container. Payload: its slot in the parser.
    Open,
    /// `None`, `False` or `True`. Payload: 0, 1 or 2.
    Constant,
    /// Integer that fits into 59 signed bits. Payload: its value.
    Int,
    /// Larger integer. Payload: its index in the table of wide integers.
    WideInt,
    /// Float. Payload: its index in the table of floats.
    Float,
    /// String. Payload: its id.
    String,
    /// Constructor of plain values that the pickle names. Payload: its number.
    Constructor,
    /// Type of NumPy numbers. Payload: the letter of its kind and its size in bytes.
    NumberType,
    Frame,
    /// List of frames. Payload: the id of the stack.
    Stack,
    /// Trace event that is not part of a list yet. Payload: its row in the event queue.
    Event,
    /// List of events. Payload: index of the trace.
    Trace,
    Block,
    Segment,
    Annotation,
    /// Entry of a block's history, in old files.
    HistoryEntry,
    /// List of other values, or of values of different kinds.
    List,
    /// Dict without a table of its own.
    Dict,
    Tuple,
}

const KINDS: [Kind; 19] = [
    Kind::Open,
    Kind::Constant,
    Kind::Int,
    Kind::WideInt,
    Kind::Float,
    Kind::String,
    Kind::Constructor,
    Kind::NumberType,
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

/// Handle of a decoded value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(u64);

impl Value {
    /// Python's `None`.
    pub const NONE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS);
    /// Python's `False`.
    pub const FALSE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS | 1);
    /// Python's `True`.
    pub const TRUE: Value = Value((Kind::Constant as u64) << PAYLOAD_BITS | 2);

    /// Creates a handle whose payload is an index.
    #[inline(always)]
    pub fn new(kind: Kind, index: u32) -> Value {
        Value((kind as u64) << PAYLOAD_BITS | u64::from(index))
    }

    /// Creates the handle of an integer. Returns `None` if it does not fit into 59 signed bits.
    #[inline(always)]
    pub fn int(value: i64) -> Option<Value> {
        let shift = 64 - PAYLOAD_BITS;
        (value << shift >> shift == value).then_some(Value((Kind::Int as u64) << PAYLOAD_BITS | value as u64 & PAYLOAD))
    }

    #[inline(always)]
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> PAYLOAD_BITS) as usize]
    }

    /// Returns the payload as an index.
    #[inline(always)]
    pub fn index(self) -> u32 {
        self.0 as u32
    }

    /// Returns the payload as an integer of 59 signed bits.
    #[inline(always)]
    pub fn small_int(self) -> i64 {
        let shift = 64 - PAYLOAD_BITS;
        (self.0 << shift) as i64 >> shift
    }

    /// Returns whether the value is of this kind.
    #[inline(always)]
    pub fn is(self, kind: Kind) -> bool {
        self.0 >> PAYLOAD_BITS == kind as u64
    }

    /// Returns whether the value is a list or tuple in the file.
    pub fn is_sequence(self) -> bool {
        matches!(self.kind(), Kind::List | Kind::Tuple | Kind::Stack | Kind::Trace)
    }

    /// Returns the payload as an index if the value is of this kind.
    #[inline(always)]
    pub fn as_kind(self, kind: Kind) -> Option<u32> {
        self.is(kind).then_some(self.index())
    }
}

impl Kind {
    /// Returns the name of the kind in error messages, with an article.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Open => "an unfinished container",
            Kind::Constant => "None or a bool",
            Kind::Int | Kind::WideInt => "an integer",
            Kind::Float => "a float",
            Kind::String => "a string",
            Kind::Constructor | Kind::NumberType => "a class",
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
