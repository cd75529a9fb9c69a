"""The page of a monitor: what changed since the reference, and drift of explanations told apart from a loss."""

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import FaithscopeError
from faithscope.monitor.page import headline, render
from faithscope.monitor.periods import changes_since
from monitor.watched_rows import looked
from refused import refused


def watched(days=16, rows=400, *, loses_at=99, drifts_at=99, **options):
    """Rules whose first job loses half of its agreement on a day, or that speak of new ages from a day on."""
    rng, monitor = default_rng(0), fs.Monitor(by="region", **options)
    day, leaf = np.repeat(np.arange(days), rows), rng.integers(0, 20, days * rows)
    wrong = rng.random(len(leaf)) < np.where((day >= loses_at) & (leaf % 4 == 0), 0.5, 0.02)
    shown = leaf + 20 * (day >= drifts_at) * (rng.random(len(leaf)) < 0.3)
    rules = fs.Rules.parse([f"age <= {k // 4} and job == {'abcd'[k % 4]}" for k in shown])
    region, when = rng.choice(["north", "<b>south"], len(leaf)), np.datetime64("2026-01-01") + day
    monitor.add(rules, np.where(leaf % 2 ^ wrong, "yes", "no"), by=region, when=when)
    return monitor


def test_a_loss_is_told_with_its_explanations_and_features(tmp_path):
    monitor = watched(loses_at=12, at_least=0.8, reference=10)
    changed = looked(monitor, changes_since)
    assert looked(monitor, headline).startswith("Alarm for all rows: drop")
    assert all(each.text.endswith("job == a") for each in changed.explanations[:5])
    assert {sum(each.rows) for each in changed.explanations} <= set(range(200, 500))
    assert changed.drift[0] == "Consistency changed; the explanations are not shown to drift."
    monitor.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<b>south" not in page
    assert "What changed" in page


def test_drift_of_explanations_is_told_apart_from_a_loss():
    drifts, still = watched(drifts_at=12, reference=10), watched(reference=10)
    told = looked(drifts, changes_since).drift
    assert told[0] == "Consistency is not shown to have changed; the explanations drift."
    assert (
        looked(still, changes_since).drift[0]
        == "Consistency is not shown to have changed; the explanations are not shown to drift."
    )
    assert looked(still, headline).startswith("No alarm.")


def test_a_page_without_rows_or_reference_says_so(tmp_path):
    empty = fs.Monitor(reference=3)
    empty.to_html(tmp_path / "empty.html")
    assert "No rows were added yet." in (tmp_path / "empty.html").read_text(encoding="utf-8")
    assert "begin a state with reference=30" in looked(watched(days=2), render)
    assert not looked(watched(days=2), changes_since).sentence
    assert "no rows after the reference" in looked(watched(days=2, reference=5), changes_since).sentence
    refused(FaithscopeError, "reference", fs.Monitor, reference=0)


def test_one_look_reads_one_state(monkeypatch):
    monitor = watched(days=2)
    store, opened = monitor._store, []
    begin = type(store).transaction
    monkeypatch.setattr(type(store), "transaction", lambda self: opened.append(1) or begin(self))
    monitor.to_dict()
    assert opened == [1]
