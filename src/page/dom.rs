//! Every id of `index.html`, typed, once; and listeners that end with their owner.

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{
    Document, Element, Event, EventTarget, HtmlButtonElement, HtmlCanvasElement, HtmlDialogElement, HtmlElement,
    HtmlInputElement, HtmlProgressElement, HtmlSelectElement, HtmlTextAreaElement, Window,
};

macro_rules! elements {
    ($($(#[$doc:meta])* $field:ident: $kind:ty = $id:literal,)*) => {
        /// The elements of the page that are not mere controls of a command (`ui::keys` names those).
        pub(super) struct Elements {
            pub(super) window: Window,
            pub(super) document: Document,
            pub(super) body: HtmlElement,
            $($(#[$doc])* pub(super) $field: $kind,)*
        }

        impl Elements {
            /// Finds them all. The error names one that is missing or of another kind.
            pub(super) fn find(window: Window) -> Result<Elements, String> {
                let document = window.document().ok_or("a window without a document")?;
                let body = document.body().ok_or("a document without a body")?;
                let mut search = Search { document: document.clone(), missing: None };
                let elements = Elements { $($field: search.element($id),)* window, document, body };
                search.missing.map_or(Ok(elements), Err)
            }
        }
    };
}

elements! {
    link_notice: HtmlElement = "link-notice",
    link_notice_close: HtmlButtonElement = "link-notice-close",
    link_notice_text: HtmlElement = "link-notice-text",
    answer: HtmlElement = "answer",
    answer_fold: HtmlElement = "answer-fold",
    answer_title: HtmlElement = "answer-title",
    at: HtmlInputElement = "at",
    at_note: HtmlElement = "at-note",
    axis: HtmlButtonElement = "axis",
    axis_strip: HtmlElement = "axis-strip",
    about_hint: HtmlElement = "about-hint",
    capacity: HtmlInputElement = "capacity",
    card: HtmlElement = "card",
    chip_lives: HtmlElement = "chip-lives",
    chip_node: HtmlElement = "chip-node",
    chip_sizes: HtmlElement = "chip-sizes",
    colouring: HtmlSelectElement = "colouring",
    card_hidden: HtmlElement = "card-hidden",
    card_lifetime: HtmlElement = "card-lifetime",
    card_segment: HtmlElement = "card-segment",
    card_site: HtmlElement = "card-site",
    card_title: HtmlElement = "card-title",
    details: HtmlElement = "details",
    details_caution: HtmlElement = "details-caution",
    details_facts: HtmlElement = "details-facts",
    details_only: HtmlElement = "details-only",
    details_site: HtmlElement = "details-site",
    details_title: HtmlElement = "details-title",
    device: HtmlSelectElement = "device",
    device_field: HtmlElement = "device-field",
    device_steps: HtmlElement = "device-steps",
    divider: HtmlElement = "divider",
    error: HtmlElement = "error",
    events: HtmlElement = "events",
    events_actions: HtmlElement = "events-actions",
    events_all: HtmlElement = "events-all",
    events_clear: HtmlElement = "events-clear",
    events_copy: HtmlElement = "events-copy",
    events_empty: HtmlElement = "events-empty",
    events_empty_text: HtmlElement = "events-empty-text",
    events_filter: HtmlInputElement = "events-filter",
    events_go: HtmlElement = "events-go",
    events_grid: HtmlElement = "events-grid",
    events_head: HtmlElement = "events-head",
    events_rows: HtmlElement = "events-rows",
    events_space: HtmlElement = "events-space",
    events_status: HtmlElement = "events-status",
    export: HtmlDialogElement = "export",
    export_close: HtmlButtonElement = "export-close",
    export_size_1: HtmlElement = "export-size-1",
    export_size_2: HtmlElement = "export-size-2",
    export_size_4: HtmlElement = "export-size-4",
    facts: HtmlElement = "facts",
    file: HtmlInputElement = "file",
    file_name: HtmlElement = "file-name",
    find: HtmlInputElement = "find",
    find_capitals: HtmlButtonElement = "find-capitals",
    find_clear: HtmlButtonElement = "find-clear",
    find_next: HtmlButtonElement = "find-next",
    find_previous: HtmlButtonElement = "find-previous",
    find_status: HtmlElement = "find-status",
    fit_bytes: HtmlButtonElement = "fit-bytes",
    flame_canvas: HtmlCanvasElement = "flame-canvas",
    flame_card: HtmlElement = "flame-card",
    flame_card_name: HtmlElement = "flame-card-name",
    flame_card_place: HtmlElement = "flame-card-place",
    flame_card_shares: HtmlElement = "flame-card-shares",
    flame_card_title: HtmlElement = "flame-card-title",
    flame_crumbs: HtmlElement = "flame-crumbs",
    flame_found: HtmlElement = "flame-found",
    flame_internal: HtmlButtonElement = "flame-internal",
    flame_invert: HtmlButtonElement = "flame-invert",
    flame_labels: HtmlCanvasElement = "flame-labels",
    flame_merge: HtmlSelectElement = "flame-merge",
    flame_note: HtmlElement = "flame-note",
    flame_plot: HtmlElement = "flame-plot",
    flame_reading: HtmlElement = "flame-reading",
    flame_scroll: HtmlElement = "flame-scroll",
    flame_space: HtmlElement = "flame-space",
    flame_turn: HtmlButtonElement = "flame-turn",
    flame: HtmlElement = "flame",
    forward: HtmlElement = "forward",
    forward_text: HtmlElement = "forward-text",
    frames: HtmlElement = "frames",
    headlines: HtmlElement = "headlines",
    help: HtmlDialogElement = "help",
    help_close: HtmlButtonElement = "help-close",
    keys: HtmlElement = "keys",
    histograms: HtmlElement = "histograms",
    histograms_clear: HtmlElement = "histograms-clear",
    histograms_status: HtmlElement = "histograms-status",
    labels: HtmlCanvasElement = "labels",
    lane_labels: HtmlElement = "lane-labels",
    lanes: HtmlButtonElement = "lanes",
    lanes_note: HtmlElement = "lanes-note",
    legend: HtmlElement = "legend",
    legend_entries: HtmlElement = "legend-entries",
    legend_title: HtmlElement = "legend-title",
    letters: HtmlInputElement = "letters",
    life_bars: HtmlElement = "life-bars",
    life_top: HtmlElement = "life-top",
    lines: HtmlElement = "lines",
    loading: HtmlElement = "loading",
    loading_name: HtmlElement = "loading-name",
    marker_box: HtmlElement = "marker-box",
    markers: HtmlElement = "markers",
    measure: HtmlElement = "measure",
    measured: HtmlElement = "measured",
    measured_text: HtmlElement = "measured-text",
    memory_canvas: HtmlCanvasElement = "memory-canvas",
    memory_card: HtmlElement = "memory-card",
    memory_card_life: HtmlElement = "memory-card-life",
    memory_card_segment: HtmlElement = "memory-card-segment",
    memory_card_site: HtmlElement = "memory-card-site",
    memory_card_title: HtmlElement = "memory-card-title",
    memory_fit: HtmlElement = "memory-fit",
    memory_fits: HtmlElement = "memory-fits",
    memory_headings: HtmlElement = "memory-headings",
    memory_note: HtmlElement = "memory-note",
    memory_plot: HtmlElement = "memory-plot",
    memory_pool: HtmlSelectElement = "memory-pool",
    memory_reading: HtmlElement = "memory-reading",
    memory_request: HtmlInputElement = "memory-request",
    memory_scroll: HtmlElement = "memory-scroll",
    memory_sort: HtmlSelectElement = "memory-sort",
    memory_space: HtmlElement = "memory-space",
    memory_stream: HtmlSelectElement = "memory-stream",
    memory_sums: HtmlElement = "memory-sums",
    minimap: HtmlCanvasElement = "minimap",
    moment: HtmlElement = "moment",
    moment_title: HtmlElement = "moment-title",
    moment_facts: HtmlElement = "moment-facts",
    notice: HtmlElement = "notice",
    only_pool: HtmlSelectElement = "only-pool",
    only_pool_field: HtmlElement = "only-pool-field",
    only_segment: HtmlElement = "only-segment",
    only_stream: HtmlSelectElement = "only-stream",
    only_stream_field: HtmlElement = "only-stream-field",
    oddities: HtmlElement = "oddities",
    oddities_title: HtmlElement = "oddities-title",
    open_large: HtmlButtonElement = "open-large",
    overlay: HtmlCanvasElement = "overlay",
    picture: HtmlElement = "picture",
    plot: HtmlElement = "plot",
    progress: HtmlProgressElement = "progress",
    progress_text: HtmlElement = "progress-text",
    range: HtmlElement = "range",
    range_begin: HtmlElement = "range-begin",
    range_end: HtmlElement = "range-end",
    range_facts: HtmlElement = "range-facts",
    reading: HtmlElement = "reading",
    ruler: HtmlButtonElement = "ruler",
    same_stack: HtmlButtonElement = "same-stack",
    same_stack_text: HtmlElement = "same-stack-text",
    scope: HtmlSelectElement = "scope",
    scope_field: HtmlElement = "scope-field",
    segment_tools: HtmlElement = "segment-tools",
    show: HtmlSelectElement = "show",
    side: HtmlElement = "side",
    size_bars: HtmlElement = "size-bars",
    size_top: HtmlElement = "size-top",
    snapshot: HtmlSelectElement = "snapshot",
    snapshot_field: HtmlElement = "snapshot-field",
    snippet: HtmlElement = "snippet",
    source: HtmlElement = "source",
    source_close: HtmlElement = "source-close",
    source_lines: HtmlElement = "source-lines",
    source_name: HtmlElement = "source-name",
    source_note: HtmlElement = "source-note",
    source_unit: HtmlElement = "source-unit",
    sources: HtmlElement = "sources",
    sources_list: HtmlElement = "sources-list",
    sources_rows: HtmlElement = "sources-rows",
    sources_unit: HtmlElement = "sources-unit",
    spoken: HtmlElement = "spoken",
    stack_title: HtmlElement = "stack-title",
    stacking: HtmlSelectElement = "stacking",
    default_rules: HtmlButtonElement = "default-rules",
    rules_note: HtmlElement = "rules-note",
    rules: HtmlDialogElement = "rules",
    rules_choices: HtmlElement = "rules-choices",
    rules_close: HtmlButtonElement = "rules-close",
    rules_copy_default: HtmlButtonElement = "rules-copy-default",
    rules_copy_mosaic: HtmlButtonElement = "rules-copy-mosaic",
    rules_errors: HtmlElement = "rules-errors",
    rules_file: HtmlInputElement = "rules-file",
    rules_import: HtmlButtonElement = "rules-import",
    rules_count: HtmlElement = "rules-count",
    rules_result: HtmlElement = "rules-result",
    rules_save: HtmlButtonElement = "rules-save",
    rules_save_mosaic: HtmlButtonElement = "rules-save-mosaic",
    rules_text: HtmlTextAreaElement = "rules-text",
    rules_undo: HtmlButtonElement = "rules-undo",
    settings_rules: HtmlButtonElement = "settings-rules",
    setting_folder: HtmlInputElement = "setting-folder",
    setting_local: HtmlInputElement = "setting-local",
    setting_rules: HtmlTextAreaElement = "setting-rules",
    setting_template: HtmlInputElement = "setting-template",
    settings: HtmlDialogElement = "settings",
    settings_close: HtmlButtonElement = "settings-close",
    stage: HtmlElement = "stage",
    state: HtmlElement = "state",
    status: HtmlElement = "status",
    summary: HtmlElement = "summary",
    tab_events: HtmlElement = "tab-events",
    tab_flame: HtmlElement = "tab-flame",
    tab_histograms: HtmlElement = "tab-histograms",
    tab_list: HtmlElement = "tabs",
    tab_sources: HtmlElement = "tab-sources",
    tab_state: HtmlElement = "tab-state",
    tab_table: HtmlElement = "tab-table",
    tab_tree: HtmlElement = "tab-tree",
    tab_why: HtmlElement = "tab-why",
    table: HtmlElement = "table",
    table_clear: HtmlElement = "table-clear",
    table_empty: HtmlElement = "table-empty",
    table_empty_clear: HtmlElement = "table-empty-clear",
    table_empty_text: HtmlElement = "table-empty-text",
    table_filter: HtmlInputElement = "table-filter",
    table_grid: HtmlElement = "table-grid",
    table_head: HtmlElement = "table-head",
    table_rows: HtmlElement = "table-rows",
    table_space: HtmlElement = "table-space",
    table_status: HtmlElement = "table-status",
    timeline: HtmlCanvasElement = "timeline",
    template_note: HtmlElement = "template-note",
    tree: HtmlElement = "tree",
    tree_back: HtmlButtonElement = "tree-back",
    tree_found: HtmlElement = "tree-found",
    tree_empty: HtmlElement = "tree-empty",
    tree_internal: HtmlElement = "tree-internal",
    tree_invert: HtmlElement = "tree-invert",
    tree_matches: HtmlElement = "tree-matches",
    tree_merge: HtmlSelectElement = "tree-merge",
    tree_rows: HtmlElement = "tree-rows",
    tree_scroll: HtmlElement = "tree-scroll",
    tree_select: HtmlElement = "tree-select",
    tree_selection: HtmlButtonElement = "tree-selection",
    tree_space: HtmlElement = "tree-space",
    tree_way: HtmlElement = "tree-way",
    tree_whole: HtmlButtonElement = "tree-whole",
    warnings: HtmlElement = "warnings",
    welcome: HtmlElement = "welcome",
    why: HtmlElement = "why",
    why_note: HtmlElement = "why-note",
    why_report: HtmlElement = "why-report",
    why_sheets: HtmlElement = "why-sheets",
    why_statements: HtmlElement = "why-statements",
    why_topics: HtmlElement = "why-topics",
    window_back: HtmlButtonElement = "window-back",
    window_forward: HtmlButtonElement = "window-forward",
    workspace: HtmlElement = "workspace",
}

/// The element with this id.
pub(super) fn by_id<T: JsCast>(document: &Document, id: &str) -> Result<T, String> {
    let mut search = Search { document: document.clone(), missing: None };
    let element = search.element(id);
    search.missing.map_or(Ok(element), Err)
}

/// A search for many elements that is asked once, at its end, whether all were found: an answer for each would be 20 kB of wasm.
struct Search {
    document: Document,
    /// The first that is missing or of another kind.
    missing: Option<String>,
}

impl Search {
    /// The element with this id; where it is missing, nothing that is one.
    fn element<T: JsCast>(&mut self, id: &str) -> T {
        self.value(id, T::instanceof).unchecked_into()
    }

    #[inline(never)]
    fn value(&mut self, id: &str, is_kind: fn(&JsValue) -> bool) -> JsValue {
        let element = self.document.get_element_by_id(id).map_or(JsValue::NULL, JsValue::from);
        if !is_kind(&element) {
            let (before, after) = if element.is_null() {
                ("index.html has no #", "")
            } else {
                ("#", " is of another kind in index.html")
            };
            self.missing.get_or_insert_with(|| [before, id, after].concat());
        }
        element
    }
}

impl Elements {
    /// A new element with a class and a text.
    pub(super) fn new_element(&self, tag: &str, class: &str, text: &str) -> Element {
        // Our own tags are valid names, so this never fails; were it to, a detached body is a harmless stand-in.
        let element = self.document.create_element(tag).unwrap_or_else(|_| self.body.clone().into());
        if !class.is_empty() {
            element.set_class_name(class);
        }
        element.set_text_content(Some(text));
        element
    }

    /// Fills a definition list.
    pub(super) fn fill_definitions<'a>(&self, list: &Element, lines: impl Iterator<Item = (&'a str, &'a str)>) {
        clear(list);
        for (label, value) in lines {
            append(list, &self.new_element("dt", "", label));
            append(list, &self.new_element("dd", "", value));
        }
    }
}

/// Removes everything in `element`.
pub(super) fn clear(element: &Element) {
    element.set_text_content(None);
}

/// Puts `child` at the end of `parent`.
pub(super) fn append(parent: &Element, child: &Element) {
    // It fails only for a parent inside its own child.
    let _ = parent.append_child(child);
}

/// Sets a text, and leaves the node alone where it stands already: a live region speaks only of changes.
pub(super) fn set_text(element: &Element, text: &str) {
    if element.text_content().as_deref() != Some(text) {
        element.set_text_content(Some(text));
    }
}

/// Sets an attribute.
pub(super) fn set_attribute(element: &Element, name: &str, value: &str) {
    // It fails only for a name that is none, and ours are literals.
    let _ = element.set_attribute(name, value);
}

/// Makes an anchor lead to a line of source, by a link that `ui::links` made.
pub(super) fn source_link(anchor: &Element, link: &str) {
    set_attribute(anchor, "href", link);
    set_attribute(anchor, "rel", "noopener noreferrer");
    // A page opens beside this one; an editor opens by itself.
    set_attribute(anchor, "target", if link.starts_with("http") { "_blank" } else { "_self" });
}

/// Calls `then` for every `event` of `target` as long as the listener lives. The event's default can be prevented.
pub(super) fn listen(target: &EventTarget, event: &'static str, then: impl FnMut(&Event) + 'static) -> EventListener {
    EventListener::new_with_options(target, event, EventListenerOptions::enable_prevent_default(), then)
}

/// What a rejected promise says.
pub(super) fn cause(error: &JsValue) -> String {
    error.dyn_ref::<js_sys::Error>().map_or_else(|| "no reason given".to_owned(), |error| String::from(error.message()))
}
