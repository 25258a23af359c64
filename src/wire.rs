//! Requests and replies ↔ messages between page and worker.
//!
//! A message is an array: a tag, plain values, bytes of our own types (postcard), and the columns of a scene as `ArrayBuffer`s that change
//! hands without a copy. Each side copies a column once: out of its wasm memory, into its wasm memory.

use crate::engine::protocol::{
    Details, FileSummary, HitAllocation, LegendEntry, Marks, Match, Member, MomentFacts, Overview, Progress,
    RangeFacts, Reply, Request, Stepped, TablePage, TableText, Tally, TreePage,
};
use crate::timeline::scene::SceneColumns;
use crate::timeline::{OutlineRect, Scene, View};
use bytemuck::Pod;
use js_sys::{Array, ArrayBuffer, Uint8Array};
use serde::{Deserialize, Serialize};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::File;

/// What the page tells the worker.
#[derive(Clone, Debug)]
pub enum ToWorker {
    /// Read this file, as load `load`.
    File {
        /// Returned with every reply about it.
        load: u32,
        /// Which snapshot of it, if it holds several; the first when not said.
        member: Option<u32>,
        /// The file; its bytes stay where they are.
        file: File,
    },
    /// Fetch this address, as load `load`.
    Link {
        /// Returned with every reply about it.
        load: u32,
        /// As for a file.
        member: Option<u32>,
        /// Absolute.
        url: String,
    },
    /// A request to the engine.
    Ask(Request),
}

/// What the worker tells the page.
#[derive(Clone, Debug)]
pub enum FromWorker {
    /// It listens; what was sent before is lost.
    Ready,
    /// The engine's answer.
    Reply {
        /// The load it belongs to.
        load: u32,
        /// The answer.
        reply: Reply,
    },
    /// The link could not be fetched.
    LinkFailed {
        /// The load it belongs to.
        load: u32,
        /// The HTTP status; `None` when there was no answer that may be read.
        status: Option<u16>,
    },
    /// It can't go on: why.
    Died(String),
}

/// The tag of [`FromWorker::Ready`].
const READY: &str = "ready";
/// The tag of [`FromWorker::Died`]; [`BOOTSTRAP`] writes it as well.
const DIED: &str = "died";

/// The script of the worker, behind the glue: it waits for the page to post the compiled `WebAssembly.Module`, and starts it. A trap
/// becomes a message: some happen where the page's `error` event would not see them.
pub const BOOTSTRAP: &str = r#"
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => postMessage(["died", String(event.reason ?? event.message)]));
onmessage = (event) => { onmessage = null; wasm_bindgen.initSync({ module: event.data }); };
"#;

impl ToWorker {
    /// As a message.
    pub fn to_js(&self) -> JsValue {
        match self {
            ToWorker::File { load, member, file } => {
                Array::of4(&"file".into(), &(*load).into(), file, &JsValue::from(*member))
            }
            ToWorker::Link { load, member, url } => {
                Array::of4(&"link".into(), &(*load).into(), &url.into(), &JsValue::from(*member))
            }
            ToWorker::Ask(request) => Array::of2(&"ask".into(), &packed(request)),
        }
        .into()
    }

    /// From a message; `None` when it is not one of ours.
    pub fn from_js(message: &JsValue) -> Option<ToWorker> {
        let message: &Array = message.dyn_ref()?;
        match message.get(0).as_string()?.as_str() {
            "file" => Some(ToWorker::File {
                load: number(message, 1)?,
                member: number(message, 3),
                file: message.get(2).dyn_into().ok()?,
            }),
            "link" => Some(ToWorker::Link {
                load: number(message, 1)?,
                member: number(message, 3),
                url: message.get(2).as_string()?,
            }),
            "ask" => unpacked(&message.get(1)).map(ToWorker::Ask),
            _ => None,
        }
    }
}

impl FromWorker {
    /// As a message, and the buffers in it that change hands.
    pub fn into_js(self) -> (JsValue, Array) {
        let buffers = Array::new();
        let message = match self {
            FromWorker::Ready => Array::of1(&READY.into()),
            FromWorker::Reply { load, reply } => {
                let head = Head::take(reply, &buffers);
                Array::of4(&"reply".into(), &load.into(), &packed(&head), &buffers)
            }
            FromWorker::LinkFailed { load, status } => {
                Array::of3(&"link failed".into(), &load.into(), &status.map_or(JsValue::NULL, JsValue::from))
            }
            FromWorker::Died(cause) => Array::of2(&DIED.into(), &cause.into()),
        };
        (message.into(), buffers)
    }

    /// From a message; `None` when it is not one of ours.
    pub fn from_js(message: &JsValue) -> Option<FromWorker> {
        let message: &Array = message.dyn_ref()?;
        match message.get(0).as_string()?.as_str() {
            READY => Some(FromWorker::Ready),
            "reply" => {
                let head: Head = unpacked(&message.get(2))?;
                let reply = head.into_reply(message.get(3).dyn_ref()?)?;
                Some(FromWorker::Reply { load: number(message, 1)?, reply })
            }
            "link failed" => Some(FromWorker::LinkFailed {
                load: number(message, 1)?,
                status: number(message, 2).map(|it| it as u16),
            }),
            DIED => Some(FromWorker::Died(message.get(1).as_string().unwrap_or_default())),
            _ => None,
        }
    }
}

/// A [`Reply`] without the columns.
#[derive(Serialize, Deserialize)]
enum Head {
    Progress(Progress),
    Members(Vec<Member>),
    Opened(Box<FileSummary>),
    Failed { message: String },
    Cancelled,
    Scene { serial: u32, device: i64, view: View, band_px: u32 },
    Hit { serial: u32, device: i64, hit: Option<HitAllocation> },
    Moments { serial: u32, moments: Vec<MomentFacts> },
    Stepped { serial: u32, to: Stepped },
    Marks { serial: u32, device: i64, marks: Box<Marks> },
    Overview { serial: u32, device: i64, overview: Box<Overview> },
    Legend { serial: u32, device: i64, entries: Vec<LegendEntry> },
    Outline { serial: u32, allocation: u32, view: View, rects: Vec<OutlineRect> },
    Details { serial: u32, details: Option<Box<Details>> },
    Found { serial: u32, device: i64, tally: Tally },
    FoundNext { serial: u32, found: Option<Match> },
    SameStack { serial: u32, tally: Tally },
    Range { serial: u32, facts: RangeFacts },
    Tree { serial: u32, page: Box<TreePage> },
    Table { serial: u32, page: Box<TablePage> },
    TableText { serial: u32, part: TableText },
    Heaviest { serial: u32, allocation: Option<u32> },
}

impl Head {
    /// Moves the columns of a scene into `buffers`.
    fn take(reply: Reply, buffers: &Array) -> Head {
        match reply {
            Reply::Progress(progress) => Head::Progress(progress),
            Reply::Members(members) => Head::Members(members),
            Reply::Opened(file) => Head::Opened(file),
            Reply::Failed { message } => Head::Failed { message },
            Reply::Cancelled => Head::Cancelled,
            Reply::Scene { serial, device, scene } => {
                let Scene { view, band_px, columns, quads, identities } = *scene;
                push(buffers, columns.edge_px);
                push(buffers, columns.moment);
                push(buffers, columns.moments);
                push(buffers, columns.total);
                push(buffers, columns.reserved);
                push(buffers, columns.pending);
                push(buffers, columns.hidden);
                push(buffers, columns.hidden_largest);
                push(buffers, quads);
                push(buffers, identities);
                Head::Scene { serial, device, view, band_px }
            }
            Reply::Hit { serial, device, hit } => Head::Hit { serial, device, hit },
            Reply::Moments { serial, moments } => Head::Moments { serial, moments },
            Reply::Stepped { serial, to } => Head::Stepped { serial, to },
            Reply::Marks { serial, device, marks } => Head::Marks { serial, device, marks },
            Reply::Overview { serial, device, overview } => Head::Overview { serial, device, overview },
            Reply::Legend { serial, device, entries } => Head::Legend { serial, device, entries },
            Reply::Outline { serial, allocation, view, rects } => Head::Outline { serial, allocation, view, rects },
            Reply::Details { serial, details } => Head::Details { serial, details },
            Reply::Found { serial, device, tally } => Head::Found { serial, device, tally },
            Reply::FoundNext { serial, found } => Head::FoundNext { serial, found },
            Reply::SameStack { serial, tally } => Head::SameStack { serial, tally },
            Reply::Range { serial, facts } => Head::Range { serial, facts },
            Reply::Tree { serial, page } => Head::Tree { serial, page },
            Reply::Table { serial, page } => Head::Table { serial, page },
            Reply::TableText { serial, part } => Head::TableText { serial, part },
            Reply::Heaviest { serial, allocation } => Head::Heaviest { serial, allocation },
        }
    }

    /// Takes the columns back; in the order of [`Head::take`].
    fn into_reply(self, buffers: &Array) -> Option<Reply> {
        Some(match self {
            Head::Progress(progress) => Reply::Progress(progress),
            Head::Members(members) => Reply::Members(members),
            Head::Opened(file) => Reply::Opened(file),
            Head::Failed { message } => Reply::Failed { message },
            Head::Cancelled => Reply::Cancelled,
            Head::Scene { serial, device, view, band_px } => {
                let mut buffers = buffers.iter();
                let columns = SceneColumns {
                    edge_px: pull(buffers.next())?,
                    moment: pull(buffers.next())?,
                    moments: pull(buffers.next())?,
                    total: pull(buffers.next())?,
                    reserved: pull(buffers.next())?,
                    pending: pull(buffers.next())?,
                    hidden: pull(buffers.next())?,
                    hidden_largest: pull(buffers.next())?,
                };
                let (quads, identities) = (pull(buffers.next())?, pull(buffers.next())?);
                let scene = Box::new(Scene { view, band_px, columns, quads, identities });
                Reply::Scene { serial, device, scene }
            }
            Head::Hit { serial, device, hit } => Reply::Hit { serial, device, hit },
            Head::Moments { serial, moments } => Reply::Moments { serial, moments },
            Head::Stepped { serial, to } => Reply::Stepped { serial, to },
            Head::Marks { serial, device, marks } => Reply::Marks { serial, device, marks },
            Head::Overview { serial, device, overview } => Reply::Overview { serial, device, overview },
            Head::Legend { serial, device, entries } => Reply::Legend { serial, device, entries },
            Head::Outline { serial, allocation, view, rects } => Reply::Outline { serial, allocation, view, rects },
            Head::Details { serial, details } => Reply::Details { serial, details },
            Head::Found { serial, device, tally } => Reply::Found { serial, device, tally },
            Head::FoundNext { serial, found } => Reply::FoundNext { serial, found },
            Head::SameStack { serial, tally } => Reply::SameStack { serial, tally },
            Head::Range { serial, facts } => Reply::Range { serial, facts },
            Head::Tree { serial, page } => Reply::Tree { serial, page },
            Head::Table { serial, page } => Reply::Table { serial, page },
            Head::TableText { serial, part } => Reply::TableText { serial, part },
            Head::Heaviest { serial, allocation } => Reply::Heaviest { serial, allocation },
        })
    }
}

fn push<T: Pod>(buffers: &Array, column: Vec<T>) {
    buffers.push(&Uint8Array::from(bytemuck::cast_slice::<T, u8>(&column)).buffer());
}

fn pull<T: Pod>(buffer: Option<JsValue>) -> Option<Vec<T>> {
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

/// One of our own types as bytes: page and worker are the same build, so the format needs no names.
fn packed(value: &impl Serialize) -> JsValue {
    // It fails only for maps and sequences of unknown length, which we have none of.
    Uint8Array::from(postcard::to_allocvec(value).unwrap_or_default().as_slice()).into()
}

fn unpacked<T: for<'de> Deserialize<'de>>(bytes: &JsValue) -> Option<T> {
    postcard::from_bytes(&bytes.dyn_ref::<Uint8Array>()?.to_vec()).ok()
}
