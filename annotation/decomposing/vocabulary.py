"""Words and labels that the rules for clauses go by."""

from __future__ import annotations

OBJECTS = ("dobj", "attr", "acomp", "oprd", "dative")
NO_PREDICATE = frozenset({"aux", "auxpass", "amod", "compound", "case", "prep", "nmod", "det", "neg", "punct", "intj"})
RELATIVE = frozenset({"who", "which", "that", "whom"})
# Adverbs without which a statement would be false.
KEPT_ADVERBS = frozenset({
    "allegedly", "almost", "apparently", "barely", "falsely", "hardly", "longer", "mistakenly", "nearly", "never", "no",
    "not", "only", "perhaps", "possibly", "probably", "rarely", "reportedly", "scarcely", "seldom", "supposedly",
    "wrongly", "yet",
})  # fmt: skip
DROPPED_ADVERBS = frozenset({
    "how", "when", "where", "why", "then", "now", "also", "so", "however", "meanwhile", "still", "just", "even",
    "already", "therefore", "instead", "too", "there",
})  # fmt: skip
# What somebody claims, wants or denies is not so because they do.
NOT_FACTUAL = frozenset({
    "accuse", "allege", "argue", "believe", "claim", "consider", "deny", "doubt", "dispute", "expect", "fear",
    "feel", "hope", "imagine", "insist", "predict", "reject", "refuse", "suggest", "suspect", "think", "threaten",
    "urge", "want", "warn", "wish",
})  # fmt: skip
# Verbs that tell what somebody says, knows or shows.
SPEECH = frozenset({
    "acknowledge", "add", "admit", "agree", "announce", "answer", "ask", "confirm", "decide", "declare", "discover",
    "explain", "find", "hear", "indicate", "know", "learn", "mean", "note", "notice", "promise", "prove", "read",
    "realise", "realize", "recall", "remember", "reply", "report", "reveal", "rule", "say", "see", "show", "state",
    "tell", "testify", "understand", "vow", "write",
})  # fmt: skip
# Prepositions whose verb tells what happened ("after carding an eagle"); with others it may not have ("from reaching").
HAPPENED = frozenset({"after", "by", "despite", "while", "when", "upon", "following"})
# With these, what "and" joins belongs together: nothing lies between one thing.
NEEDS_BOTH = frozenset({"between", "among", "amongst", "both"})
PLACES_AND_TIMES = frozenset({"GPE", "LOC", "FAC", "DATE", "TIME", "EVENT"})
# Nouns for what somebody says or thinks: what follows them is not told as a fact.
CLAIMS = frozenset({
    "allegation", "announcement", "assertion", "belief", "chance", "claim", "concern", "evidence", "fear", "hope",
    "idea", "possibility", "proof", "prospect", "report", "risk", "rumour", "rumor", "sign", "speculation",
    "suggestion", "suspicion", "theory", "threat", "warning",
})  # fmt: skip
# A time that hangs on what these govern is not the verb's ("married until her death in 2001").
OTHER_TIMES = frozenset({"until", "till", "before", "after", "since", "following"})
CONDITIONS = frozenset({"if", "unless", "whether", "lest"})
# Participles that are no past tense, so that without an auxiliary they are passive ("Drogba given an award").
PARTICIPLES = frozenset({
    "awoken", "beaten", "been", "begun", "bitten", "blown", "born", "broken", "chosen", "done", "drawn", "driven",
    "drunk", "eaten", "fallen", "flown", "forbidden", "forgiven", "forgotten", "frozen", "given", "gone", "grown",
    "hidden", "known", "ridden", "risen", "seen", "shaken", "shown", "slain", "spoken", "stolen", "sung", "sunk",
    "sworn", "taken", "thrown", "torn", "woken", "worn", "written",
})  # fmt: skip
PLURAL_WORDS = frozenset({"they", "we", "you", "those", "these", "both", "i", "people", "police"})
# What two do with each other, neither does alone.
RECIPROCAL = frozenset({
    "clash", "collide", "compete", "divorce", "face", "marry", "meet", "merge", "separate", "split", "unite", "wed",
})  # fmt: skip
# Verbs whose passive says nothing without what follows.
NEEDS_MORE = frozenset({
    "aim", "base", "bear", "bring", "call", "consider", "describe", "expect", "fill", "force", "give", "involve",
    "know", "lead", "leave", "link", "make", "name", "place", "put", "refer", "regard", "relate", "say", "see", "send",
    "set", "surround", "take", "treat", "use", "view",
})  # fmt: skip
ASIDES = frozenset({"advcl", "mark", "intj", "discourse"})
MAX_CHOICE = 20
LIMITS = frozenset({"only", "never", "hardly", "barely", "longer", "rarely", "scarcely", "seldom", "yet"})
NOBODY = frozenset({"nobody", "none", "no-one", "noone", "nothing"})
# Words that open what is asked, and stay with it.
ASKED = frozenset({"whether", "if", "how", "why", "when", "where"})
MAX_SUBJECTS, MAX_OBJECTS, MAX_ADJUNCTS, MAX_TOGETHER = 4, 4, 5, 9
