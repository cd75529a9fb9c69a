"""An explainer of a newcomer's own, as docs/design.md shows it: a table as it is, in 25 lines."""

import ast
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import faithscope as fs

PAGE = Path(__file__).parents[2] / "docs" / "design.md"
(CODE,) = (
    block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S) if "(Explainer)" in block
)


def test_the_explainer_of_the_page_takes_a_table_as_it_is_and_has_the_manners_of_ours(capsys):
    (shown,) = (node for node in ast.parse(CODE).body if isinstance(node, ast.ClassDef))
    assert shown.end_lineno - shown.lineno < 25
    made = {}
    exec(CODE, made)
    Replaced, people, model = (made[name] for name in ("Replaced", "people", "model"))
    explainer, people = Replaced(model, people), people.set_index(np.arange(200)[::-1])
    explanations = explainer.explain(people, progress=False)
    assert capsys.readouterr().out.strip() == explanations.describe(0)
    assert list(explanations.index) == list(people.index)
    assert explanations.values[:, 0].tolist() == [0.0] * 200, "the age, which the model does not read"
    assert (explanations.values[0, 1:] > 0).all()
    assert repr(explainer) == "Replaced(model=model, X_train=(200, 3))"
    assert explainer == Replaced(**explainer.get_params())
    strange = people[:3].assign(job=["pilot", None, "clerk"])
    assert explainer.explain(strange).values.shape == (3, 3)
    assert explainer.explain(people[:0]).values.shape == (0, 3)
    assert fs.evaluate(lambda rows: model(rows) > 0.5, explainer, people, progress=False).consistency.verified == 1


def test_it_takes_tables_of_other_libraries():
    made = {}
    exec(CODE, made)
    people = pl.from_pandas(made["people"])
    chance = lambda rows: made["model"](rows.to_pandas())  # noqa: E731
    ours, others = made["Replaced"](chance, people).explain(people), made["Replaced"](made["model"], made["people"])
    np.testing.assert_allclose(ours.values, others.explain(pd.DataFrame(made["people"])).values)
