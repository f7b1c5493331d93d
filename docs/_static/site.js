// The arrows of the contents have no words of their own for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const arrow of document.querySelectorAll("summary:has(.toctree-toggle)")) arrow.setAttribute("aria-label", "Pages below");
});

// The search of Sphinx asks for all words at once. A message that somebody pastes has words of its own, such as names of files, so here
// the words that are rare count most, values in quotes are left out, and the pages of errors come first.
const ERRORS = ["reference/errors", "reference/sentences"];
const isMessage = (query) => /[.:;,'"`()[\]=]/.test(query) && query.trim().split(/\s+/).length > 2;
const withoutValues = (query) =>
  query.replace(/(^|[\s(])(['"]).*?\2(?=[\s).,;:?]|$)/g, "$1 ").replace(/\[[^\]]*\]/g, " ").replace(/(expected one of) .*/, "$1");

// Pages that people come for, and those that few need.
const bonus = (page) => (/^(start$|tutorials\/)/.test(page) ? 4 : /^(contributing\/|changes$|benchmarks$)/.test(page) ? -12 : 0);

const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{Letter}_]{2,}/gu));

// On the pages of errors, show the sentence that is most like the message.
document.addEventListener("DOMContentLoaded", () => {
  let message = "";
  try {
    message = localStorage.getItem("wmcc-message");
    if (typeof Search === "undefined") localStorage.removeItem("wmcc-message");
  } catch {}
  if (!message || !ERRORS.includes(DOCUMENTATION_OPTIONS.pagename)) return;
  const wanted = wordsOf(withoutValues(message)), common = new Map();
  const sentences = [...document.querySelectorAll("article li, article dt")].map((element) => [element, wordsOf(element.textContent.split("→")[0])]);
  for (const [, words] of sentences) for (const word of words) common.set(word, (common.get(word) ?? 0) + 1);
  const rare = (words) => [...words].reduce((sum, word) => sum + Math.log(1 + sentences.length / (common.get(word) ?? 1)), 0);
  const alike = ([, words]) => rare([...words].filter((word) => wanted.has(word))) / Math.sqrt(rare(words) * rare(wanted) || 1);
  const best = sentences.reduce((best, next) => (alike(next) > alike(best) ? next : best));
  if (alike(best) < 0.5) return;
  best[0].classList.add("searched");
  best[0].scrollIntoView({ block: "center" });
});

if (typeof Search !== "undefined") {
  let message = false;
  const { _parseQuery: parse, performTermsSearch: pagesOf } = Search;
  Search._parseQuery = (query) => {
    message = isMessage(query);
    try {
      localStorage.setItem("wmcc-message", message ? query : "");
    } catch {} // which a browser may not have
    const kept = message ? withoutValues(query) : query;
    return parse(/[\p{Letter}]{3}/u.test(kept) ? kept : query);
  };
  Search.performTermsSearch = (words, excluded) => {
    const all = Search._index.docnames.length, pages = new Map();
    let total = 0;
    for (const word of words) {
      const found = pagesOf(new Set([word]), excluded);
      if (!found.length) continue;
      const rare = Math.log(1 + all / found.length);
      total += rare;
      for (const result of found) {
        const known = pages.get(result[0]) ?? { result, words: 0, rare: 0, score: 0 };
        pages.set(result[0], { result, words: known.words + 1, rare: known.rare + rare, score: known.score + rare * result[4] });
      }
    }
    const most = Math.max(0, ...[...pages.values()].map((page) => page.words));
    return [...pages.values()]
      .filter((page) => (message ? page.rare > total / 2 : page.words >= most - (words.size > 3)))
      .map(({ result, rare, score }) => {
        const first = message && ERRORS.includes(result[0]) ? 100 * (rare / total) : 0;
        return Object.assign([...result], { 4: score / total + first });
      });
  };
  Scorer.score = ([page, , , , score]) => score + bonus(page);
}
