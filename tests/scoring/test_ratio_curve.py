"""The quality curve: mixing level by level, orders, intervals, and the command."""

from __future__ import annotations

import json
import random
from io import StringIO
from statistics import fmean

import pytest
from django.core.management import CommandError, call_command

from annotation import models
from annotation.planning.curves import differs_from_random, read_point
from annotation.services.curves import shipped_curves
from scoring.curve_corpus import data_digest, read_project
from scoring.presence.corpora import read_corpus
from scoring.ratio_curve import CurveSentence, measure_levels
from tests.factories import LabelFactory, ProjectFactory
from tests.planning import plannable

SYSTEMS = 6


def corpus(examples: int = 30, *, noise: float) -> tuple[list[list[float]], list[CurveSentence]]:
    """SCUs that say what people say; STUs that say it the worse, the harder the sentence is."""
    chance = random.Random(1)
    sentences, human = [], []
    for example in range(examples):
        truth = [[float(chance.random() < (system + 2) / 9) for system in range(SYSTEMS)] for _ in range(4)]
        human.append([sum(own[system] for own in truth) / 4 for system in range(SYSTEMS)])
        for own in truth:
            easiness = chance.random()
            stus = [value if chance.random() < easiness or not noise else chance.random() for value in own]
            sentences.append(CurveSentence(example, easiness, stus, 1, own, 1))
    return human, sentences


def test_without_stus_the_scores_are_peoples_and_orders_agree_at_both_ends():
    human, sentences = corpus(noise=1.0)
    levels = list(measure_levels(human, sentences))
    assert [level["percent"] for level in levels] == list(range(0, 101, 10))
    for measure in ("summary", "system"):
        assert levels[0][measure]["easiest"] == {"value": 1.0, "low": 1.0, "high": 1.0}
        for end in (levels[0], levels[-1]):
            values = {end[measure][order]["value"] for order in ("easiest", "random", "hardest")}
            assert len(values) == 1
            assert end[measure]["difference"]["value"] == 0


def test_easiest_first_is_better_than_random_and_random_than_hardest_first():
    human, sentences = corpus(noise=1.0)
    half = list(measure_levels(human, sentences))[5]["summary"]
    assert half["easiest"]["value"] > half["random"]["value"] > half["hardest"]["value"]
    assert half["difference"]["low"] > 0
    assert half["easiest"]["low"] < half["easiest"]["value"] < half["easiest"]["high"]


def test_where_stus_are_as_good_no_difference_is_found():
    human, sentences = corpus(noise=0.0)
    content = {"levels": list(measure_levels(human, sentences))}
    assert not any(differs_from_random(content, share, "summary") for share in range(0, 1001, 100))


def test_an_example_that_lost_all_units_gets_its_stus():
    hard = CurveSentence(0, 0.1, [1.0, 0.0], 1, [0.0, 0.0], 0)  # nobody wrote an SCU for it
    other = CurveSentence(1, 0.9, [1.0, 0.0], 1, [0.0, 1.0], 1)
    levels = list(measure_levels([[0.2, 0.1], [0.0, 1.0]], [hard, other]))
    assert [level["replaced"] for level in levels] == [1] * 10 + [0]


def test_a_curve_is_read_between_its_levels():
    content = shipped_curves()["REALSumm"]
    low, high = (content["levels"][place]["summary"]["easiest"]["value"] for place in (3, 4))
    assert read_point(content, 300, "summary").value == pytest.approx(low)
    assert read_point(content, 350, "summary").value == pytest.approx((low + high) / 2)
    assert read_point(content, 0, "system").value == pytest.approx(content["levels"][0]["system"]["easiest"]["value"])
    assert read_point(content, 1000, "system").value == pytest.approx(
        content["levels"][10]["system"]["easiest"]["value"]
    )


@pytest.mark.parametrize(("name", "examples", "sigma"), [("REALSumm", 100, 0.2564), ("PyrXSum", 100, 0.2509)])
def test_the_shipped_curves_say_what_they_were_measured_on(name, examples, sigma):
    content = shipped_curves()[name]
    assert (content["corpus"], content["examples"]) == (name, examples)
    assert content["human"]["sigma"] == pytest.approx(sigma, abs=1e-4)
    assert content["signature"].startswith(f"curve {name}|units:embedded-")
    assert content["signature"].endswith("|v1")


@pytest.mark.parametrize("name", ["REALSumm", "PyrXSum"])
def test_the_means_of_the_shipped_curves_are_those_of_the_published_labels(data, name):
    """Means over documents of the share of SCUs that people found, systems by name; rounded to four digits."""
    human = read_corpus(data / "lite2-3pyramid" / name).human
    assert shipped_curves()[name]["human"]["means"] == [round(fmean(own), 4) for own in zip(*human, strict=True)]


@pytest.mark.django_db
def test_a_project_that_is_too_small_is_told():
    ProjectFactory(name="Small")
    with pytest.raises(CommandError, match="at least 10 examples and 3 systems"):
        call_command("measure_ratio_curve", "Small")
    with pytest.raises(CommandError, match="There is no project"):
        call_command("measure_ratio_curve", "Nowhere")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("measure_ratio_curve", "Small", "--out", "/nowhere/at/all.json")


def labelled(slug: str) -> models.Project:
    """A project whose summaries hold some SCUs, with the labels that say so."""
    project = plannable(examples=10, sentences=2, systems=3, scus=True, slug=slug)
    chance = random.Random(0)
    for summary in models.Summary.objects.filter(example__project=project).order_by("pk"):
        scus = list(summary.example.units.filter(kind="scu").order_by("position"))
        kept = [unit for unit in scus if chance.random() < 0.6]
        models.Summary.objects.filter(pk=summary.pk).update(text=" ".join(unit.text for unit in kept) or "Nothing.")
        for unit in scus:
            LabelFactory(unit=unit, summary=summary, present=unit in kept)
    return project


@pytest.mark.django_db
def test_a_curve_names_its_data_by_their_content():
    project, twin = labelled("pilot"), labelled("twin")

    def digest(project: models.Project) -> str:
        return data_digest(read_project(project, rule="imported"))

    first = digest(project)
    assert digest(twin) == first  # whatever the ids are
    label = models.Label.objects.filter(unit__example__project=project).first()
    models.Label.objects.filter(pk=label.pk).update(present=not label.present)
    second = digest(project)
    models.Summary.objects.filter(pk=label.summary_id).update(text="Another text.")
    third = digest(project)
    models.Unit.objects.filter(example__project=project, kind="stu", key="stu0").update(text="Another unit.")
    assert len({first, second, third, digest(project)}) == 4


@pytest.mark.django_db
def test_the_command_measures_and_keeps_a_curve(tmp_path):
    project = labelled("pilot")
    out = StringIO()
    file = tmp_path / "curve.json"
    call_command("measure_ratio_curve", "pilot", "--out", str(file), "--json", stdout=out, stderr=StringIO())
    content = json.loads(out.getvalue().splitlines()[-1])
    assert content == json.loads(file.read_text())
    curve = models.RatioCurve.objects.get()
    assert (curve.project, curve.content["examples"], curve.content["sentences"]) == (project, 10, 20)
    assert curve.signature == content["signature"]
    digest = data_digest(read_project(project, rule="imported"))
    assert content["signature"].startswith(f"curve Project pilot|data:{digest}|labels:imported|units:embedded-")
    assert len(content["human"]["means"]) == 3
    assert len(content["levels"]) == 11
