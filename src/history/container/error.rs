//! Errors while unpacking a file.

use base::units::pluralize;

/// Error while unpacking a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// A layer is empty. Holds the name of its format.
    #[error("the {0} stream is empty")]
    EmptyLayer(&'static str),
    /// The file or a layer has another known format, recognized by its first bytes. Holds the name of this format.
    #[error("this is {0}, not a PyTorch memory snapshot{advice}", advice = advice(.0))]
    OtherFormat(&'static str),
    /// The file or a layer has an unknown format. Holds its first byte.
    #[error("this is not a PyTorch memory snapshot: it begins with 0x{0:02x}, a pickle with 0x80")]
    UnknownFormat(u8),
    /// A layer is malformed or has a wrong checksum.
    #[error("the {layer} stream is damaged near byte {byte}")]
    Damaged {
        layer: &'static str,
        /// Number of bytes of the file read so far.
        byte: u64,
    },
    /// The file ends inside a layer.
    #[error("the file is cut off after {}, inside the {layer} stream", pluralize(*.byte, "byte"))]
    Truncated {
        layer: &'static str,
        /// Length of the file.
        byte: u64,
    },
    /// A layer needs a feature that is not supported.
    #[error("cannot decompress the {layer} stream: {why}")]
    Unsupported { layer: &'static str, why: &'static str },
    /// A layer has an excessive compression ratio.
    #[error("{byte} bytes of {layer} decompress to more than {ratio} times as many: not a snapshot")]
    Bomb {
        layer: &'static str,
        /// Number of bytes of the file read so far.
        byte: u64,
        ratio: u64,
    },
    /// A layer unpacks to more than [`MAX_UNPACKED_BYTES`](super::MAX_UNPACKED_BYTES) bytes.
    #[error("{byte} bytes of {layer} decompress to more than 1 TiB: not a snapshot")]
    TooLarge {
        layer: &'static str,
        /// Number of bytes of the file read so far.
        byte: u64,
    },
    /// Too many layers are nested. Holds the maximum.
    #[error("more than {0} nested layers of compression: not a snapshot")]
    TooManyLayers(usize),
}

/// Returns what to do about a file of this format.
fn advice(format: &str) -> &'static str {
    match format {
        _ if format.ends_with("stream") || format.ends_with("7-Zip archive") || format.ends_with("RAR archive") => {
            ": unpack it first"
        }
        _ if format.ends_with("torch.profiler") => {
            ": record one with torch.cuda.memory._record_memory_history() and _dump_snapshot()"
        }
        _ => "",
    }
}
