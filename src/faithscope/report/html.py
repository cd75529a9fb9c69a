"""The report as one HTML file: no network, opens from disk."""

import os
from typing import Any

from faithscope.agreements import Spread
from faithscope.charts import scope_specs, specs
from faithscope.charts.heat import heat_map
from faithscope.charts.theme import LIGHT, theme
from faithscope.explanations.base import several
from faithscope.measures.estimate import Estimate
from faithscope.measures.numbers.words import described, named, told_number
from faithscope.measures.telling import READING_ORDER, WORDS, ExplainerVerdict, differ_word, number, recall_sentence
from faithscope.report.agreeing import HeatMap
from faithscope.report.assumptions import assumptions
from faithscope.report.contradictions import FeaturePair, most_alike_first
from faithscope.report.glossary import glossary
from faithscope.report.headline import headline
from faithscope.report.maps import draw
from faithscope.report.offline_page import fill_page
from faithscope.report.summary import Curve, Explainer, Groups, Summary, numbers
from faithscope.rounding import down, up
from faithscope.runtime.files import write_atomically

_ICONS = {"faithful": "✓", "consistent": "=", "unknown": "?", "partly": "◐"} | {
    "random": "≈",
    "chance": "≈",
    "unfaithful": "✕",
}
_SHOWN = 6  # features of two rows that are shown at first


def write(summary: Summary, path: str | os.PathLike[str]) -> None:
    """Write the report as one file."""
    page = render(summary).encode(errors="replace")  # a lone surrogate has no encoding
    write_atomically(path, page, private=True)


def render(summary: Summary) -> str:
    """The report as one page, which needs nothing else."""
    return fill_page("faithscope.report", _charts(summary), summary=summary, **_template_names(summary))


def _charts(summary: Summary) -> dict[str, Any]:
    """Every chart of the page by the id of its place, in the page's own colors."""
    rows = _picture(summary)
    drawn = {"chart-picture": specs.estimates(rows), "chart-against": specs.against(rows)}
    for place, explainer in enumerate(summary.explainers):
        for which, curve in enumerate(explainer.curves):
            drawn[f"chart-rows-{place}-{which}"] = specs.curve(curve.points, curve.n, curve.wanted, curve.needed)
        for which, groups in enumerate(explainer.populations):
            drawn[f"chart-populations-{place}-{which}"] = specs.estimates(_groups_rows(groups))
        if explainer.hidden and explainer.hidden.points:
            drawn[f"chart-scopes-{place}"] = scope_specs.precision_recall(explainer.hidden.points)
        if len(explainer.discretizations) > 1:
            drawn[f"chart-discretizations-{place}"] = specs.discretizations(explainer.discretizations)
    agreeing = summary.agreeing
    for which, square in enumerate(agreeing.maps if agreeing else ()):
        drawn[f"chart-agreement-{which}"] = heat_map(square.names, square.values, square.title)
    colors = {name: f"var(--{name})" for name in LIGHT} | {"hatch": "url(#hatch)"}
    names = [explainer.name for explainer in summary.explainers]
    # The words for a chart are its place's; what Vega would add says less.
    config = theme(colors) | {"aria": False, "mark": {"aria": False}, "background": "transparent"}
    return {"specs": {place: _patterned(spec) for place, spec in drawn.items()}, "config": config, "names": names}


def _patterned(spec: dict[str, Any]) -> dict[str, Any]:
    """The chart without its own strokes of hatching: the page has a pattern, which keeps its width on any screen."""
    layers = [layer for layer in spec["layer"] if layer["mark"].get("style") != "hatch"]
    used = {layer["data"]["name"] for layer in layers}
    datasets = {name: spec["datasets"][name] for name in sorted(used)}
    return {"height": spec["height"], "layer": layers, "datasets": datasets}


def _picture(summary: Summary) -> list[dict[str, Any]]:
    return [_row(explainer.name, estimate) for explainer in summary.explainers for estimate in explainer.measures]


def _groups_rows(groups: Groups) -> list[dict[str, Any]]:
    return [_row(name, estimate) for name, estimate in groups.groups]


def _row(name: str, estimate: Estimate) -> dict[str, Any]:
    """The numbers of an estimate that a chart draws, under a name."""
    fields = ("measure", "agreement", "value", "low", "high", "unverifiable", "upper", "chance", "n")
    checked = ("verified", "verified_low", "verified_high")
    told = numbers(estimate)
    return {"name": name} | {field: told[field] for field in (*fields, *checked)}


def _template_names(summary: Summary) -> dict[str, Any]:
    """The values and functions that the template uses."""
    explainers = summary.explainers
    has = {
        "against": sum(len(explainer.measures) > 1 for explainer in explainers) > 1,
        "maps": any(pair.map for explainer in explainers for pair in explainer.contradictions),
        "populations": any(explainer.populations or explainer.slices for explainer in explainers),
        "hidden": any(explainer.hidden or explainer.why_not("hidden") for explainer in explainers),
        "leakage": any(explainer.leaking or explainer.why_not("leakage") for explainer in explainers),
        "agreement": summary.agreeing is not None,
        "discretizations": any(
            len(explainer.discretizations) > 1 or explainer.why_not("discretizations") for explainer in explainers
        ),
    }
    return {
        "several": len(explainers) > 1,
        "differ_word": differ_word,
        "has": has,
        "sections": _sections(has),
        "headline": headline(summary),
        "lead": _lead(summary),
        "method": _method(summary),
        "assumptions": assumptions(explainers[0].measures[0], explainers[0].clusters),
        "alts": {"picture": _alt(_picture(summary)), "against": _against_alt(explainers)},
        "curve_alt": _curve_alt,
        "scopes_alt": _scopes_alt,
        "recall_sentence": recall_sentence,
        "heat_alt": _heat_alt,
        "groups_alt": lambda groups: _alt(_groups_rows(groups)),
        "facts": _facts,
        "marked": _marked,
        "draw": draw,
        "spoken": _spoken,
        "glossary": glossary([estimate.agreement for estimate in _estimates(summary)]),
        "known": "variance accounted for" if _of_variance(summary) else "shown to agree",
        "where_checked": "the share" if _of_variance(summary) else "agreement",
        "numbers": any(estimate.agreement.of_numbers for estimate in _estimates(summary)),
        "icons": _ICONS,
        "levels": READING_ORDER,
        "most_alike_first": most_alike_first,
        "down": down,
        "up": up,
        "shown": _SHOWN,
    }


def _estimates(summary: Summary) -> list[Estimate]:
    return [estimate for explainer in summary.explainers for estimate in explainer.measures]


def _of_variance(summary: Summary) -> bool:
    """Whether every measure is a share of variance."""
    return all(isinstance(estimate.agreement, Spread) for estimate in _estimates(summary))


def _sections(has: dict[str, bool]) -> list[tuple[str, str]]:
    named = [
        ("verdicts", "Verdict"),
        ("contradictions", "Where it fails"),
        ("picture", "All numbers"),
        ("populations", "For whom"),
        ("rows", "How many rows"),
        ("hidden", "What it hides"),
        ("leakage", "Do reasons name the answer"),
        ("agreement", "Do they agree"),
        ("discretizations", "How fine"),
        ("method", "How computed"),
        ("glossary", "What it means"),
    ]
    return [(anchor, label) for anchor, label in named if has.get(anchor, True)]


def _spoken(verdict: ExplainerVerdict) -> str:
    """The sentence without its first word, which the badge says."""
    rest = verdict.sentence.removeprefix(f"{WORDS[verdict.level]}: ")
    return rest[:1].upper() + rest[1:]


def _lead(summary: Summary) -> str:
    count, first = len(summary.explainers), summary.explainers[0].measures[0]
    subject = "One explainer" if count == 1 else f"{_counted(summary)} of the same model"
    choosing = ""
    if summary.rows_to_choose:
        choosing = f" Discretizations were chosen on {summary.rows_to_choose:,} other rows."
    confidence = f"Every statement about the truth holds with {100 * first.confidence:g}% confidence."
    return f"{subject}, measured on {first.n:,} rows.{choosing} {confidence}"


def _counted(summary: Summary) -> str:
    """How many explainers there are, by their verdicts; baselines apart."""
    judged = [explainer.verdict.level for explainer in summary.explainers if not explainer.baseline]
    baselines = len(summary.explainers) - len(judged)
    told = ", ".join(f"{judged.count(level)} {WORDS[level].lower()}" for level in READING_ORDER if level in judged)
    parts = ([f"{several(len(judged), 'explainer', 'explainers')} ({told})"] if judged else []) + (
        [several(baselines, "baseline", "baselines")] if baselines else []
    )
    return " and ".join(parts)


def _method(summary: Summary) -> str:
    first = summary.explainers[0].measures[0]
    compared = " ".join(dict.fromkeys(described(estimate.agreement) for estimate in _estimates(summary)))
    return (
        "Every row is compared with the other rows that its explanation covers, never with itself. "
        f"{compared}{' ' if compared else ''}Intervals are at {100 * first.confidence:g}% confidence ({first.method}). "
        f"An explainer is called faithful when the whole interval of both measures reaches {summary.wanted:.0%} and at "
        "least half of what chance leaves open, consistent when only that of consistency does, "
        "and no better than chance when rows that can be checked do not agree more than "
        "shuffled predictions would and its interval stays nearer to chance than to that."
    )


def _clusters(estimate: Estimate, name: str) -> str:
    """The number of clusters and what says which rows belong together; empty if rows are independent."""
    return "" if estimate.clusters is None else f"{estimate.clusters:,}{f' (by {name})' if name else ''}"


def _facts(explainer: Explainer) -> list[tuple[str, str]]:
    """How an explainer was measured: names with values, without those that have nothing to say."""
    estimates = explainer.measures
    first = estimates[0]
    facts = {
        "Explainer": explainer.settings,
        "Explanations": explainer.kind,
        "Discretization": explainer.discretizer,
        "Predictions compared by": named(first.agreement) if first.agreement.of_numbers else "",
        "Typically apart": ", ".join(
            f"{estimate.measure}: {told_number(estimate.gap)}" for estimate in estimates if estimate.gap is not None
        ),
        "Rows": f"{first.n:,}",
        "Clusters of rows": _clusters(first, explainer.clusters),
        "Effective rows": "" if first.effective_n == first.n else f"{first.effective_n:,.0f}",
        "Different explanations": f"{first.distinct:,}",
        "Intervals": ", ".join(f"{estimate.measure}: {estimate.method}" for estimate in estimates),
        "Seed": "" if explainer.seed is None else str(explainer.seed),
        "Time": ", ".join(f"{phase} {spent:.2f} s" for phase, spent in explainer.seconds.items()),
        "Notes": "; ".join(f"{measure}: {note}" if measure else note for measure, note in explainer.remarks),
    }
    return [(name, value) for name, value in facts.items() if value]


def _alt(rows: list[dict[str, Any]]) -> str:
    lines = [
        f"{row['name']}: {row['measure']} {number(row['verified'])}, interval {down(row['low'])} to {up(row['high'])}, "
        f"{row['unverifiable']:.0%} unverifiable"
        for row in rows
    ]
    return "Bars with intervals. " + "; ".join(lines) + "."


def _against_alt(explainers: tuple[Explainer, ...]) -> str:
    lines = [
        f"{explainer.name}: {', '.join(f'{m.measure} {number(m.verified)}' for m in explainer.measures)}"
        for explainer in explainers
        if len(explainer.measures) > 1
    ]
    return "Consistency against sufficiency. " + "; ".join(lines) + "."


def _curve_alt(explainer: Explainer, curve: Curve) -> str:
    last = next(point for point in reversed(curve.points) if point["kind"] == "exact")
    return (
        f"Share of rows that cannot be checked by number of rows, {explainer.name}, {curve.measure}: "
        f"{last['unverifiable']:.0%} at the {curve.n:,} rows there are; {curve.reason}."
    )


def _scopes_alt(explainer: Explainer) -> str:
    points = explainer.hidden.points if explainer.hidden else ()
    lines = [
        f"{point['explanation']}: precision {point['precision']:.2f}, recall {point['recall']:.2f}"
        for point in points[:_SHOWN]
    ]
    return f"Precision against recall of {len(points):,} explanations of {explainer.name}. {'; '.join(lines)}."


def _heat_alt(square: HeatMap) -> str:
    lines = [
        f"{name} and {square.names[j]} {value:.2f}"
        for i, name in enumerate(square.names)
        for j, value in enumerate(square.values[i])
        if j > i and value is not None
    ]
    return f"{square.title}: {', '.join(lines)}."


def _marked(feature: FeaturePair) -> tuple[Any, Any]:
    """Two values with what differs marked: the words of texts, all of anything else."""
    from markupsafe import Markup

    if not feature.differs:
        return feature.a, feature.b
    a, b = feature.a.split(), feature.b.split()
    if min(len(a), len(b)) < 4:
        return Markup("<mark>{}</mark>").format(feature.a), Markup("<mark>{}</mark>").format(feature.b)
    return _words(a, set(b)), _words(b, set(a))


def _words(words: list[str], others: set[str]) -> Any:
    from markupsafe import Markup

    return Markup(" ").join(word if word in others else Markup("<mark>{}</mark>").format(word) for word in words)
