"""Slices: where explanations fail is found without being told where to look, and nothing is found where they do not."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput, NotProven
from frozen.grid import System
from refused import refused

ROWS = 2_000


def decisions(seed, faulty=None, rows=ROWS, **options):
    """Decisions whose codes go with them nine times in ten, but for some rows; other columns say nothing."""
    rng = default_rng(seed)
    X = pd.DataFrame(
        {
            "region": rng.choice(["north", "east", "south", "west"], rows),
            "age": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(18, 80, rows)),
            "date": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 180, rows), "D"),
        }
    )
    decided, code = rng.integers(0, 2, rows), 2 * rng.integers(0, 15, rows)
    code = code + np.where(rng.random(rows) < 0.9, decided, 1 - decided)
    where = np.zeros(rows, bool) if faulty is None else faulty(X).to_numpy()
    code[where] = rng.integers(0, 30, where.sum())
    return fs.evaluate(decided, [f"R{each}" for each in code], X, **options), where


FAULTS = {
    "region south": lambda X: X.region == "south",
    "age missing": lambda X: X.age.isna(),
    "age": lambda X: X.age.between(35, 50),
    "date": lambda X: X.date.between("2026-03-02", "2026-04-05"),
    "region west and date from 2026-0": lambda X: (X.region == "west") & (X.date >= "2026-03-02"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_named(name):
    evaluation, where = decisions(1, FAULTS[name])
    slices = evaluation.slices()
    (found,) = slices.found
    assert found.name.startswith(name)
    assert where[found.places].mean() > 0.8
    assert found.rows == len(found.places) > 0.8 * where.sum()
    assert found.difference.high < 0
    assert found.agreement < found.rest
    assert str(found).startswith(found.name)
    assert f"fails with {found.failing[0]!r}" in str(found)
    assert " ".join(str(slices).split()).endswith(str(found))
    assert slices.table()["slice"].tolist() == [found.name]
    json.dumps(slices.to_dict(), allow_nan=False)
    assert found.name in slices.to_markdown()
    assert found.name in str(slices.plot().to_dict())


@pytest.mark.parametrize("place", [0, 5, -1], ids=["lowest", "in the middle", "highest"])
@pytest.mark.parametrize("dated", [False, True], ids=["numbers", "dates"])
def test_a_fault_is_found_beside_a_value_that_nine_rows_in_ten_have(place, dated):
    rng = default_rng(0)
    values = rng.integers(1, 10_000, ROWS) * 1.0
    if place:
        values[rng.random(ROWS) < 0.5] *= -1
    common = rng.random(ROWS) < 0.9
    values[common] = {0: 0.0, 5: 3.0, -1: 20_000.0}[place]
    fault = ~common & (values < values[common][0] if place else values > 0)
    column = pd.Timestamp("2026-01-01") + pd.to_timedelta(values, "D") if dated else values
    decided, code = rng.integers(0, 2, ROWS), 2 * rng.integers(0, 5, ROWS)
    codes = np.where(fault, rng.integers(0, 10, ROWS), code + decided).astype(str)
    (found,) = fs.evaluate(decided, codes.tolist(), pd.DataFrame({"gain": column})).slices().found
    assert fault[found.places].all()
    assert found.rows > 0.7 * fault.sum()


def test_a_fault_is_found_in_any_of_many_categories():
    rng, rows = default_rng(0), 20_000
    city = rng.integers(0, 130, rows)
    city = city[city != 77][: rows - 200].tolist() + [77] * 200  # the rarest
    decided, code = rng.integers(0, 2, len(city)), 2 * rng.integers(0, 5, len(city))
    codes = np.where(np.array(city) == 77, rng.integers(0, 10, len(city)), code + decided).astype(str).tolist()
    X = pd.DataFrame({"city": [f"city {each}" for each in city]})
    (found,) = fs.evaluate(decided, codes, X).slices().found
    assert (found.name, found.rows) == ("city city 77", 200)


def test_columns_in_which_there_are_no_slices_are_named():
    evaluation, _ = decisions(2, FAULTS["region south"])
    X = evaluation.X.assign(id=[f"no {row}" for row in range(ROWS)], always="yes")
    slices = evaluation.slices(X)
    assert slices.left_out == ("id", "always")
    told = "1 slice stands out in 3 columns (not in id, always, whose values hardly repeat, or hardly differ)"
    assert told in " ".join(str(slices).split())


def test_the_difference_is_that_of_the_two_numbers_that_are_told():
    rng, told = default_rng(8), []
    for options in ({}, {"weights": rng.uniform(1, 2, ROWS)}):
        evaluation, _ = decisions(1, lambda X: (X.region == "south") | X.age.isna(), **options)
        told += evaluation.slices().found
    assert len(told) >= 3  # the second fault is compared with rows that have neither
    assert [each.agreement - each.rest for each in told] == pytest.approx([each.difference.value for each in told])


def test_where_there_is_no_fault_nothing_stands_out():
    found = [decisions(seed)[0].slices() for seed in range(12)]
    assert sum(bool(each.found) for each in found) <= 1
    quiet = next(each for each in found if not each.found)
    refused(BadInput, "nothing to draw. Nothing stands out in 3 columns", quiet.plot)
    assert "Nothing stands out in 3 columns; a tenth of the rows would have been found" in " ".join(str(quiet).split())
    assert 0 < quiet.detectable < 0.5


def test_what_would_have_been_found_is_found():
    limit = next(each for each in (decisions(seed)[0].slices() for seed in range(9)) if not each.found).detectable
    rng, hits = default_rng(5), []
    for seed in range(10):
        evaluation, where = decisions(seed, lambda X: X.region == "south")
        share = min(1.0, 2 * limit / 0.4)  # of a fourth of the rows, codes agree .4 less if all of them are random
        broken = where & (rng.random(ROWS) < share)
        plain = decisions(seed)[0]
        codes = [
            evaluation.explanations.describe(row) if broken[row] else plain.explanations.describe(row)
            for row in range(ROWS)
        ]
        slices = fs.evaluate(plain.predictions, codes, plain.X).slices()
        hits.append(any(each.name.startswith("region south") for each in slices.found))
    assert np.mean(hits) >= 0.7


def test_columns_are_those_asked_for_whatever_they_come_in():
    evaluation, _ = decisions(2, FAULTS["region south"])
    assert [each.name for each in evaluation.slices(evaluation.X[["region"]]).found] == ["region south"]
    assert not evaluation.slices(evaluation.X[["age", "date"]]).found
    numbers = evaluation.X.region.map({"north": 0, "east": 1, "south": 2, "west": 3}).to_numpy()
    bare = fs.evaluate(evaluation.predictions, evaluation.explanations, np.column_stack([numbers, np.arange(ROWS) % 7]))
    assert [each.name for each in bare.slices().found] == ["x0 2"]
    assert [each.name for each in bare.slices(evaluation.X[["region"]]).found] == ["region south"]
    texts = fs.evaluate(evaluation.predictions, evaluation.explanations, ["some text"] * ROWS)
    assert [each.name for each in texts.slices(evaluation.X).found] == ["region south"]
    mixed = pd.DataFrame({"when": [pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-01").date()] * (ROWS // 2)})
    assert not texts.slices(mixed).found
    for call, columns in ((texts.slices, None), (evaluation.slices, "region"), (evaluation.slices, 3)):
        refused(BadInput, "in the columns of a table", call, columns)
    refused(BadInput, "columns have 5", evaluation.slices, evaluation.X.head())
    refused(
        BadInput,
        "No column has values that several rows share",
        evaluation.slices,
        pd.DataFrame({"id": map(str, range(ROWS))}),
    )


def test_halves_follow_clusters_and_the_order_of_rows_within_a_seed():
    clusters = np.arange(ROWS) // 2
    evaluation, _ = decisions(3, FAULTS["region south"], clusters=clusters)
    assert [each.name for each in evaluation.slices().found] == ["region south"]
    assert str(evaluation.slices()) == str(evaluation.slices())
    assert evaluation.slices(seed=1).found


def test_numbers_are_measured_by_closeness_and_spread_is_refused():
    rng = default_rng(0)
    region, codes = rng.choice(["north", "south"], ROWS), rng.integers(0, 20, ROWS)
    noise = rng.normal(0, 0.1, ROWS)
    score = np.where(region == "south", rng.normal(0, 5, ROWS), codes + noise)
    close, spread = (
        fs.evaluate(score, codes.tolist(), pd.DataFrame({"region": region}), agreement=how)
        for how in (fs.Close(1.0), fs.Spread())
    )
    assert [each.name for each in close.slices().found] == ["region south"]
    refused(NotProven, "pass agreement=fs.Close", spread.slices)


def test_where_no_row_can_be_checked_nothing_is_said_to_agree():
    X = pd.DataFrame({"region": ["north", "south"] * 100})
    found = fs.evaluate([0, 1] * 100, list(range(200)), X).slices()
    assert (found.found, found.silent) == ([], True)
    assert str(found).startswith("Nothing can be said of 1 column: no explanation was given to several rows")


def test_a_name_says_all_of_its_rows_or_that_some_are_in_slices_looked_at_before():
    told = []
    for seed in range(8):
        s = System(2_000, seed)
        found = fs.evaluate(s.labels, fs.Importances(s.x), s.table, discretizer="sign", progress=False).slices().found
        for each in found:
            told.append(each.name)
            name, *words = each.name.split()
            if name in s.table and words[0] == "from" and len(words) == 2:
                assert set(each.places) == set(np.flatnonzero(s.table[name] >= float(words[1])))
        assert len({each.name for each in found}) == len(found)
    assert any(name.startswith("the rest of ") for name in told)
    assert not all(name.startswith("the rest of ") for name in told)


def test_whole_numbers_are_named_in_full():
    rng = default_rng(0)
    income, code, decided = (
        1_234_000 + rng.integers(0, 3_000, 4_000),
        rng.integers(0, 10, 4_000),
        rng.integers(0, 2, 4_000),
    )
    code = np.where(income > 1_236_000, code, 2 * (code // 2) + decided)
    found = fs.evaluate(decided, code.tolist(), pd.DataFrame({"income": income}), progress=False).slices().found[0]
    assert found.name == f"income from {income[found.places].min()}"
