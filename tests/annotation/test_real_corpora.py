"""The published corpora: counts, human scores and byte-identical export. Data: PYRAMID_DATA."""

from __future__ import annotations

import json

import pytest

from annotation import models
from annotation.services.exporting import export_corpus
from annotation.services.importing import import_corpus
from annotation.services.loading import iterate_examples, load_folds
from scoring.services import human_scores
from tests.conftest import NOW

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
