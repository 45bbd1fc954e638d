// Checks of a unit while it is written: the same as annotation/writing/checks.py, which decides when it is handed in.
window.unitChecks = (() => {
  const TOKEN = /[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}\p{N}]+)?/gu;
  const FUNCTION_WORDS = new Set("a an the of to in on at by for with from as is are was were be been".split(" "));
  const QUIET_WORDS = new Set([
    ...FUNCTION_WORDS,
    ...("and or but nor so if than then it its he she they we you i his her their our your my him them us me this that " +
      "these those who whom whose which what when where while has have had do does did will would can could may " +
      "might must shall should not no there here also after before about into over under up down out off again more " +
      "most some any all each both only own same very just because until against between through during").split(" "),
  ]);
  const PRONOUNS = new Set(
    "i you he she it we they me him her us them his hers its their theirs this that these those who which".split(" "),
  );
  const tokens = (text) => (text.toLowerCase().match(TOKEN) || []).map((word) => word.replace("’", "'"));
  const similarity = (one, other) => {
    const [a, b] = [new Set(one), new Set(other)];
    const union = new Set([...a, ...b]);
    return union.size ? [...a].filter((word) => b.has(word)).length / union.size : 0;
  };
  const foreignWords = (words, reference) => {
    const content = words.filter((word) => !FUNCTION_WORDS.has(word));
    const known = new Set(tokens(reference));
    const lacking = content.filter((word) => !known.has(word));
    return content.length && 1 - lacking.length / content.length < 0.4 ? [...new Set(lacking)] : [];
  };
  // `kin` are units that this one extends, or that extend it: these are alike on purpose.
  const check = (text, others, reference, kin = []) => {
    const words = tokens(text);
    if (words.length < 3) return [{ check: "short", level: "error" }];
    const same = others.find((other) => tokens(other).join(" ") === words.join(" "));
    if (same !== undefined) return [{ check: "duplicate", level: "error", twin: same }];
    const found = [];
    if (words.length > 15) found.push({ check: "long", level: "warning" });
    if (words.slice(1, -1).includes("and")) found.push({ check: "and", level: "warning" });
    if (PRONOUNS.has(words[0])) found.push({ check: "pronoun", level: "warning", words: [words[0]] });
    const twin = others.find((other) => !kin.includes(other) && similarity(words, tokens(other)) >= 0.8);
    if (twin !== undefined) found.push({ check: "near", level: "warning", twin });
    const foreign = foreignWords(words, reference);
    if (foreign.length) found.push({ check: "foreign", level: "warning", words: foreign });
    return found;
  };
  const uncovered = (sentence, units) => {
    const told = new Set(units.flatMap(tokens));
    return [...new Set(tokens(sentence))].filter((word) => !QUIET_WORDS.has(word) && !told.has(word));
  };
  return { tokens, check, similarity, uncovered, isContent: (word) => !QUIET_WORDS.has(word), TOKEN };
})();
