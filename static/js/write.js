// The writing page: units, checks, coverage, drafts, keys. keeping.js sees to it that nothing typed is ever lost.
// The form works without this file.
(() => {
  const source = document.getElementById("write-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { words } = data;
  const { make } = window;
  const checks = window.unitChecks;
  const form = document.querySelector("[data-form]");
  const list = document.querySelector("[data-units]");
  const sentence = document.querySelector("[data-sentence]");
  const noFact = form.elements.namedItem("no_fact");

  // --- what is on the page ---

  const empty = () => ({ text: "", draft: null, spans: [], extends: null, overrides: [], shown: [], origins: [], seconds: 0 });
  let units = data.content.units.length ? data.content.units : [empty()];
  let rejected = data.content.rejected;
  let seconds = data.content.seconds;
  noFact.checked = data.content.no_fact;

  const content = () => ({
    units: units.map((unit) => ({ ...unit, seconds: Math.round(unit.seconds * 10) / 10 })),
    no_fact: noFact.checked,
    rejected,
    seconds: Math.round(seconds * 10) / 10,
  });

  // --- drawing ---

  const fieldAt = (place) => list.querySelectorAll("textarea")[place];
  let current = 0;

  const draw = (focusOn = null, caret = null) => {
    list.replaceChildren(
      ...units.map((unit, place) => {
        const field = make("textarea", {
          class: "unit-edit", id: `unit-${place + 1}`, name: "unit", rows: "2", maxlength: "2000", dir: "auto", spellcheck: "true",
          "aria-describedby": `checks-${place + 1}`,
        });
        field.value = unit.text;
        return make(
          "li",
          { class: "unit unit-editing", "data-place": String(place) },
          make("span", { class: "unit-n" }, String(place + 1)),
          make("div", {}, make("label", { class: "visually-hidden", for: `unit-${place + 1}` }, `${words.unit} ${place + 1}`), field),
          make(
            "div",
            { class: "unit-side" },
            make("span", { class: "note", "data-count": "" }),
            unit.draft ? make("span", { class: "badge badge-machine" }, "STU") : null,
            unit.extends !== null ? make("span", { class: "badge" }, `+ ${unit.extends + 1}`) : null,
            make("button", { class: "btn btn-small", type: "button", "data-remove": String(place), "aria-label": `${words.remove}: ${words.unit} ${place + 1}` }, "×"),
          ),
          make("p", { class: "unit-more unit-badges", "data-badge": "" }),
          make("ul", { class: "checks unit-more", id: `checks-${place + 1}` }),
        );
      }),
    );
    check();
    if (focusOn !== null) {
      const field = fieldAt(Math.min(focusOn, units.length - 1));
      field.focus();
      const at = caret ?? field.value.length;
      field.setSelectionRange(at, at);
    }
  };

  // The unit that a chain of extensions begins with.
  const rootOf = (place) => {
    const seen = new Set();
    let at = place;
    while (units[at].extends !== null) {
      if (seen.has(at)) return Math.min(...seen); // a circle has no beginning
      seen.add(at);
      at = units[at].extends;
    }
    return at;
  };
  const findings = (place) => {
    const text = units[place].text;
    if (!text.trim()) return [];
    const others = units.filter((_, other) => other !== place).map((unit) => unit.text).filter((other) => other.trim());
    const kin = units.filter((_, other) => other !== place && rootOf(other) === rootOf(place)).map((unit) => unit.text);
    return checks.check(text, [...others, ...data.others], data.reference, kin);
  };
  const check = () => {
    units.forEach((unit, place) => {
      const row = list.children[place];
      const number = checks.tokens(unit.text).length;
      row.querySelector("[data-count]").textContent = unit.text.trim() ? `${number} ${words.words}` : "";
      row.querySelector("[data-badge]").replaceChildren(...badgesOf(unit));
      const shown = findings(place).slice(0, 2);
      row.querySelector(".checks").replaceChildren(
        ...shown.map((finding) => {
          const isKept = finding.level === "warning" && unit.overrides.includes(finding.check);
          const text = `${words[finding.check]}${finding.words ? ` (${finding.words.join(", ")})` : ""}${finding.twin ? ` “${finding.twin}”` : ""}`;
          return make(
            "li",
            { class: finding.level === "error" ? "check-bad" : "check-warn" },
            make("span", {}, isKept ? `${text} — ${words.kept}` : text),
            finding.level === "warning" && !isKept
              ? make("button", { class: "btn btn-small", type: "button", "data-keep": finding.check, "data-at": String(place) }, words.keep)
              : null,
          );
        }),
      );
    });
    cover();
    reveal();
  };

  const cover = () => window.textPane.underline(sentence, data.sentence.text, units.map((unit) => unit.text), words.uncovered);
  const showEvidence = (row) => window.textPane.showEvidence(sentence, data.sentence.start, row ? units[Number(row.dataset.place)].spans : []);

  // Drafts of the machine bias people, so they come after the first own unit.
  const drafts = document.querySelector("[data-drafts]");
  const later = document.querySelector("[data-drafts-later]");
  let isRevealed = data.arm === "before";
  const reveal = () => {
    if (!drafts) return;
    isRevealed ||= units.some((unit) => !unit.draft && checks.tokens(unit.text).length >= 3);
    drafts.hidden = !isRevealed;
    later.hidden = isRevealed;
    const gone = new Set([...rejected.map((one) => one.unit), ...units.map((unit) => unit.draft)]);
    for (const row of drafts.querySelectorAll("[data-draft]")) row.hidden = gone.has(Number(row.dataset.draft));
  };

  // --- changing, with undo ---

  const past = [];
  const future = [];
  const snapshot = () => ({ units: units.map((unit) => ({ ...unit })), rejected, noFact: noFact.checked });
  // Time that passes and badges that arrive are no step that one could undo.
  const stepOf = ({ units: all, ...rest }) => JSON.stringify([rest, all.map(({ seconds: _, shown: __, ...unit }) => unit)]);
  let before = snapshot();
  const remember = () => {
    const now = snapshot();
    if (stepOf(now) !== stepOf(before)) {
      past.push(before);
      if (past.length > 200) past.shift();
      future.length = 0;
    }
    before = now;
  };
  const travel = (from, to) => {
    remember();
    if (!from.length) return;
    to.push(before);
    before = from.pop();
    units = before.units.map((unit) => ({ ...unit }));
    ({ rejected } = before);
    noFact.checked = before.noFact;
    draw(Math.min(current, units.length - 1));
    changed();
  };
  const change = (work, focusOn, caret) => {
    remember();
    work();
    if (!units.length) units = [empty()];
    draw(focusOn, caret);
    remember();
    changed();
  };
  const dropped = (place) => (unit) => ({
    ...unit,
    extends: unit.extends === null || unit.extends === place ? null : unit.extends - (unit.extends > place),
  });
  const remove = (place) => change(() => { units = units.filter((_, other) => other !== place).map(dropped(place)); }, Math.max(place - 1, 0));
  const insert = (place, unit, caret) =>
    change(() => {
      units = units.map((one) => ({ ...one, extends: one.extends !== null && one.extends >= place ? one.extends + 1 : one.extends }));
      units.splice(place, 0, unit);
    }, place, caret);
  const add = () => {
    const next = current + 1;
    if (units[next] && !units[next].text.trim()) fieldAt(next).focus();
    else insert(next, empty());
  };
  const split = () => {
    const field = fieldAt(current);
    const at = field.selectionStart;
    const [head, tail] = [units[current].text.slice(0, at), units[current].text.slice(at)];
    if (!tail.trim()) return add();
    return change(() => {
      units = units.map((one) => ({ ...one, extends: one.extends !== null && one.extends > current ? one.extends + 1 : one.extends }));
      units[current].text = head.trim();
      units.splice(current + 1, 0, { ...empty(), text: tail.replace(/^\s*(and\s+)?/i, ""), draft: units[current].draft });
    }, current + 1, 0);
  };
  const take = (id) => {
    const draft = data.drafts.find((one) => one.id === id);
    if (!draft || !isRevealed) return;
    const unit = { ...empty(), text: draft.text, draft: id };
    const free = units.findIndex((one) => !one.text.trim());
    if (free >= 0) change(() => { units[free] = unit; }, free);
    else insert(units.length, unit);
  };
  const keep = (place, name) =>
    change(() => {
      const names = name ? [name] : findings(place).filter((one) => one.level === "warning").map((one) => one.check);
      units[place].overrides = [...new Set([...units[place].overrides, ...names])];
    }, place);
  const extend = (place) =>
    // All details of a fact extend the fact itself, not each other.
    change(() => { units[place].extends = units[place].extends === null && place > 0 ? rootOf(place - 1) : null; }, place);

  // Marked words of the sentence go into the unit, and their place is kept as evidence.
  let marked = null;
  const readMark = () => {
    const selection = window.getSelection();
    if (!selection.rangeCount || selection.isCollapsed || !sentence.contains(selection.anchorNode)) return;
    const range = selection.getRangeAt(0);
    const lead = range.cloneRange();
    lead.selectNodeContents(sentence);
    lead.setEnd(range.startContainer, range.startOffset);
    const text = range.toString().trim();
    if (!text) return;
    const start = [...lead.toString()].length + [...range.toString()].findIndex((letter) => letter.trim());
    marked = { text, span: [data.sentence.start + start, data.sentence.start + start + [...text].length] };
  };
  document.addEventListener("selectionchange", readMark);
  const copy = () => {
    readMark(); // a quick key comes before the browser tells of the selection
    if (!marked) return;
    const { text, span } = marked;
    const field = fieldAt(current);
    const [from, to] = [field.selectionStart, field.selectionEnd];
    const [head, tail] = [units[current].text.slice(0, from), units[current].text.slice(to)];
    const gap = head && !/\s$/.test(head) ? " " : "";
    window.getSelection().removeAllRanges();
    change(() => {
      units[current].text = `${head}${gap}${text}${tail && !/^[\s.,;:!?]/.test(tail) ? " " : ""}${tail}`;
      units[current].spans = [...units[current].spans, span];
    }, current, (head + gap + text).length);
  };

  // --- saving and handing in ---

  const keeper = window.keepWork({ data, words, form, content, settle: () => remember() });
  const changed = () => {
    check();
    keeper.changed();
    wantBadges();
  };
  const restore = () => {
    const kept = keeper.kept();
    if (!kept) return;
    ({ units, rejected, seconds } = kept);
    noFact.checked = kept.no_fact;
    if (!units.length) units = [empty()];
  };
  keeper.handIn(() => {
    const bad = units.findIndex((unit, place) => findings(place).some((one) => one.level === "error" || !unit.overrides.includes(one.check)));
    const isWritten = units.some((unit) => unit.text.trim());
    if (bad >= 0) return [fieldAt(bad), words.refused];
    if (isWritten === noFact.checked) return [fieldAt(0), isWritten ? words.contradiction : words.empty];
    return null;
  });
  keeper.everyActiveSecond(() => {
    seconds += 1;
    if (list.contains(document.activeElement) && units[current]) units[current].seconds += 1;
  });

  // --- badges of a worker's parser and judge: they come when they do, and never block ---

  const BADGE_MS = 1200;
  const POLL_MS = 2500;
  const POLLS = 24;
  const badges = new Map(); // text → what was found
  const absence = document.querySelector("[data-badges]");
  let badgeTimer = null;
  const plain = (text) => text.split(/\s+/).filter(Boolean).join(" ");
  const textsToCheck = () => units.map((unit) => plain(unit.text)).filter((text) => checks.tokens(text).length >= 3 && !badges.has(text));
  const askBadges = async (left, isFirst) => {
    const texts = textsToCheck();
    if (!texts.length) {
      absence.textContent = "";
      return;
    }
    let told = null;
    try {
      const answer = await keeper.send("checks", JSON.stringify({ texts, ask: isFirst }));
      if (answer.ok && answer.headers.get("Content-Type")?.startsWith("application/json")) told = await answer.json();
    } catch { /* offline: the save tells */ }
    if (!told) return;
    for (const [text, found] of Object.entries(told.found)) badges.set(text, found);
    absence.textContent = !told.waiting ? "" : told.has_worker && left ? words.checking : words.unchecked;
    check();
    clearTimeout(badgeTimer);
    if (told.waiting && told.has_worker && left) badgeTimer = setTimeout(() => askBadges(left - 1, false), POLL_MS);
  };
  const wantBadges = () => {
    clearTimeout(badgeTimer);
    badgeTimer = setTimeout(() => askBadges(POLLS, true), BADGE_MS);
  };
  // The badges of a unit; what was shown is stored with it.
  const badgesOf = (unit) => {
    const found = badges.get(plain(unit.text));
    if (!found) return [];
    const told = [];
    if (!found.verb) told.push(["verb:no", "badge badge-warn", words.verb]);
    if (found.follows === false) told.push(["follows:no", "badge badge-warn", words.doubt]);
    if (found.follows === true) told.push(["follows:yes", "badge", words.follows]);
    unit.shown = [...new Set([...unit.shown, ...told.map(([name]) => name)])];
    return told.map(([, kind, text]) => make("span", { class: kind }, text));
  };

  // --- events ---

  list.addEventListener("input", (event) => {
    const place = Number(event.target.closest("[data-place]").dataset.place);
    current = place;
    units[place].text = event.target.value;
    changed();
  });
  list.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-place]");
    current = Number(row.dataset.place);
    for (const other of list.children) other.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    showEvidence(row);
  });
  list.addEventListener("mouseover", (event) => showEvidence(event.target.closest("[data-place]")));
  list.addEventListener("mouseleave", () => showEvidence(list.contains(document.activeElement) ? list.children[current] : null));
  list.addEventListener("focusout", keeper.save);
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.remove) remove(Number(button.dataset.remove));
    if (button.dataset.keep) keep(Number(button.dataset.at), button.dataset.keep);
  });
  noFact.addEventListener("change", () => { remember(); changed(); });
  const doers = { add, copy, split, extend: () => extend(current), undo: () => travel(past, future), redo: () => travel(future, past) };
  form.addEventListener("mousedown", (event) => event.target.closest("[data-do]") && event.preventDefault()); // keep the caret
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button) doers[button.dataset.do]();
  });
  drafts?.addEventListener("click", (event) => {
    const button = event.target.closest("[data-take]");
    if (button) take(Number(button.dataset.take));
  });
  drafts?.addEventListener("change", (event) => {
    const id = Number(event.target.dataset.reject);
    if (id && event.target.value) change(() => { rejected = [...rejected, { unit: id, reason: event.target.value }]; }, current);
  });
  const leaveNote = () => {
    document.querySelector(".leave").open = false;
    fieldAt(current).focus();
  };
  document.addEventListener("keydown", (event) => {
    const inText = event.target.matches("textarea, input, select");
    const inUnit = list.contains(event.target) && event.target.matches("textarea");
    if (event.isComposing) return undefined;
    const is = (key) => event.key.toLowerCase() === key;
    const run = (work) => { event.preventDefault(); work(); };
    if (event.target.matches("#note, #find")) {
      if (event.key === "Escape") return run(leaveNote);
      return undefined; // keys of the units are none here
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return run(() => form.requestSubmit());
    if ((event.ctrlKey || event.metaKey) && !event.altKey && (inUnit || !inText)) {
      if (is("z") && !event.shiftKey) return run(doers.undo);
      if (is("y") || (is("z") && event.shiftKey)) return run(doers.redo);
    }
    if (event.altKey && !event.ctrlKey && !event.metaKey) {
      const digit = /^Digit([1-9])$/.exec(event.code);
      if (digit) return run(() => take(data.drafts[digit[1] - 1]?.id));
      if (event.code === "KeyC") return run(copy);
      if (event.code === "KeyK") return run(() => keep(current));
      if (event.code === "KeyE") return run(() => extend(current));
      if (event.code === "KeyS") return run(() => { const more = document.querySelector(".leave"); more.open = true; more.querySelector("input.input").focus(); });
      if (event.key === "ArrowUp") return run(() => fieldAt(Math.max(current - 1, 0)).focus());
      if (event.key === "ArrowDown") return run(() => fieldAt(Math.min(current + 1, units.length - 1)).focus());
    }
    if (inUnit && event.key === "Enter" && !event.altKey) return run(event.shiftKey ? split : add);
    if (inUnit && event.key === "Backspace" && !event.target.value && units.length > 1) return run(() => remove(current));
    if (event.key === "Escape" && inText) return event.target.blur();
    if (event.key === "?" && !inText) return run(() => document.getElementById("keys").togglePopover());
    return undefined;
  });

  // What was typed into the plain fields before this script was there (early.js) goes on in the drawn ones.
  const takeEarly = () => {
    const fields = [...list.querySelectorAll("textarea")];
    const typed = fields.filter((field) => "early" in field.dataset);
    for (const field of typed) {
      const place = fields.indexOf(field);
      while (units.length <= place) units.push(empty());
      units[place].text = field.value;
    }
    return typed.length ? [fields.indexOf(typed.at(-1)), typed.at(-1).selectionStart] : null;
  };
  restore();
  draw(...(takeEarly() ?? [Math.max(units.findIndex((unit) => !unit.text.trim()), 0)]));
  keeper.begin();
  wantBadges();
})();
