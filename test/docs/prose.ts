/** How plainly the pages are written: their sentences, those that are long, and the words that readers stumble over. */

/** A sentence with more words is read twice. */
const LONGEST = 30;

/** Words of an older style, where "what", "of" and "that" begin clauses and a few verbs stand for all others. */
const DIALECT: readonly RegExp[] = [
  /^(?:What|Whether|Of|That which)\b(?!.*\?)/,
  /\b(?:gives|given way|goes(?! on)|holds|stands|lies)\b/i,
  /\btakes\b(?! (?:about|at most|part|place|over|effect|[\d~a-z]+ (?:ms|seconds|minutes)))/i,
  /\broom\b/i,
  /\b(?:as far as|all else|such that|for certain|most often|that of|those of|comes? to|mends?|mended|to have it|its own way)\b/i,
  /^Where\b(?!.*\?)|\b(?:goes? on|in hand|all the same|that (?:is|are) there|of use)\b/i,
  /\b(?:of (?:its|their|your) own|a time of|one of them is|each of them|in their place|in its place)\b/i,
];

/** The sentences of a page without its code: paragraphs, items of lists and cells of tables. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(/^(`{3,})[\s\S]*?^\1`*$/gm, '\n')
    .replace(/!?\[((?:[^\][]|\[[^\]]*\])*)\]\([^)]*\)/g, '$1')
    .replace(/(`+)[^`][\s\S]*?\1/g, 'CODE')
    .split(/\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) ?)/)
    .flatMap((block) => (block.trimStart().startsWith('#') ? [] : block.split(/(?<!\\)\|/)))
    .flatMap((block) => block.replace(/^\s*(?:[-*]|\d+\.) /, '').split(/(?<=[.!?][)"*”]*)\s+(?=\S)/))
    .map((sentence) => sentence.replace(/\s+/g, ' ').trim())
    .filter((sentence) => /\p{L}/u.test(sentence));
}

export function isLong(sentence: string): boolean {
  return sentence.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length > LONGEST;
}

export function dialectIn(sentence: string): string[] {
  return DIALECT.flatMap((words) => words.exec(sentence)?.[0] ?? []);
}
