"""The arrows: doors → services → pure; mturk → annotation ← scoring. Pure modules know neither Django nor models."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
APPS = ("annotation", "scoring", "mturk", "workbench")
PURE = [
    "annotation.records",
    "annotation.splitting",
    "annotation.comparing",
    "annotation.csv_cells",
    "annotation.pseudonyms",
    "annotation.charts",
    "annotation.cleaning",
    "annotation.parses",
    "annotation.overlap",
    "annotation.aligning",
    "annotation.judge_names",
    "annotation.languages",
    "annotation.model_files",
    "annotation.planning.assumptions",
    "annotation.planning.budget",
    "annotation.planning.curves",
    "annotation.planning.fees",
    "annotation.planning.power",
    "annotation.planning.prices",
    "annotation.planning.routing",
    "annotation.planning.words",
    "annotation.decomposing.texts",
    "annotation.ranking.features",
    "annotation.ranking.measuring",
    "annotation.ranking.published",
    "annotation.ranking.regressor",
    "annotation.ranking.rows",
    "annotation.decomposing.seed",
    "annotation.readers",
    "annotation.writers",
    "annotation.aggregating",
    "annotation.writing",
    "scoring.metrics",
    "scoring.metric_names",
    "annotation.mixing",
    "scoring.comparability",
    "scoring.entailment",
    "scoring.judging",
    "scoring.options",
    "scoring.resampling",
    "scoring.signatures",
    "scoring.ratio_curve",
    "scoring.presence.features",
    "scoring.presence.figures",
    "scoring.presence.head",
    "scoring.presence.measuring",
    "scoring.presence.measuring_pairs",
    "scoring.presence.mixing",
    "mturk.checking",
    "mturk.market",
    "mturk.presets",
    "mturk.pricing",
    "mturk.requirements",
    "mturk.statements",
    "mturk.questions",
    "mturk.answers",
    "mturk.exchange.answer_keys",
    "mturk.exchange.answer_xml",
    "mturk.task_pages",
    "mturk.style_cutting",
    "mturk.exchange.errors",
    "mturk.exchange.form_answers",
    "mturk.exchange.formatted",
    "mturk.exchange.hit_states",
    "mturk.exchange.ids",
    "mturk.exchange.money",
    "mturk.exchange.qualifying",
    "mturk.exchange.question_checks",
    "mturk.exchange.question_form",
    "mturk.exchange.reading_xml",
    "mturk.exchange.showing",
    "mturk.exchange.rules",
    "mturk.exchange.signing",
    "mturk.exchange.validating",
    "mturk.exchange.wire",
]
HEAVY = (
    "torch",
    "transformers",
    "spacy",
    "xgboost",
    "lemminflect",
    "py3langid",
    "nltk",
    "scipy",
    "numpy",
    "tokenizers",
    "safetensors",
)
DOORS = {"views", "api", "tasks", "urls", "admin", "forms"}
MAY_IMPORT = {
    "annotation": {"annotation"},
    "scoring": {"scoring", "annotation"},
    "mturk": {"mturk", "annotation"},
    "workbench": set(APPS),
}


def modules() -> list[Path]:
    return [path for app in APPS for path in (ROOT / app).rglob("*.py") if "migrations" not in path.parts]


def imports_of(path: Path) -> set[str]:
    """Dotted names of what a module imports, from our own apps."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] in APPS}


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_load_without_django_or_models(module):
    code = (
        f"import sys, {module}\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        f"print(sorted(loaded & {{'django', 'celery', *{HEAVY!r}}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_web_process_loads_no_models():
    code = (
        "import sys, workbench.wsgi\n"
        "from django.urls import get_resolver\n"
        "get_resolver().url_patterns\n"
        f"print(sorted({{name.split('.')[0] for name in sys.modules}} & set({HEAVY!r})))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_apps_import_only_along_the_arrows(path):
    app = path.relative_to(ROOT).parts[0]
    # Benchmarks and commands of the whole product live in workbench/, which may see every app.
    assert {name.split(".")[0] for name in imports_of(path)} <= MAY_IMPORT[app]


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_nobody_imports_a_door(path):
    name = dotted(path)
    # An app that is loaded opens its own doors: apps.py is the place for that.
    if name.startswith("workbench.") or DOORS & set(name.split(".")) or ".management." in name or ".apps" in name:
        return
    doors = {target for target in imports_of(path) if len(target.split(".")) > 1 and target.split(".")[1] in DOORS}
    assert doors == set()


WRITING = {"create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "create_user", "save", "delete"}


def writers_of_rows(path: Path) -> set[str]:
    """Calls that write rows, but for a model's own call of super(). (update() is a method of dicts and sets as well.)"""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITING:
            owner = node.func.value
            if not (isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super"):
                found.add(node.func.attr)
    return found


@pytest.mark.parametrize("path", modules(), ids=dotted)
def test_only_services_write_rows(path):
    if ".services" not in dotted(path):
        assert writers_of_rows(path) == set()
