//! Requests about ranks to the server, if it is `memscape serve`: the list of its files, and their scan results.

use super::dom;
use ui::state::ranks::ServedFiles;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Response, Window};

/// Query that makes the server scan a file and respond with the result.
const SURVEY_QUERY: &str = "?survey";
/// Content type of a scan result from the server.
const SURVEY_TYPE: &str = "application/x-memscape-survey";

/// URL of the server's list of all files.
const LISTING_URL: &str = "listing";
/// Content type of the server's list of all files.
const LISTING_TYPE: &str = "application/x-memscape-listing";

/// Returns the list of all files that `memscape serve` has. The error says why the list is not available.
pub(super) async fn served_files(window: &Window) -> Result<ServedFiles, String> {
    let cause = |cause: JsValue| dom::error_message(&cause);
    let response: Response = JsFuture::from(window.fetch_with_str(LISTING_URL)).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    if !response.ok() || kind.as_deref() != Some(LISTING_TYPE) {
        return Err("the server does not list its files".to_owned());
    }
    let text = JsFuture::from(response.text().map_err(cause)?).await.map_err(cause)?;
    Ok(ServedFiles::parse(&text.as_string().unwrap_or_default()))
}

/// Makes the server scan the file with this URL. Returns the buffer of the encoded result.
pub(super) async fn survey(window: &Window, link: &str) -> Result<JsValue, String> {
    let cause = |cause: JsValue| dom::error_message(&cause);
    let answer = window.fetch_with_str(&[link, SURVEY_QUERY].concat());
    let response: Response = JsFuture::from(answer).await.map_err(cause)?.unchecked_into();
    let kind = response.headers().get("content-type").ok().flatten();
    match (response.ok(), kind.as_deref() == Some(SURVEY_TYPE)) {
        (true, true) => {
            let bytes = response.array_buffer().map_err(cause)?;
            JsFuture::from(bytes).await.map_err(cause)
        }
        (true, false) => Err("this server does not survey files: only memscape serve does".to_owned()),
        (false, _) => {
            let text = response.text().map_err(cause)?;
            Err(JsFuture::from(text).await.map_err(cause)?.as_string().unwrap_or_default())
        }
    }
}
