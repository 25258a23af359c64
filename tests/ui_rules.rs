//! Category rules without a browser: the active set, typed text, storage, and requests to the worker.
#![allow(clippy::expect_used, clippy::panic, reason = "test helpers fail by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::protocol::category::StackOrigin;
use memscape::protocol::{
    CategoryRule, CategorySet, DeviceSummary, Grouping, LegendEntry, Plot, Report, Sheet, Topic, Weight,
};
use memscape::ui::features::State;
use memscape::ui::plot::legend;
use memscape::ui::prefs::rules::{RulesView, view};
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::drawing::Canvas;
use memscape::ui::state::effect::Effect;
use memscape::ui::state::rules::{RuleEdit, RuleField, RulesAction, SetChoice, SetFormat};
use std::collections::BTreeSet;

const OWN: &str = "{\"weights\": \"param\", \"rest\": \".\"}";
const YAML: &str = "rules:\n  - name: everything\n    pattern: .\n";
const WRONG: &str = "{\"weights\": \"param\",\n\"rest\": \"(\"}";

/// A worker that sends no replies by itself.
struct SilentWorker;

impl Worker for SilentWorker {}

type Page = face::Page<SilentWorker>;

impl Page {
    fn open() -> Page {
        let mut page = Page::with_canvas(CANVAS, SilentWorker);
        page.open_again();
        page
    }

    fn open_again(&mut self) {
        let device = DeviceSummary { events: 999, peak_event: 500, drawn_peak: 1 << 20, ..DeviceSummary::default() };
        self.load(vec![device]);
    }

    fn rules(&mut self, action: RulesAction) {
        self.act(Action::Rules(action));
    }

    fn type_rules(&mut self, text: &str) {
        self.rules(RulesAction::Typed(text.into()));
    }

    /// The rule set sent to the worker.
    fn sent_set(&self) -> Option<CategorySet> {
        self.find_effect(|effect| match effect {
            Effect::Ask(Request::Categories(set)) => Some((**set).clone()),
            _ => None,
        })
    }

    /// Category names of the set sent to the worker, "unknown" last.
    fn sent_categories(&self) -> Vec<String> {
        self.sent_set().map(|set| set.categories()).unwrap_or_default()
    }

    fn report_request(&self) -> Option<(u32, Topic)> {
        self.find_effect(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, question: Question::Report(question), .. })) => {
                Some((*serial, question.topic))
            }
            _ => None,
        })
    }

    fn answer(&mut self) {
        let (serial, topic) = self.report_request().expect("a question");
        self.answer_with(serial, Answer::Report(Box::new(Report { topic, ..Report::default() })));
    }

    /// Error of the last command, as the dialog shows it.
    fn command_error(&self) -> String {
        self.view().errors.into_iter().find(|(line, _)| *line == 0).map(|(_, text)| text).unwrap_or_default()
    }

    fn stored_rules(&self) -> Option<String> {
        self.find_effect(|effect| match effect {
            Effect::StoreRules(text) => Some(text.clone()),
            _ => None,
        })
    }

    fn saved_file(&self) -> Option<(&'static str, String)> {
        self.find_effect(|effect| match effect {
            Effect::Save(name, text) => Some((*name, text.clone())),
            _ => None,
        })
    }

    fn view(&self) -> RulesView {
        view(&self.state)
    }
}

#[test]
fn default_rules_are_active_and_not_sent() {
    let mut page = Page::open();
    assert_eq!(page.sent_set(), None);
    page.act(Action::Command(commands::TOGGLE_RULES));
    let shown = page.view();
    assert_eq!(shown.choice, SetChoice::Standard);
    assert_eq!(CategorySet::parse(&shown.text), Ok(CategorySet::standard()), "the text contains the whole set");
    assert_eq!((shown.errors, shown.can_undo), (vec![], false));
    assert!(shown.note.contains(" rules, "), "{}", shown.note);
}

#[test]
fn change_in_open_dialog_updates_preview() {
    let mut page = Page::open();
    page.act(Action::Command(commands::TOGGLE_RULES));
    assert_eq!(page.report_request().map(|(_, topic)| topic), Some(Topic::Categories), "requested in any view");
    page.answer();
    page.rules(RulesAction::Chosen(SetChoice::Mosaic));
    assert_eq!(page.sent_set(), Some(CategorySet::mosaic()));
    let (serial, topic) = page.report_request().expect("a report of the new set");
    assert_eq!(topic, Topic::Categories);
    page.rules(RulesAction::Chosen(SetChoice::Own));
    page.type_rules(OWN);
    assert_eq!((page.sent_set(), page.report_request()), (None, None), "changes wait for the answer");
    let sheet = Sheet { title: "of Mosaic's".into(), ..Sheet::default() };
    let report = Report { topic, sheets: vec![sheet], ..Report::default() };
    page.answer_with(serial, Answer::Report(Box::new(report)));
    assert_eq!(page.sent_categories(), ["weights", "rest", "unknown"], "the newest set is sent next");
    let shown = memscape::ui::features::insights::view::categories(&page.state.insights)
        .expect("the previous report stays until then");
    assert_eq!(shown.title, "of Mosaic's");
    page.answer();
    assert_eq!(page.sent_set(), None, "the set is sent once");
    page.rules(RulesAction::Closed);
    assert_eq!(page.report_request(), None, "the call tree is visible");
    page.open_again();
    assert_eq!(page.sent_categories(), ["weights", "rest", "unknown"], "the set is sent again for another load");
}

#[test]
fn invalid_rules_show_error_and_keep_text() {
    let mut page = Page::open();
    page.rules(RulesAction::Chosen(SetChoice::Own));
    assert_eq!(CategorySet::parse(&page.view().text), Ok(CategorySet::standard()), "own rules start with a valid set");
    page.type_rules(OWN);
    assert_eq!(page.sent_categories(), ["weights", "rest", "unknown"]);
    page.type_rules(WRONG);
    assert_eq!(page.sent_set(), None, "the last valid set stays active");
    let shown = page.view();
    assert_eq!((shown.text.as_str(), shown.errors.len(), shown.errors[0].0), (WRONG, 1, 2));
    assert!(
        shown.errors[0].1.starts_with("line 2: ") && shown.note.starts_with("Until this is fixed, these apply: "),
        "{shown:?}"
    );
    page.rules(RulesAction::Saved(SetFormat::Json));
    assert_eq!((page.saved_file(), page.command_error()), (None, "Fix line 2 first.".to_owned()));
    page.rules(RulesAction::Chosen(SetChoice::Own));
    assert_eq!(page.command_error(), "", "the error is cleared by the next action");

    // Text is kept when switching to another set and back, or opening the page again.
    page.rules(RulesAction::Chosen(SetChoice::Mosaic));
    assert_eq!(page.view().errors, [], "another set has no errors");
    page.rules(RulesAction::Chosen(SetChoice::Own));
    let stored = page.stored_rules().expect("the rules are stored");
    let mut next = Page::with_canvas(CANVAS, SilentWorker);
    next.rules(RulesAction::Loaded(stored));
    next.act(Action::Resized(Canvas { width_px: 100, height_px: 100, scale: 1.0 }));
    next.open_again();
    assert_eq!((next.view().text.as_str(), next.view().errors.len()), (WRONG, 1));
    assert_eq!(next.sent_categories(), ["weights", "rest", "unknown"], "the last valid set is stored too");

    // Replacing the text can be undone.
    next.rules(RulesAction::Copied(SetChoice::Mosaic));
    assert!(next.view().can_undo && next.view().errors.is_empty());
    next.rules(RulesAction::Undo);
    assert_eq!((next.view().text.as_str(), next.view().can_undo), (WRONG, false));
    next.rules(RulesAction::Imported(Ok(YAML.into())));
    next.rules(read(YAML));
    assert_eq!((next.sent_categories(), next.view().can_undo), (vec!["everything".to_owned(), "unknown".into()], true));
    next.rules(RulesAction::Imported(Err("x.json could not be read.".into())));
    assert_eq!(next.command_error(), "x.json could not be read.");
}

#[test]
fn rule_set_is_saved_only_in_formats_that_support_its_rules() {
    let mut page = Page::open();
    let mut saved = |choice, form| {
        page.rules(RulesAction::Chosen(choice));
        page.rules(RulesAction::Saved(form));
        page.saved_file()
    };
    let (name, text) = saved(SetChoice::Standard, SetFormat::Json).expect("the set is saved");
    assert_eq!((name, CategorySet::parse(&text)), ("categories.json", Ok(CategorySet::standard())));
    assert_eq!(saved(SetChoice::Mosaic, SetFormat::Mosaic), None);
    assert!(page.command_error().starts_with("Mosaic's format cannot express rule 1:"), "{}", page.command_error());
    page.rules(RulesAction::Imported(Ok(OWN.into())));
    page.rules(RulesAction::Saved(SetFormat::Mosaic));
    let (name, text) = page.saved_file().expect("plain rules are saved");
    assert_eq!((name, CategorySet::parse(&text)), ("categories-mosaic.json", CategorySet::parse(OWN)));
}

#[test]
fn stored_rules_are_restored_and_invalid_ones_ignored() {
    let kept = |stored: &str| {
        let mut page = Page::with_canvas(CANVAS, SilentWorker);
        page.rules(RulesAction::Loaded(stored.into()));
        (page.view().choice, page.state.rules != State::default().rules)
    };
    assert_eq!(kept("memscape rules 1 mosaic 0\n"), (SetChoice::Mosaic, true));
    assert_eq!(kept(&format!("memscape rules 1 own {}\n{OWN}", OWN.len())), (SetChoice::Own, true));
    for strange in [
        "",
        "memscape rules 2 mosaic 0\n",
        "memscape rules 1 mosaic\n",
        "memscape rules 1 ours 0\n",
        "memscape rules 1 mosaic 9\nx",
        "memscape rules 1 mosaic 1\nä",
        "memscape rules 1 mosaic 99999999999999999999\n",
    ] {
        assert_eq!(kept(strange), (SetChoice::Standard, false), "{strange:?}");
    }
    assert_eq!(
        kept(&format!("memscape rules 1 own {}\n{WRONG}", WRONG.len())).0,
        SetChoice::Standard,
        "no valid set is stored"
    );
}

#[test]
fn new_rules_request_scene_and_search_again() {
    let mut page = Page::open();
    page.act(Action::ColouringChosen(Grouping::Category));
    page.act(Action::FindTyped("@category activation".into()));
    page.rules(RulesAction::Chosen(SetChoice::Mosaic));
    let place = |of: fn(&Effect) -> bool| page.effects.iter().position(of);
    let sent = place(|effect| matches!(effect, Effect::Ask(Request::Categories(_)))).expect("the set is sent");
    let scene =
        place(|effect| matches!(effect, Effect::Ask(Request::Ask(Ask { question: Question::Scene { .. }, .. }))));
    let search = place(|effect| matches!(effect, Effect::Ask(Request::Ask(Ask { question: Question::Find(_), .. }))));
    assert!(scene > Some(sent) && search > Some(sent), "{:?}", page.effects);
}

#[test]
fn legend_has_bytes_at_peak_and_cursor() {
    let entry = |slot, label: &str, peak_requested, at: u64| LegendEntry {
        slot,
        label: label.into(),
        groups: 1,
        peak_requested,
        peak_count: u64::from(peak_requested > 0),
        at: Weight { bytes: at, count: u32::from(at > 0) },
    };
    let entries = [entry(1, "a", 0, 2048), entry(2, "b", 4096, 0), entry(3, "c", 0, 0)];
    let lines = legend::lines(Plot::Stack, Grouping::Category, &entries, &BTreeSet::new(), None);
    let sent: Vec<_> = lines.iter().map(|line| (line.label.as_str(), line.columns.clone())).collect();
    let texts = |now: &str, peak: &str| [now.to_owned(), peak.to_owned()];
    assert_eq!(sent, [("b", texts("0 B", "4.00 KiB")), ("a", texts("2.00 KiB", "0 B"))]);
    let exact = "b\nat the cursor 0 B requested in 0 allocations\nat the peak 4,096 B requested in 1 allocation";
    assert_eq!(lines[0].exact, exact);

    // With a known window the legend lists all colours that it shows, by bytes at the peak, then by area in the window.
    let covered = vec![0, 0, 10, 900];
    let labels = |colouring| {
        let lines = legend::lines(Plot::Stack, colouring, &entries, &BTreeSet::new(), Some(&covered));
        lines.into_iter().map(|line| line.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(Grouping::Category), ["b", "c", "a"]);
    assert_eq!(labels(Grouping::Size), ["a", "b", "c"], "sizes keep their order");
    let hidden = vec![0; 64];
    let lines = legend::lines(Plot::Stack, Grouping::Category, &entries, &BTreeSet::from([2]), Some(&hidden));
    assert_eq!(
        lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>(),
        ["b", "a"],
        "only the entry live at the cursor and the faded one are listed"
    );
}

#[test]
fn edits_in_rule_form_and_rule_text_update_each_other() {
    let mut page = Page::open();
    let rows = page.view().rows.expect("the built-in set");
    assert_eq!(rows.len(), CategorySet::standard().rules.len());
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(page.view().rows, Some(rows), "the built-in set cannot be edited");
    page.rules(RulesAction::Chosen(SetChoice::Own));
    page.type_rules(OWN);
    let shown = |page: &Page| {
        let set = CategorySet::parse(&page.view().text).ok();
        let rows = page.view().rows.unwrap_or_default();
        if let Some(set) = &set {
            let of = |rule: &CategoryRule| (rule.category.clone(), rule.name.clone().unwrap_or_default());
            let shown: Vec<_> = rows.iter().map(|row| (row.values[0].clone(), row.values[1].clone())).collect();
            assert_eq!(shown, set.rules.iter().map(of).collect::<Vec<_>>(), "form and text are equal");
        }
        rows.into_iter().map(|row| row.values[0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&page), ["weights", "rest"]);
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(shown(&page), ["new category", "weights", "rest"], "a new rule is added first");
    assert!(page.sent_categories().contains(&"new category".to_owned()));
    let set = |place, field, text: &str| RulesAction::Edited(RuleEdit::Set(place, field, text.into()));
    page.rules(set(0, RuleField::Category, "cache"));
    page.rules(set(0, RuleField::Function, "^cached_"));
    page.rules(set(0, RuleField::File, "cache\\.py$"));
    page.rules(set(0, RuleField::Note, "ours"));
    page.rules(RulesAction::Edited(RuleEdit::Moved(0, 1)));
    assert_eq!(shown(&page), ["weights", "cache", "rest"]);
    let rule = &CategorySet::parse(&page.view().text).unwrap().rules[1];
    assert_eq!((rule.name.as_deref(), rule.file.as_deref()), (Some("^cached_"), Some("cache\\.py$")));
    assert_eq!(rule.note, "ours");
    page.rules(set(1, RuleField::File, ""));
    assert_eq!(CategorySet::parse(&page.view().text).unwrap().rules[1].file, None, "an empty field matches any file");

    // An invalid pattern stays in the form, is marked, and is not applied.
    page.rules(set(1, RuleField::Function, "("));
    let view = page.view();
    let wrong: Vec<bool> = view.rows.unwrap().iter().map(|row| row.is_wrong).collect();
    assert_eq!((wrong, view.errors.len()), (vec![false, true, false], 1));
    assert_eq!(page.sent_set(), None);
    page.rules(set(1, RuleField::Function, "^x$"));
    assert!(page.view().errors.is_empty());

    page.rules(RulesAction::Edited(RuleEdit::Removed(1)));
    assert_eq!((shown(&page), page.view().can_undo), (vec!["weights".to_owned(), "rest".to_owned()], true));
    page.rules(RulesAction::Undo);
    assert_eq!(shown(&page), ["weights", "cache", "rest"]);
    for edit in [RuleEdit::Removed(9), RuleEdit::Moved(0, 9), RuleEdit::Set(9, RuleField::Note, "x".into())] {
        page.rules(RulesAction::Edited(edit));
        assert_eq!(shown(&page), ["weights", "cache", "rest"], "an unknown rule is ignored");
    }
    page.type_rules("{");
    assert_eq!(page.view().rows, None, "no form for invalid text");
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(page.view().text, "{");
}

#[test]
fn conditions_not_in_form_are_described_in_words() {
    let page = Page::open();
    let rows = page.view().rows.unwrap();
    let set = CategorySet::standard();
    for (row, rule) in rows.iter().zip(&set.rules) {
        let more = rule.has_lifetime_condition() || rule.like.is_some() || rule.of == StackOrigin::Freed;
        assert_eq!(!row.conditions.is_empty(), more, "{row:?}");
    }
    let others = |text: &str| rows.iter().any(|row| row.conditions.contains(text));
    assert!(
        others("lifetime ≥ 64 events") && others("recorded as “parameter”") && others("allocated before recording")
    );
    assert!(others("same size as “gradient”") && others("1/4 of the size of a frame matching ^dequantize_4bit$"));
}

/// Reply of the YAML reader.
fn read(text: &str) -> RulesAction {
    RulesAction::YamlRead(text.to_owned(), Ok(memscape::yaml::read(text)))
}

fn yaml_request(page: &Page) -> Option<String> {
    page.find_effect(|effect| match effect {
        Effect::ReadYaml(text) => Some(text.clone()),
        _ => None,
    })
}

#[test]
fn yaml_rules_are_applied_after_reading() {
    let mut page = Page::open();
    page.rules(RulesAction::Imported(Ok(YAML.into())));
    assert_eq!(yaml_request(&page).as_deref(), Some(YAML));
    assert_eq!((page.view().choice, page.sent_set()), (SetChoice::Standard, None), "nothing changes until then");
    assert!(page.view().note.starts_with("Reading YAML…"), "{}", page.view().note);
    page.rules(read(YAML));
    assert_eq!((page.view().choice, page.view().text.as_str()), (SetChoice::Own, YAML));
    assert_eq!(page.sent_categories(), ["everything", "unknown"]);
    assert_eq!(page.view().note, "1 rule, 1 category");
    // Stored rules work without the reader.
    let stored = page.stored_rules().unwrap();
    let mut next = Page::open();
    next.rules(RulesAction::Loaded(stored));
    assert_eq!(
        (next.view().choice, next.sent_categories()),
        (SetChoice::Own, vec!["everything".into(), "unknown".into()])
    );
    assert_eq!(yaml_request(&next).as_deref(), Some(YAML));
    next.rules(read(YAML));
    assert_eq!((next.view().text.as_str(), next.sent_set()), (YAML, None), "the same set");
    // Without stored rules, YAML text needs the reader.
    let mut bare = Page::open();
    bare.rules(RulesAction::Loaded(format!("memscape rules 1 own {}\n{YAML}", YAML.len())));
    assert_eq!(bare.view().choice, SetChoice::Standard);
    bare.rules(read(YAML));
    assert_eq!((bare.view().choice, bare.sent_categories().len()), (SetChoice::Own, 2));
}

#[test]
fn typed_yaml_is_read_and_late_replies_are_dropped() {
    let mut page = Page::open();
    page.rules(RulesAction::Chosen(SetChoice::Own));
    page.type_rules(YAML);
    assert_eq!((page.view().text.as_str(), page.view().errors.len()), (YAML, 0), "typed text stays");
    page.type_rules(OWN);
    let names = page.sent_categories();
    page.rules(read(YAML));
    assert_eq!((page.view().text.as_str(), page.sent_set()), (OWN, None), "the reply is about another text");
    page.type_rules("a: [1");
    page.rules(read("a: [1"));
    assert_eq!(page.view().errors.first().map(|(line, _)| *line), Some(1), "{:?}", page.view());
    page.type_rules(YAML);
    page.rules(RulesAction::YamlRead(YAML.into(), Err("the server answered 404".into())));
    assert_eq!(page.command_error(), "YAML could not be read: the server answered 404. Rules as JSON can.");
    page.type_rules(OWN);
    assert_eq!((page.command_error().as_str(), names.len() > 1), ("", true));
}
