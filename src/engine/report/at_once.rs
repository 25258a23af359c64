//! All insights at once, on all cores. For native front ends: the page's worker has one thread, and computes insights
//! one after another.

use super::fragmentation::FreeMemory;
use super::insight::Need;
use super::shared::{SharedResults, common_settings};
use super::{Entry, Reports, entry_of, needed, shared_of, written};
use crate::open::OpenFile;
use crate::what_if::{MayContinue, NewSimulator};
use base::cores::map_on_all_cores;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use protocol::{Report, ReportQuestion, WhatIf};
use std::thread;

/// An insight to compute: index of its question, its needs, and the function that starts it.
type Job = (usize, Entry);

impl Reports {
    /// Computes several insights on a device. The reports are in the order of the questions, and those that
    /// [`Reports::step`] returns.
    ///
    /// # Errors
    /// Returns an error if `may_continue` returns false.
    pub(crate) fn compute_all(
        &mut self,
        file: &mut OpenFile,
        device: i64,
        questions: &[ReportQuestion],
        may_continue: MayContinue<'_>,
    ) -> SliceResult<Vec<Report>> {
        let none = |question: &ReportQuestion| Report { topic: question.topic, ..Report::default() };
        let mut reports: Vec<Report> = questions.iter().map(none).collect();
        if file.history(device).is_none() {
            return Ok(reports);
        }
        let entries = questions.iter().enumerate();
        let jobs = entries.filter_map(|(index, question)| Some((index, entry_of(question.topic)?)));
        let needs_of = |&(index, (needs, _)): &Job| questions.get(index).map(|question| needed(needs, question));
        let (after, first): (Vec<Job>, Vec<Job>) =
            jobs.partition(|job| needs_of(job).into_iter().flatten().any(|need| need == Need::Simulation));
        let shared = shared_of(&mut self.shared, device);
        let needs = || first.iter().chain(&after).flat_map(needs_of).flatten();
        in_one_slice(may_continue, |slice| {
            for need in needs().filter(|&need| need != Need::Simulation && !reads_events(need)) {
                shared.compute(need, file, self.new_simulator, slice)?;
            }
            if needs().any(reads_events) {
                file.find_backward(slice)?;
            }
            file.compute_segments(device, slice)
        })?;
        let file = &*file;
        let new_simulator = self.new_simulator.filter(|_| shared.simulation.is_none() && !after.is_empty());
        let is_free_memory_needed = shared.free_memory.is_none() && needs().any(|need| need == Need::FreeMemory);
        // The simulation takes longer than the other insights.
        let simulation = thread::scope(|scope| {
            let memory = is_free_memory_needed.then(|| scope.spawn(move || free_memory(file, device, may_continue)));
            let simulation = new_simulator.map(|new| scope.spawn(move || simulate(file, device, new, may_continue)));
            in_one_slice(may_continue, |slice| {
                let mut others = needs().filter(|need| *need != Need::FreeMemory || memory.is_none());
                others.try_for_each(|need| shared.compute_from_events(need, file, slice))
            })?;
            if let Some(thread) = memory {
                shared.free_memory = thread.join().unwrap_or(Err(OutOfTime))?;
            }
            run(&first, &mut reports, (&*shared, file), questions, may_continue)?;
            simulation.map_or(Ok(None), |thread| thread.join().unwrap_or(Err(OutOfTime)))
        })?;
        shared.simulation = shared.simulation.take().or(simulation);
        run(&after, &mut reports, (&*shared, file), questions, may_continue)?;
        Ok(reports)
    }
}

/// Returns whether [`SharedResults::compute_from_events`] computes a result.
fn reads_events(need: Need) -> bool {
    matches!(need, Need::Steps | Need::Phases | Need::Growth | Need::FreeMemory)
}

/// Does work in a single time slice, which ends when `may_continue` returns false.
fn in_one_slice<T>(
    may_continue: MayContinue<'_>,
    work: impl FnOnce(&mut TimeSlice) -> SliceResult<T>,
) -> SliceResult<T> {
    work(&mut TimeSlice::new(&mut || may_continue()))
}

fn simulate(
    file: &OpenFile,
    device: i64,
    new_simulator: NewSimulator,
    may_continue: MayContinue<'_>,
) -> SliceResult<Option<WhatIf>> {
    let question = common_settings(file, device);
    let mut simulator = new_simulator();
    simulator.run_on_all_cores(file, device, &question, may_continue)?;
    in_one_slice(may_continue, |slice| simulator.answer(file, device, &question, &mut |_| {}, slice))
}

fn free_memory(file: &OpenFile, device: i64, may_continue: MayContinue<'_>) -> SliceResult<Option<FreeMemory>> {
    let Some((side, segments)) = file.side(device).zip(file.segments(device)) else { return Ok(None) };
    let mut memory = FreeMemory::new(side, segments);
    in_one_slice(may_continue, |slice| memory.step(side, segments, slice))?;
    Ok(Some(memory))
}

/// Computes insights on all cores and stores their reports. Their needs are complete.
fn run(
    jobs: &[Job],
    reports: &mut [Report],
    (shared, file): (&SharedResults, &OpenFile),
    questions: &[ReportQuestion],
    may_continue: MayContinue<'_>,
) -> SliceResult {
    let done: Vec<SliceResult<Report>> = map_on_all_cores(jobs, |&(index, (_, start))| {
        let given = questions.get(index).and_then(|question| shared.given(file, question)).ok_or(OutOfTime)?;
        let mut insight = start(&given);
        in_one_slice(may_continue, |slice| insight.step(&given, slice))?;
        Ok(written(insight, &given))
    });
    for (&(index, _), report) in jobs.iter().zip(done) {
        if let Some(place) = reports.get_mut(index) {
            *place = report?;
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "../../../tests/units/engine/report/at_once.rs"]
mod tests;
