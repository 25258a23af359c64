//! Table of the pickle opcodes: byte, name, operand and whether it is supported.

/// Operand of a supported opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Fixed number of bytes.
    Fixed(usize),
    /// Little-endian length field of this width in bytes, followed by that number of bytes.
    LengthPrefixed(usize),
    /// Text up to the end of the line.
    Line,
    /// Two lines of text.
    TwoLines,
}

/// Reason why an opcode is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedReason {
    /// The opcode names, imports or calls code, other than a constructor of plain values.
    #[error("imports or calls code: a snapshot contains none, and memscape never runs any")]
    Code,
    /// The opcode drops or duplicates values on the stack. With such opcodes, values could not be passed to their
    /// container early.
    #[error("unsupported: moves values on the stack")]
    StackManipulation,
    /// The opcode refers to bytes that are not in the file.
    #[error("refers to bytes outside the file")]
    ExternalBuffer,
    /// The opcode has a string in Python 2's format, which has its own escapes.
    #[error("pickle protocol 0 is not supported: write the snapshot with protocol 2 or later")]
    Python2String,
}

/// Support for an opcode by the unpickler: the operand of a supported opcode, or the reason for rejecting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Supported(Operand),
    Unsupported(UnsupportedReason),
}

/// A pickle opcode: its name, and whether the unpickler supports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// Name in Python's `pickletools`.
    pub name: &'static str,
    pub support: Support,
}

/// Returns the opcode of `byte`, or `None` if it is not one.
pub fn opcode(byte: u8) -> Option<Opcode> {
    describe(byte).map(|(name, support)| Opcode { name, support })
}

/// Returns the length of the instruction at the start of `start`, including the opcode. If its length field is cut off,
/// returns the length up to the end of that field. Returns `None` for an instruction that ends at a line break. `start`
/// must not be empty.
pub(super) fn instruction_length(start: &[u8]) -> Option<usize> {
    let Some((&byte, rest)) = start.split_first() else { return Some(1) };
    Some(match opcode(byte).map(|known| known.support) {
        Some(Support::Supported(Operand::Fixed(bytes))) => 1 + bytes,
        Some(Support::Supported(Operand::LengthPrefixed(width))) => {
            let length = rest.get(..width).map(|length| {
                let length = length.iter().rev().fold(0u64, |high, &low| high << 8 | u64::from(low));
                usize::try_from(length).unwrap_or(usize::MAX)
            });
            length.unwrap_or(0).saturating_add(1 + width)
        }
        Some(Support::Supported(Operand::Line | Operand::TwoLines)) => return None,
        Some(Support::Unsupported(_)) | None => 1,
    })
}

macro_rules! opcodes {
    ($($byte:literal $name:ident $verdict:expr;)*) => {
        $(pub(super) const $name: u8 = $byte;)*
        fn describe(byte: u8) -> Option<(&'static str, Support)> {
            match byte {
                $($name => Some((stringify!($name), $verdict)),)*
                _ => None,
            }
        }
    };
}

const NO_OPERAND: Support = fixed(0);
const LINE: Support = Support::Supported(Operand::Line);
const CODE: Support = Support::Unsupported(UnsupportedReason::Code);
const STACK_MANIPULATION: Support = Support::Unsupported(UnsupportedReason::StackManipulation);
const EXTERNAL_BUFFER: Support = Support::Unsupported(UnsupportedReason::ExternalBuffer);
const PYTHON2_STRING: Support = Support::Unsupported(UnsupportedReason::Python2String);

const fn fixed(bytes: usize) -> Support {
    Support::Supported(Operand::Fixed(bytes))
}

const fn length_prefixed(width: usize) -> Support {
    Support::Supported(Operand::LengthPrefixed(width))
}

opcodes! {
    // Structure of the pickle.
    0x80 PROTO            fixed(1);
    0x95 FRAME            fixed(8);
    b'.' STOP             NO_OPERAND;
    // Scalars.
    b'N' NONE             NO_OPERAND;
    0x88 NEWTRUE          NO_OPERAND;
    0x89 NEWFALSE         NO_OPERAND;
    b'K' BININT1          fixed(1);
    b'M' BININT2          fixed(2);
    b'J' BININT           fixed(4);
    0x8a LONG1            length_prefixed(1);
    0x8b LONG4            length_prefixed(4);
    b'G' BINFLOAT         fixed(8);
    // Strings and bytes. Python 2 wrote BINSTRING.
    0x8c SHORT_BINUNICODE length_prefixed(1);
    b'X' BINUNICODE       length_prefixed(4);
    0x8d BINUNICODE8      length_prefixed(8);
    b'U' SHORT_BINSTRING  length_prefixed(1);
    b'T' BINSTRING        length_prefixed(4);
    b'C' SHORT_BINBYTES   length_prefixed(1);
    b'B' BINBYTES         length_prefixed(4);
    0x8e BINBYTES8        length_prefixed(8);
    0x96 BYTEARRAY8       length_prefixed(8);
    // Containers.
    b'(' MARK             NO_OPERAND;
    b']' EMPTY_LIST       NO_OPERAND;
    b'a' APPEND           NO_OPERAND;
    b'e' APPENDS          NO_OPERAND;
    b'}' EMPTY_DICT       NO_OPERAND;
    b's' SETITEM          NO_OPERAND;
    b'u' SETITEMS         NO_OPERAND;
    b')' EMPTY_TUPLE      NO_OPERAND;
    b't' TUPLE            NO_OPERAND;
    0x85 TUPLE1           NO_OPERAND;
    0x86 TUPLE2           NO_OPERAND;
    0x87 TUPLE3           NO_OPERAND;
    // The memo.
    0x94 MEMOIZE          NO_OPERAND;
    b'q' BINPUT           fixed(1);
    b'r' LONG_BINPUT      fixed(4);
    b'h' BINGET           fixed(1);
    b'j' LONG_BINGET      fixed(4);
    // Protocol 0, and the large integers of protocol 1.
    b'I' INT              LINE;
    b'L' LONG             LINE;
    b'F' FLOAT            LINE;
    b'V' UNICODE          LINE;
    b'p' PUT              LINE;
    b'g' GET              LINE;
    b'l' LIST             NO_OPERAND;
    b'd' DICT             NO_OPERAND;
    // Sets, which are read as lists.
    0x8f EMPTY_SET        NO_OPERAND;
    0x90 ADDITEMS         NO_OPERAND;
    0x91 FROZENSET        NO_OPERAND;
    // Constructors of plain values, which are recognized by name and never called.
    b'c' GLOBAL           Support::Supported(Operand::TwoLines);
    0x93 STACK_GLOBAL     NO_OPERAND;
    b'R' REDUCE           NO_OPERAND;
    0x81 NEWOBJ           NO_OPERAND;
    b'b' BUILD            NO_OPERAND;
    // Names of values outside of the pickle, such as the storages of tensors.
    b'Q' BINPERSID        NO_OPERAND;
    // Not supported.
    b'i' INST             CODE;
    b'o' OBJ              CODE;
    0x92 NEWOBJ_EX        CODE;
    0x82 EXT1             CODE;
    0x83 EXT2             CODE;
    0x84 EXT4             CODE;
    b'P' PERSID           CODE;
    b'0' POP              STACK_MANIPULATION;
    b'1' POP_MARK         STACK_MANIPULATION;
    b'2' DUP              STACK_MANIPULATION;
    0x97 NEXT_BUFFER      EXTERNAL_BUFFER;
    0x98 READONLY_BUFFER  EXTERNAL_BUFFER;
    b'S' STRING           PYTHON2_STRING;
}
