//! DOM elements described as data.

/// An element or a text node. The page accepts only certain tags and attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Text(String),
    Element { tag: &'static str, attributes: Vec<(&'static str, String)>, children: Vec<Node> },
}

impl Node {
    /// Creates an element without children.
    pub(crate) fn new(tag: &'static str) -> Node {
        Node::Element { tag, attributes: Vec::new(), children: Vec::new() }
    }

    /// Adds an attribute, unless its value is empty.
    pub(crate) fn attr(mut self, name: &'static str, value: impl Into<String>) -> Node {
        let value = value.into();
        if let Node::Element { attributes, .. } = &mut self
            && !value.is_empty()
        {
            attributes.push((name, value));
        }
        self
    }

    /// Adds a text.
    pub(crate) fn text(self, text: impl Into<String>) -> Node {
        self.children([Node::Text(text.into())])
    }

    /// Adds children.
    pub(crate) fn children(mut self, more: impl IntoIterator<Item = Node>) -> Node {
        if let Node::Element { children, .. } = &mut self {
            children.extend(more);
        }
        self
    }
}
