//! Workers that scan the files of many ranks. The gatherer collects results, and the readers scan one file at a time.
//!
//! ```text
//! ["files", [name]]                 start to gather results of these files
//! ["surveyed", place, bytes]        scan result of the file with this index
//! ["failed", place, text]           error of the file with this index
//! ["ask", serial, rows, order]      request the report, with at most `rows` rows, in the order with this index
//! ["names", text]                   use this pattern to read ranks from names
//! ["cut", text]                     sentence about files that are not scanned
//! ["open", place, name, length, member, memory]
//!                                   scan a file of `length` bytes; member −1 is its first snapshot;
//!                                   tables take at most `memory` bytes
//! ["export", device, name, length, memory, job, trace]
//!                                   write (ExportJob, CategorySet, LoadRange), optionally into a trace
//! ["bytes", bytes]                  the requested bytes, empty at the end
//! ["ready"]                         the worker is ready
//! ["want", offset]                  request the bytes from this offset on
//! ["surveyed" …], ["failed" …]      as above, followed by the size of the worker's memory
//! ["answer", bytes]                 reply with a report
//! ["wrote", blob]                   exported file; or ["failed", text]
//! ["died", text]                  the worker panicked
//! ```

use super::exporting::ExportRun;
use base::slice::TimeSlice;
use compare::ranks::{FileSurvey, Order, SurveyProgress};
use engine::{OpenedFile, Opening};
use gloo::events::EventListener;
use js_sys::{Array, Uint8Array, WebAssembly};
use protocol::{Answer, NeededBytes, Reply, decode, encode};
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    if let Err(cause) = listen() {
        // The bootstrap reports it to the page.
        wasm_bindgen::throw_val(cause);
    }
}

fn listen() -> Result<(), JsValue> {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().dyn_into()?;
    std::panic::set_hook(Box::new({
        let scope = scope.clone();
        move |panic| post(&scope, &Array::of2(&"died".into(), &panic.to_string().into()))
    }));
    let shell = Shell { scope: scope.clone(), reading: RefCell::default(), gathering: RefCell::default() };
    let listener = EventListener::new(&scope, "message", move |event| {
        if let Some(event) = event.dyn_ref::<MessageEvent>() {
            // Invalid messages are ignored.
            let _ = shell.receive(event.data().unchecked_ref());
        }
    });
    // The listener lives as long as the worker.
    listener.forget();
    post(&scope, &Array::of1(&"ready".into()));
    Ok(())
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &Array) {
    // Fails only for values that cannot be cloned. Strings, numbers and bytes can be.
    let _ = scope.post_message(message);
}

struct Shell {
    scope: DedicatedWorkerGlobalScope,
    reading: RefCell<Option<FileReading>>,
    gathering: RefCell<SurveyProgress>,
}

/// File that is being read.
struct FileReading {
    purpose: Purpose,
    opening: Opening,
    /// Offset, in the file, of the next bytes to request.
    offset: u64,
}

/// Reason for reading a file.
enum Purpose {
    /// Scan of the file with this index.
    Survey(u32),
    Export(Box<ExportRun>),
}

impl Shell {
    fn receive(&self, message: &Array) -> Option<()> {
        let number = |at| message.get(at).as_f64();
        match message.get(0).as_string()?.as_str() {
            "files" => {
                let files = Array::from(&message.get(1)).iter().filter_map(|name| name.as_string()).collect();
                self.gathering.replace(SurveyProgress::new(files));
            }
            "surveyed" => {
                let of = decode(&message.get(2).dyn_ref::<Uint8Array>()?.to_vec())?;
                self.gathering.borrow_mut().add(number(1)? as u32, Ok(of));
            }
            "failed" => self.gathering.borrow_mut().add(number(1)? as u32, Err(message.get(2).as_string()?)),
            "ask" => {
                let order = Order::ALL.get(number(3)? as usize).copied().unwrap_or_default();
                let report = self.gathering.borrow().report(number(2)? as usize, order);
                let reply = Reply::Answer { serial: number(1)? as u32, answer: Answer::Report(Box::new(report)) };
                post(&self.scope, &Array::of2(&"answer".into(), &Uint8Array::from(&*encode(&reply))));
            }
            "names" => self.gathering.borrow_mut().set_pattern(message.get(1).as_string()?),
            "cut" => self.gathering.borrow_mut().set_omitted_note(message.get(1).as_string()?),
            "open" => {
                let (place, name) = (number(1)? as u32, message.get(2).as_string()?);
                let member = number(4).filter(|&member| member >= 0.0).map(|member| member as u32);
                let opening = Opening::new(name, number(3)? as u64, member, number(5)? as u64);
                self.reading.replace(Some(FileReading { purpose: Purpose::Survey(place), opening, offset: 0 }));
                self.work();
            }
            "export" => {
                let (device, name) = (number(1)? as i64, message.get(2).as_string()?);
                let trace = message.get(6).dyn_into().ok();
                let exporting = ExportRun::new(device, &message.get(5).dyn_ref::<Uint8Array>()?.to_vec(), trace)?;
                let opening = Opening::new(name, number(3)? as u64, None, number(4)? as u64);
                let opening = opening.with_range(exporting.range);
                let purpose = Purpose::Export(Box::new(exporting));
                self.reading.replace(Some(FileReading { purpose, opening, offset: 0 }));
                self.work();
            }
            "bytes" => {
                let bytes = message.get(1).dyn_ref::<Uint8Array>()?.to_vec();
                if let Some(reading) = &mut *self.reading.borrow_mut() {
                    reading.offset += bytes.len() as u64;
                    reading.opening.feed(bytes);
                }
                self.work();
            }
            _ => {}
        }
        Some(())
    }

    /// Works until more bytes are needed or the file is done. It blocks the worker, so the page cancels by terminating
    /// it.
    fn work(&self) {
        let mut slot = self.reading.borrow_mut();
        let Some(reading) = &mut *slot else { return };
        let Some(opened) = reading.step() else {
            post(&self.scope, &Array::of2(&"want".into(), &(reading.offset as f64).into()));
            return;
        };
        let message = match &reading.purpose {
            Purpose::Export(exporting) => match opened.and_then(|opened| exporting.write(opened)) {
                Ok(blob) => Array::of2(&"wrote".into(), &blob),
                Err(error) => Array::of2(&"failed".into(), &error.into()),
            },
            Purpose::Survey(place) => {
                let place = JsValue::from(*place);
                let memory = wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer();
                let memory = js_sys::ArrayBuffer::from(memory).byte_length().into();
                match opened.and_then(|opened| survey_file(&opened)) {
                    Ok(bytes) => Array::of4(&"surveyed".into(), &place, &Uint8Array::from(&*bytes), &memory),
                    Err(error) => Array::of4(&"failed".into(), &place, &error.into(), &memory),
                }
            }
        };
        *slot = None;
        post(&self.scope, &message);
    }
}

/// Scans an open file and returns the encoded result.
fn survey_file(opened: &OpenedFile) -> Result<Vec<u8>, String> {
    let mut has_time = || true;
    let slice = &mut TimeSlice::new(&mut has_time);
    let mut survey = FileSurvey::new(&opened.summary())?;
    loop {
        if let Ok(of) = survey.step(|device| opened.side(device), slice) {
            return Ok(encode(&of));
        }
    }
}

impl FileReading {
    /// Decodes the bytes received so far. Returns `None` if more bytes are needed to open the file.
    fn step(&mut self) -> Option<Result<OpenedFile, String>> {
        let mut has_time = || true;
        let slice = &mut TimeSlice::new(&mut has_time);
        loop {
            match self.opening.wants() {
                Some(NeededBytes::At(offset)) => {
                    self.offset = offset;
                    return None;
                }
                Some(NeededBytes::Next) => return None,
                Some(NeededBytes::WholeFile) => return Some(Err("the file can't be read from anywhere".to_owned())),
                None => {}
            }
            if let Some(opened) = self.opening.step(slice).transpose() {
                return Some(opened);
            }
        }
    }
}
