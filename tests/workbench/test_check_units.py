"""manage.py check_units: how often checks fire on units that people wrote."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.services.importing import import_corpus
from tests.conftest import NOW
from tests.factories import ProjectFactory, UnitFactory
from tests.planning import plannable

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[str, dict]:
    out = io.StringIO()
    call_command("check_units", *arguments, "--json", stdout=out)
    return out.getvalue(), json.loads(out.getvalue().splitlines()[-1])


def test_every_check_is_counted_and_its_units_are_listed():
    project = plannable(examples=1, sentences=1)
    sentence = project.examples.get().references.get().sentences.get()
    for text in ("The mill number 0 shut", "the mill number 0 shut.", "No", "It shut and then burnt"):
        UnitFactory(
            example=sentence.reference.example, kind="scu", reference=sentence.reference, sentence=sentence, text=text
        )
    text, told = run("plan", "--list", "and")
    assert told["units"] == 4
    assert {name: share for name, share in told["percent"].items() if share} == {
        "short": 25.0, "duplicate": 50.0, "and": 25.0, "pronoun": 25.0, "foreign": 25.0, "any": 100.0,
    }  # fmt: skip
    assert "It shut and then burnt" in text


def test_checks_of_models_are_counted_where_they_are_asked_for():
    project = plannable(examples=1, sentences=1)
    sentence = project.examples.get().references.get().sentences.get()
    for text in ("Zebras won the election in Peru.", "the old grey mill"):
        UnitFactory(
            example=sentence.reference.example, kind="scu", reference=sentence.reference, sentence=sentence, text=text
        )
    text, told = run("plan", "--models", "--list", "verb")
    assert told["percent"]["verb"] == 50.0
    assert told["percent"]["follows"] >= 50.0
    assert "the old grey mill" in text
    assert "verb" not in run("plan")[1]["percent"]


def test_without_units_or_project_it_says_so():
    ProjectFactory(slug="empty")
    with pytest.raises(CommandError, match="no SCUs"):
        run("empty")
    with pytest.raises(CommandError, match="no project"):
        run("nothing")


# Measured on the same SCUs by others, in percent; they counted words a little differently.
RATES = {
    "REALSumm": {"short": 0.1, "long": 1.4, "and": 3.1, "pronoun": 0.9, "near": 2.4, "foreign": 0.5},
    "PyrXSum": {"short": 0.0, "long": 0.4, "and": 1.9, "pronoun": 6.5, "near": 1.7, "foreign": 3.3},
}


@pytest.mark.parametrize("name", RATES)
def test_the_rates_on_human_units_are_the_known_ones(data: Path, name):
    folder = data / "lite2-3pyramid" / name
    import_corpus(folder, corpus_format="lite2-3pyramid", project_name=name, now=NOW)
    told = run(name.lower())[1]["percent"]
    assert {check: told[check] for check in RATES[name]} == pytest.approx(RATES[name], abs=0.25)
