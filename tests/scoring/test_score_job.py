"""Score runs: what is judged, what is not judged again, what comes out."""

from __future__ import annotations

import pytest

from annotation import models
from scoring.judging import Pair, UnknownJudge
from scoring.models import JudgeVersion, Presence, SummaryScore
from scoring.options import BadOptions, checked_options
from scoring.services import score_job
from scoring.services.human import human_scores
from tests.conftest import NOW
from tests.factories import ContributorFactory, RankingFactory, ReferenceFactory, SystemFactory, UnitFactory
from tests.scoring.judges import share_of_words
from tests.scoring.runs import score, table, values

pytestmark = pytest.mark.django_db(transaction=True)


def test_lite2_is_the_mean_over_examples_of_what_the_judge_found(project, judge):
    run = score(project, metric="lite2")
    summaries = ["The mill shut .", "Brandt won.", "It snowed."]
    units = [["The mill closed.", "Forty people lost work."], ["Ines Brandt won the race."], ["Snow fell."]]
    expected = [
        sum(share_of_words(Pair(summary, unit)) for unit in own) / len(own)
        for summary, own in zip(summaries, units, strict=True)
    ]
    assert values(run)["alpha"] == pytest.approx(sum(expected) / 3)
    assert run.counts["pairs"] == 8
    assert run.counts["new_pairs"] == 7  # nobody is asked about an empty summary
    assert run.counts["seen_units"] == 1
    assert "judge:words@1 p" in run.signature
    assert run.signature.startswith("lite2|units:")


def test_an_empty_summary_has_no_unit_whoever_judges(project, judge):
    run = score(project)
    empty = SummaryScore.objects.get(run=run, summary__text="")
    assert (empty.value, empty.normalised) == (0, 0)
    assert all(pair.summary for pair in judge.asked)


def test_an_empty_summary_needs_no_label(project, judge):
    models.Label.objects.filter(summary__text="")._raw_delete("default")
    run = score(project, judge="human")
    assert table(run)["beta"].examples == 3
    assert table(score(project, judge="human+words"))["beta"].place is not None


def test_lite3_is_over_stus_and_an_example_without_any_is_left_out(project, judge):
    run = score(project, metric="lite3")
    assert (run.counts["examples"], run.counts["left_out"], run.counts["units"]) == (2, 1, 3)
    assert table(run)["alpha"].examples == 2


def test_human_scores_are_those_of_the_labels(project, judge):
    run = score(project, judge="human")
    assert values(run) == human_scores(project)
    assert judge.asked == []
    assert {row.by_people for row in table(run).values()} == {1.0}
    assert "judge:none|labels:imported,tie=absent" in run.signature


def test_a_second_run_judges_nothing_again_and_gives_the_same(project, judge):
    first = score(project)
    asked = len(judge.asked)
    again = score(project)
    assert len(judge.asked) == asked
    assert (again.counts["new_pairs"], Presence.objects.count()) == (0, 7)
    assert {name: row.signature for name, row in table(again).items()} == {
        name: row.signature for name, row in table(first).items()
    }
    assert again.signature == first.signature
    assert "|boot:none|" in first.signature  # three examples
    assert values(again) == values(first)


def test_adding_a_system_judges_its_pairs_alone_and_changes_no_other_score(project, judge):
    before = score(project)
    asked = len(judge.asked)
    system = SystemFactory(project=project, name="gamma")
    for example in project.examples.all():
        models.Summary.objects.create(example=example, system=system, text=f"The mill of {example.key} closed.")
    after = score(project)
    assert {pair.summary for pair in judge.asked[asked:]} == {f"The mill of a{n} closed." for n in (1, 2, 3)}
    assert len(judge.asked) - asked == 4
    assert {name: values(after)[name] for name in ("alpha", "beta")} == values(before)


def test_another_revision_of_the_judge_judges_anew(project, judge):
    score(project)
    judge.revision = "2"
    judge.asked.clear()
    assert score(project).counts["new_pairs"] == 7
    assert JudgeVersion.objects.count() == 2


def test_two_systems_that_wrote_the_same_are_judged_once(project, judge):
    twin = SystemFactory(project=project, name="twin")
    for summary in models.Summary.objects.filter(system__name="alpha"):
        models.Summary.objects.create(example=summary.example, system=twin, text=summary.text)
    run = score(project)
    assert len(judge.asked) == len(set(judge.asked)) == 7
    assert values(run)["twin"] == values(run)["alpha"]
    assert table(run)["twin"].place == table(run)["alpha"].place


def test_people_come_first_where_they_judged_and_the_judge_fills_the_rest(project, judge):
    unit = models.Unit.objects.get(text="Snow fell.", kind="scu")
    models.Label.objects.filter(unit=unit)._raw_delete("default")
    run = score(project, judge="human+words")
    rows = table(run)
    assert rows["alpha"].by_people == pytest.approx(3 / 4)
    assert rows["alpha"].place == 1
    assert {pair.unit for pair in judge.asked} == {"Snow fell."}
    assert "judge:words@1 p|labels:imported,tie=absent" in run.signature


def test_a_system_that_nobody_judged_stands_below_the_line_with_the_reason(project, judge):
    before = score(project, judge="human+words")
    system = SystemFactory(project=project, name="gamma")
    for example in project.examples.all():
        models.Summary.objects.create(example=example, system=system, text="The mill closed.")
    after = score(project, judge="human+words")
    row = table(after)["gamma"]
    assert (row.place, row.letters) == (None, "")
    assert row.reason == "the judge decided 4 of 4 units where people decided for the others"
    assert row.value is not None
    assert {name: values(after)[name] for name in ("alpha", "beta")} == values(before)
    only_people = table(score(project, judge="human"))["gamma"]
    assert (only_people.value, only_people.place) == (None, None)
    assert only_people.reason.startswith("not measured")


def test_lite25_mixes_by_easiness_and_says_so(project, judge):
    sentences = models.Sentence.objects.order_by("reference__example__position", "position")
    for sentence, easiness in zip(sentences, (0.9, 0.2, 0.8, 0.1), strict=True):
        RankingFactory(sentence=sentence, easiness=easiness)
    run = score(project, metric="lite2.5", systems=[models.System.objects.get(name="alpha").pk])
    units = SummaryScore.objects.filter(run=run).values_list("units", flat=True)
    used = models.Unit.objects.filter(pk__in=[row[0] for own in units for row in own])
    assert sorted(used.values_list("kind", "text")) == [
        ("scu", "Forty people lost work."),
        ("scu", "Snow fell."),
        ("stu", "Ines Brandt won the race in 3.4 hours"),
        ("stu", "The mill closed"),
    ]
    assert run.signature.startswith("lite2.5 order=easiest rule=exact|")


def test_lite25_loses_no_unit_that_names_no_place(project, judge):
    for sentence in models.Sentence.objects.all():
        RankingFactory(sentence=sentence, easiness=0.5)
    UnitFactory(example=models.Example.objects.get(key="a1"), kind="scu", key="loose", text="People lost work.")
    assert score(project, metric="lite2.000001").counts["units"] == score(project).counts["units"] == 5


def test_lite25_refuses_a_reference_that_was_not_split(project, judge):
    for sentence in models.Sentence.objects.all():
        RankingFactory(sentence=sentence, easiness=0.5)
    ReferenceFactory(example=models.Example.objects.get(key="a1"), key="2", position=2, text="Another one.")
    assert "Run Split and decompose first" in score(project, metric="lite2.5", ok=False).error


def test_lite25_without_a_ranking_says_what_to_do(project, judge):
    run = score(project, metric="lite2.5", ok=False)
    assert "Run Split and decompose first" in run.error
    assert run.counts["refused"] is True


def test_litepyramid_samples_the_same_units_for_all_systems(project, judge):
    run = score(project, metric="litepyramid-1", seed=3)
    by_example: dict[int, set[str]] = {}
    for row in SummaryScore.objects.filter(run=run).select_related("summary"):
        by_example.setdefault(row.summary.example_id, set()).add(str([unit[0] for unit in row.units]))
    assert all(len(chosen) == 1 for chosen in by_example.values())
    assert run.counts["units"] == 3
    assert "|seed:3|" in run.signature


def test_coverage_of_merged_units(project, judge):
    unit = models.Unit.objects.get(text="The mill closed.", kind="scu")
    reference = models.Reference.objects.get(example=unit.example)
    ContributorFactory(unit=unit, reference=reference)
    run = score(project, judge="human", metric="pyramid-coverage")
    assert values(run)["alpha"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert score(project, judge="human", metric="pyramid-quality", ok=False).error.startswith("Nothing could be scored")


def test_a_longer_summary_loses_by_length_in_the_other_variant(project, judge):
    run = score(project)
    row = SummaryScore.objects.get(run=run, summary__text="☐ snow")
    assert row.normalised == row.value
    longer = models.Summary.objects.get(text="The mill shut .")
    models.Summary.objects.filter(pk=longer.pk).update(text="The mill shut . " * 10)
    again = score(project)
    row = SummaryScore.objects.get(run=again, summary=longer)
    assert 0 < row.normalised < row.value
    assert "length:alpha=2" in table(again, "normalised")["alpha"].signature


def test_where_people_and_the_judge_differ_is_counted(project, judge):
    run = score(project)
    assert run.counts["compared"] == 8
    assert run.counts["differing"] == sum(SummaryScore.objects.values_list("differing", flat=True))
    row = SummaryScore.objects.get(run=run, summary__text="It snowed.")
    assert (row.units[0][2:], row.differing) == ([0.5, 0, 1], 0)


def test_the_trash_takes_no_part(project, judge):
    models.System.objects.filter(name="beta").update(trashed_at=NOW)
    models.Example.objects.filter(key="a2").update(trashed_at=NOW)
    models.Unit.objects.filter(text="Forty people lost work.").update(trashed_at=NOW)
    run = score(project)
    assert list(table(run)) == ["alpha"]
    assert (run.counts["examples"], run.counts["units"]) == (2, 2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"judge": ""}, "Name a judge"),
        ({"judge": "human+"}, "Name a judge"),
        ({"reading": "p9"}, "is no reading"),
        ({"judge": "human", "reading": "l3c"}, "give p only"),
        ({"judge": "human+embedded", "reading": "p3c"}, "give p only"),
        ({"judge": "human+human"}, "comes once"),
        ({"order": "best"}, "is no order"),
        ({"rule": "seed", "order": "random"}, "knows one order"),
        ({"seed": -1}, "must be a whole number"),
        ({"systems": []}, "at least one system"),
    ],
)
def test_options_that_cannot_be_are_refused(given, message):
    with pytest.raises(BadOptions, match=message):
        checked_options({"judge": "words", **given})


def test_a_judge_that_cannot_be_had_is_a_plain_message(project, monkeypatch):
    def refuse(name):
        raise UnknownJudge("The model words cannot be loaded. Name another.")

    monkeypatch.setattr(score_job, "open_judge", refuse)
    assert score(project, ok=False).error == "The model words cannot be loaded. Name another."


def test_a_reading_that_the_judge_does_not_give_is_refused_before_anything_is_judged(project, judge):
    run = score(project, reading="l2c", ok=False)
    assert run.error == "The judge gives no l2c. It gives p: choose one of these."
    assert judge.asked == []


def test_a_signature_tells_labels_summaries_and_who_decided_apart(project, judge):
    first = table(score(project, judge="human+words"))["alpha"].signature
    alone = table(score(project, judge="human+words", systems=[models.System.objects.get(name="alpha").pk]))
    assert alone["alpha"].signature == first  # nothing that it depends on has changed
    label = models.Label.objects.filter(summary__system__name="alpha").first()
    models.Label.objects.filter(pk=label.pk).update(present=not label.present)
    second = table(score(project, judge="human+words"))["alpha"].signature
    assert second != first
    models.Summary.objects.filter(system__name="alpha", text="Brandt won.").update(text="Brandt lost.")
    assert table(score(project, judge="human+words"))["alpha"].signature not in (first, second)
    unit = models.Unit.objects.get(text="Snow fell.", kind="scu")
    models.Label.objects.filter(unit=unit, summary__system__name="beta")._raw_delete("default")
    assert table(score(project, judge="human"))["alpha"].signature != second


def test_the_judge_is_not_asked_where_people_decide(project, judge):
    alpha = models.System.objects.get(name="alpha")
    run = score(project, judge="human+words", systems=[alpha.pk])
    assert (judge.asked, table(run)["alpha"].by_people) == ([], 1.0)
    models.System.objects.filter(name="beta").update(trashed_at=NOW)
    score(project, judge="human+words")
    assert judge.asked == []


def test_people_and_judge_are_compared_only_where_the_judge_decided(project, judge):
    score(project)
    run = score(project, judge="human+words")
    assert (run.counts["compared"], run.counts["differing"]) == (0, 0)


def test_a_system_that_lacks_one_example_is_compared_on_the_others(project, judge):
    for number in range(17):  # twenty in all, so that one is little
        example = models.Example.objects.create(
            project=project, key=f"more {number}", position=10 + number, created_at=NOW
        )
        unit = UnitFactory(example=example, kind="scu", key="u", text="It rained.")
        for name, present in (("alpha", True), ("beta", number % 2 == 0)):
            summary = models.Summary.objects.create(
                example=example, system=models.System.objects.get(name=name), text="It rained."
            )
            models.Label.objects.create(unit=unit, summary=summary, rule="imported", present=present)
    unit = models.Unit.objects.get(text="Snow fell.", kind="scu")
    models.Label.objects.filter(unit=unit, summary__system__name="beta")._raw_delete("default")
    rows = table(score(project, judge="human"))
    assert {name: (row.place, row.examples) for name, row in rows.items()} == {"alpha": (1, 19), "beta": (2, 19)}
    models.Label.objects.filter(unit__text="It rained.", summary__system__name="beta")._raw_delete("default")
    rows = table(score(project, judge="human"))
    assert (rows["alpha"].place, rows["beta"].place) == (1, None)
    assert rows["beta"].reason == "measured on 2 examples, the others on 20"
