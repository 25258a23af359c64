//! Saves the open snapshot in a single-file page, in the format of `memscape html`.
//!
//! If this page is a single file, its document as originally delivered is used as the template. Otherwise,
//! `memscape.html` on the same server is used. The page is assembled as a blob, which the browser may store on disk,
//! and never as one string.

use super::app::App;
use super::dom::{self, Dom, append};
use super::{address, embedded, export, export_file, gzip};
use base::units::Bytes;
use js_sys::{Array, JsString, Promise, Uint8Array};
use ui::features::save_page;
use ui::features::save_page::{ELEMENTS, MAX_SNAPSHOT_BYTES, SaveProgress, SnapshotEncoding, insert_offset, start_tag};
use ui::shell::action::Action;
use ui::state::effect::{Origin, PageToSave, SnapshotToSave};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Element, File, FileReader, RequestCache, RequestInit, Response};

/// URL of the single-file page, relative to a page that consists of separate files.
const SINGLE_FILE: &str = "memscape.html";
/// URL of the additional part that a single-file page with SQL support contains.
const SQL_PART: &str = "sql-part.html";
/// Number of bytes that are compressed or base64-encoded at a time. A multiple of 3, so that only the last piece has
/// padding.
const PIECE_BYTES: f64 = (12 << 20) as f64;

/// Returns a copy of this document as originally delivered, without its snapshot. `None` if the page consists of
/// separate files. Must be called before the document is changed.
pub(super) fn original_page(dom: &Dom) -> Option<Element> {
    dom.document.get_element_by_id("part-wasm")?;
    // The snapshots are removed before copying. Chromium shares the text between copies, but not every browser does,
    // and it may be long.
    let snapshots = ELEMENTS.map(|id| dom.document.get_element_by_id(id));
    snapshots.iter().flatten().for_each(Element::remove);
    let copy = dom.document.document_element()?.clone_node_with_deep(true);
    snapshots.iter().flatten().for_each(|snapshot| append(&dom.body, snapshot));
    copy.ok()?.dyn_into().ok()
}

/// Builds the page and lets the browser save it.
pub(super) fn save(app: &'static App, wanted: Box<PageToSave>) {
    // The files are looked up now, because others may be dropped meanwhile.
    let file = |of: &SnapshotToSave| if let Origin::File(place) = of.origin { app.files.get(place) } else { None };
    let files: Vec<Option<File>> = wanted.snapshots.iter().map(file).collect();
    app.busy.spawn(async move {
        let step = build_page(app, &wanted, &files)
            .await
            .unwrap_or_else(|cause| SaveProgress::Failed(dom::error_message(&cause)));
        app.dispatch(Action::feature(step));
    });
}

// One async function, because each one adds a few kilobytes of wasm.
async fn build_page(
    app: &'static App,
    page_to_save: &PageToSave,
    files: &[Option<File>],
) -> Result<SaveProgress, JsValue> {
    let mut beside = Vec::new();
    match &app.original_page {
        Some(delivered) => beside.push(["<!doctype html>\n", &delivered.outer_html()].concat()),
        None => {
            let all = [(SINGLE_FILE, "the single-file page"), (SQL_PART, "its part for SQL")];
            for (name, what) in all.into_iter().take(1 + usize::from(page_to_save.has_sql)) {
                let response = JsFuture::from(fetch(app, name)?).await;
                let response = check_response(response).map_err(|cause| {
                    let then = "). Use the command memscape html instead";
                    error(&[name, ", ", what, ", is missing next to this page (", &cause, then])
                })?;
                beside.push(JsFuture::from(response.text()?).await?.as_string().unwrap_or_default());
            }
        }
    }
    let mut beside = beside.into_iter();
    let (page, sql) = (beside.next().unwrap_or_default(), beside.next().unwrap_or_default());
    let at = insert_offset(&page).map_err(|what| error(&[SINGLE_FILE, " ", what]))?;
    let (head, tail) = page.split_at(at);
    let parts = Array::of2(&head.into(), &sql.into());
    let mut saved = (0.0, SnapshotEncoding::Unchanged);
    let mut opens_with = page_to_save.opens_with.clone();
    for ((wanted, file), id) in page_to_save.snapshots.iter().zip(files).zip(ELEMENTS) {
        parts.push(&start_tag(id, &wanted.name, &mut opens_with).into());
        let is_private = page_to_save.leave_out.is_any();
        let embedded = match &wanted.origin {
            Origin::Link(link) if !is_private => embedded::base64(&app.dom, link),
            _ => None,
        };
        let (bytes, packing);
        if let Some(letters) = embedded {
            (bytes, packing) =
                (f64::from(letters.unchecked_ref::<JsString>().length() / 4 * 3), SnapshotEncoding::Unchanged);
            parts.push(&text_blob(&letters)?);
        } else {
            let lost = |_: JsValue| {
                error(&[&wanted.name, " could not be read again. It may have been changed, moved or removed."])
            };
            let mut smallest: Option<(Blob, SnapshotEncoding)> = None;
            for mut how in [SnapshotEncoding::Columns, SnapshotEncoding::Compressed] {
                let is_file = how == SnapshotEncoding::Compressed;
                if is_private && is_file {
                    break;
                }
                // The file of a link would have to be downloaded again, which is not worth a slightly smaller page.
                if smallest.is_some() && is_file && matches!(wanted.origin, Origin::Link(_)) {
                    break;
                }
                // A file that cannot be read is no error if there are columns.
                let found: Result<Option<Blob>, JsValue> = async {
                    let blob: Blob = match &wanted.origin {
                        _ if is_private => export_file::run_export(app, &page_to_save.columns_of(wanted)).await?,
                        _ if !is_file => {
                            match JsFuture::from(app.client.request_columns(wanted.load)).await?.dyn_into() {
                                Ok(columns) => columns,
                                Err(_) => return Ok(None),
                            }
                        }
                        Origin::File(_) => file.clone().ok_or_else(|| lost(JsValue::NULL))?.into(),
                        Origin::Link(link) => {
                            let link = address::resolve(&app.dom, link).map_err(|cause| error(&[&cause]))?;
                            let response = JsFuture::from(fetch(app, &link.url)?).await;
                            let again = |cause: String| error(&[&wanted.name, " could not be fetched again: ", &cause]);
                            JsFuture::from(check_response(response).map_err(again)?.blob()?)
                                .await
                                .map_err(lost)?
                                .unchecked_into()
                        }
                    };
                    let first =
                        JsFuture::from(blob.slice_with_i32_and_i32(0, 4)?.array_buffer()).await.map_err(lost)?;
                    match save_page::compression(&Uint8Array::new(&first).to_vec()) {
                        Some("zip") => {
                            let why = " is a zip archive: open a snapshot inside it instead";
                            return Err(error(&[&wanted.name, why]));
                        }
                        Some(_) => {
                            how = SnapshotEncoding::Unchanged;
                            return Ok(Some(blob));
                        }
                        None => {}
                    }
                    // Compressed piece by piece. A gzip file may consist of several members.
                    let max_bytes = smallest.as_ref().map_or(f64::INFINITY, |(blob, _)| blob.size());
                    let (members, mut offset, mut size) = (Array::new(), 0.0, 0.0);
                    while offset < blob.size() && size < max_bytes {
                        let piece = slice(&blob, offset)?;
                        offset += piece.size();
                        let member: Blob =
                            JsFuture::from(gzip::compress(&piece)?).await.map_err(lost)?.unchecked_into();
                        size += member.size();
                        members.push(&member);
                        app.dispatch(Action::feature(SaveProgress::Done(offset as u64, blob.size() as u64)));
                    }
                    Blob::new_with_blob_sequence(&members).map(Some)
                }
                .await;
                match found {
                    Ok(Some(blob)) if smallest.as_ref().is_none_or(|(other, _)| blob.size() < other.size()) => {
                        smallest = Some((blob, how));
                    }
                    Err(cause) if smallest.is_none() => return Err(cause),
                    _ => {}
                }
            }
            let Some((blob, how)) = smallest else { return Err(error(&[&wanted.name, " is no longer open"])) };
            (bytes, packing) = (blob.size(), how);
            if bytes > MAX_SNAPSHOT_BYTES as f64 {
                return Err(error(&[
                    &wanted.name,
                    ": the page would contain ",
                    &Bytes(bytes as u64).to_string(),
                    ", too large for a browser. Share the snapshot file instead",
                ]));
            }
            let mut offset = 0.0;
            while offset < bytes {
                let piece = slice(&blob, offset)?;
                offset += piece.size();
                let reader = FileReader::new()?;
                let mut refused = Ok(());
                let read = Promise::new(&mut |resolve, reject| {
                    reader.set_onload(Some(&resolve));
                    reader.set_onerror(Some(&reject));
                    refused = reader.read_as_data_url(&piece);
                });
                refused?;
                JsFuture::from(read).await.map_err(lost)?;
                let address: JsString = reader.result()?.unchecked_into();
                parts.push(&text_blob(&address.slice(address.index_of(",", 0) as u32 + 1, address.length()))?);
            }
        }
        parts.push(&"</script>".into());
        saved = (saved.0 + bytes, packing);
    }
    let (bytes, packing) = saved;
    parts.push(&tail.into());
    let page = Blob::new_with_str_sequence(&parts)?;
    export::download(app, &page, &page_to_save.file)?;
    Ok(SaveProgress::Saved {
        file: page_to_save.file.clone(),
        bytes: page.size() as u64,
        snapshot: bytes as u64,
        packing,
    })
}

/// Fetches a URL, preferably from the browser's HTTP cache. Use only for files that never change or were fetched
/// before.
fn fetch(app: &App, address: &str) -> Result<Promise, JsValue> {
    let options = RequestInit::new();
    options.set_cache(RequestCache::ForceCache);
    Ok(app.dom.window.fetch_with_str_and_init(address, &options))
}

/// Returns a successful response. The error is shown to the user.
fn check_response(response: Result<JsValue, JsValue>) -> Result<Response, String> {
    let response: Response = response.map_err(|cause| dom::error_message(&cause))?.unchecked_into();
    if response.ok() { Ok(response) } else { Err(format!("the server answered {}", response.status())) }
}

fn slice(blob: &Blob, offset: f64) -> Result<Blob, JsValue> {
    blob.slice_with_f64_and_f64(offset, (offset + PIECE_BYTES).min(blob.size()))
}

fn text_blob(text: &JsValue) -> Result<JsValue, JsValue> {
    Ok(Blob::new_with_str_sequence(&Array::of1(text))?.into())
}

/// Creates a JavaScript error with this text.
fn error(text: &[&str]) -> JsValue {
    js_sys::Error::new(&text.concat()).into()
}
