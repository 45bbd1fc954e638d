"""The embedded judge as people use it, and the head that ships with it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy
import pytest

from annotation.spacy_parser import load_parser
from scoring.judges.embedded import EmbeddedJudge, load_embedded_judge
from scoring.judging import Judge, Pair, Verdict, signature_of
from scoring.presence.corpora import read_corpus, read_shares
from scoring.presence.features import NAMES
from scoring.presence.head import SHIPPED, load_head, train_head
from scoring.presence.measuring_pairs import measure_chunk, measure_pairs

DEMO = Path(__file__).parents[2] / "annotation" / "demo" / "corpus.jsonl"
PROBE = json.loads((SHIPPED.parent / "probe.json").read_text())


def demo_pairs() -> list[Pair]:
    pairs = []
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        example = json.loads(line)
        texts = [summary if isinstance(summary, str) else summary["text"] for summary in example["summaries"].values()]
        pairs += [Pair(text, unit["text"]) for text, unit in product(texts, example["units"])]
    return pairs


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return load_embedded_judge()


def test_it_keeps_the_promise_of_a_judge(judge):
    keeps: Judge = judge
    assert keeps.name == "embedded"
    assert len(judge.revision) == 12
    assert signature_of(judge) == f"embedded@{judge.revision}"
    assert load_embedded_judge() is judge


def test_it_tells_what_is_there_from_what_is_not(judge):
    summary = "Nora Fisk, 34, won the race in Oslo on Friday. She beat 120 others."
    told, reworded, not_told, other = judge.judge(
        [
            Pair(summary, "Nora Fisk won the race."),
            Pair(summary, "Fisk was victorious in Oslo."),
            Pair(summary, "The paper mill in Cressbourne was shut down."),
            Pair(summary, "Nora Fisk lives in Denmark with two dogs."),
        ]
    )
    assert told.p > 0.8
    assert reworded.p > not_told.p
    assert not_told.p < 0.1
    assert other.p < 0.5
    assert told.as_dict() == {"p": told.p}


@pytest.mark.parametrize("empty", ["", " \n ", "...", "🙂"])
def test_a_side_without_words_says_nothing(judge, empty):
    assert judge.judge([Pair(empty, "Snow fell."), Pair("Snow fell.", empty)]) == [Verdict(0.0), Verdict(0.0)]


def test_no_pairs_no_verdicts(judge):
    assert judge.judge([]) == []


def test_a_fact_at_the_end_of_a_long_summary_is_found(judge):
    filler = "The committee met again and talked about roads, schools and taxes. " * 60
    found, missing = judge.judge(
        [
            Pair(f"{filler}Nora Fisk won the race in Oslo.", "Nora Fisk won the race."),
            Pair(filler, "Nora Fisk won the race."),
        ]
    )
    assert found.p > 0.6 > missing.p
    assert not found.was_truncated


def test_a_judgement_depends_on_its_own_texts_alone(judge):
    """Hundreds of pairs together, in another order, by chunks of their own, and some alone: the same to the last digit."""
    pairs = demo_pairs()
    assert len(pairs) >= 300
    together = judge.judge(pairs)
    assert judge.judge(pairs[::-1]) == together[::-1]
    assert judge.judge([*pairs[:5], *pairs[:5]]) == [*together[:5], *together[:5]]
    for place in range(0, len(pairs), 29):
        assert judge.judge([pairs[place]]) == [together[place]]
    rows = measure_pairs(pairs, load_parser())
    for place in range(0, len(pairs), 41):
        _, alone = measure_chunk(load_parser(), [(0, pairs[place])])
        assert numpy.array_equal(alone[0], rows[place], equal_nan=True)


def test_another_head_makes_another_revision(judge, tmp_path):
    rows = numpy.random.default_rng(0).random((80, len(NAMES))).round(3)
    other = train_head(rows, (rows[:, 0] > 0.5).astype(int), [f"e{n // 8}" for n in range(80)])
    other.write_to(tmp_path / "h.json")
    changed = load_embedded_judge(tmp_path / "h.json")
    assert changed.revision != judge.revision
    assert load_embedded_judge(tmp_path / "h.json") is changed


# --- what ships ----------------------------------------------------------------------------------------------------


def test_the_shipped_head_predicts_as_when_it_was_trained():
    head = load_head()
    assert head.trained_on == "REALSumm"
    assert head.signature.endswith("n=26400")
    rows = numpy.array([[numpy.nan if value is None else value for value in one["features"]] for one in PROBE])
    found = head.predict(rows)
    assert found == pytest.approx([one["p"] for one in PROBE], abs=0.01)
    assert min(found) < 0.1
    assert max(found) > 0.9
    assert SHIPPED.stat().st_size < 1_500_000


def test_the_whole_judge_answers_as_when_its_head_was_trained(judge):
    found = judge.judge([Pair(one["summary"], one["unit"]) for one in PROBE])
    assert [verdict.p for verdict in found] == pytest.approx([one["p"] for one in PROBE], abs=0.01)


def test_the_head_knows_the_units_it_has_seen_by_digest_only(judge):
    assert len(judge.head.seen) > 1000
    assert all(len(digest) == 16 for digest in judge.head.seen)
    assert not judge.has_seen("Nora Fisk won the race.")


@pytest.mark.data
@pytest.mark.timeout(1200)
def test_the_shipped_head_can_be_trained_again(data):
    corpus = read_corpus(data / "lite2-3pyramid/REALSumm")
    pairs = corpus.pairs(corpus.scus)
    groups = [corpus.ids[place] for place in corpus.documents_of(corpus.scus)]
    shares = read_shares(data / "realsumm-amt", corpus)
    rows = measure_pairs(pairs, load_parser())
    again = train_head(rows, corpus.flat_labels, groups, shares=shares, pairs=pairs)
    shipped = load_head()
    assert (again.signature, again.seen) == (shipped.signature, shipped.seen)
    assert shipped.has_seen(corpus.scus[0][0])
    rows = numpy.array([[numpy.nan if value is None else value for value in one["features"]] for one in PROBE])
    assert again.predict(rows) == pytest.approx([one["p"] for one in PROBE], abs=0.01)
