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
from collections.abc import Iterator
from pathlib import Path

REPEATS = 3
TIMES = 10
SHARED_LINES = ("ids.txt",)


def benchmark_web(data: Path | None) -> Iterator[tuple[str, float, str]]:
    """Figures as (key, value, what it means)."""
    with tempfile.TemporaryDirectory(prefix="pyramid-benchmark-") as name:
        folder = Path(name)
        corpus = data / "lite2-3pyramid" / "REALSumm" if data else write_lookalike(folder / "REALSumm")
        if not (corpus / "ids.txt").exists():
            raise FileNotFoundError(f"{corpus} holds no ids.txt. --data must hold lite2-3pyramid/REALSumm.")
        what = "REALSumm" if data else "an invented corpus of REALSumm's size"
        repeated = repeat_corpus(corpus, folder / "repeated", TIMES)
        once = [in_a_process(folder / f"once{number}", corpus) for number in range(REPEATS)]
        tenfold = in_a_process(folder / "tenfold", repeated)
        import_rate = statistics.median(run["rows"] / run["import_s"] for run in once)
        export_rate = statistics.median(run["rows"] / run["export_s"] for run in once)
        memory = statistics.median(run["import_memory"] for run in once)
        yield "import_rows_per_s", import_rate, f"sentences and summaries per second, import of {what}, SQLite"
        yield "import_memory_ratio", tenfold["import_memory"] / memory, f"peak memory, {TIMES} times the corpus to once"
        yield "import_peak_mb", memory / 1024, "peak memory of the importing process"
        yield "export_rows_per_s", export_rate, "sentences and summaries per second, export to JSONL"


def in_a_process(var: Path, corpus: Path) -> dict[str, float]:
    """Import and export a corpus in a new process with a new database."""
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "PYRAMID_ENV"}}
    done = subprocess.run(
        [sys.executable, "-m", "annotation.benchmarks", str(corpus), str(var / "export")],
        env={**environment, "PYRAMID_VAR": str(var), "DJANGO_SETTINGS_MODULE": "workbench.settings"},
        cwd=Path(__file__).resolve().parent.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def measure(corpus: Path, target: Path) -> dict[str, float]:
    """What the child process does: one import and one export, timed."""
    import django
    from django.core.management import call_command
    from django.utils import timezone

    django.setup()
    from annotation.services.exporting import export_corpus
    from annotation.services.importing import import_corpus

    call_command("migrate", verbosity=0)
    now = timezone.now()
    started = time.perf_counter()
    report = import_corpus(corpus, corpus_format="lite2-3pyramid", project_name="benchmark", now=now)
    imported = time.perf_counter()
    memory = peak_memory()
    assert report.project is not None
    begun = time.perf_counter()
    export_corpus(report.project, target, corpus_format="jsonl", now=now)
    return {
        "rows": report.new.sentences + report.new.summaries,
        "import_s": imported - started,
        "import_memory": memory,
        "export_s": time.perf_counter() - begun,
    }


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
    print(json.dumps(measure(Path(sys.argv[1]), Path(sys.argv[2]))))  # noqa: T201
