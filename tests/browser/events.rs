//! Event list in the page: it follows and moves the cursor, links to allocations, filters, jumps and copies.

use crate::corpus::real_files;
use crate::opening::open_empty_page;
use crate::page::{CTRL, Page, SHIFT};
use crate::segments::{generate_file, open_tab};

fn number_attr(page: &Page, selector: &str, attribute: &str) -> i64 {
    page.attribute(selector, attribute).and_then(|it| it.parse().ok()).unwrap_or(-2)
}

/// Event of the marked row, which is the cursor's event; −2 if no row is marked.
fn marked_event(page: &Page) -> i64 {
    page.evaluate("+(document.querySelector('#events-rows .now')?.dataset.event ?? -2)").as_i64().unwrap_or(-2)
}

fn text_of_marked(page: &Page) -> String {
    page.evaluate("document.querySelector('#events-rows .now')?.innerText ?? ''")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn cursor_event(page: &Page) -> i64 {
    number_attr(page, "#moment", "data-event")
}

fn focus_element(page: &Page, id: &str) {
    page.evaluate(&format!("document.getElementById('{id}').focus()"));
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn keys_step_through_events_and_select_allocations() {
    let page = open_empty_page();
    page.drop_files(&[&generate_file("events-keys.pickle", "--steps 2 --layers 4 --oom")]);
    page.wait_for_state("ready");
    // A file with an OOM opens at its event.
    page.wait_until("the cursor is at the OOM", || {
        cursor_event(&page) > number_attr(&page, "#summary", "data-peak-event")
    });
    page.click("#at-peak");
    focus_element(&page, "timeline");
    page.press_with("A", SHIFT);
    page.wait_for(&"events-grid".into(), || page.evaluate("document.activeElement.id"));
    let peak = number_attr(&page, "#summary", "data-peak-event");
    page.wait_for(&peak, || marked_event(&page));
    page.press("ArrowUp");
    page.wait_for(&(peak - 1), || marked_event(&page));
    page.wait_for(&(peak - 1), || cursor_event(&page));
    page.press("ArrowDown");
    page.wait_for(&peak, || cursor_event(&page));
    page.press("Enter");
    page.wait_until("the event's allocation is selected", || page.attribute("#details", "data-allocation").is_some());
    page.wait_for(&peak, || marked_event(&page));
    // From the details to the free and to the allocation.
    page.press_with("D", SHIFT);
    page.wait_until("the free is marked, or the status says never freed", || {
        marked_event(&page) > peak || page.text("#status").contains("never freed")
    });
    page.press_with("B", SHIFT);
    page.wait_for(&peak, || marked_event(&page));
    // The last event is the OOM.
    let last = number_attr(&page, "#summary", "data-events") - 1;
    page.press("End");
    page.wait_for(&last, || marked_event(&page));
    page.wait_until("the requested size is shown", || text_of_marked(&page).contains("requested"));
    page.press("Home");
    page.wait_for(&0, || marked_event(&page));
    // Goes to an event number.
    page.press("@");
    page.wait_for(&"at".into(), || page.evaluate("document.activeElement.id"));
    for digit in "123".chars() {
        page.press(&digit.to_string());
    }
    page.press_enter();
    page.wait_for(&123, || marked_event(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn events_are_filtered_copied_and_clicked() {
    let page = open_empty_page();
    open_tab(&page, &generate_file("events-filter.pickle", "--steps 2 --layers 4"), "#tab-events");
    let all = || number_attr(&page, "#summary", "data-events");
    page.wait_until("the number of events is shown", || all() > 0);
    let all = all();
    page.wait_for(&all, || number_attr(&page, "#events-status", "data-listed"));
    let counted = || {
        let count = "+(document.querySelector('#events-actions button')?.innerText.replace(/[^0-9]/g, '') ?? 0)";
        page.evaluate(count).as_i64().unwrap_or(0)
    };
    page.wait_until("the events are counted", || counted() > 0);
    let allocs = counted();
    page.click("#events-actions [data-action='0']");
    page.wait_for(&allocs, || number_attr(&page, "#events-status", "data-listed"));
    page.wait_until("only allocs are listed", || {
        let other =
            "[...document.querySelectorAll('#events-rows > div')].every(it => it.innerText.includes('+ alloc'))";
        page.evaluate(other) == true
    });
    page.click("#events-actions [data-action='0']");
    page.wait_for(&all, || number_attr(&page, "#events-status", "data-listed"));

    focus_element(&page, "events-grid");
    page.press("f");
    page.wait_for(&"events-filter".into(), || page.evaluate("document.activeElement.id"));
    for letter in ">=1MiB & ".chars() {
        page.press(&letter.to_string());
    }
    page.wait_until("fewer are listed", || number_attr(&page, "#events-status", "data-listed") < all);
    page.press("#");
    // Without the "#" there is another error.
    page.wait_until("the error is shown", || page.text("#events-status").contains("allocation number"));
    assert_eq!(page.attribute("#events-filter", "aria-invalid").as_deref(), Some("true"));
    page.press("Escape");
    page.wait_for(&"events-grid".into(), || page.evaluate("document.activeElement.id"));
    page.press("Delete");
    page.wait_for(&all, || number_attr(&page, "#events-status", "data-listed"));

    // A click moves the cursor and selects the allocation.
    page.press("Home");
    page.wait_for(&0, || marked_event(&page));
    page.click("#events-rows [data-row='4']");
    page.wait_for(&4, || cursor_event(&page));
    page.wait_for(&4, || marked_event(&page));
    page.press_with("ArrowDown", SHIFT);
    page.evaluate("globalThis.copied = ''; \
                   navigator.clipboard.write = async ([item]) => { copied = await (await item.getType('text/plain')).text(); }");
    page.press_with("c", CTRL);
    page.wait_until("text was copied", || page.evaluate("copied") != "");
    let text = page.evaluate("copied").as_str().unwrap_or_default().to_owned();
    assert_eq!(text.lines().count(), 3, "a header and two rows: {text}");
    page.wait_until("the status reports it", || page.text("#status").contains("Copied 2 rows"));
    // When the cursor moves elsewhere, its row scrolls into view.
    page.click("#at-end");
    page.wait_for(&(all - 1), || marked_event(&page));
    assert_eq!(page.errors(), Vec::<String>::new());
}

#[test]
#[ignore = "needs dist/ and Chromium: ./run test"]
fn real_files_list_all_their_events() {
    let Some(files) = real_files() else { return };
    let page = open_empty_page();
    for file in files.iter().filter(|file| file.devices.len() == 1 && file.devices[0]["events"] != 0).take(8) {
        println!("{}", file.path.display());
        let device = &file.devices[0];
        let events = device["events"].as_i64().unwrap_or(-1);
        open_tab(&page, &file.path, "#tab-events");
        page.wait_for(&events, || number_attr(&page, "#events-status", "data-all"));
        page.click("#at-peak");
        page.wait_for(&device["peak_event"].as_i64().unwrap_or(-1).max(-2), || match marked_event(&page) {
            // No row is marked before the first event.
            -2 if device["peak_event"] == -1 => -1,
            event => event,
        });
        focus_element(&page, "events-grid");
        page.press("End");
        page.wait_for(&(events - 1), || marked_event(&page));
    }
    assert_eq!(page.errors(), Vec::<String>::new());
}
