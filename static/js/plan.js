// The plan page while its slider moves: the sums of annotation/planning/budget.py, in the browser, without a request.
// Whole numbers are divided exactly (BigInt), so that every cent is the server's. Without this file the form does the same.
(() => {
  const source = document.getElementById("plan-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const { budget, spread, curve } = data;
  const { prices } = budget;
  const STEPS = 1000;
  const HOUR_MS = 3600000;
  const MIDDLE = 1.2815515655446008; // 80 % of outcomes lie within so many deviations
  const CENTS_BELOW = 10000;

  const halfUp = (dividend, divisor) => {
    const [a, b] = [BigInt(dividend), BigInt(divisor)];
    return Number((2n * a + b) / (2n * b));
  };
  const product = (...factors) => factors.reduce((found, factor) => found * BigInt(factor), 1n);

  const forecast = (share) => {
    const cut = budget.cuts[share];
    const free = budget.sentences - budget.pinned_people - budget.pinned_stus;
    const [tasks, judged] = [budget.tasks[cut], budget.judged[cut]];
    const toStus = cut + budget.pinned_stus;
    const judgingMs = halfUp(product(judged, prices.judged_ms), 1000);
    const here = budget.milliseconds[cut] + (prices.is_judged_here ? judgingMs : 0);
    const judging = tasks * prices.task_mills + halfUp(product(judged, prices.judged_mills), 1000);
    const isPaid = prices.reward_mills && prices.task_thousandths && tasks && judged;
    const found = {
      share,
      effective: halfUp(toStus * STEPS, budget.sentences),
      toPeople: free - cut + budget.pinned_people,
      toStus,
      toWrite: budget.to_write[cut],
      units: budget.units[cut],
      writingMs: budget.milliseconds[cut],
      writing: halfUp(budget.mills[cut], 1000),
      tasks: halfUp(product(tasks, prices.task_thousandths), 1000),
      votes: halfUp(product(judged, prices.vote_thousandths), 1000000),
      judging: halfUp(judging, 1000),
      slots: budget.slots[cut],
      fees: halfUp(budget.slots[cut] * prices.writing_fee + tasks * prices.task_fee, 1000),
      judgingFees: halfUp(product(tasks, prices.task_fee), 1000),
      pay: isPaid
        ? halfUp(product(tasks, prices.reward_mills, HOUR_MS), product(judged, prices.ms_per_judgement))
        : null,
      writingPay:
        prices.is_written_by_task && budget.milliseconds[cut]
          ? halfUp(product(budget.mills[cut], HOUR_MS), product(budget.milliseconds[cut], 1000))
          : null,
      days: Math.ceil((here * 7) / prices.week_ms),
    };
    found.total = found.writing + found.judging + found.fees;
    return found;
  };

  // --- words, as annotation/planning/words.py has them ---

  const rounded = (value) => Math.floor(value + 0.5);
  const count = (value) => value.toLocaleString("en-US");
  const tenth = (value) =>
    (rounded(10 * value) / 10).toLocaleString("en-US", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const dollars = (cents) => `$${count(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
  const ratio = (share) => {
    const text = `${2 + Math.floor(share / STEPS)}.${String(share % STEPS).padStart(3, "0")}`.replace(/0+$/, "");
    return text.endsWith(".") ? `${text}0` : text;
  };
  const likely = (value, relative) => [value / Math.exp(MIDDLE * relative), value * Math.exp(MIDDLE * relative)];
  const range = (value, relative) => {
    const [low, high] = likely(value, relative);
    return `[${count(rounded(low))}–${count(rounded(high))}]`;
  };
  const moneyRange = (cents, relative) => {
    const [low, high] = likely(cents, relative);
    if (rounded(high) < CENTS_BELOW) return `[${dollars(rounded(low))}–${dollars(rounded(high))}]`;
    return `[$${count(rounded(low / 100))}–$${count(rounded(high / 100))}]`;
  };
  const score = (value) => value.toFixed(2).replace(/^(-?)0/, "$1");

  const perSentence = (sentences) => spread.sentence / Math.sqrt(Math.max(sentences, 1));
  const deviation = (found) => {
    if (!found.total) return 0;
    const writing = spread.certain ? 0 : found.writing;
    const judging = found.judging + found.judgingFees;
    const alone = writing * Math.hypot(spread.seconds, perSentence(found.toWrite));
    return Math.hypot(alone, judging * spread.third, (writing + judging) * spread.units) / found.total;
  };
  // The normal distribution by the series of its error function; a page of percentages needs no more.
  const below = (z) => {
    if (Math.abs(z) > 8) return z > 0 ? 1 : 0;
    let [sum, term] = [z, z];
    for (let n = 1; Math.abs(term) > 1e-16 * Math.abs(sum); n += 1) {
      term *= (z * z) / (2 * n + 1);
      sum += term;
    }
    return 0.5 + (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  };
  const chanceOver = (found, cap) => {
    const relative = deviation(found);
    return relative ? 1 - below(Math.log(cap / found.total) / relative) : Number(found.total > cap);
  };
  const finish = (days) => {
    if (!days) return "";
    const date = new Date(`${data.today}T00:00:00Z`);
    date.setUTCDate(date.getUTCDate() + Math.min(days, 36500));
    return `${date.getUTCDate()} ${data.months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  };

  const tell = (found) => {
    const units = Math.hypot(spread.units, perSentence(found.toWrite));
    const hours = Math.hypot(units, spread.seconds);
    const writing = spread.certain ? 0 : hours;
    const judging = Math.hypot(spread.units, spread.third);
    const [shortest, longest] = likely(found.writingMs, hours);
    return {
      ratio: ratio(found.share),
      effective: ratio(found.effective),
      to_people: count(found.toPeople),
      to_stus: count(found.toStus),
      to_write: count(found.toWrite),
      people_percent: `${rounded((100 * found.toPeople) / Math.max(budget.sentences, 1))} %`,
      units: count(rounded(found.units / 1000)),
      units_range: range(found.units / 1000, units),
      hours: `${tenth(found.writingMs / HOUR_MS)} h`,
      hours_range: `[${tenth(shortest / HOUR_MS)}–${tenth(longest / HOUR_MS)}]`,
      writing: dollars(found.writing),
      writing_range: moneyRange(found.writing, writing),
      tasks: count(found.tasks),
      votes: count(found.votes),
      judging: dollars(found.judging),
      judging_range: moneyRange(found.judging, judging),
      fees: dollars(found.fees),
      fees_range: moneyRange(found.fees, judging),
      total: dollars(found.total),
      total_range: moneyRange(found.total, deviation(found)),
      slots: count(found.slots),
      writing_pay: found.writingPay === null ? "" : dollars(found.writingPay),
      pay: found.pay === null ? "" : dollars(found.pay),
      finish: finish(found.days),
      ...(data.cap === null ? {} : { chance: `${rounded(100 * chanceOver(found, data.cap))} %` }),
    };
  };

  // --- the page ---

  const slider = document.getElementById("ratio");
  const fields = [...document.querySelectorAll("[data-f]")];
  const track = document.querySelector("[data-track]");
  const freeze = document.querySelector("[data-freeze]");
  const saved = Number(track.value); // when the page was loaded
  let savedShare = saved; // as the server has it now
  // What freezing would do is known of the ratio that the server has seen.
  const tellChanges = (isKnown) => {
    for (const node of document.querySelectorAll("[data-known]")) node.hidden = !isKnown;
    for (const node of document.querySelectorAll("[data-unknown]")) node.hidden = isKnown;
  };

  const point = (levels, share) => {
    const percent = share / 10;
    const after = Math.max(levels.findIndex((level) => level[0] >= percent), 0);
    const [one, other] = [levels[Math.max(after - 1, 0)], levels[after]];
    const gap = other[0] - one[0];
    const part = gap ? (percent - one[0]) / gap : 0;
    return [1, 2, 3].map((side) => (1 - part) * one[side] + part * other[side]);
  };
  const drawCurve = (figure, share) => {
    const name = figure.dataset.curve;
    const [value, low, high] = point(curve[name], share);
    const plot = figure.querySelector("svg");
    const [bottom, top] = [Number(plot.dataset.low), Number(plot.dataset.high)];
    const x = `${share / 10}%`;
    const y = `${100 * (1 - (value - bottom) / (top - bottom))}%`;
    const put = (node, places) => Object.entries(places).forEach(([key, place]) => node.setAttribute(key, place));
    put(plot.querySelector(".here"), { x1: x, x2: x, y1: y });
    put(plot.querySelector(".dot"), { cx: x, cy: y });
    const words = { value: score(value), low: score(low), high: score(high) };
    for (const [key, text] of Object.entries(words)) figure.querySelector(`[data-c="${key}"]`).textContent = text;
    const nearest = curve[name].reduce(
      (best, level, place) => (Math.abs(level[0] - share / 10) < Math.abs(curve[name][best][0] - share / 10) ? place : best),
      0,
    );
    figure.querySelector('[data-c="random"]').hidden = data.random[name][nearest];
  };

  const show = (share) => {
    const found = forecast(share);
    const told = tell(found);
    for (const field of fields) field.textContent = told[field.dataset.f];
    track.value = share;
    slider.setAttribute("aria-valuetext", `${told.ratio}: ${told.to_people} / ${told.to_stus}, ${told.total}`);
    document.querySelector('[data-if="finish"]').hidden = !told.finish;
    for (const [name, pay] of [["pay", found.pay], ["writing", found.writingPay]]) {
      document.querySelector(`[data-warn="${name}"]`).hidden = pay === null || pay >= data.floor;
      document.querySelector(`[data-fair="${name}"]`).hidden = pay === null || pay < data.floor;
    }
    for (const figure of document.querySelectorAll("[data-curve]")) drawCurve(figure, found.effective);
    document.querySelector("[data-moved]").hidden = share === saved;
    tellChanges(share === savedShare);
    let carried = freeze.elements.namedItem("ratio");
    if (!carried) {
      carried = Object.assign(document.createElement("input"), { type: "hidden", name: "ratio" });
      freeze.append(carried);
    }
    carried.value = ratio(share);
  };
  const shareOf = () => Math.round((Number(slider.value) - 2) * STEPS);
  const moveTo = (share) => {
    slider.value = 2 + Math.min(Math.max(share, 0), STEPS) / STEPS;
    show(shareOf());
  };

  // --- saving: the draft follows the slider, and says so ---

  const state = document.querySelector("[data-save]");
  const form = document.querySelector("[data-ratio-form]");
  let waiting;
  let asking;
  const save = async () => {
    asking?.abort(); // an older answer must not come after a newer one
    asking = new AbortController();
    const { signal } = asking;
    const share = shareOf();
    state.textContent = state.dataset.saving;
    try {
      const answer = await fetch(form.action, {
        method: "POST",
        body: new FormData(form),
        headers: { "HX-Request": "true", Accept: "application/json" },
        signal,
      });
      const isOurs = answer.ok && answer.headers.get("Content-Type")?.startsWith("application/json");
      if (!isOurs) {
        state.textContent = answer.headers.has("HX-Redirect") ? state.dataset.away : state.dataset.refused;
        return;
      }
      const told = await answer.json();
      for (const node of document.querySelectorAll("[data-ch]")) node.textContent = count(told.changes[node.dataset.ch]);
      freeze.elements.namedItem("draft").value = told.draft;
      savedShare = share;
      tellChanges(shareOf() === savedShare);
      state.textContent = state.dataset.saved;
    } catch (error) {
      if (error.name !== "AbortError") state.textContent = state.dataset.lost;
    }
  };
  window.addEventListener("pagehide", () => {
    if (shareOf() !== savedShare) navigator.sendBeacon(form.action, new FormData(form));
  });

  // --- options that were changed and not sent: freezing would leave them out, so it is held back once ---

  const unused = document.querySelector("[data-unused]");
  const options = [...document.querySelectorAll("form[data-options]")];
  const isChanged = (field) => {
    if (field.type === "checkbox") return field.checked !== field.defaultChecked;
    if (field.options) return [...field.options].some((one) => one.selected !== one.defaultSelected);
    return field.type !== "hidden" && field.value !== field.defaultValue;
  };
  const isUnused = () =>
    options.some((one) => "refused" in one.dataset || [...one.elements].some((field) => field.name && isChanged(field)));
  for (const one of options) {
    one.addEventListener("input", () => {
      if (!isUnused()) unused.hidden = true;
    });
  }
  freeze.addEventListener("submit", (event) => {
    if (!unused.hidden || !isUnused()) return;
    event.preventDefault();
    unused.hidden = false;
  });

  slider.addEventListener("input", () => show(shareOf()));
  slider.addEventListener("change", () => {
    clearTimeout(waiting);
    waiting = setTimeout(save, 400);
  });
  slider.addEventListener("keydown", (event) => {
    const arrows = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
    const pages = { PageUp: 100, PageDown: -100 };
    const step = event.key in arrows ? arrows[event.key] * (event.shiftKey ? 1 : 10) : pages[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    moveTo(shareOf() + step);
    slider.dispatchEvent(new Event("change"));
  });
  document.querySelector("[data-hide]").hidden = true;
  document.querySelector("[data-keys]").hidden = false;
  window.planForecast = (share) => tell(forecast(share)); // for whoever wants to check the sums
  moveTo(saved);
})();
