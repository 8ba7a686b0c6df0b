import { type Command, Option } from 'commander';
import { z } from 'zod';
import { FACT_TAGS } from '../contracts/fact-tags.js';
import { TIMELINE_KINDS } from '../contracts/timeline-kinds.js';
import { fraction, settingPair, wholeNumber } from './option-parsers.js';

/** Options of commands that are requests, made from what the request takes. */

export type Shape = Readonly<Record<string, z.ZodType>>;

/** What the option of a field is called, where not by the field. */
type Renamed = Readonly<Record<string, string>>;

/** Adds an option for each field. */
export function addFields(
  command: Command,
  shape: Shape,
  { renamed = {} }: { renamed?: Renamed } = {},
): void {
  for (const [field, schema] of Object.entries(shape)) {
    command.addOption(optionOf(field, schema, renamed[field] ?? field));
  }
}

/** The fields that were given, as a request says them. */
export function fieldsIn(
  options: Readonly<Record<string, unknown>>,
  shape: Shape,
  { renamed = {} }: { renamed?: Renamed } = {},
): Record<string, unknown> {
  const given = Object.keys(shape).map((field) => [field, options[renamed[field] ?? field]]);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

/** An option for one field: its kind follows from the schema. */
function optionOf(field: string, schema: z.ZodType, name: string): Option {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const { inner, required, fallback } = unwrapped(schema);
  const about = DESCRIPTIONS[field] ?? field;
  if (inner instanceof z.ZodBoolean) return new Option(flag, about);
  if (inner instanceof z.ZodObject) return new Option(`${flag} <key=value...>`, about).argParser(settingPair);
  const isShown = typeof fallback === 'string' || typeof fallback === 'number';
  const option = new Option(
    `${flag} <${placeholderOf(field, inner)}>`,
    `${about}${isShown ? ` (default: ${fallback})` : ''}`,
  ).makeOptionMandatory(required);
  if (inner instanceof z.ZodEnum) option.choices(inner.options.map(String));
  if (inner instanceof z.ZodNumber) option.argParser(numberParser(inner));
  return option;
}

/** A whole number or one with a fraction, in the range that the schema gives. */
function numberParser(number: z.ZodNumber): (raw: string) => number {
  if (number.format === null) return fraction;
  const low = Math.max(0, number.minValue ?? 0);
  // A number above 0 says so by a limit that it does not take itself.
  return wholeNumber(number.safeParse(low).success ? low : low + 1, number.maxValue ?? undefined);
}

function unwrapped(schema: z.ZodType): { inner: unknown; required: boolean; fallback: unknown } {
  if (schema instanceof z.ZodDefault) {
    return { ...unwrapped(wrappedIn(schema)), required: false, fallback: schema.def.defaultValue };
  }
  if (schema instanceof z.ZodOptional) return { ...unwrapped(wrappedIn(schema)), required: false };
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodType) return unwrapped(schema.in);
  return { inner: schema, required: true, fallback: undefined };
}

function wrappedIn(schema: z.ZodDefault | z.ZodOptional): z.ZodType {
  const inner = schema.unwrap();
  if (inner instanceof z.ZodType) return inner;
  throw new Error('a field of a request is made by another library');
}

function placeholderOf(field: string, inner: unknown): string {
  if (inner instanceof z.ZodUnion) return `${field in PLACEHOLDERS ? PLACEHOLDERS[field] : 'id'}...`;
  if (inner instanceof z.ZodArray) return `${field.replace(/s$/, '')}...`;
  if (inner instanceof z.ZodNumber) return 'n';
  return PLACEHOLDERS[field] ?? 'text';
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  id: 'id',
  claim: 'agent',
  cursor: 'id',
  project: 'name',
  by: 'name',
  type: 'type',
  status: 'status',
  relation: 'relation',
  tag: 'tag',
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  id: 'id, its number, or a prefix that fits only one',
  content: 'what it says',
  priority: '0 critical, 1 high, 2 medium, 3 low, 4 backlog',
  status: 'status',
  dependsOn: 'ids of the tasks to wait for',
  reason: 'why',
  claim: 'name of the agent',
  type: 'its kind',
  all: 'also those that have been read',
  number: 'number of the iteration (default: the newest)',
  summary: 'what was accomplished',
  tasksWorked: 'ids of tasks that were worked on, beside those whose status changed',
  replace: 'put it in the place of an earlier summary',
  title: 'what lists show beside its name',
  goal: 'what the session is to achieve',
  spec: 'the specification itself',
  specPath: 'where the specification is to be read',
  project: 'the project that it belongs to',
  force: 'even with open tasks or fixes; needs a reason',
  settings: 'what shapes its prompts, such as implementerTokens=8000',
  tags: 'words that it is found by, all of them',
  confidence: 'how sure it is, 0 to 1',
  retired: 'those that were superseded or retracted, and why',
  limit: 'most to show',
  cursor: 'the page that begins here: each page but the last says which comes next',
  maxResults: 'most to show',
  minSimilarity: 'similarity that a learning found by meaning must have, 0 to 1',
  merge: 'add its evidence to the learning that says nearly the same',
  separate: 'keep both',
  dispatch: 'its DISPATCH sequence, as `publish` prints it',
  timeoutMs: 'most milliseconds to wait for it',
  text: 'words that all stand in it; of a fact also its id',
  task: 'only what is of this task',
  subject: 'only facts about this, such as a file',
  relation: 'only facts with one of these relations',
  tag: `only facts with one of these: ${FACT_TAGS.join(', ')}`,
  is: 'facts that hold, that were closed, or all',
  stalled: 'only sessions with a task that makes no progress',
  brief: 'only names and times',
  kinds: `only entries of these kinds: ${TIMELINE_KINDS.join(', ')}`,
  failed: 'only what failed',
  after: 'only what is above this session sequence',
  intent: 'the intent',
  whole: 'with the text of the snapshot itself',
};
