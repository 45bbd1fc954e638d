// What somebody does on a page before its own script is there is not lost: a key is pressed again once it is, and a field
// in which was typed is marked, for the script that draws the fields anew. Loaded at once, not deferred, as the first one.
(() => {
  const keys = [];
  const keep = (event) => {
    const isSeen = document.querySelector("[data-form]"); // nobody decides on what is not there yet
    const isCommand = event.ctrlKey || event.metaKey; // also from within a field: Ctrl Enter hands in
    if (isSeen && (isCommand || !event.target.closest("a, button, input, select, summary, textarea"))) keys.push(event);
  };
  const mark = (event) => { event.target.dataset.early = ""; };
  const press = (event) => {
    const at = document.activeElement;
    const isFree = at.dispatchEvent(new KeyboardEvent("keydown", event));
    const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isFree || !isLetter || !at.matches("textarea")) return;
    at.setRangeText(event.key, at.selectionStart, at.selectionEnd, "end");
    at.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  document.addEventListener("keydown", keep);
  document.addEventListener("input", mark);
  document.addEventListener("DOMContentLoaded", () => { // deferred scripts have run by now
    document.removeEventListener("keydown", keep);
    document.removeEventListener("input", mark);
    keys.forEach(press);
  });
})();
