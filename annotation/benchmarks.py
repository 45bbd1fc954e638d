"""Measures import and export in processes of their own, on a private SQLite database."""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

REPEATS = 3
TIMES = 10
PAGE_REPEATS, TABLE_REPEATS = 30, 12
CLAIMS, CLAIMERS = 60, 10
FEW, MANY = 1_000, 100_000
TABLE_PAGES = {
    "list": (
        "sort=hard", "sort=hard&after=half", "sort=easy&show=people", "sort=easy&after=60", "sort=corpus&show=stus",
        "sort=corpus&after=last", "sort=long", "sort=stus&show=near", "show=pinned", "show=pinned&after=half",
    ),
    "warned": ("show=warned", "show=warned&after=half"),
    "search": ("q=harbour", "q=story+977+of", "q=nowhere"),
}  # fmt: skip
"""Addresses of the routing table. The searches find all sentences, one and none."""
TABLE_WORDS = {"list": "tab, order or place", "warned": "list of sentences with a warning", "search": "search"}
SHARED_LINES = ("ids.txt",)
SERVERS = {"DATABASE_URL", "CELERY_BROKER_URL", "PYRAMID_ENV"}


def benchmark_web(data: Path | None) -> Iterator[tuple[str, float, str]]:
    """Figures as (key, value, what it means)."""
    with tempfile.TemporaryDirectory(prefix="pyramid-benchmark-") as name:
        folder = Path(name)
        corpus = data / "lite2-3pyramid" / "REALSumm" if data else write_lookalike(folder / "REALSumm")
        if not (corpus / "ids.txt").exists():
            raise FileNotFoundError(f"{corpus} holds no ids.txt. --data must hold lite2-3pyramid/REALSumm.")
        what = "REALSumm" if data else "an invented corpus of REALSumm's size"
        repeated = repeat_corpus(corpus, folder / "repeated", TIMES)
        once = [in_a_process(folder / f"once{number}", "corpus", str(corpus)) for number in range(REPEATS)]
        tenfold = in_a_process(folder / "tenfold", "corpus", str(repeated))
        import_rate = statistics.median(run["rows"] / run["import_s"] for run in once)
        export_rate = statistics.median(run["rows"] / run["export_s"] for run in once)
        memory = statistics.median(run["import_memory"] for run in once)
        yield "import_rows_per_s", import_rate, f"sentences and summaries per second, import of {what}, SQLite"
        yield "import_memory_ratio", tenfold["import_memory"] / memory, f"peak memory, {TIMES} times the corpus to once"
        yield "import_peak_mb", memory / 1024, "peak memory of the importing process"
        yield "export_rows_per_s", export_rate, "sentences and summaries per second, export to JSONL"
        pages = in_a_process(folder / "pages", "pages", str(FEW), str(MANY), str(TABLE_REPEATS))
        yield "list_ratio", pages["ratio"], f"time of the example list, {MANY:,} examples to {FEW:,}, any page"
        yield "list_queries", pages["queries"], "queries of the example list"
        slowest = max(pages[f"routes_{part}_ratio"] for part in TABLE_PAGES)
        yield "routes_ratio", slowest, f"time of the routing table, {MANY:,} sentences to {FEW:,}, the slowest of all"
        for part in TABLE_PAGES:
            yield f"routes_{part}_ratio", pages[f"routes_{part}_ratio"], f"of these the slowest {TABLE_WORDS[part]}"
        yield "routes_queries", pages["routes_queries"], "queries of the routing table"
        claims = in_a_process(folder / "claims", "claims", str(FEW), str(MANY))
        yield "claim_ratio", claims["ratio"], f"time to claim a task, {MANY:,} open ones to {FEW:,}"
        yield "claim_duplicates", claims["duplicates"], f"tasks handed out twice to {CLAIMERS} people at once"


def in_a_process(var: Path, what: str, *arguments: str, module: str = "annotation.benchmarks") -> dict[str, float]:
    """Measure something in a new process with a new database."""
    environment = {name: value for name, value in os.environ.items() if name not in SERVERS}
    done = subprocess.run(
        [sys.executable, "-m", module, what, str(var), *arguments],
        env={**environment, "PYRAMID_VAR": str(var), "DJANGO_SETTINGS_MODULE": "workbench.settings"},
        cwd=Path(__file__).resolve().parent.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure_corpus(var: Path, corpus: str) -> dict[str, float]:
    """One import and one export, timed."""
    from django.utils import timezone

    from annotation.services.exporting import export_corpus
    from annotation.services.importing import import_corpus

    now = timezone.now()
    started = time.perf_counter()
    report = import_corpus(Path(corpus), corpus_format="lite2-3pyramid", project_name="benchmark", now=now)
    imported = time.perf_counter()
    memory = peak_memory()
    assert report.project is not None
    begun = time.perf_counter()
    export_corpus(report.project, var / "export", corpus_format="jsonl", now=now)
    return {
        "rows": report.new.sentences + report.new.summaries,
        "import_s": imported - started,
        "import_memory": memory,
        "export_s": time.perf_counter() - begun,
    }


def measure_pages(var: Path, few: str, many: str, table_repeats: str) -> dict[str, float]:
    """The list of examples of a small and of a large project, first, middle and last page, as a lead sees it."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.utils import timezone

    from annotation.models import Project
    from annotation.services.filling import mark_few, rank_all

    settings.ALLOWED_HOSTS.append("testserver")
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    sizes = {int(few): _project_of(int(few)), int(many): _project_of(int(many))}
    client = Client()
    client.force_login(_lead_of(list(sizes.values())))
    for slug in sizes.values():
        project = Project.objects.get(slug=slug)
        rank_all(project, now=timezone.now())
        mark_few(project, now=timezone.now())

    def compare(address: Callable[[int, int], str], repeats: int = PAGE_REPEATS) -> tuple[float, int]:
        """How much longer a page takes for many than for few, and its queries."""
        times: dict[int, list[float]] = {size: [] for size in sizes}
        queries = 0
        for number in range(repeats):
            for size, slug in sizes.items():  # in turn, so that a slow moment of the machine meets both
                with CaptureQueriesContext(connection) as captured:
                    started = time.perf_counter()
                    answer = client.get(f"/projects/{slug}/{address(size, number)}")
                    times[size].append(time.perf_counter() - started)
                assert answer.status_code == 200, answer.status_code
                queries = max(queries, len(captured))
        small, large = (statistics.median(times[size]) for size in sizes)
        return large / small, queries

    ratio, queries = compare(lambda size, number: f"examples/?after={(0, size // 2, size - 60)[number % 3]}")
    # One by one, and the slowest is told: a median over all of them would hide a list that reads every row.
    tables = {
        part: [compare(partial(_table_page, shown), int(table_repeats)) for shown in pages]
        for part, pages in TABLE_PAGES.items()
    }
    return {
        "ratio": ratio,
        "queries": queries,
        **{f"routes_{part}_ratio": max(found)[0] for part, found in tables.items()},
        "routes_queries": max(number for found in tables.values() for _, number in found),
    }


def _table_page(shown: str, size: int, _number: int) -> str:
    """An address of the routing table; "half" and "last" stand for places in a project of that size."""
    return f"plan/sentences/?{shown.replace('half', str(size // 2)).replace('last', str(size - 60))}"


def measure_claims(var: Path, few: str, many: str) -> dict[str, float]:
    """Claims from a short and a long queue, in turn; then many people at once."""
    from django.utils import timezone

    from annotation.models import Project
    from annotation.services.filling import make_users, open_all
    from annotation.services.queue import claim_next

    now = timezone.now()
    projects = {int(size): Project.objects.get(slug=_project_of(int(size))) for size in (few, many)}
    people = make_users(CLAIMS + CLAIMERS)
    for project in projects.values():
        open_all(project, now=now)
    times: dict[int, list[float]] = {size: [] for size in projects}
    for user in people[:CLAIMS]:
        for size, project in projects.items():
            started = time.perf_counter()
            task = claim_next(project, user, "write", now=now)
            times[size].append(time.perf_counter() - started)
            assert task is not None
    small, large = (statistics.median(times[size]) for size in projects)
    handed_out = _claim_at_once(projects[int(many)], people[CLAIMS:])
    return {"ratio": large / small, "duplicates": len(handed_out) - len(set(handed_out))}


def _claim_at_once(project: Any, people: list[Any]) -> list[int]:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection
    from django.utils import timezone

    from annotation.services.queue import claim_next

    def claim(user: Any) -> int:
        try:
            task = claim_next(project, user, "write", now=timezone.now())
            assert task is not None
            return int(task.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(people)) as pool:
        return list(pool.map(claim, people))


def _project_of(size: int) -> str:
    """A project with that many examples, a reference each."""
    from django.utils import timezone

    from annotation.services.importing import import_corpus

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corpus.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number in range(size):
                file.write(
                    json.dumps({"id": f"e{number}", "reference": f"Story {number} of the harbour bridge."}) + "\n"
                )
        report = import_corpus(path, corpus_format="jsonl", project_name=f"Size {size}", now=timezone.now())
    assert report.project is not None
    return report.project.slug


def _lead_of(slugs: list[str]) -> Any:
    """Somebody who may see these projects."""
    from django.utils import timezone

    from annotation.models import Project, Role, User
    from annotation.services.demo import load_demo
    from annotation.services.projects import add_member

    now = timezone.now()
    load_demo(password="benchmark", now=now)  # noqa: S106 (of a database that is gone in a minute)
    user = User.objects.get(username="viktor")
    for slug in slugs:
        add_member(Project.objects.get(slug=slug), user, role=Role.LEAD, now=now)
    return user


def peak_memory() -> int:
    """Peak resident memory in kB. VmHWM begins anew with a process; getrusage would count the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1])
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def repeat_corpus(source: Path, target: Path, times: int) -> Path:
    """The corpus several times over, with ids of its own for each copy. Folds are left out."""
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source)
        if path.is_file() and name.parts[0] not in {"by_examples", "by_systems"}:
            lines = path.read_text(encoding="utf-8").split("\n")
            copies = [
                f"{line}-{copy}" if name.name in SHARED_LINES else line for copy in range(times) for line in lines
            ]
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text("\n".join(copies), encoding="utf-8")
    return target


def write_lookalike(folder: Path) -> Path:
    """An invented corpus with REALSumm's numbers: 100 examples, 25 systems, 368 sentences, 1,056 SCUs."""
    rng = random.Random(0)  # noqa: S311 (texts, not secrets)
    words = [
        "harbour",
        "storm",
        "council",
        "bridge",
        "engineer",
        "winter",
        "report",
        "market",
        "school",
        "river",
        "festival",
        "night",
        "doctor",
    ]

    def text(length: int) -> str:
        return " ".join(rng.choice(words) for _ in range(length))

    def write(name: str, lines: list[str]) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines), encoding="utf-8")

    sentences = [4 if number < 68 else 3 for number in range(100)]
    scus = [11 if number < 56 else 10 for number in range(100)]
    write("ids.txt", [f"invented{number}" for number in range(100)])
    write("references.txt", [" ".join(f"<t> {text(15)} . </t>" for _ in range(count)) for count in sentences])
    write("documents.txt", [text(700) for _ in range(100)])
    write("SCUs.txt", ["\t".join(f"{text(7)}." for _ in range(count)) for count in scus])
    write("STUs.txt", ["\t".join(text(9) for _ in range(count - 1)) for count in scus])
    for system in range(25):
        write(f"summaries/system{system}.summary", [text(65) for _ in range(100)])
        write(f"labels/system{system}.label", ["\t".join(rng.choice("01") for _ in range(count)) for count in scus])
    return folder


if __name__ == "__main__":
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    measures: dict[str, Callable[..., dict[str, float]]] = {
        "corpus": measure_corpus,
        "pages": measure_pages,
        "claims": measure_claims,
    }
    print(json.dumps(measures[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])))  # noqa: T201
