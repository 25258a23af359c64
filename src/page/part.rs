//! The code of a worker other than the engine's: a wasm of its own and its glue, fetched or unpacked when they are first needed.

use super::thread::{self, fetched};
use super::{dom, gzip};
use js_sys::{Array, Uint8Array, WebAssembly};
use std::cell::RefCell;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Response, Window};

/// A script and a module, once they are there.
pub(super) struct Code {
    window: Window,
    /// The element that stands for its wasm in the page: where it is, or itself. That of its glue has `-glue` behind it.
    id: &'static str,
    known: RefCell<Option<(String, JsValue)>>,
}

impl Code {
    pub(super) fn new(window: Window, id: &'static str) -> Code {
        Code { window, id, known: RefCell::default() }
    }

    /// The window that it is fetched in.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// The script's address and the module.
    pub(super) async fn get(&self) -> Result<(String, JsValue), String> {
        if let Some(known) = &*self.known.borrow() {
            return Ok(known.clone());
        }
        let (glue, module) = self.found().await.map_err(|cause| dom::cause(&cause))?;
        let known = (thread::script(&glue)?, module);
        self.known.replace(Some(known.clone()));
        Ok(known)
    }

    async fn found(&self) -> Result<(String, JsValue), JsValue> {
        let document = self.window.document().ok_or("a window without a document")?;
        let part = document.get_element_by_id(self.id).ok_or("this page does not have it")?;
        let (glue, response) = match part.get_attribute("data-wasm").zip(part.get_attribute("data-glue")) {
            Some((wasm, glue)) => {
                let glue = JsFuture::from(fetched(&self.window, &glue).await?.text()?).await?;
                (glue.as_string(), fetched(&self.window, &wasm).await?)
            }
            None => {
                let letters = self.window.atob(&part.text_content().unwrap_or_default())?;
                let packed: Vec<u8> = letters.chars().map(|letter| letter as u8).collect();
                let blob = Blob::new_with_u8_array_sequence(&Array::of1(&Uint8Array::from(&*packed)))?;
                let stream = blob.stream().pipe_through(gzip::stream("DecompressionStream")?.unchecked_ref());
                let glue =
                    document.get_element_by_id(&[self.id, "-glue"].concat()).and_then(|glue| glue.text_content());
                (glue, Response::new_with_opt_readable_stream(Some(&stream))?)
            }
        };
        let bytes = JsFuture::from(response.array_buffer()?).await?;
        Ok((glue.unwrap_or_default(), JsFuture::from(WebAssembly::compile(&bytes)).await?))
    }
}
