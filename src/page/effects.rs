//! Carries out the effects of actions.

use crate::panels::{queries, rules, settings, side, sources, tree, views};
use crate::ranks_server::served_files;
use crate::surveyor::{Source, Task};
use crate::wire::ToWorker;
use crate::{Page, address, clipboard, embedded, export, export_file, file_cache, files, html, storage};
use compare::FileSlot;
use protocol::SurveyorRequest;
use ui::shell::action::Action;
use ui::state::comparing::ComparingAction;
use ui::state::effect::{Effect, FileToSurvey, Origin, RanksEffect};
use ui::state::ranks::RanksAction;
use ui::text::side::Side;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlElement;

impl Page {
    /// Carries out an effect of an action.
    pub(super) fn perform(&self, effect: Effect) {
        let app = self.app;
        match effect {
            Effect::PickFile => app.dom.by_id("file").iter().for_each(HtmlElement::click),
            Effect::PickTrace => app.dom.by_id("trace").iter().for_each(HtmlElement::click),
            Effect::PickSecond => app.dom.by_id("second").iter().for_each(HtmlElement::click),
            Effect::Load { origin, member, load, range } => {
                app.client.set_load_range(range);
                if matches!(origin, Origin::Link(_)) {
                    app.recent.clear_pending();
                    app.files.forget_sender();
                }
                self.load(origin, member, (load, FileSlot::First));
            }
            Effect::LoadSecond { origin, member, load } => self.load(origin, member, (load, FileSlot::Second)),
            Effect::Ranks(effect) => self.perform_ranks(effect),
            Effect::Sql(effect) => queries::perform(app, effect),
            Effect::CloseSecond => app.client.send(&ToWorker::CloseSecond),
            Effect::Ask(request) => {
                let request = app.simulator.route(request);
                request.into_iter().for_each(|request| app.client.send(&ToWorker::Ask(request)));
            }
            Effect::CancelSimulation => app.simulator.cancel(),
            Effect::EndSimulation => app.simulator.stop(),
            Effect::Upload { device_place, scene } => app.painter.borrow_mut().upload(device_place, &scene),
            Effect::Store(text) => storage::store(&app.dom, settings::KEY, &text),
            Effect::StoreRules(text) => rules::store_unless_embedded(app, &text),
            Effect::ReadYaml(text) => app.yaml.parse(text),
            Effect::Save(name, text) => rules::save(app, name, &text),
            Effect::FollowSource => tree::open_source(&app.dom),
            Effect::FocusFind => app.dom.focus_and_select("find"),
            Effect::ReadText(place, name) => sources::read(app, place, name),
            Effect::FocusFilter => {
                let is_events = app.state.borrow().views.tab == ui::text::tab::Tab::Events;
                app.dom.focus_on(if is_events { "events-filter" } else { "table-filter" });
            }
            Effect::FocusRequest => app.dom.focus_on("segments-request"),
            Effect::FocusGoTo => {
                side::reveal(&app.dom, Side::Selection);
                app.dom.focus_and_select("at");
            }
            Effect::FocusView => self.focus_view(),
            // Moves the focus from the timeline to the view, or back.
            Effect::ChangeFocus if views::has_focus(&app.dom) => app.dom.focus_timeline(),
            Effect::ChangeFocus => {
                if app.state.borrow().views.visible().is_some() {
                    self.focus_view();
                }
            }
            Effect::Copy(text) => clipboard::copy(app, &text),
            Effect::PromiseCopy => self.clipboard.promise(app),
            Effect::CopyPromised(text) => self.clipboard.copy_promised(app, &text),
            Effect::CopyLink(fragment) => address::copy(app, &fragment),
            Effect::Export(picture) => export::save(app, picture),
            Effect::WriteFile(wanted) => export_file::write(app, wanted),
            Effect::SaveHtml(wanted) => html::save(app, wanted),
            Effect::FocusCapacity => {
                side::reveal(&app.dom, Side::File);
                app.dom.focus_on("capacity");
            }
            Effect::ReplaceWorker => app.client.stop(),
            Effect::RestoreOpen => {
                if let (Some(sender), Some(toast)) = (app.files.sender(), &app.state.borrow().toast) {
                    sender.send_event("error", "message", &toast.text);
                }
                app.files.restore_open();
                app.client.restore_previous();
            }
        }
    }

    fn load(&self, origin: Origin, member: Option<u32>, (load, which): (u32, FileSlot)) {
        let app = self.app;
        match origin {
            Origin::File(place) => {
                if let Some(file) = app.files.get(place) {
                    file_cache::read(app, file, member, (load, which));
                }
            }
            Origin::Link(url) => match (embedded::file(&app.dom, &url), address::resolve(&app.dom, &url)) {
                (Some(file), _) => app.client.open(&file, member, (load, which)),
                (None, Ok(link)) => files::fetch(app, link, member, (load, which)),
                (None, Err(cause)) if which == FileSlot::First => app.dispatch(Action::LoadFailed(cause)),
                (None, Err(cause)) => {
                    app.dispatch(Action::Comparing(ComparingAction::LoadRefused(load, cause)));
                }
            },
        }
    }

    fn perform_ranks(&self, effect: RanksEffect) {
        let app = self.app;
        match effect {
            RanksEffect::Survey(files) => {
                let task = |of: FileToSurvey| {
                    let source = match of.origin {
                        Origin::File(place) => Source::File(app.files.get(place)?),
                        Origin::Link(link) => Source::Link(link),
                    };
                    Some(Task { source, member: of.member, name: of.name })
                };
                app.surveyor.start_survey(files.into_iter().filter_map(task).collect());
            }
            RanksEffect::List => spawn_local(async {
                let listed = served_files(&app.dom.window).await;
                app.dispatch(Action::Ranks(RanksAction::Listed(listed)));
            }),
            RanksEffect::NoteOmitted(sentence) => app.surveyor.send(&SurveyorRequest::NoteOmitted(sentence)),
            RanksEffect::Ask(serial, rows, order) => {
                app.surveyor.send(&SurveyorRequest::Report { serial, rows, order });
            }
            RanksEffect::SetNamePattern(typed) => app.surveyor.send(&SurveyorRequest::SetNamePattern(typed)),
            RanksEffect::Cancel => app.surveyor.cancel(),
            RanksEffect::Resume => app.surveyor.resume(),
            RanksEffect::End => app.surveyor.stop(),
        }
    }

    /// Focuses the visible view. A panel that becomes visible is rendered first, because hidden elements cannot be
    /// focused.
    fn focus_view(&self) {
        self.panels.borrow_mut().render_all(self.app);
        let tab = self.app.state.borrow().views.tab;
        views::focus_view(&self.app.dom, tab);
    }
}
