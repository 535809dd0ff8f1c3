"""Evidence in a model file: the weights of the voters, and the statistics that drift is detected from."""

from __future__ import annotations

import numpy as np

from adforest.adaptation import State
from adforest.adaptation.calibration import no_calibration
from adforest.adaptation.class_mix import N_MIXES, MixChanges
from adforest.adaptation.evidence import N_CONTEXTS, N_VARIANTS, Evidence, OobBias, voters_of
from adforest.adaptation.tuning import TUNING
from adforest.exceptions import ModelFileError
from adforest.forest.types import Float64Array
from adforest.storage.fields import Array, PartReader, PartWriter, Real, Sizes, read_fields, write_fields

TOLERANCE = 1e-6  # of sums of weights that should be 1
EVIDENCE = (Real("oob_accuracy", takes_none=True),)
WEIGHTS = Array("weights", np.float64, ("n_voters", N_CONTEXTS, N_VARIANTS), low=0)
SHRINKAGE = Array("shrinkage", np.float64, ("n_voting", len(TUNING.shrinkage_strengths)), low=0)
ERRORS = Array("errors", np.float64, ("n_errors",))
MIX_CHANGES = Array(
    "mix_changes", np.float64, (3, N_MIXES), low=0, below=2**31, absent=lambda _: np.zeros((3, N_MIXES))
)
CALIBRATION = Array("calibration", np.float64, (3,), low=0, absent=lambda _: no_calibration())
SCORES = "scores"  # in files of earlier versions: correct predictions of pending samples


def write_evidence(evidence: Evidence, out: PartWriter) -> None:
    """Write the evidence; voters and forests in the order in which weights are summed."""
    names = list(evidence.shrinkage)
    out.values["voters"] = [list(voter) for voter in evidence.voters]
    out.values["forests"] = names
    shrinkage = np.array([evidence.shrinkage[name] for name in names])
    WEIGHTS.write(evidence.weights, out)
    SHRINKAGE.write(shrinkage.reshape(-1, len(TUNING.shrinkage_strengths)), out)
    ERRORS.write(np.array(evidence.oob_bias.errors, dtype=np.float64), out)
    write_fields(EVIDENCE, evidence, out)
    changes = evidence.mix_changes
    CALIBRATION.write(evidence.calibration, out)
    MIX_CHANGES.write(np.array([changes.changed, changes.kept, changes.in_a_row], dtype=np.float64), out)


def read_evidence(part: PartReader, state: State) -> Evidence:
    """Return the evidence of the forests of a state; the paper's algorithm needs none."""
    voters = [tuple(one) if type(one) is list else () for one in part.items("voters")]
    names = part.items("forests")
    expected = [] if state.settings.algorithm == "paper" else list(state.voting)
    if not all(type(name) is str for name in names) or sorted(names) != sorted(expected):
        raise part.wrong("forests", names, f"the forests that have a vote: {', '.join(expected)}")
    if len(voters) != len(set(voters)) or set(voters) != set(voters_of(expected)):
        raise part.wrong("voters", voters, "each forest that has a vote, and the temporary one with those that last")
    sizes: Sizes = {"n_voters": len(voters), "n_voting": len(names)}
    weights, shrinkage = WEIGHTS.read(part, sizes), SHRINKAGE.read(part, sizes)
    if len(names) and not (_add_up_to_one(weights.sum(axis=(0, 2))) and _add_up_to_one(shrinkage.sum(axis=1))):
        raise ModelFileError("the weights of the forests do not add up to 1")
    errors = ERRORS.read(part, sizes)
    known = read_fields(EVIDENCE, part, sizes)
    if SCORES in part:
        part.value(SCORES)
    changes, calibration = _read_mix_changes(part, sizes), CALIBRATION.read(part, sizes)
    if not _add_up_to_one(calibration.sum()):
        raise ModelFileError("the weights of the calibration do not add up to 1")
    part.finish()
    return Evidence(
        voters=tuple(voters),
        weights=weights.copy(),
        shrinkage={name: one.copy() for name, one in zip(names, shrinkage, strict=True)},
        oob_bias=OobBias(tuple(errors.tolist())),
        mix_changes=changes,
        calibration=calibration.copy(),
        **known,
    )


def _read_mix_changes(part: PartReader, sizes: Sizes) -> MixChanges:
    """Return how often class mixes changed; None in files of earlier versions."""
    changed, kept, in_a_row = MIX_CHANGES.read(part, sizes).tolist()
    if any(one != int(one) for one in in_a_row):
        raise part.wrong(MIX_CHANGES.name, in_a_row, "integer numbers of batches in a row")
    return MixChanges(tuple(changed), tuple(kept), tuple(map(int, in_a_row)))


def _add_up_to_one(sums: Float64Array) -> bool:
    """Return whether some sums are 1 up to rounding."""
    return bool((np.abs(sums - 1) < TOLERANCE).all())
