//! Messages between the page and the engine's worker.
//!
//! A message is an array of a tag, plain values, types encoded by postcard, and the columns of a scene as
//! `ArrayBuffer`s, which are transferred without a copy. Each side copies a column only once, out of or into its wasm
//! memory.

use bytemuck::Pod;
use compare::FileSlot;
use js_sys::{Array, ArrayBuffer, Uint8Array};
use picture::timeline::scene::SceneColumns;
use protocol::{self, Answer, Reply, Request};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::mem;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, File, MessagePort};

/// Messages from the page to the worker.
#[derive(Clone, Debug)]
pub(crate) enum ToWorker {
    /// Reads this file. `load` is the id of the load.
    File {
        load: u32,
        /// Index of the snapshot in a file that contains several. `None` stands for the first one.
        member: Option<u32>,
        /// Handle of the file, without its bytes.
        file: File,
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
#[derive(Clone, Debug)]
pub(crate) enum FromWorker {
    /// The worker is ready. Messages that were sent before this are lost.
    Ready,
    Reply {
        load: u32,
        reply: Reply,
    },
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
    Versioned {
        load: u32,
        version: String,
    },
    /// Fingerprint of the file, as used in links.
    Fingerprinted {
        load: u32,
        print: String,
    },
    /// Asks the page to read this blob, if the browser does not allow the worker to. The page responds through the port
    /// with a `Uint8Array`, or with an error message.
    Read(Blob, MessagePort),
    /// The open snapshot as uncompressed columns, or the reason why it is not available.
    Columns(Result<Blob, String>),
    /// All messages so far are processed. Contains the number of messages received.
    Idle(u32),
    Crashed(String),
}

/// Tag of [`FromWorker::Ready`].
const READY: &str = "ready";
/// Tag of [`ToWorker::Columns`] and [`FromWorker::Columns`].
const COLUMNS: &str = "columns";
const CACHE_FILE: &str = "kept";
const VERSION: &str = "version";
const CLOSE_SECOND: &str = "end second";
const IDLE: &str = "idle";
const WARM_UP: &str = "rehearse";
/// Tag of [`FromWorker::Crashed`], which [`BOOTSTRAP`] also contains.
const CRASHED: &str = "died";

/// Bootstrap script of a worker, appended to the glue. It waits for the compiled `WebAssembly.Module` from the page and
/// starts it. Errors are sent as messages, because the page does not receive all of them as `error` events.
pub(crate) const BOOTSTRAP: &str = r#"
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => postMessage(["died", String(event.reason ?? event.message)]));
onmessage = (event) => { onmessage = null; wasm_bindgen.initSync({ module: event.data }); };
"#;

fn is_second(which: FileSlot) -> JsValue {
    (which == FileSlot::Second).into()
}

/// Returns whether a message refers to the first or the second file.
fn which(message: &Array) -> FileSlot {
    if message.get(4).is_truthy() { FileSlot::Second } else { FileSlot::First }
}

impl ToWorker {
    /// Converts the message to a JavaScript array.
    pub(crate) fn to_js(&self) -> JsValue {
        match self {
            ToWorker::File { load, member, file, which } => {
                Array::of5(&"file".into(), &(*load).into(), file, &JsValue::from(*member), &is_second(*which))
            }
            ToWorker::Link { load, member, url, which } => {
                Array::of5(&"link".into(), &(*load).into(), &url.into(), &JsValue::from(*member), &is_second(*which))
            }
            ToWorker::CloseSecond => Array::of1(&CLOSE_SECOND.into()),
            ToWorker::WarmUp => Array::of1(&WARM_UP.into()),
            ToWorker::Ask(request) => Array::of2(&"ask".into(), &encode(request)),
            ToWorker::Columns { load } => Array::of2(&COLUMNS.into(), &(*load).into()),
            ToWorker::CacheFile { load } => Array::of2(&CACHE_FILE.into(), &(*load).into()),
        }
        .into()
    }

    /// Parses a JavaScript array. Returns `None` if it is not a valid message.
    pub(crate) fn from_js(message: &JsValue) -> Option<ToWorker> {
        let message: &Array = message.dyn_ref()?;
        match message.get(0).as_string()?.as_str() {
            "file" => Some(ToWorker::File {
                load: number(message, 1)?,
                member: number(message, 3),
                file: message.get(2).dyn_into().ok()?,
                which: which(message),
            }),
            "link" => Some(ToWorker::Link {
                load: number(message, 1)?,
                member: number(message, 3),
                url: message.get(2).as_string()?,
                which: which(message),
            }),
            CLOSE_SECOND => Some(ToWorker::CloseSecond),
            WARM_UP => Some(ToWorker::WarmUp),
            "ask" => decode(&message.get(1)).map(ToWorker::Ask),
            COLUMNS => Some(ToWorker::Columns { load: number(message, 1)? }),
            CACHE_FILE => Some(ToWorker::CacheFile { load: number(message, 1)? }),
            _ => None,
        }
    }
}

impl FromWorker {
    /// Converts the message to a JavaScript array. Also returns the buffers that must be transferred with it.
    pub(crate) fn into_js(self) -> (JsValue, Array) {
        let buffers = Array::new();
        let message = match self {
            FromWorker::Ready => Array::of1(&READY.into()),
            FromWorker::Reply { load, mut reply } => {
                take_columns(&mut reply, &buffers);
                Array::of4(&"reply".into(), &load.into(), &encode(&reply), &buffers)
            }
            FromWorker::LinkFailed { load, status } => {
                Array::of3(&"link failed".into(), &load.into(), &status.map_or(JsValue::NULL, JsValue::from))
            }
            FromWorker::LinkInterrupted { load, at } => Array::of3(&"broke".into(), &load.into(), &(at as f64).into()),
            FromWorker::Fingerprinted { load, print } => Array::of3(&"print".into(), &load.into(), &print.into()),
            FromWorker::Versioned { load, version } => Array::of3(&VERSION.into(), &load.into(), &version.into()),
            FromWorker::Read(blob, port) => {
                buffers.push(&port);
                Array::of3(&"read".into(), &blob, &port)
            }
            FromWorker::Columns(Ok(blob)) => Array::of2(&COLUMNS.into(), &blob),
            FromWorker::Columns(Err(why)) => Array::of2(&COLUMNS.into(), &why.into()),
            FromWorker::Idle(done) => Array::of2(&IDLE.into(), &done.into()),
            FromWorker::Crashed(cause) => Array::of2(&CRASHED.into(), &cause.into()),
        };
        (message.into(), buffers)
    }

    /// Parses a JavaScript array. Returns `None` if it is not a valid message.
    pub(crate) fn from_js(message: &JsValue) -> Option<FromWorker> {
        let message: &Array = message.dyn_ref()?;
        match message.get(0).as_string()?.as_str() {
            READY => Some(FromWorker::Ready),
            "reply" => {
                let mut reply: Reply = decode(&message.get(2))?;
                put_columns(&mut reply, message.get(3).dyn_ref()?)?;
                Some(FromWorker::Reply { load: number(message, 1)?, reply })
            }
            "link failed" => Some(FromWorker::LinkFailed {
                load: number(message, 1)?,
                status: number(message, 2).map(|it| it as u16),
            }),
            "broke" => {
                Some(FromWorker::LinkInterrupted { load: number(message, 1)?, at: message.get(2).as_f64()? as u64 })
            }
            "print" => {
                Some(FromWorker::Fingerprinted { load: number(message, 1)?, print: message.get(2).as_string()? })
            }
            VERSION => Some(FromWorker::Versioned { load: number(message, 1)?, version: message.get(2).as_string()? }),
            "read" => Some(FromWorker::Read(message.get(1).dyn_into().ok()?, message.get(2).dyn_into().ok()?)),
            COLUMNS => {
                let columns = message.get(1).dyn_into();
                Some(FromWorker::Columns(columns.map_err(|why: JsValue| why.as_string().unwrap_or_default())))
            }
            IDLE => Some(FromWorker::Idle(number(message, 1)?)),
            CRASHED => Some(FromWorker::Crashed(message.get(1).as_string().unwrap_or_default())),
            _ => None,
        }
    }
}

/// Moves the columns of a scene, or the bytes for the simulator, from `reply` to `buffers`.
fn take_columns(reply: &mut Reply, buffers: &Array) {
    if let Reply::Answer { answer: Answer::Recording(bytes) | Answer::PlannedSizes(bytes), .. } = reply {
        return push_column(buffers, mem::take(bytes));
    }
    let Reply::Answer { answer: Answer::Scene(scene), .. } = reply else { return };
    let SceneColumns { edge_px, moment, moments, total, reserved, pending, hidden, hidden_largest } =
        mem::take(&mut scene.columns);
    push_column(buffers, edge_px);
    push_column(buffers, moment);
    push_column(buffers, moments);
    push_column(buffers, total);
    push_column(buffers, reserved);
    push_column(buffers, pending);
    push_column(buffers, hidden);
    push_column(buffers, hidden_largest);
    push_column(buffers, mem::take(&mut scene.quads));
    push_column(buffers, mem::take(&mut scene.identities));
}

/// Moves the columns from `buffers` back to `reply`, in the order of [`take_columns`].
fn put_columns(reply: &mut Reply, buffers: &Array) -> Option<()> {
    if let Reply::Answer { answer: Answer::Recording(bytes) | Answer::PlannedSizes(bytes), .. } = reply {
        *bytes = read_column(buffers.iter().next())?;
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
    buffers.push(&Uint8Array::from(bytemuck::cast_slice::<T, u8>(&column)).buffer());
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

fn number(message: &Array, at: u32) -> Option<u32> {
    message.get(at).as_f64().map(|number| number as u32)
}

fn encode(value: &impl Serialize) -> JsValue {
    Uint8Array::from(protocol::encode(value).as_slice()).into()
}

fn decode<T: DeserializeOwned>(bytes: &JsValue) -> Option<T> {
    protocol::decode(&bytes.dyn_ref::<Uint8Array>()?.to_vec())
}
