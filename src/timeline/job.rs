//! A scene in the making, in slices: it owns what it has so far, the history is lent again for every slice.

use super::columns::Grid;
use super::pieces::Descent;
use super::quads::{Context, Quads};
use super::scene::{Scene, SceneColumns};
use super::standing::Standing;
use super::tree::LiveTree;
use super::view::View;
use super::visible::{Change, Changes, Visible};
use super::{MAX_WINDOW_PX, Source};
use crate::units::Moment;

/// The most quads a scene has. Where it would have more, thin blocks are joined into higher bands.
pub const MAX_QUADS: usize = 300_000;

/// Columns between two questions for the time, while their moments are looked up.
const COLUMNS_PER_CHECK: usize = 32;
/// The same for changes of the tree.
const CHANGES_PER_CHECK: usize = 1024;

/// One scene in the making. A newer window simply drops it.
#[derive(Clone, Debug)]
pub struct SceneJob {
    view: View,
    grid: Grid,
    columns: SceneColumns,
    visible: Visible,
    changes: Changes,
    stage: Stage,
}

/// What comes next, in this order; the last may start over with a larger θ.
#[derive(Clone, Debug)]
enum Stage {
    /// Choose the moment each column shows.
    Moments,
    /// Find what is visible.
    Collect,
    /// Sort it by column.
    Sort,
    /// Draw column by column.
    Draw(Box<Drawing>),
    /// Handed out.
    Done,
}

/// One attempt at the quads with one θ.
#[derive(Clone, Debug)]
struct Drawing {
    band_px: u32,
    tree: LiveTree,
    /// The live leaves that stand out, where anything does.
    standing: Option<Standing>,
    quads: Quads,
    column: usize,
    changes_done: usize,
    /// The lowest leaf that changes in the column in work.
    changed: u32,
}

impl SceneJob {
    /// Starts a scene of `view`. A window wider or higher than [`MAX_WINDOW_PX`] is cut to it.
    pub fn new(source: &Source, view: View) -> SceneJob {
        let view =
            View { width_px: view.width_px.min(MAX_WINDOW_PX), height_px: view.height_px.min(MAX_WINDOW_PX), ..view };
        let grid = Grid::new(&view, source.requested.moment_count(), source.clock);
        let columns = grid.table();
        SceneJob {
            view,
            grid,
            columns,
            visible: Visible::default(),
            changes: Changes::default(),
            stage: Stage::Moments,
        }
    }

    /// Works until the scene is there or `has_time` (asked about every tenth of a millisecond) says no. `source` must be the
    /// same history every time. After it has returned the scene, it returns `None`.
    pub fn step(&mut self, source: &Source, has_time: &mut dyn FnMut() -> bool) -> Option<Scene> {
        loop {
            match &mut self.stage {
                Stage::Moments => {
                    if !self.choose_moments(source, has_time) {
                        return None;
                    }
                    self.stage = Stage::Collect;
                }
                Stage::Collect => {
                    if !self.visible.collect(source, &self.grid, &mut self.columns, has_time) {
                        return None;
                    }
                    self.changes = Changes::new(&self.visible, self.grid.len());
                    self.stage = Stage::Sort;
                }
                Stage::Sort => {
                    if !self.changes.sort(&self.visible, has_time) {
                        return None;
                    }
                    self.stage = Stage::Draw(Box::new(Drawing::new(source, self.visible.len(), 1)));
                }
                Stage::Draw(_) => match self.draw(source, has_time) {
                    Attempt::OutOfTime => return None,
                    Attempt::TooMany { band_px } => {
                        self.stage = Stage::Draw(Box::new(Drawing::new(source, self.visible.len(), band_px)));
                    }
                    Attempt::Drawn => return self.take(),
                },
                Stage::Done => return None,
            }
        }
    }

    /// The whole scene at once, where there is no need for slices.
    pub fn run(source: &Source, view: View) -> Option<Scene> {
        SceneJob::new(source, view).step(source, &mut || true)
    }

    fn choose_moments(&mut self, source: &Source, has_time: &mut dyn FnMut() -> bool) -> bool {
        while self.columns.moment.len() < self.grid.len() {
            for column in self.columns.moment.len()..self.grid.len().min(self.columns.moment.len() + COLUMNS_PER_CHECK)
            {
                let moments = self.grid.moments(column);
                let shown = source.requested.max_in(moments.clone()).unwrap_or((Moment(moments.start), 0));
                let reserved = source.reserved.max_in(moments).map_or(0, |(_, bytes)| bytes);
                self.columns.moment.push(shown.0.0);
                self.columns.total.push(shown.1.max(0) as u64);
                self.columns.reserved.push(reserved.max(0) as u64);
                let pending = source.pending.at(shown.0).clamp(0, shown.1.max(0));
                self.columns.pending.push(pending as u64);
            }
            if !has_time() {
                return false;
            }
        }
        true
    }

    fn draw(&mut self, source: &Source, has_time: &mut dyn FnMut() -> bool) -> Attempt {
        let Stage::Draw(drawing) = &mut self.stage else { return Attempt::Drawn };
        while drawing.column < self.grid.len() {
            if !drawing.apply_changes(source, &self.visible, &self.changes, has_time) {
                return Attempt::OutOfTime;
            }
            let x = [self.grid.edge_px(drawing.column) as i16, self.grid.edge_px(drawing.column + 1) as i16];
            let pending = self.changes.lowest_pending_from(drawing.column);
            drawing.changed = pending.map_or(drawing.changed, |leaf| leaf.min(drawing.changed));
            // Where nothing changed, the quads of the column before just go on.
            if drawing.changed != u32::MAX {
                drawing.descend(source, &self.visible, &self.view, x);
            }
            drawing.column += 1;
            (drawing.changes_done, drawing.changed) = (0, u32::MAX);
            if drawing.quads.quads.len() > MAX_QUADS {
                return Attempt::TooMany { band_px: drawing.next_band_px(self.grid.len()) };
            }
            if !has_time() && drawing.column < self.grid.len() {
                return Attempt::OutOfTime;
            }
        }
        drawing.quads.end_column(self.grid.edge_px(self.grid.len()) as i16);
        Attempt::Drawn
    }

    fn take(&mut self) -> Option<Scene> {
        let Stage::Draw(drawing) = std::mem::replace(&mut self.stage, Stage::Done) else { return None };
        Some(Scene {
            view: self.view,
            band_px: drawing.band_px,
            columns: std::mem::take(&mut self.columns),
            quads: drawing.quads.quads,
            identities: drawing.quads.identities,
        })
    }
}

/// How an attempt stands.
enum Attempt {
    OutOfTime,
    TooMany { band_px: u32 },
    Drawn,
}

impl Drawing {
    fn new(source: &Source, leaves: usize, band_px: u32) -> Drawing {
        Drawing {
            band_px,
            tree: LiveTree::new(leaves),
            standing: source.highlight.map(|_| Standing::new(leaves)),
            quads: Quads::default(),
            column: 0,
            changes_done: 0,
            changed: u32::MAX,
        }
    }

    /// Brings the tree to the moment of the column; `false` when it needs more time.
    fn apply_changes(
        &mut self,
        source: &Source,
        visible: &Visible,
        changes: &Changes,
        has_time: &mut dyn FnMut() -> bool,
    ) -> bool {
        for change in changes.of(self.column, self.changes_done) {
            let (Change::Goes(leaf) | Change::Comes(leaf)) = change;
            self.changed = self.changed.min(leaf);
            match change {
                Change::Goes(leaf) => self.tree.remove(leaf),
                Change::Comes(leaf) => {
                    self.tree.insert(leaf, source.allocations.size(visible.id(leaf)));
                }
            }
            if let Some(standing) = self.standing.as_mut().filter(|_| visible.stands_out(leaf)) {
                match change {
                    Change::Goes(leaf) => standing.remove(leaf),
                    Change::Comes(leaf) => standing.insert(leaf),
                }
            }
            self.changes_done += 1;
            if self.changes_done.is_multiple_of(CHANGES_PER_CHECK) && !has_time() {
                return false;
            }
        }
        true
    }

    fn descend(&mut self, source: &Source, visible: &Visible, view: &View, x: [i16; 2]) {
        let thin_below = (f64::from(self.band_px) * view.bytes_per_px).ceil() as u64;
        let standing = self.standing.as_ref();
        let context = Context { source, visible, tree: &self.tree, standing, column: self.column, x };
        let from = self.quads.keep_below(self.tree.start_of_thin(self.changed, thin_below));
        Descent::new(view, thin_below, from, &context, &mut self.quads).run();
        self.quads.end_column(x[0]);
    }

    /// The next θ to try, from how much of the window the quads were enough for; never more than double, because the part
    /// drawn so far may be the densest.
    fn next_band_px(&self, columns: usize) -> u32 {
        let needed = u64::from(self.band_px) * columns as u64 / self.column.max(1) as u64;
        (needed as u32).clamp(self.band_px + 1, self.band_px * 2)
    }
}
