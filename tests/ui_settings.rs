//! Settings without a browser: links to source files, shortened paths, rules, storage.

use memscape::engine::Request;
use memscape::ui::features::State;
use memscape::ui::shell::action::Action;
use memscape::ui::shell::commands;
use memscape::ui::state::effect::Effect;
use memscape::ui::state::settings::{Dialog, SettingsAction, Theme};
use memscape::ui::text::source_links::{SCHEMES, SourceLinkError, check_template, expand_template, location};
use memscape::ui::update;

fn act(state: &mut State, action: SettingsAction) -> Vec<Effect> {
    update(state, Action::Settings(action), 0.0)
}

fn type_field(state: &mut State, name: &'static str, text: &str) -> Vec<Effect> {
    act(state, SettingsAction::Changed(name, text.into()))
}

#[test]
fn template_expands_to_link() {
    let link = |template, file, line| expand_template(template, file, line).unwrap();
    let vscode = "vscode://file{file}:{line}";
    assert_eq!(link(vscode, "/home/me/train.py", "233"), "vscode://file/home/me/train.py:233");
    assert_eq!(link("vscode://file/{file}:{line}", "/home/me/a b.py", "1"), "vscode://file/home/me/a%20b.py:1");
    assert_eq!(link(vscode, "C:\\work\\train.py", "0"), "vscode://file/C:/work/train.py:1");
    let idea = "idea://open?file={file}&line={line}";
    assert_eq!(link(idea, "/x/ü.py", "99999999999"), "idea://open?file=/x/%C3%BC.py&line=1");
    let web = "https://git.example/raw{file}#L{line}";
    assert_eq!(link(web, "/m.py", "7"), "https://git.example/raw/m.py#L7");
}

#[test]
fn hostile_file_name_is_escaped() {
    let hostile = "/x/?a=1&b#c%2e\"'<script>{line}:javascript:alert(1)\u{202e}\n/../";
    assert_eq!(
        expand_template("vscode://file{file}:{line}", hostile, "1"),
        Err(SourceLinkError::RelativePath),
        "path contains .."
    );
    let link = expand_template("vscode://file{file}:{line}", hostile.trim_end_matches("../"), "1").unwrap();
    let path = link.strip_prefix("vscode://file/x/").unwrap().strip_suffix(":1").unwrap();
    assert!(path.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"%/._-~".contains(&sign)), "{path}");
    assert!(path.contains("%7Bline%7D%3Ajavascript%3Aalert%281%29"), "{path}");
    // File names that look like a scheme, a server or a drive give no link.
    for file in ["javascript:alert(1)", "train.py", "<string>", "data:text/html,x", "\\\\server\\x", "1:/x"] {
        assert_eq!(expand_template("vscode://file{file}", file, "1"), Err(SourceLinkError::RelativePath), "{file}");
    }
    assert_eq!(expand_template("https://a.example{file}", "/x", "1"), Err(SourceLinkError::PlaceholderInHost));
    assert_eq!(
        expand_template("https://a.example/{file}", "//evil.example/x", "1").unwrap(),
        "https://a.example/evil.example/x"
    );
    assert_eq!(expand_template("vscode://file{file}", "??", "0"), Err(SourceLinkError::NoFileName));
    assert_eq!(expand_template("vscode://file{file}", &"/x".repeat(5000), "0"), Err(SourceLinkError::RelativePath));
}

#[test]
fn unsafe_template_is_refused() {
    for scheme in SCHEMES {
        assert_eq!(check_template(&format!("{scheme}://open/x{{file}}:{{line}}")), Ok(()), "{scheme}");
    }
    let refused = [
        ("javascript:alert('{file}')", SourceLinkError::UnknownScheme),
        ("JavaScript:{file}", SourceLinkError::UnknownScheme),
        ("data:text/html,{file}", SourceLinkError::UnknownScheme),
        ("file://{file}", SourceLinkError::UnknownScheme),
        (" vscode://{file}", SourceLinkError::UnknownScheme),
        ("{file}:x", SourceLinkError::UnknownScheme),
        ("no scheme {file}", SourceLinkError::UnknownScheme),
        ("vscode://file", SourceLinkError::NoFilePlaceholder),
        ("vscode://file{file}{column}", SourceLinkError::InvalidCharacter),
        ("vscode://file{file} --x", SourceLinkError::InvalidCharacter),
        ("vscode://file{file}\u{e9}", SourceLinkError::InvalidCharacter),
        ("https://{file}/x", SourceLinkError::PlaceholderInHost),
        ("https://a.example:{line}/{file}", SourceLinkError::PlaceholderInHost),
        ("https:{file}", SourceLinkError::PlaceholderInHost),
        ("http:///{file}", SourceLinkError::PlaceholderInHost),
    ];
    for (template, why) in refused {
        assert_eq!(check_template(template), Err(why), "{template}");
        assert!(expand_template(template, "/x.py", "1").is_err());
    }
    assert_eq!(check_template(&format!("vscode://{}{{file}}", "x".repeat(600))), Err(SourceLinkError::TooLong));
    assert_eq!((check_template(""), expand_template("", "/x.py", "1")), (Ok(()), Err(SourceLinkError::NoTemplate)));
}

#[test]
fn folder_prefix_is_hidden_and_replaced_in_links() {
    let mut state = State::default();
    type_field(&mut state, "folder", "/root/job/");
    type_field(&mut state, "local", "/home/me/src");
    type_field(&mut state, "template", "vscode://file{file}:{line}");
    let settings = &state.settings;
    assert_eq!(settings.location("/root/job/a/train.py", "4"), "a/train.py:4");
    assert_eq!(settings.location("/root/jobs/train.py", "4"), "/root/jobs/train.py:4", "another folder");
    assert_eq!(settings.link("/root/job/a/train.py", "4").unwrap(), "vscode://file/home/me/src/a/train.py:4");
    assert_eq!(settings.link("/usr/lib/x.py", "4").unwrap(), "vscode://file/usr/lib/x.py:4");
    assert!(settings.link("/root/job/../x.py", "4").is_err());
    assert_eq!(settings.sample_link(), "vscode://file/home/me/src/train.py:42");
    assert_eq!((location("??", "0", ""), location("a.cpp", "0", "")), (String::new(), "a.cpp".into()));
}

#[test]
fn settings_are_restored_and_invalid_ones_ignored() {
    let mut state = State::default();
    type_field(&mut state, "template", "cursor://file{file}:{line}");
    type_field(&mut state, "folder", "/root\n/job");
    type_field(&mut state, "rule", "native\n\n  file:/x/ ");
    let effects = act(&mut state, SettingsAction::RulesFinished);
    let stored =
        effects.iter().find_map(|effect| if let Effect::Store(text) = effect { Some(text.clone()) } else { None });
    let stored = stored.expect("settings are stored");
    let mut again = State::default();
    act(&mut again, SettingsAction::Loaded(stored.clone()));
    assert_eq!(
        (again.settings.template.as_str(), again.settings.hidden_prefix.as_str()),
        ("cursor://file{file}:{line}", "/root/job")
    );
    assert_eq!(again.settings.rules_text(), "native\nfile:/x/");
    // An empty field means no rules, not the default rules.
    type_field(&mut again, "rule", " ");
    let effects = act(&mut again, SettingsAction::Closed);
    let Some(Effect::Store(none)) = effects.first() else { panic!("settings are not stored: {effects:?}") };
    let mut third = State::default();
    act(&mut third, SettingsAction::Loaded(none.clone()));
    assert_eq!(third.settings.rules_text(), "");
    act(&mut third, SettingsAction::DefaultRules);
    assert_eq!(third.settings.rules_text(), State::default().settings.rules_text());
    for wrong in [
        "",
        "{}",
        "memscape settings 2\ntemplate=vscode://file{file}",
        "memscape settings 1\ntemplate=javascript:{file}",
        "memscape settings 1\nrule=nonsense",
    ] {
        let mut state = State::default();
        act(&mut state, SettingsAction::Loaded(wrong.into()));
        assert_eq!(
            (state.settings.template.as_str(), state.settings.rules_text()),
            ("", State::default().settings.rules_text()),
            "{wrong}"
        );
    }
}

#[test]
fn invalid_rules_show_error_and_are_not_applied() {
    let mut state = State::default();
    update(&mut state, Action::Command(commands::TOGGLE_SETTINGS), 0.0);
    assert_eq!(state.settings.dialog, Dialog::Open);
    type_field(&mut state, "rule", "native\nnonsense");
    assert!(state.settings.wrong_rules().starts_with("line 2:"), "{}", state.settings.wrong_rules());
    let before = State::default().settings.rules_text();
    let effects = update(&mut state, Action::Command(commands::TOGGLE_SETTINGS), 0.0);
    assert_eq!((effects, state.settings.rules_text(), state.settings.dialog), (vec![], before, Dialog::Closed));
    type_field(&mut state, "template", "javascript:{file}");
    assert!(state.settings.wrong_template().contains("vscode"));
    assert!(state.settings.link("/x.py", "1").is_err());
    assert!(!state.settings.rules_text().is_empty() && state.device().is_none());
    let asks = |effects: &[Effect]| effects.iter().any(|it| matches!(it, Effect::Ask(Request::InternalFrames(_))));
    type_field(&mut state, "rule", "native");
    assert!(!asks(&act(&mut state, SettingsAction::RulesFinished)), "no file is open");
}

#[test]
fn theme_is_stored() {
    let mut state = State::default();
    assert_eq!(state.settings.theme, Theme::System);
    let stored = |effects: &[Effect]| {
        effects.iter().find_map(|effect| if let Effect::Store(text) = effect { Some(text.clone()) } else { None })
    };
    for theme in [Theme::Dark, Theme::Light] {
        let kept = stored(&act(&mut state, SettingsAction::Changed("theme", theme.name().into())))
            .expect("settings are stored");
        let mut next = State::default();
        assert_eq!(act(&mut next, SettingsAction::Loaded(kept)), vec![]);
        assert_eq!(next.settings.theme, theme);
    }
    assert_eq!(act(&mut state, SettingsAction::Changed("theme", "light".into())), vec![], "theme does not change");
    let system = stored(&update(&mut state, Action::Command(commands::THEME_SYSTEM), 0.0)).unwrap();
    assert!(!system.contains("theme"), "the system theme is not stored: {system}");
    act(&mut state, SettingsAction::Loaded("memscape settings 1\ntheme=hotdog".into()));
    assert_eq!(state.settings.theme, Theme::System, "an unknown theme is ignored");
}

/// The style sheet defines the dark colours twice: for dark systems, and for the chosen dark theme.
#[test]
fn chosen_dark_theme_equals_system_dark_theme() {
    let style = include_str!("../www/style.css");
    let block = |head: &str| -> Vec<&str> {
        let (_, rest) = style.split_once(head).unwrap_or_else(|| panic!("no {head}"));
        let lines = rest.split('}').next().unwrap().lines().map(str::trim);
        lines.filter(|line| line.starts_with("--")).collect()
    };
    let system = block(":root:not([data-theme]) {");
    assert!(system.len() > 15, "{system:?}");
    assert_eq!(system, block(":root[data-theme=\"dark\"] {"));
    let light: Vec<&str> = block(":root {").iter().map(|line| line.split(':').next().unwrap()).collect();
    assert!(
        system.iter().all(|line| light.contains(&line.split(':').next().unwrap())),
        "each dark colour has a light one"
    );
}

#[test]
fn keep_files_setting_is_stored() {
    let mut state = State::default();
    assert!(!state.settings.no_cache, "files are kept by default");
    let stored = act(&mut state, SettingsAction::Changed("keep", "nothing".into()));
    let [Effect::Store(text)] = stored.as_slice() else { panic!("{stored:?}") };
    assert_eq!(text, "memscape settings 1\nkeep=nothing");
    let mut other = State::default();
    act(&mut other, SettingsAction::Loaded(text.clone()));
    assert!(other.settings.no_cache);
    act(&mut other, SettingsAction::Changed("keep", String::new()));
    assert!(!other.settings.no_cache);
}
