import { z } from 'zod';
import { isObject } from '../shared/text.js';
import { ERROR_CODES } from './error-codes.js';
import { learningEvent } from './learning-events.js';
import { REQUEST_NAMES, type RequestName, rowOf } from './requests.js';
import { RESULTS } from './results.js';
import { object, oneOf, string } from './schema-fields.js';
import { sessionEvent } from './session-events.js';
import { traceEntry } from './trace-entry.js';
import { traceAppendRequest } from './trace-requests.js';

/** The JSON Schemas of what travels and of what is stored, by name: draft 2020-12, made from the schemas of the code. */

interface Described {
  readonly about: string;
  readonly schema: z.ZodType;
}

/** A service skips an entry that it cannot read, and says so; the schema says what can be read. */
const traceRequest = traceAppendRequest.extend({
  entries: z.array(traceEntry).min(1).max(500).describe('What an agent did, one entry or several.'),
});

function schemasOf(subject: RequestName): [name: string, described: Described][] {
  const { summary, request, reply } = rowOf(subject);
  const schema = request === traceAppendRequest ? traceRequest : request;
  return [
    [`${subject}.request`, { about: `${summary}.`, schema }],
    [`${subject}.reply`, { about: `The reply of ${subject}.`, schema: reply }],
  ];
}

const errorReply = z.object({
  error: object('Why there is no other answer.', {
    code: oneOf(
      'A stable code; docs/reference/errors.md has the cause and the fix of each.',
      Object.keys(ERROR_CODES),
    ),
    message: string('What is wrong and what to do, for people.'),
    details: z
      .record(z.string(), z.unknown().describe('Any JSON value.'))
      .exactOptional()
      .describe('What the code needs to be acted on.'),
  }),
});

/** Returns the fields common to all events: its owner, and what its append expected. */
const envelope = (owner: 'session' | 'project') => ({
  [owner]: string(`The ${owner} that it is of.`),
  after: z
    .int()
    .nonnegative()
    .optional()
    .describe('The newest event of its kind (command or result) before it.'),
});

/** One of several events, each by a name of its own. */
function eventOf(
  owner: 'session' | 'project',
  options: readonly z.ZodObject<{ readonly type: z.ZodLiteral<string> }>[],
): z.ZodType {
  const [first, ...others] = options.map((option) =>
    option.extend(envelope(owner)).meta({
      id: inPascalCase(option.shape.type.value),
      description: `An event ${option.shape.type.value}.`,
    }),
  );
  return first === undefined ? z.never() : z.discriminatedUnion('type', [first, ...others]);
}

const SCHEMAS: Readonly<Record<string, Described>> = {
  ...Object.fromEntries(
    Object.entries(RESULTS).map(([role, schema]) => [
      `result.${role}`,
      { about: `The result of an agent as ${role}, on dispatch.<session>.${role}.`, schema },
    ]),
  ),
  ...Object.fromEntries(REQUEST_NAMES.flatMap(schemasOf)),
  'error.reply': { about: 'The reply to a request that is refused or fails.', schema: errorReply },
  'session.event': {
    about: 'One event of a session, on session.<session>.>.',
    schema: eventOf('session', sessionEvent.options),
  },
  'learning.event': {
    about: 'One event of the learnings of a project, on learning.<project>.<type>.',
    schema: eventOf('project', learningEvent.options),
  },
};

export const SCHEMA_NAMES: readonly string[] = Object.keys(SCHEMAS).sort();

/** The JSON Schema of a name, if there is one. What has a name of its own stands in `$defs`; more fields are allowed. */
export function jsonSchema(name: string): object | undefined {
  const described = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (described === undefined) return undefined;
  const { about, schema } = described;
  // Input schema: a field with a default may be left out.
  const made = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-2020-12',
    override: ({ jsonSchema: part }) => forOtherLanguages(part),
  });
  const { $schema, $ref, $defs = {}, ...whole } = made;
  // The name of the whole is that of the file.
  const rootName = $ref?.replace('#/$defs/', '') ?? '';
  const { [rootName]: root = whole, ...parts } = $defs;
  const { description: _, ...rest } = root;
  return {
    $schema,
    $id: `urn:throughline:schema:${name}`,
    title: inPascalCase(name),
    description: sentence(about),
    ...rest,
    ...(Object.keys(parts).length > 0 && { $defs: parts }),
  };
}

export function schemaText(name: string): string | undefined {
  const schema = jsonSchema(name);
  return (
    schema &&
    JSON.stringify(schema, null, 2).replaceAll(LINE_ENDS, (end) => `\\u${end.charCodeAt(0).toString(16)}`)
  );
}

/** Line ends of Unicode, which JSON may hold as they are and editors show as nothing. */
const LINE_ENDS = /[\u2028\u2029]/g;

/** Takes out what zod writes for JavaScript alone, or what says nothing to a generator of types. */
function forOtherLanguages(part: z.core.JSONSchema.BaseSchema): void {
  // Any whole number of JavaScript: no limit of ours.
  if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum;
  if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum;
  if (Number.isInteger(part.const) || part.enum?.every(Number.isInteger)) part.type = 'integer';
  // Comes from `readonly` in TypeScript; in JSON Schema it would restrict who may write.
  delete part.readOnly;
  if (isObject(part.propertyNames) && part.propertyNames.enum === undefined) delete part.propertyNames;
  if (part.format === 'date-time') part.pattern = 'Z$';
  // Not every language reads four digits behind \u, and some generators write \d as it is into a string.
  part.pattern &&= part.pattern
    .replaceAll('\\d', '[0-9]')
    .replaceAll(/\\u00([0-9a-f]{2})/g, '\\x$1')
    .replaceAll(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `tool.task-add.reply` as a name of a type: `ToolTaskAddReply`. */
function inPascalCase(name: string): string {
  return name.split(/[.-]/).map(sentence).join('');
}
