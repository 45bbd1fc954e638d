// Shows where the words of a unit stand in its sentence, while the unit is pointed at or has the focus.
// The page is whole without it: every unit stands below its sentence.
(() => {
  if (!("highlights" in CSS)) return;

  const rangesOf = (unit) => {
    const reference = unit.closest("[data-reference]");
    const sentences = [...reference.querySelectorAll("[data-start]")];
    return unit.dataset.spans.split(" ").flatMap((span) => {
      const [start, end] = span.split("-").map(Number);
      const sentence = sentences.findLast((item) => Number(item.dataset.start) <= start);
      const text = sentence && sentence.firstChild;
      if (!text) return [];
      const offset = Number(sentence.dataset.start);
      const range = new Range();
      range.setStart(text, Math.min(start - offset, text.length));
      range.setEnd(text, Math.min(end - offset, text.length));
      return [range];
    });
  };

  const show = (event) => {
    const unit = event.target.closest("[data-spans]");
    if (unit) CSS.highlights.set("unit", new Highlight(...rangesOf(unit)));
  };
  const hide = () => CSS.highlights.delete("unit");

  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, show);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, hide);
})();
