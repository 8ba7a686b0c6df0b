import { Argument, Option } from 'commander';
import { z } from 'zod';
import { personName } from '../config/person-name.js';
import { usageError } from '../contracts/errors.js';
import { statementElsewhere, type Token } from '../contracts/names.js';
import type { RegisteredRequest, RequestScope } from '../contracts/request-row.js';
import { REQUEST_NAMES, type ReplyTo, type RequestName, rowOf, TOOL_NAMES } from '../contracts/requests.js';
import { TASK_STATUSES } from '../contracts/task-events.js';
import { userName } from '../engine/files/user-state.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { UNNAMED } from '../shared/wire-words.js';
import type { Command } from './cli-command.js';
import {
  type Cli,
  cliOf,
  coloured,
  note,
  noteIfMisspelled,
  out,
  sessionOf,
  withClient,
} from './command-context.js';
import { fraction, moment, TASK_STATUS_WORDS, taskStatus, wholeNumber } from './option-parsers.js';
import { canAsk, noteNextPage } from './output.js';
import {
  onProject,
  onSession,
  openInFolder,
  type ProjectOptions,
  projectIn,
  requireEvents,
  SESSION_DEFAULT,
  usualSession,
} from './session-argument.js';
import { type Colors, coloursOf, showReply, tableOf } from './show-reply.js';

/** Commands that are one request: arguments, options, defaults and descriptions come from the schema of the request. */

export type Shape = Readonly<Record<string, z.ZodType>>;

type Values = Readonly<Record<string, unknown>>;

interface RequestCommand<Name extends RequestName> {
  readonly cli?: string;
  /** Fields that the command sets itself, and does not offer. */
  readonly sets?: Values;
  readonly fields?: Shape;
  /** Says `add a task` of a command. Default: the summary of the request. */
  readonly about?: string;
  /** True for the command that its group runs without another one. */
  readonly isDefault?: boolean;
  readonly example?: Values;
  /** True for options that are exactly the fields, as prompts write them. */
  readonly exact?: boolean;
  /** Sends the request, or nothing if the person says no. Default: once. */
  readonly send?: (client: ThroughlineClient, request: Values) => Promise<ReplyTo<Name> | undefined>;
  readonly show?: (reply: ReplyTo<Name>, colours: Colors) => readonly string[];
  readonly remark?: (reply: ReplyTo<Name>, cli: Cli) => string | undefined;
}

type Requests = { readonly [Name in RequestName]?: RequestCommand<Name> | false };

/** Adds the commands of a group: one for each request with a place in it. False leaves out one that is added otherwise. */
export function addRequests(group: Command, special: Requests = {}): void {
  for (const name of REQUEST_NAMES) {
    const [first, second] = rowOf(name).cli.split(' ');
    if (first === group.name() && second !== undefined && special[name] !== false)
      addRequest(group, name, special[name] as RequestCommand<typeof name> | undefined);
  }
}

export function addRequest<Name extends RequestName>(
  group: Command,
  name: Name,
  more: RequestCommand<Name> = {},
): void {
  const row = rowOf(name);
  const { sets = {}, about = row.summary, cli: usage = row.cli, exact = false, isDefault = false } = more;
  const { scope } = row;
  const places = [...usage.matchAll(/<(\w+)>/g)].map(([, field = '']) => field);
  const words = usage.replace(/ <.*/, '');
  const isSpoken = !row.reads && ('by' in row.shape || 'person' in row.shape);
  const isOfPerson = isSpoken && !row.agents;
  const command = group
    .command(words.split(' ').at(-1) ?? '', { isDefault })
    .summary(about)
    .description(`${sentence(about)}${isOfPerson ? ' Needs a terminal.' : ''}`);
  const isOfProject = scope === 'project';
  const asArgument = scope === 'session' && places.length === 0 && !exact;
  const begins = !exact && row.reply instanceof z.ZodObject && 'created' in row.reply.shape;
  const isEnding = 'reason' in row.shape && !row.agents && !('by' in row.shape);
  const taken = { ...sets, ...(isOfProject && { source: true }), person: true };
  const decider = 'by' in row.shape && !row.agents && { by: DECIDER };
  const shape = shapeOf({ ...row.shape, ...decider, ...more.fields }, (field) => !(field in taken));
  if (asArgument) onSession(command);
  const fieldsIn = addFields(command, shape, places, exact);
  const of = {
    session: `session ${SESSION_DEFAULT}`,
    'any session': 'only of this session',
    project: 'source' in row.shape ? 'the session that it comes from' : undefined,
    'no session': undefined,
  }[scope];
  if (of !== undefined && !asArgument) command.option('-s, --session <name>', of);
  if (isOfProject) onProject(command);
  else command.option('--json', 'print the whole reply as JSON');
  const ownerIn = async (cli: Cli): Promise<{ readonly session?: Token }> => {
    const given = command.opts<ProjectOptions & { session?: Token; name?: string }>();
    const [id] = places;
    // As prompts print a statement of another session.
    const elsewhere = id === 'id' || id === 'task' ? statementElsewhere(command.args[0]) : undefined;
    const { session = elsewhere?.session } = given;
    if (elsewhere !== undefined && scope === 'session') {
      if (session !== elsewhere.session)
        throw usageError(`which session, ${elsewhere.session} or ${session}? Name one`);
      return { session, [id as string]: elsewhere.id };
    }
    if (exact && scope === 'session') return { session: sessionOf(cli, session ?? given.name) };
    if (scope === 'session') return { session: await usualSession(cli, command, asArgument) };
    if (!isOfProject) return session === undefined ? {} : { session };
    const source = session !== undefined && { source: { session } };
    return { ...projectIn(cli, given), ...source } as object;
  };
  command
    .examples(
      exampleOf(`throughline ${words}`, { ...row.example, ...more.example }, shape, row.scope, places, exact),
    )
    .action(async () => {
      const cli = cliOf(command);
      const owner = await ownerIn(cli);
      const given = { ...fieldsIn(), ...owner, ...sets };
      const request = isSpoken ? spoken(cli, given, row) : isEnding ? unattended(given) : given;
      const reply = await withClient(cli, async (client) => {
        if (begins && owner.session !== undefined) await openInFolder(cli, owner.session, client);
        const answer = await (more.send?.(client, request) ?? client.send(name, request));
        const { sequence }: { sequence?: number } = Object(answer);
        if (row.reads && scope === 'session' && !exact && owner.session !== undefined)
          requireEvents(owner.session, sequence ?? 1);
        const { created }: { created?: true } = Object(answer);
        if (created && !exact) note(`-- created session ${owner.session}`);
        if (created && owner.session !== undefined) await noteIfMisspelled(owner.session, client, true);
        return answer;
      });
      if (reply === undefined) return;
      if (isSpoken && !canAsk() && !exact)
        note("-- it counts as an agent's: a person's word comes from a terminal or the page");
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      if (json) out(JSON.stringify(reply));
      else print(cli, more.show?.(reply, coloursOf(cli)) ?? showReply(name, reply, coloursOf(cli)));
      const remark = json ? undefined : more.remark?.(reply, cli);
      if (remark !== undefined) note(`-- ${remark}`);
      const { next }: { next?: unknown } = Object(reply);
      if (typeof next === 'string' && exact) note(`-- there are more: --cursor ${next}`);
      else if (typeof next === 'string') noteNextPage(command, next);
    });
  // The name of this option in the specifications.
  if (exact && scope === 'session') command.addOption(new Option('-n, --name <session>').hideHelp());
}

function exampleOf(
  words: string,
  example: Values,
  shape: Shape,
  scope: RequestScope,
  places: readonly string[],
  exact: boolean,
): string {
  const word = (value: unknown) => (/^[\w./-]+$/.test(`${value}`) ? `${value}` : JSON.stringify(value));
  const wordsOf = (value: unknown) =>
    [!exact && value === 'remaining' ? 'pending' : value]
      .flat()
      .map((element) => ` ${word(element)}`)
      .join('');
  const options = Object.entries(example).flatMap(([field, value]) => {
    if (!(field in shape) || places.includes(field)) return [];
    return ` --${flagOf(exact ? field : (RENAMED[field] ?? field))}${value === true ? '' : wordsOf(value)}`;
  });
  const session = exact ? ' --session demo' : places.length === 0 ? ' demo' : ' -s demo';
  const given = places.map((field) => wordsOf(example[field]));
  return [words, ...given, scope === 'session' ? session : '', ...options].join('');
}

const DECIDER = z.string().optional().describe('Who decides. Default: your name in the team or in git');

/** @throws ThroughlineError `usage` without a terminal */
export function requirePerson(): void {
  if (!canAsk())
    throw usageError('nothing was changed: only a person does this, at a terminal or on the page');
}

/** A person's word comes from a terminal or the page: a command without a terminal may be an agent's, whatever name it gives. */
function spoken({ server }: Cli, given: Values, { agents, shape }: RegisteredRequest): Values {
  const isAgent = !canAsk();
  if (!agents) requirePerson();
  const person = () => personName(server, process.cwd()) ?? (agents ? UNNAMED : userName());
  const usual = isAgent ? 'a command without a terminal' : person();
  return {
    ...('by' in shape && usual !== undefined && { by: usual }),
    ...given,
    ...(!isAgent && 'person' in shape && { person: true }),
  };
}

/** Archives and reopens under a reason that says so where no person is at the terminal. */
function unattended(given: Values): Values {
  const { reason = 'no reason was given' } = given;
  return canAsk() ? given : { ...given, reason: `${reason}; by a command without a terminal` };
}

export function print(cli: Cli, lines: readonly string[]): void {
  if (lines.length > 0) out(lines.join('\n'), coloured(cli));
}

export function printTable<Item>(cli: Cli, ...of: Rest<Parameters<typeof tableOf<Item>>>): void {
  print(cli, tableOf(coloursOf(cli), ...of));
}

type Rest<List extends readonly unknown[]> = List extends [unknown, ...infer Others] ? Others : never;

export function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

export function shapeOf(shape: Shape, isOffered: (field: string) => boolean): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([field]) => isOffered(field)));
}

const RENAMED: Readonly<Record<string, string>> = {
  cursor: 'page',
  maxResults: 'maxLearnings',
  kinds: 'kind',
};

/**
 * Adds an argument for each field of `places`, and an option for each other one. Returns what reads the fields that were given.
 *
 * @param exact true for flags that are exactly the fields, as prompts write them
 */
export function addFields(command: Command, shape: Shape, places: readonly string[] = [], exact = false) {
  const nameOf = (field: string) => (exact ? field : (RENAMED[field] ?? field));
  for (const field of places) {
    const schema = shape[field];
    if (schema !== undefined) command.addArgument(argumentOf(field, schema));
  }
  const fields = Object.entries(shape).filter(([field]) => !places.includes(field));
  for (const [field, schema] of fields) {
    const option = optionOf(nameOf(field), field, schema);
    command.addOption(option);
    if (exact || (field !== 'since' && field !== 'until')) continue;
    option.argParser(moment(field === 'until')).description += ', such as yesterday, 2h or 2026-03-01';
  }
  return () => {
    // Commander gives an option that both have to the command above.
    const options = command.optsWithGlobals();
    const given = [
      ...places.map((field, at) => [field, command.processedArgs[at]]),
      ...fields.map(([field]) => [field, options[nameOf(field)]]),
    ];
    return Object.fromEntries(given.filter(([, value]) => value !== undefined));
  };
}

function argumentOf(field: string, schema: z.ZodType): Argument {
  const { inner, required } = unwrapped(schema);
  const name =
    inner instanceof z.ZodUnion || inner instanceof z.ZodArray
      ? `${placeholderOf(field, inner)}`
      : flagOf(field);
  const argument = new Argument(required ? `<${name}>` : `[${name}]`, aboutOf(schema));
  if (inner instanceof z.ZodEnum) argument.choices(inner.options.map(String));
  if (inner instanceof z.ZodNumber) argument.argParser(numberParser(inner));
  return argument;
}

function optionOf(name: string, field: string, schema: z.ZodType): Option {
  const { inner, required, fallback } = unwrapped(schema);
  const flag = `${SHORT[field] ?? ''}--${flagOf(name)}`;
  const about = aboutOf(schema);
  if (inner instanceof z.ZodBoolean || inner instanceof z.ZodLiteral) return new Option(flag, about);
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

const SHORT: Readonly<Record<string, string>> = { task: '-t, ', yes: '-y, ' };

function choicesOf(inner: unknown): string[] | undefined {
  if (inner instanceof z.ZodEnum) return inner.options.map(String);
  if (inner instanceof z.ZodArray) return choicesOf(inner.element);
  if (inner instanceof z.ZodUnion) return inner.options.map(choicesOf).find((list) => list !== undefined);
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
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodReadonly)
    return descriptionOf(wrappedIn(schema));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodType) return descriptionOf(schema.in);
  const [first] = schema instanceof z.ZodUnion ? schema.options : [];
  return first instanceof z.ZodType ? descriptionOf(first) : '';
}

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
  if (schema instanceof z.ZodReadonly) return unwrapped(wrappedIn(schema));
  if (schema instanceof z.ZodPipe && schema.in instanceof z.ZodType) return unwrapped(schema.in);
  return { inner: schema, required: true, fallback: undefined };
}

function wrappedIn(schema: z.ZodDefault | z.ZodOptional | z.ZodReadonly): z.ZodType {
  const inner = schema.unwrap();
  if (inner instanceof z.ZodType) return inner;
  throw new Error('a field of a request is made by another library');
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
  since: 'when',
  until: 'when',
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
  for (const name of TOOL_NAMES) addRequest(tool, `tool.${name}`, { cli: `tool ${name}`, exact: true });
}
