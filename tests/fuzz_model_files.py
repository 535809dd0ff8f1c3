"""Make many mutants of model files and load them: ``python tests/fuzz_model_files.py [how many] [first]``.

Mutants are tried in processes of their own with little memory and little time, so that a crash, a hang or a hoard is
seen, and told by the number of the mutant that caused it. What is not refused must work, or raise a Python error.
"""

import collections
import multiprocessing
import resource
import signal
import sys
import tempfile
from pathlib import Path

import model_file_mutants as mutants

SECONDS, BYTES = 60, 6 * 2**30  # for one mutant; address space, of which most is shared libraries
N_PROCESSES = 2


def work(numbers, current, results):
    """Try mutants in turn; the number of the one at hand is kept where others see it."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    with tempfile.TemporaryDirectory() as folder:
        samples = mutants.samples(folder)
        for number in numbers:
            current.value = number
            signal.alarm(SECONDS)  # ends the process, whatever it does
            sample, mutation, packed = mutants.mutant(samples, number)
            try:
                outcome = mutants.try_out(sample, mutation, packed, Path(folder) / "mutant.adf")
            except Exception as error:
                outcome = f"FAILED: {type(error).__name__}: {error}"
            signal.alarm(0)
            results.put((number, mutation.__name__, outcome))
    results.put(None)


def main(n_mutants, first=0):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    workers = []
    for place in range(N_PROCESSES):
        current = context.Value("q", -1)
        numbers = range(first + place, first + n_mutants, N_PROCESSES)
        workers.append((context.Process(target=work, args=(numbers, current, results)), current))
    for process, _ in workers:
        process.start()
    outcomes, failures = collections.Counter(), []
    n_open = N_PROCESSES
    while n_open:
        try:
            found = results.get(timeout=5)
        except Exception:
            dead = [(process, current) for process, current in workers if process.exitcode not in (None, 0)]
            if dead:
                failures += [
                    f"mutant {current.value} ended the process ({process.exitcode})" for process, current in dead
                ]
                break
            continue
        if found is None:
            n_open -= 1
            continue
        number, mutation, outcome = found
        kind = outcome if outcome in ("refused", "works") else "raises: " + outcome
        outcomes[kind[:100].replace("\n", " ")] += 1
        if outcome.startswith("FAILED"):
            failures.append(f"mutant {number} ({mutation}): {outcome}")
        if sum(outcomes.values()) % 10_000 == 0:
            print(f"{sum(outcomes.values()):,} mutants ...", flush=True)
    for process, _ in workers:
        process.terminate()
    print(f"{sum(outcomes.values()):,} mutants of {len(mutants.BASES) + 2} files")
    for outcome, count in outcomes.most_common():
        print(f"{count:8,}  {outcome}")
    print("\n".join(failures) or "no crash, no hang, no other error while loading")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) if sys.argv[1:] else main(100_000))
