//! Messages between the page and the engine's worker.
//!
//! The columns of a scene are attached to its reply as buffers. Each side copies a column only once, out of or into its
//! wasm memory.

use bytemuck::Pod;
use channel::{attached_bytes, buffer};
use compare::FileSlot;
use js_sys::{Array, ArrayBuffer, Uint8Array};
use picture::timeline::scene::SceneColumns;
use protocol::{Answer, Reply, Request};
use serde::{Deserialize, Serialize};
use std::mem;
use wasm_bindgen::{JsCast, JsValue};

/// Messages from the page to the worker. The benchmarks recognize [`ToWorker::Ask`] by its index
/// (tests/bench/timing_script.rs).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum ToWorker {
    /// Reads the attached file. `load` is the id of the load.
    File {
        load: u32,
        /// Index of the snapshot in a file that contains several. `None` stands for the first one.
        member: Option<u32>,
        which: FileSlot,
    },
    /// Fetches this URL. `load` is the id of the load.
    Link {
        load: u32,
        member: Option<u32>,
        /// Absolute URL.
        url: String,
        which: FileSlot,
    },
    /// Closes the second file of a comparison.
    CloseSecond,
    /// Links the attached module, which has the code behind [gates](base::later::gate). It is `undefined` if the
    /// worker's own wasm has that code.
    Later,
    /// Warms up by opening a generated snapshot, until the first file is opened.
    WarmUp,
    Ask(Request),
    /// Requests the snapshot of the load with this id as columns.
    Columns {
        load: u32,
    },
    /// Requests the snapshot of the load with this id in the cache format of this build.
    CacheFile {
        load: u32,
    },
}

/// Messages from the worker to the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum FromWorker {
    /// The buffers of [`detach_columns`] are attached.
    Reply { load: u32, reply: Reply },
    /// The link could not be fetched.
    LinkFailed {
        load: u32,
        /// HTTP status. `None` if there was no readable response.
        status: Option<u16>,
    },
    /// The connection was lost, and the worker requests the remaining bytes.
    LinkInterrupted {
        load: u32,
        /// Number of bytes received before that.
        at: u64,
    },
    /// Version of the file behind a link, as reported by its server (for example an ETag).
    Versioned { load: u32, version: String },
    /// Fingerprint of the file, as used in links.
    Fingerprinted { load: u32, print: String },
    /// Asks the page to read the attached blob, if the browser does not allow the worker to. The page responds through
    /// the attached port with a `Uint8Array`, or with an error message.
    Read,
    /// The open snapshot as uncompressed columns in the attached blob, or the reason why it is not available.
    Columns(Result<(), String>),
    /// All messages so far are processed. Contains the number of messages received.
    Idle(u32),
}

/// Moves the columns of a scene, or the bytes for the simulator, from `reply` to buffers.
pub(crate) fn detach_columns(reply: &mut Reply) -> Array {
    let buffers = Array::new();
    match reply {
        Reply::Answer { answer: Answer::Recording(bytes) | Answer::PlannedSizes(bytes), .. } => {
            push_column(&buffers, mem::take(bytes));
        }
        Reply::Answer { answer: Answer::Scene(scene), .. } => {
            let SceneColumns { edge_px, moment, moments, total, reserved, pending, hidden, hidden_largest } =
                mem::take(&mut scene.columns);
            push_column(&buffers, edge_px);
            push_column(&buffers, moment);
            push_column(&buffers, moments);
            push_column(&buffers, total);
            push_column(&buffers, reserved);
            push_column(&buffers, pending);
            push_column(&buffers, hidden);
            push_column(&buffers, hidden_largest);
            push_column(&buffers, mem::take(&mut scene.quads));
            push_column(&buffers, mem::take(&mut scene.identities));
        }
        _ => {}
    }
    buffers
}

/// Moves the columns from `buffers` back to `reply`, in the order of [`detach_columns`].
pub(crate) fn attach_columns(reply: &mut Reply, buffers: &Array) -> Option<()> {
    if let Reply::Answer { answer: Answer::Recording(bytes) | Answer::PlannedSizes(bytes), .. } = reply {
        *bytes = attached_bytes(buffers, 0)?;
    }
    let Reply::Answer { answer: Answer::Scene(scene), .. } = reply else { return Some(()) };
    let mut buffers = buffers.iter();
    scene.columns = SceneColumns {
        edge_px: read_column(buffers.next())?,
        moment: read_column(buffers.next())?,
        moments: read_column(buffers.next())?,
        total: read_column(buffers.next())?,
        reserved: read_column(buffers.next())?,
        pending: read_column(buffers.next())?,
        hidden: read_column(buffers.next())?,
        hidden_largest: read_column(buffers.next())?,
    };
    scene.quads = read_column(buffers.next())?;
    scene.identities = read_column(buffers.next())?;
    Some(())
}

fn push_column<T: Pod>(buffers: &Array, column: Vec<T>) {
    buffers.push(&buffer(bytemuck::cast_slice::<T, u8>(&column)));
}

fn read_column<T: Pod>(buffer: Option<JsValue>) -> Option<Vec<T>> {
    let bytes = Uint8Array::new(buffer?.dyn_ref::<ArrayBuffer>()?);
    let mut column = vec![T::zeroed(); bytes.length() as usize / size_of::<T>()];
    let target = bytemuck::cast_slice_mut::<T, u8>(&mut column);
    if target.len() != bytes.length() as usize {
        return None;
    }
    bytes.copy_to(target);
    Some(column)
}
