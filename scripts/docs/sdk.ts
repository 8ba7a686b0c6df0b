import { readFileSync } from 'node:fs';
import { type Declared, declaredBy, type Member } from './declared.js';
import { endingWith, ROOT, type Written } from './pages.js';

/** The page of the client for TypeScript: people write its beginning, the source of the exports the rest. */

const SAMPLES = readFileSync(`${ROOT}test/support/sdk-samples.ts`, 'utf8');

/** Samples by their names in one block, as the test runs them. */
function samples(...names: readonly string[]): string {
  const blocks = names.map((name) => {
    const [, code] =
      new RegExp(`^ *// #region ${name}\\n([\\s\\S]*?)^ *// #endregion`, 'm').exec(SAMPLES) ?? [];
    if (code === undefined) throw new Error(`there is no sample ${name}`);
    const depth = /^ */.exec(code)?.[0].length ?? 0;
    return code.replaceAll(new RegExp(`^ {${depth}}`, 'gm'), '').trimEnd();
  });
  return `\`\`\`ts\n${blocks.join('\n\n')}\n\`\`\``;
}

/** A docstring as a page has it: `@throws` as a sentence, one paragraph a line. */
function prose(about: string): string {
  return about
    .replace(/@throws ThroughlineError\s*/g, '\nThrows a `ThroughlineError`: ')
    .replace(/@returns\s*/g, '\nReturns: ')
    .replace(/@param (\w+)\s*/g, '\n- `$1`: ')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replaceAll('\n', ' ').trim())
    .filter((paragraph) => paragraph !== '')
    .join('\n\n');
}

const cell = (text: string) => prose(text).replaceAll('\n\n', ' ').replaceAll('|', '\\|');
const oneLine = (text: string) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/, ([)>])/g, '$1')
    .replace(/([(<]) /g, '$1')
    .trim();

/** A row for each method: its signature without a modifier, and its docstring. */
const methodRows = (methods: readonly Member[]) =>
  methods
    .map(({ about, signature }) => {
      const shown = oneLine(signature.replace(/^(?:async|function) /, ''));
      return `| \`${shown.replaceAll('|', '\\|')}\` | ${cell(about)} |`;
    })
    .join('\n');

export function entry(path: string): Declared[] {
  return declaredBy(`src/${path}.ts`);
}

const main = entry('index');
const named = (name: string) => {
  const found = main.find((each) => each.name === name);
  if (found === undefined) throw new Error(`throughline does not export ${name}`);
  return found;
};

/** A row for an export: the first sentence of its docstring. */
function typeRow({ name, about }: Declared): string {
  const [first = cell(about)] = /^.*?[.](?= |$)/.exec(cell(about)) ?? [];
  return `| \`${name}\` | ${first} |`;
}

const PROPERTIES = ['constructor', 'id', 'tools', 'runs', 'traces', 'learnings', 'proposals'];
const publicOf = ({ members }: Declared) => members.filter(({ name }) => !PROPERTIES.includes(name));

/** The exports of an entry: a row for what a program calls, and the names of the types. */
function tableOf(name: string, path: string): string {
  const all = entry(path);
  const called = all.filter(({ kind }) => kind !== 'type').map(typeRow);
  const types = all.filter(({ kind }) => kind === 'type').map((each) => `\`${each.name}\``);
  const named = types.length === 0 ? '' : `\n\nTypes: ${types.join(', ')}.`;
  return `## ${name}\n\n| export | meaning |\n|---|---|\n${called.join('\n')}${named}`;
}

export function sdkPage(): Written {
  const client = named('ThroughlineClient');
  const functions = main.filter(({ kind }) => kind === 'function');
  const page = `## Connect

| function | what it does |
|---|---|
${methodRows(functions)}

${optionsOf('ConnectOptions')}

The options of \`createThroughlineClient\` are \`timeoutMs\` and \`inboxPrefix\`, that of the connection.

## A session

${prose(named('Session').about)}

| method | what it does |
|---|---|
${methodRows(publicOf(named('Session')))}

${samples('connectThroughline', 'session', 'session.publish', 'session.watch')}

## ThroughlineClient

${prose(client.about)} [Requests by name](requests.md#requests-by-name) lists the requests, with their fields. Each is a method in camelCase:
\`client.tools.taskAdd\` sends \`tool.task-add\`, \`client.learnings.propose\` sends \`learning.propose\`, and so do \`client.runs\`, \`client.traces\` and
\`client.proposals\`. Methods of \`session.tools\` need no \`session\`.

| method | what it does |
|---|---|
${methodRows(publicOf(client))}

${samples('publishText', 'compile', 'tools', 'learnings', 'traces')}

## Errors

${prose(named('ThroughlineError').about)} [Error codes](errors.md) has the cause and the fix of each; \`ERROR_CODES\` has their meanings.

${samples('ThroughlineError')}

## Types

Their docstrings say what each is: ${main
    .filter(({ kind }) => kind === 'type')
    .map(({ name }) => `\`${name}\``)
    .join(', ')}.

${tableOf('throughline/server', 'server')}

${tableOf('throughline/facts', 'facts')}

${tableOf('throughline/traces', 'traces')}

## throughline/schemas

The zod schemas of everything on the wire: ${entry('schemas')
    .map(({ name }) => `\`${name}\``)
    .join(', ')}. [JSON Schemas](requests.md#json-schemas) are the same for other languages.
`;
  return { 'docs/reference/sdk.md': endingWith('docs/reference/sdk.md', page) };
}

function optionsOf(name: string): string {
  const rows = named(name).members.map((each) => `| \`${each.name}\` | ${cell(each.about)} |`);
  return ['| option | meaning |', '|---|---|', ...rows].join('\n');
}
