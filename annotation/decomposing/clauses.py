"""Facts that have a verb: one statement per predicate and argument."""

from __future__ import annotations

from collections.abc import Iterator

from annotation.decomposing.facts import Fact
from annotation.decomposing.frames import (
    Frame,
    Subject,
    agree,
    apart,
    disagrees,
    hangs_on,
    in_order,
    inflected,
    is_plural,
    is_word,
    tells_where_or_when,
)
from annotation.decomposing.naming import FEMALE, MALE, Naming, possessive
from annotation.decomposing.phrases import (
    KEPT_PREPOSITIONS,
    Piece,
    conjuncts,
    is_choice,
    name_ending_at,
    noun_phrase,
    trim,
    write,
)  # fmt: skip
from annotation.decomposing.vocabulary import (
    ASIDES,
    ASKED,
    CLAIMS,
    CONDITIONS,
    DROPPED_ADVERBS,
    HAPPENED,
    KEPT_ADVERBS,
    LIMITS,
    MAX_ADJUNCTS,
    MAX_CHOICE,
    MAX_OBJECTS,
    MAX_SUBJECTS,
    MAX_TOGETHER,
    NEEDS_BOTH,
    NEEDS_MORE,
    NO_PREDICATE,
    NOBODY,
    NOT_FACTUAL,
    OBJECTS,
    OTHER_TIMES,
    PARTICIPLES,
    RECIPROCAL,
    RELATIVE,
    SPEECH,
)
from annotation.parses import SUBJECTS, Parse, Token


class ClauseReader:
    """Reads the clauses of one sentence."""

    def __init__(self, parse: Parse, naming: Naming) -> None:
        self.parse, self.naming = parse, naming

    def facts(self) -> Iterator[Fact]:
        for token in self.parse.tokens:
            if self.is_predicate(token) and not self.is_part_of_another(token):
                yield from self.choice(token) if self.is_choice(token) else self.clause(token)

    # --- which words are predicates ------------------------------------------------------------------------------

    def is_predicate(self, token: Token) -> bool:
        return token.pos in ("VERB", "AUX") and token.dep not in NO_PREDICATE and token.tag != "MD"

    def is_part_of_another(self, token: Token) -> bool:
        """An infinitive belongs to the verb that governs it; what is only claimed is told with who claims it."""
        head = self.parse.head(token)
        if token.dep == "xcomp" and self.is_predicate(head):
            return True
        if token.dep in ("advcl", "ccomp") and self.is_condition(token):
            return True  # "if it rains": nobody says that it does
        if token.dep in ("acl", "relcl") and (self.parse.kids(token, "mark") or self.is_denied(head)):
            return True  # "reports that he died": nobody says that he did
        if token.dep in ("acl", "relcl") and head.lemma.lower() in CLAIMS and self.parse.kids(token, *SUBJECTS):
            return self.parse.kids(token, *SUBJECTS)[0].low not in RELATIVE
        if token.dep == "xcomp" and self.is_infinitive(token):
            return True  # "unable to pay"
        if token.dep in ("advcl", "conj") and token.tag == "VB" and not self.parse.kids(token, "aux", *SUBJECTS):
            return token.dep == "advcl"  # "rather than sell the farm"
        if token.dep in ("advcl", "acl", "ccomp", "pcomp", "relcl") and self.is_infinitive(token):
            return True
        if token.dep == "pcomp" and not self.has_happened(token, head):
            return True
        if token.dep == "conj" and self.is_predicate(head) and not self.parse.kids(token, *SUBJECTS):
            return self.is_part_of_another(head)
        if token.dep == "ccomp" and self.is_predicate(head):
            if token.index < head.index:  # "…, officials say", or two sentences that a comma joins
                return False
            doubted = self.is_limited(head) or any(kid.tag == "MD" for kid in self.parse.kids(head, "aux"))
            return bool(doubted) or head.lemma.lower() not in SPEECH or not self.is_finite(token)
        return False

    def has_happened(self, verb: Token, preposition: Token) -> bool:
        """Whether "after carding an eagle" tells what the subject did. "Urged not to spy by reading …" does not."""
        governor = self.governor(verb)
        if preposition.low not in HAPPENED or governor is None:
            return False
        is_doer = preposition.low != "by" or not self.is_passive(governor)
        return is_doer and not self.is_limited(governor) and not self.is_part_of_another(governor)

    def is_condition(self, verb: Token) -> bool:
        """ "if it rains", "whether he knew", "had they listened"."""
        if any(kid.low in CONDITIONS for kid in self.parse.kids(verb, "mark")):
            return True
        own = self.parse.kids(verb, *SUBJECTS)
        ahead = self.parse.kids(verb, "aux", "auxpass")[:1]
        is_asked = bool(own and ahead) and ahead[0].index < own[0].index
        return verb.dep == "advcl" and is_asked and ahead[0].low in ("had", "should", "were")

    def is_denied(self, noun: Token) -> bool:
        """ "no plans", "nobody": then nothing about it is told apart."""
        return noun.low in NOBODY or any(kid.low == "no" for kid in self.parse.kids(noun, "det"))

    def is_finite(self, token: Token) -> bool:
        tags = [token.tag, *(kid.tag for kid in self.parse.kids(token, "aux", "auxpass"))]
        return any(tag in ("VBD", "VBZ", "VBP", "MD") for tag in tags) or token.tag in ("VBN", "VBG")

    def is_infinitive(self, token: Token) -> bool:
        return any(kid.low == "to" for kid in self.parse.kids(token, "aux"))

    # --- one clause ----------------------------------------------------------------------------------------------

    def clause(self, verb: Token) -> Iterator[Fact]:
        frame = self.frame(verb)
        if frame is None:
            return
        rule = {"relcl": "relative clause", "acl": "participle", "advcl": "adverbial clause"}.get(verb.dep, "clause")
        complement = next(iter(self.parse.kids(verb, "ccomp")), None)
        if complement is not None and complement.index < verb.index and verb.lemma.lower() not in SPEECH | NOT_FACTUAL:
            complement = None
        if complement is None:
            facts = self.expand(frame, verb, rule)
        elif self.is_predicate(complement):
            facts = self.report(frame, verb, complement)
        else:  # "made it three"
            frame.objects = [list(trim(self.parse.subtree(complement)))]
            facts = self.statements(frame, rule)
        conditions = [kid for kid in self.parse.kids(verb, "advcl") if self.is_condition(kid)]
        condition = [word for kid in conditions[:1] for word in trim(self.parse.subtree(kid))]
        for fact in facts:
            yield Fact((*fact.pieces, *condition), fact.rule) if condition else fact

    def is_choice(self, verb: Token) -> bool:
        """Whether a verb is one of several that "or" joins: none of them is told alone."""
        while verb.dep == "conj" and self.is_predicate(self.parse.head(verb)):
            verb = self.parse.head(verb)
        return is_choice(self.parse, verb)

    def choice(self, verb: Token) -> Iterator[Fact]:
        """ "He may be fined or jailed": one statement, told where its first verb stands."""
        subjects = [] if verb.dep == "conj" else self.subjects(verb)
        own = self.parse.kids(verb, *SUBJECTS)
        left_out = {word.index for subject in own for word in self.parse.subtree(subject)}
        words = trim([word for word in self.parse.subtree(verb, ASIDES) if word.index not in left_out])
        if subjects and len(words) <= MAX_CHOICE:
            yield Fact((*subjects[0].pieces, *[word for word in words if word.low != "either"]), "choice")

    def expand(self, frame: Frame, verb: Token, rule: str, prefix: tuple[Piece, ...] = ()) -> Iterator[Fact]:
        """The statements of a verb, with the infinitive or the clause that it governs if there is one."""
        self.add_complement(frame, verb)
        infinitive = next(iter(self.parse.kids(verb, "xcomp")), None)
        if infinitive is not None:
            return self.infinitives(frame, infinitive, rule, prefix)
        return self.statements(frame, rule, prefix)

    def add_complement(self, frame: Frame, verb: Token) -> None:
        """ "… proves it belonged to Henry", "… having a statue put up": without what follows the verb says nothing."""
        for complement in self.parse.kids(verb, "ccomp"):
            is_cut = complement.tag in ("VBZ", "VBD", "VBP") and not self.parse.kids(complement, *SUBJECTS)
            if complement.index > verb.index and not is_cut:
                lead = frame.objects[0] if frame.objects else []
                frame.objects = [[*lead, *trim(self.parse.subtree(complement, frozenset({"advcl"})))]]

    def frame(self, verb: Token) -> Frame | None:
        subjects = self.subjects(verb)
        group = self.verb_group(verb)
        if not subjects or (not self.parse.kids(verb, *SUBJECTS) and disagrees(group, subjects)):
            return None
        if verb.tag == "VBG" and not self.parse.kids(verb, "aux") and write(self.parse, subjects[0].pieces) == "This":
            return None  # "this coming Saturday"
        stands_alone = self.is_passive(verb) and verb.lemma.lower() not in NEEDS_MORE
        frame = Frame(subjects, group, stands_alone=stands_alone, is_limited=self.is_limited(verb))
        self.add_arguments(frame, verb)
        self.fill_gap(frame, verb)
        return frame

    def statements(self, frame: Frame, rule: str, prefix: tuple[Piece, ...] = ()) -> Iterator[Fact]:
        for subject in frame.subjects[:MAX_SUBJECTS]:
            base = (*prefix, *subject.pieces, *agree(frame.verb, subject))
            if frame.is_limited and frame.adjuncts:
                first = self.named(frame.objects[:1], subject) or [[]]
                yield Fact((*base, *first[0], *apart(frame.adjuncts)), rule)
                continue
            for number, words in enumerate(self.named(frame.objects[:MAX_OBJECTS], subject) or [[]]):
                if words or frame.stands_alone or not frame.adjuncts:
                    yield Fact((*base, *words), rule)
                for adjunct in frame.adjuncts[: MAX_ADJUNCTS if number == 0 else 1]:
                    yield Fact((*base, *words, *adjunct), rule)
                if number == 0 and len(frame.adjuncts) > 1:
                    # Two short ones are often told together ("came third in the race in 1962").
                    both = (*base, *words, *apart(frame.adjuncts[:2]))
                    if len(both) <= MAX_TOGETHER:
                        yield Fact(both, rule)

    def named(self, objects: list[list[Piece]], subject: Subject) -> list[list[Piece]]:
        who = write(self.parse, subject.pieces)
        return [
            self.naming.object(self.parse, words, who) if words and all(isinstance(w, Token) for w in words) else words  # type: ignore[arg-type]
            for words in objects
        ]

    def report(self, frame: Frame, verb: Token, complement: Token) -> Iterator[Fact]:
        """ "The council says that …": who says it, with the core of what is said."""
        speaker = frame.subjects[0]
        asked = [kid for kid in self.parse.kids(complement, "mark", "advmod") if kid.low in ASKED][:1]
        said = (*speaker.pieces, *agree(frame.verb, speaker), *(frame.objects[0] if frame.objects else []), *asked)
        inner = self.frame(complement)
        if complement.index < verb.index or inner is None:
            yield Fact((*said, "this"), "report")
            return
        inner.subjects = [self.as_written(complement) or self.gap_of(verb, complement) or inner.subjects[0]]
        if self.is_infinitive(complement):
            inner.verb = ["to", *inner.verb]
        elif inner.verb[:1] == ["was"] and complement.low != "being":
            inner.verb = inner.verb[1:]  # "saw 34 fans arrested"
        yield from self.expand(inner, complement, "report", said)

    def infinitives(self, frame: Frame, first: Token, rule: str, prefix: tuple[Piece, ...] = ()) -> Iterator[Fact]:
        """ "He agreed to join Madrid and to leave Porto": each infinitive with the verb that governs it."""
        lead = [*frame.verb, *(frame.objects[0] if frame.objects else [])]
        for verb in conjuncts(self.parse, first):
            own = self.parse.kids(verb, "nsubj", "nsubjpass")
            words: list[Piece] = list(noun_phrase(self.parse, own[0], whole=True)) if own else []
            particles = self.parse.kids(verb, "aux", "auxpass", "neg", "prt")
            if verb is not first and not particles and self.is_infinitive(first):
                words.append("to")
            words += in_order([*particles, verb])
            inner = Frame(frame.subjects, [*lead, *words], is_limited=frame.is_limited or self.is_limited(verb))
            self.add_arguments(inner, verb)
            self.add_complement(inner, verb)
            further = next(iter(self.parse.kids(verb, "xcomp")), None)
            if further is not None:
                yield from self.infinitives(inner, further, rule, prefix)
            else:
                yield from self.statements(inner, rule, prefix)
        for subject in frame.subjects[:MAX_SUBJECTS]:
            for adjunct in frame.adjuncts[:MAX_ADJUNCTS]:
                yield Fact((*prefix, *subject.pieces, *agree(lead, subject), *adjunct), rule)

    # --- subjects ------------------------------------------------------------------------------------------------

    def subjects(self, verb: Token, depth: int = 0) -> list[Subject]:
        """The subjects of a verb, each on its own, with names spelt out; [] if there is none."""
        parse, head = self.parse, self.parse.head(verb)
        own = parse.kids(verb, *SUBJECTS)
        if own:
            return self.own_subjects(verb, own[0])
        if depth > 8:
            return []
        if verb.dep == "conj" and self.is_predicate(head):
            return self.subjects(head, depth + 1)
        if verb.dep in ("acl", "relcl"):
            is_time = head.entity in ("DATE", "TIME")
            return self.nouns(head, before=verb) if head.pos in ("NOUN", "PROPN") and not is_time else []
        if verb.dep in ("advcl", "pcomp"):
            governor = self.governor(verb)
            return self.subjects(governor, depth + 1) if governor else []
        if verb.dep == "xcomp":
            objects = parse.kids(head, "dobj")
            return self.nouns(objects[0]) if objects else self.subjects(head, depth + 1)
        if verb.dep == "ccomp" and verb.tag == "VBG":
            return self.subjects(head, depth + 1)
        is_shouted = verb.index == 0 and verb.text.isupper()  # "CLICK HERE for all the news"
        if verb.dep == "ROOT" and (verb.tag in ("VB", "VBP") or is_shouted) and not parse.kids(verb, "aux"):
            return [Subject(("You can",), plural=True)]
        if verb.dep in ("ROOT", "ccomp") and self.naming.main:
            return [Subject((self.naming.main.text,), self.naming.main.is_plural)]
        return []

    def own_subjects(self, verb: Token, subject: Token) -> list[Subject]:
        parse = self.parse
        if subject.dep.startswith("csubj"):
            return [Subject(tuple(parse.subtree(subject)))]
        if subject.low in RELATIVE and verb.dep == "relcl":
            return self.nouns(parse.head(verb))
        if any(kid.low == "whose" for kid in parse.kids(subject, "poss")) and verb.dep == "relcl":
            owner = write(parse, self.nouns(parse.head(verb))[0].pieces)
            rest = [word for word in noun_phrase(parse, subject) if word.low != "whose"]
            return [Subject((possessive(owner), *rest), is_plural(subject))]
        if subject.pos == "PRON" and verb.dep in ("ccomp", "advcl"):
            same = self.governing_subject(verb, subject)
            if same:
                return same
        return self.nouns(subject, whole=verb.lemma.lower() in RECIPROCAL and not parse.kids(verb, "dobj"))

    def governing_subject(self, verb: Token, pronoun: Token) -> list[Subject]:
        """ "Rose said he was happy": he is Rose, if the number fits."""
        governor = self.governor(verb)
        own = self.parse.kids(governor, "nsubj", "nsubjpass") if governor else []
        if not own or own[0].pos == "PRON" or self.parse.kids(own[0], "poss"):
            return []  # "Sarah's boss said she": either
        assert governor is not None
        others = self.parse.kids(governor, "dobj", "dative")
        if any(word.entity == "PERSON" or word.lemma.lower() in MALE | FEMALE for word in others):
            return []  # "Tom told Ben that he": either
        is_body = own[0].entity in ("ORG", "GPE", "PRODUCT")
        fits = {
            "he": own[0].entity == "PERSON" or own[0].lemma.lower() in MALE or verb.dep == "ccomp",
            "she": own[0].entity == "PERSON" or own[0].lemma.lower() in FEMALE or verb.dep == "ccomp",
            "it": is_body,
            "they": True,
        }
        subjects = self.nouns(own[0])
        several = len(subjects) > 1 or subjects[0].plural
        is_team = is_body and pronoun.low == "they"  # "West Ham say they are disappointed"
        return subjects if fits.get(pronoun.low) and (is_team or several == (pronoun.low == "they")) else []

    def nouns(self, head: Token, *, before: Token | None = None, whole: bool = False) -> list[Subject]:
        """A noun, or several that are joined, as subjects. A name that stands beside its noun takes its place."""
        found = []
        heads = [word for word in conjuncts(self.parse, head) if before is None or word.index < before.index]
        if len(heads) > 1 and (whole or is_choice(self.parse, head)):
            return [Subject(tuple(noun_phrase(self.parse, head, whole=True)), whole or is_plural(head))]
        if any(kid.low == "but" for word in heads for kid in self.parse.kids(word, "cc")):
            denied = [word for word in heads if self.parse.kids(word, "neg")]  # "Japan, but not China, signed"
            # "No injuries reported but search will continue"
            heads = [word for word in heads if word not in denied] if denied else heads[-1:]
        for word in heads:
            names = [kid for kid in self.parse.kids(word, "appos") if kid.entity == "PERSON"]
            if word.pos == "NOUN" and names:
                pieces = self.naming.spell_out(name_ending_at(self.parse, names[0]))
            else:
                pieces = self.naming.subject(self.parse, noun_phrase(self.parse, word))
            found.append(Subject(tuple(pieces), is_plural(word), alone=len(heads) > 1))
        return found

    def as_written(self, verb: Token) -> Subject | None:
        """The subject in the words of the sentence: in "she said that she …" the second one is clear."""
        own = self.parse.kids(verb, *SUBJECTS)
        if not own or own[0].low in RELATIVE:
            return None
        words = noun_phrase(self.parse, own[0], whole=True)
        return Subject(tuple(words), is_plural(own[0]) or bool(self.parse.kids(own[0], "conj")))

    def gap_of(self, verb: Token, complement: Token) -> Subject | None:
        """ "treatments they hope will change their lives": the treatments will."""
        head = self.parse.head(verb)
        if verb.dep != "relcl" or self.parse.kids(complement, *SUBJECTS) or head.pos not in ("NOUN", "PROPN"):
            return None
        return self.nouns(head)[0]

    def governor(self, verb: Token) -> Token | None:
        """The predicate that a clause hangs on, perhaps by a preposition ("after carding an eagle")."""
        head = self.parse.head(verb)
        for _ in range(3):
            if head.index != verb.index and self.is_predicate(head):
                return head
            head = self.parse.head(head)
        return None

    # --- the verb ------------------------------------------------------------------------------------------------

    def verb_group(self, verb: Token) -> list[Piece]:
        """The verb with its auxiliaries, negation and particle; one that lacks an auxiliary gets it."""
        parse = self.parse
        auxiliaries = [word for word in parse.kids(verb, "aux", "auxpass") if word.low != "to"]
        if not auxiliaries and verb.dep == "conj" and not parse.kids(verb, *SUBJECTS):
            auxiliaries = [word for word in self.inherited(verb) if word.low != "to"]
        limits = [word for words in self.adverbs(verb, KEPT_ADVERBS) for word in words]
        around = sorted({*auxiliaries, *parse.kids(verb, "neg"), *limits}, key=lambda word: word.index)
        return [*self.finite(verb, around), *parse.kids(verb, "prt")]

    def is_limited(self, verb: Token) -> bool:
        """Whether "not", "never" or "only" limits the verb: "did not die in vain" says nothing of "did not die"."""
        denied = any(self.is_denied(noun) for noun in self.parse.kids(verb, *SUBJECTS, *OBJECTS))
        return denied or bool(self.parse.kids(verb, "neg")) or bool(self.adverbs(verb, LIMITS))

    def adverbs(self, verb: Token, wanted: frozenset[str]) -> list[list[Token]]:
        """Adverbs around a verb of which a word is wanted, each whole ("no longer", "hardly ever")."""
        found = [self.parse.subtree(kid) for kid in self.parse.kids(verb, "advmod")]
        near = [words for words in found if words[0].index <= verb.index + 1]
        return [words for words in near if any(word.low in wanted for word in words)]

    def inherited(self, verb: Token) -> list[Token]:
        """Auxiliaries that a joined verb shares with the first one ("was abducted and murdered")."""
        head = self.parse.head(verb)
        for _ in range(5):
            if head.dep != "conj" or self.parse.kids(head, "aux", "auxpass"):
                break
            head = self.parse.head(head)
        same_form = verb.tag == head.tag or (verb.tag == "VBD" and head.tag == "VBN" and self.is_passive(head))
        return self.parse.kids(head, "aux", "auxpass") if same_form or verb.tag == "VB" else []

    def finite(self, verb: Token, around: list[Token]) -> list[Piece]:
        if verb.low == "being":
            return ["was", *[word for word in around if word.low != "being"]]
        if around and around[0].low == "being":
            return ["was", *around[1:], verb]
        if around and around[0].low == "having":
            return ["had", *around[1:], verb]
        has_auxiliary = any(word.dep in ("aux", "auxpass") for word in around)
        if not has_auxiliary and verb.tag == "VBG" and verb.dep == "pcomp":
            return [*around, inflected(verb, "VBD")]
        if not has_auxiliary and (verb.tag == "VBG" or self.is_bare_passive(verb)):
            return ["was", *around, verb]
        if verb.text in ("'s", "’s"):
            return ["is", *around]
        if verb.text in ("'re", "’re"):
            return ["are", *around]
        before = [word for word in around if word.index < verb.index]
        return [*before, verb, *[word for word in around if word.index > verb.index]]

    def is_bare_passive(self, verb: Token) -> bool:
        """A participle without an auxiliary: passive, unless it looks like a past tense that was taken for one."""
        if verb.low in PARTICIPLES or self.parse.kids(verb, "nsubjpass", "agent"):
            return verb.tag in ("VBN", "VBD")
        if self.parse.kids(verb, "dobj"):
            return False
        if verb.dep in ("acl", "relcl") and verb.tag == "VBD":
            return not self.parse.kids(verb, *SUBJECTS)  # "the gun used"
        if verb.tag != "VBN":
            return False
        # With an article the sentence is no headline, and its verb a past tense ("The ship burned for a week").
        headline = [noun for noun in self.parse.kids(verb, "nsubj") if not self.parse.kids(noun, "det", "poss")]
        return verb.dep in ("acl", "relcl", "advcl") or bool(headline)

    def is_passive(self, verb: Token) -> bool:
        return bool(self.parse.kids(verb, "nsubjpass", "auxpass", "agent"))

    # --- arguments -----------------------------------------------------------------------------------------------

    def add_arguments(self, frame: Frame, verb: Token) -> None:
        parse = self.parse
        objects = [word for word in parse.kids(verb, *OBJECTS) if word.low not in RELATIVE]
        frame.objects = self.objects(objects)
        for kid in parse.kids(verb):
            # Two prepositions that "but" joins are opposites, whichever of them is negated.
            if not any(word.low == "but" for word in parse.kids(kid, "cc")):
                frame.adjuncts += self.adjuncts(verb, kid)
        for noun in objects:
            if self.is_denied(noun):
                continue
            for kid in parse.kids(noun, "prep"):
                if kid.low not in KEPT_PREPOSITIONS:
                    frame.adjuncts += self.prepositional(kid)
        for subject in parse.kids(verb, "nsubj", "nsubjpass"):
            frame.adjuncts += [list(parse.subtree(kid)) for kid in parse.kids(subject, "npadvmod")]

    def objects(self, objects: list[Token]) -> list[list[Piece]]:
        """Alternatives: the nouns of a joined object, each with whatever else the verb takes."""
        direct = [word for word in objects if word.dep in ("dobj", "attr", "acomp")][:1]
        others = [word for word in objects if word not in direct]
        rest = [word for noun in others for word in noun_phrase(self.parse, noun, whole=True)]
        if not direct:
            return [list(trim(rest))] if rest else []
        if self.is_denied(direct[0]):  # "no plans to leave"
            return [list(trim(self.parse.subtree(direct[0])))]
        if is_choice(self.parse, direct[0]):
            return [list(trim([*noun_phrase(self.parse, direct[0], whole=True), *rest]))]
        return [list(trim([*noun_phrase(self.parse, head), *rest])) for head in conjuncts(self.parse, direct[0])]

    def adjuncts(self, verb: Token, kid: Token) -> list[list[Piece]]:
        if kid.dep in ("prep", "agent"):
            return self.prepositional(kid)
        if kid.dep == "npadvmod":
            return [list(self.parse.subtree(kid, frozenset({"relcl", "appos", "punct"})))]
        if kid.dep == "advmod" and kid.index > verb.index and kid.low not in DROPPED_ADVERBS | KEPT_ADVERBS:
            words = trim(self.parse.subtree(kid, frozenset({"advcl", "conj", "cc"})))
            return [list(words)] if len(words) > 1 or kid.pos != "ADP" else []
        if kid.dep == "advcl" and self.is_infinitive(kid):
            return [self.infinitive(kid)]
        return []

    def prepositional(self, preposition: Token) -> list[list[Piece]]:
        """A preposition with its noun, and those that hang on that noun as further ones."""
        parse = self.parse
        kids = parse.kids(preposition)
        if preposition.low == "except" or parse.kids(preposition, "neg"):
            return []  # "but not in humans"
        # "because of", "out of", "next to": prepositions of two words.
        second = [kid for kid in kids if kid.pos in ("ADP", "SCONJ") and not parse.kids(kid)]
        lead = [kid for kid in kids if kid.dep in ("advmod", "npadvmod", "quantmod") and kid.index < preposition.index]
        words = [*lead, preposition, *second]
        found: list[list[Piece]] = []
        for kid in kids:
            if kid.dep == "pobj" and is_word(kid) and kid.low not in RELATIVE:
                further = [word for word in parse.kids(kid, "prep") if word.low not in KEPT_PREPOSITIONS]
                inner = [pieces for word in further for pieces in self.prepositional(word)]
                if preposition.low in NEEDS_BOTH or is_choice(parse, kid):
                    found.append([*words, *noun_phrase(parse, kid, whole=True)])
                    continue
                for noun in conjuncts(parse, kid)[:MAX_OBJECTS]:
                    nearest = inner[0] if inner and noun is kid else []
                    found.append([*words, *noun_phrase(parse, noun), *nearest])
                # "the first time in 52 years", "until her death in 2001": the verb did not happen then.
                is_time = kid.low == "time" or kid.entity in ("DATE", "TIME") or preposition.low in OTHER_TIMES
                if not is_time:
                    found += [pieces for pieces in inner if tells_where_or_when(pieces) and hangs_on(pieces, kid)]
            elif kid.dep == "pcomp" and kid.pos in ("ADP", "SCONJ") and parse.kids(kid, "pobj"):
                found += [[*words, *inner] for inner in self.prepositional(kid)]  # "due to"
            elif kid.dep == "prep" and kid not in second and not parse.kids(preposition, "pobj"):
                found += [[*words, *inner] for inner in self.prepositional(kid)[:1]]
            elif kid.dep == "prep" and kid not in second:
                found += self.prepositional(kid)
            elif kid.dep == "pcomp" and kid not in second and self.is_part_of_another(kid):
                found.append([*words, *self.infinitive(kid)])
            elif kid.dep == "pcomp" and kid not in second and parse.kids(kid, *SUBJECTS):
                found.append([*words, *trim(parse.subtree(kid, frozenset({"advcl"})))])  # "with how people see it"
        return found

    def infinitive(self, verb: Token) -> list[Piece]:
        """ "to accelerate growth", "reaching her home": a verb form with its object."""
        parse = self.parse
        words = {*parse.kids(verb, "aux", "auxpass", "neg", "prt"), verb}
        for noun in parse.kids(verb, *OBJECTS):
            words.update(noun_phrase(parse, noun, whole=True))
        pieces: list[Piece] = [*in_order(words)]
        if parse.kids(verb, *SUBJECTS):
            return [*trim(parse.subtree(verb, frozenset({"advcl"})))]
        for kid in parse.kids(verb, "xcomp", "ccomp"):
            if kid.index > verb.index:
                return [*pieces, *trim(parse.subtree(kid, frozenset({"advcl"})))]
        if not parse.kids(verb, *OBJECTS):
            for kid in parse.kids(verb, "prep")[:1]:
                pieces += (self.prepositional(kid) or [[]])[0]
        return pieces

    def fill_gap(self, frame: Frame, verb: Token) -> None:
        """In "children she cares for" and "the town where she lives" the noun is an argument of the verb behind it."""
        parse = self.parse
        own = parse.kids(verb, *SUBJECTS)
        if verb.dep != "relcl" or not own or own[0].low in RELATIVE:
            return
        words = self.naming.spell_out(noun_phrase(parse, parse.head(verb)))
        between = {word.low for word in parse.tokens[parse.head(verb).index + 1 : verb.index]}
        in_which = [
            kid for kid in parse.kids(verb, "prep") if {"which", "whom"} & {n.low for n in parse.kids(kid, "pobj")}
        ]
        stranded = [kid for kid in parse.kids(verb, "prep") if not parse.kids(kid)]
        if stranded:
            frame.adjuncts.append([stranded[0], *words])
        elif in_which:
            frame.adjuncts.append([in_which[0], *words])
        elif (
            verb.lemma.lower() in SPEECH | NOT_FACTUAL
            and parse.tokens[noun_phrase(parse, own[0])[0].index - 1].text == ","
        ):
            frame.objects = [["this"]]  # "…, the minister has suggested"
        elif "where" in between:
            frame.adjuncts.append(["in", *words])
        elif "when" in between:
            frame.adjuncts.append(["on", *words])
        elif not frame.objects and not self.is_passive(verb) and not parse.kids(verb, "ccomp", "xcomp"):
            frame.objects = [list(words)]
