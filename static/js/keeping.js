// Work on a page that is never lost: saved 400 ms after the last change, on leaving a field, hiding and closing the page;
// a copy stays on this device until the server has it. Used by the pages where people write and look again.
(() => {
  const SAVE_MS = 400;
  const AGAIN_MS = 3000;
  const IDLE_MS = 15000;
  const BEAT_MS = 60000;

  // `data` names the task, its user, the lease's token and the version that the page has; `content` gives what is on the
  // page now; `settle` is called before it is read (a page that can undo closes its step there).
  window.keepWork = ({ data, words, form, content, settle = () => {} }) => {
    const here = location.pathname;
    const mirror = `write:${data.user}:${data.task}`;
    const page = pageId(mirror);
    const state = document.querySelector("[data-save]");
    let { version, token } = data;
    let csrf = form.elements.namedItem("csrfmiddlewaretoken").value;
    // What must be saved: time that passes and badges that arrive are no reason to, they go along with the next change.
    const essence = (what = content()) => JSON.stringify(what, (key, value) => (key === "seconds" || key === "shown" ? undefined : value));
    let saved = essence();
    let timer = null;
    let isClosed = false;
    let isLeaving = false;
    let isRefused = false; // handing in was refused, and that stays to be read until something changes

    const tell = (text, kind = "") => {
      if (isRefused && kind !== "save-bad") return;
      state.textContent = text;
      state.className = `save ${kind}`;
    };
    const keepHere = () => {
      try {
        localStorage.setItem(mirror, JSON.stringify({ version, token, page, content: content() }));
      } catch { /* a full or closed store: the server's copy is what counts */ }
    };
    const dropHere = () => {
      try {
        localStorage.removeItem(mirror);
      } catch { /* as above */ }
    };
    // What this device kept and the server has not seen; null if there is nothing.
    const kept = () => {
      try {
        const there = JSON.parse(localStorage.getItem(mirror) || "null");
        // Newer than the server's: typed on its newest version, or on a page whose last save it has and could not confirm.
        const isNewer = there && (there.version === version || (there.page && there.page === data.page.replaceAll("-", "")));
        return isNewer && essence(there.content) !== saved ? there.content : null;
      } catch {
        return null;
      }
    };
    const changed = () => {
      isRefused = false;
      keepHere();
      clearTimeout(timer);
      timer = setTimeout(save, SAVE_MS);
    };
    const payload = () => JSON.stringify({ token, version, page, content: content() });
    const send = (path, body) =>
      fetch(`${here}${path}/`, {
        method: "POST", body, headers: { "Content-Type": "application/json", "X-CSRFToken": csrf, "HX-Request": "true" }, redirect: "manual",
      });
    // After a new sign-in the page has an old form token; ask for a fresh one.
    const recover = async () => {
      const answer = await fetch(`${here}state/`, { redirect: "manual", headers: { "HX-Request": "true" } });
      if (!answer.ok || !answer.headers.get("Content-Type")?.startsWith("application/json")) return false;
      csrf = (await answer.json()).csrf;
      for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = csrf;
      return true;
    };
    // Take the same task again, after its lease has ended or somebody has signed out in another tab.
    const retake = async () => {
      const answer = await send("again", JSON.stringify({ token }));
      if (!isOurs(answer)) return false;
      const told = await answer.json();
      ({ token, version } = told);
      for (const field of document.querySelectorAll("[name=token]")) field.value = token;
      return true;
    };
    const isOurs = (reply) => reply.ok && reply.headers.get("Content-Type")?.startsWith("application/json");
    // One after the other: whoever asks while a save is under way gets the answer of the one behind it.
    let line = Promise.resolve(true);
    const save = () => {
      line = line.then(saveNow, saveNow);
      return line;
    };
    const saveNow = async () => {
      clearTimeout(timer);
      settle();
      const now = essence();
      if (now === saved) return !isClosed;
      if (!isClosed) tell(words.saving);
      let isSaved = false;
      try {
        let answer = await send("draft", payload());
        let isSignedIn = true;
        if (!isOurs(answer)) {
          isSignedIn = await recover();
          if (isSignedIn) answer = await send("draft", payload());
        }
        if (isOurs(answer)) {
          const told = await answer.json();
          if (told.state === "saved") {
            ({ version } = told);
            saved = now;
            isSaved = true;
            tell(`${words.saved} ${new Date().toTimeString().slice(0, 5)}`, "save-ok");
            if (essence() === saved) dropHere();
          } else if (!told.holds && !isClosed && (await retake())) {
            return saveNow(); // the lease had ended and nobody else has come
          } else {
            // Kept on the server beside the work, and so is all that follows; it cannot be handed in from here.
            isClosed = true;
            saved = now;
            tell(told.holds ? words.other : words.late, "save-bad");
          }
        } else if (isSignedIn && answer.status === 422) {
          tell((await answer.json()).detail, "save-bad"); // trying again would not help
        } else {
          tell(isSignedIn ? words.offline : words.away, "save-bad");
        }
      } catch {
        tell(words.offline, "save-bad");
      }
      if (!isSaved && !isClosed) timer = setTimeout(save, AGAIN_MS);
      return isSaved;
    };
    const flush = () => {
      settle();
      if (isLeaving || essence() === saved) return;
      keepHere();
      const body = new FormData();
      body.append("payload", payload());
      body.append("csrfmiddlewaretoken", csrf);
      navigator.sendBeacon(`${here}draft/`, body);
    };
    document.addEventListener("visibilitychange", () => document.hidden && save());
    window.addEventListener("pagehide", flush);
    window.addEventListener("online", save);
    setInterval(async () => {
      if (isClosed) return;
      try {
        const answer = await send("beat", JSON.stringify({ token }));
        if (answer.status === 409 && (await save()) && !isClosed) tell(words.gone, "save-bad");
      } catch { /* the next save tells */ }
    }, BEAT_MS);

    // Hand in what is on the page: never after a save that failed. `firstBad` gives what keeps it: [field, words], or null.
    const handIn = (firstBad) =>
      form.addEventListener("submit", async (event) => {
        if (isLeaving) return;
        event.preventDefault();
        const bad = firstBad();
        if (bad) {
          const [field, why] = bad;
          isRefused = true;
          tell(why, "save-bad");
          field.focus();
          return;
        }
        if (!(await save())) return;
        isLeaving = true;
        const field = document.createElement("input");
        Object.assign(field, { type: "hidden", name: "payload", value: JSON.stringify({ version, page, content: content() }) });
        form.append(field);
        for (const other of form.querySelectorAll("textarea")) other.removeAttribute("name");
        dropHere();
        form.submit();
      });

    // Seconds in which somebody works: with the page in view and a sign of life a moment ago.
    let lastSign = Date.now(); // whoever opens a page begins to read
    const sign = () => { lastSign = Date.now(); };
    for (const name of ["keydown", "pointerdown", "pointermove", "scroll"]) document.addEventListener(name, sign, { passive: true });
    const everyActiveSecond = (work) => setInterval(() => !document.hidden && Date.now() - lastSign <= IDLE_MS && work(), 1000);

    const begin = () => {
      for (const node of document.querySelectorAll("[data-script]")) node.hidden = false;
      if (version) tell(words.saved, "save-ok");
      if (essence() !== saved) changed();
    };
    return { begin, changed, everyActiveSecond, handIn, kept, save, send, tell };
  };

  // Tells an open page from others: the same after a reload, another one in another tab.
  const pageId = (name) => {
    const fresh = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    try {
      const isReload = performance.getEntriesByType("navigation")[0]?.type === "reload";
      const id = (isReload && sessionStorage.getItem(name)) || fresh;
      sessionStorage.setItem(name, id);
      return id;
    } catch {
      return fresh;
    }
  };

  // A small element: attributes, listeners as "onclick", children; no markup from text.
  window.make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  };
})();
