"""Simulated workers. They have eyes and hands of a browser and nothing else: they fetch worker pages and post forms.

Everything that they decide follows from a seed, the worker's name and the texts on the page, so that a worker answers
a HIT alike whenever it comes.
"""

from __future__ import annotations

import json
import math
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from mturk.exchange.visiting import Form, Page, Visitor

PRESENT, NOT_PRESENT, UNSURE = "present", "not_present", "unsure"
SPAM = ("all_yes", "all_no", "random", "first")  # what careless workers do
CAREFUL = "careful"
STEADY = 30  # how much workers' accuracies lie around the mean; more is closer
SECONDS = 90.0  # that a HIT takes in the middle
UNSURE_SHARE = 0.02
WORDS_FOUND = 0.6  # share of a statement's longer words that must stand in the text
MOST_FAILURES = 5  # in a row, after which a worker goes home

Key = Callable[[str, str], str]
"""The right answer to a statement about a text."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One simulated worker: how often right, how fast, and how likely to give a HIT back or to forget it."""

    name: str
    accuracy: float = 0.9
    kind: str = CAREFUL
    seconds: float = SECONDS
    returns: float = 0.0
    abandons: float = 0.0


@dataclass(frozen=True, slots=True)
class Crowd:
    """What a crowd is drawn from. `speed` 0: nobody waits; 60: a minute of work lasts a second."""

    workers: int
    seed: int = 0
    accuracy: float = 0.9
    spam: float = 0.0
    returns: float = 0.0
    abandons: float = 0.0
    speed: float = 0.0

    def profiles(self) -> list[Profile]:
        """Workers of this crowd, the same for the same seed."""
        rng = random.Random(f"crowd:{self.seed}")  # noqa: S311 (a simulation)
        careless = set(rng.sample(range(self.workers), round(self.spam * self.workers)))
        drawn = []
        for number in range(self.workers):
            right = rng.betavariate(STEADY * self.accuracy + 0.01, STEADY * (1 - self.accuracy) + 0.01)
            pace = SECONDS * math.exp(rng.gauss(0, 0.35))
            kind = SPAM[number % len(SPAM)] if number in careless else CAREFUL
            name = f"sim-{self.seed}-{number + 1:04d}"
            drawn.append(
                Profile(name, right, kind, pace / (4 if number in careless else 1), self.returns, self.abandons)
            )
        return drawn


@dataclass(frozen=True, slots=True)
class Given:
    """One answer that a simulated worker has handed in."""

    worker: str
    hit_id: str
    question: str
    answer: str


@dataclass(slots=True)
class Tally:
    """What a crowd did."""

    handed_in: int = 0
    returned: int = 0
    abandoned: int = 0
    refused: int = 0
    requests: int = 0
    given: list[Given] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.handed_in += other.handed_in
        self.returned += other.returned
        self.abandoned += other.abandoned
        self.refused += other.refused
        self.requests += other.requests
        self.given += other.given


def skimming_key(text: str, statement: str) -> str:
    """A key for texts that nobody has judged: what somebody would say who only looks for the statement's words."""
    wanted = _long_words(statement)
    return PRESENT if wanted and len(wanted & _long_words(text)) >= WORDS_FOUND * len(wanted) else NOT_PRESENT


def _long_words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or word.isdecimal()}


def read_key(path: Path) -> Key:
    """A key from a JSON file: a list of {"text", "statement", "answer"}. Other pairs get the skimming key."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    known = {(plain(row["text"]), plain(row["statement"])): str(row["answer"]) for row in rows}
    return lambda text, statement: known.get((text, statement)) or skimming_key(text, statement)


def plain(text: str) -> str:
    """A text as a page gives it back: white space is one blank."""
    return " ".join(text.split())


class SimulatedWorker:
    """One worker at the site. `take_turn` does one HIT, and says whether there may be another."""

    def __init__(self, profile: Profile, *, join: str, key: Key, seed: int, speed: float = 0.0) -> None:
        self.profile, self.join, self.key, self.seed, self.speed = profile, join, key, seed, speed
        self.visitor = Visitor()
        self.tally = Tally()
        self.offers: list[str] = []
        self.left: set[str] = set()
        self.form_token = ""
        self.failures = 0
        self.is_in = False

    def take_turn(self) -> bool:
        """Accept a HIT and hand it in, return it or forget it."""
        if not self.is_in:
            self.come_in()
        if not self.offers and not self.look_around():
            return False
        page = self.visitor.post(self.offers[0], {"csrfmiddlewaretoken": self.form_token})
        if not page.frame:  # this group has nothing left for this worker, or questions that only people answer
            self.give_back(page)
            self.offers.pop(0)
            return bool(self.offers)
        return self.work(page)

    def come_in(self) -> None:
        page = self.visitor.get(f"{self.join}{'&' if '?' in self.join else '?'}PROLIFIC_PID={self.profile.name}")
        form = next(form for form in page.forms if "participant" in form.values)
        self.visitor.post(form.action or page.url, form.values)
        self.is_in = True

    def look_around(self) -> bool:
        """Read the list of groups: those that can be accepted at once."""
        page = self.visitor.get(self.join.partition("/join/")[0] + "/")
        forms = [form for form in page.forms if form.action.endswith("/next/")]
        self.offers = [form.action for form in forms]
        self.form_token = forms[0].values["csrfmiddlewaretoken"] if forms else ""
        return bool(forms)

    def work(self, page: Page) -> bool:
        task = self.visitor.get(page.frame)
        form = next((form for form in task.forms if form.choices or form.lines), None)
        if task.status != 200 or form is None:
            return self.fail()
        rng = random.Random(f"{self.seed}:{self.profile.name}:{task.text}:{form.labels}")  # noqa: S311
        # What was given back once and comes again is done: otherwise nobody would ever come to an end.
        hit_id = task.parameter("hitId")
        fate = 1.0 if hit_id in self.left else rng.random()
        seconds = self.profile.seconds * math.exp(rng.gauss(0, 0.3))
        if self.speed:
            time.sleep(seconds / self.speed)
        if fate < self.profile.abandons:
            self.left.add(hit_id)
            self.tally.abandoned += 1
            return True
        if fate < self.profile.abandons + self.profile.returns:
            self.give_back(page)
            self.left.add(hit_id)
            self.tally.returned += 1
            return True
        answers = self.answer(task, form, rng)
        return self.hand_in(task, form, {**answers, "seconds": str(round(seconds))})

    def give_back(self, page: Page) -> None:
        for form in page.forms:
            if form.action.endswith("/return/"):
                self.visitor.post(form.action, form.values)

    def answer(self, task: Page, form: Form, rng: random.Random) -> dict[str, str]:
        """What this worker says to every question of a form."""
        chosen = {
            name: self.choose(plain(task.text), plain(form.labels.get(name, "")), options, rng)
            for name, options in form.choices.items()
        }
        sentences = [part.strip(" .") + "." for part in plain(task.text).split(". ") if part.strip(" .")]
        if self.profile.kind != CAREFUL:
            sentences = sentences[:1] * len(form.lines)
        return {**chosen, **dict(zip(form.lines, sentences, strict=False))}

    def choose(self, text: str, statement: str, options: Sequence[str], rng: random.Random) -> str:
        """One answer: the right one as often as the worker is right, or what careless workers click."""
        draw, other = rng.random(), rng.choice(options)
        if self.profile.kind != CAREFUL:
            wanted = {"all_yes": PRESENT, "all_no": NOT_PRESENT, "first": options[0], "random": other}[
                self.profile.kind
            ]
            return wanted if wanted in options else options[0]
        right = self.key(text, statement)
        if right not in options:
            return other
        if UNSURE in options and draw < UNSURE_SHARE:
            return UNSURE
        wrong = [option for option in options if option not in (right, UNSURE)] or [right]
        return right if draw < UNSURE_SHARE + (1 - UNSURE_SHARE) * self.profile.accuracy else wrong[0]

    def hand_in(self, task: Page, form: Form, answers: dict[str, str]) -> bool:
        values = {**form.values, **answers}
        # A page that came with its HIT reads these from its own address, by its script.
        values["assignmentId"] = values.get("assignmentId") or task.parameter("assignmentId")
        action = form.action or f"{task.parameter('turkSubmitTo')}/mturk/externalSubmit"
        reply = self.visitor.post(action, values)
        if reply.status != 200:
            return self.fail()
        self.failures = 0
        self.tally.handed_in += 1
        asked = [*form.choices, *form.lines]
        hit_id = task.parameter("hitId")
        self.tally.given += [Given(self.profile.name, hit_id, name, values[name]) for name in asked if name in values]
        return True

    def fail(self) -> bool:
        self.tally.refused += 1
        self.failures += 1
        return self.failures < MOST_FAILURES

    def go_home(self) -> Tally:
        self.tally.requests = self.visitor.requests
        self.visitor.close()
        return self.tally


def simulate(
    profiles: Iterable[Profile],
    *,
    join: str,
    key: Key = skimming_key,
    seed: int = 0,
    speed: float = 0.0,
    threads: int = 1,
    most: int | None = None,
    told: Callable[[int], None] = lambda handed_in: None,
) -> Tally:
    """Let workers work until nothing is left for any of them, or `most` assignments are handed in.

    With one thread they take turns, and the whole is the same for the same seed; with more, who gets which HIT depends
    on who is faster. `told` hears now and then how many assignments are handed in.
    """
    crowd = [SimulatedWorker(profile, join=join, key=key, seed=seed, speed=speed) for profile in profiles]

    def room(workers: list[SimulatedWorker]) -> Tally:
        awake, tally = list(workers), Tally()
        while awake and not (most is not None and sum(one.tally.handed_in for one in crowd) >= most):
            awake = [worker for worker in awake if worker.take_turn()]
            told(sum(one.tally.handed_in for one in crowd))
        for worker in workers:
            tally.add(worker.go_home())
        return tally

    whole = Tally()
    with ThreadPoolExecutor(max_workers=threads) as pool:
        for tally in pool.map(room, [crowd[start::threads] for start in range(threads)]):
            whole.add(tally)
    return whole
