//! A scene that was asked for and is not done yet, of whatever picture it is.

use super::open::OpenFile;
use super::protocol::{Answer, Looks, Plot, Reply};
use picture::timeline::{AddressJob, Scene, SceneJob, View};

/// A scene that was asked for.
pub(super) struct PendingScene {
    serial: u32,
    device: i64,
    view: View,
    looks: Looks,
    job: Option<Job>,
}

enum Job {
    Stack(Box<SceneJob>),
    Addresses(Box<AddressJob>),
}

impl PendingScene {
    pub(super) fn new(serial: u32, device: i64, view: View, looks: Looks) -> PendingScene {
        PendingScene { serial, device, view, looks, job: None }
    }

    /// Colours mean something else from now on.
    pub(super) fn begin_again(&mut self) {
        self.job = None;
    }

    /// Works while there is time: what there is to reply when it is done; nothing, on a device that there is not.
    pub(super) fn step(&mut self, file: &mut OpenFile, has_time: &mut dyn FnMut() -> bool) -> Option<Option<Reply>> {
        let PendingScene { serial, device, looks, .. } = *self;
        if !file.pile_up(device, looks, has_time) || !file.collect(device, looks.highlight, has_time) {
            return None;
        }
        match self.draw(file, has_time) {
            Some(scene) => Some(Some(Reply::Answer { serial, answer: Answer::Scene(Box::new(scene?)) })),
            None => Some(None),
        }
    }

    fn draw(&mut self, file: &OpenFile, has_time: &mut dyn FnMut() -> bool) -> Option<Option<Scene>> {
        let PendingScene { device, view, looks, job, .. } = self;
        if let Plot::Addresses(_) = looks.plot {
            return file.with_addresses(*device, *looks, |source| {
                match job.get_or_insert_with(|| Job::Addresses(Box::new(AddressJob::new(source, *view)))) {
                    Job::Addresses(job) => job.step(source, has_time),
                    Job::Stack(_) => None,
                }
            });
        }
        file.with_source(*device, *looks, |source| {
            match job.get_or_insert_with(|| Job::Stack(Box::new(SceneJob::new(source, *view)))) {
                Job::Stack(job) => job.step(source, has_time),
                Job::Addresses(_) => None,
            }
        })
    }
}
