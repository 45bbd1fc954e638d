"""From presence to the score of every summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from annotation.models import Run
from scoring.comparability import Decided, Known, Source, decide
from scoring.judging import THRESHOLD
from scoring.metrics import length_factor, pyramid_coverage, pyramid_quality, score_example
from scoring.models import JudgeVersion, SummaryScore, Variant
from scoring.services.scoping import ExampleCase, Scope
from scoring.services.selecting import ChosenExample, GivenSummary
from scoring.services.verdicts import Stored, stored_verdicts
from scoring.signatures import score_signature


@dataclass(slots=True)
class Tally:
    """What is gathered of one system, example by example."""

    plain: dict[int, float] = field(default_factory=dict)
    normalised: dict[int, float] = field(default_factory=dict)
    ratios: list[float] = field(default_factory=list)
    units: int = 0
    by_people: int = 0
    incomparable: int = 0  # units that people decide for others and the judge for this one
    basis: Any = field(default_factory=sha256)  # all that its score depends on, beside the judge

    def of(self, variant: str) -> dict[int, float]:
        return self.plain if variant == Variant.PLAIN else self.normalised


class Scorer:
    """Scores the examples of a scope batch by batch and gathers what the comparison of the systems needs."""

    def __init__(self, run: Run, scope: Scope, version: JudgeVersion | None) -> None:
        self.run, self.scope, self.version = run, scope, version
        self.options, self.metric = scope.options, scope.options.parsed_metric
        self.tallies = {system: Tally() for system in scope.systems}
        self.draws: dict[str, int] = {}  # of the comparison, by variant
        self.counts = {
            "examples": len(scope.selection.examples),
            "left_out": scope.selection.left_out,
            "units": scope.selection.units,
            "systems": len(scope.systems),
            "pairs": 0,
            "truncated": 0,
            "compared": 0,
            "differing": 0,
        }

    def begin(self) -> None:
        """Forget what an earlier try of the same run has stored."""
        SummaryScore.objects.filter(run=self.run).delete()

    def store(self, rows: Sequence[SummaryScore]) -> None:
        SummaryScore.objects.bulk_create(rows, batch_size=500)

    def score(self, batch: Sequence[ExampleCase]) -> list[SummaryScore]:
        """The scores of all summaries of some examples."""
        known = self._known(batch)
        return [self._score(case, summary, known) for case in batch for summary in case.summaries]

    def _known(self, batch: Sequence[ExampleCase]) -> dict[tuple[str, str], Stored]:
        if self.version is None:
            return {}
        digests = [summary.digest for case in batch for summary in case.summaries]
        units = [self.scope.selection.texts[weighted.unit] for case in batch for weighted in case.example.units]
        return stored_verdicts(self.version, digests, units, self.options.reading)

    def _score(self, case: ExampleCase, summary: GivenSummary, known: dict[tuple[str, str], Stored]) -> SummaryScore:
        example, decided, units, differing = case.example, [], [], 0
        tally = self.tallies[summary.system]
        for weighted in example.units:
            label = case.labels.get((weighted.unit, summary.pk))
            stored = known.get((summary.digest, self.scope.selection.texts[weighted.unit]))
            presence = stored.value if stored else (None if summary.digest else 0.0)
            people = weighted.unit in case.by_people
            item = decide(Known(label, presence), self.options.source, people=people)
            if not summary.digest and label is None:  # nothing is in it, whoever decides
                item = Decided(0.0, by_people=self.options.source == Source.PEOPLE or people)
            decided.append(item)
            if not item.by_people:
                self.counts["truncated"] += bool(stored and stored.was_truncated)
                if label is not None and presence is not None:
                    self.counts["compared"] += 1
                    differing += (presence >= THRESHOLD) != label
            if self.options.source == Source.BOTH and people and not item.by_people:
                tally.incomparable += 1
            units.append([weighted.unit, weighted.weight, _short(item.value), int(item.by_people), _bit(label)])
        self.counts["differing"] += differing
        self.counts["pairs"] += len(decided)
        value = self._value(example, decided)
        factor = length_factor(summary.tokens, example.reference_tokens)
        normalised = None if value is None or factor is None else value * factor
        self._note(tally, example, summary, decided, value, normalised)
        return SummaryScore(
            run=self.run, summary_id=summary.pk, value=value, normalised=normalised, units=units, differing=differing
        )

    def _note(
        self,
        tally: Tally,
        example: ChosenExample,
        summary: GivenSummary,
        decided: Sequence[Decided],
        value: float | None,
        normalised: float | None,
    ) -> None:
        tally.units += len(decided)
        tally.by_people += sum(item.by_people and item.value is not None for item in decided)
        # Labels as they were read, and nothing of what the judge said: that follows from its revision and the texts.
        labels = "".join("-" if not item.by_people else f"{item.value}" for item in decided)
        content = (example.key, summary.digest, labels, example.reference_tokens, example.mean_units)
        tally.basis.update(repr(content).encode())
        if example.reference_tokens:
            tally.ratios.append(summary.tokens / example.reference_tokens)
        if value is not None:
            tally.plain[example.pk] = value
        if normalised is not None:
            tally.normalised[example.pk] = normalised

    def _value(self, example: ChosenExample, decided: Sequence[Decided]) -> float | None:
        weights = [weighted.weight for weighted in example.units]
        if not self.metric.pyramid:
            return score_example([item.value for item in decided], weights)
        if any(item.value is None for item in decided):
            return None
        found = [w for w, item in zip(weights, decided, strict=True) if (item.value or 0) >= THRESHOLD]
        if self.metric.pyramid == "quality":
            # A summary's own units are those of the pyramid that it has: nobody lists what else it says.
            return pyramid_quality(sum(found), weights, len(found)) if found else _none_found(weights)
        return pyramid_coverage(sum(found), weights, example.mean_units)

    def signature(
        self,
        variant: str = Variant.PLAIN,
        system: int | None = None,
        examples: int | None = None,
        draws: int | None = None,
    ) -> str:
        """The signature of a system's number, or of the whole run."""
        options = self.options
        bases = [self.tallies[system]] if system is not None else self.tallies.values()
        data = sha256(b"".join(sorted(tally.basis.digest() for tally in bases))).hexdigest()[:12]
        return score_signature(
            metric=self.metric.name,
            mixing=f"order={options.order} rule={options.rule}" if self.metric.is_ordered else "",
            units=self.scope.selection.digest,
            plan=self.scope.selection.plan,
            data=data,
            judge=str(self.version) if self.version else "",
            reading=options.reading,
            labels="" if options.source == Source.JUDGE else f"{options.label_rule},tie=absent",
            is_normalised=variant == Variant.NORMALISED,
            examples=len(self.scope.selection.examples) if examples is None else examples,
            seed=options.seed,
            draws=self.draws.get(variant, 0) if draws is None else draws,
        )


def _none_found(weights: Sequence[int]) -> float | None:
    """A summary without any unit of the pyramid has quality 0, if quality is defined at all."""
    return 0.0 if len(set(weights)) > 1 else None


def _bit(label: bool | None) -> int | None:
    return None if label is None else int(label)


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
