//! Code behind gates, which the page fetches while the worker starts, and the questions that wait for it.

use compare::is_gated;
use js_sys::{Object, Reflect, WebAssembly};
use protocol::Request;
use std::cell::{Cell, RefCell};
use wasm_bindgen::{JsCast, JsValue};

/// The state of the code behind gates.
#[derive(Default)]
pub(super) struct LaterCode {
    is_linked: Cell<bool>,
    waiting: RefCell<Vec<Request>>,
}

impl LaterCode {
    /// Returns whether the code is linked.
    pub(super) fn is_linked(&self) -> bool {
        self.is_linked.get()
    }

    /// Returns a request that can be handled now. Keeps it and returns `None` if it needs the code, which is not linked
    /// yet.
    pub(super) fn admit(&self, request: Request) -> Option<Request> {
        if self.is_linked() || !is_gated(&request) {
            return Some(request);
        }
        self.waiting.borrow_mut().push(request);
        None
    }

    /// Returns whether requests wait for the code.
    pub(super) fn is_awaited(&self) -> bool {
        !self.waiting.borrow().is_empty()
    }

    /// Drops the requests that wait, because they are about a file that is being closed.
    pub(super) fn forget_requests(&self) {
        self.waiting.take();
    }

    /// Links the code to this program, and returns the requests that waited for it. `module` is `undefined` if this
    /// program has the code itself.
    ///
    /// # Errors
    /// Returns the error of the browser if the module does not fit this program.
    pub(super) fn link(&self, module: &JsValue) -> Result<Vec<Request>, JsValue> {
        if !module.is_undefined() {
            let imports = Object::new();
            Reflect::set(&imports, &"".into(), &wasm_bindgen::exports())?;
            // Writes its functions into the table of this program, which keeps them alive.
            WebAssembly::Instance::new(module.unchecked_ref(), &imports)?;
        }
        self.is_linked.set(true);
        Ok(self.waiting.take())
    }
}
