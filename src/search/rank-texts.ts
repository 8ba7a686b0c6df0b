import { rarity, saturation } from './bm25.js';
import { isTelling } from './common-words.js';
import { tokens } from './tokens.js';

/**
 * The items whose text shares a telling word with a query, best first, at most `most`; equal ones in the order in which
 * they came. For texts so few that they are read at each question; an index is worth it for more.
 */
export function rankTexts<Item>(
  query: string,
  items: readonly Item[],
  textOf: (item: Item) => string,
  most: number,
): Item[] {
  const asked = wordsOf(query);
  const texts = items.map((item) => ({ item, words: new Set(wordsOf(textOf(item))) }));
  const meanLength = texts.reduce((sum, { words }) => sum + words.size, 0) / texts.length;
  const weights = new Map(
    asked.map((word) => [word, rarity(texts.filter(({ words }) => words.has(word)).length, texts.length)]),
  );
  return texts
    .flatMap(({ item, words }) => {
      const shared = asked.filter((word) => words.has(word));
      if (!shared.some(isTelling)) return [];
      const weight = shared.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0);
      return [{ item, score: weight * saturation(1, words.size / meanLength) }];
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ item }) => item);
}

/** The dash keeps the verb that a text begins with as the word that it is. */
function wordsOf(text: string): string[] {
  return tokens(`- ${text}`);
}
