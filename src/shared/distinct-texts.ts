const QUOTES = /["'`‘’“”]/gu;
const MARK_AT_END = /[,;:.!?…](?!\S)/gu;

/** A text in one spelling, to compare by: `Needs the "API" key.` and `needs the API key` say the same. */
export function oneSpelling(text: string): string {
  const plain = text.toLowerCase().replace(QUOTES, '').replace(MARK_AT_END, '').trim();
  return plain === '' ? text : plain;
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
