//! Compression and decompression by the browser's gzip streams.

use js_sys::{Array, Error, Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, Response};

/// Creates a gzip stream of this class (`CompressionStream` or `DecompressionStream`). The class is looked up by name,
/// because web-sys considers it unstable, although browsers have supported it since 2023.
pub(super) fn new_stream(class: &str) -> Result<JsValue, JsValue> {
    let class = Reflect::get(&js_sys::global(), &class.into())?;
    let class: &Function = class.dyn_ref().ok_or_else(|| Error::new("this browser cannot compress"))?;
    Reflect::construct(class, &Array::of1(&"gzip".into()))
}

/// Compresses a file. The promise resolves to a [`Blob`].
pub(super) fn compress(file: &Blob) -> Result<Promise, JsValue> {
    let stream = file.stream().pipe_through(new_stream("CompressionStream")?.unchecked_ref());
    Response::new_with_opt_readable_stream(Some(&stream))?.blob()
}

/// Decompresses a file. The promise resolves to a [`Blob`].
pub(super) fn decompress(file: &Blob) -> Result<Promise, JsValue> {
    let stream = file.stream().pipe_through(new_stream("DecompressionStream")?.unchecked_ref());
    Response::new_with_opt_readable_stream(Some(&stream))?.blob()
}
