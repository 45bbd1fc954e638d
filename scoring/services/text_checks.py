"""Checks of a text that need a parse or a model: has it a verb, and does it follow from its sentence?"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from annotation.cleaning import clean
from annotation.models import Sentence
from annotation.services.text_checks import TextFinding, known_findings, store_findings
from scoring.judges import EMBEDDED, open_judge
from scoring.judging import Judge, Pair

VERBS = frozenset({"VERB", "AUX"})


def find_out(pairs: Sequence[tuple[str, str]]) -> tuple[list[TextFinding], Judge]:
    """What parser and judge say of (sentence, text) pairs. It loads models: for workers and commands only."""
    from annotation.spacy_parser import load_parser

    judge = open_judge(EMBEDDED)
    given = [(clean(sentence).text, clean(text).text) for sentence, text in pairs]
    parses = load_parser().parse([text for _, text in given])
    verdicts = judge.judge([Pair(sentence, text) for sentence, text in given])
    found = [
        TextFinding(text, any(token.pos in VERBS for token in parse.tokens), verdict.p)
        for (_, text), parse, verdict in zip(pairs, parses, verdicts, strict=True)
    ]
    return found, judge


def check_texts(sentence_id: int, texts: Sequence[str], *, now: dt.datetime) -> int:
    """Check what is not known yet and keep it. Returns how many were new."""
    sentence = Sentence.objects.get(pk=sentence_id)
    known = known_findings(sentence, texts)
    new = [text for text in dict.fromkeys(texts) if text not in known]
    if not new:
        return 0
    found, judge = find_out([(sentence.text, text) for text in new])
    store_findings(sentence, found, checker=f"{judge.name}@{judge.revision}", now=now)
    return len(new)
