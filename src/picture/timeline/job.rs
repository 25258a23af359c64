//! Time-sliced construction of a scene. The job owns its progress and borrows the history for each slice.

use super::bands::Estimate;
use super::column_cursor::ColumnCursor;
use super::columns::{Grid, MAX_WINDOW_PX};
use super::pieces::descend;
use super::quads::{MAX_QUADS, Quads};
use super::scene::{Scene, SceneColumns};
use super::source::Source;
use super::view::View;
use super::visible::{Changes, Visible};
use base::slice::{OutOfTime, SliceResult, TimeSlice};

/// Minimum number of drawn quads before the total number of quads is extrapolated.
const MIN_EXTRAPOLATION_QUADS: usize = MAX_QUADS / 8;

/// A scene that is being built in time slices. Drop it to cancel.
#[derive(Clone, Debug)]
pub struct SceneJob {
    view: View,
    grid: Grid,
    columns: SceneColumns,
    visible: Visible,
    changes: Changes,
    /// True after θ was estimated.
    is_estimated: bool,
    stage: Stage,
}

/// Stages of a job, in order. Drawing may start over with a larger θ.
#[derive(Clone, Debug)]
enum Stage {
    Moments,
    Collect,
    Sort,
    Draw(Box<Drawing>),
    /// The drawing seems to exceed the maximum number of quads, so θ is estimated.
    Estimate(Box<Drawing>, Box<Estimate>),
    Done,
}

/// State of an attempt to draw the quads with θ = `band_px`, the minimum height of a band in pixels.
#[derive(Clone, Debug)]
struct Drawing {
    band_px: u32,
    cursor: ColumnCursor,
    quads: Quads,
}

impl SceneJob {
    /// Creates a job for `view`. Windows larger than [`MAX_WINDOW_PX`] are cut.
    pub fn new(source: &Source, view: View) -> SceneJob {
        let view = cut_to_largest(view);
        let grid = Grid::new(&view, source.requested.moment_count(), source.clock);
        let columns = grid.empty_columns();
        SceneJob {
            view,
            grid,
            columns,
            visible: Visible::default(),
            changes: Changes::default(),
            is_estimated: false,
            stage: Stage::Moments,
        }
    }

    /// Continues building the scene until it is complete or the time slice is used up. `source` must be the same
    /// history in every call.
    ///
    /// # Errors
    /// Returns [`OutOfTime`] if the time slice is used up, or if the scene was already returned.
    pub fn step(&mut self, source: &Source, slice: &mut TimeSlice) -> SliceResult<Scene> {
        loop {
            match &mut self.stage {
                Stage::Moments => {
                    self.grid.choose_moments(&mut self.columns, source, slice)?;
                    self.stage = Stage::Collect;
                }
                Stage::Collect => {
                    self.visible.collect(source, &self.grid, &mut self.columns, slice)?;
                    self.changes = Changes::new(self.grid.len());
                    self.stage = Stage::Sort;
                }
                Stage::Sort => {
                    self.changes.sort(&self.visible, slice)?;
                    self.stage = self.drawing(1);
                }
                Stage::Draw(_) => match self.draw(source, slice)? {
                    Attempt::TooMany { band_px } => self.stage = self.drawing(band_px),
                    Attempt::LikelyTooMany => self.estimate(),
                    Attempt::Drawn => return self.take().ok_or(OutOfTime),
                },
                Stage::Estimate(drawing, estimate) => {
                    // A drawing that already has too many quads cannot continue.
                    let min_band_px = drawing.band_px + u32::from(drawing.quads.quads.len() > MAX_QUADS);
                    let history = (source, &self.visible, &self.changes);
                    let band_px = estimate.step(history, &self.view, self.grid.len(), min_band_px, slice)?;
                    let next = self.drawing(band_px);
                    let before = std::mem::replace(&mut self.stage, next);
                    if let Stage::Estimate(drawing, _) = before
                        && drawing.band_px == band_px
                    {
                        self.stage = Stage::Draw(drawing);
                    }
                }
                Stage::Done => return Err(OutOfTime),
            }
        }
    }

    /// Creates a scene in one call, without time slices.
    pub fn run(source: &Source, view: View) -> Option<Scene> {
        SceneJob::new(source, view).step(source, &mut TimeSlice::new(&mut || true)).ok()
    }

    fn drawing(&self, band_px: u32) -> Stage {
        let cursor = ColumnCursor::new(self.visible.len());
        Stage::Draw(Box::new(Drawing { band_px, cursor, quads: Quads::default() }))
    }

    fn estimate(&mut self) {
        self.is_estimated = true;
        let before = std::mem::replace(&mut self.stage, Stage::Done);
        if let Stage::Draw(drawing) = before {
            self.stage = Stage::Estimate(drawing, Box::new(Estimate::new(self.visible.len())));
        }
    }

    fn draw(&mut self, source: &Source, slice: &mut TimeSlice) -> SliceResult<Attempt> {
        let Stage::Draw(drawing) = &mut self.stage else { return Ok(Attempt::Drawn) };
        let Drawing { band_px, cursor, quads } = &mut **drawing;
        while cursor.column < self.grid.len() {
            let column = cursor.column;
            let changed = cursor.apply((source, &self.visible, &self.changes), |_| true, slice)?;
            let x = [self.grid.edge_px(column) as i16, self.grid.edge_px(column + 1) as i16];
            descend(quads, cursor, *band_px, changed, (source, &self.visible, &self.view), (column, x));
            let drawn = quads.quads.len();
            if self.is_estimated && drawn > MAX_QUADS {
                let band_px = next_band_px(*band_px, cursor.column, self.grid.len());
                return Ok(Attempt::TooMany { band_px });
            }
            let extrapolated = drawn * self.grid.len() / cursor.column.max(1);
            if !self.is_estimated && drawn > MIN_EXTRAPOLATION_QUADS && extrapolated.max(drawn) > MAX_QUADS {
                return Ok(Attempt::LikelyTooMany);
            }
            slice.check()?;
        }
        quads.end_column(self.grid.edge_px(self.grid.len()) as i16);
        Ok(Attempt::Drawn)
    }

    fn take(&mut self) -> Option<Scene> {
        let Stage::Draw(drawing) = std::mem::replace(&mut self.stage, Stage::Done) else { return None };
        Some(Scene {
            view: self.view,
            band_px: drawing.band_px,
            columns: std::mem::take(&mut self.columns),
            quads: drawing.quads.quads,
            identities: drawing.quads.identities,
            ground: None,
        })
    }
}

/// Limits the width and height of a window to [`MAX_WINDOW_PX`].
pub(super) fn cut_to_largest(view: View) -> View {
    View { width_px: view.width_px.min(MAX_WINDOW_PX), height_px: view.height_px.min(MAX_WINDOW_PX), ..view }
}

/// Result of drawing some of the columns.
enum Attempt {
    TooMany {
        band_px: u32,
    },
    /// The finished scene would probably have too many quads.
    LikelyTooMany,
    Drawn,
}

/// Returns the next θ to try, from the share of columns that were drawn before there were too many quads. It is at most
/// twice the previous θ, because the columns drawn so far may be the densest.
fn next_band_px(band_px: u32, drawn: usize, columns: usize) -> u32 {
    let needed = u64::from(band_px) * columns as u64 / drawn.max(1) as u64;
    (needed as u32).clamp(band_px + 1, band_px * 2)
}
