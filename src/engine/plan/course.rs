//! The maximum of live bytes in each pixel column, from a run over the changes.

use picture::timeline::WindowColumns;

/// The columns, as far as they are.
#[derive(Default)]
pub(super) struct Course {
    pub(super) columns: WindowColumns,
    /// The column that comes next, and the largest of it so far.
    next: usize,
    most: u64,
    /// Live bytes now.
    now: u64,
    pub(super) live: Vec<u64>,
}

impl Course {
    pub(super) fn over(columns: WindowColumns) -> Course {
        Course { live: Vec::with_capacity(columns.moments.len()), columns, ..Course::default() }
    }

    /// From `moment` on so much is live; moments never fall.
    pub(super) fn add(&mut self, moment: u32, live: u64) {
        self.reach(moment);
        self.now = live;
    }

    /// Live bytes have not changed at any moment before this one.
    fn reach(&mut self, moment: u32) {
        while let Some(moments) = self.columns.moments.get(self.next).filter(|moments| moments.start < moment) {
            self.most = self.most.max(self.now);
            if moments.end > moment {
                break;
            }
            self.live.push(self.most);
            (self.next, self.most) = (self.next + 1, 0);
        }
    }

    /// Nothing changes any more.
    pub(super) fn finish(mut self) -> (Vec<i32>, Vec<u64>) {
        self.reach(u32::MAX);
        (self.columns.edge_px, self.live)
    }
}
