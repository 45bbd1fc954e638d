// The page around a HIT: shows the time that is left, and goes on by itself once the frame has handed in.
(() => {
  const frame = document.querySelector("[data-frame]"); // none around questions that the page itself asks
  const timer = document.querySelector("[data-left]");
  if (!timer) return;
  const words = timer.querySelector("[data-left-words]");
  const end = Date.now() + Number(timer.dataset.left) * 1000;
  const ASK_MS = 15000;

  const ask = async () => {
    try {
      const answer = await fetch(timer.dataset.stateUrl, { headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const { next } = await answer.json();
      if (next) location.assign(next);
    } catch { /* the line is cut: the next time tells */ }
  };
  const show = () => {
    const left = Math.max(0, Math.round((end - Date.now()) / 1000));
    if (!left) words.textContent = timer.dataset.wordsOver;
    else if (left < 120) words.textContent = timer.dataset.wordsSeconds.replace("0", left);
    else words.textContent = timer.dataset.wordsMinutes.replace("0", Math.floor(left / 60));
    timer.classList.toggle("save-bad", left < 60);
  };
  setInterval(show, 1000);
  if (timer.dataset.stateUrl) {
    frame?.addEventListener("load", ask); // another page in the frame: perhaps that of handing in
    setInterval(ask, ASK_MS);
  }
  show();
})();
