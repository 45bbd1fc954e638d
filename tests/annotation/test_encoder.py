"""The embedded encoder: its weights are checked, long texts are read whole, and no text leaks into another."""

from __future__ import annotations

import numpy
import pytest

from annotation import encoder
from annotation.encoder import WINDOW, check_weights, load_encoder, windows
from annotation.spacy_parser import WrongWeights

LAYERS = (0, 3, 6)


def test_weights_other_than_the_pinned_ones_are_refused(monkeypatch):
    assert check_weights().is_dir()
    monkeypatch.setitem(encoder.WEIGHTS, "model.safetensors", "0" * 64)
    with pytest.raises(WrongWeights, match=r"model\.safetensors .* make setup"):
        check_weights()
    monkeypatch.setattr(encoder, "WEIGHTS", {"none.bin": "0" * 64})
    with pytest.raises(WrongWeights, match="is missing"):
        check_weights()
    monkeypatch.setattr(encoder, "PACKAGE", "no_such_package")
    with pytest.raises(WrongWeights, match="not installed"):
        check_weights()


def test_the_pinned_weights_are_those_of_the_hub():
    assert encoder.WEIGHTS["model.safetensors"].startswith("53aa51172d142c89d9012cce15ae4d6c")


def test_each_wordpiece_has_a_span_and_a_vector_in_each_layer():
    text = "Otters swam."
    found = load_encoder(LAYERS).encode(text)
    assert [text[start:end] for start, end in found.spans] == ["Otter", "s", "swam", "."]
    assert found.layers.shape == (3, 4, 384)
    assert len(found) == len(found.ids) == 4


def test_the_vectors_are_those_of_the_model_as_published():
    """The mean of the last layer, at unit length, tells sentences of one meaning from others."""

    def whole(text: str) -> numpy.ndarray:
        mean = load_encoder(LAYERS).encode(text).layers[-1].mean(0)
        return mean / numpy.linalg.norm(mean)

    first, same, other = map(whole, ("A man is eating food.", "A man eats something.", "The stock market fell."))
    assert first @ same > 0.75
    assert first @ other < 0.35


def test_an_empty_text_has_no_vectors():
    assert len(load_encoder(LAYERS).encode("")) == len(load_encoder(LAYERS).encode(" \n ")) == 0


@pytest.mark.parametrize("count", [1, 254, 255, 300, 381, 382, 1000, 5000])
def test_windows_cover_every_piece_once_with_something_around_it(count):
    found = windows(count)
    kept = [piece for _, _, first, last in found for piece in range(first, last)]
    assert kept == list(range(count))
    for start, end, first, last in found:
        assert end - start <= WINDOW
        assert start <= first < last <= end
        assert first - start >= 60 or start == 0
        assert end - last >= 60 or end == count


def test_a_long_text_is_read_whole_and_near_to_what_its_parts_say():
    sentences = [f"Team number {number} won the race in Oslo on Friday." for number in range(60)]
    found = load_encoder(LAYERS).encode(" ".join(sentences))
    assert len(found) > 2 * WINDOW
    assert found.spans[-1][1] == len(" ".join(sentences))
    assert numpy.isfinite(found.layers).all()
    assert numpy.abs(found.layers).sum(-1).min() > 0


def test_the_same_text_has_the_same_vectors_whoever_came_before():
    text = "Nora Fisk won the race in Oslo."
    first = load_encoder(LAYERS).encode(text).layers
    load_encoder(LAYERS).encode("Something else, and much longer than that. " * 9)
    assert numpy.array_equal(first, load_encoder(LAYERS).encode(text).layers)
