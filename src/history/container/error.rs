//! Why a file's bytes can't be unpacked.

/// Why the bytes can't be unpacked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContainerError {
    /// No byte at all.
    #[error("the file is empty")]
    Empty,
    /// A layer of packing with nothing in it.
    #[error("the {0} stream is empty")]
    Hollow(&'static str),
    /// Something else, recognised by its first bytes.
    #[error("this is {0}, not a PyTorch memory snapshot")]
    Other(&'static str),
    /// Something else, not recognised.
    #[error("this is not a PyTorch memory snapshot: it begins with 0x{0:02x}, a pickle with 0x80")]
    NotAPickle(u8),
    /// A layer's checks failed.
    #[error("the {layer} stream is damaged near byte {byte}")]
    Damaged {
        layer: &'static str,
        /// Bytes of the file read by then.
        byte: u64,
    },
    /// The file ends inside a layer.
    #[error("unexpected end of file inside the {layer} stream, after {byte} bytes")]
    Cut {
        layer: &'static str,
        /// Bytes of the file.
        byte: u64,
    },
    /// A layer asks for something that we do not do.
    #[error("cannot decompress the {layer} stream: {why}")]
    Refused { layer: &'static str, why: &'static str },
    /// It is made to fill the memory.
    #[error("{byte} bytes of {layer} decompress to more than {times} times as many: not a snapshot")]
    Bomb {
        layer: &'static str,
        /// Bytes of the file read by then.
        byte: u64,
        times: u64,
    },
    /// It goes on and on.
    #[error("{byte} bytes of {layer} decompress to more than 1 TiB: not a snapshot")]
    TooMuch {
        layer: &'static str,
        /// Bytes of the file read by then.
        byte: u64,
    },
    /// Packed again and again.
    #[error("more than {0} nested layers of compression: not a snapshot")]
    TooManyLayers(usize),
}
