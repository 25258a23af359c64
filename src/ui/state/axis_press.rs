//! Pointer events on the axis, and the object that the pointer drags there.

/// Object on the axis that the pointer is dragging.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Grip {
    #[default]
    None,
    Cursor,
    /// An edge of the selected range. Holds the moment of the opposite edge, which stays fixed.
    Edge(u32),
    /// An empty part of the axis. Holds the column that was pressed, in device pixels from the window's left edge.
    FreeAxis(f64),
    /// A slice of the annotation tracks. Holds the column that was pressed, in device pixels from the window's left
    /// edge.
    Slice(f64),
}

/// Pointer event on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisPress {
    /// The pointer was pressed at this column, in device pixels from the window's left edge.
    Down(f64),
    Move(f64),
    Up,
    /// The pointer moved while not pressed. Holds the distances from the window's left edge and from the timeline's
    /// lower edge, in device pixels.
    Hover([f64; 2]),
    Leave,
    DoubleClick,
}
