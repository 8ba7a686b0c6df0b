// Quotes and backticks as well: prompts quote the names that facts hold plain.
const SEPARATORS = /[\s/\-_.,:;()[\]{}"'`]+/;

const STOPWORDS: ReadonlySet<string> = new Set(
  (
    'a an the is are was were be been being have has had do does did will would shall should may might can could ' +
    'of in to for with on at by from as or and but not no this that it its'
  ).split(' '),
);

/** The distinct words of a text that carry meaning: lower case, without stopwords. */
export function words(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(SEPARATORS)
      .filter((word) => word !== '' && !STOPWORDS.has(word)),
  );
}
