//! Code of the workers that have their own wasm (SQL, simulator, rank scan, YAML), loaded when first needed.

use super::thread::{self, fetch};
use super::{dom, gzip};
use js_sys::{Array, Uint8Array, WebAssembly};
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Response, Window};

/// Script URL and compiled module of a worker, loaded on first use.
pub(super) struct WorkerCode {
    window: Window,
    /// Id of the element in `index.html` that contains the URL of the wasm, or the wasm itself in a single-file page.
    /// The element of its JavaScript glue has the same id with the suffix `-glue`.
    id: &'static str,
    loaded: RefCell<Option<(String, JsValue)>>,
}

impl WorkerCode {
    pub(super) fn new(window: Window, id: &'static str) -> WorkerCode {
        WorkerCode { window, id, loaded: RefCell::default() }
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
        let (glue, module) = self.load().await.map_err(|cause| dom::error_message(&cause))?;
        let known = (thread::script_url(&glue)?, module);
        self.loaded.replace(Some(known.clone()));
        Ok(known)
    }

    async fn load(&self) -> Result<(String, JsValue), JsValue> {
        let document = self.window.document().ok_or("a window without a document")?;
        let part = document.get_element_by_id(self.id).ok_or("this page does not have it")?;
        let (glue, response) = match part.get_attribute("data-wasm").zip(part.get_attribute("data-glue")) {
            Some((wasm, glue)) => {
                let glue = JsFuture::from(fetch(&self.window, &glue).await?.text()?).await?;
                (glue.as_string(), fetch(&self.window, &wasm).await?)
            }
            None => {
                let letters = self.window.atob(&part.text_content().unwrap_or_default())?;
                let packed: Vec<u8> = letters.chars().map(|letter| letter as u8).collect();
                let blob = Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(&*packed)))?;
                let stream = blob.stream().pipe_through(gzip::new_stream("DecompressionStream")?.unchecked_ref());
                let glue =
                    document.get_element_by_id(&[self.id, "-glue"].concat()).and_then(|glue| glue.text_content());
                (glue, Response::new_with_opt_readable_stream(Some(&stream))?)
            }
        };
        let bytes = JsFuture::from(response.array_buffer()?).await?;
        Ok((glue.unwrap_or_default(), JsFuture::from(WebAssembly::compile(&bytes)).await?))
    }
}
