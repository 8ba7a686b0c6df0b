import { hash } from 'node:crypto';
import { KEPT } from '../contracts/kept.js';
import type { Severity } from '../contracts/severity.js';
import { clipText, quoted } from '../shared/text.js';
import type { RecordedFact, SessionFactTag } from './fact-types.js';

/** Unit separator: a control character, which `quoted()` folds out of every field before it gets here. */
const SEPARATOR = '\u001f';

/**
 * Id of a fact: the first 16 hex characters of SHA-256 over its three fields. A separator inside a field is escaped,
 * so that no two different triples share their text.
 */
export function createFactId(subject: string, relation: string, object: string): string {
  const said = `${escaped(subject)}${SEPARATOR}${escaped(relation)}${SEPARATOR}${escaped(object)}`;
  return hash('sha256', said).slice(0, 16);
}

/** The id of a fact, made from its words. */
export function factId({ subject, relation, object }: RecordedFact): string {
  return createFactId(subject, relation, object);
}

/** Whether two facts would have the same id, without making it. */
export function saysTheSame(one: RecordedFact, other: RecordedFact): boolean {
  return one.object === other.object && one.subject === other.subject && one.relation === other.relation;
}

function escaped(field: string): string {
  return field.includes(SEPARATOR) || field.includes('\\')
    ? field.replaceAll('\\', '\\\\').replaceAll(SEPARATOR, '\\u')
    : field;
}

/**
 * Makes a recorded fact from raw words: one quoted, clipped line each; `undefined` if one of them is empty.
 *
 * @param finding of a finding in a file: how severe it is, and what to do
 */
export function recordedFact(
  subject: string,
  relation: string,
  object: string,
  tags: readonly SessionFactTag[],
  finding?: { readonly severity: Severity; readonly fix?: string | undefined },
): RecordedFact | undefined {
  const from = clipText(quoted(subject), KEPT.fact.subject);
  const to = clipText(quoted(object), KEPT.fact.object);
  if (from === '' || to === '') return undefined;
  const fact = { subject: from, relation, object: to, tags };
  if (finding === undefined) return fact;
  const fix = clipText(quoted(finding.fix ?? ''), KEPT.fact.object);
  const { severity } = finding;
  return fix === '' ? { ...fact, severity } : { ...fact, severity, fix };
}
