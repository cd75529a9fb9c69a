"""Memory: what cannot fit is refused in one sentence before it is tried, and what fits is not."""

import sys
from functools import partial
from math import inf

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
from child import python
from faithscope.cli import main
from faithscope.cli.evaluate import read_rows
from faithscope.discretizers import Rank, Sign
from faithscope.errors import BadInput, FaithscopeError, TooLarge
from faithscope.explainers import Anchors, Lime, Shap
from faithscope.explanations.importances import Importances
from faithscope.runtime import memory
from faithscope.tables.connections import embedded
from refused import refused

KIB, MIB, GIB = 2**10, 2**20, 2**30
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits on addresses are Linux's")


@pytest.fixture
def left(monkeypatch):
    """Say how much memory is left, and look into everything, however small."""

    def say(size):
        monkeypatch.setattr(memory, "available", lambda: size)
        monkeypatch.setattr(memory, "SMALL", 0)

    return say


def test_what_fits_is_not_refused_and_what_does_not_is_told_with_its_numbers(left):
    left(3 * GIB)
    memory.need(3 * GIB, "Rows", "take fewer")
    with pytest.raises(TooLarge) as told:
        memory.need(4 * GIB, "Bitmaps of 6,000 rules", "sample rows")
    assert str(told.value) == "Bitmaps of 6,000 rules need about 4.0 GiB of memory, and 3.0 GiB are left: sample rows."
    assert isinstance(told.value, FaithscopeError)
    assert isinstance(told.value, MemoryError)


def test_small_inputs_are_never_looked_into(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: pytest.fail("memory was looked into"))
    memory.need(memory.SMALL - 1, "Rows", "take fewer")
    fs.consistency(np.zeros((100, 3)), np.zeros(100, bool), discretizer=fs.Floor(1))


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Files as Linux has them, of a machine with 8 GiB left and a process that holds nothing."""
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path)
    monkeypatch.setattr(memory, "_left_to_process", lambda: inf)
    monkeypatch.delenv(memory.LIMIT, raising=False)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    write(proc__meminfo=f"MemTotal: 9 kB\nMemAvailable:   {8 * GIB // KIB} kB\n")
    return write


GROUP = {
    "sys__fs__cgroup__memory_DOT_max": str(4 * GIB),
    "sys__fs__cgroup__memory_DOT_current": str(3 * GIB),
    "sys__fs__cgroup__memory_DOT_stat": f"anon 5\ninactive_file {GIB}\nactive_file 7\n",
}
SYSTEMS = {
    "a machine leaves what it says is available": ({}, 8 * GIB),
    **{
        f"a container at {place} leaves its limit less what it uses but for pages of files": (
            {**GROUP, "proc__self__cgroup": f"0::{place}\n"},
            2 * GIB,
        )
        for place in ("/", "/docker/one", "/docker/one/two")
    },
    "the tightest of nested groups counts": (
        {
            "proc__self__cgroup": "0::/outer/inner\n",
            "sys__fs__cgroup__outer__memory_DOT_max": str(GIB),
            "sys__fs__cgroup__outer__memory_DOT_current": "0",
            "sys__fs__cgroup__outer__inner__memory_DOT_max": "max\n",
            "sys__fs__cgroup__memory_DOT_max": "max\n",
        },
        GIB,
    ),
    "a group that is over its limit leaves nothing": (
        {**GROUP, "proc__self__cgroup": "0::/\n", "sys__fs__cgroup__memory_DOT_max": str(GIB)},
        0,
    ),
}


@pytest.mark.parametrize("law", SYSTEMS)
def test_what_a_system_leaves(system, law):
    files, expected = SYSTEMS[law]
    system(**files)
    assert memory.available() == expected


def test_a_limit_of_ones_own_takes_the_place_of_what_is_found(system, monkeypatch):
    monkeypatch.setenv(memory.LIMIT, "20")
    assert memory.available() == 20 * GIB


def test_a_limit_that_is_no_number_is_refused(monkeypatch):
    for said in ("much", "", "-1", "0", "nan"):
        monkeypatch.setenv(memory.LIMIT, said)
        refused(BadInput, "FAITHSCOPE_MEMORY must be the number of GiB", memory.available)


def test_a_memory_error_of_a_model_is_one_sentence():
    def explain(X):
        raise MemoryError("Unable to allocate 7 GiB.")

    refused(
        TooLarge,
        r"^Memory ran out \(Unable to allocate 7 GiB\), with .* left: evaluate fewer",
        fs.evaluate,
        lambda X: X[:, 0] > 0,
        explain,
        np.zeros((5, 1)),
    )


ROWS = 3000
RULES = fs.Rules.from_conditions([[(0, ">", j / 60)] for j in range(60)], ["x"]).take(np.arange(ROWS) % 60)
X = default_rng(0).random((ROWS, 1))
WORDS = fs.Highlights([[f"w{j % 1_500}"] for j in range(ROWS)])
TEXTS = [f"w{j % 1_500} w{j % 7}" for j in range(ROWS)]
NUMBERS = np.arange(ROWS)
TWO = NUMBERS % 2
MANY = [str(number) for number in NUMBERS]  # as many labels as rows
WIDE = default_rng(1).normal(size=(200, 300))

# What is left, and what is refused then: of most, next to nothing; of some, enough for what is given once more, and too
# little for what is made of it.
ASKED = [
    (1000, "Counts of 3,000 rows", lambda: fs.consistency(np.arange(ROWS), TWO)),
    (1000, r"Floor\(decimals=1\) of 200 rows", lambda: fs.consistency(WIDE, TWO[:200], discretizer=fs.Floor(1))),
    (1000, r"Sign\(\) of 200 rows and 300 features", lambda: Sign()(Importances(WIDE))),
    (1000, r"Rank\(\) of 200 rows", lambda: Rank()(Importances(WIDE))),
    (1000, "200 explanations", lambda: Importances(WIDE).take(np.arange(200))),
    (1000, "400 explanations", lambda: Importances(WIDE).join(Importances(WIDE))),
    (1000, "Importances .200 rows, 300 features", lambda: Importances(pd.DataFrame(WIDE))),
    (1000, "Bitmaps of 3,000 rows with 3,000 labels", lambda: fs.sufficiency(RULES, MANY, X)),
    (1000, "320 coalitions of 16 features", lambda: Shap(lambda X: X[:, 0], np.zeros((1, 16)), output="margin")),
    (1000, "5,000 draws around a row of 300", lambda: Lime(lambda X: X[:, 0] > 0, WIDE).explain(WIDE[:1])),
    (1000, "Bounds of 17 categories of 300 features", lambda: Anchors(lambda X: X[:, 0] > 0, WIDE)),
    *(
        (MIB, "Distances from 200 vectors of 300 features", partial(fs.within, WIDE, TWO[:200], 20.0, metric=metric))
        for metric in ("euclidean", "cityblock")
    ),
    (KIB * 500, "Bitmaps of 1,500 conditions over 3,000 rows", lambda: fs.sufficiency(WORDS, TWO, TEXTS)),
]


@pytest.mark.parametrize(("size", "words", "ask"), ASKED)
def test_what_is_large_is_refused_before_it_is_made(size, words, ask, left):
    left(size)
    with pytest.raises(TooLarge, match=words) as told:
        ask()
    assert str(told.value).count("GiB") == 2
    assert str(told.value).endswith(".")
    assert "\n" not in str(told.value)


def test_counts_of_many_labels_are_refused_while_they_grow(monkeypatch):
    monkeypatch.setattr("faithscope.counting.tally.TABLE", 2**15)  # a few explanations at a time
    asked = []

    def need(size, what, instead):
        asked.append(what)
        if "of 60 explanations by 3,000 labels" in what and size > 4 * MIB:
            raise TooLarge(what)

    monkeypatch.setattr("faithscope.counting.tally.need", need)
    refused(TooLarge, r"Counts of \d+ of 60 explanations by 3,000 labels", fs.sufficiency, RULES, MANY, X)
    assert len(asked) > 2


def test_an_audit_is_refused_before_its_rows_are_fetched(monkeypatch):
    def need(size, what, instead):
        raise TooLarge(what)

    monkeypatch.setattr("faithscope.tables.scopes.need", need)
    log = pd.DataFrame({"x": [1, 2], "rule": ["x <= 2", "x > 2"], "yhat": ["a", "b"]})
    refused(TooLarge, "2 rows of a log", fs.audit, log, prediction="yhat", explanation="rule", kind="rules")


def test_groups_of_a_log_that_do_not_fit_are_refused_in_a_sentence(monkeypatch):
    log = pd.DataFrame({"leaf": range(40), "yhat": ["a", "b"] * 20, "region": ["n", "s"] * 20})
    how = {"prediction": "yhat", "explanation": "leaf", "kind": "keys"}
    audited = fs.audit(log, **how)
    monkeypatch.setattr("faithscope.tables.audited.available", lambda: 30 * 300)
    with pytest.raises(TooLarge, match=r"More than 30 different keys, .* do not fit in memory: audit a part"):
        audited.by("region")


def test_duckdb_is_given_what_is_left_and_not_what_the_machine_has(monkeypatch):
    monkeypatch.setattr("faithscope.tables.connections.available", lambda: 2 * GIB)
    found = embedded().raw_sql("SELECT current_setting('memory_limit')").fetchone()
    assert found == ("1.5 GiB",)  # 80%, as DuckDB writes it


@pytest.mark.parametrize("name", ["X.parquet", "X.csv"])
def test_rows_that_cannot_be_held_are_not_read(name, tmp_path, left):
    rows = pd.DataFrame(np.zeros((1000, 3)), columns=["a", "b", "c"])
    write = rows.to_parquet if name.endswith("parquet") else rows.to_csv
    write(tmp_path / name)
    left(1000)
    refused(TooLarge, r"The rows of '.*' need about .* sample them", read_rows, tmp_path / name)


LIMITED = f"""
import resource, sys
import numpy as np
import faithscope as fs
import scipy.spatial.distance, scipy.sparse, pandas, pyarrow
held = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (held + {GIB}, held + {GIB}))
try:
    {{work}}
except fs.errors.FaithscopeError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""

BEYOND = {
    "Counts of 20,000,000 rows": "fs.consistency(np.zeros(20_000_000, np.int32), np.zeros(20_000_000, bool))",
    "Memory ran out (Unable to allocate": (
        "fs.evaluate(np.zeros(9), lambda X: np.ones((9, 10**10)), np.zeros((9, 1)), progress=False)"
    ),
}


@needs_linux
@pytest.mark.parametrize("words", BEYOND)
def test_beyond_the_limit_a_process_ends_with_a_sentence_and_not_with_a_kill(words):
    ended = python(LIMITED.format(work=BEYOND[words]), check=False)
    assert ended.returncode == 2, ended.stderr
    assert words in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_at_the_command_line_running_out_of_memory_is_one_line_and_status_2(monkeypatch, capsys):
    def declared(*_, **__):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr("faithscope.cli.logs.DeclaredLog.open", declared)
    monkeypatch.setattr(sys, "argv", ["faithscope", "audit", "log.parquet"])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert told.startswith("faithscope: Memory ran out (Unable to allocate 9 GiB), with ")
    assert len(told.strip().splitlines()) == 1
