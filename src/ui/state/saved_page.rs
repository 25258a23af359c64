//! Initial state of a saved page, as attributes of the element that holds its snapshot.

use base::escape::Html;

/// Initial state of a saved page. Empty fields are not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedPage {
    /// View, as the fragment of a link.
    pub view: String,
    /// Rules, as stored text. Empty if the page opens with those of its reader.
    pub rules: String,
}

/// Accessor of a field.
type Field = fn(&mut SavedPage) -> &mut String;

/// HTML attribute of each field.
const ATTRIBUTES: [(&str, Field); 2] = [("data-view", |page| &mut page.view), ("data-rules", |page| &mut page.rules)];

impl SavedPage {
    /// Reads the fields from attributes.
    pub fn from_attributes(value: impl Fn(&str) -> Option<String>) -> SavedPage {
        let mut page = SavedPage::default();
        for (name, field) in ATTRIBUTES {
            *field(&mut page) = value(name).unwrap_or_default();
        }
        page
    }

    /// Formats the attributes, each after a space. Moves the fields out, since only one element of a page has them.
    pub(crate) fn take_attributes(&mut self) -> String {
        let values = ATTRIBUTES.map(|(name, field)| (name, std::mem::take(field(self))));
        let given = values.iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| format!(" {name}=\"{}\"", Html(value))).collect()
    }
}
