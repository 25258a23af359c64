//! Memory plans: the recorded trace is evaluated with a size factor for each group of allocations, in time slices.

mod backward_pass;
mod blocks;
mod curve;
mod growth;
mod membership;
mod sizes;

use super::find::{Search, SearchTarget};
use super::open::OpenFile;
use super::recorder_facts::paused_over_time;
use crate::side::Side;
use crate::stack_match::StackMatch;
use analysis::{Change, Changes, Factors, IdSet, Outcome, PlanMembership, PlannedCurve};
use backward_pass::BackwardPass;
use base::slice::{OutOfTime, SliceResult, TimeSlice};
use base::units::Moment;
use blocks::Blocks;
use curve::CurveBuilder;
pub(super) use curve::run_curve;
use growth::{BatchGrowth, Roles};
use history::snapshot::StackId;
use membership::{GroupMembers, plan_groups_of, resolve_name};
use picture::timeline::View;
use protocol::{Factor, Highlight, PlanCurve, PlanGroup, PlanPage, PlanQuestion, PlanRow, Query};
pub(super) use sizes::PlannedSizes;

/// Search query for stacks that copy a parameter in another precision.
const COPY_QUERY: &str = "/at::autocast::cached_cast/";

/// A memory plan that is being evaluated.
pub(super) struct Plan {
    device: i64,
    question: PlanQuestion,
    members: Vec<GroupMembers>,
    growth: BatchGrowth,
    backward_pass: BackwardPass,
    /// Stacks that copy a parameter.
    copies: StackMatch,
    search: Option<Search>,
    blocks: Blocks,
    pass: Option<Pass>,
    /// Window of the requested curve. `None` if only totals are requested.
    view: Option<View>,
    curve_builder: CurveBuilder,
}

/// State of computing the planned memory over the whole trace.
struct Pass {
    peak: (u32, u64),
    changes: Changes,
    planned: PlannedCurve,
    /// The same if all that may grow with the batch does. `None` without a capacity.
    cautious: Option<PlannedCurve>,
    has_started: bool,
    rows: Vec<PlanRow>,
    batch_at_peak: u64,
}

impl Plan {
    pub(super) fn new(device: i64, question: &PlanQuestion) -> Plan {
        let question = question.clone();
        let (members, growth, backward_pass, copies, search, blocks, pass, view, curve_builder) = Default::default();
        Plan { device, question, members, growth, backward_pass, copies, search, blocks, pass, view, curve_builder }
    }

    /// Creates a plan that also computes the planned live bytes over a window.
    pub(super) fn with_curve(device: i64, question: &PlanQuestion, view: View) -> Plan {
        Plan { view: Some(view), ..Plan::new(device, question) }
    }

    /// Returns the curve over the window. Must be called after [`Plan::step`] has returned its result.
    pub(super) fn curve(self) -> PlanCurve {
        let (edge_px, bytes) = self.curve_builder.finish();
        PlanCurve { view: self.view, edge_px, bytes, allocated: Vec::new() }
    }

    /// Continues evaluating the plan and returns the result once complete. The result is empty if the file does not
    /// have the device.
    pub(super) fn step(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<PlanPage> {
        file.categorize(slice)?;
        if let Err(problem) = self.resolve(file, slice)? {
            return Ok(PlanPage { error: problem, ..PlanPage::default() });
        }
        if self.question.capacity.is_some() {
            file.find_forward(slice)?;
            self.copies.match_query(&file.snapshot, COPY_QUERY, slice)?;
        }
        let file = &*file;
        let Some(side) = file.side(self.device) else { return Ok(PlanPage::default()) };
        let roles = Roles::new(file);
        self.growth.step(side, &roles, slice)?;
        if self.question.capacity.is_some() {
            self.backward_pass.step(side, &roles, slice)?;
        }
        let pass = match self.pass.take() {
            Some(pass) => pass,
            None => match self.start_pass(side) {
                Ok(pass) => pass,
                Err(problem) => return Ok(PlanPage { error: problem, ..PlanPage::default() }),
            },
        };
        if let Some(view) = self.view.filter(|_| self.curve_builder.columns.edge_px.is_empty()) {
            self.curve_builder = CurveBuilder::new(curve::columns(side.history, &view));
        }
        let (pass, mut course) = (self.pass.insert(pass), self.view.map(|_| &mut self.curve_builder));
        let (members, growth, copies) = (&self.members, &self.growth, &self.copies);
        let in_plan = |id| plan_groups_of((members, growth), &roles, side, id);
        let Pass { peak, changes, planned, cautious, has_started, rows, batch_at_peak } = pass;
        changes.step(side.history, slice, |Change { id, moment, bytes, .. }| {
            if moment > 0 && !*has_started {
                planned.start();
                cautious.iter_mut().for_each(PlannedCurve::start);
                *has_started = true;
            }
            if bytes == 0 {
                return;
            }
            let membership = in_plan(id);
            planned.add(membership, moment, bytes);
            if let Some(cautious) = cautious {
                let stack = side.stack(id);
                let stacks = [copies.stacks.contains(stack.0), file.backward.contains(stack)];
                let may_grow = || growth.may_grow(side.history, id, roles.role(side, id), stacks);
                let grows = membership.grows || may_grow();
                cautious.add(PlanMembership { grows, ..membership }, moment, bytes);
            }
            course.iter_mut().for_each(|course| course.add(moment, planned.live()));
            if bytes < 0 {
                return;
            }
            let (allocated_at, freed_at, size) = side.history.allocations.span(id);
            let at_peak = if allocated_at <= peak.0 && peak.0 < freed_at { size } else { 0 };
            if membership.grows {
                *batch_at_peak = batch_at_peak.saturating_add(at_peak);
            }
            for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| membership.groups >> index & 1 == 1) {
                row.count += 1;
                row.at_peak = row.at_peak.saturating_add(at_peak);
            }
        })?;
        let Some(Pass { peak, mut planned, mut cautious, has_started, rows, batch_at_peak, .. }) = self.pass.take()
        else {
            return Err(OutOfTime);
        };
        if !has_started {
            planned.start();
            cautious.iter_mut().for_each(PlannedCurve::start);
        }
        let mut rows = rows;
        let is_required = |index: usize| {
            let group = self.question.groups.get(index).map(|(group, _)| group);
            matches!(group, Some(PlanGroup::Named(_) | PlanGroup::Blocks))
        };
        if let Some((_, row)) = rows.iter().enumerate().find(|(index, row)| row.count == 0 && is_required(*index)) {
            let problem = ["no allocation is in the group “", &row.name, "”"].concat();
            return Ok(PlanPage { error: problem, ..PlanPage::default() });
        }
        rows.retain(|row| row.count > 0);
        let outcome = planned.outcome();
        let batch = |outcome: Outcome| outcome.fits.map(|(ratio, moment)| (ratio.thousandths(), moment));
        let least = cautious.and_then(|mut cautious| batch(cautious.outcome()));
        Ok(PlanPage {
            error: String::new(),
            recorded: (peak.1, peak.0),
            planned: (outcome.peak, outcome.moment),
            groups: rows,
            batch_at_peak,
            max_batch: batch(outcome),
            min_batch: least.filter(|least| batch(outcome).is_none_or(|most| least.0 < most.0)),
            lacks_backward: self.backward_pass.is_missing(),
            on_gpu: outcome.on_gpu,
        })
    }

    /// Continues determining the allocations of each group. The inner error is a message for the user.
    fn resolve(&mut self, file: &mut OpenFile, slice: &mut TimeSlice) -> SliceResult<Result<(), String>> {
        while let Some((group, _)) = self.question.groups.get(self.members.len()) {
            let members = match group {
                PlanGroup::Blocks => {
                    let roles = Roles::new(file);
                    let Some(side) = file.side(self.device) else { return Ok(Ok(())) };
                    let role = |id| roles.role(side, id);
                    self.blocks.step(side.device_data(), side.history.live_peak().0.0, role, slice)?;
                    if self.blocks.count < 2 {
                        return Ok(Err(
                            "no call stack of activations repeats at the peak, so the blocks of the model, and what \
                             checkpointing them saves, are not known; at most, it saves what activations=0 saves"
                                .to_owned(),
                        ));
                    }
                    GroupMembers::Stacks(std::mem::take(&mut self.blocks.stacks))
                }
                PlanGroup::Allocations { numbers, growing, .. } => {
                    let found = IdSet::from_words(numbers.clone());
                    if *growing { GroupMembers::Growing(found) } else { GroupMembers::Found(found) }
                }
                PlanGroup::Measured(_) => {
                    return Ok(Err("no comparison measured by how much call sites grow".to_owned()));
                }
                PlanGroup::Stack(stack) => {
                    let new = || Search::new(self.device, SearchTarget::Stack(StackId(*stack)));
                    self.search.get_or_insert_with(new).step(file, slice)?;
                    GroupMembers::Found(self.search.take().map(Search::into_matches).unwrap_or_default())
                }
                &PlanGroup::Node(arrangement, node) => {
                    file.collect_highlight(self.device, Highlight::Node(arrangement, node), slice)?;
                    GroupMembers::Node(arrangement, node)
                }
                PlanGroup::Named(name) | PlanGroup::NamedIfAny(name) => match resolve_name(file, name) {
                    Some(members) => members,
                    None => {
                        let search = match self.search.take() {
                            Some(search) => search,
                            None => match Query::parse(name) {
                                Ok(query) => Search::new(self.device, SearchTarget::Query(query)),
                                Err(error) => {
                                    return Ok(Err(["the group “", name, "”: ", &error.to_string()].concat()));
                                }
                            },
                        };
                        self.search.insert(search).step(file, slice)?;
                        GroupMembers::Found(self.search.take().map(Search::into_matches).unwrap_or_default())
                    }
                },
            };
            self.members.push(members);
        }
        Ok(Ok(()))
    }

    /// Returns the size factors of the groups, and a result row for each group. The error is a message for the user.
    fn factors(&self) -> Result<(Factors, Vec<PlanRow>), String> {
        let blocks = Factor::new(1, self.blocks.count.max(1).into()).unwrap_or_default();
        let row = |(group, factor): &(PlanGroup, Factor)| {
            let factor = if *group == PlanGroup::Blocks { factor.product(blocks)? } else { *factor };
            Some(PlanRow { name: group.name().to_owned(), factor, ..PlanRow::default() })
        };
        let problem = || "too many groups, or a factor that is too large".to_owned();
        let rows: Vec<PlanRow> = self.question.groups.iter().map(row).collect::<Option<_>>().ok_or_else(problem)?;
        Ok((Factors::new(rows.iter().map(|row| row.factor).collect()).ok_or_else(problem)?, rows))
    }

    fn start_pass(&self, Side { file, history }: Side<'_>) -> Result<Pass, String> {
        let (factors, rows) = self.factors()?;
        let (Moment(moment), bytes) = history.live_peak();
        let peak = (moment, bytes);
        let paused = paused_over_time(&file.snapshot, self.device);
        let clock = history.events.times.time_axis();
        let moment = |us: i64| clock.map_or(0, |clock| clock.events_before_us(us.saturating_add(1)));
        let paused = paused.changes().map(|(us, bytes)| (moment(us), bytes)).collect();
        let planned = PlannedCurve::new(factors, self.question.batch, self.question.capacity).with_paused(paused);
        let cautious = self.question.capacity.map(|_| planned.clone());
        Ok(Pass { peak, changes: Changes::default(), planned, cautious, has_started: false, rows, batch_at_peak: 0 })
    }
}
