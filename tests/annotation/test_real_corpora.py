"""The published corpora: counts, human scores and byte-identical export. Data: PYRAMID_DATA."""

from __future__ import annotations

import json

import pytest

from annotation import models
from annotation.services.drafts import change_draft
from annotation.services.exporting import export_corpus
from annotation.services.freezing import freeze_plan
from annotation.services.importing import import_corpus
from annotation.services.loading import iterate_examples, load_folds
from annotation.services.plans import plan_lines
from scoring.services.human import human_scores
from tests.conftest import NOW
from tests.factories import RankingFactory

pytestmark = [pytest.mark.django_db, pytest.mark.data]

COUNTS = {
    "REALSumm": {"examples": 100, "references": 100, "sentences": 368, "systems": 25, "summaries": 2500, "scus": 1056,
                 "stus": 976, "labels": 26400},
    "PyrXSum": {"examples": 100, "references": 100, "sentences": 100, "systems": 10, "summaries": 1000, "scus": 478,
                "stus": 281, "labels": 4780},
}  # fmt: skip
# Mean over examples of the mean label: Zhang and Bansal 2021, README (BART, T5) and Table 3 (two decimals).
HUMAN = {
    "REALSumm": {"abs_bart_out": (0.48349483849483854, 1e-9), "ext_bart_out": (0.5368, 5e-5)},
    "PyrXSum": {
        "t5-large": (0.29117532467532464, 1e-9),
        "google-pegasus": (0.31, 5e-3),
        "TransformerAbs": (0.07, 5e-3),
    },
}


@pytest.fixture(params=sorted(COUNTS))
def name(request):
    return request.param


def test_counts_scores_and_round_trips(data, name, tmp_path):
    source = data / "lite2-3pyramid" / name
    report = import_corpus(source, corpus_format="lite2-3pyramid", project_name=name, now=NOW)
    assert {key: report.counts.as_dict()[key] for key in COUNTS[name]} == COUNTS[name]
    project = models.Project.objects.get()

    scores = human_scores(project)
    assert len(scores) == COUNTS[name]["systems"]
    for system, (expected, tolerance) in HUMAN[name].items():
        assert scores[system] == pytest.approx(expected, abs=tolerance)
    golden = data.parent / "reference" / "golden.json"
    if golden.exists():
        published = json.loads(golden.read_text())["A"][name]["gold_pyramid_macro"]
        assert scores == pytest.approx(published, abs=1e-9)

    export_corpus(project, tmp_path / "own", corpus_format="lite2-3pyramid", now=NOW)
    published_files = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}
    written = {path.relative_to(tmp_path / "own") for path in (tmp_path / "own").rglob("*") if path.is_file()}
    assert {str(path) for path in written - published_files} == {"manifest.json"}
    assert published_files <= written
    for path in published_files:
        assert (tmp_path / "own" / path).read_bytes() == (source / path).read_bytes(), path

    for corpus_format in ("jsonl", "csv"):
        export_corpus(project, tmp_path / corpus_format, corpus_format=corpus_format, now=NOW)
        import_corpus(tmp_path / corpus_format, corpus_format=corpus_format, project_name=corpus_format, now=NOW)
        again = models.Project.objects.get(name=corpus_format)
        pairs = zip(iterate_examples(project), iterate_examples(again), strict=True)
        assert all(ours.record == theirs.record for ours, theirs in pairs)
        assert load_folds(again) == load_folds(project)


# References that get STUs in PyrXSum's published half, counted from 0 (the list that its file shows).
PUBLISHED_STUS = {
    0, 3, 4, 12, 13, 15, 18, 19, 20, 23, 24, 29, 31, 34, 35, 36, 37, 39, 40, 43, 45, 46, 49, 51, 52, 53, 55, 59, 60, 64,
    66, 67, 68, 69, 70, 73, 74, 77, 78, 79, 81, 83, 87, 89, 90, 91, 96, 98, 99,
}  # fmt: skip


def test_the_rule_of_the_seed_writes_the_published_half_of_pyrxsum(data):
    folder = data / "lite2-3pyramid" / "PyrXSum"
    import_corpus(folder, corpus_format="lite2-3pyramid", project_name="PyrXSum", now=NOW)
    project = models.Project.objects.get(name="PyrXSum")
    for number, sentence in enumerate(models.Sentence.objects.order_by("reference__example__position")):
        easiness = (0.9 if number in PUBLISHED_STUS else 0.4) - number / 1000
        RankingFactory(sentence=sentence, easiness=easiness)
    change_draft(project, share=500, rule="seed", now=NOW)
    lines = list(plan_lines(freeze_plan(project, after=0, now=NOW)))
    published = (folder / "STUs_SCUs_percentage50.txt").read_text(encoding="utf-8").splitlines()
    assert ["\t".join(line) for line in lines] == published
    assert sum(map(len, lines)) == 395
