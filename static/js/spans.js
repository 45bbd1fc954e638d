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
      // Places are counted in characters, the page counts in halves of some of them (emoji).
      const letters = [...text.data];
      const place = (number) => letters.slice(0, number - Number(sentence.dataset.start)).join("").length;
      const range = new Range();
      range.setStart(text, place(start));
      range.setEnd(text, place(end));
      return [range];
    });
  };

  const show = (event) => {
    const unit = event.target.closest("[data-spans]");
    if (unit) CSS.highlights.set("unit", new Highlight(...rangesOf(unit)));
  };
  const hide = () => {
    const focused = document.activeElement.closest("[data-spans]");
    if (focused) show({ target: focused });
    else CSS.highlights.delete("unit");
  };

  for (const name of ["mouseover", "focusin"]) document.addEventListener(name, show);
  for (const name of ["mouseout", "focusout"]) document.addEventListener(name, hide);
})();
