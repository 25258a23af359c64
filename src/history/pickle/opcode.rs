//! Table of the pickle opcodes: byte, name, operand and whether it is supported.

/// Operand of a supported opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// Fixed number of bytes.
    Fixed(usize),
    /// Length field of this width, least significant byte first, followed by that number of bytes.
    Counted(usize),
    /// Text up to the end of the line.
    Line,
}

/// Reason why an opcode is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It names, imports or calls code.
    #[error("imports or calls code: a snapshot contains none, and memscape never runs any")]
    Code,
    /// It drops or duplicates values on the stack, so that the contents of a container are unknown when they arrive.
    #[error("unsupported: moves values on the stack")]
    Juggling,
    #[error("unsupported type: set")]
    Set,
    /// Its bytes are not in the file.
    #[error("refers to bytes outside the file")]
    Elsewhere,
    /// Python 2's string format with its own escapes.
    #[error("pickle protocol 0 is not supported: write the snapshot with protocol 2 or later")]
    Text,
}

/// Support for an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Runs(Operand),
    Refused(Refusal),
}

/// Description of an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    /// Name in Python's `pickletools`.
    pub name: &'static str,
    pub verdict: Verdict,
}

/// Looks up the opcode of `byte`.
pub fn opcode(byte: u8) -> Option<Opcode> {
    describe(byte).map(|(name, verdict)| Opcode { name, verdict })
}

/// Returns the length of the instruction that `start` begins with, including the opcode. If its length field is cut
/// off, returns the length up to the end of that field. Returns `None` for an instruction that ends with its line.
/// `start` must not be empty.
pub(super) fn extent(start: &[u8]) -> Option<usize> {
    let Some((&byte, rest)) = start.split_first() else { return Some(1) };
    Some(match opcode(byte).map(|known| known.verdict) {
        Some(Verdict::Runs(Operand::Fixed(bytes))) => 1 + bytes,
        Some(Verdict::Runs(Operand::Counted(width))) => {
            let length = rest.get(..width).map(|length| {
                let length = length.iter().rev().fold(0u64, |high, &low| high << 8 | u64::from(low));
                usize::try_from(length).unwrap_or(usize::MAX)
            });
            length.unwrap_or(0).saturating_add(1 + width)
        }
        Some(Verdict::Runs(Operand::Line)) => return None,
        Some(Verdict::Refused(_)) | None => 1,
    })
}

macro_rules! opcodes {
    ($($byte:literal $name:ident $verdict:expr;)*) => {
        $(pub(super) const $name: u8 = $byte;)*
        fn describe(byte: u8) -> Option<(&'static str, Verdict)> {
            match byte {
                $($name => Some((stringify!($name), $verdict)),)*
                _ => None,
            }
        }
    };
}

const NONE_FOLLOW: Verdict = fixed(0);
const LINE: Verdict = Verdict::Runs(Operand::Line);
const CODE: Verdict = Verdict::Refused(Refusal::Code);
const JUGGLING: Verdict = Verdict::Refused(Refusal::Juggling);
const SET: Verdict = Verdict::Refused(Refusal::Set);
const ELSEWHERE: Verdict = Verdict::Refused(Refusal::Elsewhere);
const TEXT: Verdict = Verdict::Refused(Refusal::Text);

const fn fixed(bytes: usize) -> Verdict {
    Verdict::Runs(Operand::Fixed(bytes))
}

const fn counted(width: usize) -> Verdict {
    Verdict::Runs(Operand::Counted(width))
}

opcodes! {
    // Structure of the pickle.
    0x80 PROTO            fixed(1);
    0x95 FRAME            fixed(8);
    b'.' STOP             NONE_FOLLOW;
    // Scalars.
    b'N' NONE             NONE_FOLLOW;
    0x88 NEWTRUE          NONE_FOLLOW;
    0x89 NEWFALSE         NONE_FOLLOW;
    b'K' BININT1          fixed(1);
    b'M' BININT2          fixed(2);
    b'J' BININT           fixed(4);
    0x8a LONG1            counted(1);
    0x8b LONG4            counted(4);
    b'G' BINFLOAT         fixed(8);
    // Strings and bytes. Python 2 wrote BINSTRING.
    0x8c SHORT_BINUNICODE counted(1);
    b'X' BINUNICODE       counted(4);
    0x8d BINUNICODE8      counted(8);
    b'U' SHORT_BINSTRING  counted(1);
    b'T' BINSTRING        counted(4);
    b'C' SHORT_BINBYTES   counted(1);
    b'B' BINBYTES         counted(4);
    0x8e BINBYTES8        counted(8);
    0x96 BYTEARRAY8       counted(8);
    // Containers.
    b'(' MARK             NONE_FOLLOW;
    b']' EMPTY_LIST       NONE_FOLLOW;
    b'a' APPEND           NONE_FOLLOW;
    b'e' APPENDS          NONE_FOLLOW;
    b'}' EMPTY_DICT       NONE_FOLLOW;
    b's' SETITEM          NONE_FOLLOW;
    b'u' SETITEMS         NONE_FOLLOW;
    b')' EMPTY_TUPLE      NONE_FOLLOW;
    b't' TUPLE            NONE_FOLLOW;
    0x85 TUPLE1           NONE_FOLLOW;
    0x86 TUPLE2           NONE_FOLLOW;
    0x87 TUPLE3           NONE_FOLLOW;
    // The memo.
    0x94 MEMOIZE          NONE_FOLLOW;
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
    b'l' LIST             NONE_FOLLOW;
    b'd' DICT             NONE_FOLLOW;
    // Not supported.
    b'c' GLOBAL           CODE;
    0x93 STACK_GLOBAL     CODE;
    b'R' REDUCE           CODE;
    b'b' BUILD            CODE;
    b'i' INST             CODE;
    b'o' OBJ              CODE;
    0x81 NEWOBJ           CODE;
    0x92 NEWOBJ_EX        CODE;
    0x82 EXT1             CODE;
    0x83 EXT2             CODE;
    0x84 EXT4             CODE;
    b'P' PERSID           CODE;
    b'Q' BINPERSID        CODE;
    b'0' POP              JUGGLING;
    b'1' POP_MARK         JUGGLING;
    b'2' DUP              JUGGLING;
    0x8f EMPTY_SET        SET;
    0x90 ADDITEMS         SET;
    0x91 FROZENSET        SET;
    0x97 NEXT_BUFFER      ELSEWHERE;
    0x98 READONLY_BUFFER  ELSEWHERE;
    b'S' STRING           TEXT;
}
