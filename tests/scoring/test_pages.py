"""Pages and API of scores: what they show, to whom, and what they refuse."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation import models
from annotation.services import jobs
from scoring.models import JudgeVersion, SystemScore
from scoring.options import checked_options
from scoring.services.results import read_board
from scoring.services.score_job import request_score
from tests.conftest import NOW
from tests.factories import MembershipFactory, SystemFactory
from tests.scoring import runs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("judge")]


@pytest.fixture
def lead(client, project):
    user = MembershipFactory(project=project, role="lead").user
    client.force_login(user)
    return client


def score(project, **given) -> models.Run:
    return runs.score(project, **{"judge": "embedded", **given})


def page(client, name: str, *args: object, **query: object) -> str:
    answer = client.get(reverse(f"scoring:{name}", args=["mini", *args]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def words(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_without_scores_the_page_says_what_to_do(lead):
    assert "No scores yet" in page(lead, "results")
    home = words(lead.get(reverse("project-home", args=["mini"])).content.decode())
    assert "human scores" in home


def test_the_board_shows_scores_intervals_letters_and_signature(lead, project):
    run = score(project)
    html = page(lead, "results")
    row = SystemScore.objects.get(run=run, system__name="alpha", variant="plain")
    assert f"{row.value:.3f}".removeprefix("0") in html
    assert f"95 % interval {row.low:.3f} to {row.high:.3f}" in html
    assert run.signature in html
    assert row.signature != run.signature  # that is of one system
    assert "Of the whole run, over the summaries of all its systems." in html
    assert "In the training data." in html  # the judge of the tests has seen one of the units
    assert "lite2, embedded@1" in html


def test_the_board_of_length_normalised_scores(lead, project):
    run = score(project)
    html = page(lead, "results", run=run.pk, normalised=1)
    assert 'name="normalised" value="1" checked' in html
    assert "|length:as is|" in run.signature
    assert run.signature.replace("|length:as is|", "|length:alpha=2|") in html
    models.System.objects.filter(name="alpha").update(trashed_at=NOW)  # whoever is first, the run stays the same
    assert read_board(run, "normalised").signature in html


def test_an_older_run_stays_readable(lead, project):
    first = score(project, judge="human")
    score(project)
    assert "Presence by people’s labels." in page(lead, "results", run=first.pk)
    assert lead.get(reverse("scoring:results", args=["mini"]), {"run": 99999}).status_code == 404
    assert lead.get(reverse("scoring:results", args=["mini"]), {"runs": 1}).status_code == 400


def test_systems_that_cannot_be_compared_stand_below_the_line(lead, project):
    system = SystemFactory(project=project, name="gamma")
    for example in project.examples.all():
        models.Summary.objects.create(example=example, system=system, text="The mill closed.")
    run = score(project, judge="human+embedded")
    html = words(page(lead, "results"))
    assert html.index("Not ranked: these cannot be compared") < html.index("gamma")
    assert "where people decided for the others" in html
    board = read_board(run, "plain")
    assert [row.score.system.name for row in board.unranked] == ["gamma"]


def test_a_system_in_the_trash_leaves_the_board(lead, project):
    score(project)
    models.System.objects.filter(name="beta").update(trashed_at=NOW)
    html = words(page(lead, "results"))
    assert "alpha" in html
    assert "beta" not in html


def test_the_table_as_csv(lead, project):
    run = score(project)
    models.System.objects.filter(name="alpha").update(name="=cmd()")
    answer = lead.get(reverse("scoring:table", args=["mini", run.pk]))
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 4
    assert {row["system"] for row in rows} == {"'=cmd()", "beta"}
    assert {(row["metric"], row["judge"], row["in_training_data"]) for row in rows} == {("lite2", "embedded", "1")}
    assert rows[0]["signature"].startswith("lite2|units:")
    assert "attachment" in answer.headers["Content-Disposition"]


def test_from_a_system_to_an_example_to_a_unit(lead, project):
    run = score(project)
    system = models.System.objects.get(name="alpha")
    html = page(lead, "system", run.pk, system.pk)
    assert reverse("scoring:summary", args=["mini", run.pk, system.pk, 1]) in html
    html = words(page(lead, "summary", run.pk, system.pk, 1))
    assert "The mill shut ." in html
    assert "judge, .67" in html  # two of the three words
    assert "Forty people lost work." in html
    unit = models.Unit.objects.get(text="The mill closed.", kind="scu")
    html = words(page(lead, "unit", run.pk, unit.pk))
    assert "Found in 1 of 2 summaries." in html
    assert "Nothing happened ." in html


def test_every_page_with_numbers_has_their_signature(lead, project):
    run, system = score(project), models.System.objects.get(name="alpha")
    unit = models.Unit.objects.get(text="The mill closed.", kind="scu")
    for name, *args in (("summary", system.pk, 1), ("unit", unit.pk), ("differences",)):
        html = page(lead, name, run.pk, *args)
        assert (
            f'<details class="signature"><summary>Signature of these numbers</summary><p><code>{run.signature}' in html
        )
    html = page(lead, "system", run.pk, system.pk)
    for row in SystemScore.objects.filter(run=run, system=system):
        assert row.signature in html


def test_the_list_of_a_system_goes_on_page_by_page(lead, project, monkeypatch):
    monkeypatch.setattr("scoring.services.results.EXAMPLES_PER_PAGE", 2)
    run, system = score(project), models.System.objects.get(name="alpha")
    html = page(lead, "system", run.pk, system.pk)
    assert ("a2" in words(html), "a3" in words(html)) == (True, False)
    assert "?after=2" in html
    assert "a3" in words(page(lead, "system", run.pk, system.pk, after=2))
    assert "No more examples" in page(lead, "system", run.pk, system.pk, after=3)


def test_what_does_not_exist_is_not_found(lead, project):
    run, system = score(project), models.System.objects.get(name="alpha")
    stu = models.Unit.objects.filter(kind="stu").first()
    for name, args in (
        ("summary", (run.pk, system.pk, 77)),
        ("summary", (run.pk, system.pk, 2**40)),
        ("summary", (run.pk, 999, 1)),
        ("system", (run.pk, 999)),
        ("unit", (run.pk, stu.pk)),
        ("unit", (run.pk, 999)),
        ("differences", (999,)),
    ):
        assert lead.get(reverse(f"scoring:{name}", args=["mini", *args])).status_code == 404, (name, args)


def test_a_system_that_is_not_in_the_run(lead, project):
    run = score(project)
    system = SystemFactory(project=project, name="late")
    assert "Not scored in this run" in page(lead, "system", run.pk, system.pk)
    assert "Not in this run: late." in words(page(lead, "results"))


def test_a_run_of_all_systems_is_shown_before_a_newer_one_of_a_few(lead, project):
    whole = score(project)
    score(project, systems=[models.System.objects.get(name="alpha").pk])
    assert f'value="{whole.pk}" selected' in page(lead, "results")


def test_labels_that_apply_to_no_unit_are_not_claimed(lead, project):
    score(project, metric="lite3", judge="human+embedded")
    assert "People have judged less than half of these units" in page(lead, "results")


def test_where_people_and_the_judge_differ(lead, project):
    run = score(project)
    html = words(page(lead, "differences", run.pk))
    assert f"They agree on {100 - 100 * run.counts['differing'] / 8:.0f} % of 8 pairs." in html
    assert "people: present" in html
    assert run.counts["differing"] == html.count("people: present") + html.count("people: not present")
    assert "Nothing more" in page(lead, "differences", run.pk, after="1-999999")
    assert lead.get(reverse("scoring:differences", args=["mini", run.pk]), {"after": "x"}).status_code == 400


def test_differences_go_on_page_by_page(lead, project, monkeypatch):
    monkeypatch.setattr("scoring.services.results.DIFFERENCES_PER_PAGE", 1)
    run = score(project)
    seen, after = [], None
    for _ in range(10):
        html = page(lead, "differences", run.pk, **({"after": after} if after else {}))
        seen += re.findall(r"<h3><a[^>]*>([^<]+)</a>", html)
        found = re.search(r"\?after=([\d-]+)", html)
        if not found:
            break
        after = found.group(1)
    assert (
        len(seen) == len(set(seen)) == models.Run.objects.get(pk=run.pk).summary_scores.filter(differing__gt=0).count()
    )


# --- starting ------------------------------------------------------------------------------------------------------


def test_a_run_is_started_from_its_page(lead, project, monkeypatch):
    sent = []
    monkeypatch.setattr("scoring.views.starting.send_run", sent.append)
    systems = [str(pk) for pk in models.System.objects.values_list("pk", flat=True)]
    form = {"metric": "Lite2.0", "judge": "human+embedded", "reading": "p", "systems": systems}
    answer = lead.post(reverse("scoring:start", args=["mini"]), form)
    (run,) = sent
    assert answer.headers["Location"] == reverse("annotation:run", args=["mini", run.pk])
    assert (run.parameters["metric"], run.parameters["judge"], run.parameters["systems"]) == (
        "lite2",
        "human+embedded",
        None,
    )
    lead.post(reverse("scoring:start", args=["mini"]), {**form, "systems": systems[:1]})
    assert sent[1].parameters["systems"] == [int(systems[0])]
    again = lead.post(reverse("scoring:start", args=["mini"]), form)
    assert again.headers["Location"] == answer.headers["Location"]  # a second click finds the first


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("metric", "lite9", "is no metric. Known are"),
        ("judge", "/etc", "Select a valid choice"),
        ("systems", [], "Choose at least one system."),
        ("reading", "p9", "Select a valid choice"),
    ],
)
def test_what_cannot_be_scored_is_said_beside_the_field(lead, project, field, value, message):
    systems = [str(pk) for pk in models.System.objects.values_list("pk", flat=True)]
    form = {"metric": "lite2", "judge": "human", "reading": "p", "systems": systems, field: value}
    answer = lead.post(reverse("scoring:start", args=["mini"]), form)
    assert answer.status_code == 422
    assert message in words(answer.content.decode())
    assert models.Run.objects.filter(stage="score").count() == 0


def test_the_page_says_how_long_it_may_take(lead, project, settings):
    html = words(page(lead, "start"))
    assert "At most 8 pairs of summary and unit, about 1 minute by a guess" in html
    JudgeVersion.objects.create(name="embedded", revision="1", pairs_per_s=0.01, created_at=NOW)
    html = words(page(lead, "start", metric="lite3"))
    assert "At most 6 pairs of summary and unit, about 10 minutes by the speed of earlier runs here." in html
    assert "No pair needs the judge." in words(page(lead, "start", judge="human"))
    settings.JUDGES = ["/models/big"]
    assert "human+/models/big" in page(lead, "start")
    part = lead.get(reverse("scoring:start", args=["mini"]), {"metric": "lite3"}, headers={"HX-Request": "true"})
    assert "<form" not in part.content.decode()
    assert "At most 6 pairs" in words(part.content.decode())


# --- adding a system -----------------------------------------------------------------------------------------------


def upload(client, name: str, content: str, *, file: str = "s.txt", **more: str):
    data = {"name": name, "file": SimpleUploadedFile(file, content.encode()), **more}
    return client.post(reverse("scoring:add-system", args=["mini"]), data)


def test_a_system_is_added_and_scored_at_once(lead, project, judge):
    score(project)
    judge.asked.clear()
    answer = upload(lead, "gamma", "The mill closed.\nx\ny", score="on")
    run = models.Run.objects.filter(stage="score").latest("pk")
    assert answer.headers["Location"] == reverse("annotation:run", args=["mini", run.pk])
    jobs.run_job(run.pk)
    assert {pair.summary for pair in judge.asked} == {"The mill closed.", "x", "y"}
    assert "gamma" in page(lead, "results")


def test_a_system_can_be_added_without_scoring(lead, project):
    answer = upload(lead, "gamma", "a\nb\nc")
    assert answer.headers["Location"] == reverse("scoring:results", args=["mini"])
    assert models.Run.objects.filter(stage="score").count() == 0


def test_a_bad_file_adds_nothing(lead, project):
    answer = upload(lead, "gamma", "a\nb")
    assert answer.status_code == 422
    assert "has 2 lines, and there are 3 examples" in answer.content.decode()
    assert upload(lead, "alpha", "a\nb\nc").status_code == 422
    assert upload(lead, "", "a\nb\nc").status_code == 422
    assert models.System.objects.count() == 2


def test_nothing_is_added_when_there_are_too_many_jobs(lead, project, monkeypatch):
    monkeypatch.setattr(jobs, "MAX_UNFINISHED", 0)
    assert "not done yet" in upload(lead, "gamma", "a\nb\nc", score="on").content.decode()
    assert models.System.objects.count() == 2


def test_a_file_that_is_too_large(lead, project, settings, monkeypatch):
    settings.IMPORT_MAX_BYTES = 1024**2
    answer = upload(lead, "gamma", "x" * (1024**2 + 10))
    assert answer.status_code == 422
    assert "larger than 1 MB" in answer.content.decode()
    settings.IMPORT_MAX_BYTES = 1024**3
    monkeypatch.setattr("scoring.views.starting.MAX_BYTES", 10)
    assert "Add the system by an import instead" in upload(lead, "gamma", "x" * 11).content.decode()


# --- following -----------------------------------------------------------------------------------------------------


def test_the_page_of_a_run_leads_to_its_results(lead, project):
    run = score(project)
    html = lead.get(reverse("annotation:run", args=["mini", run.pk])).content.decode()
    assert f"{reverse('scoring:results', args=['mini'])}?run={run.pk}" in html
    assert run.signature in html
    assert "Pairs judged in this run" in html


def test_a_run_under_way_tells_its_speed_and_the_time_left(lead, project):
    run = request_score(project, checked_options({"judge": "embedded"}), now=NOW)
    models.Run.objects.filter(pk=run.pk).update(
        state="running", claim="00000000-0000-4000-8000-000000000000", started_at=NOW, phase="judging",
        heartbeat_at=NOW.replace(second=20), steps_done=2000, steps_total=26_000,
    )  # fmt: skip
    html = words(lead.get(reverse("annotation:run", args=["mini", run.pk])).content.decode())
    assert "2,000 of 26,000 pairs, 100 pairs per second, about 4 min left" in html


def test_whoever_judges_sees_no_verdict_of_a_machine(client, project):
    run = score(project)
    client.force_login(MembershipFactory(project=project, role="annotator").user)
    assert client.get(reverse("scoring:results", args=["mini"])).status_code == 403
    html = client.get(reverse("annotation:run", args=["mini", run.pk])).content.decode()
    assert "/results/" not in html
    for told in ("Pairs where people say otherwise", "training data", run.signature):
        assert told not in html
    row = client.get(reverse("api-run", args=["mini", run.pk])).json()
    assert sorted(row["counts"]) == ["examples", "left_out", "new_pairs", "pairs", "systems", "units"]
    assert row["signature"] == ""
    listed = client.get(reverse("api-runs", args=["mini"])).json()["results"]
    assert all("differing" not in run["counts"] for run in listed)


def test_a_judge_in_a_folder_is_named_by_its_last_part(lead, project, settings):
    settings.JUDGES = ["/srv/models/big"]
    run = score(project, judge="human+/srv/models/big")
    for html in (page(lead, "results"), lead.get(reverse("annotation:run", args=["mini", run.pk])).content.decode()):
        assert "human+big" in html
        assert "/srv/models" not in html.replace(run.signature, "")
    told = lead.get(reverse("api-scores", args=["mini"]), {"run": run.pk}).json()["results"]
    assert {row["judge"] for row in told} == {"human+big"}
    assert lead.get(reverse("api-run", args=["mini", run.pk])).json()["asked"]["judge"] == "human+big"
    assert lead.get(reverse("api-runs", args=["mini"])).json()["results"][0]["asked"]["judge"] == "human+big"
    settings.JUDGES = []  # and one that is no longer offered does not stand in the way
    assert "At most 8 pairs" in words(page(lead, "start"))


# --- API -----------------------------------------------------------------------------------------------------------


def post(client, name: str, data: object, *args: object):
    return client.post(reverse(name, args=["mini", *args]), json.dumps(data), content_type="application/json")


def test_the_api_starts_follows_and_cancels(lead, project):
    answer = post(lead, "api-scorings", {"metric": "lite2", "judge": "human", "systems": ["alpha"]})
    assert answer.status_code == 202
    run = answer.json()["id"]
    assert lead.get(reverse("api-run", args=["mini", run])).json()["state"] == "queued"
    assert post(lead, "api-cancel-run", {}, run).json()["state"] == "cancelled"
    assert post(lead, "api-cancel-run", {}, run).status_code == 409


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"metric": "lite9"}, "metric"),
        ({"judge": "/etc/passwd"}, "judge"),
        ({"systems": ["nobody"]}, "systems"),
        ({"systems": []}, "systems"),
        ({"judges": "human"}, "judges"),
        ({"seed": -1}, "seed"),
    ],
)
def test_the_api_refuses_what_cannot_be(lead, project, data, field):
    answer = post(lead, "api-scorings", data)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    assert models.Run.objects.filter(stage="score").count() == 0


def test_the_api_gives_scores_with_their_signature(lead, project):
    run = score(project)
    rows = lead.get(reverse("api-scores", args=["mini"]), {"run": run.pk, "variant": "plain"}).json()["results"]
    assert [row["system"] for row in rows] == ["alpha", "beta"] or [row["system"] for row in rows] == ["beta", "alpha"]
    assert all(row["signature"].startswith("lite2|") and row["in_training_data"] for row in rows)
    assert {"score", "low", "high", "n", "place", "letters", "metric", "judge"} <= set(rows[0])
    assert lead.get(reverse("api-run", args=["mini", run.pk])).json()["asked"]["metric"] == "lite2"


def test_the_api_adds_a_system_once(lead, project):
    summaries = {"a1": "x", "a2": "", "a3": "z"}
    assert post(lead, "api-systems", {"name": "gamma", "summaries": summaries}).status_code == 201
    assert post(lead, "api-systems", {"name": "gamma", "summaries": summaries}).status_code == 200
    other = post(lead, "api-systems", {"name": "gamma", "summaries": {**summaries, "a1": "y"}})
    assert (other.status_code, list(other.json())) == (400, ["name"])
    missing = post(lead, "api-systems", {"name": "delta", "summaries": {"a1": "x"}})
    assert "2 of 3 examples have no summary" in missing.json()["summaries"][0]
    assert models.System.objects.count() == 3


def test_the_api_takes_a_file_as_well(lead, project):
    address = reverse("api-systems", args=["mini"])
    file = SimpleUploadedFile("s.txt", b"x\ny\nz")
    assert lead.post(address, {"name": "gamma", "file": file}).status_code == 201
    bad = lead.post(address, {"name": "delta", "file": SimpleUploadedFile("s.txt", b"x")})
    assert "has 1 lines, and there are 3 examples" in bad.json()["file"][0]


def test_too_much_for_one_request_is_said_as_json(lead, project):
    answer = post(lead, "api-systems", {"name": "gamma", "summaries": {"a1": "x" * 4_000_000, "a2": "", "a3": ""}})
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/json")
    assert "Send it as a file" in answer.json()["detail"]


def test_the_embedded_judge_gives_p_only(lead, project):
    answer = post(lead, "api-scorings", {"judge": "human+embedded", "reading": "p3c"})
    assert (answer.status_code, list(answer.json())) == (400, ["reading"])
    systems = [str(pk) for pk in models.System.objects.values_list("pk", flat=True)]
    form = {"metric": "lite2", "judge": "embedded", "reading": "l3c", "systems": systems}
    assert "gives p only" in words(lead.post(reverse("scoring:start", args=["mini"]), form).content.decode())
