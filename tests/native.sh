#!/usr/bin/env bash
# Runs native tests. Uses cargo-nextest if it is installed, which runs the tests of all crates in parallel.
#
#   tests/native.sh            the everyday tests
#   tests/native.sh --ci       the everyday tests and the long ones
#   tests/native.sh --slow     the tests that run only before a release
#   tests/native.sh NAME...    the tests whose names contain one of these
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tests of ten seconds or more that run only before a release. They compare every real file with a slow reference, every
# file with its copies, or every flipped bit. Other tests check the same code on fewer files.
slow=(brute_force::live_sets_trees_and_ranges_match_python cache::cached_and_uncached_output_of_real_files_are_equal
    convert::python_reads_same_values_from_original_and_converted_files convert::converted_files_give_same_answers_as_originals
    compact::flipped_bits_are_detected compare::rows_match_python_at_aligned_moments
    brute_force_category::categories_match_python brute_force_state::blocks_of_real_files_match_python
    table::table_of_real_files_matches_brute_force brute_force_events::events_of_real_files_match_python
    export::every_export_matches_bytes_computed_by_python brute_force_steps::steps_and_modules_match_python
    brute_force_leaks::leaks_of_real_files_match_python
    brute_force_leaks::free_memory_at_oom_equals_free_memory_at_end_of_trace_cut_there
    recommendations::effects_of_all_savings_match_referee_on_real_files
    recommendations::effects_of_settings_match_referee_on_real_files
    recommendations::effects_of_settings_match_referee_on_recordings
    advice::recorded_row_equals_recording_on_all_recordings
    phases::phases_and_stream_peaks_of_real_files_match_python
    savings::savings_tables_match_brute_force_on_real_files find::search_of_real_files_matches_brute_force)

# Tests of five seconds or more that run only before a change lands, with --ci and --all.
long=(recommendations::effects_of_leaks_match_referee_on_recordings
    recommendations::effects_of_leaks_match_referee_on_real_files_and_cases
    recommendations::plans_at_ooms_match_referee_on_recordings
    recommendations::effects_of_savings_match_referee_on_small_files
    cli_mindstudio::mindstudio_reads_peaks_and_ends_of_every_device
    compact::real_files_have_same_answers_before_and_after_conversion_to_columns
    plots::live_blocks_are_found_at_their_addresses
    simulated::trace_simulated_under_changed_settings_has_predicted_peak
    cli_sql::python_reads_exported_sqlite
    compare::swapped_files_negate_differences formats::protocols_0_and_1_have_same_summary_as_original_pickle
    formats::json_has_same_summary_as_pickle crop::cropped_file_matches_original_after_every_event plots::pools_sum_to_reserved
    curves::curves_of_real_files_match_events
    steps::annotated_steps_match_ground_truth)

case "${1:-}" in
    "" | --ci)
        skipped=("${slow[@]}")
        [[ -n ${1:-} ]] || skipped+=("${long[@]}")
        select=()
        for name in "${skipped[@]}"; do select+=(--skip "$name"); done
        ;;
    --slow)
        # Replays and predictions of all recordings.
        cargo test --quiet --locked -p memscape-allocator --lib -- --ignored
        select=("${slow[@]}")
        ;;
    *) select=("$@") ;;
esac
# The same features everywhere, so that nothing is built twice.
build=(--locked --workspace --features gpu-test)
for name in "${slow[@]}" "${long[@]}"; do
    grep -qF "fn ${name##*::}()" "tests/${name%%::*}.rs" || { printf 'native: no test is named %s\n' "$name" >&2; exit 1; }
done
if command -v cargo-nextest >/dev/null 2>&1; then
    # Some tests wait for a server.
    threads=$(($(nproc 2>/dev/null || echo 1) + 1))
    cargo nextest run "${build[@]}" --test-threads "$threads" --cargo-quiet --status-level slow --final-status-level flaky -- "${select[@]}"
else
    cargo test --quiet "${build[@]}" -- "${select[@]}"
fi
