"""Drawings of maps: the cells that an explanation has, escaped words, and no more bytes than needed."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import default_rng

import faithscope as fs
import report_examples as examples
from faithscope.report.html import render
from faithscope.report.maps import draw, map_of, picture_of
from faithscope.report.summary import summarize
from report_examples import HOSTILE


def drawn_cells(svg):
    """Every cell that a drawing colors: its place, class and opacity; each cell at most once."""
    root, cells = ElementTree.fromstring(str(svg)), {}
    for path in root.iter("path"):
        for x, y, length in re.findall(r"M(\d+) (\d+)\.5h(\d+)", path.get("d")):
            for column in range(int(x), int(x) + int(length)):
                assert (int(y), column) not in cells
                cells[int(y), column] = path.get("class"), float(path.get("stroke-opacity"))
    return cells


@given(
    st.integers(1, 9).flatmap(
        lambda wide: st.lists(
            st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, -2.0, 0.3, -0.7, 1.4, -1e-300, 1e300])] * wide),
            min_size=1,
            max_size=6,
        )
    )
)
def test_every_cell_that_is_not_0_is_drawn_once_in_the_color_of_its_sign_and_larger_ones_never_paler(lines):
    cells, sizes = drawn_cells(draw(np.array(lines), "told")), []
    for y, line in enumerate(lines):
        for x, value in enumerate(line):
            assert ((y, x) in cells) == bool(value)
            if value:
                color, opacity = cells[y, x]
                assert color == ("up" if value > 0 else "down")
                sizes.append((abs(value), opacity))
    opacities = [opacity for _, opacity in sorted(sizes)]
    assert opacities == sorted(opacities), "larger cells are never paler"
    assert opacities[-1:] in ([], [1])


def test_words_stay_words():
    for told in HOSTILE[:5]:
        root = ElementTree.fromstring(str(draw(np.ones((1, 1)), told)))
        assert ([element.tag for element in root], root[0].text) == (["title", "path"], told)


def test_maps_are_known_by_their_axes():
    rng = default_rng(0)

    def drawn(*shape):
        return fs.Importances(rng.integers(-3, 4, (2, *shape)).astype(float))

    one = drawn(3, 6, 8)
    assert np.array(map_of(one, 1)).tolist() == one.values[1].reshape(3, 6, 8).sum(axis=0).tolist()
    pooled = (fs.Pool((2, 4)) | fs.Sign())(one)
    assert np.array(map_of(pooled, 0)).tolist() == pooled.values[0].reshape(2, 4).tolist()
    for maps, shape in (
        (fs.Pool(6, channels="first")(drawn(3, 12)), (1, 6)),
        (drawn(1, 500, 300), (28, 28)),
        (drawn(300, 5), (28, 5)),
    ):
        assert np.shape(map_of(maps, 0)) == shape
    for none in (
        drawn(4),
        fs.Rank()(one),
        fs.Highlights([{"a"}]),
        drawn(7, 6, 8),
        fs.Pool((2, 2, 4), shape=(2, 3, 4))(drawn(24)),
        fs.Importances(np.full((1, 3, 40, 40), 1e308)),
    ):
        assert map_of(none, 0) is None


def test_pictures_of_rows_begin_at_0():
    images = default_rng(0).normal(size=(3, 1, 5, 4))
    image, picture = images[2, 0], np.array(picture_of(images, 2))
    assert picture == pytest.approx(image - image.min(), abs=0.01)
    assert np.array(picture_of(np.ones((1, 4, 4)), 0)).max() == 0
    for none in (None, np.ones((2, 4)), ["text"], np.full((1, 2, 2), "a"), np.full((1, 4, 4), np.nan)):
        assert picture_of(none, 0) is None


@pytest.mark.thorough
def test_a_report_draws_the_map_of_every_contradiction_and_others_say_nothing_of_maps():
    evaluation = examples.maps()["signs"]
    summary = summarize(evaluation)
    page, contradictions = render(summary), examples.pairs(summary.explainers[0])
    drawings = re.findall(r'<svg class="map.*?</svg>', page, re.S)
    assert (len(contradictions), len(drawings)) == (4, 12)
    for pair, drawing in zip(contradictions, drawings[::3], strict=True):
        for index in (pair.index_a, pair.index_b):
            assert np.array_equal(pair.map, map_of(evaluation.explanations, int(index)))
        assert np.array_equal(pair.picture_a, picture_of(evaluation.X, int(pair.index_a)))
        assert drawn_cells(drawing) == drawn_cells(draw(pair.map, ""))
        assert ElementTree.fromstring(drawing)[0].text == pair.explanation
        assert len(drawing) < 900
    for words in ('<svg class="map', "positive importance"):
        assert words in page
        assert words not in examples.page()


def test_images_are_pictures_and_no_features():
    X = default_rng(0).random((12, 3, 80, 80))
    summary = summarize(fs.evaluate([0, 1] * 6, X, X, discretizer=fs.Pool((2, 2)) | fs.Sign()))
    pair = examples.pairs(summary.explainers[0])[0]
    assert (pair.features, np.shape(pair.picture_a)) == ((), (28, 28))
    assert "were not kept" not in render(summary)


def test_tensors_as_rows_have_ranges_and_pictures():
    torch = pytest.importorskip("torch")
    X = torch.arange(32.0).requires_grad_()
    flat, images = (
        examples.pairs(summarize(fs.evaluate([0, 1, 0, 1], ["a"] * 4, rows)).explainers[0])[0]
        for rows in (X.reshape(4, 8), X.reshape(4, 1, 2, 4))
    )
    assert [feature.gap for feature in flat.features] == pytest.approx([1 / 3] * 8)
    assert np.shape(images.picture_b) == (2, 4)
