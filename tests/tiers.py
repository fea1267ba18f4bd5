"""What `make quick`, `make test`, `.ci/run` and `make full` run: which tests, and how much a test tries.

`make quick` runs the core alone: problems, plans, nests, IR, kernels, solutions, the database.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

from hypothesis import settings


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


QUICK, FULL = _is_on("TTC_QUICK"), _is_on("TTC_FULL")
CI = _is_on("TTC_REQUIRE_ALL")  # which `.ci/run` sets

# What `make quick` leaves out, as paths below tests/ up to any letter of a test's name, and why.
SLOW = {
    "cross/": "compilers and emulators",
    "endurance/": "attacks",
    "gpu/test_gpu_a": "a compiler, assemblers",
    "gpu/test_gpu_b": "a compiler",
    "gpu/test_gpu_candidates.py::test_offered": "a compiler",
    "gpu/test_gpu_candidates.py::test_plans_differ": "seconds",
    "gpu/test_gpu_candidates.py::test_uncoalesced": "seconds",
    "gpu/test_gpu_casts": "a compiler",
    "gpu/test_gpu_compare": "a compiler",
    "gpu/test_gpu_device": "a compiler",
    "gpu/test_gpu_diversity": "seconds",
    "gpu/test_gpu_exec": "a compiler",
    "gpu/test_gpu_g": "a compiler",
    "gpu/test_gpu_ha": "a compiler",
    "gpu/test_gpu_ir.py::test_amd_kernels_permute": "seconds",
    "gpu/test_gpu_ir.py::test_every_access": "seconds",
    "gpu/test_gpu_r": "a compiler",
    "gpu/test_gpu_search": "a compiler",
    "mpi/test_mpi.py": "processes",
    "test_anywhere.py::test_every": "processes",
    "test_anywhere.py::test_numpy_transposes": "processes",
    "test_anywhere.py::test_the_command": "processes",
    "test_archive.py::test_a_linker": "a compiler",
    "test_archive.py::test_ar_": "GNU's binutils",
    "test_archive.py::test_linkers": "linkers",
    "test_archive.py::test_the_bytes_are_those": "GNU's binutils",
    "test_archive.py::test_what_a_linker": "a linker",
    "test_arrays.py::test_calls_are_served_without": "processes",
    "test_arrays.py::test_memory_stays": "processes",
    "test_artifact.py::test_headers": "compilers",
    "test_backend.py::test_a_child_forked": "processes",
    "test_backend.py::test_a_fork_waits": "processes",
    "test_backend.py::test_interrupts_arrive": "seconds",
    "test_backend.py::test_memory_stays": "seconds",
    "test_bench_cli": "processes",
    "test_bench_contractions": "seconds",
    "test_bench_peers": "compilers, processes",
    "test_bench_run.py::test_every_suite_runs": "seconds",
    "test_candidates.py::test_every_plan_offered": "seconds",
    "test_candidates.py::test_every_plan_offered_is_valid_and_offered_once[avx512": "seconds",
    "test_chain.py::test_a_long_run": "seconds",
    "test_cli": "searches and processes",
    "test_cmake": "CMake, compilers",
    "test_compare.py::test_a_cache": "compilers",
    "test_compare.py::test_a_compiler": "compilers",
    "test_compare.py::test_a_reference": "compilers",
    "test_compare.py::test_a_source": "compilers",
    "test_compare.py::test_a_wrong": "compilers",
    "test_compare.py::test_choices_that": "compilers",
    "test_compare.py::test_compilers_compute": "compilers",
    "test_compare.py::test_ctrl_c": "compilers",
    "test_compare.py::test_libraries": "compilers",
    "test_compare.py::test_nothing_is": "compilers",
    "test_compare.py::test_openmp": "compilers",
    "test_compare.py::test_other_faults": "compilers",
    "test_compare.py::test_the_oldest": "compilers",
    "test_compare.py::test_the_others": "compilers",
    "test_compare.py::test_without_a_compiler": "compilers",
    "test_compare_cli": "compilers",
    "test_compile.py::test_a_damaged_database": "processes",
    "test_compile.py::test_a_stored_solution_tells": "seconds",
    "test_contraction_solutions.py::test_random": "seconds",
    "test_contraction_users": "other libraries",
    "test_contractions.py::test_measured_rates": "seconds",
    "test_cost_networks.py::test_every_plan_has_the_inputs": "seconds",
    "test_dask.py::test_a_cluster": "processes",
    "test_dask.py::test_schedulers": "processes",
    "test_database.py::test_records_survive": "seconds",
    "test_database_attacks": "seconds of processes",
    "test_database_faults.py::test_many_processes": "processes",
    "test_database_faults.py::test_solutions_wait": "seconds",
    "test_database_trust.py::test_a_secret_that_is_none": "seconds",
    "test_database_trust.py::test_sizes_are_checked": "seconds",
    "test_display": "searches and processes",
    "test_diversity.py::test_a_search_finds": "seconds",
    "test_einsum.py::test_random": "seconds",
    "test_einsum.py::test_threads_from_cold": "processes",
    "test_entries.py::test_entries_compute_the_transposition": "seconds",
    "test_entries.py::test_every_decision": "seconds",
    "test_entries.py::test_module_is_deterministic": "seconds",
    "test_entries.py::test_rank_26": "seconds",
    "test_entries.py::test_rows_of_a_b_off": "seconds",
    "test_examples": "compilers",
    "test_explain_page": "a browser",
    "test_exports": "searches",
    "test_fallback.py::test_results_are_right[gaps": "seconds",
    "test_fallback.py::test_results_are_right[reversal": "seconds",
    "test_first_call": "processes",
    "test_fitted.py::test_a_damaged_file": "processes",
    "test_fitted.py::test_neither_names": "processes",
    "test_fitted.py::test_plans_have_no_facts": "seconds",
    "test_fitted.py::test_the_file_is_shown": "processes",
    "test_given_plan": "searches",
    "test_groups.py::test_threads_of_a_fresh": "processes",
    "test_imports.py::test_the_first_call": "processes",
    "test_imports.py::test_threads_call": "processes",
    "test_interpreter.py::test_nothing_registers": "processes",
    "test_ir.py::test_the_text_does_not_depend_on_hash_seeds": "processes",
    "test_items.py::test_arrays_of_pixels": "seconds",
    "test_joined.py::test_any_strides": "seconds",
    "test_joined.py::test_kernels_join": "seconds",
    "test_joined.py::test_micro_tiles_of": "seconds",
    "test_joined.py::test_objects_for_several": "seconds",
    "test_json": "searches",
    "test_kernels.py::test_rank_26": "seconds",
    "test_kept_kernels": "processes",
    "test_layout_table.py::test_threads_begin": "processes",
    "test_libraries": "JAX and others",
    "test_library": "compilers",
    "test_like_numpy.py::test_numpy_s_names": "processes",
    "test_limits": "processes at their limits",
    "test_marks": "compilers",
    "test_native": "compilers",
    "test_other_suites.py": "suites of other libraries",
    "test_pages.py::test_blocks": "searches",
    "test_pages.py::test_commands_of_pages_run": "seconds",
    "test_plan_groups": "a linker",
    "test_plan_objects": "a linker, compilers",
    "test_plan_threads": "a linker, compilers",
    "test_plugins": "a compiler",
    "test_refit": "seconds",
    "test_report.py": "pictures",
    "test_report.py::test_a_page_alone": "draws pictures",
    "test_report.py::test_the_page_is_one_file": "draws pictures",
    "test_report.py::test_threads_that_were_not_placed": "draws pictures",
    "test_report_changes.py::test_other_numbers": "draws pictures",
    "test_report_changes.py::test_runs_without": "draws pictures",
    "test_report_changes.py::test_the_terminal": "draws pictures",
    "test_report_contractions": "pictures",
    "test_report_page": "a browser",
    "test_result_memory.py::test_a_fork": "processes",
    "test_result_memory.py::test_a_pool_in_use": "seconds",
    "test_result_memory.py::test_a_program": "processes",
    "test_result_memory.py::test_exit": "processes",
    "test_result_memory.py::test_forks": "processes",
    "test_result_memory.py::test_memory_that_fails": "processes",
    "test_result_memory.py::test_the_pool_goes_back": "seconds",
    "test_result_memory.py::test_threads_from_cold": "processes",
    "test_row_major.py::test_from_arrays_keeps": "PyTorch",
    "test_row_major.py::test_from_arrays_looks": "PyTorch",
    "test_row_major.py::test_reports": "a compilation",
    "test_row_major.py::test_the_command": "a compilation",
    "test_runtime.py::test_a_malformed_omp": "processes",
    "test_runtime.py::test_omp_num_threads": "processes",
    "test_runtime.py::test_the_interpreter_ends": "processes",
    "test_runtime.py::test_the_process_ends": "processes",
    "test_runtime.py::test_torch": "PyTorch",
    "test_search.py::test_a_slowdown": "seconds",
    "test_shared_calls.py::test_threads_and_forks": "processes",
    "test_site": "Sphinx",
    "test_solution_arrays.py::test_a_problem_of": "seconds",
    "test_solution_arrays.py::test_arrays_of_other": "PyTorch",
    "test_solution_arrays.py::test_cubes_tell": "a process",
    "test_solution_arrays.py::test_every_pair": "seconds",
    "test_speed.py::test_a_quiet": "seconds",
    "test_start": "compilers, the network",
    "test_stress": "processes",
    "test_symbols": "compilers",
    "test_tables.py::test_a_terminal": "a process",
    "test_tables.py::test_every_command": "seconds",
    "test_tensors": "PyTorch",
    "test_torch": "PyTorch",
    "test_type_names.py::test_torchs_dtypes": "PyTorch",
    "test_typing": "type checkers",
    "test_wheel": "builds packages",
    "test_wrong_calls.py::test_a_slice": "seconds",
}

# Of how many of a test's cases `make quick` runs a random sample, always the same one; `make test` runs the others.
QUICK_SHARES = {
    "gpu/test_gpu_candidates.py::test_the_57": 12,
    "gpu/test_gpu_ir.py::test_every_access": 10,
    "test_arithmetic.py::test_entries": 4,
    "test_arithmetic.py::test_solutions": 8,
    "test_arithmetic.py::test_transpose": 4,
    "test_chain.py::test_a_long_run": 3,
    "test_compare.py::test_llvm_computes": 15,
    "test_contraction_solutions.py::test_random": 8,
    "test_contractions.py::test_every_plan": 50,
    "test_explain.py::test_every_problem": 8,
    "test_kernels.py::test_elements_with_gaps": 20,
    "test_kernels.py::test_mirrored": 12,
    "test_loads.py::test_no_load": 12,
    "test_many_threads.py::test_threads_have": 25,
}

# The same of `make test` and `.ci/run`; `make full` runs the others.
SHARES = {
    "gpu/test_gpu_candidates.py::test_plans_differ": 10,
    "test_bench_peers.py::test_the_plans": 6,
    "test_cmake.py::test_an_installed": 1,
    "test_cmake.py::test_fortran": 1,
    "test_cmake.py::test_libraries": 1,
    "test_einsum.py::test_random_specs": 4,
    "test_entries.py::test_entries_compute": 30,
    "test_entries.py::test_every_decision": 10,
    "test_joined.py::test_kernels_join": 24,
}

# The same, but `.ci/run` runs the others too.
CI_SHARES = {
    "cross/test_contracted.py::test_more": 1,
    "cross/test_execution.py::test_conversions": 2,
    "cross/test_execution.py::test_objects": 10,
    "gpu/test_gpu_candidates.py::test_amd_compute_units": 1,
    "gpu/test_gpu_candidates.py::test_multiprocessors": 1,
    "mpi/test_mpi.py::test_random": 2,
    "test_arrays.py::test_memory_stays": 0,
    "test_cmake.py::test_a_manifest": 1,
    "test_cmake.py::test_libraries": 0,
    "test_cmake.py::test_the_example": 1,
    "test_compare.py::test_compilers_compute": 1,
    "test_contractions.py::test_measured_rates": 0,
    "test_einsum.py::test_random_specs": 1,
    "test_emitted_contractions.py::test_entries_compute_random": 6,
    "test_examples.py::test_contraction": 0,
    "test_examples.py::test_packing": 0,
    "test_examples.py::test_plans": 0,
    "test_limits.py::test_a_limit_costs": 2,
    "test_many_threads.py::test_grids": 0,
    "test_marks.py::test_objects_of": 8,
    "test_native.py::test_linked_program": 15,
    "test_native_entry.py::test_references": 0,
    "test_other_suites.py": 0,
    "test_plan_objects.py::test_random_calls": 0,
}


def is_slow(test: str) -> bool:
    """Whether `make quick` leaves a test out, by pytest's name of it."""
    return test.removeprefix("tests/").startswith(tuple(SLOW))


def beyond(shares: Mapping[str, int], tests: Sequence[str]) -> set[str]:
    """The tests that are left out because others, their shares, are enough."""
    found: set[str] = set()
    for share, most in shares.items():
        cases = [test for test in tests if test.removeprefix("tests/").startswith(share)]
        found |= {*cases} - {*Random(share).sample(cases, min(most, len(cases)))}
    return found


def is_slow_file(file: Path) -> bool:
    """Whether `make quick` leaves out every test of a file, by its path below tests/."""
    return file.suffix == ".py" and str(file).startswith(tuple(x for x in SLOW if "::" not in x))


def count(usual: int) -> int:
    """How many of what `make test` tries this often: a tenth by `make quick`, three times as many by `make full`."""
    return max(1, usual // 10) if QUICK else 3 * usual if FULL else usual


def examples(usual: int) -> settings:
    """Hypothesis' settings for a property that `make test` tries on so many examples."""
    return settings(max_examples=count(usual))
