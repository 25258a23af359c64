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
}

/// What the pointer does on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AxisPress {
    /// It is pressed here, in device pixels of the window from its left.
    Down(f64),
    Move(f64),
    Up,
}
