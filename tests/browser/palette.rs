//! The command palette, the help and the theme in a browser: what is typed finds what it names, and does it.

use crate::chromium::{Adapter, Chromium};
use crate::corpus::real_files;
use crate::fixtures::halves;
use crate::opening::{empty_page, shows_halves};
use crate::page::{CTRL, Page, SHIFT};
use crate::pictures::{keep, settled};
use crate::site::Site;
use serde_json::{Value, json};

/// Cmd, as the browser counts it.
const META: u32 = 4;

fn open(page: &Page) {
    page.press_held("k", CTRL);
    page.wait_for(&true.into(), || page.evaluate("document.querySelector('#palette').open"));
    page.wait_for(&"palette-field".into(), || page.evaluate("document.activeElement.id"));
}

fn is_open(page: &Page) -> Value {
    page.evaluate("document.querySelector('#palette').open")
}

/// What a screen reader is told of the active entry: its name.
fn active(page: &Page) -> Value {
    page.evaluate(
        "(field => { const it = document.getElementById(field.getAttribute('aria-activedescendant')); \
         return it && it.role === 'option' && it.ariaSelected === 'true' ? it.querySelector('.name').textContent : null })\
         (document.querySelector('#palette-field'))",
    )
}

/// Types a text, waits until the best entry is this one, and picks it.
fn run(page: &Page, text: &str, entry: &str) {
    open(page);
    page.write(text);
    page.wait_for(&entry.into(), || active(page));
    page.press_enter();
    page.wait_for(&false.into(), || is_open(page));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn it_opens_finds_and_does() {
    let page = empty_page();
    // Without a file there is less to do.
    open(&page);
    page.write("flame graph");
    page.wait_until("nothing is found", || page.text("#palette-note") == "Nothing matches “flame graph”.");
    page.press_escape_in("#palette");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    settled(&page);
    let marked = |page: &Page| page.evaluate("document.querySelectorAll('#palette-list [aria-selected=true]').length");
    let roles = "['role', 'aria-controls', 'aria-expanded'].map(name => document.querySelector('#palette-field').getAttribute(name))";
    open(&page);
    assert_eq!(page.evaluate(roles), json!(["combobox", "palette-list", "true"]));
    assert_eq!(page.attribute("#palette-list", "role").as_deref(), Some("listbox"));

    // By keys: the best first, with its key beside it; arrows go round.
    page.write("go peak");
    page.wait_for(&"Go to the peak".into(), || active(&page));
    let keys = "document.querySelector('#palette-list [aria-selected=true] .keys').textContent";
    assert_eq!(page.evaluate(keys), "P");
    page.write("zoom");
    page.wait_until("others are listed", || active(&page) != "Go to the peak");
    let first = active(&page);
    page.press("ArrowDown");
    page.wait_until("the next is active", || active(&page) != first);
    page.press("ArrowUp");
    page.wait_for(&first, || active(&page));
    page.press("ArrowUp");
    page.wait_until("the last is active, and seen", || {
        page.evaluate(
            "(it => it === it.parentNode.lastElementChild && \
             it.getBoundingClientRect().bottom <= it.parentNode.getBoundingClientRect().bottom + 1)\
             (document.querySelector('#palette-list [aria-selected=true]'))",
        ) == true
    });
    assert_eq!(marked(&page), 1);
    page.press_escape_in("#palette");
    page.wait_for(&"timeline".into(), || page.evaluate("document.activeElement.id || 'timeline'"));
    run(&page, "insights", "Show insights");
    page.wait_for(&Some("true".into()), || page.attribute("#tab-why", "aria-selected"));
    page.wait_until("the view has the focus", || page.evaluate("!!document.activeElement.closest('#answer')") == true);
    run(&page, "fragmentation", "Fragmentation");
    page.wait_for(&Some("fragmentation".into()), || page.attribute("#why-report", "data-topic"));

    // By mouse, and out of a text field; Cmd is the Ctrl of a Mac.
    page.evaluate("document.querySelector('#find').focus()");
    page.press_held("k", META);
    page.wait_for(&true.into(), || is_open(&page));
    page.write("call tree");
    page.wait_for(&"Show the call tree".into(), || active(&page));
    page.click("#palette-list li:first-child");
    page.wait_for(&false.into(), || is_open(&page));
    page.wait_for(&Some("true".into()), || page.attribute("#tab-tree", "aria-pressed"));
    open(&page);
    page.click_at(5.0, 790.0);
    page.wait_for(&false.into(), || is_open(&page));
    open(&page);
    page.press_held("k", CTRL);
    page.wait_for(&false.into(), || is_open(&page));

    // What was used lately stands first.
    open(&page);
    page.wait_for(&"Show the call tree".into(), || active(&page));
    page.press_escape_in("#palette");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn it_goes_to_an_annotation_of_a_real_file() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    let page = empty_page();
    page.drop_files(&[&file.path]);
    page.wait_for_state("ready");
    settled(&page);
    let before = page.attribute("canvas#timeline", "data-frames");
    open(&page);
    page.write("annotation");
    page.wait_until("annotations are listed", || active(&page).is_string());
    keep(&page, "palette-annotations");
    let place =
        "1 + [...document.querySelectorAll('#palette-list li')].findIndex(it => /Annotation/.test(it.innerText))";
    let place = page.evaluate(place).as_u64().filter(|&place| place > 0).expect("an annotation is listed");
    page.click(&format!("#palette-list li:nth-child({place})"));
    page.wait_for(&false.into(), || is_open(&page));
    page.wait_until("it is the range", || page.evaluate("!document.querySelector('#range').hidden") == true);
    page.wait_until("it is drawn", || page.attribute("canvas#timeline", "data-frames") != before);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn a_theme_is_chosen_and_kept() {
    let page = Page::blank(Chromium::with(Adapter::Software));
    page.prefer_color_scheme("light");
    page.navigate(&Site::shared().page());
    page.wait_for_state("empty");
    page.drop_files(&[&halves()]);
    shows_halves(&page);
    let ground = || page.evaluate("getComputedStyle(document.body).backgroundColor");
    let chosen = || page.evaluate("document.documentElement.dataset.theme ?? ''");
    let light = (ground(), settled(&page));
    run(&page, "theme dark", "Theme: dark");
    page.wait_for(&"dark".into(), chosen);
    let dark = ground();
    assert_ne!(light.0, dark);
    page.wait_until("the timeline follows", || settled(&page) != light.1);
    page.press_held(",", CTRL);
    page.wait_for(&Some("true".into()), || page.attribute("#theme-dark", "aria-pressed"));
    keep(&page, "settings-theme-dark");
    // It outlives the page, and the system has no say in it.
    page.reload();
    page.wait_for_state("empty");
    page.wait_for(&"dark".into(), chosen);
    assert_eq!(ground(), dark);
    page.press_held(",", CTRL);
    page.wait_until("the settings are open", || page.evaluate("document.querySelector('#settings').open") == true);
    page.prefer_color_scheme("dark");
    page.click("#theme-light");
    page.wait_for(&light.0, ground);
    page.click("#theme-system");
    page.wait_for(&dark, ground);
    page.wait_for(&"".into(), chosen);
    page.prefer_color_scheme("light");
    page.wait_for(&light.0, ground);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn the_help_is_filtered_and_stands_in_columns() {
    let page = empty_page();
    page.resize(1440, 900);
    page.press("?");
    page.wait_for(&"help-filter".into(), || page.evaluate("document.activeElement.id"));
    assert_eq!(page.evaluate("document.querySelectorAll('#keys section:first-child dl > div').length"), 10);
    let height = page.evaluate("document.querySelector('#help').scrollHeight").as_f64().expect("a height");
    assert!(height < 2700.0, "{height} px is a scroll without an end");
    let rows = |page: &Page| page.evaluate("document.querySelectorAll('#help dl > div').length").as_u64();
    let all = rows(&page);
    page.write("regular expression");
    page.wait_until("only what matches is left", || rows(&page) < all);
    assert_eq!(
        page.evaluate(
            "[document.querySelector('#keys').childElementCount, document.querySelector('#forms').childElementCount]"
        ),
        json!([0, 1])
    );
    page.write("no such thing");
    page.wait_until("it says so", || page.text("#help-none").contains("No key or command matches"));
    page.write("flame zoom");
    page.wait_until("a group is left", || page.text("#keys").contains("Flame graph"));
    page.press_escape_in("#help");
    page.wait_for(&false.into(), || page.evaluate("document.querySelector('#help').open"));
    // Of Esc the page hears a moment later.
    page.wait_for_frames();
    // It opens whole, and the key that opened it closes it.
    page.press("?");
    page.wait_for(&true.into(), || page.evaluate("document.querySelector('#help').open"));
    page.wait_for(&all, || rows(&page));
    page.press("?");
    page.wait_for(&false.into(), || page.evaluate("document.querySelector('#help').open"));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_between_two_frames_count() {
    // All that one script does comes before the next frame: a quick hand, or a slow machine.
    const HANDS: &str = "window.dialog = id => document.getElementById(id); \
         window.key = (key, ctrlKey, target) => \
             target.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey, bubbles: true, cancelable: true })); \
         window.heard = (id, then) => new Promise(done => dialog(id).addEventListener('close', () => done(then()), { once: true })); 0";
    let page = empty_page();
    page.evaluate(HANDS);
    let settings = |page: &Page| page.evaluate("dialog('settings').open");
    let help = |page: &Page| page.evaluate("dialog('help').open");
    // The browser closes the palette, as on Esc. At that time it still has the focus, and the next keys go to its field.
    for (keys, opened) in [
        ("key('?', false, focus)", "help"),
        ("key(',', true, focus)", "settings"),
        ("key('k', true, focus)", "palette"),
    ] {
        open(&page);
        let closed = "heard('palette', () => { const focus = document.activeElement; KEYS; return focus.id })";
        let script = format!(
            "(() => {{ const all = {}; dialog('palette').close(); return all }})()",
            closed.replace("KEYS", keys)
        );
        assert_eq!(page.evaluate(&script), "palette-field", "{opened}");
        page.wait_for(&true.into(), || page.evaluate(&format!("dialog('{opened}').open")));
        page.press_escape_in(&format!("#{opened}"));
    }
    // Nor does Enter pick what was listed.
    open(&page);
    page.write("settings");
    page.wait_for(&"Open settings".into(), || active(&page));
    page.evaluate("{ const closed = heard('palette', () => key('Enter', false, document.activeElement)); dialog('palette').close(); closed }");
    assert_eq!(page.settled("the settings", || settings(&page)), false);
    // Picked, and opened again.
    open(&page);
    page.write("settings");
    page.wait_for(&"Open settings".into(), || active(&page));
    page.evaluate(
        "key('Enter', false, dialog('palette-field')); key(',', true, document.body); key('k', true, document.body)",
    );
    page.wait_for(&true.into(), || is_open(&page));
    assert_eq!(settings(&page), false);
    page.press_escape_in("#palette");
    // By its button, and opened again as soon as it is closed: the browser says that it was a moment later.
    page.press("?");
    page.wait_for(&true.into(), || help(&page));
    page.evaluate(
        "new Promise(done => { const look = () => { if (dialog('help').open) return requestAnimationFrame(look); \
         key('?', false, document.activeElement); done(0) }; dialog('help-close').click(); look() })",
    );
    page.wait_until("it stays open", || page.settled("the help", || help(&page)) == true);
    // Closed and left alone, it stays closed.
    page.press_escape_in("#help");
    assert_eq!(page.settled("the help", || help(&page)), false);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn screenshots_of_dialogs() {
    let Some(files) = real_files() else { return };
    let Some(file) = files.iter().find(|file| file.path.ends_with("train-annotated-100.pickle")) else { return };
    for (scheme, width) in [("light", 1440), ("dark", 1440), ("light", 600), ("dark", 600)] {
        let page = Page::blank(Chromium::with(Adapter::Software));
        page.prefer_color_scheme(scheme);
        page.resize(width, 900);
        page.navigate(&Site::shared().page());
        page.wait_for_state("empty");
        page.drop_files(&[&file.path]);
        page.wait_for_state("ready");
        settled(&page);
        let shot = |name: &str| {
            page.wait_for_frames();
            keep(&page, &format!("dialog-{name}-{scheme}-{width}"));
        };
        open(&page);
        page.wait_until("it lists something", || active(&page).is_string());
        shot("palette-empty");
        page.write("peak");
        page.wait_for(&true.into(), || json!(page.text("#palette-list").contains("Go to the peak")));
        shot("palette-peak");
        page.write("xyzzy");
        page.wait_until("nothing is found", || page.text("#palette-note").contains("Nothing matches"));
        shot("palette-nothing");
        page.press_escape_in("#palette");
        page.press("?");
        page.wait_until("the help is open", || page.text("#keys").contains("Start here"));
        shot("help");
        page.write("cursor");
        page.wait_until("it is filtered", || !page.text("#keys").contains("Start here"));
        shot("help-filtered");
        page.press_escape_in("#help");
        page.press_held(",", CTRL);
        page.wait_until("the settings are open", || page.evaluate("document.querySelector('#settings').open") == true);
        shot("settings");
        page.press_escape_in("#settings");
        page.press_held("G", SHIFT);
        page.wait_until("the rules are open", || page.evaluate("document.querySelector('#rules').open") == true);
        page.evaluate("document.querySelector('#rules [value=own]').click()");
        page.wait_until("their result is there", || page.text("#rules-result").contains("parameter"));
        shot("rules");
        page.click("#rules-as-json");
        shot("rules-json");
        page.press_escape_in("#rules");
        assert_eq!(page.complaints(), Vec::<String>::new());
    }
}
