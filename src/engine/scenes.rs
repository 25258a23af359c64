//! Builds scenes, which contain the geometry to draw, for all kinds of plots.

use super::open::OpenFile;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use picture::timeline::{AddressJob, Scene, SceneJob, View};
use protocol::{Plot, PlotSettings};

/// Builder of a scene. Empty before the first call of [`SceneBuilder::scene`].
#[derive(Default)]
pub(super) struct SceneBuilder(Option<Job>);

enum Job {
    Stack(Box<SceneJob>),
    Addresses(Box<AddressJob>),
}

impl SceneBuilder {
    /// Continues building the scene and returns it once complete. Returns `None` if the device is unknown. Use a new
    /// [`SceneBuilder`] for each window.
    pub(super) fn scene(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        view: View,
        plot_settings: PlotSettings,
        slice: &mut TimeSlice,
    ) -> SliceResult<Option<Scene>> {
        file.prepare_picture(device, plot_settings, slice)?;
        file.collect_highlight(device, plot_settings.highlight, slice)?;
        let SceneBuilder(job) = self;
        let scene = SceneBuilder::draw(job, file, device, view, plot_settings, slice).transpose()?;
        self.0 = None;
        Ok(scene)
    }

    fn draw(
        job: &mut Option<Job>,
        file: &OpenFile,
        device: i64,
        view: View,
        plot_settings: PlotSettings,
        slice: &mut TimeSlice,
    ) -> Option<SliceResult<Scene>> {
        if let Plot::Addresses(_) = plot_settings.plot {
            return file.with_addresses(device, plot_settings, |source| {
                match job.get_or_insert_with(|| Job::Addresses(Box::new(AddressJob::new(source, view)))) {
                    Job::Addresses(job) => job.step(source, slice),
                    Job::Stack(_) => Err(OutOfTime),
                }
            });
        }
        file.with_source(device, plot_settings, |source| {
            match job.get_or_insert_with(|| Job::Stack(Box::new(SceneJob::new(source, view)))) {
                Job::Stack(job) => job.step(source, slice),
                Job::Addresses(_) => Err(OutOfTime),
            }
        })
    }
}
