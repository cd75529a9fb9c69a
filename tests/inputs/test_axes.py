"""Importances of three axes may be maps or classes: nothing is measured until that is clear."""

import re

import numpy as np
import pytest
from numpy.random import default_rng

import faithscope as fs
from faithscope.errors import BadInput

N = 60


def values(shape=(N, 4, 3)):
    return default_rng(0).normal(size=shape)


def advice(given, **options):
    with pytest.raises(BadInput) as refused:
        fs.consistency(given, [0, 1] * (N // 2), **options)
    message = str(refused.value)
    assert len(message) < 400
    return message


def test_the_advice_for_three_axes_runs_and_gives_what_it_says():
    given = values()
    message = advice(given)
    code = re.search(r"fs\.read\(values, class_index=1\)", message)[0]
    assert np.array_equal(eval(code, {"fs": fs, "values": given}).values, given[:, :, 1])
    code = re.search(r"values\.reshape\(len\(values\), -1\)", message)[0]
    assert fs.consistency(eval(code, {"values": given}), [0, 1] * (N // 2)).n == N


@pytest.mark.parametrize("discretizer", [None, "sign", fs.SignOfTop(2), fs.Sign() | fs.Rank()])
def test_three_axes_are_not_measured_with_discretizers_of_features(discretizer):
    assert "class_index=1" in advice(values(), discretizer=discretizer)
    with pytest.raises(BadInput, match="class_index=1"):
        fs.count(values(), [0, 1] * (N // 2))
    with pytest.raises(BadInput, match="class_index=1"):
        fs.evaluate([0, 1] * (N // 2), values(), values((N, 4)), discretizer=discretizer)


def test_four_axes_are_images():
    images = values((N, 3, 8, 8))
    read = fs.read(images)
    assert read.shape == (3, 8, 8)
    assert np.array_equal(read.values, images.reshape(N, -1))
    assert fs.consistency(images, [0, 1] * (N // 2)).n == N


def test_a_list_of_one_array_per_class_is_recognized():
    per_class = list(values((3, N, 4)))
    message = advice(per_class)
    assert "each of a list of arrays is a class, choose the class" in message
    assert np.array_equal(fs.read(per_class, class_index=1).values, per_class[1])


def test_keys_that_are_tuples_are_no_pairs():
    keys = [(("age", 0.5), ("job", -0.1)), (("age", 0.5), ("job", -0.1)), (("job", 0.2), ("age", 0.1))]
    assert fs.consistency(keys, [0, 0, 1]).distinct == 2


def test_maps_of_several_classes_are_asked_about_and_chosen():
    torch = pytest.importorskip("torch")
    maps = values((N, 1, 4, 4, 3))
    assert "class_index=1" in advice(maps)
    assert np.array_equal(fs.read(maps, class_index=2).values, maps[..., 2].reshape(N, -1))
    tensor = torch.tensor(values(), requires_grad=True)
    assert np.array_equal(fs.read(tensor, class_index=1).values, values()[:, :, 1])
