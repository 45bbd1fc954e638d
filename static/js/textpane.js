// The text beside the work: words that no unit has yet, the place of a unit's evidence, and search in the document.
window.textPane = (() => {
  const checks = window.unitChecks;
  const { make } = window;

  // A range of letters (code points, as the server counts them) in the text of an element.
  const rangeIn = (element, start, end) => {
    const range = new Range();
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let at = 0;
    let hasStart = false;
    while (walker.nextNode()) {
      const letters = [...walker.currentNode.data];
      const inside = (place) => letters.slice(0, place - at).join("").length;
      if (!hasStart && start < at + letters.length) {
        range.setStart(walker.currentNode, inside(start));
        hasStart = true;
      }
      if (hasStart && end <= at + letters.length) {
        range.setEnd(walker.currentNode, inside(end));
        return range;
      }
      at += letters.length;
    }
    return null;
  };
  const paint = (name, ranges) => "highlights" in CSS && CSS.highlights.set(name, new Highlight(...ranges));

  // Underlines the content words of a sentence that are in no unit, and counts them.
  const underline = (element, text, units, words) => {
    const selection = window.getSelection();
    if (selection.rangeCount && !selection.isCollapsed && element.contains(selection.anchorNode)) return; // somebody marks words
    const missing = new Set(checks.uncovered(text, units));
    const pieces = [];
    let end = 0;
    for (const match of text.matchAll(checks.TOKEN)) {
      pieces.push(text.slice(end, match.index));
      end = match.index + match[0].length;
      pieces.push(missing.has(checks.tokens(match[0])[0]) ? make("span", { class: "missing" }, match[0]) : match[0]);
    }
    element.replaceChildren(...pieces, text.slice(end));
    const all = new Set(checks.tokens(text).filter(checks.isContent)).size;
    document.querySelector("[data-uncovered]").textContent = missing.size ? `${words} ${missing.size} / ${all}` : "";
  };

  // Lights the words that a unit was made of; `start` is where the sentence begins in its reference.
  const showEvidence = (element, start, spans) =>
    paint("evidence", spans.map(([from, to]) => rangeIn(element, from - start, to - start)).filter(Boolean));

  const find = document.getElementById("find");
  find?.addEventListener("input", () => {
    const text = document.querySelector("[data-text]");
    const wanted = find.value.trim().toLowerCase();
    const ranges = [];
    if (wanted.length > 1) {
      const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
      while (walker.nextNode()) {
        const there = walker.currentNode.data.toLowerCase();
        for (let at = there.indexOf(wanted); at >= 0; at = there.indexOf(wanted, at + 1)) {
          const range = new Range();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, at + wanted.length);
          ranges.push(range);
        }
      }
    }
    document.querySelector("[data-found]").textContent = wanted.length > 1 ? String(ranges.length) : "";
    paint("unit", ranges);
    ranges[0]?.startContainer.parentElement.scrollIntoView({ block: "nearest" });
  });

  return { underline, showEvidence };
})();
