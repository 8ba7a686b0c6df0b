import { readFileSync } from 'node:fs';
import { jsonSchema } from '../../src/contracts/json-schemas.js';
import { REQUESTS, type RequestName } from '../../src/contracts/requests.js';
import { type Declared, declaredBy, type Member } from './declared.js';
import { endingWith, ROOT, type Written } from './pages.js';

/** A page that is written from the source of what the package exports. */

const SAMPLES = readFileSync(`${ROOT}test/support/sdk-samples.ts`, 'utf8');

/** A sample by its name, as the test runs it. */
function sample(name: string): string {
  const [, code] =
    new RegExp(`^ *// #region ${name}\\n([\\s\\S]*?)^ *// #endregion`, 'm').exec(SAMPLES) ?? [];
  if (code === undefined) throw new Error(`there is no sample ${name}`);
  const depth = /^ */.exec(code)?.[0].length ?? 0;
  const flush = code.replaceAll(new RegExp(`^ {${depth}}`, 'gm'), '').trimEnd();
  return `\`\`\`ts\n${flush}\n\`\`\``;
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

/** @param of the object whose method it is, where the client has one of the same name */
function methodOf({ name, about, signature }: Member, of = ''): string {
  const shown = SAMPLES.includes(`#region ${of}${name}\n`) ? `\n\n${sample(of + name)}` : '';
  const said = about === '' ? '' : `\n\n${prose(about)}`;
  return `### ${of}${name}\n\n\`\`\`ts\n${oneLine(signature.replace(/^async /, ''))}\n\`\`\`${said}${shown}`;
}

const camelCase = (name: string) => name.replace(/[-.](.)/g, (_, letter: string) => letter.toUpperCase());

/** The fields of a request, as the SDK names them. */
function fieldsOf(schema: string): string {
  const { properties = {}, required = [] } = jsonSchema(schema) as {
    properties?: object;
    required?: readonly string[];
  };
  return Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(', ');
}

/** A row for each method of a group of requests. */
const methodsOf = (object: string, group: string) =>
  (Object.keys(REQUESTS) as RequestName[])
    .filter((name) => name.startsWith(`${group}.`))
    .map(
      (name) =>
        `| \`${object}${camelCase(name.slice(group.length + 1))}\` | ${REQUESTS[name].summary} | ${fieldsOf(`${name}.request`)} | ${name === 'trace.record' ? '–' : linked(`${name}.reply`, 'reply')} |`,
    )
    .join('\n');

const linked = (schema: string, text: string) => `[${text}](../../schemas/${schema}.json)`;

export function entry(path: string): Declared[] {
  return declaredBy(`src/${path}.ts`);
}

const main = entry('index');
const named = (name: string) => {
  const found = main.find((each) => each.name === name);
  if (found === undefined) throw new Error(`throughline does not export ${name}`);
  return found;
};

/** An export with the fields that say nothing beyond their name, and a row for each of the others. */
function typeRow({ name, about, members }: Declared): string[] {
  const bare = members.filter((each) => each.about === '' && each.name !== 'constructor');
  const others = bare.length === 0 ? '' : ` ${bare.map((each) => `\`${each.name}\``).join(', ')}.`;
  return [
    `| \`${name}\` | ${cell(about)}${others} |`,
    ...members
      .filter((each) => each.about !== '')
      .map((each) => `| \`${name}.${each.name}\` | ${cell(each.about)} |`),
  ];
}

const PROPERTIES = ['constructor', 'id', 'tools', 'runs', 'traces', 'learnings', 'proposals'];
const publicOf = ({ members }: Declared) => members.filter(({ name }) => !PROPERTIES.includes(name));
const WHOLE = readFileSync(`${ROOT}scripts/examples/typescript/session.ts`, 'utf8').trimEnd();

function tableOf(name: string, path: string): string {
  return `## ${name}\n\n| export | meaning |\n|---|---|\n${entry(path).flatMap(typeRow).join('\n')}`;
}

export function sdkPage(): Written {
  const client = named('ThroughlineClient');
  const methods = publicOf(client);
  const functions = main.filter(({ kind }) => kind === 'function');
  const page = `# SDK

You use \`import … from 'throughline'\` to publish results, compile prompts and call tools from TypeScript. This page is generated from
the source; a test runs the samples.

Install the package, and start the services with \`throughline up\`. [Publish results](../how-to/publish-results.md#with-typescript)
shows it in use, and [Versions](../explanation/versions.md) lists the compatibility rules.

| import | content |
|---|---|
| \`throughline\` | the client alone; \`createThroughlineClient\` makes one on an existing NATS connection |
| \`throughline/server\` | the services, [inside your program](#run-the-services-in-your-program) |
| \`throughline/work\` | \`runPlan\`, which [runs a plan](../how-to/run-a-plan.md#from-typescript) with agents that are functions |
| \`throughline/facts\`, \`throughline/traces\`, \`throughline/schemas\` | [the parts inside](facts-and-traces.md): fact tracker, hooks before a model call, zod schemas |

\`\`\`ts
${WHOLE}
\`\`\`

## Connect

${functions.map((each) => methodOf(each)).join('\n\n')}

${named('ConnectOptions') && optionsOf('ConnectOptions')}

${optionsOf('SharedConnectionOptions')}

## A session

${prose(named('Session').about)}

${publicOf(named('Session'))
  .map((each) => methodOf(each, 'session.'))
  .join('\n\n')}

## ThroughlineClient

${prose(client.about)}

${methods.map((each) => methodOf(each)).join('\n\n')}

## Tools

\`client.tools\` has one method for each tool; those of \`session.tools\` need no \`session\`. A field with \`?\` is optional.

${sample('tools')}

| method | what it does | fields | answer |
|---|---|---|---|
${methodsOf('', 'tool')}

## Runs and traces

\`client.runs\` and \`client.traces\` have one method for each request, as have those of a session.

${sample('traces')}

| method | what it does | fields | answer |
|---|---|---|---|
${methodsOf('runs.', 'run')}
${methodsOf('traces.', 'trace')}

## Learnings

\`client.learnings\` and \`client.proposals\` have one method for each request.

${sample('learnings')}

| method | what it does | fields | answer |
|---|---|---|---|
${methodsOf('learnings.', 'learning')}
${methodsOf('proposals.', 'proposal')}

## Errors

${prose(named('ThroughlineError').about)} [Error codes](errors.md) has the cause and the fix of each.

${sample('ThroughlineError')}

| export | meaning |
|---|---|
${['ERROR_CODES', 'ErrorCode'].flatMap((name) => typeRow(named(name))).join('\n')}

## Types

| type | meaning |
|---|---|
${main
  .filter(
    ({ kind, name }) =>
      kind === 'type' && !['ConnectOptions', 'SharedConnectionOptions', 'ErrorCode'].includes(name),
  )
  .flatMap(typeRow)
  .join('\n')}

## Run the services in your program

\`\`\`ts
import { startThroughline } from 'throughline/server';

const throughline = await startThroughline({ server: { store: '.throughline' } });
console.log(throughline.url);
await throughline.close();
\`\`\`

\`monitoring(path)\` answers \`/metrics\`, \`/healthz\` and \`/readyz\` for a route of your server: see
[Monitor it](../how-to/monitor.md). Spans use the OpenTelemetry SDK of your program, if it has one:

\`\`\`ts
const page = await throughline.monitoring('/metrics'); // { status, type, body }, or undefined for another path
\`\`\`

\`close()\` stops the services, the connection and the server that it started; the data stays.

${tableOf('throughline/server', 'server')}
`;
  return { 'docs/reference/sdk.md': page };
}

export function partsInsidePage(): Written {
  const page = `${tableOf('throughline/facts', 'facts')}

${tableOf('throughline/traces', 'traces')}

## throughline/schemas

The zod schemas of everything on the wire: ${entry('schemas')
    .map(({ name }) => `\`${name}\``)
    .join(', ')}. [JSON Schemas](requests.md#json-schemas) are the same for other languages.
`;
  return { 'docs/reference/facts-and-traces.md': endingWith('docs/reference/facts-and-traces.md', page) };
}

function optionsOf(name: string): string {
  const rows = named(name).members.map((each) => `| \`${each.name}\` | ${cell(each.about)} |`);
  return [`\`${name}\`:`, '', '| option | meaning |', '|---|---|', ...rows].join('\n');
}
