/** A capital that begins a plain word, as at the beginning of a sentence: not that of `Item.close` or `API`. */
const CAPITAL = /^\p{Lu}(?=\p{Ll}*(?!\S))/u;
/** One that ends a sentence, and not one that stands alone or as part of an ellipsis. */
const FULL_STOP = /(?<=[^\s.])\.$/u;

/**
 * A text in one spelling, to compare by: `Close the file.` and `close the  file` say the same. Quotes, other marks and the
 * case of other letters tell texts apart: ``Rename `Item` to `item` `` and the reverse are two demands.
 */
export function oneSpelling(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(FULL_STOP, '')
    .replace(CAPITAL, (letter) => letter.toLowerCase());
}

/** The first of those that differ in spelling alone. */
export function distinctTexts(texts: readonly string[]): readonly string[] {
  if (texts.length < 2) return texts;
  const said = new Set<string>();
  return texts.filter((text) => {
    const spelling = oneSpelling(text);
    if (said.has(spelling)) return false;
    said.add(spelling);
    return true;
  });
}
