//! The worker's shell. One gathers what the others find; each of the others reads one file after the other, and its memory goes with it.
//!
//! ```text
//! ["files", [name]]                           gathers from now on, of these files
//! ["surveyed", place, bytes]                  the file of this place: an OfFile
//! ["failed", place, text]                     or why it can't be read
//! ["ask", serial, rows]                       the insight is wanted
//! ["open", place, name, length, member, most] reads a file of so many bytes; member −1: the first; tables take `most` bytes at most
//! ["bytes", bytes]                            those that it wants; none at the end
//! ["ready"]                                   it listens
//! ["want", offset]                            the bytes from there on are wanted
//! ["surveyed" …], ["failed" …]                as above, with the bytes of its memory behind
//! ["answer", bytes]                           a Reply with a Report
//! ["died", text]
//! ```

use super::gathering::Gathering;
use base::slice::Slice;
use compare::ranks::FileSurvey;
use engine::Opening;
use engine::protocol::{Answer, Reply, Want, decoded, encoded};
use gloo::events::EventListener;
use js_sys::{Array, Uint8Array, WebAssembly};
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

/// Answers the page until the page ends the worker.
pub(super) fn start() {
    if let Err(cause) = listen() {
        // The bootstrap passes it on to the page.
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
            // What is not one of ours says nothing.
            let _ = shell.receive(event.data().unchecked_ref());
        }
    });
    // It listens as long as the worker lives.
    listener.forget();
    post(&scope, &Array::of1(&"ready".into()));
    Ok(())
}

fn post(scope: &DedicatedWorkerGlobalScope, message: &Array) {
    // It fails only for what can't be cloned, and texts, numbers and bytes can.
    let _ = scope.post_message(message);
}

struct Shell {
    scope: DedicatedWorkerGlobalScope,
    reading: RefCell<Option<Reading>>,
    gathering: RefCell<Gathering>,
}

/// A file that is read.
struct Reading {
    place: u32,
    opening: Opening,
    /// Where the next bytes are.
    offset: u64,
}

impl Shell {
    fn receive(&self, message: &Array) -> Option<()> {
        let number = |at| message.get(at).as_f64();
        match message.get(0).as_string()?.as_str() {
            "files" => {
                let files = Array::from(&message.get(1)).iter().filter_map(|name| name.as_string()).collect();
                self.gathering.replace(Gathering::of(files));
            }
            "surveyed" => {
                let of = decoded(&message.get(2).dyn_ref::<Uint8Array>()?.to_vec())?;
                self.gathering.borrow_mut().take(number(1)? as u32, Ok(of));
            }
            "failed" => self.gathering.borrow_mut().take(number(1)? as u32, Err(message.get(2).as_string()?)),
            "ask" => {
                let report = self.gathering.borrow().report(number(2)? as usize);
                let reply = Reply::Answer { serial: number(1)? as u32, answer: Answer::Report(Box::new(report)) };
                post(&self.scope, &Array::of2(&"answer".into(), &Uint8Array::from(&*encoded(&reply))));
            }
            "open" => {
                let (place, name) = (number(1)? as u32, message.get(2).as_string()?);
                let member = number(4).filter(|&member| member >= 0.0).map(|member| member as u32);
                let opening = Opening::new(name, number(3)? as u64, member, number(5)? as u64);
                self.reading.replace(Some(Reading { place, opening, offset: 0 }));
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

    /// Works until bytes are wanted or the file is done. The worker does nothing else meanwhile: who wants it no longer ends it.
    fn work(&self) {
        let mut slot = self.reading.borrow_mut();
        let Some(reading) = &mut *slot else { return };
        let Some(done) = reading.step() else {
            post(&self.scope, &Array::of2(&"want".into(), &(reading.offset as f64).into()));
            return;
        };
        let place = JsValue::from(reading.place);
        *slot = None;
        let memory = wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer();
        let memory = js_sys::ArrayBuffer::from(memory).byte_length().into();
        let message = match done {
            Ok(bytes) => Array::of4(&"surveyed".into(), &place, &Uint8Array::from(&*bytes), &memory),
            Err(error) => Array::of4(&"failed".into(), &place, &error.into(), &memory),
        };
        post(&self.scope, &message);
    }
}

impl Reading {
    /// Works until bytes are wanted (`None`) or all is known.
    fn step(&mut self) -> Option<Result<Vec<u8>, String>> {
        let mut has_time = || true;
        let slice = &mut Slice::new(&mut has_time);
        loop {
            match self.opening.wants() {
                Some(Want::At(offset)) => {
                    self.offset = offset;
                    return None;
                }
                Some(Want::Next) => return None,
                Some(Want::Whole) => return Some(Err("the file can't be read from anywhere".to_owned())),
                None => {}
            }
            let opened = match self.opening.step(slice) {
                Ok(None) => continue,
                Ok(Some(opened)) => opened,
                Err(error) => return Some(Err(error)),
            };
            return Some(FileSurvey::new(&opened.summary()).map(|mut survey| {
                loop {
                    if let Ok(of) = survey.step(|device| opened.side(device), slice) {
                        return encoded(&of);
                    }
                }
            }));
        }
    }
}
