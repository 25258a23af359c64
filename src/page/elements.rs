//! The elements of `index.html` that a part works on: named once in its own file, found all at once when it begins.

use super::dom::Dom;
use wasm_bindgen::{JsCast, JsValue};

/// Elements that are found together.
pub(super) trait Find: Sized + 'static {
    /// Looks for them all.
    fn among(search: &mut Search) -> Self;

    /// Finds them all. The error names one that is missing or of another kind.
    fn find(dom: &Dom) -> Result<Self, String> {
        let mut search = Search { dom: dom.clone(), missing: None };
        let found = Self::among(&mut search);
        search.missing.map_or(Ok(found), Err)
    }
}

/// A search for many elements that is asked once, at its end, whether all were found: an answer for each would be 20 kB of wasm.
pub(super) struct Search {
    pub(super) dom: Dom,
    /// The first that is missing or of another kind.
    missing: Option<String>,
}

impl Search {
    /// The element with this name; where it is missing, nothing that is one.
    pub(super) fn element<T: JsCast>(&mut self, name: &str) -> T {
        self.value(&name.replace('_', "-"), T::instanceof).unchecked_into()
    }

    #[inline(never)]
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

/// The elements of `index.html` that a file works on, by their kind: `elements! { HtmlElement: answer, tab_why; }` finds `#answer` and
/// `#tab-why`.
macro_rules! elements {
    ($($kind:ident: $($field:ident),*;)*) => {
        /// The elements that this file works on.
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
