import { createHash } from 'node:crypto';
import { kindOf, ROLES, type Role, verdictsOf } from '../../contracts/kinds.js';
import { BEGIN, type ResultText } from '../../contracts/reading/last-result.js';
import { withLines } from '../../memory/traces/labelled-lines.js';
import { withShownOnly } from '../../memory/traces/shown-statements.js';
import { isObject, jsonOf } from '../../shared/text.js';
import type { HookCall } from './hook-call.js';

const MAX_TASK_ID = 128;

/**
 * The role whose result a block plainly is: JSON with the id of its task, a verdict of that role, and no field that
 * the role does not have. The service reads such a one whatever its fields hold; undefined for any other, which needs a closer look.
 *
 * @param expected the role of the agent, where it has one
 */
export function plainRole({ text, marked }: ResultText, expected: Role | undefined): Role | undefined {
  if (expected === undefined && !marked) return undefined;
  const result = objectIn(text)?.value;
  const id = result?.task_id;
  if (result === undefined || typeof id !== 'string' || id.trim() === '' || id.length > MAX_TASK_ID)
    return undefined;
  return (expected === undefined ? ROLES : [expected]).find((role) => {
    const { verdictField, fields } = kindOf(role);
    if (verdictField === undefined) return false;
    const known: readonly string[] = ['task_id', verdictField, ...fields, 'facts', 'result_id', 'branch'];
    const given = result[verdictField];
    return (
      verdictsOf(role).some((verdict) => verdict === given) &&
      Object.keys(result).every((key) => known.includes(key))
    );
  });
}

/** The task that a result is of; undefined for one that is not plain JSON. */
export function taskIn(text: string): string | undefined {
  const id = objectIn(text)?.value.task_id;
  return typeof id === 'string' ? id : undefined;
}

/** The one object of a block, and where it stands; undefined for a block that is not plain JSON. */
function objectIn(text: string) {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}') + 1;
  const value = jsonOf(text.slice(from, to));
  return isObject(value) ? { value, from, to } : undefined;
}

type ReturnedBy = Pick<HookCall, 'conversation' | 'turn' | 'agent'> & { readonly client: string };

/** A name for the result: the same agent and text give the same one, so that it counts once however often it is sent. */
export function resultId({ client, conversation, turn, agent }: ReturnedBy, text: string): string {
  const whole = JSON.stringify([client, conversation, agent === '' ? turn : agent, text]);
  return `${client}-${createHash('sha256').update(whole).digest('base64url').slice(0, 32)}`;
}

interface ResultContext {
  /** True for an id that replaces one that the agent gave. */
  readonly isGiven?: boolean;
  readonly branch?: string | undefined;
  readonly around?: string;
  /** Ids of statements that the agent was shown: any other ends nothing. */
  readonly shown?: readonly string[];
}

/**
 * The body with its branch, its `result_id` and the labelled lines of its message. One that has its own id keeps it, unless
 * the id is given; one that is not plain JSON goes as it is.
 */
export function withResultId(
  text: string,
  id: string,
  { isGiven = false, branch, around = '', shown = [] }: ResultContext = {},
): string {
  const found = objectIn(text);
  if (found === undefined) return text;
  const { value, from, to } = found;
  const named = { ...(branch !== undefined && { branch }), ...value };
  const known = value.result_id !== undefined && !isGiven ? named : { ...named, result_id: id };
  const whole = typeof value.task_id === 'string' ? withLines(known, around, value.task_id) : known;
  return `${text.slice(0, from)}${JSON.stringify(withShownOnly(whole, shown))}${text.slice(to)}`;
}

/** The body with the time when it was returned, unless it has one; one that is not plain JSON goes as it is. */
export function withTime(text: string, at: string): string {
  const found = objectIn(text);
  if (found === undefined) return text;
  return `${text.slice(0, found.from)}${JSON.stringify({ at, ...found.value })}${text.slice(found.to)}`;
}

/** Agents with a form to fill in answer by an object of JSON, with their text in one of its fields. */
export function messageOfAgent(text: string): string {
  if (!text.includes(BEGIN)) return text;
  const texts = Object.values(objectIn(text)?.value ?? {});
  return texts.find((part): part is string => typeof part === 'string' && part.includes(BEGIN)) ?? text;
}
