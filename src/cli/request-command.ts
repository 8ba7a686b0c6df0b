import { Argument, Option } from 'commander';
import { z } from 'zod';
import type { ToolReply } from '../contracts/requests.js';
import { REQUESTS, TOOL_NAMES, type ToolName } from '../contracts/requests.js';
import { TASK_STATUSES } from '../contracts/task-events.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import type { Command } from './cli-command.js';
import { type Cli, cliOf, coloured, note, out, sessionOf, withClient } from './command-context.js';
import { fraction, settingPair, TASK_STATUS_WORDS, taskStatus, wholeNumber } from './option-parsers.js';
import { type Cell, nextPageLines, table } from './output.js';
import { onSession, requireEvents, SESSION_DEFAULT, usualSession } from './session-argument.js';
import { type Colors, coloursOf, showReply } from './show-reply.js';

/** Commands that are one request: arguments, options, defaults and descriptions come from the schema of the request. */

export type Shape = Readonly<Record<string, z.ZodType>>;

export interface RequestRow<Name extends ToolName> {
  /** Fields that are typed as arguments, in this order; the others are options. */
  readonly places?: readonly string[];
  /** Fields that the command sets itself. */
  readonly sets?: Readonly<Record<string, unknown>>;
  /** Fields that the command does not offer. */
  readonly without?: readonly string[];
  /** True for a command that reads: a session without events is `not_found`. */
  readonly reads?: boolean;
  /** Says `add a task` of a command. Default: the summary of the request. */
  readonly about?: string;
  /** Arguments after the command words in its examples. Default: the example of the request. */
  readonly examples?: readonly string[];
  /** Options beside the fields of the request: flags, whose values `send` gets with the fields. */
  readonly options?: readonly (readonly [flag: `--${string}`, about: string])[];
  /** Sends the request. Default: once. */
  readonly send?: (client: ThroughlineClient, request: object, json: boolean) => Promise<ToolReply<Name>>;
  /** Shows the reply. Default: as `showReply` does. */
  readonly show?: (reply: ToolReply<Name>, colours: Colors) => readonly string[];
  /** The note about the reply on standard error. */
  readonly remark?: (reply: ToolReply<Name>, request: Readonly<Record<string, unknown>>) => string;
}

/** Adds the command `word` to a group: the request `name`. */
export function addRequest<Name extends ToolName>(
  group: Command,
  word: string,
  name: Name,
  row: RequestRow<Name> = {},
): Command {
  const { scope, summary, example, shape } = REQUESTS[`tool.${name}`];
  const { places = [], sets = {}, without = [], reads = false, about = summary } = row;
  const command = group.command(word).summary(about).description(sentence(about));
  const asArgument = scope === 'session' && places.length === 0;
  if (asArgument) onSession(command);
  const offered = (field: string) => !(field in sets) && !without.includes(field);
  const fieldsIn = addFields(command, shapeOf(shape, offered), { places });
  if (scope === 'session' && !asArgument)
    command.option('-s, --session <name>', `session ${SESSION_DEFAULT}`);
  if (scope === 'any session') command.option('-s, --session <name>', 'only of this session');
  const flags = row.options ?? [];
  for (const [flag, meaning] of flags) command.option(flag, meaning);
  const words = ['throughline', ...(group.parent === null ? [] : [group.name()]), word].join(' ');
  const flagsIn = () => {
    const options = command.opts();
    const given = flags.map(([flag]) => [flag.slice(2), options[flag.slice(2)]]);
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  };
  return command
    .option('--json', 'print the whole reply as JSON')
    .examples(...(row.examples ?? [example]).map((each) => `${words} ${each}`.trimEnd()))
    .action(async () => {
      const cli = cliOf(command);
      const session =
        scope === 'session' ? await usualSession(cli, command, asArgument) : command.opts().session;
      const request = { ...(session !== undefined && { session }), ...fieldsIn(), ...sets, ...flagsIn() };
      const { json = false } = command.opts<{ json?: boolean }>();
      const reply = await withClient(cli, async (client) => {
        const sent = row.send?.(client, request, json) ?? client.send(`tool.${name}`, request);
        const answer = await sent;
        if (reads && session !== undefined && 'sequence' in answer) requireEvents(session, answer.sequence);
        return answer;
      });
      if (json) out(JSON.stringify(reply));
      else print(cli, row.show?.(reply, coloursOf(cli)) ?? showReply(name, reply, coloursOf(cli)));
      if (row.remark !== undefined) note(`-- ${row.remark(reply, request)}`);
      if ('created' in reply) note(`-- created session ${session}`);
      if ('next' in reply && typeof reply.next === 'string')
        for (const line of nextPageLines(command, reply.next)) note(line);
    });
}

export function print(cli: Cli, lines: readonly string[]): void {
  if (lines.length > 0) out(lines.join('\n'), coloured(cli));
}

/** Prints a list below its headings; nothing without rows. */
export function printTable(cli: Cli, headings: readonly string[], rows: readonly (readonly Cell[])[]): void {
  if (rows.length > 0) print(cli, table(headings, rows, coloursOf(cli).dim));
}

export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

export function shapeOf(shape: Shape, isOffered: (field: string) => boolean): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([field]) => isOffered(field)));
}

const RENAMED: Readonly<Record<string, string>> = {
  ...{ cursor: 'page', maxResults: 'maxLearnings', kinds: 'kind' },
};

interface FieldOptions {
  readonly places?: readonly string[];
  /** True for flags that are exactly the fields, as prompts write them. */
  readonly exact?: boolean;
}

/** Adds an argument or an option for each field; returns what reads the fields that were given. */
export function addFields(
  command: Command,
  shape: Shape,
  { places = [], exact = false }: FieldOptions = {},
): () => Record<string, unknown> {
  const nameOf = (field: string) => (exact ? field : (RENAMED[field] ?? field));
  for (const field of places) {
    const schema = shape[field];
    if (schema !== undefined) command.addArgument(argumentOf(field, schema));
  }
  const fields = Object.entries(shape).filter(([field]) => !places.includes(field));
  for (const [field, schema] of fields) command.addOption(optionOf(nameOf(field), field, schema));
  return () => {
    const options = command.opts();
    const given = [
      ...places.map((field, at) => [field, command.processedArgs[at]]),
      ...fields.map(([field]) => [field, options[nameOf(field)]]),
    ];
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  };
}

function argumentOf(field: string, schema: z.ZodType): Argument {
  const { inner, required } = unwrapped(schema);
  const name = isList(inner) ? `${placeholderOf(field, inner)}` : flagOf(field);
  const argument = new Argument(required ? `<${name}>` : `[${name}]`, aboutOf(schema));
  if (inner instanceof z.ZodEnum) argument.choices(inner.options.map(String));
  if (inner instanceof z.ZodNumber) argument.argParser(numberParser(inner));
  return argument;
}

function optionOf(name: string, field: string, schema: z.ZodType): Option {
  const { inner, required, fallback } = unwrapped(schema);
  const flag = `${field === 'task' ? '-t, ' : ''}--${flagOf(name)}`;
  const about = aboutOf(schema);
  if (inner instanceof z.ZodBoolean) return new Option(flag, about);
  if (inner instanceof z.ZodObject) return new Option(`${flag} <key=value...>`, about).argParser(settingPair);
  const isShown = typeof fallback === 'string' || typeof fallback === 'number';
  const shown = fallback === 'remaining' ? 'pending' : fallback;
  const option = new Option(
    `${flag} <${placeholderOf(field, inner)}>`,
    `${about}${isShown ? ` (default: ${shown})` : ''}`,
  ).makeOptionMandatory(required);
  const choices = choicesOf(inner);
  if (choices !== undefined) option.choices(choices);
  // People read the words of the board; the wire has others.
  if (inner instanceof z.ZodEnum && inner.options.join() === TASK_STATUSES.join())
    option.choices([...TASK_STATUS_WORDS]).argParser(taskStatus);
  if (inner instanceof z.ZodNumber) option.argParser(numberParser(inner));
  return option;
}

/** The values of an enum, or those of a list of one. */
function choicesOf(inner: unknown): string[] | undefined {
  if (inner instanceof z.ZodEnum) return inner.options.map(String);
  if (inner instanceof z.ZodArray) return choicesOf(inner.element);
  if (inner instanceof z.ZodUnion) return inner.options.map(choicesOf).find((each) => each !== undefined);
  return undefined;
}

function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The description of a field, as an option has it: it begins small and has no full stop at its end. */
function aboutOf(schema: z.ZodType): string {
  const text = descriptionOf(schema).replace(/\.$/, '');
  return /^[A-Z](?:[a-z]|\s)/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** A description stands on the schema itself, or on the one that it wraps. */
function descriptionOf(schema: z.ZodType): string {
  if (schema.description !== undefined) return schema.description;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional)
    return descriptionOf(wrappedIn(schema));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodType) return descriptionOf(schema.in);
  const [first] = schema instanceof z.ZodUnion ? schema.options : [];
  return first instanceof z.ZodType ? descriptionOf(first) : '';
}

/** A whole number or one with a fraction, in the range that the schema gives. */
function numberParser(number: z.ZodNumber): (raw: string) => number {
  if (number.format === null) return fraction;
  const low = Math.max(0, number.minValue ?? 0);
  // The schema of a number above 0 has the limit 0, which it does not accept itself.
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

function isList(inner: unknown): boolean {
  return inner instanceof z.ZodUnion || inner instanceof z.ZodArray;
}

function placeholderOf(field: string, inner: unknown): string {
  if (inner instanceof z.ZodUnion) return `${PLACEHOLDERS[field] ?? 'id'}...`;
  if (inner instanceof z.ZodArray) return `${field.replace(/s$/, '')}...`;
  if (inner instanceof z.ZodNumber) return 'n';
  return PLACEHOLDERS[field] ?? 'text';
}

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  id: 'id',
  claim: 'agent',
  cursor: 'cursor',
  project: 'name',
  by: 'name',
  type: 'type',
  task: 'id',
  status: 'status',
  relation: 'relation',
  tag: 'tag',
};

/**
 * `throughline tool NAME`: one command for each request of the service, with a flag for each field. Prompts tell agents to run
 * them; people use the commands of the tree.
 */
export function toolCommand(program: Command): void {
  const tool = program
    .command('tool')
    .description('Sends one request of the service session-tools. Prompts tell agents to run these commands.')
    .examples('throughline tool task-next --session demo --claim agent-1');
  for (const name of TOOL_NAMES) {
    const command = tool.command(name);
    const { scope, summary, example, shape } = REQUESTS[`tool.${name}`];
    const fallback = scope === 'any session' ? '(default: all)' : SESSION_DEFAULT;
    if (scope !== 'no session') command.option('-s, --session <name>', `session ${fallback}`);
    // The name of this option in the specifications.
    if (scope === 'session') command.addOption(new Option('-n, --name <session>').hideHelp());
    const fieldsIn = addFields(command, shape, { exact: true });
    const words = `throughline tool ${name}${scope === 'no session' ? '' : ' --session demo'}`;
    command
      .summary(summary)
      .description(sentence(summary))
      .option('--json', 'print the whole reply as JSON')
      .examples(`${words} ${example}`.trimEnd())
      .action(async () => {
        const cli = cliOf(command);
        const given = command.opts<{ session?: string; name?: string; json?: boolean }>();
        const named = given.session ?? (scope === 'session' ? given.name : undefined);
        const session = scope === 'session' ? sessionOf(cli, named) : named;
        const request = { ...(session !== undefined && { session }), ...fieldsIn() };
        const reply = await withClient(cli, (client) => client.send(`tool.${name}`, request));
        if (given.json === true) return out(JSON.stringify(reply));
        print(cli, showReply(name, reply, coloursOf(cli)));
        if ('next' in reply && typeof reply.next === 'string')
          note(`-- there are more: --cursor ${reply.next}`);
      });
  }
}
