// A HIT's page: one key for each answer, a count, the time of work. The form works without any of this; only a page that
// travels inside its HIT has to learn here, from its own address, for whom it is and where the answers go.
(() => {
  const PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE";
  const IDLE_MS = 15000;
  const KEYS = { j: "present", k: "not_present", u: "unsure" };
  const form = document.querySelector("[data-task]");
  const answers = form.querySelector("[data-answers]");
  const send = document.querySelector("[data-send]");
  const asks = [...form.querySelectorAll("[data-ask]")];
  const lines = [...form.querySelectorAll("[data-line]")];
  const count = form.querySelector("[data-count]");
  const radios = (ask) => [...ask.querySelectorAll("input")];
  const isAnswered = (ask) => radios(ask).some((radio) => radio.checked);

  const isKnown = (address, known) => {
    try {
      const { protocol, host, origin } = new URL(address);
      return known.split(" ").some((one) => {
        const [scheme, name] = one.split("//");
        return name.startsWith("*.") ? scheme === protocol && host.endsWith(name.slice(1)) : one === origin;
      });
    } catch {
      return false;
    }
  };
  const begin = () => {
    const given = new URLSearchParams(location.search);
    const get = (name) => given.get(name) ?? given.get(`amp;${name}`) ?? ""; // some tools do not decode "&amp;"
    const assignment = get("assignmentId");
    const to = get("turkSubmitTo");
    if (!assignment || assignment === PREVIEW) return;
    for (const node of document.querySelectorAll("[data-preview]")) node.hidden = true;
    if (!isKnown(to, form.dataset.submitTo)) {
      document.querySelector("[data-refused]").hidden = false;
      return;
    }
    for (const fold of document.querySelectorAll("details")) fold.open = false;
    form.elements.assignmentId.value = assignment;
    form.action = `${to.replace(/\/+$/, "")}/mturk/externalSubmit`;
    answers.disabled = false;
    send.disabled = false;
  };
  if (form.dataset.submitTo) begin();

  let now = 0; // the statement that a key answers
  const paint = () => {
    const all = asks.length || lines.length;
    const done = asks.length ? asks.filter(isAnswered).length : lines.filter((line) => line.value.trim()).length;
    count.textContent = count.dataset.words.replace(/[01]/g, (mark) => (mark === "0" ? done : all));
    asks.forEach((ask, place) => ask.toggleAttribute("data-now", place === now && !answers.disabled));
  };
  const nextOpen = (from) => {
    const order = [...asks.keys()];
    return [...order.slice(from), ...order.slice(0, from)].find((place) => !isAnswered(asks[place])) ?? asks.length;
  };
  const choose = (place, value) => {
    for (const radio of radios(asks[place])) radio.checked = radio.value === value;
    now = nextOpen(place + 1);
    paint();
    if (now < asks.length) {
      asks[now].focus({ preventScroll: true }); // the statement, not its first answer: a ring there looks like a choice
      asks[now].scrollIntoView({ block: "center" });
    } else {
      send.focus();
    }
  };
  for (const [place, ask] of asks.entries()) {
    ask.tabIndex = -1;
    ask.addEventListener("change", () => {
      now = nextOpen(place);
      paint();
    });
    ask.addEventListener("focusin", () => {
      now = place;
      paint();
    });
  }
  for (const line of lines) line.addEventListener("input", paint);
  document.addEventListener("keydown", (event) => {
    if (answers.disabled || event.isComposing || event.altKey) return;
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
      event.preventDefault();
      form.requestSubmit(send);
    }
    if (event.ctrlKey || event.metaKey || event.repeat || event.target.matches("textarea, [data-line]")) return;
    const value = KEYS[event.key.toLowerCase()];
    if (value && now < asks.length) {
      event.preventDefault();
      choose(now, value);
    }
  });

  // Seconds in which somebody works: with the page in view and a sign of life a moment ago.
  let seconds = 0;
  let lastSign = Date.now();
  for (const name of ["keydown", "pointerdown", "pointermove", "scroll"]) {
    document.addEventListener(name, () => { lastSign = Date.now(); }, { passive: true });
  }
  setInterval(() => { seconds += !document.hidden && Date.now() - lastSign <= IDLE_MS; }, 1000);

  let isSent = false;
  form.addEventListener("submit", (event) => {
    if (isSent) event.preventDefault(); // one click is enough, two are none the worse
    isSent = true;
    form.elements.seconds.value = String(seconds);
    setTimeout(() => { isSent = false; }, 4000); // the line was cut: it may be tried again
  });
  for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
  paint();
})();
