#!/usr/bin/env bash
# Runs browser tests on the page in MEMSCAPE_DIST. A failed test is retried once, alone. If it passes then, its name is
# appended to the file FLAKY. If it fails again, or if too many tests failed, the script fails.
#
#   tests/browser.sh FLAKY              the everyday tests in Chromium
#   tests/browser.sh FLAKY --ci         the everyday tests and the long ones
#   tests/browser.sh FLAKY --optimized  tests that need an optimized page, slow tests, and all tests in Firefox and WebKit
#   tests/browser.sh FLAKY --smoke      one test in each browser, and the code that is fetched later
#   tests/browser.sh FLAKY NAME...      tests whose names contain one of these
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

flaky=${1:?name the file for flaky tests}
shift
log=$(mktemp)
trap 'rm -f "$log" "$log.last"' EXIT

# Tests that run one at a time after the others, because they measure time, need much memory, or save files under shared
# names.
alone=(large:: serving::time_ hostile::file_larger errors::cancel_works interrupted::cancel_works lanes::eight_devices
    renderers::all_canvases export:: saved:: single::)
# Tests that need an optimized page, for time limits or for its files.
optimized=(large:: later_code:: serving::time_ lanes::eight_devices)
# Tests of 10 seconds or more that run only before a release. They repeat for every file or every view what other tests
# check for some of them.
slow=(axe::views_and_dialogs opening::real_files_show view_links::hostile_link saved::page_is_saved_with plots::growing_segments
    containers::file_in_any sql::hostile_queries picture::no_view renderers:: hostile::files_with_extreme
    layout::views_do_not_scroll cached_files::time_to_first_frame cached_files::unavailable_or_full hostile::invalid_files
    simulator::switching_device_cancels insights::every_topic)
# Tests of 6 seconds or more that run only before a change lands, with --ci and --all.
long=(layout::texts_break_well interrupted::cancel_works_in_every_phase what_if::search_can_be_canceled hostile::file_larger
    choosing::large_file_asks table::million_rows cached_files::changed_file cached_files::damaged_or_missing
    export::export_of_real_file comparing::link_and_saved_page stable_view::card_near_edges live::changed_hosted_file
    embedding::nothing_of_a_sent_file comparing::scope_from_a_to_b view_links::link_restores_every_view
    appearance::rejected_files what_if::simulated_run_opens live::following_rank view_links::known_link_parameters
    saved::saved_pages_show export::svg_matches export::larger_pngs reopening::failed_or_cancelled cached_files::reopened
    flame::cpu_renderer_draws plots::plots_are_saved cursor::live_bytes_at_peak display_options::orders_and_colourings
    installed::new_build_replaces private_texts::saved_files_do_not saved::link_in_view broken_downloads::download_that_cannot
    saved::page_saved_from segments::segments_at_peak insights::long_report)
# Run by ./run screenshots, ./run picture and ./run tutorials only.
left_out=(screenshots_of_ readme_picture pictures_of_tutorials)
max_flaky=6

# A test waits for the page half of the time.
threads=$(($(nproc 2>/dev/null || echo 1) + 1))

build=(--quiet --locked --workspace --features gpu-test)

# tests TARGET THREADS ARGUMENTS...: runs tests of a target and appends their output to the log.
tests() {
    local target=$1 threads=$2
    shift 2
    cargo test "${build[@]}" --test "$target" -- --include-ignored --test-threads="$threads" "$@" 2>&1 | tee "$log.last"
    local status=${PIPESTATUS[0]}
    cat "$log.last" >>"$log"
    # A target that does not build or is killed prints no result, and is not retried.
    grep -q '^test result: ' "$log.last" || { printf 'browser: %s did not finish\n' "$target" >&2; exit 1; }
    return "$status"
}

# list TARGET ARGUMENTS...: prints the names of the tests that these arguments select.
list() {
    cargo test "${build[@]}" --test "$1" -- --include-ignored --list "${@:2}" 2>/dev/null | sed -n 's/: test$//p'
}

# A renamed test must not leave the lists silently.
names=$(list browser)
for name in "${alone[@]}" "${optimized[@]}" "${slow[@]}" "${long[@]}" "${left_out[@]}"; do
    [[ $names == *"$name"* ]] || { printf 'browser: no test has a name with %s\n' "$name" >&2; exit 1; }
done

status=0
case "${1:-}" in
    --smoke)
        tests browser 1 opening::file_dropped_on_page_opens later_code:: || status=1
        tests browsers 2 every_tab_opens_and_fills || status=1
        ;;
    --optimized)
        tests browser 1 "${optimized[@]}" || status=1
        tests browser 2 "${slow[@]}" || status=1
        # Firefox and WebKit run in parallel, each in its own session.
        tests browsers 2 || status=1
        ;;
    *)
        names=("$@") except=("${left_out[@]}")
        if [[ ${1:-} == --ci ]]; then
            names=() except+=("${optimized[@]}" "${slow[@]}")
        # Given names also select long and slow tests, and tests that need an optimized page.
        elif ((${#names[@]} == 0)); then
            except+=("${optimized[@]}" "${slow[@]}" "${long[@]}")
        fi
        mapfile -t single < <(list browser "${names[@]+"${names[@]}"}" "${except[@]/#/--skip=}" | grep -F "$(printf '%s\n' "${alone[@]}")")
        tests browser "$threads" "${names[@]+"${names[@]}"}" "${except[@]/#/--skip=}" "${alone[@]/#/--skip=}" || status=1
        if ((${#single[@]} > 0)); then tests browser 1 --exact "${single[@]}" || status=1; fi
        if ((${#names[@]} > 0)) && [[ -n $(list browsers "${names[@]}") ]]; then tests browsers 2 "${names[@]}" || status=1; fi
        ;;
esac
((status == 0)) && exit 0

mapfile -t failed < <(grep -aoE '[a-z0-9_]+(::[a-z0-9_]+)+ --- FAILED' "$log" | sed 's/ --- FAILED$//' | sort -u)
if ((${#failed[@]} == 0 || ${#failed[@]} > max_flaky)); then
    printf 'browser: %s tests failed: %s\n' "${#failed[@]}" "${failed[*]-}" >&2
    exit 1
fi
printf 'browser: retrying: %s\n' "${failed[*]}"
for name in "${failed[@]}"; do
    for target in browser browsers; do
        if [[ -n $(list $target --exact "$name") ]]; then
            tests $target 1 --exact "$name" || { printf 'browser: failed twice: %s\n' "$name" >&2; exit 1; }
            printf '%s\n' "$name" >>"$flaky"
        fi
    done
done
