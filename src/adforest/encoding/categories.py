"""The categories of one column: its values, how frequent they are, when they were last seen, and their codes.

A value gets its code when it is first seen, or first frequent enough, and keeps it. A column has at most 65,533
values; beyond that, the codes of those not seen for longest are recycled (see the decision sample 15).
Everything here is immutable: learning a batch returns other categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from adforest.encoding.columns import Coded, Column, Moments, code_numbers
from adforest.exceptions import Advice, InputTypeError
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array

Value: TypeAlias = str | float

MAX_VALUES = 65_533  # of a column: kernels have 16 bits for a code, one means missing, one the infrequent values
MIN_RECYCLED = 1 / 16  # of the room is made free at least, so that trees are not edited at every batch
ID_SAMPLES, ID_FRACTION = 100, 0.9  # samples with a value, and distinct values among them, that make a column of ids
INFREQUENT = "(infrequent)"  # what the code of infrequent values is called where questions are shown


@dataclass(frozen=True, slots=True)
class EncodingRules:
    """Rules of an encoder, named as the parameters of the classifiers.

    Attributes
    ----------
    column_changes : {"error", "allow"} or None
        Whether columns may be added or dropped; None, as "error", where the model has no such parameter.
    max_categories, min_frequency
        Which values are grouped as infrequent, as in scikit-learn's OneHotEncoder.
    reuses_codes : bool
        Whether the model can forget the category of a code, so that another one may have it.
    adds_rates : bool
        Whether class rates of categories are columns of their own, see `adforest.encoding.rates`.
    """

    column_changes: str | None = None
    max_categories: int | None = None
    min_frequency: float | None = None
    reuses_codes: bool = False
    adds_rates: bool = False

    @property
    def groups(self) -> bool:
        """Whether infrequent values share a code."""
        return self.max_categories is not None or self.min_frequency is not None

    def are_frequent(self, counts: Int64Array, n_samples: int) -> BoolArray:
        """Return which values have a code of their own, given their counts; of equal ones the first."""
        least = 0 if self.min_frequency is None else self.min_frequency
        frequent: BoolArray = counts >= (least if isinstance(least, Integral) else least * n_samples)
        if self.max_categories is not None and self.max_categories <= np.count_nonzero(frequent):
            top = np.argsort(-counts, kind="stable")[: self.max_categories - 1]
            frequent = np.zeros(len(counts), dtype=bool)
            frequent[top] = True
        return frequent


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The values of one column.

    Attributes
    ----------
    index_of : dict
        By value its index in the arrays below; never changed once made.
    code : int32 (n_values,)
        The value's own code, -1 if it has none yet.
    count, last_batch : int64, int32 (n_values,)
        Samples with the value, and the last batch that had one.
    coded_as : float64 (n_values + 2,)
        Code of the value: its own or that of infrequent values. The last but one is for values not
        known: the code of infrequent values where they are grouped, otherwise NaN. The last is for missing values: NaN.
    n_codes : int
        Codes assigned so far; some may be free again.
    infrequent : int
        The code of infrequent values, -1 while there are none.
    n_samples, n_known, n_distinct : int
        Samples seen, those of them that had a value, and distinct values among these.
    """

    index_of: dict[Value, int]
    code: Int32Array
    count: Int64Array
    last_batch: Int32Array
    coded_as: Float64Array
    n_codes: int = 0
    infrequent: int = -1
    n_samples: int = 0
    n_known: int = 0
    n_distinct: int = 0

    @classmethod
    def none(cls) -> Categories:
        """Return a column without values."""
        ints = np.empty(0, dtype=np.int32)
        return cls({}, ints, np.empty(0, dtype=np.int64), ints, np.full(2, np.nan))

    @property
    def identifies_samples(self) -> bool:
        """Whether there are nearly as many texts as samples."""
        is_text = isinstance(next(iter(self.index_of), None), str)
        return is_text and self.n_known >= ID_SAMPLES and self.n_distinct >= ID_FRACTION * self.n_known

    def by_code(self) -> list[Value | None]:
        """Return the values in order of their codes, None for a code that is free."""
        values: list[Value | None] = [None] * self.n_codes
        for value, index in self.index_of.items():
            if self.code[index] >= 0:
                values[self.code[index]] = value
        if self.infrequent >= 0:
            values[self.infrequent] = INFREQUENT
        return values

    def translate(self, column: Column, where: str) -> Float64Array:
        """Return the codes of the samples of a column, each distinct value looked up once; NaN if missing."""
        coded = self.coded(column, where)
        indices = [self.index_of.get(value, -2) for value in coded.values]
        translated: Float64Array = self.coded_as[[*indices, -1]][coded.codes]
        return translated

    def regroups(self, before: Categories, values: Sequence[Value]) -> bool:
        """Return whether some values have another code than before, of those that predictions depend on.

        A value that was not known is missing to all trees, and so is one whose code they have not seen.
        """
        if self.infrequent < 0:
            return False
        was, now = (known.coded_as[[known.index_of.get(value, -2) for value in values]] for known in (before, self))
        is_missing = np.isnan(was) & (np.isnan(now) | (now >= before.n_codes))
        return not bool(((was == now) | is_missing).all())

    def learn(
        self, values: Sequence[Value], counts: Int64Array, n_samples: int, batch: int, rules: EncodingRules
    ) -> tuple[Categories, Int32Array]:
        """Return these categories after one more batch, and the codes that were recycled for it.

        Parameters
        ----------
        values : sequence of text or of floats
            The distinct values of the column, in order of first appearance.
        counts : int64
            Samples with each of them.
        n_samples : int
            Samples of the batch, those included whose value is missing.
        batch : int
            Number of the batch.
        rules : EncodingRules
        """
        new = [i for i, value in enumerate(values) if value not in self.index_of]
        grown, recycled_codes, new = self._with_room(values, counts, new, batch, rules)
        grown = grown._with_values([values[i] for i in new])
        found = np.array([grown.index_of.get(value, -1) for value in values], dtype=np.intp)
        count, last_batch = grown.count.copy(), grown.last_batch.copy()
        is_kept = found >= 0
        count[found[is_kept]] += counts[is_kept]
        last_batch[found[is_kept]] = batch
        grown = replace(
            grown,
            count=count,
            last_batch=last_batch,
            n_samples=self.n_samples + n_samples,
            n_known=self.n_known + int(counts.sum()),
            n_distinct=grown.n_distinct + int(np.count_nonzero(~is_kept)),
        )._with_codes(rules)
        return grown, recycled_codes

    def _with_room(
        self, values: Sequence[Value], counts: Int64Array, new: list[int], batch: int, rules: EncodingRules
    ) -> tuple[Categories, Int32Array, list[int]]:
        """Return categories without as many old values as new ones need, recycled codes, and the new values that fit.

        Values of this batch stay. Where new ones are too many even so, those that are most frequent in it fit.
        """
        lacking = len(self.index_of) + len(new) - MAX_VALUES
        kept, recycled_codes = self, np.empty(0, dtype=np.int32)
        if lacking > 0 and rules.reuses_codes:
            here = [self.index_of[value] for value in values if value in self.index_of]
            age = batch - self.last_batch
            age[here] = 0
            oldest = np.argsort(-age, kind="stable")[: max(lacking, int(MAX_VALUES * MIN_RECYCLED))]
            kept, recycled_codes = self._without(oldest[age[oldest] > 0])
        room = MAX_VALUES - len(kept.index_of)
        if len(new) > room:
            new = sorted(sorted(new, key=lambda i: -counts[i])[:room])
        return kept, recycled_codes, new

    def _without(self, indices: NDArray[np.intp]) -> tuple[Categories, Int32Array]:
        """Return the categories without some values, and the codes they had."""
        stays = np.ones(len(self.code), dtype=bool)
        stays[indices] = False
        values = [value for value, index in self.index_of.items() if stays[index]]
        codes = self.code[indices]
        kept = replace(
            self,
            index_of={value: index for index, value in enumerate(values)},
            code=self.code[stays],
            count=self.count[stays],
            last_batch=self.last_batch[stays],
        )
        return kept, np.sort(codes[codes >= 0])

    def _with_values(self, new: list[Value]) -> Categories:
        """Return the categories with new values behind the old ones, without codes yet."""
        if not new:
            return self
        first, n = len(self.index_of), len(new)
        return replace(
            self,
            index_of=self.index_of | {value: index for index, value in enumerate(new, start=first)},
            code=np.append(self.code, np.full(n, -1, dtype=np.int32)),
            count=np.append(self.count, np.zeros(n, dtype=np.int64)),
            last_batch=np.append(self.last_batch, np.zeros(n, dtype=np.int32)),
            n_distinct=self.n_distinct + n,
        )

    def _with_codes(self, rules: EncodingRules) -> Categories:
        """Return the categories with a code for every value that is frequent now, and one for those that are not."""
        frequent = rules.are_frequent(self.count, self.n_samples)
        needed = np.flatnonzero(frequent & (self.code < 0))
        code, n_codes, infrequent = self.code, self.n_codes, self.infrequent
        if len(needed):
            n_used = np.count_nonzero(code >= 0) + (infrequent >= 0)
            free = np.setdiff1d(np.arange(n_codes), np.append(code, infrequent)) if n_used < n_codes else needed[:0]
            fresh = np.arange(n_codes, n_codes + max(0, len(needed) - len(free)))
            code = code.copy()
            code[needed] = np.append(free, fresh)[: len(needed)]
            n_codes += len(fresh)
        if infrequent < 0 and not frequent.all():
            infrequent, n_codes = n_codes, n_codes + 1
        shared = float(infrequent) if rules.groups and infrequent >= 0 else np.nan
        coded_as = np.append(np.where(frequent, code, shared), [shared, np.nan])
        return replace(self, code=code, n_codes=n_codes, infrequent=infrequent, coded_as=coded_as)

    def coded(self, column: Column, where: str) -> Coded:
        """Return the column as categories, or raise if it holds text where numbers were learnt or the reverse."""
        if isinstance(column, Moments):
            raise InputTypeError(
                f"{where} holds {column.kind} ({column.dtype}) but is categorical.",
                Advice(
                    "Convert it to text, or leave it out of categorical_features and {refit}.",
                    shell="Convert it to text, or {refit}.",
                ),
            )
        coded = column if isinstance(column, Coded) else code_numbers(column)
        if coded.values and self.index_of:
            learnt = next(iter(self.index_of))
            if coded.holds_text != isinstance(learnt, str):
                kind, other = ("text", "numbers") if coded.holds_text else ("numbers", "text")
                raise InputTypeError(
                    f"{where} holds {kind} ({coded.values[0]!r}) but the model learnt it as categories that are "
                    f"{other} ({learnt!r}).",
                    Advice(f"Convert it to {other}, or {{refit}}."),
                )
        return coded
