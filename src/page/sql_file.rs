//! Exports that are written with SQL. A new SQL worker converts the columns of a snapshot and is then terminated.

use super::app::App;
use super::dom;
use super::remote::Remote;
use js_sys::Array;
use protocol::sql::{SqlFile, SqlFormat, SqlReply, SqlRequest};
use ui::state::effect::FileToWrite;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

/// Converts the columns of a snapshot.
pub(super) async fn convert(
    app: &'static App,
    columns: &Blob,
    wanted: &FileToWrite,
    tool: SqlFile,
) -> Result<Blob, JsValue> {
    let code = app.sql.code();
    // A page in a single file may have no SQL.
    let hint = |cause: String| [&cause, ". On the command line it is memscape export --to ", tool.name()].concat();
    code.get_or_load().await.map_err(hint)?;
    let columns = JsFuture::from(columns.array_buffer()).await?;
    let (written, end) = dom::unsettled();
    let remote = Remote::new(code, move |reply| match reply {
        Ok((SqlReply::File(Ok(_)), attachments)) => end(Ok(attachments.get(0))),
        Ok((SqlReply::Opened(Err(cause)) | SqlReply::File(Err(cause)), _)) | Err(cause) => end(Err(cause.into())),
        Ok(_) => {}
    });
    let open = SqlRequest::Open {
        name: wanted.snapshot.name.clone(),
        categories: wanted.categories.clone(),
        is_b_second: false,
    };
    remote.send_with(&open, &Array::of1(&columns));
    remote.send(&SqlRequest::Export(SqlFormat::Snapshot(tool)));
    // The worker's memory is freed when `remote` is dropped.
    Blob::new_with_buffer_source_sequence(&Array::of1(&JsFuture::from(written).await?))
}
