"""NLI models as judges, on a real model that is tiny and random."""

from __future__ import annotations

import json

import pytest

from annotation.judge_names import short_judge
from scoring.entailment import read_logits
from scoring.judges import open_judge
from scoring.judges.nli import MAX_TOKENS, NliJudge, batches_by_tokens
from scoring.judging import Pair, UnknownJudge, signature_of
from tests.scoring.judges import write_tiny_nli

TEXTS = [
    "The mill closed.",
    "Forty people lost work in the city.",
    "It snowed.",
    "A boat on the river, a fire at night.",
]
PAIRS = [Pair(summary, unit) for summary in TEXTS for unit in TEXTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_nli(tmp_path_factory.mktemp("nli") / "tiny")


@pytest.fixture(scope="module")
def judge(folder):
    return NliJudge(str(folder))


def plain_logits(folder, pair: Pair) -> list[float]:
    """One pair the slow way: the tokenizer's own pair encoding, padded to the limit."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    inputs = tokenizer(
        pair.summary, pair.unit, max_length=MAX_TOKENS, padding="max_length", truncation=True, return_tensors="pt"
    )
    with torch.no_grad():
        return model(**inputs).logits[0].tolist()


def test_verdicts_are_those_of_the_plain_loop(folder, judge):
    for pair, verdict in zip(PAIRS, judge.judge(PAIRS), strict=True):
        expected = read_logits(plain_logits(folder, pair), judge.labels)
        assert verdict.p3c == pytest.approx(expected.p3c, abs=1e-5)
        assert verdict.p2c == pytest.approx(expected.p2c, abs=1e-5)
        assert (verdict.l3c, verdict.l2c) == (expected.l3c, expected.l2c)


def test_the_entailment_index_comes_from_the_label_map(judge):
    assert (judge.labels.entailment, judge.labels.neutral, judge.labels.contradiction) == (1, 2, 0)


def test_a_verdict_depends_on_its_pair_alone(judge):
    alone = [judge.judge([pair])[0] for pair in PAIRS]
    together = judge.judge(PAIRS[::-1])[::-1]
    for one, other in zip(alone, together, strict=True):
        assert one.p == pytest.approx(other.p, abs=2e-6)
    assert len({verdict.p for verdict in alone}) > 10  # and they do differ


def test_equal_pairs_are_judged_once(judge, monkeypatch):
    seen = []
    plain = judge._logits
    monkeypatch.setattr(judge, "_logits", lambda batch: seen.extend(batch) or plain(batch))
    verdicts = judge.judge([PAIRS[0]] * 5)
    assert len(seen) == 1
    assert verdicts == [verdicts[0]] * 5


def test_long_texts_are_cut_as_published_and_said_to_be(folder, judge):
    long = Pair("the mill closed . " * 300, "forty people lost work")
    verdict = judge.judge([long, PAIRS[0]])
    assert [item.was_truncated for item in verdict] == [True, False]
    assert verdict[0].p3c == pytest.approx(read_logits(plain_logits(folder, long), judge.labels).p3c, abs=1e-5)
    assert verdict[0].as_dict()["truncated"] is True
    both = Pair("the mill closed . " * 300, "forty people lost work . " * 300)
    expected = read_logits(plain_logits(folder, both), judge.labels)
    assert judge.judge([both])[0].p3c == pytest.approx(expected.p3c, abs=1e-5)


def test_batches_hold_at_most_so_many_tokens_and_everything_once(judge):
    inputs = judge._inputs(PAIRS)
    batches = list(batches_by_tokens(inputs, 60))
    assert sorted(id(item) for batch in batches for item in batch) == sorted(id(item) for item in inputs)
    for batch in batches:
        assert len(batch) == 1 or max(len(item[1].ids) for item in batch) * len(batch) <= 60
    widths = [max(len(item[1].ids) for item in batch) for batch in batches]
    assert widths == sorted(widths, reverse=True)


def test_the_revision_is_that_of_the_files(folder, judge, tmp_path):
    same = write_tiny_nli(tmp_path / "same")
    assert NliJudge(str(same)).revision == judge.revision
    config = json.loads((same / "config.json").read_text())
    config["layer_norm_eps"] = 1e-6
    (same / "config.json").write_text(json.dumps(config))
    assert NliJudge(str(same)).revision != judge.revision
    other = write_tiny_nli(tmp_path / "other")
    settings = json.loads((other / "tokenizer_config.json").read_text())
    (other / "tokenizer_config.json").write_text(json.dumps({**settings, "do_lower_case": False}))
    assert NliJudge(str(other)).revision != judge.revision
    assert signature_of(judge) == f"{folder}@{judge.revision}"


def test_a_model_whose_map_is_unclear_is_refused_until_somebody_tells(tmp_path):
    folder = write_tiny_nli(tmp_path / "unclear", labels=("LABEL_0", "LABEL_1", "LABEL_2"))
    with pytest.raises(UnknownJudge, match="does not tell which of its outputs"):
        NliJudge(str(folder))
    told = NliJudge(f"{folder}#neutral.entailment.contradiction")
    assert told.labels.entailment == 1
    assert short_judge(f"human+{told.name}") == "human+unclear#neutral.entailment.contradiction"
    with pytest.raises(UnknownJudge, match="names 2 labels"):
        NliJudge(f"{folder}#entailment.not_entailment")


def test_a_model_with_two_outputs(tmp_path):
    folder = write_tiny_nli(tmp_path / "two", labels=("not_entailment", "entailment"))
    (verdict,) = NliJudge(str(folder)).judge(PAIRS[:1])
    assert verdict.p3c is None
    assert verdict.p == verdict.p2c
    assert NliJudge(str(folder)).readings == ("p", "p2c", "l2c")


def test_what_cannot_be_loaded_says_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("nobody/no-such-model", str(tmp_path / "nothing"), str(tmp_path)):
        with pytest.raises(UnknownJudge, match=r"cannot be loaded .*Name a folder with config.json"):
            open_judge(name)
    with pytest.raises(UnknownJudge, match="Name a judge"):
        open_judge("")


def test_an_empty_summary_is_not_asked_about(judge):
    (verdict,) = judge.judge([Pair(" ", "Snow fell.")])
    assert (verdict.p, verdict.p3c, verdict.l3c, verdict.p2c, verdict.l2c) == (0, 0, 0, 0, 0)
    assert judge.readings == ("p", "p3c", "l3c", "p2c", "l2c")


def test_broken_and_untrained_weights_are_refused(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = write_tiny_nli(tmp_path / "broken")
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UnknownJudge, match="cannot be loaded"):
        NliJudge(str(folder))
    weights.write_bytes(whole)
    kept = {name: tensor for name, tensor in load_file(weights).items() if not name.startswith("classifier")}
    save_file(kept, weights, metadata={"format": "pt"})
    with pytest.raises(UnknownJudge, match=r"was not trained for NLI: it lacks classifier\.bias"):
        NliJudge(str(folder))


def test_weights_as_a_pickle_are_refused(tmp_path):
    import torch
    from safetensors.torch import load_file

    folder = write_tiny_nli(tmp_path / "pickle")
    weights = folder / "model.safetensors"
    torch.save(load_file(weights), folder / "pytorch_model.bin")
    weights.unlink()
    with pytest.raises(UnknownJudge, match="cannot be loaded"):
        NliJudge(str(folder))
