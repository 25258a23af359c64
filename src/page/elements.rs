//! Lookup of the elements of `index.html` that a part uses. Each part declares them in its own file.

use super::dom::Dom;
use wasm_bindgen::{JsCast, JsValue};

/// A struct of elements that are looked up together.
pub(super) trait Find: Sized + 'static {
    /// Looks up all elements with `search`, which collects errors.
    fn among(search: &mut Search) -> Self;

    /// Looks up all elements. The error names the first element that is missing or has the wrong type.
    fn find(dom: &Dom) -> Result<Self, String> {
        let mut search = Search { dom: dom.clone(), missing: None };
        let found = Self::among(&mut search);
        search.missing.map_or(Ok(found), Err)
    }
}

/// Lookup of several elements. An error is reported once at the end, because error handling for each element would add
/// 20 kB of wasm.
pub(super) struct Search {
    pub(super) dom: Dom,
    /// Error for the first element that is missing or has the wrong type.
    missing: Option<String>,
}

impl Search {
    /// Returns the element whose id is `name` with `-` instead of `_`. If it is missing, an error is recorded, and the
    /// returned element must not be used.
    pub(super) fn element<T: JsCast>(&mut self, name: &str) -> T {
        self.value(&name.replace('_', "-"), T::instanceof).unchecked_into()
    }

    fn value(&mut self, id: &str, is_kind: fn(&JsValue) -> bool) -> JsValue {
        let element = self.dom.document.get_element_by_id(id).map_or(JsValue::NULL, JsValue::from);
        if !is_kind(&element) {
            let (before, after) = if element.is_null() {
                ("index.html has no #", "")
            } else {
                ("#", " is of another kind in index.html")
            };
            self.missing.get_or_insert_with(|| [before, id, after].concat());
        }
        element
    }
}

/// Declares the elements of `index.html` that a file uses, by type: `elements! { HtmlElement: answer, tab_insights; }`
/// finds `#answer` and `#tab-insights`.
macro_rules! elements {
    ($($kind:ident: $($field:ident),*;)*) => {
        /// Elements of `index.html` that this file uses.
        pub(super) struct Elements {
            dom: crate::dom::Dom,
            $($($field: web_sys::$kind,)*)*
        }

        impl crate::elements::Find for Elements {
            fn among(search: &mut crate::elements::Search) -> Elements {
                Elements { $($($field: search.element(stringify!($field)),)*)* dom: search.dom.clone() }
            }
        }

        impl std::ops::Deref for Elements {
            type Target = crate::dom::Dom;

            fn deref(&self) -> &crate::dom::Dom {
                &self.dom
            }
        }
    };
}
pub(super) use elements;

impl Find for Dom {
    fn among(search: &mut Search) -> Dom {
        search.dom.clone()
    }
}
