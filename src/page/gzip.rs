//! The browser's own gzip.

use js_sys::{Array, Error, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// A stream of this class. web-sys counts them among what may still change; browsers have had them since 2023.
pub(super) fn stream(class: &str) -> Result<JsValue, JsValue> {
    let class = Reflect::get(&js_sys::global(), &class.into())?;
    let class: &Function = class.dyn_ref().ok_or_else(|| Error::new("this browser cannot compress"))?;
    Reflect::construct(class, &Array::of1(&"gzip".into()))
}
