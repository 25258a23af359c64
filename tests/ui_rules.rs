//! The rules of categories without a browser: which set is in force, what is typed, kept and told, and when.
#![allow(clippy::expect_used, clippy::panic, reason = "the helpers of a test fail as it does, by panicking")]

use crate::face::{self, CANVAS, Worker};
use memscape::engine::protocol::category::StackOf;
use memscape::engine::protocol::{
    CategoryRule, CategorySet, DeviceSummary, Grouping, LegendEntry, Plot, Report, Sheet, Topic, Weight,
};
use memscape::engine::{Answer, Ask, Question, Request};
use memscape::ui::rules::{Choice, Form, RuleEdit, RuleField, RulesAction, RulesView, view};
use memscape::ui::shown::Canvas;
use memscape::ui::{Action, Command, Effect, State, legend};
use std::collections::BTreeSet;

const OWN: &str = "{\"weights\": \"param\", \"rest\": \".\"}";
const YAML: &str = "rules:\n  - name: everything\n    pattern: .\n";
const WRONG: &str = "{\"weights\": \"param\",\n\"rest\": \"(\"}";

/// Answers nothing by itself.
struct Set;

impl Worker for Set {}

type Page = face::Page<Set>;

impl Page {
    fn open() -> Page {
        let mut page = Page::on(CANVAS, Set);
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

    fn typed(&mut self, text: &str) {
        self.rules(RulesAction::Typed(text.into()));
    }

    /// The set that the worker is told.
    fn told(&self) -> Option<CategorySet> {
        self.did(|effect| match effect {
            Effect::Ask(Request::Categories(set)) => Some((**set).clone()),
            _ => None,
        })
    }

    /// The names of its categories, the unknown last.
    fn told_names(&self) -> Vec<String> {
        self.told().map(|set| set.categories()).unwrap_or_default()
    }

    fn asked(&self) -> Option<(u32, Topic)> {
        self.did(|effect| match effect {
            Effect::Ask(Request::Ask(Ask { serial, what: Question::Report(question), .. })) => {
                Some((*serial, question.topic))
            }
            _ => None,
        })
    }

    fn answer(&mut self) {
        let (serial, topic) = self.asked().expect("a question");
        self.answered(serial, Answer::Report(Box::new(Report { topic, ..Report::default() })));
    }

    /// Why what was wanted is not done, as the dialog says it.
    fn refused(&self) -> String {
        self.view().errors.into_iter().find(|(line, _)| *line == 0).map(|(_, text)| text).unwrap_or_default()
    }

    fn stored(&self) -> Option<String> {
        self.did(|effect| match effect {
            Effect::StoreRules(text) => Some(text.clone()),
            _ => None,
        })
    }

    fn saved(&self) -> Option<(&'static str, String)> {
        self.did(|effect| match effect {
            Effect::Save(name, text) => Some((*name, text.clone())),
            _ => None,
        })
    }

    fn view(&self) -> RulesView {
        view(&self.state)
    }
}

#[test]
fn ours_are_in_force_and_need_not_be_told() {
    let mut page = Page::open();
    assert_eq!(page.told(), None);
    page.act(Action::Command(Command::ToggleRules));
    let shown = page.view();
    assert_eq!(shown.choice, Choice::Standard);
    assert_eq!(CategorySet::parse(&shown.text), Ok(CategorySet::standard()), "the text says all of it");
    assert_eq!((shown.errors, shown.can_undo), (vec![], false));
    assert!(shown.note.contains(" rules, "), "{}", shown.note);
}

#[test]
fn while_the_dialog_is_open_each_change_shows_what_it_brings_about() {
    let mut page = Page::open();
    page.act(Action::Command(Command::ToggleRules));
    assert_eq!(page.asked().map(|(_, topic)| topic), Some(Topic::Categories), "whatever view is seen");
    page.answer();
    page.rules(RulesAction::Chosen(Choice::Mosaic));
    assert_eq!(page.told(), Some(CategorySet::mosaic()));
    let (serial, topic) = page.asked().expect("what it tells");
    assert_eq!(topic, Topic::Categories);
    page.rules(RulesAction::Chosen(Choice::Own));
    page.typed(OWN);
    assert_eq!((page.told(), page.asked()), (None, None), "they wait for the answer");
    let sheet = Sheet { title: "of Mosaic's".into(), ..Sheet::default() };
    let report = Report { topic, sheets: vec![sheet], ..Report::default() };
    page.answered(serial, Answer::Report(Box::new(report)));
    assert_eq!(page.told_names(), ["weights", "rest", "unknown"], "then the newest");
    let shown = memscape::ui::why::view::categories(&page.state.why).expect("the one before stays until then");
    assert_eq!(shown.title, "of Mosaic's");
    page.answer();
    assert_eq!(page.told(), None, "once");
    page.rules(RulesAction::Closed);
    assert_eq!(page.asked(), None, "the tree is seen");
    page.open_again();
    assert_eq!(page.told_names(), ["weights", "rest", "unknown"], "another load is told anew");
}

#[test]
fn what_is_wrong_stands_beside_it_and_nothing_is_lost() {
    let mut page = Page::open();
    page.rules(RulesAction::Chosen(Choice::Own));
    assert_eq!(CategorySet::parse(&page.view().text), Ok(CategorySet::standard()), "a start that works");
    page.typed(OWN);
    assert_eq!(page.told_names(), ["weights", "rest", "unknown"]);
    page.typed(WRONG);
    assert_eq!(page.told(), None, "what was right last stays in force");
    let shown = page.view();
    assert_eq!((shown.text.as_str(), shown.errors.len(), shown.errors[0].0), (WRONG, 1, 2));
    assert!(
        shown.errors[0].1.starts_with("line 2: ") && shown.note.starts_with("Until this is fixed, these apply: "),
        "{shown:?}"
    );
    page.rules(RulesAction::Saved(Form::Ours));
    assert_eq!((page.saved(), page.refused()), (None, "Fix line 2 first.".to_owned()));
    page.rules(RulesAction::Chosen(Choice::Own));
    assert_eq!(page.refused(), "", "until something else happens");

    // Another set and back, another page: it stands there as it was typed.
    page.rules(RulesAction::Chosen(Choice::Mosaic));
    assert_eq!(page.view().errors, [], "of another set");
    page.rules(RulesAction::Chosen(Choice::Own));
    let stored = page.stored().expect("it is kept");
    let mut next = Page::on(CANVAS, Set);
    next.rules(RulesAction::Loaded(stored));
    next.act(Action::Resized(Canvas { width_px: 100, height_px: 100, scale: 1.0 }));
    next.open_again();
    assert_eq!((next.view().text.as_str(), next.view().errors.len()), (WRONG, 1));
    assert_eq!(next.told_names(), ["weights", "rest", "unknown"], "what was right last is kept as well");

    // What takes its place at once can be taken back.
    next.rules(RulesAction::Copied(Choice::Mosaic));
    assert!(next.view().can_undo && next.view().errors.is_empty());
    next.rules(RulesAction::Undone);
    assert_eq!((next.view().text.as_str(), next.view().can_undo), (WRONG, false));
    next.rules(RulesAction::Imported(Ok(YAML.into())));
    next.rules(read(YAML));
    assert_eq!((next.told_names(), next.view().can_undo), (vec!["everything".to_owned(), "unknown".into()], true));
    next.rules(RulesAction::Imported(Err("x.json could not be read.".into())));
    assert_eq!(next.refused(), "x.json could not be read.");
}

#[test]
fn sets_are_saved_in_both_forms_where_those_can_say_it() {
    let mut page = Page::open();
    let mut saved = |choice, form| {
        page.rules(RulesAction::Chosen(choice));
        page.rules(RulesAction::Saved(form));
        page.saved()
    };
    let (name, text) = saved(Choice::Standard, Form::Ours).expect("it is");
    assert_eq!((name, CategorySet::parse(&text)), ("categories.json", Ok(CategorySet::standard())));
    assert_eq!(saved(Choice::Mosaic, Form::Mosaic), None);
    assert!(page.refused().starts_with("Mosaic's format cannot express rule 1:"), "{}", page.refused());
    page.rules(RulesAction::Imported(Ok(OWN.into())));
    page.rules(RulesAction::Saved(Form::Mosaic));
    let (name, text) = page.saved().expect("plain rules");
    assert_eq!((name, CategorySet::parse(&text)), ("categories-mosaic.json", CategorySet::parse(OWN)));
}

#[test]
fn what_is_stored_is_read_back_and_nothing_else() {
    let kept = |stored: &str| {
        let mut page = Page::on(CANVAS, Set);
        page.rules(RulesAction::Loaded(stored.into()));
        (page.view().choice, page.state.rules != State::default().rules)
    };
    assert_eq!(kept("memscape rules 1 mosaic 0\n"), (Choice::Mosaic, true));
    assert_eq!(kept(&format!("memscape rules 1 own {}\n{OWN}", OWN.len())), (Choice::Own, true));
    for strange in [
        "",
        "memscape rules 2 mosaic 0\n",
        "memscape rules 1 mosaic\n",
        "memscape rules 1 ours 0\n",
        "memscape rules 1 mosaic 9\nx",
        "memscape rules 1 mosaic 1\nä",
        "memscape rules 1 mosaic 99999999999999999999\n",
    ] {
        assert_eq!(kept(strange), (Choice::Standard, false), "{strange:?}");
    }
    assert_eq!(kept(&format!("memscape rules 1 own {}\n{WRONG}", WRONG.len())).0, Choice::Standard, "none is right");
}

#[test]
fn whatever_names_categories_is_asked_for_again() {
    let mut page = Page::open();
    page.act(Action::ColouringChosen(Grouping::Category));
    page.act(Action::FindTyped("@category activation".into()));
    page.rules(RulesAction::Chosen(Choice::Mosaic));
    let place = |of: fn(&Effect) -> bool| page.done.iter().position(of);
    let told = place(|effect| matches!(effect, Effect::Ask(Request::Categories(_)))).expect("it is told");
    let scene = place(|effect| matches!(effect, Effect::Ask(Request::Ask(Ask { what: Question::Scene { .. }, .. }))));
    let search = place(|effect| matches!(effect, Effect::Ask(Request::Ask(Ask { what: Question::Find(_), .. }))));
    assert!(scene > Some(told) && search > Some(told), "{:?}", page.done);
}

#[test]
fn the_legend_has_both_moments() {
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
    let told: Vec<_> = lines.iter().map(|line| (line.label.as_str(), line.columns.clone())).collect();
    let texts = |now: &str, peak: &str| [now.to_owned(), peak.to_owned()];
    assert_eq!(told, [("b", texts("0 B", "4.00 KiB")), ("a", texts("2.00 KiB", "0 B"))]);
    let exact = "b\nat the cursor 0 B requested in 0 allocations\nat the peak 4,096 B requested in 1 allocation";
    assert_eq!(lines[0].exact, exact);

    // Where the window is known: all that it shows. The most at the peak first, wherever the window is, then the most of it.
    let covered = vec![0, 0, 10, 900];
    let labels = |colouring| {
        let lines = legend::lines(Plot::Stack, colouring, &entries, &BTreeSet::new(), Some(&covered));
        lines.into_iter().map(|line| line.label).collect::<Vec<_>>()
    };
    assert_eq!(labels(Grouping::Category), ["b", "c", "a"]);
    assert_eq!(labels(Grouping::Size), ["a", "b", "c"], "a scale stays in its order");
    let hidden = vec![0; 64];
    let lines = legend::lines(Plot::Stack, Grouping::Category, &entries, &BTreeSet::from([2]), Some(&hidden));
    assert_eq!(
        lines.iter().map(|line| line.label.as_str()).collect::<Vec<_>>(),
        ["b", "a"],
        "live at the moment, and faded"
    );
}

#[test]
fn a_form_edits_the_rules_that_the_text_shows() {
    let mut page = Page::open();
    let rows = page.view().rows.expect("the built-in set");
    assert_eq!(rows.len(), CategorySet::standard().rules.len());
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(page.view().rows, Some(rows), "what is built in stays as it is");
    page.rules(RulesAction::Chosen(Choice::Own));
    page.typed(OWN);
    let shown = |page: &Page| {
        let set = CategorySet::parse(&page.view().text).ok();
        let rows = page.view().rows.unwrap_or_default();
        if let Some(set) = &set {
            let of = |rule: &CategoryRule| (rule.category.clone(), rule.name.clone().unwrap_or_default());
            let shown: Vec<_> = rows.iter().map(|row| (row.values[0].clone(), row.values[1].clone())).collect();
            assert_eq!(shown, set.rules.iter().map(of).collect::<Vec<_>>(), "both show the same");
        }
        rows.into_iter().map(|row| row.values[0].clone()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&page), ["weights", "rest"]);
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(shown(&page), ["new category", "weights", "rest"], "the first wins");
    assert!(page.told_names().contains(&"new category".to_owned()));
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
    assert_eq!(CategorySet::parse(&page.view().text).unwrap().rules[1].file, None, "empty: any file");

    // What is wrong stays in the form, is marked there, and is not used.
    page.rules(set(1, RuleField::Function, "("));
    let view = page.view();
    let wrong: Vec<bool> = view.rows.unwrap().iter().map(|row| row.is_wrong).collect();
    assert_eq!((wrong, view.errors.len()), (vec![false, true, false], 1));
    assert_eq!(page.told(), None);
    page.rules(set(1, RuleField::Function, "^x$"));
    assert!(page.view().errors.is_empty());

    page.rules(RulesAction::Edited(RuleEdit::Removed(1)));
    assert_eq!((shown(&page), page.view().can_undo), (vec!["weights".to_owned(), "rest".to_owned()], true));
    page.rules(RulesAction::Undone);
    assert_eq!(shown(&page), ["weights", "cache", "rest"]);
    for edit in [RuleEdit::Removed(9), RuleEdit::Moved(0, 9), RuleEdit::Set(9, RuleField::Note, "x".into())] {
        page.rules(RulesAction::Edited(edit));
        assert_eq!(shown(&page), ["weights", "cache", "rest"], "there is no such rule");
    }
    page.typed("{");
    assert_eq!(page.view().rows, None, "the text has to be right first");
    page.rules(RulesAction::Edited(RuleEdit::Added));
    assert_eq!(page.view().text, "{");
}

#[test]
fn what_the_form_can_not_edit_is_told_in_words() {
    let page = Page::open();
    let rows = page.view().rows.unwrap();
    let set = CategorySet::standard();
    for (row, rule) in rows.iter().zip(&set.rules) {
        let more = rule.asks_of_lives() || rule.like.is_some() || rule.of == StackOf::Freed;
        assert_eq!(!row.others.is_empty(), more, "{row:?}");
    }
    let others = |text: &str| rows.iter().any(|row| row.others.contains(text));
    assert!(
        others("lifetime ≥ 64 events") && others("recorded as “parameter”") && others("allocated before recording")
    );
    assert!(others("same size as “gradient”") && others("1/4 of the size of a frame matching ^dequantize_4bit$"));
}

/// What the reader of YAML says.
fn read(text: &str) -> RulesAction {
    RulesAction::YamlRead(text.to_owned(), Ok(memscape::yaml::read(text)))
}

fn asked_to_read(page: &Page) -> Option<String> {
    page.did(|effect| match effect {
        Effect::ReadYaml(text) => Some(text.clone()),
        _ => None,
    })
}

#[test]
fn yaml_is_in_force_once_it_is_read() {
    let mut page = Page::open();
    page.rules(RulesAction::Imported(Ok(YAML.into())));
    assert_eq!(asked_to_read(&page).as_deref(), Some(YAML));
    assert_eq!((page.view().choice, page.told()), (Choice::Standard, None), "until then all stays as it is");
    assert!(page.view().note.starts_with("Reading YAML…"), "{}", page.view().note);
    page.rules(read(YAML));
    assert_eq!((page.view().choice, page.view().text.as_str()), (Choice::Own, YAML));
    assert_eq!(page.told_names(), ["everything", "unknown"]);
    assert_eq!(page.view().note, "1 rule, 1 category");
    // What is stored works without the reader.
    let stored = page.stored().unwrap();
    let mut next = Page::open();
    next.rules(RulesAction::Loaded(stored));
    assert_eq!((next.view().choice, next.told_names()), (Choice::Own, vec!["everything".into(), "unknown".into()]));
    assert_eq!(asked_to_read(&next).as_deref(), Some(YAML));
    next.rules(read(YAML));
    assert_eq!((next.view().text.as_str(), next.told()), (YAML, None), "the same set");
    // Without it, the text alone does not do.
    let mut bare = Page::open();
    bare.rules(RulesAction::Loaded(format!("memscape rules 1 own {}\n{YAML}", YAML.len())));
    assert_eq!(bare.view().choice, Choice::Standard);
    bare.rules(read(YAML));
    assert_eq!((bare.view().choice, bare.told_names().len()), (Choice::Own, 2));
}

#[test]
fn yaml_is_typed_too_and_late_answers_change_nothing() {
    let mut page = Page::open();
    page.rules(RulesAction::Chosen(Choice::Own));
    page.typed(YAML);
    assert_eq!((page.view().text.as_str(), page.view().errors.len()), (YAML, 0), "what is typed stays");
    page.typed(OWN);
    let names = page.told_names();
    page.rules(read(YAML));
    assert_eq!((page.view().text.as_str(), page.told()), (OWN, None), "it is about another text");
    page.typed("a: [1");
    page.rules(read("a: [1"));
    assert_eq!(page.view().errors.first().map(|(line, _)| *line), Some(1), "{:?}", page.view());
    page.typed(YAML);
    page.rules(RulesAction::YamlRead(YAML.into(), Err("the server answered 404".into())));
    assert_eq!(page.refused(), "YAML could not be read: the server answered 404. Rules as JSON can.");
    page.typed(OWN);
    assert_eq!((page.refused().as_str(), names.len() > 1), ("", true));
}
