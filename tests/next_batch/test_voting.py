"""Along a stream: who is believed, when members are refitted and on what, who is left out, and what reports say."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from adforest import AdaptiveDecisionForestClassifier, NextBatchVotingClassifier
from adforest.adaptation.tuning import TUNING
from adforest.next_batch.batch_vote import REFIT_OVERHEAD, WINDOW


class Constant(ClassifierMixin, BaseEstimator):
    """A classifier that answers one class, 0.9 sure, and keeps what it was fitted on."""

    def __init__(self, answer=0, fails_to=None):
        self.answer = answer
        self.fails_to = fails_to

    def fit(self, X, y):
        if self.fails_to == "fit":
            raise RuntimeError("no luck today")
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self

    def predict_proba(self, X):
        if self.fails_to == "answer" or (self.fails_to == "large" and X.max() > 100):
            raise OverflowError("too large")
        given = np.where(self.classes_ == self.answer, 0.9, 0.1 / max(1, len(self.classes_) - 1))
        return np.tile(given / given.sum(), (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Incremental(Constant):
    """The same, learning every batch."""

    def partial_fit(self, X, y, classes=None):
        return self.fit(X, np.append(y, classes))


def forest(**changes):
    return AdaptiveDecisionForestClassifier(**{"n_estimators": 4, "random_state": 0} | changes)


def batch(seed, n=200, classes=(0, 1, 2), offset=0):
    """Return one cluster a class; an offset gives them other labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(classes, n)
    return rng.normal(size=(n, 3)) + 2 * y[:, np.newaxis], (y + offset) % 3 if offset else y


def voting(refit_after=0.0, **members):
    return NextBatchVotingClassifier(list(members.items()), refit_after=refit_after, random_state=0)


# --- who is believed


def test_before_anything_was_judged_equals_vote_alike():
    model = voting(a=Constant(0), b=Constant(1)).fit(*batch(0))
    assert model.weights_ == {"a": 0.5, "b": 0.5}
    np.testing.assert_allclose(model.predict_proba(batch(1)[0])[0], [0.475, 0.475, 0.05])


def test_a_refitted_member_votes_once_it_was_judged():
    model = voting(adf=forest(), tree=DecisionTreeClassifier()).fit(*batch(0))
    X, y = batch(1)
    np.testing.assert_allclose(model.predict_proba(X), model.named_estimators_.adf.predict_proba(X))
    assert model.history_[-1].accuracy == {}
    assert model.history_[-1].n_tested == 0
    model.partial_fit(X, y)
    assert model.weights_["tree"] > 0.1
    assert set(model.history_[-1].accuracy) == {"adf", "tree", "vote"}


@pytest.mark.parametrize("best", ["forest", "boosting", "both"])
def test_the_vote_goes_with_whoever_is_right(best):
    # The boosted trees see only noise, or the forest does, or each sees one of two features that matter.
    columns = {"forest": ([0, 1], [2]), "boosting": ([2], [0, 1]), "both": ([0, 2], [1, 2])}[best]
    members = [
        ("adf", OnColumns(forest(), columns[0])),
        ("trees", OnColumns(HistGradientBoostingClassifier(max_iter=10), columns[1])),
    ]
    model, rng = NextBatchVotingClassifier(members, refit_after=0, random_state=0), np.random.default_rng(0)
    for _ in range(8):
        X = rng.normal(size=(300, 3))
        model.partial_fit(X, (X[:, 0] > 0).astype(int) + (X[:, 1] > 0))
    accuracy = pd.DataFrame([report.accuracy for report in model.history_[3:]]).mean()
    assert accuracy["vote"] > accuracy[["adf", "trees"]].max() - 0.02
    if best == "both":
        assert accuracy["vote"] > accuracy[["adf", "trees"]].max() + 0.02
    else:
        assert model.weights_[{"forest": "adf", "boosting": "trees"}[best]] > 0.7


class OnColumns(ClassifierMixin, BaseEstimator):
    """A classifier that sees some columns only, learning every batch as far as it can."""

    def __init__(self, estimator, columns):
        self.estimator = estimator
        self.columns = columns

    def fit(self, X, y):
        self.fitted_ = clone(self.estimator).fit(np.asarray(X)[:, self.columns], y)
        self.classes_ = self.fitted_.classes_
        return self

    def predict_proba(self, X):
        return self.fitted_.predict_proba(np.asarray(X)[:, self.columns])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def test_weights_follow_a_change_of_rules():
    model = voting(adf=forest(), frozen=DecisionTreeClassifier(), refit_after=100)
    for seed in range(4):
        model.partial_fit(*batch(seed))
    before = model.weights_["frozen"]
    for seed in range(4, 8):
        model.partial_fit(*batch(seed, offset=1))
    assert before > 5 * model.weights_["frozen"]
    assert model.history_[-1].accuracy["vote"] > 0.8


def test_members_of_hardly_any_weight_are_not_asked():
    model = voting(adf=forest(), wrong=Constant(1, fails_to="large"))
    for seed in range(8):
        model.partial_fit(*batch(seed, n=400, classes=(0, 1)))
    assert 0 < model.weights_["wrong"] < TUNING.min_weight
    assert len(model.predict([[1000.0, 1000.0, 1000.0]])) == 1  # without a warning: it was not asked


# --- reports


def test_reports_say_what_score_would_have_said():
    model = voting(adf=forest(), tree=DecisionTreeClassifier(), bayes=GaussianNB())
    model.partial_fit(*batch(0))
    for seed in range(1, 5):
        X, y = batch(seed, n=TUNING.max_judged)
        expected = accuracy_score(y, model.predict(X)), log_loss(y, model.predict_proba(X))
        alone = {name: one.score(X, y) for name, one in model.named_estimators_.items()}
        report = model.partial_fit(X, y).history_[-1]
        assert (report.accuracy["vote"], report.log_loss["vote"]) == pytest.approx(expected)
        assert {name: report.accuracy[name] for name in alone} == pytest.approx(alone)
        assert report.n_tested == report.n_samples == TUNING.max_judged
    assert report.batch == 5
    assert report.weight == model.weights_
    assert sum(report.weight.values()) == pytest.approx(1)
    assert report.action == {"adf": "learnt", "tree": "refitted", "bayes": "learnt"}
    assert all(seconds > 0 for seconds in report.seconds.values())
    frame = model.history_frame()
    assert len(frame) == 5
    assert {"accuracy_vote", "log_loss_tree", "weight_adf", "action_bayes"} <= set(frame)


def test_categories_that_come_with_a_batch_were_not_known_when_it_was_answered():
    model, rng = voting(bayes=GaussianNB(), tree=DecisionTreeClassifier()), np.random.default_rng(0)
    for number in range(4):
        X = pd.DataFrame({"name": rng.choice([f"n{k}" for k in range(4 + 3 * number)], 150), "size": rng.random(150)})
        y = np.isin(X["name"], ["n0", "n3", "n5", "n8"]).astype(int)
        expected = model.score(X, y) if number else None
        model.partial_fit(X, y)
        assert model.history_[-1].accuracy.get("vote") == expected


def test_of_a_large_batch_a_sample_is_judged():
    model = voting(adf=forest(), tree=DecisionTreeClassifier()).fit(*batch(0))
    report = model.partial_fit(*batch(1, n=2_000)).history_[-1]
    assert (report.n_samples, report.n_tested) == (2_000, TUNING.max_judged)


def test_answers_and_reports_break_ties_alike():
    # Class "b" comes before class "a" here; both members give them the same probability.
    X, half = np.zeros((40, 1)), np.full((40, 2), 0.5)
    model = voting(a=Fixed(half), b=Fixed(half))
    model.partial_fit(X, ["b"] * 40).partial_fit(X, ["a"] * 20 + ["b"] * 20)
    assert set(model.predict(X)) == {"a"}
    assert model.partial_fit(X, ["a"] * 40).history_[-1].accuracy["vote"] == 1


class Fixed(ClassifierMixin, BaseEstimator):
    """A classifier that answers as it was told to."""

    def __init__(self, given):
        self.given = given

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.given[:, : len(self.classes_)]

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


# --- refits


def refits(model, batches):
    """Return the numbers of the batches with which the member "tree" was refitted."""
    for one in batches:
        model.partial_fit(*one)
    return [report.batch for report in model.history_ if report.action["tree"] == "refitted"]


def test_refits_wait_for_as_many_samples_as_the_last_one_cost():
    assert REFIT_OVERHEAD == 2_000
    two, three = ([batch(seed, n=500, classes=range(k)) for seed in range(17)] for k in (2, 3))
    # A fit on 500 samples of two classes costs 2,500, five batches; that on 3,000 then 5,000, ten batches.
    assert refits(voting(1, tree=DecisionTreeClassifier()), two) == [1, 6, 16]
    assert refits(voting(1, tree=DecisionTreeClassifier()), three) == [1, 9]  # half as much again
    assert refits(voting(0.5, tree=DecisionTreeClassifier()), two[:8]) == [1, 4, 8]
    assert refits(voting(0, tree=DecisionTreeClassifier()), two[:3]) == [1, 2, 3]


def test_no_refit_waits_for_more_than_a_full_sample_costs():
    tree = DecisionTreeClassifier(max_depth=1)
    model = NextBatchVotingClassifier([("tree", tree)], refit_samples=1_000, refit_after=1, random_state=0)
    assert refits(model, [batch(seed, n=1_000, classes=(0, 1)) for seed in range(11)]) == [1, 4, 7, 10]


def test_refits_are_on_the_last_batches_and_a_sample_of_older_ones_with_rare_classes():
    size, model = 400, NextBatchVotingClassifier([("c", Constant())], refit_samples=400, refit_after=0, random_state=0)
    for number in range(30):
        y = np.zeros(100, dtype=int)
        y[:40] = 1
        if number == 2:
            y[-1] = 2
        model.partial_fit(np.column_stack([np.full(100, number), np.arange(100)]), y)
    fitted = model.named_estimators_.c
    of_batch = np.bincount(fitted.X_[:, 0].astype(int), minlength=30)
    assert of_batch[-WINDOW:].tolist() == [100] * WINDOW
    assert 0 < of_batch[:-WINDOW].sum() <= size - 100 * WINDOW + 1  # the only sample of class 2 is there twice
    assert (of_batch[:-WINDOW] > 0).sum() > 20
    assert (fitted.y_ == 2).sum() == 2
    assert fitted.y_[fitted.X_[:, 0] < 27].mean() > 0.4  # classes by the square root of their frequency


def test_a_batch_larger_than_the_sample():
    model = NextBatchVotingClassifier([("c", Constant())], refit_samples=400, refit_after=0, random_state=0)
    for seed in range(3):
        model.partial_fit(*batch(seed, n=5_000))
        assert 300 < len(model.named_estimators_.c.X_) < 500


# --- new classes


def test_new_classes_are_welcome_in_every_batch():
    model = voting(adf=forest(), tree=DecisionTreeClassifier(), bayes=GaussianNB())
    model.partial_fit(*batch(0, classes=(0, 2))).partial_fit(*batch(1, classes=(2, 1)))
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.history_[-1].new_classes == (1,)
    assert model.history_[-1].left_out == {}
    assert model.score(*batch(2)) > 0.85
    for one in model.estimators_:
        assert one.score(*batch(2)) > 0.8  # none of them has forgotten class 0


def test_a_member_that_has_not_seen_a_class_is_left_out_until_it_is_refitted():
    model = voting(0.5, adf=forest(), tree=DecisionTreeClassifier())
    model.partial_fit(*batch(0, n=400, classes=(0, 1))).partial_fit(*batch(1, n=400, classes=(0, 1)))
    with pytest.warns(UserWarning, match="tree has not seen class 2. It is left out of the vote"):
        model.partial_fit(*batch(2, n=400))
    assert model.history_[-1].left_out == {"tree": "has not seen class 2"}
    assert model.weights_ == {"adf": 1.0, "tree": 0.0}
    X, y = batch(3, n=400)
    np.testing.assert_allclose(model.predict_proba(X), model.named_estimators_.adf.predict_proba(X))
    while model.history_[-1].left_out:  # without another warning
        model.partial_fit(X, y)
    assert model.history_[-1].action["tree"] == "refitted"
    assert "tree" not in model.history_[-1].accuracy
    assert model.weights_["tree"] > 0  # what was known of it before counts
    assert model.partial_fit(X, y).history_[-1].accuracy["tree"] > 0.8


def test_where_nobody_else_can_answer_a_new_class_is_refitted_at_once():
    model = voting(100, tree=DecisionTreeClassifier()).fit(*batch(0, classes=(0, 1)))
    model.partial_fit(*batch(1, classes=(0, 1)))
    assert model.history_[-1].action == {"tree": "kept"}
    model.partial_fit(*batch(2))
    assert model.history_[-1].action == {"tree": "refitted"}
    assert model.score(*batch(3)) > 0.8


def test_declared_classes():
    model = voting(bayes=BernoulliNB(), tree=DecisionTreeClassifier())
    model.partial_fit(*batch(0, classes=(0, 1)), classes=[0, 1, 2, 5])
    assert model.classes_.tolist() == [0, 1, 2, 5]
    assert model.predict_proba(batch(1)[0]).shape == (200, 4)
    first = model.named_estimators_.bayes
    model.partial_fit(*batch(1))
    assert first.class_count_.sum() == 200  # a member that learnt is another one
    assert model.named_estimators_.bayes.class_count_.sum() == 400  # it did not have to begin anew


# --- members that fail


def test_a_member_that_cannot_be_fitted_is_left_out_as_long_as_that_lasts():
    model = voting(adf=forest(), bad=Constant(fails_to="fit"))
    with pytest.warns(UserWarning, match="bad could not learn batch 1: RuntimeError: no luck today. It is left out"):
        model.fit(*batch(0))
    model.partial_fit(*batch(1))  # warned of once
    assert model.history_[-1].left_out == {"bad": "could not learn batch 2: RuntimeError: no luck today"}
    assert list(model.named_estimators_) == ["adf"]
    model.set_params(bad__fails_to=None).partial_fit(*batch(2)).partial_fit(*batch(3))
    assert model.history_[-1].left_out == {}
    assert "bad" in model.history_[-1].accuracy


def test_a_member_that_learns_every_batch_and_fails_begins_anew_from_memory():
    model = voting(adf=forest(), bad=Incremental(fails_to="fit"))
    with pytest.warns(UserWarning, match="bad could not learn batch 1"):
        model.fit(*batch(0))
    model.set_params(bad__fails_to=None).partial_fit(*batch(1))
    assert model.history_[-1].action["bad"] == "learnt"
    assert len(model.named_estimators_.bad.X_) == 400


def test_a_member_that_cannot_answer_is_left_out_until_it_can():
    model = voting(adf=forest(), bad=Constant(fails_to="large"), refit_after=100)
    model.fit(*batch(0)).partial_fit(*batch(1))
    X, y = batch(2)
    with pytest.warns(UserWarning, match="bad could not predict and is left out of these predictions: OverflowError"):
        answers = model.predict_proba(X + 1000)
    np.testing.assert_allclose(answers, model.named_estimators_.adf.predict_proba(X + 1000))
    with pytest.warns(UserWarning, match="bad could not predict batch 3: OverflowError: too large. It is left out"):
        model.partial_fit(X + 1000, y)
    assert model.history_[-1].left_out == {"bad": "could not predict batch 3: OverflowError: too large"}
    assert "bad" not in model.history_[-1].accuracy
    assert model.weights_["bad"] == 0
    assert model.partial_fit(*batch(3)).history_[-1].left_out == {}
    assert model.weights_["bad"] > 0


def test_who_could_not_answer_a_batch_may_try_the_next_one_if_nobody_else_can():
    model = voting(only=Constant(fails_to="large")).fit(*batch(0))
    X, y = batch(1)
    with pytest.warns(UserWarning, match="only could not predict batch 2"):
        model.partial_fit(X + 1000, y)
    assert model.history_[-1].accuracy == {}
    assert model.weights_ == {"only": 1.0}
    assert model.predict(X).shape == y.shape


def test_probabilities_that_are_none():
    model = voting(adf=forest(), odd=Fixed(np.full((200, 3), np.nan))).fit(*batch(0))
    with pytest.warns(UserWarning, match="odd could not predict batch 2: InputError: its probabilities"):
        model.partial_fit(*batch(1))


def test_if_nobody_can_learn_the_first_batch_it_is_an_error_that_names_all():
    model = voting(a=Constant(fails_to="fit"), b=Constant(fails_to="fit"))
    with (
        pytest.raises(ValueError, match=r"can predict after batch 1: a could not learn.*; b could not learn"),
    ):
        model.fit(*batch(0))
    assert not hasattr(model, "classes_")


def test_a_batch_that_fails_leaves_the_model_as_it_was():
    model = voting(bayes=GaussianNB(), tree=DecisionTreeClassifier()).fit(*batch(0))
    X, y = batch(1)
    before = model.predict_proba(X)
    for bad in (X[:, :2], np.where(X > 3, np.inf, X)):
        with pytest.raises(ValueError):
            model.partial_fit(bad, y)
    model.set_params(bayes__priors=[1.0], tree__max_depth=-1)
    with pytest.raises(ValueError, match="no member"):
        model.partial_fit(X, np.where(y == 2, 3, y))
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert len(model.history_) == 1


def test_if_nobody_can_answer_the_error_of_the_first_is_raised():
    model = voting(a=Constant(fails_to="large"), b=Constant(fails_to="large")).fit(*batch(0))
    with pytest.warns(UserWarning, match="[ab] could not predict"), pytest.raises(OverflowError, match="too large"):
        model.predict([[1000.0, 1000.0, 1000.0]])


# --- parameters


def test_members_and_their_parameters_go_by_name():
    model = NextBatchVotingClassifier([("adf", forest()), ("tree", DecisionTreeClassifier())])
    parameters = model.get_params()
    assert parameters["tree__max_depth"] is None
    assert parameters["adf"] is model.estimators[0][1]
    assert "tree__max_depth" not in model.get_params(deep=False)
    model.set_params(tree__max_depth=2, refit_samples=500, adf="drop")
    assert model.estimators[1][1].max_depth == 2
    model.fit(*batch(0))
    assert list(model.named_estimators_) == ["tree"]
    assert model.estimators_[0].get_depth() == 2
    assert clone(model).get_params()["tree__max_depth"] == 2


def test_parameters_of_members_hold_from_the_next_refit_on():
    model = voting(adf=forest(), tree=DecisionTreeClassifier()).fit(*batch(0))
    model.set_params(tree__max_depth=1).partial_fit(*batch(1))
    assert model.named_estimators_.tree.get_depth() == 1
    with pytest.raises(ValueError, match="were adf, tree when it learnt its first batch and are adf now"):
        model.set_params(tree="drop").partial_fit(*batch(2))


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ("adf", ValueError, "estimators of NextBatchVotingClassifier is 'adf'; expected a list or an array"),
        ([GaussianNB()], ValueError, r"expected a list of \(name, classifier\) tuples"),
        ([("a", GaussianNB()), ("a", GaussianNB())], ValueError, "not unique"),
        ([("a__b", GaussianNB())], ValueError, "must not contain __"),
        ([("refit_after", GaussianNB())], ValueError, "conflict with constructor arguments"),
        ([("vote", GaussianNB())], ValueError, "called 'vote'"),
        ([("a", "drop")], ValueError, "has no classifier"),
        ([], ValueError, "has no classifier"),
        ([("a", GaussianNB)], TypeError, "the member 'a'.*Pass an instance"),
        ([("a", None)], TypeError, "the member 'a'"),
    ],
)
def test_members_that_are_none(estimators, error, message):
    with pytest.raises(error, match=message):
        NextBatchVotingClassifier(estimators).fit(*batch(0))


@pytest.mark.parametrize("changes", [{"refit_samples": 10}, {"refit_after": -1}, {"random_state": "x"}])
def test_parameters_out_of_range(changes):
    [name] = changes
    with pytest.raises(ValueError, match=f"{name} of NextBatchVotingClassifier is"):
        NextBatchVotingClassifier([("a", GaussianNB())], **changes).fit(*batch(0))


# --- the same again


def learnt(n=4):
    model = voting(0.5, adf=forest(random_state=None), tree=DecisionTreeClassifier(max_features=1), bayes=GaussianNB())
    for seed in range(n):
        model.partial_fit(*batch(seed, n=700))
    return model


def test_the_same_seed_makes_the_same_model():
    X = batch(9)[0]
    one, other = learnt(), learnt()
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert one.weights_ == other.weights_


def test_a_pickle_answers_and_goes_on_learning_like_the_original():
    model = learnt()
    copy = pickle.loads(pickle.dumps(model))
    X, y = batch(9, n=700)
    for one in (model, copy):
        one.partial_fit(X, y)
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert copy.weights_ == model.weights_
    assert copy.history_[:-1] == model.history_[:-1]


def test_fit_forgets():
    model = learnt()
    model.fit(*batch(0, classes=(0, 1)))
    assert model.classes_.tolist() == [0, 1]
    assert len(model.history_) == 1


def test_nothing_is_known_before_the_first_batch():
    model = voting(tree=DecisionTreeClassifier())
    for name in ("classes_", "weights_", "history_", "estimators_", "named_estimators_"):
        assert not hasattr(model, name)


def test_warnings_point_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        voting(adf=forest(), bad=Constant(fails_to="fit")).fit(*batch(0))
    assert [one.filename for one in caught] == [__file__]
