/**
 * Templates of prompts: text with `{{name}}` in it. Rendering is one pass, so what a value holds is text and is never
 * expanded itself.
 */

// Wider than the names there are: `{{ready-count}}` is a misspelt one, not text.
const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}/g;

const ANYTHING_IN_BRACES = /\{\{([^{}\n]*)\}\}/g;

/** Whether a template shows a value of this name. */
export function hasPlaceholder(template: string, name: string): boolean {
  return [...template.matchAll(PLACEHOLDER)].some(([, each]) => each === name);
}

/** A placeholder that stands for nothing, and where. */
export interface UnknownPlaceholder {
  readonly name: string;
  /** 1 for the first. */
  readonly line: number;
}

/** Placeholders in a template that are not among the known ones. */
export function unknownPlaceholders(template: string, known: readonly string[]): UnknownPlaceholder[] {
  return template
    .split('\n')
    .flatMap((text, at) =>
      [...text.matchAll(ANYTHING_IN_BRACES)]
        .map(([, name = '']) => ({ name: name.trim(), line: at + 1 }))
        .filter(({ name }) => name !== '' && !known.includes(name)),
    );
}

/** The placeholders that a template uses. */
export function placeholdersOf(template: string): ReadonlySet<string> {
  return new Set(Array.from(template.matchAll(PLACEHOLDER), ([, name = '']) => name));
}

/**
 * Puts the values into a template. A line that held nothing but placeholders, all of them empty, goes away, and no
 * more than one empty line is left between two others.
 */
export function renderTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const rendered: string[] = [];
  for (const line of template.replaceAll('\r\n', '\n').split('\n')) {
    const filled = line.replace(PLACEHOLDER, (whole, name: string) =>
      Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
    );
    const vanished = filled.trim() === '' && line.trim() !== '';
    const doubled = filled.trim() === '' && rendered.at(-1)?.trim() === '';
    if (!vanished && !doubled) rendered.push(filled);
  }
  return rendered.join('\n').trim();
}
