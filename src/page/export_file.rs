//! Export of a device, or of a simulated run, to a file of another format. A worker receives the columns of the
//! snapshot and writes the file, so the page stays responsive. The worker uses the wasm of the rank scan, which is
//! loaded when first needed.

use super::app::App;
use super::remote::Remote;
use super::surveyor::{MAX_TABLE_BYTES, SurveyorRemote, read_piece};
use super::worker_code::WorkerCode;
use super::{dom, export, gzip, sql_file};
use js_sys::Array;
use protocol::{ExportJob, FileToRead, SurveyorReply, SurveyorRequest};
use std::rc::{Rc, Weak};
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
        let exported = match (run_export(app, &wanted).await, wanted.next) {
            (Ok(columns), AfterWrite::Convert(tool)) => sql_file::convert(app, &columns, &wanted, tool).await,
            (exported, _) => exported,
        };
        if matches!(wanted.next, AfterWrite::Open | AfterWrite::Compare) {
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

/// Writes the file in a worker.
pub(super) async fn run_export(app: &'static App, wanted: &FileToWrite) -> Result<Blob, JsValue> {
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
    let trace = app.files.trace.borrow().clone();
    let attachments = match trace.filter(|_| wanted.extends_trace) {
        None => Array::new(),
        Some(trace) if trace.name().ends_with(".gz") => Array::of1(&JsFuture::from(gzip::decompress(&trace)?).await?),
        Some(trace) => Array::of1(&trace),
    };
    let request = SurveyorRequest::Export {
        file: FileToRead {
            name: wanted.snapshot.name.clone(),
            bytes: source.size() as u64,
            member: None,
            max_table_bytes: MAX_TABLE_BYTES,
        },
        device: wanted.device,
        job: wanted.job.clone(),
        categories: wanted.categories.clone(),
        range,
        leave_out: wanted.leave_out,
    };
    let blob = write_in_worker(app.surveyor.code(), source, &request, &attachments).await?;
    if !wanted.is_gzipped {
        return Ok(blob);
    }
    Ok(JsFuture::from(gzip::compress(&blob)?).await?.unchecked_into())
}

/// Writes an export of the file `source` in a worker, which ends with it. Returns the exported file.
async fn write_in_worker(
    code: Rc<WorkerCode>,
    source: Blob,
    request: &SurveyorRequest,
    attachments: &Array,
) -> Result<Blob, JsValue> {
    let (written, end) = dom::unsettled();
    let remote = Rc::new_cyclic(|remote: &Weak<SurveyorRemote>| {
        let remote = remote.clone();
        Remote::new(code, move |reply| match reply {
            Ok((SurveyorReply::Need(offset), _)) => {
                let (remote, source, end) = (remote.clone(), source.clone(), end.clone());
                spawn_local(async move {
                    match (read_piece(&source, offset).await, remote.upgrade()) {
                        (Ok(bytes), Some(remote)) => remote.send_with(&SurveyorRequest::Bytes, &Array::of1(&bytes)),
                        (Ok(_), None) => {}
                        (Err(cause), _) => end(Err(cause)),
                    }
                });
            }
            Ok((SurveyorReply::Exported(result), attachments)) => {
                end(result.map(|()| attachments.get(0)).map_err(JsValue::from));
            }
            Ok(_) => {}
            Err(cause) => end(Err(cause.into())),
        })
    });
    remote.send_with(request, attachments);
    // The worker's memory is freed when `remote` is dropped.
    JsFuture::from(written).await?.dyn_into()
}
