//! Elements of the SQL tab, described as data.

/// An element or a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Text(String),
    Element { tag: &'static str, attributes: Vec<(&'static str, String)>, children: Vec<Node> },
}

impl Node {
    /// Creates an element without children.
    pub(super) fn new(tag: &'static str) -> Node {
        Node::Element { tag, attributes: Vec::new(), children: Vec::new() }
    }

    /// Creates a button. `act` names the action of a click, see [`super::SqlAction::Clicked`].
    pub(super) fn button(act: &str, index: usize) -> Node {
        Node::new("button").attr("type", "button").act(act, index)
    }

    /// Sets the action of a click: its name, and the index of the element.
    pub(super) fn act(self, act: &str, index: usize) -> Node {
        self.attr("data-act", format!("{act}:{index}"))
    }

    /// Adds an attribute, unless its value is empty.
    pub(super) fn attr(mut self, name: &'static str, value: impl Into<String>) -> Node {
        let value = value.into();
        if let Node::Element { attributes, .. } = &mut self
            && !value.is_empty()
        {
            attributes.push((name, value));
        }
        self
    }

    /// Adds a text.
    pub(super) fn text(self, text: impl Into<String>) -> Node {
        self.children([Node::Text(text.into())])
    }

    /// Adds children.
    pub(super) fn children(mut self, more: impl IntoIterator<Item = Node>) -> Node {
        if let Node::Element { children, .. } = &mut self {
            children.extend(more);
        }
        self
    }
}
