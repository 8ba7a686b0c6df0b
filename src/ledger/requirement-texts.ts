/**
 * Reads the texts of requirements from a requirements document: Kiro's and spec-workflow's criteria (`1.2` is the second
 * numbered line below `### Requirement 1`), and items named by an id (`- **FR-001**: …`).
 */
export function requirementTexts(document: string, asked: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const add = (id: string, text: string): void => {
    if (asked.has(id) && !found.has(id) && text !== '') found.set(id, text);
  };
  let current = '';
  let level = 0;
  for (const line of document.split(/\r?\n/)) {
    const [, marks = '', title = ''] = /^(#{1,6})\s+(.*)$/.exec(line) ?? [];
    const text = title || line.trim();
    const [, id = '', rest = ''] = NAMED.exec(text) ?? [];
    if (marks !== '') {
      const [, number, said = ''] = REQUIREMENT.exec(title) ?? [];
      if (number === undefined && id === '' && marks.length > level) continue;
      current = number ?? id;
      level = marks.length;
      add(current, said || rest);
    } else if (id !== '') add(id, rest);
    else if (current !== '') {
      const [, number = '', criterion = ''] = NUMBERED.exec(text) ?? [];
      if (number !== '') add(number.startsWith(`${current}.`) ? number : `${current}.${number}`, criterion);
      const before = found.get(current);
      if (before !== undefined && STORY.test(text))
        found.set(current, `${before}. ${text.replace(STORY, '')}`);
    }
  }
  return found;
}

const REQUIREMENT = /^(?:requirement\s+|需求\s*|要件\s*)?(\d+(?:\.\d+)*)\s*[.:：)]?\s*[-–—]?\s*(.*)$/i;
const NUMBERED = /^(?:[-*]\s+)?(\d+(?:\.\d+)*)[.):：]?\s+(.*)$/;
const NAMED = /^(?:[-*]\s+)?\*{0,2}([A-Z]{1,8}-?\d+(?:[.-]\d+)*)\*{0,2}\s*[:：.–—-]\*{0,2}\s*(.*)$/;
const STORY = /^\*{0,2}user story\*{0,2}[:：]\*{0,2}\s*/i;
