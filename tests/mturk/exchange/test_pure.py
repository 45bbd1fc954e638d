"""The pure parts: money, states, qualifications, questions."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mturk.exchange.errors import Refused
from mturk.exchange.hit_states import Counts, state_of
from mturk.exchange.ids import new_id, new_key_id, new_secret, new_worker_id
from mturk.exchange.money import EFFECTS, Accounts, add_up, cents_of, dollars_of
from mturk.exchange.qualifying import Profile, may, meets, percent_approved, requirement_problem
from mturk.exchange.question_checks import check_question
from tests.mturk.exchange.walking import QUESTION, SCHEMAS

NOW = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
LOCALE, NUMBER = "00000000000000000071", "00000000000000000040"


@pytest.mark.parametrize(
    ("amount", "cents"), [("0", 0), ("0.15", 15), ("3", 300), ("3.", 300), ("0.5", 50), ("007.10", 710)]
)
def test_amounts_are_cents(amount, cents):
    assert cents_of(amount) == cents


@pytest.mark.parametrize("amount", ["", ".5", "-1", "1e3", "0.123", "1,0", "٣", "1" * 30, "$1", " 1"])
def test_what_is_no_amount_is_refused(amount):
    with pytest.raises(ValueError, match=r"no amount|cent|more than"):
        cents_of(amount)


@given(st.integers(0, 10**14))
def test_amounts_come_back(cents):
    assert cents_of(dollars_of(cents)) == cents


SIGNED = {kind: 1 if kind in ("deposit", "release") else -1 for kind in EFFECTS}


@given(st.lists(st.tuples(st.sampled_from(sorted(EFFECTS)), st.integers(1, 10**9))))
def test_every_cent_is_somewhere(moves):
    lines = [(kind, SIGNED[kind] * cents) for kind, cents in moves]
    total = {kind: sum(abs(cents) for name, cents in lines if name == kind) for kind in EFFECTS}
    accounts = add_up(lines)
    assert accounts.available + accounts.held == total["deposit"] - total["pay"] - total["fee"] - total["bonus"]
    assert accounts.owed == total["pay"] + total["bonus"] - total["payout"]


def test_one_hit_of_three_from_hold_to_pay():
    lines = [("deposit", 100), ("hold", -60), ("pay", -20), ("release", 40), ("bonus", -5), ("payout", -20)]
    assert add_up(lines) == Accounts(available=75, held=0, owed=5)


@given(*[st.integers(0, 5)] * 4, st.integers(0, 3), st.booleans(), st.booleans())
def test_every_assignment_is_somewhere(accepted, submitted, approved, rejected, free, is_expired, is_reviewing):
    counts = Counts(accepted, submitted, approved, rejected)
    most = counts.taken + free
    expires_at = NOW if is_expired else NOW + dt.timedelta(seconds=1)
    state = state_of(counts, max_assignments=most, expires_at=expires_at, now=NOW, is_reviewing=is_reviewing)
    assert state.available == (0 if is_expired else free)
    if not is_expired:
        assert state.available + state.pending + submitted + approved + rejected == most
    assert state.completed == approved + rejected
    assert state.may_cost == state.available + accepted + submitted
    if state.status in ("Reviewable", "Reviewing"):
        assert state.available == state.pending == 0
    assert (state.status == "Assignable") == (state.available > 0)
    assert (state.status == "Unassignable") == (state.available == 0 and accepted > 0)


def test_a_disposed_hit_offers_nothing():
    state = state_of(Counts(), max_assignments=3, expires_at=NOW + dt.timedelta(1), now=NOW, is_disposed=True)
    assert (state.status, state.available, state.may_cost) == ("Disposed", 0, 0)


def need(comparator, *values, type_id="3Q", **more):
    name = "LocaleValues" if type_id == LOCALE else "IntegerValues"
    return {
        "QualificationTypeId": type_id,
        "Comparator": comparator,
        **({name: list(values)} if values else {}),
        **more,
    }


US, NY, DE = {"Country": "US"}, {"Country": "US", "Subdivision": "NY"}, {"Country": "DE"}

SENSELESS = [
    need("Exists", 1), need("DoesNotExist", 1), need("EqualTo"), need("EqualTo", 1, 2), need("LessThan"),
    need("In", *range(16)), need("NotIn"), need("EqualTo", US), need("In", *[DE] * 31, type_id=LOCALE),
    need("GreaterThan", US, type_id=LOCALE), need("EqualTo", type_id=LOCALE), need("EqualTo", US, DE, type_id=LOCALE),
    need("EqualTo", {"Country": "DE", "Subdivision": "BE"}, type_id=LOCALE),
    {**need("EqualTo", 1), "LocaleValues": [US]},
    {**need("EqualTo", US, type_id=LOCALE), "IntegerValues": [1]},
    need("Exists", RequiredToPreview=True, ActionsGuarded="Accept"),
]  # fmt: skip


@pytest.mark.parametrize(
    "requirement", [one for one in SENSELESS if "LocaleValues" in one or one.get("IntegerValues") != [US]]
)
def test_a_requirement_that_makes_no_sense_is_named(requirement):
    assert requirement_problem(requirement)


@pytest.mark.parametrize(
    "requirement",
    [
        need("Exists"), need("EqualTo", 0), need("In", *range(15)), need("In", *[DE] * 30, type_id=LOCALE),
        need("NotEqualTo", NY, type_id=LOCALE), need("Exists", type_id=LOCALE), need("Exists", RequiredToPreview=True),
    ],
)  # fmt: skip
def test_a_requirement_that_makes_sense(requirement):
    assert requirement_problem(requirement) == ""


@pytest.mark.parametrize(
    ("requirement", "holds"),
    [
        (need("LessThan", 5), False), (need("LessThan", 6), True), (need("LessThanOrEqualTo", 5), True),
        (need("GreaterThan", 5), False), (need("GreaterThan", 4), True), (need("GreaterThanOrEqualTo", 5), True),
        (need("EqualTo", 5), True), (need("NotEqualTo", 5), False), (need("In", 4, 5), True), (need("NotIn", 4, 5), False),
        (need("Exists"), True), (need("DoesNotExist"), False),
        (need("Exists", type_id="3OTHER"), False), (need("DoesNotExist", type_id="3OTHER"), True),
        (need("NotEqualTo", 9, type_id="3OTHER"), False),
        (need("EqualTo", US, type_id=LOCALE), True), (need("EqualTo", NY, type_id=LOCALE), True),
        (need("EqualTo", {"Country": "US", "Subdivision": "CA"}, type_id=LOCALE), False),
        (need("NotEqualTo", DE, type_id=LOCALE), True), (need("In", DE, US, type_id=LOCALE), True),
        (need("NotIn", DE, US, type_id=LOCALE), False), (need("Exists", type_id=LOCALE), True),
    ],
)  # fmt: skip
def test_comparators(requirement, holds):
    assert meets(requirement, Profile({"3Q": 5}, "US-NY")) == holds


def test_whoever_says_nothing_of_their_place_is_nowhere():
    for comparator in ("EqualTo", "NotEqualTo"):
        assert not meets(need(comparator, US, type_id=LOCALE), Profile({}))


def test_a_requirement_guards_what_it_says():
    stranger = Profile({})
    acts = ("discover", "preview", "accept")
    allowed = {
        guarded: [act for act in acts if may(act, [need("Exists", ActionsGuarded=guarded)], stranger)]
        for guarded in ("Accept", "PreviewAndAccept", "DiscoverPreviewAndAccept")
    }
    assert allowed == {
        "Accept": ["discover", "preview"],
        "PreviewAndAccept": ["discover"],
        "DiscoverPreviewAndAccept": [],
    }
    assert [act for act in acts if may(act, [need("Exists")], stranger)] == ["discover", "preview"]
    assert [act for act in acts if may(act, [need("Exists", RequiredToPreview=True)], stranger)] == ["discover"]


@pytest.mark.parametrize(("approved", "rejected", "percent"), [(0, 0, 100), (0, 99, 100), (98, 2, 98), (1999, 1, 99)])
def test_newcomers_count_as_approved(approved, rejected, percent):
    assert percent_approved(approved, rejected) == percent


def html_question(content, height="0"):
    return (
        f'<HTMLQuestion xmlns="{SCHEMAS}2011-11-11/HTMLQuestion.xsd"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


PAGE = "<!DOCTYPE html><html><body><p>Rock &amp; roll &#8211; {}</p><script>if (a && b) c();</script></body></html>"

GOOD_QUESTIONS = [
    QUESTION,
    '<?xml version="1.0" encoding="UTF-8"?>' + QUESTION,
    QUESTION.replace("https://example.org/task?t=1", "http://127.0.0.1:8000/task/x/"),
    html_question(PAGE),
    html_question('<a href="?a=1&b=2">x</a>', "450"),
]


@pytest.mark.parametrize("xml", GOOD_QUESTIONS)
def test_good_questions(xml):
    check_question(xml, plain_http={"127.0.0.1"})


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
BAD_QUESTIONS = [
    ("", "XMLParseError"),
    ("<p>", "XMLParseError"),
    (BOMB, "XMLParseError"),
    ("<HTMLQuestion/>", "XMLParseError"),
    (QUESTION.replace("2006-07-14", "2011-11-11"), "XMLParseError"),
    (QUESTION.replace("<FrameHeight>0</FrameHeight>", ""), "XMLParseError"),
    (QUESTION.replace("<FrameHeight>0", "<FrameHeight>tall"), "XMLParseError"),
    (QUESTION.replace("https:", "http:"), "InvalidParameterValue"),
    (QUESTION.replace("https:", "javascript:"), "InvalidParameterValue"),
    (QUESTION.replace("?t=1", "?workerId=1"), "InvalidParameterValue"),
    (QUESTION.replace("https://example.org/task?t=1", "nowhere"), "InvalidParameterValue"),
    (QUESTION.replace("https://example.org/task?t=1", "https://[::1"), "InvalidParameterValue"),
    (QUESTION.replace("example.org", "evil.example; script-src-elem https: ; x:1"), "InvalidParameterValue"),
    (QUESTION.replace("example.org", "somebody@example.org"), "InvalidParameterValue"),
    (html_question("<p>Rock & roll</p>"), "XHTMLParseError"),
    (html_question("<body></body><body></body>"), "XHTMLParseError"),
    (html_question("  "), "XHTMLParseError"),
    (f'<QuestionForm xmlns="{SCHEMAS}2017-11-06/QuestionForm.xsd"/>', "XMLParseError"),
]


@pytest.mark.parametrize(("xml", "code"), BAD_QUESTIONS)
def test_bad_questions(xml, code):
    with pytest.raises(Refused) as caught:
        check_question(xml)
    assert caught.value.kind.code.endswith(code)


def test_ids_have_their_forms():
    assert [len(new_id()), len(new_worker_id()), len(new_key_id()), len(new_secret())] == [30, 20, 20, 40]
    assert new_id() != new_id()
    assert not new_key_id().startswith(("AKIA", "ASIA"))
