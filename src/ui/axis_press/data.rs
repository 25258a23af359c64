//! Pointer input on the axis, and the object that is being dragged there.

/// Object on the axis that the current press grabbed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Grip {
    #[default]
    None,
    Cursor,
    /// One edge of the range. Holds the moment of the other edge.
    Edge(u32),
    /// A free spot of the axis. Holds the pressed column, in device pixels of the window.
    FreeAxis(f64),
    /// A slice of the annotation tracks. Holds the pressed column, in device pixels of the window.
    Slice(f64),
}

/// Pointer input on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisPress {
    /// Pressed at this column, in device pixels from the window's left edge.
    Down(f64),
    Move(f64),
    Up,
    /// Moved while not pressed. Position in device pixels, right of the window's left edge and below the timeline's
    /// lower edge.
    Hover([f64; 2]),
    Leave,
    /// Double-clicked.
    DoubleClick,
}
