/**
 * Reads the texts of requirements from a requirements document: Kiro's and spec-workflow's criteria (`1.2` is the second
 * numbered line below `### Requirement 1`), and items named by an id (`- **FR-001**: …`).
 */
export function requirementTexts(document: string, wanted: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (id: string, text: string): void => {
    if (wanted.has(id) && !found.has(id) && text !== '') found.set(id, text);
  };
  let current = '';
  let level = 0;
  for (const line of document.split(/\r?\n/)) {
    const [marks = ''] = /^#{1,6}(?=\s)/.exec(line) ?? [];
    const text = line.slice(marks.length).trim();
    const named = opening(NAMED, text);
    if (marks !== '') {
      const requirement = named ?? opening(REQUIREMENT, text);
      if (requirement === undefined && marks.length > level) continue;
      current = requirement?.id ?? '';
      level = marks.length;
      add(current, requirement?.rest ?? '');
    } else if (named !== undefined) add(named.id, named.rest);
    else if (current !== '') {
      const { id = '', rest = '' } = opening(NUMBERED, text) ?? {};
      if (id !== '') add(id.startsWith(`${current}.`) ? id : `${current}.${id}`, rest);
      const before = found.get(current);
      if (before !== undefined && STORY.test(text))
        found.set(current, `${before}. ${text.replace(STORY, '')}`);
    }
  }
  return found;
}

/** Reads the id that opens a text; the rest is without the punctuation after it. */
function opening(
  expression: RegExp,
  text: string,
): { readonly id: string; readonly rest: string } | undefined {
  const found = expression.exec(text);
  const id = found?.[1];
  if (found === null || id === undefined) return undefined;
  return { id, rest: text.slice(found[0].length).replace(PUNCTUATION, '') };
}

const REQUIREMENT = /^(?:requirement\s|需求|要件)?(\d{1,4}(?:\.\d{1,4}){0,4})(?!\d)/i;
const NUMBERED = /^(?:[-*]\s)?(\d{1,4}(?:\.\d{1,4}){0,4})[.):：]?(?=\s)/;
const NAMED = /^(?:[-*]\s)?\*{0,2}([A-Z]{1,8}-?\d{1,6}(?:[.-]\d{1,6}){0,4})\*{0,2}\s?[:：.–—-]/;
const PUNCTUATION = /^[\s.:：)*–—-]+/;
const STORY = /^\*{0,2}user story\*{0,2}[:：]\*{0,2}\s?/i;
