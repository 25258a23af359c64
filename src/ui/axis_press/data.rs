//! What the pointer does on the axis, and what it holds there.

/// What is held on the axis.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Grip {
    /// Nothing.
    #[default]
    None,
    Pin,
    /// One edge of the range: the moment of the other.
    Edge(u32),
    /// A place that nothing was at: the column that was pressed.
    Axis(f64),
    /// A slice of the annotation tracks: the column that was pressed.
    Slice(f64),
}

/// What the pointer does on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisPress {
    /// It is pressed here, in device pixels of the window from its left.
    Down(f64),
    Move(f64),
    Up,
    /// It is over the axis, here from the window's left and down from the picture's lower edge, and not pressed.
    Over([f64; 2]),
    Out,
    /// It was pressed twice.
    Twice,
}
