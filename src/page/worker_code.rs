//! Code of the workers. The engine's worker runs the wasm of the page, and code that is fetched soon after. The others
//! (SQL, simulator, rank scan, YAML) have their own wasm, which is loaded when first needed.
//!
//! Workers are always started from blob URLs, because a worker loaded from a server does not inherit the page's content
//! security policy. The script consists of the JavaScript glue and a bootstrap.

use super::{dom, gzip};
use js_sys::{Array, Error, Uint8Array, WebAssembly};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, Document, HtmlScriptElement, Response, Url, Window};

/// Bootstrap script of a worker, appended to the glue. It waits for the compiled `WebAssembly.Module` from the page and
/// starts it. Errors are sent as messages, because the page does not receive all of them as `error` events.
const BOOTSTRAP: &str = r#"
for (const kind of ["error", "unhandledrejection"])
  addEventListener(kind, (event) => postMessage(String(event.reason ?? event.message)));
onmessage = (event) => { onmessage = null; wasm_bindgen.initSync({ module: event.data }); };
"#;

/// Script URL and compiled module of a worker, loaded on first use.
pub(super) struct WorkerCode {
    window: Window,
    /// Id of the element in `index.html` that contains the URL of the wasm, or the wasm itself in a single-file page.
    /// The element of its JavaScript glue has the same id with the suffix `-glue`. `None` for the code of the page.
    id: Option<&'static str>,
    /// Kept, because the server may no longer run when another worker is started.
    loaded: RefCell<Option<(String, JsValue)>>,
}

impl WorkerCode {
    /// Creates the code of the part of the page with this id.
    pub(super) fn of_part(window: Window, id: &'static str) -> Rc<WorkerCode> {
        Rc::new(WorkerCode { window, id: Some(id), loaded: RefCell::default() })
    }

    /// Creates the code that this page runs itself.
    pub(super) fn of_page(window: Window) -> Rc<WorkerCode> {
        Rc::new(WorkerCode { window, id: None, loaded: RefCell::default() })
    }

    /// Returns the name of its workers, as shown by a browser's developer tools.
    pub(super) fn name(&self) -> &'static str {
        self.id.unwrap_or("engine")
    }

    /// Returns the window that loads the code.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the script's URL and the compiled module. Loads them on the first call.
    pub(super) async fn get_or_load(&self) -> Result<(String, JsValue), String> {
        if let Some(known) = &*self.loaded.borrow() {
            return Ok(known.clone());
        }
        let document = self.window.document().ok_or("a window without a document")?;
        let (glue, module) = match self.id {
            Some(id) => self.load_part(&document, id).await.map_err(|cause| dom::error_message(&cause))?,
            None => (self.page_glue(&document).await?, wasm_bindgen::module()),
        };
        let known = (script_url(&glue)?, module);
        self.loaded.replace(Some(known.clone()));
        Ok(known)
    }

    /// Returns the compiled module of a part that has no glue. `undefined` if this page has no such part.
    pub(super) async fn module(&self) -> Result<JsValue, String> {
        let document = self.window.document().ok_or("a window without a document")?;
        match self.id.and_then(|id| document.get_element_by_id(id)) {
            Some(_) => self.get_or_load().await.map(|(_, module)| module),
            None => Ok(JsValue::UNDEFINED),
        }
    }

    async fn load_part(&self, document: &Document, id: &str) -> Result<(String, JsValue), JsValue> {
        let part = document.get_element_by_id(id).ok_or("this page does not have it")?;
        let (glue, response) = match part.get_attribute("data-wasm") {
            Some(wasm) => {
                let glue = match part.get_attribute("data-glue") {
                    Some(glue) => JsFuture::from(fetch(&self.window, &glue).await?.text()?).await?.as_string(),
                    None => None,
                };
                (glue, fetch(&self.window, &wasm).await?)
            }
            None => {
                let letters = self.window.atob(&part.text_content().unwrap_or_default())?;
                let packed: Vec<u8> = letters.chars().map(|letter| letter as u8).collect();
                let blob = Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(&*packed)))?;
                let stream = blob.stream().pipe_through(gzip::new_stream("DecompressionStream")?.unchecked_ref());
                let glue = document.get_element_by_id(&[id, "-glue"].concat()).and_then(|glue| glue.text_content());
                (glue, Response::new_with_opt_readable_stream(Some(&stream))?)
            }
        };
        let bytes = JsFuture::from(response.array_buffer()?).await?;
        Ok((glue.unwrap_or_default(), JsFuture::from(WebAssembly::compile(&bytes)).await?))
    }

    /// Returns the JavaScript glue that started this page, as text.
    async fn page_glue(&self, document: &Document) -> Result<String, String> {
        let script = document.query_selector("script[defer]").ok().flatten();
        let script: HtmlScriptElement =
            script.and_then(|script| script.dyn_into().ok()).ok_or("the page cannot find its own script")?;
        // The single-file page contains the script itself.
        if script.src().is_empty() {
            return script.text().map_err(|error| dom::error_message(&error));
        }
        let text = async {
            let response = fetch(&self.window, &script.src()).await?;
            JsFuture::from(response.text()?).await
        };
        let text = text
            .await
            .map_err(|error| format!("the worker's script could not be fetched: {}", dom::error_message(&error)))?;
        text.as_string().ok_or_else(|| "the worker's script is not text".to_owned())
    }
}

/// Returns the URL of a script that starts a worker with this JavaScript glue.
fn script_url(glue: &str) -> Result<String, String> {
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let parts = Array::of2(&glue.into(), &BOOTSTRAP.into());
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options).map_err(|error| dom::error_message(&error))?;
    Url::create_object_url_with_blob(&blob).map_err(|error| dom::error_message(&error))
}

/// Fetches a URL. A response with an error status is an error.
async fn fetch(window: &Window, address: &str) -> Result<Response, JsValue> {
    let response: Response = JsFuture::from(window.fetch_with_str(address)).await?.dyn_into()?;
    if !response.ok() {
        return Err(Error::new(&format!("the server answered {}", response.status())).into());
    }
    Ok(response)
}
