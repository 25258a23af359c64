//! An element that the page is to make.

/// An element, or a text. Which tags and attributes there may be, the page decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Text(String),
    Element { tag: &'static str, attributes: Vec<(&'static str, String)>, children: Vec<Node> },
}

impl Node {
    /// An element without children.
    pub(crate) fn new(tag: &'static str) -> Node {
        Node::Element { tag, attributes: Vec::new(), children: Vec::new() }
    }

    /// With an attribute; an empty one is left out.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Node {
        let value = value.into();
        if let Node::Element { attributes, .. } = &mut self
            && !value.is_empty()
        {
            attributes.push((name, value));
        }
        self
    }

    /// With a text.
    pub(crate) fn text(self, text: impl Into<String>) -> Node {
        self.holding([Node::Text(text.into())])
    }

    /// With children.
    pub(crate) fn holding(mut self, more: impl IntoIterator<Item = Node>) -> Node {
        if let Node::Element { children, .. } = &mut self {
            children.extend(more);
        }
        self
    }
}
