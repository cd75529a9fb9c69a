"""The page of a monitor: what changed since the reference, and drift of explanations told apart from a loss."""

import datetime

import numpy as np
import pytest

import faithscope as fs
from faithscope.errors import FaithscopeError
from faithscope.monitor import compaction
from faithscope.monitor.compared import compare

START = datetime.date(2026, 1, 1)


def watched(days=16, rows=400, *, loses_at=99, drifts_at=99, **options):
    """Rules whose first job loses half of its agreement on a day, or that speak of new ages from a day on."""
    rng, monitor = np.random.default_rng(0), fs.Monitor(by="region", **options)
    for day in range(days):
        leaf = rng.integers(0, 20, rows)
        wrong = rng.random(rows) < np.where((day >= loses_at) & (leaf % 4 == 0), 0.5, 0.02)
        shown = leaf + 20 * (day >= drifts_at) * (rng.random(rows) < 0.3)
        rules = fs.Rules.parse([f"age <= {k // 4} and job == {'abcd'[k % 4]}" for k in shown])
        region, when = rng.choice(["north", "<b>south"], rows), START + datetime.timedelta(days=day)
        monitor.add(rules, np.where(leaf % 2 ^ wrong, "yes", "no"), by=region, when=when, batch=str(day))
    return monitor


def test_a_loss_is_told_with_its_explanations_and_features(tmp_path):
    monitor = watched(loses_at=12, at_least=0.8)
    record = monitor._record(10)
    assert record.reference_end == "2026-01-10"
    assert [line.name for line in record.lines] == ["all rows", *monitor.groups]
    assert record.headline.startswith("Alarm for all rows: drop since 2026-01-1")
    assert all(changed.text.endswith("job == a") for changed in record.explanations[:5])
    assert record.explanations[0].probability < 0.05
    assert dict(record.features)["job"] < -0.05
    assert record.drift[0] == "Consistency changed; the explanations are not shown to drift."
    for name, line in zip([None, *monitor.groups], record.lines, strict=True):
        limits = monitor.limits(name)
        assert (line.points[-1]["low"], line.points[-1]["high"]) == pytest.approx((limits.low, limits.high))
    monitor.to_html(tmp_path / "page.html", reference=10)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<b>south" not in page
    assert "What changed" in page


def test_drift_of_explanations_is_told_apart_from_a_loss():
    record = watched(drifts_at=12)._record(10)
    assert record.drift[0] == "The explanations drift; consistency is not shown to have changed."
    assert any("New explanations are more frequent: rise since 2026-01-1" in sentence for sentence in record.drift)
    still = watched()._record(10)
    assert still.drift[0] == "Neither consistency nor the explanations are shown to have changed."
    assert still.headline.startswith("No alarm.")


def test_the_cells_of_both_periods_are_those_of_the_rows():
    monitor = watched(loses_at=12)
    with monitor._store.transaction() as connection:
        compared = compare(connection, 10)
    assert compared.periods.given.sum(axis=1).tolist() == [4000, 2400]
    assert compared.until == datetime.date(2026, 1, 10)
    assert (len(compared.fresh), compared.reference) == (9, 7)  # whole weeks
    assert min(compared.names.values()) == "age <= 0 and job == a"
    assert set(compared.features) == {("age", "job")}


@pytest.mark.thorough
def test_a_reference_whose_days_were_merged_ends_later_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(compaction, "_FEW", 0)
    monitor = watched(days=45, rows=100, loses_at=33)
    record = monitor._record(10)
    assert any("until 2026-01-14" in sentence for sentence in record.changed)
    assert any(changed.part < 0 and changed.text.endswith("job == a") for changed in record.explanations[:3])


def test_the_first_weeks_stay_apart_from_all_later_ones(monkeypatch):
    for name, value in {"_FEW": 0, "OPEN_DAYS": 1, "OPEN_MONTHS": 0}.items():
        monkeypatch.setattr(compaction, name, value)
    monitor = fs.Monitor()
    for month in range(1, 9):
        for day in (1, 2, 3):
            when = datetime.date(2026, month, day)
            monitor.add(["a", "b"] * 10, [0, month > 4] * 10, when=when, batch=str(when))
    record = monitor._record(9)
    assert not any("no longer tells" in sentence for sentence in record.changed)
    assert sum(changed.rows[0] for changed in record.explanations) <= 9 * 20


def test_a_page_without_rows_or_reference_says_so(tmp_path):
    empty = fs.Monitor()
    empty.to_html(tmp_path / "empty.html", reference=3)
    assert "No rows were added yet." in (tmp_path / "empty.html").read_text(encoding="utf-8")
    record = watched(days=2)._record()
    assert any("pass reference=30" in note for note in record.notes)
    assert not record.changed
    assert "no rows after the reference" in watched(days=2)._record(5).changed[0]
    with pytest.raises(FaithscopeError, match="reference"):
        empty.to_html(tmp_path / "x.html", reference=0)


def test_one_look_reads_one_state(monkeypatch):
    monitor = watched(days=2)
    store, opened = monitor._store, []
    begin = type(store).transaction
    monkeypatch.setattr(type(store), "transaction", lambda self: opened.append(self._held is None) or begin(self))
    monitor.to_dict()
    assert opened == [True]
