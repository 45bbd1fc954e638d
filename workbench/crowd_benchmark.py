"""The crowd, end to end: HITs published to the exchange under faults, done by simulated workers, collected and counted.

Both halves run as they do in real life: the exchange behind gunicorn, the requester through boto3, workers through
the worker pages. Only the corpus and the workers are made up.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench import processes

HOST = "127.0.0.1"
EXAMPLES, SYSTEMS, VOTES, UNITS = 100, 25, 4, 10
WORKERS, THREADS = 40, 4
REWARD_CENTS = 15
FUNDS_END_AT = 0.4  # share of the HITs after which the account seems empty once
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "drop_after", "operation": "CreateHITWithHITType", "share": 0.02, "times": None, "seed": 1},
    {"kind": "error_after", "operation": "CreateHITWithHITType", "share": 0.02, "times": None, "seed": 2},
    {"kind": "throttle", "share": 0.01, "times": None, "seed": 3},
    {"kind": "drop_before", "share": 0.005, "times": None, "seed": 4},
    {"kind": "empty_page", "share": 0.02, "times": None, "seed": 5},
    {"kind": "drop_after", "operation": "ApproveAssignment", "share": 0.01, "times": None, "seed": 6},
)
MOST_ROUNDS = 50  # of publishing or collecting again, before the measurement gives up
FIGURES = {
    "hits_planned": "HITs that were planned",
    "hits_created": "HITs that the exchange has",
    "assignments_submitted": "assignments that workers handed in",
    "assignments_collected": "assignments that were collected",
    "ledger_difference_cents": "cents by which the books of exchange and requester differ",
    "labels_identical": "share of labels equal to the majority of what the workers answered",
    "labels_total": "labels that were made",
    "hits_per_s": "HITs published per second, faults included",
    "assignments_per_s": "assignments done per second by simulated workers, through the worker pages",
    "collected_per_s": "assignments collected per second",
    "faults_injected": "calls that failed by order: lost replies, late errors, throttling, empty pages, no funds",
}


def benchmark_crowd(data: Path | None) -> Iterator[tuple[str, float, str]]:
    """Figures as (key, value, what it means). It needs no data."""
    measured = run_crowd(EXAMPLES, SYSTEMS, VOTES)
    for key, words in FIGURES.items():
        yield key, measured[key], words


def run_crowd(examples: int, systems: int, votes: int) -> dict[str, float]:
    """One round with a HIT for every summary, in a process and with a database of its own."""
    with tempfile.TemporaryDirectory(prefix="pyramid-crowd-") as folder:
        port = processes.free_port(HOST)
        environment = {
            **{name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "PYRAMID_ENV"}},
            "PYRAMID_VAR": folder,
            "DJANGO_SETTINGS_MODULE": "workbench.settings",
            "PUBLIC_URL": f"http://{HOST}:{port}",
            "EXCHANGE_CONTROL_TOKEN": secrets.token_hex(16),
        }
        done = subprocess.run(
            [sys.executable, "-m", "workbench.crowd_benchmark", str(examples), str(systems), str(votes)],
            env=environment, cwd=Path(__file__).resolve().parent.parent, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


# --- in the process of its own -----------------------------------------------------------------------------------


def measure(examples: int, systems: int, votes: int) -> dict[str, float]:
    from django.conf import settings
    from django.utils import timezone

    from mturk.exchange.services.requesters import create_requester

    now = timezone.now()
    requester = create_requester("Benchmark", now=now, deposit_cents=100_000_000)
    os.environ.update(EXCHANGE_KEY_ID=requester.key_id, EXCHANGE_SECRET=requester.secret)
    batch = plan_round(examples, systems, votes, now=now)
    with (settings.VAR_DIR / "web.log").open("wb") as log:
        server = processes.start(
            [sys.executable, "-m", "gunicorn", "--config", "python:workbench.gunicorn_conf", "--bind",
             settings.PUBLIC_URL.removeprefix("http://"), "workbench.wsgi"],
            stdout=log, stderr=log, env=dict(os.environ),
        )  # fmt: skip
    try:
        wait_until_served(settings.PUBLIC_URL, server)
        return go_round(batch, requester)
    except Exception:
        sys.stderr.write((settings.VAR_DIR / "web.log").read_text()[-3000:])
        raise
    finally:
        processes.stop(server)


def plan_round(examples: int, systems: int, votes: int, *, now: Any) -> Any:
    """A project with a batch of judging, and a draft of a crowd batch over it."""
    from django.conf import settings

    from annotation.services.batches import BatchOptions, create_batch
    from annotation.services.importing import import_corpus
    from mturk.services.planning import Wish, create_draft

    corpus = write_corpus(settings.VAR_DIR / "corpus.jsonl", examples, systems)
    project = import_corpus(corpus, corpus_format="jsonl", project_name="Crowd", now=now).project
    assert project is not None
    judging = create_batch(project, BatchOptions(votes=votes), now=now, actor=None)
    wish = Wish(
        environment="exchange", batch=judging.number, title="Does the summary say this?",
        description="Read a short text and say which statements it makes.",
        rewards=[{"name": "all", "systems": [], "cents": REWARD_CENTS}], assignments=votes, expected_s=36,
        consent="A measurement.", cap_cents=examples * systems * votes * REWARD_CENTS,
    )  # fmt: skip
    return create_draft(project, wish, now=now, actor=None)


def go_round(batch: Any, requester: Any) -> dict[str, float]:
    """Publish, work, collect, pay; then compare the books and the labels."""
    from django.utils import timezone

    from annotation.services.labels import make_labels
    from mturk.exchange.models import Fault, Hit, HitAssignment
    from mturk.models import CrowdAssignment, CrowdHit
    from mturk.services.collecting import collect_batch
    from mturk.services.crowd_job import market_of
    from mturk.services.deciding import carry_out, is_settled, passing, waiting_for_review, wish_approval
    from mturk.services.planning import confirm

    batch = confirm(batch, typed="", now=timezone.now(), actor=None)
    planned = CrowdHit.objects.filter(crowd_batch=batch).count()
    for fault in (*FAULTS, {"kind": "no_funds", "skip": int(planned * FUNDS_END_AT), "times": 1}):
        order_fault(fault)
    market = market_of(batch)
    publish_s = timed(lambda: publish_all(batch, market))
    work_s, tally = work(requester)
    collect_s = timed(lambda: again(lambda: collect_batch(batch.pk, market, clock=timezone.now), lambda: True))
    assert passing(batch).count() <= waiting_for_review(batch).count()
    wish_approval(waiting_for_review(batch), batch, now=timezone.now(), actor=None)
    again(lambda: carry_out(batch.pk, market, clock=timezone.now), lambda: is_settled(batch))
    make_labels(batch.project, "none", now=timezone.now(), actor=None)
    same, labels = compare_labels(batch, tally)
    collected = CrowdAssignment.objects.filter(hit__crowd_batch=batch).count()
    return {
        "hits_planned": planned,
        "hits_created": Hit.objects.filter(requester=requester).count(),
        "assignments_submitted": HitAssignment.objects.filter(submitted_at__isnull=False).count(),
        "assignments_collected": collected,
        "ledger_difference_cents": ledger_difference(batch, requester),
        "labels_identical": same / labels if labels else 0.0,
        "labels_total": labels,
        "hits_per_s": planned / publish_s,
        "assignments_per_s": tally.handed_in / work_s,
        "collected_per_s": collected / collect_s,
        "faults_injected": sum(Fault.objects.values_list("fired", flat=True)),
    }


def write_corpus(path: Path, examples: int, systems: int) -> Path:
    """An invented corpus: every summary asks for the same number of units, so each becomes one HIT."""
    rng = random.Random(0)  # noqa: S311 (texts, not secrets)
    words = "harbour storm council bridge engineer winter report market school river festival night doctor".split()  # noqa: SIM905

    def text(length: int) -> str:
        return " ".join(rng.choice(words) for _ in range(length)).capitalize() + "."

    with path.open("w", encoding="utf-8") as file:
        for number in range(examples):
            units = [f"Fact {place} of story {number}: {text(6)}" for place in range(UNITS)]
            summaries = {f"system{place}": f"Story {number}. {text(40)}" for place in range(systems)}
            row: dict[str, Any] = {"id": f"e{number}", "reference": " ".join(units), "summaries": summaries}
            row["units"] = [{"kind": "scu", "text": unit} for unit in units]
            file.write(json.dumps(row) + "\n")
    return path


def wait_until_served(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with opener().open(f"{url}/healthz", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("The web server does not answer.")


def opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(urllib.request.ProxyHandler({}))  # our own address, never through a proxy


def order_fault(fault: dict[str, Any]) -> None:
    from django.conf import settings

    request = urllib.request.Request(  # noqa: S310 (our own server)
        f"{settings.PUBLIC_URL}/exchange/_control/faults",
        data=json.dumps(fault).encode(),
        headers={"X-Control-Token": settings.EXCHANGE_CONTROL_TOKEN, "Content-Type": "application/json"},
        method="POST",
    )
    with opener().open(request, timeout=10) as answer:
        assert answer.status == 200, answer.status


def timed(do: Callable[[], object]) -> float:
    started = time.perf_counter()
    do()
    return time.perf_counter() - started


def again(do: Callable[[], object], is_done: Callable[[], bool]) -> None:
    """Do something until it went through: whoever runs the product presses the button again, too."""
    from mturk.market import MarketError

    for _ in range(MOST_ROUNDS):
        try:
            do()
        except MarketError:
            continue
        if is_done():
            return
    raise RuntimeError(f"Not done after {MOST_ROUNDS} rounds.")


def publish_all(batch: Any, market: Any) -> None:
    """Publish until every HIT is live; a pause for want of money is ended as a lead ends it."""
    from django.utils import timezone

    from mturk.models import BatchState, CrowdHit, HitState
    from mturk.services.ending import resume
    from mturk.services.publishing import PublishStopped, publish_batch

    def publish() -> None:
        batch.refresh_from_db()
        if batch.state == BatchState.PAUSED:
            resume(batch, now=timezone.now(), actor=None)
        try:
            publish_batch(batch.pk, market, clock=timezone.now)
        except PublishStopped:
            return  # paused: the next round ends the pause

    again(publish, lambda: not CrowdHit.objects.filter(crowd_batch=batch).exclude(state=HitState.LIVE).exists())


def work(requester: Any) -> tuple[float, Any]:
    """Simulated workers do everything that is open."""
    from django.conf import settings
    from django.urls import reverse

    from mturk.exchange.services import clock, recruiting
    from mturk.exchange.simulating import Crowd, simulate

    profiles = Crowd(WORKERS, seed=7, accuracy=0.9, spam=0.1, returns=0.02).profiles()
    link = recruiting.simulated_link(requester, None, now=clock.now())
    recruiting.enrol_simulated(link, [profile.name for profile in profiles], now=clock.now())
    join = settings.PUBLIC_URL + reverse("exchange:join", args=[link.token])
    started = time.perf_counter()
    tally = simulate(profiles, join=join, seed=7, threads=THREADS)
    return time.perf_counter() - started, tally


def compare_labels(batch: Any, tally: Any) -> tuple[int, int]:
    """How many stored labels are the majority of what was answered (a tie is not present), and how many there are."""
    from annotation.models import Label
    from mturk.models import CrowdHit

    hits = {hit.hit_id: hit for hit in CrowdHit.objects.filter(crowd_batch=batch).select_related("sheet")}
    votes: dict[tuple[int, int], Counter[str]] = {}
    for given in tally.given:
        hit = hits[given.hit_id]
        if not given.question.removeprefix("u").isdecimal():
            continue
        unit = hit.page["rows"][int(given.question.removeprefix("u")) - 1]["unit"]
        if unit is not None and hit.sheet is not None:
            votes.setdefault((unit, hit.sheet.summary_id), Counter())[given.answer] += 1
    majority = {
        pair: said["present"] > said["not_present"]
        for pair, said in votes.items()
        if said["present"] + said["not_present"]
    }
    stored = {
        (unit, summary): present
        for unit, summary, present in Label.objects.filter(unit__example__project=batch.project).values_list(
            "unit", "summary", "present"
        )
    }
    same = sum(stored.get(pair) is wanted for pair, wanted in majority.items())
    return same, max(len(majority), len(stored))


def ledger_difference(batch: Any, requester: Any) -> int:
    """Cents by which the exchange's books differ from themselves, and from what the requester thinks it paid."""
    from mturk.exchange.services import clock
    from mturk.exchange.services.ledger import check_balance
    from mturk.models import AssignmentStatus, CrowdAssignment

    book = check_balance(requester, now=clock.now())
    approved = CrowdAssignment.objects.filter(hit__crowd_batch=batch, status=AssignmentStatus.APPROVED)
    paid = sum(approved.values_list("hit__reward_cents", flat=True))
    inside = abs(book.available + book.held + book.paid - book.deposits)
    return inside + abs(book.paid - paid) + len(book.differences)


if __name__ == "__main__":
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)  # pages name their files by digest
    sys.stdout.write(json.dumps(measure(*(int(text) for text in sys.argv[1:4]))) + "\n")
