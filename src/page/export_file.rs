//! Export of a device, or of a simulated run, to a file of another format. A worker receives the columns of the
//! snapshot and writes the file, so the page stays responsive. The worker uses the wasm of the rank scan, which is
//! loaded when first needed.

use super::app::App;
use super::surveyor::{MAX_TABLE_BYTES, PIECE_BYTES};
use super::thread::WorkerThread;
use super::{dom, export, gzip};
use js_sys::{Array, Function, Promise, Uint8Array};
use protocol::{ExportJob, encode};
use std::cell::RefCell;
use std::rc::Rc;
use ui::features::export::ExportAction;
use ui::features::what_if::WhatIfAction;
use ui::shell::action::Action;
use ui::state::comparing::ComparingAction;
use ui::state::effect::{AfterWrite, FileToWrite, GivenFile, Origin};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, File};

/// Writes the file, then saves it or opens it in the page.
pub(super) fn write(app: &'static App, wanted: Box<FileToWrite>) {
    app.busy.spawn(async move {
        let load = app.state.borrow().load;
        let exported = run_export(app, &wanted).await;
        if wanted.next != AfterWrite::Save {
            let is_open = app.state.borrow().load == load;
            // If another file was opened meanwhile, the result is dropped.
            if is_open {
                let opened =
                    exported.and_then(|blob| to_file(&blob, &wanted)).map_err(|error| dom::error_message(&error));
                let (written, file) = match opened {
                    Ok(file) => (Ok(()), Some(file)),
                    Err(cause) => (Err(cause), None),
                };
                app.dispatch(Action::feature(WhatIfAction::Written(written)));
                file.into_iter().for_each(|file| open_in_page(app, file, wanted.next));
            }
            return;
        }
        let saved = exported.and_then(|blob| export::download(app, &blob, &wanted.file));
        let saved = saved.map(|()| wanted.file.clone()).map_err(|error| dom::error_message(&error));
        app.dispatch(Action::feature(ExportAction::FileWritten(saved)));
    });
}

/// Opens the file in the page, in addition to the files that the user gave.
fn open_in_page(app: &'static App, file: File, then: AfterWrite) {
    let given = vec![GivenFile { name: file.name(), bytes: file.size() as u64 }];
    let from = app.files.add(std::iter::once(file));
    app.recent.clear_pending();
    app.dispatch(match then {
        AfterWrite::Compare => Action::Comparing(ComparingAction::FilesGiven(from, given)),
        _ => Action::FilesAdded(from, given),
    });
}

fn to_file(blob: &Blob, wanted: &FileToWrite) -> Result<File, JsValue> {
    File::new_with_blob_sequence(&Array::of1(blob), &wanted.file)
}

async fn run_export(app: &'static App, wanted: &FileToWrite) -> Result<Blob, JsValue> {
    // The file is looked up now, because others may be dropped meanwhile.
    let file = if let Origin::File(place) = wanted.snapshot.origin { app.files.get(place) } else { None };
    let range = {
        let state = app.state.borrow();
        let choice = state.snapshots.get(state.snapshot_index).filter(|_| wanted.snapshot.load == state.load);
        // Snapshots are always written from the whole file.
        choice.filter(|_| matches!(wanted.job, ExportJob::Format(_))).and_then(|choice| choice.load)
    };
    let range = range.unwrap_or_default();
    let source: Blob = match JsFuture::from(app.client.request_columns(wanted.snapshot.load)).await?.dyn_into() {
        Ok(columns) => columns,
        // Without columns, the file is read again, unless it came from a link.
        Err(why) => file.ok_or(why)?.into(),
    };
    let (script, module) = app.surveyor.code().get_or_load().await?;
    let event: Rc<RefCell<Option<[Function; 2]>>> = Rc::default();
    let promise = Promise::new(&mut |resolve, reject| drop(event.replace(Some([resolve, reject]))));
    let end = move |at: usize, value: &JsValue| {
        if let Some(ends) = event.take() {
            // The resolve and reject functions return nothing of interest.
            let _ = ends.get(at).map(|end| end.call1(&JsValue::NULL, value));
        }
    };
    let slot: Rc<RefCell<Option<WorkerThread>>> = Rc::default();
    let job = Uint8Array::from(&*encode(&(&wanted.job, &wanted.categories, range)));
    let open = Array::of5(
        &"export".into(),
        &(wanted.device as f64).into(),
        &(&*wanted.snapshot.name).into(),
        &source.size().into(),
        &MAX_TABLE_BYTES.into(),
    );
    open.push(&job);
    let trace = app.files.trace.borrow().clone();
    if let Some(trace) = trace.filter(|_| wanted.extends_trace) {
        open.push(&match trace.name().ends_with(".gz") {
            true => JsFuture::from(gzip::decompress(&trace)?).await?,
            false => trace.into(),
        });
    }
    let thread_slot = slot.clone();
    let on_message = move |event: Result<JsValue, String>| {
        let message: Array = match event {
            Ok(message) => message.unchecked_into(),
            Err(cause) => return end(1, &cause.into()),
        };
        let send = |message: &Array| {
            // Fails only for values that cannot be cloned.
            thread_slot.borrow().iter().for_each(|thread| drop(thread.worker.post_message(message)));
        };
        match message.get(0).as_string().unwrap_or_default().as_str() {
            "ready" => send(&open),
            "want" => {
                let (from, thread_slot, source, end) =
                    (message.get(1).as_f64().unwrap_or(0.0), thread_slot.clone(), source.clone(), end.clone());
                spawn_local(async move {
                    let piece = source.slice_with_f64_and_f64(from, (from + PIECE_BYTES).min(source.size()));
                    let bytes = match piece {
                        Ok(piece) => JsFuture::from(piece.array_buffer()).await,
                        Err(cause) => Err(cause),
                    };
                    match bytes {
                        Ok(bytes) => {
                            let message = Array::of2(&"bytes".into(), &Uint8Array::new(&bytes));
                            thread_slot.borrow().iter().for_each(|thread| drop(thread.worker.post_message(&message)));
                        }
                        Err(cause) => end(1, &cause),
                    }
                });
            }
            "wrote" => end(0, &message.get(1)),
            _ => end(1, &message.get(1)),
        }
    };
    slot.replace(Some(WorkerThread::new(&script, &module, on_message)?));
    let written = JsFuture::from(promise).await;
    // Frees the worker's memory.
    drop(slot.take());
    let blob: Blob = written?.dyn_into()?;
    if !wanted.is_gzipped {
        return Ok(blob);
    }
    Ok(JsFuture::from(gzip::compress(&blob)?).await?.unchecked_into())
}
