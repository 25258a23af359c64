//! Work on one question, in time slices.

use super::Questions;
use crate::find::{Search, SearchTarget, find_match};
use crate::open::OpenFile;
use crate::phases::PhaseFinder;
use crate::plan::{Plan, PlannedSizes, run_curve};
use crate::sources::Sources;
use crate::{details, legend, marks, moments, range, steps};
use base::later::gate;
use base::out_of_line::out_of_line;
use base::slice::{SliceResult, TimeSlice};
use history::snapshot::StackId;
use protocol::{Answer, Ask, Grouping, Plot, PlotSettings, Query, Question, Reply};
use std::collections::VecDeque;

impl Questions {
    /// Continues answering one query. Appends the answer to `replies` once complete, if there is one.
    pub(super) fn answer(
        &mut self,
        file: &mut OpenFile,
        ask: &Ask,
        replies: &mut VecDeque<Reply>,
        slice: &mut TimeSlice,
    ) -> SliceResult {
        let Ask { serial, device, question: ref what } = *ask;
        let mut send = |answer: Answer| replies.push_back(Reply::Answer { serial, answer });
        let answer = match *what {
            Question::Scene { view, plot_settings } => {
                out_of_line(|| self.scene.scene(file, device, view, plot_settings, slice))?
                    .map(|scene| Answer::Scene(Box::new(scene)))
            }
            Question::Hit { plot_settings, moment, byte } if plot_settings.plot == Plot::Stack => {
                Some(Answer::Hit { hit: file.hit(device, plot_settings, moment, byte), memory: None })
            }
            Question::Hit { plot_settings, moment, byte } => {
                let (hit, memory) = file.hit_in_plot(device, plot_settings, moment, byte);
                Some(Answer::Hit { hit, memory: Some(Box::new(memory)) })
            }
            Question::MemoryAt { moment, address } => {
                let (hit, memory) = self.beneath.look_up(file, device, moment, address, slice)?;
                Some(Answer::Hit { hit, memory })
            }
            Question::Map(only) => {
                let plot_settings = PlotSettings { plot: Plot::Addresses(only), ..PlotSettings::default() };
                file.prepare_plot(device, plot_settings, slice)?;
                Some(Answer::Map(Box::new(file.map(device, only))))
            }
            Question::Curves { view, only, with_stranded } => {
                let memory = (only, with_stranded);
                Some(Answer::Curves(self.curves.compute(file, device, view, memory, slice)?))
            }
            Question::State(question) => {
                Some(Answer::State(Box::new(out_of_line(|| self.states.page(file, device, question, slice))?)))
            }
            Question::Events(ref question) => {
                self.events.page(file, device, question, slice)?.map(|page| Answer::Events(Box::new(page)))
            }
            Question::EventsText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                self.events.copy_text(file, device, question, send, slice)?;
                None
            }
            Question::Moments(ref at) => file.history(device).map(|history| {
                Answer::Moments(at.iter().filter_map(|&at| moments::moment_facts(history, at)).collect())
            }),
            Question::Step { plot_settings, moment, byte, step } => {
                steps::step(file, device, plot_settings, (moment, byte), step).map(Answer::Step)
            }
            Question::Marks => marks::marks(file, device, &[]).map(|marks| Answer::Marks(Box::new(marks))),
            Question::Phases => {
                file.find_backward(slice)?;
                let finder = self.phases.get_or_insert_with(Box::<PhaseFinder>::default);
                file.side(device).map_or(Ok(()), |side| finder.step(&side, slice))?;
                let marks = marks::marks(file, device, finder.phases());
                self.phases = None;
                marks.map(|marks| Answer::Marks(Box::new(marks)))
            }
            Question::Overview { axis, width_px } => {
                file.overview(device, axis, width_px).map(|overview| Answer::Overview(Box::new(overview)))
            }
            Question::Legend { colouring, at } => {
                if colouring == Grouping::Category {
                    file.categorize(slice)?;
                }
                legend::legend(file, device, colouring, at).map(Answer::Legend)
            }
            Question::Outline { view, plot_settings, allocation } => {
                file.outline(device, plot_settings, &view, allocation).map(Answer::Outline)
            }
            Question::Details(allocation) => {
                file.categorize(slice)?;
                Some(Answer::Details(details::details(file, device, allocation).map(Box::new)))
            }
            Question::Find(ref query) => {
                // The page only sends valid queries. An invalid one finds nothing.
                let target = || Query::parse(query).map_or(SearchTarget::Nothing, SearchTarget::Query);
                let search = self.search.get_or_insert_with(|| Box::new(Search::new(device, target())));
                let tally = search.step(file, slice)?;
                self.search.take().into_iter().for_each(|search| search.store_as(file, serial));
                Some(Answer::Find(tally))
            }
            Question::FindNext { search_serial, begin, direction, plot_settings, window, scope } => Some(
                Answer::FindNext(find_match(file, (search_serial, scope), begin, direction, plot_settings, window)),
            ),
            Question::SameStack(stack) => {
                let new = || Box::new(Search::new(device, SearchTarget::Stack(StackId(stack))));
                let tally = self.count.get_or_insert_with(new).step(file, slice)?;
                self.count = None;
                Some(Answer::SameStack(tally))
            }
            Question::Flame(question) => {
                Some(Answer::Flame(Box::new(self.flames.page(file, device, question, slice)?)))
            }
            Question::Sources(scope) => {
                let page = self.sources.page(file, device, scope, slice)?;
                self.sources = Sources::default();
                Some(Answer::Sources(Box::new(page)))
            }
            Question::Range(span) => Some(Answer::Range(range::range_facts(file, device, span, slice)?)),
            Question::Tree(ref question) => {
                Some(Answer::Tree(Box::new(out_of_line(|| self.trees.page(file, device, (question, false), slice))?)))
            }
            Question::FoundTree(ref question) => {
                Some(Answer::Tree(Box::new(out_of_line(|| self.trees.page(file, device, (question, true), slice))?)))
            }
            Question::Heaviest { scope, arrangement, node } => {
                Some(Answer::Heaviest(self.heaviest.find(file, device, scope, (arrangement, node), slice)?))
            }
            Question::Report(ref question) => {
                Some(Answer::Report(Box::new(gate(|| self.reports.step(file, device, question, slice))?)))
            }
            Question::PlanCurve(ref question, view) => {
                let new = || Box::new(Plan::with_curve(device, question, view));
                let plan = self.plan_curve.get_or_insert_with(new);
                plan.step(file, slice)?;
                let curve = self.plan_curve.take().map(|plan| plan.curve()).unwrap_or_default();
                Some(Answer::PlanCurve(Box::new(curve)))
            }
            Question::Course(ref course, view) => {
                file.history(device).map(|history| Answer::PlanCurve(Box::new(run_curve(history, course, view))))
            }
            Question::Plan(ref question) => {
                let plan = self.plan.get_or_insert_with(|| Box::new(Plan::new(device, question)));
                let page = plan.step(file, slice)?;
                self.plan = None;
                Some(Answer::Plan(Box::new(page)))
            }
            Question::Table(ref question) => {
                Some(Answer::Table(Box::new(out_of_line(|| self.tables.page(file, device, question, slice))?)))
            }
            Question::TableText(ref question) => {
                let send = &mut |part| send(Answer::TableText(part));
                self.tables.text(file, device, question, send, slice)?;
                None
            }
            Question::WhatIf(ref question) => {
                let send = &mut |part| send(Answer::WhatIf(Box::new(part)));
                let Some(simulator) = &mut self.simulator else { return Ok(()) };
                file.compute_segments(device, slice)?;
                let answer = simulator.answer(file, device, question, send, slice)?;
                answer.map(|answer| Answer::WhatIf(Box::new(answer)))
            }
            // The engine holds one file. Questions about two are answered by `compare::Pair`.
            Question::Pair(_) | Question::Comparison(..) => None,
            Question::Recording => {
                file.compute_segments(device, slice)?;
                self.sending.step(file, device, slice)?.map(Answer::Recording)
            }
            Question::PlannedSizes(ref question) => {
                let sizes = self.sizes.get_or_insert_with(|| Box::new(PlannedSizes::new(device, question)));
                let sizes = sizes.step(file, slice)?;
                self.sizes = None;
                self.simulator.iter_mut().for_each(|simulator| simulator.set_planned_sizes(device, &sizes));
                Some(Answer::PlannedSizes(sizes))
            }
        };
        answer.into_iter().for_each(send);
        Ok(())
    }
}
