// The second look: a decision for every text of the writers, one key each. keeping.js sees to it that nothing is lost.
// The form works without this file, and the server makes the same of its fields (annotation/writing/deciding.py).
(() => {
  const source = document.getElementById("review-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { words } = data;
  const { make } = window;
  const checks = window.unitChecks;
  const form = document.querySelector("[data-form]");
  const list = document.querySelector("[data-rows]");
  const addedList = document.querySelector("[data-added]");
  const noFact = form.elements.namedItem("no_fact");
  const comment = document.getElementById("comment");
  const items = [...list.children];

  // --- what is on the page ---

  const same = (one, other) => checks.tokens(one.text).join(" ") === checks.tokens(other.text).join(" ");
  const stored = data.content.units;
  const has = (origins, origin) => origins.some(([submission, place]) => submission === origin[0] && place === origin[1]);
  const rows = data.rows.map(([one, other], number) => {
    const item = items[number];
    const texts = [one, other].filter(Boolean);
    const unit = stored.find((each) => texts.some((text) => has(each.origins, text.origin)));
    return {
      one, other, texts, item,
      field: item.querySelector("textarea"),
      do: item.querySelector("input:checked")?.value ?? "",
      overrides: unit ? unit.overrides : [],
      seconds: unit ? unit.seconds : 0,
    };
  });
  let added = stored.filter((unit) => !unit.origins.length);
  let seconds = data.content.seconds;
  let current = 0;

  const textOf = (row) => ({ one: row.one?.text, other: row.other?.text, own: row.field.value, merge: row.field.value })[row.do] ?? "";
  // Which of the texts of a row was edited: the one that shares most words with what came of it, then the longer beginning.
  const closest = (row) => {
    const box = row.field.value;
    const shared = (text) => checks.similarity(checks.tokens(box), checks.tokens(text.text));
    const begin = (text) => [...text.text].findIndex((letter, place) => letter !== [...box][place]) >>> 0; // all of it: far
    const isCloser = (one, other) => shared(one) > shared(other) || (shared(one) === shared(other) && begin(one) > begin(other));
    return row.texts.reduce((best, text) => (isCloser(text, best) ? text : best));
  };
  const sourceOf = (row) => ({ one: row.one, other: row.other, own: closest(row) })[row.do] ?? null;
  const creditOf = (row) => {
    const origins = row.texts.map((text) => text.origin);
    if (row.do === "merge" || (row.texts.length === 2 && row.do !== "own" && same(row.one, row.other))) return origins;
    return [sourceOf(row).origin];
  };
  const outcome = () => {
    const units = [];
    const dropped = [];
    for (const row of rows) {
      const text = textOf(row);
      const credit = row.do && row.do !== "drop" && text.trim() ? creditOf(row) : [];
      if (credit.length) {
        const from = sourceOf(row); // none where two were merged
        const spans = from ? from.spans : row.texts.flatMap((one) => one.spans);
        units.push({ text, draft: from ? from.draft : null, spans, extends: null, overrides: row.overrides, shown: [], origins: credit, seconds: row.seconds });
      }
      if (credit.length || row.do === "drop") dropped.push(...row.texts.map((one) => one.origin).filter((origin) => !has(credit, origin)));
    }
    // Where a writer's unit extended another of theirs and both are there, it still does.
    for (const unit of units) {
      for (const text of rows.flatMap((row) => row.texts)) {
        if (text.extends === null || !has(unit.origins, text.origin)) continue;
        const place = units.findIndex((other) => other !== unit && has(other.origins, [text.origin[0], text.extends + 1]));
        if (place >= 0 && unit.extends === null) unit.extends = place;
      }
    }
    return { units: [...units, ...added], dropped };
  };
  const content = () => {
    const { units, dropped } = outcome();
    return {
      units: units.map((unit) => ({ ...unit, seconds: Math.round(unit.seconds * 10) / 10 })),
      no_fact: noFact.checked,
      rejected: [],
      dropped,
      comment: comment.value,
      seconds: Math.round(seconds * 10) / 10,
    };
  };

  // --- drawing ---

  const findings = (text, others) => (text.trim() ? checks.check(text, [...others, ...data.others], data.reference) : []);
  const told = (row) => findings(textOf(row), textsBut(row));
  const textsBut = (mine) => [
    ...rows.filter((row) => row !== mine && row.do && row.do !== "drop").map(textOf),
    ...added.filter((unit) => unit !== mine).map((unit) => unit.text),
  ].filter((text) => text.trim());
  const listOf = (owner, found) =>
    found.slice(0, 2).map((finding) => {
      const isKept = finding.level === "warning" && owner.overrides.includes(finding.check);
      const text = `${words[finding.check]}${finding.words ? ` (${finding.words.join(", ")})` : ""}${finding.twin ? ` “${finding.twin}”` : ""}`;
      return make(
        "li",
        { class: finding.level === "error" ? "check-bad" : "check-warn" },
        make("span", {}, isKept ? `${text} — ${words.kept}` : text),
        finding.level === "warning" && !isKept
          ? make("button", { class: "btn btn-small", type: "button", onclick: () => keep(owner) }, words.keep)
          : null,
      );
    });
  const draw = () => {
    rows.forEach((row) => {
      row.item.dataset.do = row.do;
      row.item.querySelector("[data-own]").hidden = row.do !== "own" && row.do !== "merge";
      for (const radio of row.item.querySelectorAll("[type=radio]")) radio.checked = radio.value === row.do;
      row.item.querySelector(".checks").replaceChildren(...(row.do && row.do !== "drop" ? listOf(row, told(row)) : []));
    });
    added.forEach((unit, place) => {
      const item = addedList.children[place];
      item?.querySelector(".checks").replaceChildren(...listOf(unit, findings(unit.text, textsBut(unit))));
    });
    const open = rows.filter((row) => !row.do).length;
    document.querySelector("[data-open]").textContent = open ? `· ${open} ${words.open}` : "";
    cover();
  };
  const drawAdded = () =>
    addedList.replaceChildren(
      ...added.map((unit, place) => {
        const field = make("textarea", { class: "unit-edit", id: `added-${place + 1}`, name: "added", rows: "2", maxlength: "2000", dir: "auto", "aria-describedby": `added-checks-${place + 1}` });
        field.value = unit.text;
        field.addEventListener("input", () => { unit.text = field.value; changed(); });
        return make(
          "li",
          { class: "unit unit-editing" },
          make("span", { class: "unit-n" }, "+"),
          make("div", {}, make("label", { class: "visually-hidden", for: field.id }, `${words.added} ${place + 1}`), field),
          make("div", { class: "unit-side" }, make("button", { class: "btn btn-small", type: "button", "aria-label": `${words.remove}: ${words.added} ${place + 1}`, onclick: () => change(() => added.splice(place, 1)) }, "×")),
          make("ul", { class: "checks unit-more", id: `added-checks-${place + 1}` }),
        );
      }),
    );
  const sentence = document.querySelector("[data-sentence]");
  const cover = () => {
    const units = [...rows.filter((row) => row.do !== "drop").map((row) => textOf(row) || row.texts[0].text), ...added.map((unit) => unit.text)];
    window.textPane.underline(sentence, data.sentence.text, units, words.uncovered);
  };

  // --- changing, with undo ---

  const past = [];
  const future = [];
  const snapshot = () =>
    JSON.stringify({
      rows: rows.map((row) => ({ do: row.do, text: row.field.value, overrides: row.overrides })),
      added: added.map(({ seconds: _, ...unit }) => unit),
      noFact: noFact.checked,
    });
  let before = snapshot();
  const remember = () => {
    const now = snapshot();
    if (now === before) return;
    past.push(before);
    future.length = 0;
    before = now;
  };
  const travel = (from, to) => {
    remember();
    if (!from.length) return;
    to.push(before);
    before = from.pop();
    const there = JSON.parse(before);
    there.rows.forEach((row, number) => {
      rows[number].do = row.do;
      rows[number].field.value = row.text;
      rows[number].overrides = row.overrides;
    });
    added = there.added.map((unit) => ({ ...unit, seconds: 0 }));
    noFact.checked = there.noFact;
    redraw();
    changed();
  };
  const change = (work) => {
    remember();
    work();
    redraw();
    remember();
    changed();
  };
  // Drawing makes the fields anew: whoever was in one stays there, and in the text, so that no letter becomes a command.
  const redraw = () => {
    const { id, selectionStart: at } = document.activeElement;
    const wasAdded = addedList.contains(document.activeElement);
    drawAdded();
    if (!wasAdded) return;
    const field = document.getElementById(id) ?? addedList.querySelector("textarea:last-of-type");
    if (!field?.matches("textarea")) {
      go(current);
      return;
    }
    field.focus();
    field.setSelectionRange(at, at);
  };
  const keep = (owner) =>
    change(() => {
      const found = owner.item ? told(owner) : findings(owner.text, textsBut(owner));
      const names = found.filter((one) => one.level === "warning").map((one) => one.check);
      owner.overrides = [...new Set([...owner.overrides, ...names])];
    });

  const go = (number) => {
    current = Math.max(0, Math.min(number, rows.length - 1));
    const row = rows[current];
    if (row) (row.item.querySelector("input:checked") ?? row.item.querySelector("input")).focus();
  };
  const decide = (row, what, isStaying = false) => {
    if (!row.item.querySelector(`[value="${what}"]`)) return;
    change(() => {
      const isOwn = what === "own" || what === "merge";
      if (isOwn && !row.field.value.trim()) {
        // The longer one says more; whoever merges takes away rather than adds.
        const longest = what === "merge" && row.other.text.length > row.one.text.length ? row.other : row.texts[0];
        row.field.value = row.do === "other" ? row.other.text : longest.text;
      }
      const from = what === "other" ? row.other : row.texts[0];
      if (!isOwn) row.overrides = from.overrides; // the writer has looked at these warnings
      row.do = what;
    });
    if (isStaying) {
      row.item.querySelector("input:checked").focus();
      return;
    }
    if (what === "own" || what === "merge") {
      row.field.focus();
      return;
    }
    const next = rows.findIndex((other, number) => number > current && !other.do);
    const open = next >= 0 ? next : rows.findIndex((other) => !other.do);
    if (open >= 0) go(open);
    else (row.item.querySelector("input:checked") ?? row.field).focus();
  };
  const add = () => {
    change(() => added.push({ text: "", draft: null, spans: [], extends: null, overrides: [], shown: [], origins: [], seconds: 0 }));
    addedList.lastElementChild.querySelector("textarea").focus();
  };

  // --- saving and handing in ---

  const keeper = window.keepWork({ data, words, form, content, settle: () => remember() });
  const changed = () => {
    draw();
    keeper.changed();
  };
  const restore = () => {
    const kept = keeper.kept();
    if (!kept) return;
    for (const row of rows) {
      const unit = kept.units.find((each) => row.texts.some((text) => has(each.origins, text.origin)));
      row.do = row.texts.every((text) => has(kept.dropped, text.origin)) ? "drop" : "";
      if (!unit) continue;
      const isOne = row.one?.text === unit.text;
      row.do = isOne ? "one" : row.other?.text === unit.text ? "other" : unit.origins.length > 1 ? "merge" : "own";
      if (row.do === "own" || row.do === "merge") row.field.value = unit.text;
      row.overrides = unit.overrides;
    }
    added = kept.units.filter((unit) => !unit.origins.length);
    ({ seconds } = kept);
    noFact.checked = kept.no_fact;
    comment.value = kept.comment;
  };
  const isBad = (owner, found) => found.some((one) => one.level === "error" || !owner.overrides.includes(one.check));
  keeper.handIn(() => {
    const open = rows.find((row) => !row.do || (row.do !== "drop" && (!textOf(row).trim() || isBad(row, told(row)))));
    if (open) return [open.item.querySelector("input:checked") ?? open.item.querySelector("input"), words.refused];
    const place = added.findIndex((unit) => unit.text.trim() && isBad(unit, findings(unit.text, textsBut(unit))));
    if (place >= 0) return [addedList.children[place].querySelector("textarea"), words.refused];
    const isWritten = outcome().units.some((unit) => unit.text.trim());
    return isWritten === noFact.checked ? [noFact, isWritten ? words.contradiction : words.empty] : null;
  });
  keeper.everyActiveSecond(() => {
    seconds += 1;
    if (rows[current] && rows[current].item.contains(document.activeElement)) rows[current].seconds += 1;
  });

  // --- events ---

  list.addEventListener("focusin", (event) => { current = items.indexOf(event.target.closest("[data-row]")); });
  let byArrow = false; // the arrows of a radio group try things out: stay in the row
  list.addEventListener("change", (event) => {
    if (event.target.type !== "radio") return;
    current = items.indexOf(event.target.closest("[data-row]")); // a click need not move the focus
    decide(rows[current], event.target.value, byArrow);
    byArrow = false;
  });
  list.addEventListener("input", (event) => event.target.matches("textarea") && changed());
  form.addEventListener("focusout", keeper.save);
  comment.addEventListener("input", () => keeper.changed());
  noFact.addEventListener("change", () => { remember(); changed(); });
  const doers = { add, undo: () => travel(past, future), redo: () => travel(future, past) };
  form.addEventListener("click", (event) => {
    const button = event.target.closest("[data-do]");
    if (button && doers[button.dataset.do]) doers[button.dataset.do]();
  });
  document.addEventListener("keydown", (event) => {
    const inText = event.target.matches("textarea, select, input:not([type=radio], [type=checkbox])");
    if (event.isComposing || document.querySelector("#keys:popover-open")) return undefined;
    byArrow = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const run = (work) => { event.preventDefault(); work(); };
    const is = (key) => event.key.toLowerCase() === key;
    if (event.target.matches("#note, #find")) {
      if (event.key === "Escape") return run(() => { document.querySelector(".leave").open = false; go(current); });
      return undefined; // keys of the rows are none here
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return run(() => form.requestSubmit());
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.target.matches("#comment, #note, #find")) {
      if (is("z") && !event.shiftKey) return run(doers.undo);
      if (is("y") || (is("z") && event.shiftKey)) return run(doers.redo);
    }
    if (event.altKey && !event.ctrlKey && event.code === "KeyS") return run(() => { const more = document.querySelector(".leave"); more.open = true; more.querySelector("input.input").focus(); });
    if (event.key === "Escape" && inText) return run(() => (list.contains(event.target) ? go(current) : event.target.blur()));
    if (inText || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const what = { 1: "one", 2: "other", e: "own", m: "merge", d: "drop" }[event.key.toLowerCase()];
    if (what && rows[current]) return run(() => decide(rows[current], what));
    if (event.key === "ArrowDown") return run(() => go(current + 1));
    if (event.key === "ArrowUp") return run(() => go(current - 1));
    if (is("n")) return run(add);
    if (is("k") && rows[current]?.do) return run(() => { keep(rows[current]); go(current); });
    if (is("c")) return run(() => comment.focus());
    if (event.key === "?") return run(() => document.getElementById("keys").togglePopover());
    return undefined;
  });

  restore();
  drawAdded();
  draw();
  go(Math.max(rows.findIndex((row) => !row.do), 0));
  if (!rows.length) noFact.focus();
  keeper.begin();
})();
