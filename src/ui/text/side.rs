//! The tabs of the side panel.

base::listed! {
    /// A tab of the side panel.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Side {
        /// The selected allocation or segment, and the cursor.
        Selection,
        /// The legend of the timeline's colours.
        #[default]
        Legend,
        /// Totals, warnings and allocator settings of the file.
        File,
    }
}
