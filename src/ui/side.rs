//! The tabs of the side panel.

base::listed! {
    /// A tab of the side panel.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Side {
        /// The selected allocation or segment, and the cursor.
        Selection,
        /// What the colours mean.
        #[default]
        Legend,
        /// Totals, warnings and settings of the file.
        File,
    }
}
