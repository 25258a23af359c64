//! Choice of the moments at which two snapshots are compared.

base::listed! {
    /// Moments at which A and B are compared, such as the peak of each.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum ComparedAt {
        #[default]
        Peaks = "peaks", "peak with peak";
        PeakOfA = "peak-of-a", "A's peak, aligned";
        PeakOfB = "peak-of-b", "B's peak, aligned";
        Start = "start", "baselines";
        End = "end", "ends";
        Cursor = "cursor", "cursor, aligned";
        Range = "range", "peaks of the range";
    }
}
