"""The page is one file that needs nothing else, a terminal shows the same, and every string of a caller stays text."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.charts.bundle import safe_json
from faithscope.charts.theme import DARK, LIGHT
from faithscope.report.html import render
from faithscope.report.sections.glossary import GLOSSARY
from faithscope.report.sections.verdicts import headline
from faithscope.report.summary import summarize
from faithscope.rounding import down, up
from report_examples import printed as in_terminal

SECTIONS = (
    *("verdicts", "contradictions", "picture", "populations", "rows"),
    *("hidden", "agreement", "discretizations", "method", "glossary"),
)


class Page(HTMLParser):
    """Tags with their attributes, texts, and what stands in scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.scripts, self._script = [], [], [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._script = tag == "script"
        if self._script:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._script = False

    def handle_data(self, data):
        if self._script:
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def page():
    return Page(examples.page())


@pytest.fixture(scope="module")
def hostile():
    return Page(examples.page(examples.hostile))


def test_sections_come_in_the_order_a_reader_asks_below_the_sentence_to_quote(page):
    assert [attrs["id"] for attrs in page.all("section")] == list(SECTIONS)
    texts = [text for text in page.texts if text.strip()]
    assert "Verdict" in texts[texts.index(headline(examples.summary())) :]
    assert sum(len(script) > 100_000 and script[0] != "{" for script in page.scripts) == 1, "what draws is there once"


def test_page_and_terminal_tell_every_verdict_and_every_number(page):
    summary, text = examples.summary(), "".join(page.texts)
    wide, narrow = (in_terminal(summary, width=width) for width in (1_000, 80))
    for explainer in summary.explainers:
        assert wide.count(explainer.name) >= 2
        assert explainer.verdict.sentence in wide
        assert explainer.verdict.word in text
        assert explainer.verdict.sentence.split(": ", 1)[1][1:] in text
        for estimate in explainer.measures:
            low, high = down(estimate.low), up(estimate.high)
            leads = "–" if estimate.verified is None else f"{estimate.verified:.3f}"
            assert all(f"{low}–{high}" in printed and leads in printed for printed in (wide, narrow, text))
    assert "…" not in narrow
    assert all(meaning in text for meaning in GLOSSARY.values())


def test_in_a_terminal_names_are_never_markup_nor_escapes_and_never_break_inside_a_word():
    text = in_terminal(examples.summary(examples.hostile), width=400)
    assert "[red]markup[/red]" in text
    assert not set("\x1b\u202e") & set(text)
    summary, names = examples.summary(), ["counterfactual", "nearest neighbor of training"]
    explainers = [replace(each, name=name) for each, name in zip(summary.explainers, names, strict=False)]
    lines = in_terminal(replace(summary, explainers=tuple(explainers)), width=80).splitlines()
    words = {word for line in lines[3 : lines.index("")] for word in line[:16].split()}
    assert {"counterfactual", "nearest", "neighbor", "training"} <= words


def test_nothing_is_fetched_and_only_our_scripts_may_run(page, hostile):
    for shown in (page, hostile):
        addresses = [
            a[name] for _, a in shown.tags for name in ("src", "href", "action", "data", "poster") if name in a
        ]
        assert all(address.startswith(("#", "data:,")) for address in addresses)
        scripts = shown.all("script")
        assert not any("src" in attrs for attrs in scripts)
        policy = next(a["content"] for a in shown.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe-eval" not in policy
        runnable = [text for text, a in zip(shown.scripts, scripts, strict=True) if a.get("type") != "application/json"]
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in runnable]
        assert re.findall(r"'sha256-([^']+)'", policy) == digests
        assert len(digests) == 2


def test_hostile_strings_stay_text(page, hostile):
    tags = {tag for tag, _ in hostile.tags}
    assert tags <= {tag for tag, _ in page.tags} | {"mark"}
    assert len(hostile.all("script")) == 3
    assert "img" not in tags
    assert not any(name.startswith("on") for _, attrs in hostile.tags for name in attrs)
    text = "".join(hostile.texts)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7 * 7 }}" in text


def test_charts_are_json_that_cannot_leave_its_element(hostile):
    charts = next(text for text in hostile.scripts if text.startswith("{"))
    assert not set("<>&\u2028\u2029") & set(charts)
    assert examples.HOSTILE[0] in json.loads(charts)["names"]
    value = {"</script>": ["<!--", "&amp;", "\u2028\u2029", "🦊"]}
    assert json.loads(safe_json(value)) == value


def test_every_chart_has_a_place_and_words_ids_are_unique_and_links_lead_somewhere(page):
    charts = json.loads(next(text for text in page.scripts if text.startswith("{")))
    places = {attrs["id"]: attrs for attrs in page.all("div") if attrs.get("class") == "drawing"}
    assert set(places) == set(charts["specs"])
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 20 for attrs in places.values())
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {a["href"][1:] for a in page.all("a") if not a["href"].startswith("#explainer=")} <= set(ids)


@pytest.mark.thorough
def test_a_large_comparison_stays_below_three_megabytes():
    rng = default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 60)), columns=[f"a feature with a rather long name {j}" for j in range(60)])
    given = {f"explainer {j}, called at some length": rng.normal(size=(300, 60)) for j in range(15)}
    compared = fs.compare(rng.integers(0, 2, 300), given, X, by=rng.integers(0, 30, 300))
    assert len(render(summarize(compared)).encode()) < 3_000_000


def test_a_single_explainer_has_a_report_too(tmp_path):
    X = examples.rows(80)
    examples.evaluation(X, by=X["job"]).to_html(tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    sections = [attrs["id"] for attrs in page.all("section")]
    assert sections == [name for name in SECTIONS if name not in {"agreement", "discretizations"}]
    assert page.all("select") == []


def contrast(*colors):
    """WCAG's ratio of two colors."""
    channels = np.array([[int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)] for color in colors])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    low, high = sorted(linear @ [0.2126, 0.7152, 0.0722] + 0.05)
    return high / low


def test_text_and_marks_stand_out():
    words = ("ink", "muted", "link", "faithful", "partly", "unknown", "chance", "unfaithful")
    for palette in (LIGHT, DARK):
        for ground in ("paper", "panel"):
            assert all(contrast(palette[name], palette[ground]) >= 4.5 for name in words)
        assert contrast(palette["ink"], palette["mark"]) >= 4.5
        assert all(contrast(palette[name], palette["paper"]) >= 3 for name in ("consistency", "sufficiency", "silent"))


def test_pairs_of_rows_with_values_missing_of_nullable_types_are_shown():
    rows = pd.DataFrame({"age": pd.array([1, None, 3, None], "Int64"), "flag": pd.array([True, None, None, None])})
    summary = summarize(fs.evaluate([0, 1, 0, 1], ["same"] * 4, rows))
    assert render(summary)
    shown = {each for pair in examples.pairs(summary.explainers[0]) for each in pair.features}
    assert all(feature.differs == (feature.a != feature.b) for feature in shown)
    assert {feature.differs for feature in shown} == {True, False}
