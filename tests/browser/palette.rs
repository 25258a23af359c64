//! Command palette, help and theme in Chromium.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::halves;
use crate::opening::{open_empty_page, wait_for_halves};
use crate::page::{CTRL, Page, SHIFT};
use crate::screenshots::{save_screenshot, settled_timeline};
use crate::site::Site;
use serde_json::{Value, json};

/// Bit of the Cmd key in the `modifiers` of DevTools input events.
const META: u32 = 4;

fn open_palette(page: &Page) {
    page.press_with("k", CTRL);
    page.wait_for(&true.into(), || page.evaluate("document.querySelector('#palette').open"));
    page.wait_for(&"palette-field".into(), || page.evaluate("document.activeElement.id"));
}

fn is_open(page: &Page) -> Value {
    page.evaluate("document.querySelector('#palette').open")
}

/// Name of the active entry, as a screen reader finds it (`aria-activedescendant`); null if there is none.
fn active_entry(page: &Page) -> Value {
    page.evaluate(
        "(field => { const it = document.getElementById(field.getAttribute('aria-activedescendant')); \
         return it && it.role === 'option' && it.ariaSelected === 'true' ? it.querySelector('.name').textContent : null })\
         (document.querySelector('#palette-field'))",
    )
}

/// Types a text, waits until `entry` is the first result, and picks it.
fn run_command(page: &Page, text: &str, entry: &str) {
    open_palette(page);
    page.replace_text(text);
    page.wait_for(&entry.into(), || active_entry(page));
    page.press_enter();
    page.wait_for(&false.into(), || is_open(page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn palette_opens_finds_and_runs_commands() {
    let page = open_empty_page();
    // Without a file fewer commands are available.
    open_palette(&page);
    page.replace_text("flame graph");
    page.wait_until("nothing is found", || page.text("#palette-note") == "Nothing matches “flame graph”.");
    page.press_escape_in("#palette");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    settled_timeline(&page);
    let marked = |page: &Page| page.evaluate("document.querySelectorAll('#palette-list [aria-selected=true]').length");
    let roles = "['role', 'aria-controls', 'aria-expanded'].map(name => document.querySelector('#palette-field').getAttribute(name))";
    open_palette(&page);
    assert_eq!(page.evaluate(roles), json!(["combobox", "palette-list", "true"]));
    assert_eq!(page.attribute("#palette-list", "role").as_deref(), Some("listbox"));

    // With the keyboard: the best match is first, with its key beside it, and the arrow keys wrap around.
    page.replace_text("go peak");
    page.wait_for(&"Go to the peak".into(), || active_entry(&page));
    let keys = "document.querySelector('#palette-list [aria-selected=true] .keys').textContent";
    assert_eq!(page.evaluate(keys), "P");
    page.replace_text("zoom");
    page.wait_until("others are listed", || active_entry(&page) != "Go to the peak");
    let first = active_entry(&page);
    page.press("ArrowDown");
    page.wait_until("the next entry is active", || active_entry(&page) != first);
    page.press("ArrowUp");
    page.wait_for(&first, || active_entry(&page));
    page.press("ArrowUp");
    page.wait_until("the last entry is active and visible", || {
        page.evaluate(
            "(it => it === it.parentNode.lastElementChild && \
             it.getBoundingClientRect().bottom <= it.parentNode.getBoundingClientRect().bottom + 1)\
             (document.querySelector('#palette-list [aria-selected=true]'))",
        ) == true
    });
    assert_eq!(marked(&page), 1);
    page.press_escape_in("#palette");
    page.wait_for(&"timeline".into(), || page.evaluate("document.activeElement.id || 'timeline'"));
    run_command(&page, "insights", "Show insights");
    page.wait_for(&Some("true".into()), || page.attribute("#tab-insights", "aria-selected"));
    page.wait_until("the view has the focus", || page.evaluate("!!document.activeElement.closest('#answer')") == true);
    run_command(&page, "fragmentation", "Fragmentation");
    page.wait_for(&Some("fragmentation".into()), || page.attribute("#insights-report", "data-topic"));

    // With the mouse, and opened from a text field with Cmd, the Ctrl of a Mac.
    page.evaluate("document.querySelector('#find').focus()");
    page.press_with("k", META);
    page.wait_for(&true.into(), || is_open(&page));
    page.replace_text("call tree");
    page.wait_for(&"Show the call tree".into(), || active_entry(&page));
    page.click("#palette-list li:first-child");
    page.wait_for(&false.into(), || is_open(&page));
    page.wait_for(&Some("true".into()), || page.attribute("#tab-tree", "aria-pressed"));
    open_palette(&page);
    page.click_at(5.0, 790.0);
    page.wait_for(&false.into(), || is_open(&page));
    open_palette(&page);
    page.press_with("k", CTRL);
    page.wait_for(&false.into(), || is_open(&page));

    // The command used last is first.
    open_palette(&page);
    page.wait_for(&"Show the call tree".into(), || active_entry(&page));
    page.press_escape_in("#palette");
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn palette_goes_to_annotation_of_real_file() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    let page = open_empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    settled_timeline(&page);
    let before = page.attribute("canvas#timeline", "data-frames");
    open_palette(&page);
    page.replace_text("annotation");
    page.wait_until("annotations are listed", || page.text("#palette-list").contains("Annotation"));
    save_screenshot(&page, "palette-annotations");
    let place =
        "1 + [...document.querySelectorAll('#palette-list li')].findIndex(it => /Annotation/.test(it.innerText))";
    let place = page.evaluate(place).as_u64().filter(|&place| place > 0).expect("an annotation is listed");
    page.click(&format!("#palette-list li:nth-child({place})"));
    page.wait_for(&false.into(), || is_open(&page));
    page.wait_until("the range is selected", || page.evaluate("!document.querySelector('#range').hidden") == true);
    page.wait_until("the timeline is drawn again", || page.attribute("canvas#timeline", "data-frames") != before);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn chosen_theme_survives_reload() {
    let page = Page::blank(Chromium::shared(Adapter::Missing));
    page.prefer_color_scheme("light");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    wait_for_halves(&page);
    let ground = || page.evaluate("getComputedStyle(document.body).backgroundColor");
    let chosen = || page.evaluate("document.documentElement.dataset.theme ?? ''");
    let light = (ground(), settled_timeline(&page));
    run_command(&page, "theme dark", "Theme: dark");
    page.wait_for(&"dark".into(), chosen);
    let dark = ground();
    assert_ne!(light.0, dark);
    page.wait_until("the timeline follows", || settled_timeline(&page) != light.1);
    page.press_with(",", CTRL);
    page.wait_for(&Some("true".into()), || page.attribute("#theme-dark", "aria-pressed"));
    save_screenshot(&page, "settings-theme-dark");
    // The theme survives a reload and ignores the system's scheme.
    page.reload();
    page.wait_for_state("empty");
    page.wait_for(&"dark".into(), chosen);
    assert_eq!(ground(), dark);
    page.press_with(",", CTRL);
    page.wait_until("the settings are open", || page.evaluate("document.querySelector('#settings').open") == true);
    page.prefer_color_scheme("dark");
    page.click("#theme-light");
    page.wait_for(&light.0, ground);
    page.click("#theme-system");
    page.wait_for(&dark, ground);
    page.wait_for(&"".into(), chosen);
    page.prefer_color_scheme("light");
    page.wait_for(&light.0, ground);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn help_is_filtered_and_fits_in_columns() {
    let page = open_empty_page();
    page.resize(1440, 900);
    page.press("?");
    page.wait_for(&"help-filter".into(), || page.evaluate("document.activeElement.id"));
    assert_eq!(page.evaluate("document.querySelectorAll('#keys section:first-child dl > div').length"), 10);
    let height = page.evaluate("document.querySelector('#help').scrollHeight").as_f64().expect("a height");
    assert!(height < 2900.0, "{height} px is too long to scroll");
    let rows = |page: &Page| page.evaluate("document.querySelectorAll('#help dl > div').length").as_u64();
    let all = rows(&page);
    page.replace_text("regular expression");
    page.wait_until("only matches are listed", || rows(&page) < all);
    assert_eq!(
        page.evaluate(
            "[document.querySelector('#keys').childElementCount, document.querySelector('#forms').childElementCount]"
        ),
        json!([0, 1])
    );
    page.replace_text("no such thing");
    page.wait_until("no match is reported", || page.text("#help-none").contains("No key or command matches"));
    page.replace_text("flame zoom");
    page.wait_until("a group of keys is listed", || page.text("#keys").contains("Flame graph"));
    page.press_escape_in("#help");
    page.wait_for(&false.into(), || page.evaluate("document.querySelector('#help').open"));
    // The page receives the dialog's `close` event a moment later.
    page.wait_for_frames();
    // It opens without the filter, and the key that opens it also closes it.
    page.press("?");
    page.wait_for(&true.into(), || page.evaluate("document.querySelector('#help').open"));
    page.wait_for(&all, || rows(&page));
    page.press("?");
    page.wait_for(&false.into(), || page.evaluate("document.querySelector('#help').open"));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_pressed_before_next_frame_open_and_close_dialogs() {
    // Everything that one script does happens before the next frame, as with fast typing or on a slow machine.
    const HANDS: &str = "window.dialog = id => document.getElementById(id); \
         window.key = (key, ctrlKey, target) => \
             target.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true })); \
         window.afterClose = (id, then) => new Promise(done => dialog(id).addEventListener('close', () => done(then()), { once: true })); 0";
    let page = open_empty_page();
    page.evaluate(HANDS);
    let settings = |page: &Page| page.evaluate("dialog('settings').open");
    let help = |page: &Page| page.evaluate("dialog('help').open");
    // The browser closes the palette, as Esc does. Its field still has the focus then and receives the next keys.
    for (keys, opened) in [
        ("key('?', false, focus)", "help"),
        ("key(',', true, focus)", "settings"),
        ("key('k', true, focus)", "palette"),
    ] {
        open_palette(&page);
        let closed = "afterClose('palette', () => { const focus = document.activeElement; KEYS; return focus.id })";
        let script = format!(
            "(() => {{ const all = {}; dialog('palette').close(); return all }})()",
            closed.replace("KEYS", keys)
        );
        assert_eq!(page.evaluate(&script), "palette-field", "{opened}");
        page.wait_for(&true.into(), || page.evaluate(&format!("dialog('{opened}').open")));
        page.press_escape_in(&format!("#{opened}"));
    }
    // Enter does not pick an entry of the closed palette.
    open_palette(&page);
    page.replace_text("settings");
    page.wait_for(&"Open settings".into(), || active_entry(&page));
    page.evaluate("{ const closed = afterClose('palette', () => key('Enter', false, document.activeElement)); dialog('palette').close(); closed }");
    assert_eq!(page.wait_until_settled("the settings", || settings(&page)), false);
    // An entry is picked, and the palette opened again.
    open_palette(&page);
    page.replace_text("settings");
    page.wait_for(&"Open settings".into(), || active_entry(&page));
    page.evaluate(
        "key('Enter', false, dialog('palette-field')); key(',', true, document.body); key('k', true, document.body)",
    );
    page.wait_for(&true.into(), || is_open(&page));
    assert_eq!(settings(&page), false);
    page.press_escape_in("#palette");
    // Closed with its button and opened again at once, before the browser's `close` event.
    page.press("?");
    page.wait_for(&true.into(), || help(&page));
    page.evaluate(
        "new Promise(done => { const look = () => { if (dialog('help').open) return requestAnimationFrame(look); \
         key('?', false, document.activeElement); done(0) }; dialog('help-close').click(); look() })",
    );
    page.wait_until("the help stays open", || page.wait_until_settled("the help", || help(&page)) == true);
    // Once closed, it stays closed.
    page.press_escape_in("#help");
    assert_eq!(page.wait_until_settled("the help", || help(&page)), false);
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_dialogs_are_saved() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width) in [("light", 1440), ("dark", 1440), ("light", 600), ("dark", 600)] {
        let page = Page::blank(Chromium::shared(Adapter::Missing));
        page.prefer_color_scheme(scheme);
        page.resize(width, 900);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        settled_timeline(&page);
        let shot = |name: &str| {
            page.wait_for_frames();
            save_screenshot(&page, &format!("dialog-{name}-{scheme}-{width}"));
        };
        open_palette(&page);
        page.wait_until("entries are listed", || active_entry(&page).is_string());
        shot("palette-empty");
        page.replace_text("peak");
        page.wait_for(&true.into(), || json!(page.text("#palette-list").contains("Go to the peak")));
        shot("palette-peak");
        page.replace_text("xyzzy");
        page.wait_until("nothing is found", || page.text("#palette-note").contains("Nothing matches"));
        shot("palette-nothing");
        page.press_escape_in("#palette");
        page.press("?");
        page.wait_until("the help is open", || page.text("#keys").contains("Start here"));
        shot("help");
        page.replace_text("cursor");
        page.wait_until("the help is filtered", || !page.text("#keys").contains("Start here"));
        shot("help-filtered");
        page.press_escape_in("#help");
        page.press_with(",", CTRL);
        page.wait_until("the settings are open", || page.evaluate("document.querySelector('#settings').open") == true);
        shot("settings");
        page.press_escape_in("#settings");
        page.press_with("G", SHIFT);
        page.wait_until("the rules are open", || page.evaluate("document.querySelector('#rules').open") == true);
        page.evaluate("document.querySelector('#rules [value=own]').click()");
        page.wait_until("the result of the rules is shown", || page.text("#rules-result").contains("parameter"));
        shot("rules");
        page.click("#rules-as-json");
        shot("rules-json");
        page.press_escape_in("#rules");
        assert_eq!(page.errors(), Vec::<String>::new());
    }
}
