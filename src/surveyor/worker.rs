//! Workers with their own engine. The gatherer collects the results of a survey, the readers survey one file at a time,
//! and another worker writes an export.

use super::exporting::ExportRun;
use base::slice::TimeSlice;
use channel::{Page, attached_bytes, buffer, serve};
use compare::ranks::{FileSurvey, Order, SurveyProgress};
use engine::{OpenedFile, Opening};
use js_sys::{Array, ArrayBuffer, WebAssembly};
use protocol::{Answer, FileToRead, NeededBytes, Reply, SurveyorReply, SurveyorRequest, decode, encode};
use std::cell::RefCell;
use wasm_bindgen::JsCast;

/// Starts the worker, which runs until the page terminates it.
pub(super) fn start() {
    serve(|page| {
        let shell = Shell { page, reading: RefCell::default(), gathering: RefCell::default() };
        Ok(move |request, attachments| {
            // Invalid requests are ignored.
            let _ = shell.receive(request, &attachments);
        })
    });
}

struct Shell {
    page: Page<SurveyorReply>,
    reading: RefCell<Option<FileReading>>,
    gathering: RefCell<SurveyProgress>,
}

/// File that is being read.
struct FileReading {
    /// Export to write. `None` if the file is surveyed.
    export: Option<Box<ExportRun>>,
    opening: Opening,
    /// Offset, in the file, of the next bytes to request.
    offset: u64,
}

impl Shell {
    fn receive(&self, request: SurveyorRequest, attachments: &Array) -> Option<()> {
        match request {
            SurveyorRequest::Gather(files) => drop(self.gathering.replace(SurveyProgress::new(files))),
            SurveyorRequest::Add { file, result } => {
                let result = match result {
                    Ok(()) => Ok(decode(&attached_bytes(attachments, 0)?)?),
                    Err(cause) => Err(cause),
                };
                self.gathering.borrow_mut().add(file, result);
            }
            SurveyorRequest::Report { serial, rows, order } => {
                let order = Order::ALL.get(order as usize).copied().unwrap_or_default();
                let report = self.gathering.borrow().report(rows as usize, order);
                let answer = Answer::Report(Box::new(report));
                self.page.send(&SurveyorReply::Report(Reply::Answer { serial, answer }));
            }
            SurveyorRequest::SetNamePattern(typed) => self.gathering.borrow_mut().set_pattern(typed),
            SurveyorRequest::NoteOmitted(sentence) => self.gathering.borrow_mut().set_omitted_note(sentence),
            SurveyorRequest::Survey(file) => self.read(None, opening(file)),
            SurveyorRequest::Export { file, device, job, categories, range, leave_out } => {
                let trace = attachments.get(0).dyn_into().ok();
                let export = ExportRun { device, job, categories, trace };
                let mut opening = opening(file).with_range(range);
                if leave_out.is_any() {
                    opening.leave_out(leave_out);
                }
                self.read(Some(Box::new(export)), opening);
            }
            SurveyorRequest::Bytes => {
                let bytes = attached_bytes(attachments, 0)?;
                if let Some(reading) = &mut *self.reading.borrow_mut() {
                    reading.offset += bytes.len() as u64;
                    reading.opening.feed(bytes);
                }
                self.work();
            }
        }
        Some(())
    }

    fn read(&self, export: Option<Box<ExportRun>>, opening: Opening) {
        self.reading.replace(Some(FileReading { export, opening, offset: 0 }));
        self.work();
    }

    /// Works until more bytes are needed or the file is done. It blocks the worker, so the page cancels by terminating
    /// it.
    fn work(&self) {
        let mut slot = self.reading.borrow_mut();
        let Some(reading) = &mut *slot else { return };
        let Some(opened) = reading.step() else { return self.page.send(&SurveyorReply::Need(reading.offset)) };
        let attachments = Array::new();
        let attach = |part| {
            attachments.push(&part);
        };
        let reply = match &reading.export {
            Some(export) => {
                let written = opened.and_then(|opened| export.write(opened));
                SurveyorReply::Exported(written.map(|blob| attach(blob.into())))
            }
            None => {
                let result = opened.and_then(|opened| survey_file(&opened)).map(|bytes| attach(buffer(&bytes)));
                let memory = wasm_bindgen::memory().unchecked_into::<WebAssembly::Memory>().buffer();
                let memory_bytes = ArrayBuffer::from(memory).byte_length().into();
                SurveyorReply::Surveyed { result, memory_bytes }
            }
        };
        *slot = None;
        self.page.send_with(&reply, &attachments);
    }
}

fn opening(file: FileToRead) -> Opening {
    Opening::new(file.name, file.bytes, file.member, file.max_table_bytes)
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
