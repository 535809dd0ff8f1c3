"""Two thousand mutants of model files; ``make fuzz`` makes a hundred thousand."""

import pytest

from model_file_mutants import MUTATIONS, mutant, samples, try_out

N_MUTANTS, N_PARTS = 2_000, 4


@pytest.fixture(scope="module")
def all_samples(tmp_path_factory):
    return samples(tmp_path_factory.mktemp("samples"))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(N_PARTS))
def test_no_mutant_does_harm(part, all_samples, tmp_path, capsys):
    outcomes, kinds = [], set()
    for number in range(part, N_MUTANTS, N_PARTS):
        sample, mutation, packed = mutant(all_samples, number)
        outcomes.append(try_out(sample, mutation, packed, tmp_path / "mutant.adf"))
        kinds.add(mutation)
    assert len(outcomes) == N_MUTANTS / N_PARTS
    assert kinds == set(MUTATIONS)
    # Some edits make another model that is as good, such as one with other counts. Few may fail only when it is used.
    assert outcomes.count("refused") > 0.7 * len(outcomes)
    assert 0 < outcomes.count("works") < 0.25 * len(outcomes)
    assert len([one for one in outcomes if one not in ("refused", "works")]) < 0.01 * len(outcomes)
