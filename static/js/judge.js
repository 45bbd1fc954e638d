// Judging: one statement at a time, one key for each answer. The form below works without any of this.
(() => {
  const PAUSE_MS = 350; // so that a choice is seen before the next statement comes
  const data = JSON.parse(document.getElementById("judge-data").textContent);
  const { words } = data;
  const { make } = window;
  const form = document.querySelector("[data-form]");
  const asks = [...form.querySelectorAll("[data-row]")];
  const where = form.querySelector("[data-where]");
  const trail = form.querySelector("[data-trail]");
  const handIn = form.querySelector("[data-hand-in]");
  const leave = document.querySelector(".leave");
  const KEYS = { j: "present", k: "not_present", u: "unsure" };
  const answers = new Map(data.content.answers.map(({ row, answer, seconds }) => [row, { answer, seconds }]));
  const spent = new Map(data.content.answers.map(({ row, seconds }) => [row, seconds]));
  let { seconds } = data.content;
  let current = 0; // index of the statement that is asked, asks.length while all are looked at again
  let timer = null;

  const content = () => ({
    answers: [...answers].sort(([one], [other]) => one - other).map(([row, { answer }]) => ({ row, answer, seconds: spent.get(row) ?? 0 })),
    seconds,
  });
  const keeper = window.keepWork({ data, words, form, content });
  const radios = (place) => [...asks[place].querySelectorAll("input")];
  const isReview = () => current >= asks.length;
  const firstOpen = (from = 0) => {
    const order = [...asks.keys()];
    return [...order.slice(from), ...order.slice(0, from)].find((place) => !answers.has(place + 1)) ?? asks.length;
  };

  const chip = (place) => {
    const answer = answers.get(place + 1)?.answer ?? "none";
    const signs = { present: "✓", not_present: "✗", unsure: "?", none: "" };
    const kinds = { present: "yes", not_present: "no", unsure: "unsure", none: "none" };
    return make(
      "a",
      {
        href: `#row-${place + 1}`, "data-answer": kinds[answer], "aria-current": place === current ? "true" : null,
        "aria-label": `${words.statement} ${place + 1}, ${words[answer]}`,
        onclick: (event) => { event.preventDefault(); go(place); },
      },
      `${place + 1} ${signs[answer]}`,
    );
  };
  const paint = () => {
    form.dataset.mode = isReview() ? "review" : "one";
    asks.forEach((ask, place) => { ask.closest("li").hidden = !isReview() && place !== current; });
    where.textContent = isReview() ? words.review : `${current + 1} ${words.of} ${asks.length}. ${words.ask}`;
    trail.replaceChildren(...asks.map((_, place) => chip(place)));
    handIn.hidden = !isReview();
  };
  const go = (place) => {
    clearTimeout(timer);
    timer = null;
    current = Math.max(0, Math.min(place, asks.length));
    paint();
    if (isReview()) {
      handIn.querySelector("button").focus({ preventScroll: true });
      where.scrollIntoView({ block: "center" }); // what to look at, from the first one on
    } else {
      // The question, not its first answer: a ring around "Present" looks like a choice.
      (radios(current).find((radio) => radio.checked) ?? asks[current]).focus({ preventScroll: true });
    }
  };
  const choose = (place, answer) => {
    if (timer) return; // nobody has seen the next statement yet; ⌫ goes back to this one
    answers.set(place + 1, { answer });
    for (const radio of radios(place)) radio.checked = radio.value === answer;
    keeper.changed();
    const wasReview = isReview();
    paint();
    if (!wasReview) timer = setTimeout(() => go(firstOpen(place + 1)), PAUSE_MS);
  };

  for (const [place, ask] of asks.entries()) {
    ask.tabIndex = -1;
    // A click or a tap decides; walking through the choices with the arrow keys does so as well, but does not go on.
    ask.addEventListener("click", (event) => {
      if (event.target.matches("input") && event.detail > 0) {
        clearTimeout(timer);
        timer = null; // a pointer means what it points at
        choose(place, event.target.value);
      }
    });
    ask.addEventListener("change", (event) => {
      answers.set(place + 1, { answer: event.target.value });
      keeper.changed();
      paint();
    });
  }
  document.addEventListener("keydown", (event) => {
    const run = (work) => { event.preventDefault(); work(); };
    if (event.isComposing) return undefined;
    if (event.target.matches("#note")) {
      if (event.key === "Escape") return run(() => { leave.open = false; go(current); });
      return undefined; // keys of the statements are none here
    }
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") return run(() => form.requestSubmit());
    if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const key = event.key.toLowerCase();
    if (KEYS[key]) {
      const focused = isReview() ? asks.findIndex((ask) => ask.contains(document.activeElement)) : current;
      return focused >= 0 && !event.repeat ? run(() => choose(focused, KEYS[key])) : undefined;
    }
    if (event.key === "Enter" && event.target.closest("[data-row]")) return run(() => go(isReview() ? current : firstOpen(current + 1)));
    if (event.key === "Backspace") return run(() => go(isReview() ? asks.length - 1 : timer ? current : current - 1));
    if (key === "f") return run(() => { leave.open = true; document.getElementById("note").focus(); });
    if (key === "r") return run(() => { const fold = document.querySelector("[data-rules]"); fold.open = !fold.open; });
    if (event.key === "?") return run(() => document.getElementById("keys").togglePopover());
    return undefined;
  });
  keeper.handIn(() => {
    const open = firstOpen();
    if (open >= asks.length) return null;
    go(open);
    return [radios(open)[0], words.missing];
  });
  keeper.everyActiveSecond(() => {
    seconds += 1;
    if (!isReview()) spent.set(current + 1, (spent.get(current + 1) ?? 0) + 1);
  });

  const kept = keeper.kept(); // what this device has and the server has not
  if (kept) {
    for (const { row, answer } of kept.answers) answers.set(row, { answer });
    for (const [row, { answer }] of answers) for (const radio of radios(row - 1)) radio.checked = radio.value === answer;
  }
  trail.hidden = false;
  keeper.begin();
  go(firstOpen());
})();
