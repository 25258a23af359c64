//! Cache of large decoded files in the browser's private file system (OPFS), so that they open faster the next time.
//!
//! The cache is optional. If the browser does not support it, has no room or has lost an entry, the original file is
//! read.

use super::app::App;
use super::cache_state::CachedLoad;
use super::dom::flag_options;
use super::recent::{JsResult, await_value, call_method, property};
use super::storage::{load_value, store};
use compare::FileSlot;
use gloo::timers::callback::Timeout;
use js_sys::{Array, Date, Uint8Array};
use protocol::LoadRange;
use ui::prefs::cache_index::{CacheIndex, MIN_FILE_BYTES, key};
use ui::state::effect::Origin;
use ui::text::fingerprint::{FingerprintHasher, parts};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Blob, File, HtmlScriptElement};

/// Storage key of the list of cached files.
const INDEX_KEY: &str = "memscape.kept";
/// Folder of the cached files.
const FOLDER: &str = "kept";
/// Time, in milliseconds, that the worker must be idle before a cache entry is written, so that writing delays no
/// response, and the entry has all reports.
const QUIET_MS: u32 = 1000;

/// Makes the worker read a file, or its cached version if there is one.
pub(super) fn read(app: &'static App, file: File, member: Option<u32>, (load, which): (u32, FileSlot)) {
    let changed = modified_ms(&file);
    let may_be_kept = which == FileSlot::First && member.is_none() && is_cacheable(app, &file);
    if !may_be_kept || !load_index(app).may_have(file.size() as u64, changed) {
        app.client.open(&file, member, (load, which));
        return;
    }
    app.busy.spawn(async move {
        let found = look_up(app, &file).await;
        if !ui::plot::comparing::is_current_load(&app.state.borrow(), load) {
            return;
        }
        let columns = found.map(|(columns, fingerprint, key)| {
            app.cache.current.replace(Some(CachedLoad { load, member, file: file.clone(), fingerprint, key }));
            columns
        });
        app.client.open(&columns.unwrap_or(file), member, (load, which));
    });
}

/// Handles a failed load. If the load read a cached file, removes the cache entry, reads the original file and returns
/// true.
pub(super) fn retry_without_cache(app: &'static App, load: u32) -> bool {
    let answered = app.cache.current.borrow_mut().take_if(|answered| answered.load == load);
    let Some(CachedLoad { load, member, file, key, .. }) = answered else { return false };
    remove(app, key);
    app.cache.damaged.set(Some((load, file.size() as u64)));
    app.client.open(&file, member, (load, FileSlot::First));
    true
}

/// Caches a file that was read, if it is large enough. `print` is its fingerprint.
pub(super) fn cache_file(app: &'static App, load: u32, print: String) {
    let file = {
        let state = app.state.borrow();
        let choice =
            state.snapshots.get(state.snapshot_index).filter(|choice| state.load == load && choice.member.is_none());
        // A load of only a range of events is not cached.
        let choice = choice.filter(|choice| choice.load.is_none_or(|range| range == LoadRange::ALL));
        match choice.map(|choice| &choice.origin) {
            Some(Origin::File(place)) => app.files.get(*place),
            _ => None,
        }
    };
    let Some(file) = file.filter(|file| is_cacheable(app, file)) else { return };
    write_later(app, load, print, file);
}

/// Writes the cache entry once the worker has been idle for a while, provided that the file is still open.
fn write_later(app: &'static App, load: u32, print: String, file: File) {
    let received = app.client.received_count();
    let later = move || {
        let is_open = {
            let state = app.state.borrow();
            state.file().is_some() && state.load == load
        };
        if !is_open {
            return;
        }
        if app.client.received_count() != received || !app.client.is_idle() {
            write_later(app, load, print, file);
            return;
        }
        spawn_local(async move {
            let key = key(&print, modified_ms(&file));
            let failed = match write(app, load, &key, &file).await {
                Ok(_) => None,
                Err(cause) => {
                    remove(app, key);
                    let name = property(&cause, "name").ok().and_then(|name| name.as_string());
                    let is_full = name.as_deref() == Some("QuotaExceededError");
                    Some(if is_full {
                        "The browser has no room for more."
                    } else {
                        "This browser keeps nothing for this page."
                    })
                }
            };
            app.cache.failed.set(failed);
            app.frame.request();
        });
    };
    Timeout::new(QUIET_MS, later).forget();
}

/// Removes all cache entries.
pub(super) fn clear(app: &'static App) {
    store(&app.dom, INDEX_KEY, "");
    app.cache.failed.set(None);
    spawn_local(async move {
        let remove = async {
            let options = flag_options("recursive");
            await_value(call_method(&root(app).await?, "removeEntry", &[FOLDER.into(), options])?).await
        };
        // Fails if the folder does not exist.
        drop(remove.await);
        app.frame.request();
    });
}

/// Returns the text about the cache that the settings dialog shows.
pub(super) fn summary(app: &App) -> String {
    let index_summary = load_index(app).summary();
    app.cache.failed.get().map_or(index_summary.clone(), |failed| [&index_summary, " ", failed].concat())
}

fn is_cacheable(app: &App, file: &File) -> bool {
    // Nothing is stored of a file that another page sent.
    file.size() >= MIN_FILE_BYTES as f64 && !app.state.borrow().settings.no_cache && app.files.sender().is_none()
}

fn modified_ms(file: &File) -> u64 {
    file.last_modified().max(0.0) as u64
}

fn load_index(app: &App) -> CacheIndex {
    CacheIndex::parse(&load_value(&app.dom, INDEX_KEY).unwrap_or_default(), &build_id(app))
}

fn update_index<T>(app: &App, change: impl FnOnce(&mut CacheIndex, u64) -> T) -> T {
    // Another tab may have changed the list, so it is read again immediately before writing.
    let mut kept = load_index(app);
    let done = change(&mut kept, Date::now() as u64);
    store(&app.dom, INDEX_KEY, &kept.to_text(&build_id(app)));
    done
}

/// Returns the name of the page's script, which differs between builds. Empty for the single-file page.
fn build_id(app: &App) -> String {
    let script = app.dom.document.query_selector("script[defer]").ok().flatten();
    let address = script.and_then(|script| script.dyn_into::<HtmlScriptElement>().ok()).map(|script| script.src());
    let address = address.unwrap_or_default();
    address.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Looks up a file in the cache. Returns its cached version (under the original name), its fingerprint, and the key of
/// the cache entry.
async fn look_up(app: &App, file: &File) -> Option<(File, String, String)> {
    let length = file.size() as u64;
    let mut tap = FingerprintHasher::new(length);
    for part in parts(length) {
        tap.skip_to(part.start);
        let slice = file.slice_with_f64_and_f64(part.start as f64, part.end as f64).ok()?;
        tap.update(&Uint8Array::new(&await_value(slice.array_buffer().into()).await.ok()?).to_vec());
    }
    let print = tap.finish()?;
    let key = key(&print, modified_ms(file));
    if !update_index(app, |kept, now_ms| kept.touch(&key, now_ms)) {
        return None;
    }
    let columns = async {
        let handle = await_value(call_method(&folder(app).await?, "getFileHandle", &[key.clone().into()])?).await?;
        let columns: Blob = await_value(call_method(&handle, "getFile", &[])?).await?.dyn_into()?;
        File::new_with_blob_sequence(&Array::of1(&columns), &file.name())
    };
    match columns.await {
        Ok(columns) => Some((columns, print, key)),
        Err(_) => {
            update_index(app, |kept, _| kept.remove(&key));
            None
        }
    }
}

async fn write(app: &'static App, load: u32, key: &str, file: &File) -> JsResult {
    let folder = folder(app).await?;
    // The list does not distinguish builds of the single-file page, so only the columns format is safe there. The cache
    // format may differ between builds.
    let written =
        if build_id(app).is_empty() { app.client.request_columns(load) } else { app.client.request_cache_file(load) };
    let columns = await_value(written.into()).await?;
    // Some snapshots cannot be written as columns, and those of compressed files may be much larger than the file.
    let Some(columns) = columns.dyn_ref::<Blob>().filter(|columns| columns.size() < 4.0 * file.size()) else {
        return Ok(JsValue::NULL);
    };
    let bytes = columns.size() as u64;
    let Some(gone) = update_index(app, |kept, _| kept.make_room(bytes)) else { return Ok(JsValue::NULL) };
    for gone in gone {
        // An entry that another tab reads stays until it is written again.
        let _ = await_value(call_method(&folder, "removeEntry", &[gone.into()])?).await;
    }
    let handle = await_value(call_method(&folder, "getFileHandle", &[key.into(), flag_options("create")])?).await?;
    // The file appears when it is closed, so a partly written file is never used.
    let writable = await_value(call_method(&handle, "createWritable", &[])?).await?;
    await_value(call_method(&writable, "write", &[columns.into()])?).await?;
    await_value(call_method(&writable, "close", &[])?).await?;
    update_index(app, |kept, now_ms| kept.add(key.to_owned(), bytes, now_ms));
    Ok(JsValue::NULL)
}

/// Removes a cache entry.
fn remove(app: &'static App, key: String) {
    update_index(app, |kept, _| kept.remove(&key));
    spawn_local(async move {
        let remove = async { await_value(call_method(&folder(app).await?, "removeEntry", &[key.into()])?).await };
        drop(remove.await);
    });
}

/// Returns the cache folder, and creates it if it is missing.
async fn folder(app: &App) -> JsResult {
    await_value(call_method(&root(app).await?, "getDirectoryHandle", &[FOLDER.into(), flag_options("create")])?).await
}

async fn root(app: &App) -> JsResult {
    await_value(call_method(&property(&app.dom.window.navigator(), "storage")?, "getDirectory", &[])?).await
}
