"""What the command line promises in production, and the tests that fail without it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

GUARANTEES = {
    "one process learns at a time, by whatever name the model file is given; the error names who holds the lock": (
        "cli/test_model_file.py::test_one_process_learns_at_a_time_however_the_file_is_named",
        "cli/test_model_file.py::test_the_lock_outlives_the_file_that_was_there_when_it_was_taken",
        "cli/test_model_file.py::test_who_holds_the_lock_is_told",
    ),
    "no file is learnt half-written; a file that grew is learnt from where it stopped": (
        "cli/test_unfinished_files.py::test_a_file_is_seen_twice_however_old_it_says_it_is",
        "cli/test_unfinished_files.py::test_a_file_without_its_end_is_waited_for",
        "cli/test_unfinished_files.py::test_a_marker_says_that_a_file_is_finished",
        "cli/test_unfinished_files.py::test_a_file_that_went_on_is_learnt_from_where_it_stopped",
        "cli/test_unfinished_files.py::test_a_pause_of_the_writer_does_not_repeat_records",
    ),
    "a model file that another program replaced is read again, or ends the command: --on-conflict": (
        "cli/test_troubles.py::test_a_restored_backup_is_read_again_and_learns_on",
        "cli/test_troubles.py::test_a_restored_backup_ends_it_if_asked_to",
    ),
    "memory does not grow with a file, limits are kept, and a file that ends the process is set aside": (
        "cli/test_troubles.py::test_memory_does_not_grow_with_a_file",
        "cli/test_troubles.py::test_files_beyond_limits_are_refused",
        "cli/test_troubles.py::test_a_file_that_ends_the_process_is_set_aside_after_some_attempts",
    ),
    "errors that may pass are retried in order; others set a file aside with its reason": (
        "cli/test_troubles.py::test_a_file_that_cannot_be_read_now_keeps_its_place",
        "cli/test_troubles.py::test_waits_become_longer_and_are_told_once",
        "cli/test_watch.py::test_what_cannot_be_learnt_is_moved_aside_with_the_reason",
        "cli/test_outbox.py::test_a_rejected_file_is_told",
    ),
    "a folder that disappears and a full disk are waited for": (
        "cli/test_troubles.py::test_a_folder_that_disappears_is_waited_for",
        "cli/test_troubles.py::test_a_full_disk_is_waited_for",
    ),
    "no redirect is followed, and 2xx alone is a delivery": (
        "cli/test_outbox.py::test_an_answer_that_leads_elsewhere_is_not_followed",
        "cli/test_outbox.py::test_only_success_is_a_delivery",
    ),
    "rules over several batches find the same in one command and in several": (
        "cli/test_outbox.py::test_six_commands_tell_what_one_does",
    ),
    "alerts do not hold up learning, and each is delivered at least once": (
        "cli/test_outbox.py::test_a_slow_receiver_does_not_hold_learning",
        "cli/test_outbox.py::test_a_thousand_alerts_to_a_receiver_that_fails_half_of_the_time",
        "cli/test_outbox.py::test_a_process_killed_at_any_moment_loses_no_alert",
        "cli/test_outbox.py::test_many_findings_of_a_batch_are_one_alert",
        "cli/test_outbox.py::test_what_a_command_started_ends_with_it",
        "cli/test_outbox.py::test_no_batch_for_hours_is_told_once",
        "cli/test_outbox.py::test_the_verdict_on_health_is_told",
        "cli/test_outbox.py::test_other_receivers_are_told_of_one_that_fails",
    ),
    "no name of a class runs as a command, and no secret is printed": (
        "cli/test_outbox.py::test_no_placeholder_within_what_is_run",
        "cli/test_outbox.py::test_a_class_named_like_a_command_runs_nothing",
        "cli/test_outbox.py::test_nothing_secret_is_printed",
    ),
    "log lines have time and level, names are escaped, and the history has times and sources": (
        "cli/test_logs.py::test_logfmt",
        "cli/test_logs.py::test_json_lines_on_both_channels",
        "cli/test_logs.py::test_control_characters_of_names_are_escaped",
        "cli/test_logs.py::test_formulas_in_csv_are_text_unless_told_otherwise",
        "cli/test_logs.py::test_the_history_has_time_and_source",
        "monitor/test_plots.py::test_batches_are_named_with_when_they_were_learnt",
    ),
    "a model that has not learnt for long is not healthy": (
        "monitor/test_health.py::test_a_model_that_learns_no_more_is_not_well",
    ),
    "the monitor answers with many models and many connections, behind a proxy, and tells no paths": (
        "monitor/test_serving.py::test_a_model_is_looked_up_without_looking_at_the_others",
        "monitor/test_serving.py::test_more_connections_than_files_do_not_stop_it",
        "monitor/test_serving.py::test_a_record_that_does_not_come_whole_is_no_fault",
        "monitor/test_serving.py::test_a_path_that_a_proxy_leaves",
        "monitor/test_serving.py::test_names_that_are_allowed",
        "monitor/test_serving.py::test_a_fixed_token_is_asked_for_and_not_printed",
        "monitor/test_serving.py::test_head",
        "monitor/test_serving.py::test_unreadable_models_come_first_and_tell_no_path",
        "monitor/test_browser.py::test_long_names_stay_where_they_belong",
    ),
    "wide files, odd names and what is no CSV are errors of one line": (
        "cli/test_errors.py::test_a_wide_file_is_read_and_refused_without_asking_once_a_column",
        "cli/test_errors.py::test_names_that_are_no_text",
        "cli/test_errors.py::test_what_is_no_csv_is_told_in_one_line",
        "cli/test_help.py::test_what_is_not_understood_is_one_line_and_code_2",
    ),
    "signals end a command between two saved models; the unit and the container file are valid": (
        "cli/test_signals.py::test_watch_ends_well_and_says_what_it_learnt",
        "cli/test_signals.py::test_a_signal_waits_for_what_must_not_be_cut_in_two",
        "cli/test_signals.py::test_systemd_is_told_of_start_life_and_end",
        "cli/test_signals.py::test_systemd_understands_the_unit",
        "cli/test_signals.py::test_the_container_is_no_root_and_gets_signals_itself",
    ),
    "earlier models are kept, listed, compared and restored; records can be forgotten": (
        "cli/test_versions.py::test_so_many_models_are_kept_and_no_more",
        "cli/test_versions.py::test_versions_are_listed",
        "cli/test_versions.py::test_going_back_and_learning_on",
        "cli/test_versions.py::test_what_was_learnt_between_two_models",
        "cli/test_versions.py::test_records_are_dropped_by_the_value_of_a_column",
        "cli/test_versions.py::test_a_model_without_records",
        "cli/test_model_file.py::test_only_the_owner_may_read_a_new_model",
    ),
    "a challenger learns the same batches, is shown beside the champion and can be promoted": (
        "cli/test_challenger.py::test_a_challenger_learns_the_same_batches_with_other_parameters",
        "cli/test_challenger.py::test_the_page_shows_both_and_promote_puts_it_in_place",
        "cli/test_challenger.py::test_two_models_on_the_same_records",
    ),
    "Prometheus finds the same figures in the monitor and in the file": (
        "cli/test_metrics.py::test_a_file_for_node_exporter",
        "cli/test_metrics.py::test_the_monitor_tells_the_same",
    ),
    "killed or failing at any call, a command leaves the model before or after a batch": (
        "cli/test_kills.py::test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_model",
        "cli/test_kills.py::test_killed_while_others_write_it_learns_every_record_once",
        "cli/test_faults.py::test_each_call_fails_once_in_each_way",
    ),
}


@pytest.mark.parametrize("guarantee", GUARANTEES)
def test_every_guarantee_names_tests_that_there_are(guarantee: str) -> None:
    for named in GUARANTEES[guarantee]:
        file, test = named.split("::")
        assert re.search(rf"^def {test}\(", (TESTS / file).read_text(), re.MULTILINE), named
