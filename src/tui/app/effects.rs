//! Carries out the effects of actions.

use super::App;
use crate::field::FieldPurpose;
use crate::panes::{Focus, Order};
use crate::ranks::Survey;
use crate::worker::Load;
use compare::FileSlot;
use protocol::{Answer, LoadRange, Reply};
use ui::shell::action::Action;
use ui::state::comparing::ComparingAction;
use ui::state::effect::{Effect, FileToSurvey, Origin, RanksEffect};
use ui::state::ranks::RanksAction;

impl App {
    /// Carries out an effect of an action.
    pub(super) fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Load { origin, member, load, range } => {
                if let Err(cause) = self.load(&origin, (member, load, FileSlot::First), range) {
                    self.act(Action::LoadFailed(cause));
                }
            }
            Effect::LoadSecond { origin, member, load } => {
                if let Err(cause) = self.load(&origin, (member, load, FileSlot::Second), LoadRange::ALL) {
                    self.act(Action::Comparing(ComparingAction::LoadRefused(load, cause)));
                }
            }
            Effect::CloseSecond => self.worker.end_second(),
            Effect::Ask(request) => self.worker.ask(request),
            Effect::RestoreOpen => {
                if !self.previous_files.is_empty() {
                    self.files = std::mem::take(&mut self.previous_files);
                }
                self.worker.restore_previous();
            }
            Effect::Upload { device_place, scene } => {
                let places: Vec<usize> = self.state.shown_lanes().map(|lane| lane.index).collect();
                self.rasterizer.keep_scenes(&|number| places.contains(&(number as usize)));
                self.rasterizer.upload(device_place as u32, &scene);
            }
            Effect::FocusFind => self.open_field(FieldPurpose::Find),
            Effect::FocusFilter => self.open_field(FieldPurpose::Filter),
            Effect::FocusRequest => self.open_field(FieldPurpose::Request),
            Effect::FocusGoTo => self.open_field(FieldPurpose::Moment),
            Effect::FocusCapacity => self.open_field(FieldPurpose::Capacity),
            Effect::PickFile => self.open_field(FieldPurpose::Open),
            Effect::PickSecond => self.open_field(FieldPurpose::Compare),
            Effect::FocusView => self.focus = Focus::View,
            Effect::ChangeFocus => {
                self.focus = if self.focus == Focus::Timeline { Focus::View } else { Focus::Timeline };
            }
            Effect::Copy(text) | Effect::CopyPromised(text) => self.copy(text),
            Effect::CopyLink(fragment) => self.copy(["#", &fragment].concat()),
            Effect::Ranks(effect) => self.survey(effect),
            Effect::Export(_) | Effect::WriteFile(_) | Effect::SaveHtml(_) | Effect::PickTrace => {
                self.message = "Files are written by memscape export, plot and html: o shows the command.".to_owned();
            }
            // Effects for a browser, or for parts of the page that the terminal does not have.
            Effect::PromiseCopy
            | Effect::ReadText(..)
            | Effect::Store(_)
            | Effect::StoreRules(_)
            | Effect::ReadYaml(_)
            | Effect::Save(..)
            | Effect::FollowSource
            | Effect::Sql(_)
            | Effect::CancelSimulation
            | Effect::EndSimulation
            | Effect::ReplaceWorker => {}
        }
    }

    fn survey(&mut self, effect: RanksEffect) {
        match effect {
            RanksEffect::Survey(files) => {
                let path = |file: FileToSurvey| {
                    let Origin::File(place) = file.origin else { return None };
                    Some((file.name, self.files.get(place)?.path.clone()))
                };
                let files = files.into_iter().filter_map(path).collect();
                self.survey.start(files, self.disk.survey_function());
            }
            // Local files are listed completely from the start.
            RanksEffect::List | RanksEffect::NoteOmitted(_) => {}
            RanksEffect::Ask(serial, rows, order) => {
                let answer = Answer::Report(Box::new(self.survey.report(rows, order)));
                self.act(Action::Ranks(RanksAction::Reply(Reply::Answer { serial, answer })));
            }
            RanksEffect::SetNamePattern(typed) => self.survey.name_by(typed),
            RanksEffect::Cancel => self.survey.cancel(),
            RanksEffect::Resume => self.survey.resume(self.disk.survey_function()),
            RanksEffect::End => self.survey = Survey::default(),
        }
    }

    fn copy(&mut self, text: String) {
        self.orders.push(Order::Copy(text));
        self.act(Action::Copied(Ok(())));
    }

    fn load(
        &mut self,
        origin: &Origin,
        (member, load, which): (Option<u32>, u32, FileSlot),
        range: LoadRange,
    ) -> Result<(), String> {
        let Origin::File(place) = origin else { return Err("Links are opened in a browser.".to_owned()) };
        let Some(file) = self.files.get(*place) else { return Err("The file is gone.".to_owned()) };
        let name = file.name.clone();
        let wrong = |error: String| [&name, ": ", &error].concat();
        let source = self.disk.open(&file.path).map_err(|error| wrong(error.to_string()))?;
        self.worker.load(Load { source, name: name.clone(), member, load, which, range }).map_err(wrong)
    }
}
