"""The page of a monitor: its headline, and what it says of a state without rows."""

import numpy as np
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import FaithscopeError
from faithscope.monitor.telling import page
from monitor.watched_rows import looked
from refused import refused


def watched(days=16, rows=400, *, loses_at=99, **options):
    """Rules whose first job loses half of its agreement on a day."""
    rng, monitor = default_rng(0), fs.Monitor(by="region", **options)
    day, leaf = np.repeat(np.arange(days), rows), rng.integers(0, 20, days * rows)
    wrong = rng.random(len(leaf)) < np.where((day >= loses_at) & (leaf % 4 == 0), 0.5, 0.02)
    rules = fs.Rules.parse([f"age <= {k // 4} and job == {'abcd'[k % 4]}" for k in leaf])
    region, when = rng.choice(["north", "<b>south"], len(leaf)), np.datetime64("2026-01-01") + day
    monitor.add(rules, np.where(leaf % 2 ^ wrong, "yes", "no"), by=region, when=when)
    return monitor


def test_a_loss_is_the_headline_and_where_it_is_an_audit_tells(tmp_path):
    monitor = watched(loses_at=12, at_least=0.8, reference=10)
    monitor.to_html(tmp_path / "page.html")
    told, quiet = (tmp_path / "page.html").read_text(encoding="utf-8"), looked(watched(reference=10), page)
    assert "ALARM: drop" in told
    assert "No alarm." in quiet
    assert "No alarm." not in told
    assert "<b>south" not in told
    assert "--against earlier.parquet" in told


def test_a_page_without_rows_says_so(tmp_path):
    fs.Monitor(reference=3).to_html(tmp_path / "empty.html")
    assert "no rows were added yet" in (tmp_path / "empty.html").read_text(encoding="utf-8")
    refused(FaithscopeError, "reference", fs.Monitor, reference=0)


def test_one_look_reads_one_state(monkeypatch):
    monitor = watched(days=2)
    store, opened = monitor._store, []
    begin = type(store).transaction
    monkeypatch.setattr(type(store), "transaction", lambda self: opened.append(1) or begin(self))
    monitor.to_dict()
    assert opened == [1]
