"""manage.py train_judge: a head from a project's own labels."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command

from annotation import models
from scoring.judges.embedded import load_embedded_judge
from scoring.judging import Pair
from scoring.training import labelled_pairs
from tests.conftest import NOW
from tests.factories import ExampleFactory, LabelFactory, ProjectFactory, SummaryFactory, SystemFactory, UnitFactory

pytestmark = pytest.mark.django_db

FACTS = [
    ("Nora Fisk won the race.", "Fisk won the race in Oslo"),
    ("The mill closed on Friday.", "The old mill was closed on Friday"),
    ("Two otters swam in the river.", "A pair of otters swam in the river"),
    ("The mayor opened a bridge.", "A bridge was opened by the mayor"),
    ("Engineers found cracks.", "Cracks were found by engineers"),
    ("The firm made a loss.", "The company lost money"),
]


@pytest.fixture
def project():
    """Eight examples, six systems, six units each; a system tells some of the facts."""
    project = ProjectFactory(name="P")
    systems = [SystemFactory(project=project, name=f"s{number}") for number in range(6)]
    for number in range(8):
        example = ExampleFactory(project=project, position=number + 1)
        units = [UnitFactory(example=example, position=place + 1, text=text) for place, (text, _) in enumerate(FACTS)]
        for system_number, system in enumerate(systems):
            told = [(number + system_number + place) % 3 != 0 and place <= system_number for place in range(6)]
            text = ". ".join(words for (_, words), is_told in zip(FACTS, told, strict=True) if is_told)
            summary = SummaryFactory(example=example, system=system, text=f"{text or 'Nothing happened'}.")
            for unit, is_told in zip(units, told, strict=True):
                LabelFactory(unit=unit, summary=summary, rule="imported", present=is_told)
    return project


def test_a_head_is_trained_on_a_project(project, tmp_path, capsys):
    call_command("train_judge", "P", str(tmp_path / "h.json"))
    told = capsys.readouterr().out
    assert "288 labelled pairs in 8 examples of P" in told
    assert "PYRAMID_JUDGE_HEAD" in told
    judge = load_embedded_judge(tmp_path / "h.json")
    assert (judge.head.trained_on, len(judge.head.seen)) == ("P", 6)
    assert judge.has_seen("nora fisk won the race")
    here, gone = judge.judge(
        [Pair(f"{FACTS[1][1]}. {FACTS[2][1]}.", FACTS[1][0]), Pair("Nothing happened.", FACTS[1][0])]
    )
    assert here.p > gone.p + 0.3
    accuracy = float(told.split("accuracy")[1].split()[0])
    assert accuracy > 0.8


def test_too_few_labels_and_wrong_names_are_told(project, tmp_path):
    target = str(tmp_path / "h.json")
    with pytest.raises(CommandError, match="no project"):
        call_command("train_judge", "Q", target)
    with pytest.raises(CommandError, match="is no file"):
        call_command("train_judge", "P", str(tmp_path))
    with pytest.raises(CommandError, match=r"0 labels .* by the rule 'majority'.*'imported' \(288\).*--rule"):
        call_command("train_judge", "P", target, rule="majority")
    models.Unit.objects.filter(position__gt=1).update(trashed_at=NOW)
    with pytest.raises(CommandError, match="48 labels"):
        call_command("train_judge", "P", target)
    assert not list(tmp_path.iterdir())


def test_labels_that_all_say_the_same_teach_nothing(project, tmp_path):
    models.Label.objects.update(present=True)
    with pytest.raises(CommandError, match="say the same"):
        call_command("train_judge", "P", str(tmp_path / "h.json"))


def test_only_labels_in_use_are_read_example_by_example(project):
    found = list(labelled_pairs(project, "imported"))
    assert len(found) == 288
    examples = [own.example for own in found]
    assert [examples.index(key) for key in dict.fromkeys(examples)] == list(range(0, 288, 36))
    models.System.objects.filter(name="s0").update(trashed_at=NOW)
    models.Example.objects.filter(position=1).update(trashed_at=NOW)
    found = list(labelled_pairs(project, "imported"))
    assert len(found) == 7 * 5 * 6
