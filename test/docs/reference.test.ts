import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { HOOK_CLIENTS, type HookClient, MOMENTS } from '../../src/agents/hooks/hook-table.js';
import { SETTINGS, TUNING } from '../../src/config/settings.js';
import { STALL_SIGNALS, sessionSettings, TOKENIZERS } from '../../src/contracts/session-meta-events.js';
import { resolvedSettings } from '../../src/memory/session/charter.js';
import { LAYERS, PURE } from '../architecture/layers.js';
import { BOTH_LAYOUTS } from '../tiers.js';
import { ROOT } from './pages.js';

/** Pages that are written from the code: `npm run docs` writes them, and these tests compare. */

const DEFAULTS = resolvedSettings();
/** Default and meaning of each setting of a session. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  implementerTokens: `${DEFAULTS.implementerTokens} | tokens of an implementer's prompt and answer together`,
  reviewerTokens: `${DEFAULTS.reviewerTokens} | tokens of a reviewer's prompt and answer together`,
  maxOutputTokens: `${DEFAULTS.maxOutputTokens} | tokens left for the answer`,
  tokenizer: `\`${DEFAULTS.tokenizer}\` | ${TOKENIZERS.map((name) => `\`${name}\``).join(' or ')}: four characters a token, or exact and slower`,
  boardFollowsResults: `\`${DEFAULTS.boardFollowsResults}\` | whether a result of a board task moves that task`,
  stallThresholds: `${DEFAULTS.stallThresholds.ping_pong} each | count at which a sign that a task is stalled raises its flag: ${STALL_SIGNALS.map((name) => `\`${name}\``).join(', ')}`,
};

describe('the reference', () => {
  it('the reference gives every setting with its default', async () => {
    const rows = Object.values(SETTINGS).map(
      ({ variable, shown, about }) => `| \`${variable}\` | ${shown} | ${about} |`,
    );
    const numbers = Object.entries(TUNING).map(
      ([name, { shown, about }]) => `| \`${name}\` | ${shown} | ${about} |`,
    );
    const page = `# Configuration

Settings of a process are variables of its environment. A wrong value is refused with the name of the variable. This page
is written from [src/config/settings.ts](../../src/config/settings.ts).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

A variable \`THROUGHLINE_…\` that is not in this table changes nothing; commands name it on standard error.

## Tuning

Each number has a default that fits most machines. \`THROUGHLINE_TUNING\` sets those that a measurement asks for:

\`\`\`sh
THROUGHLINE_TUNING='cacheMb=64 snapshotEvery=50' throughline admin serve --check
\`\`\`

| number | default | meaning |
|---|---|---|
${numbers.join('\n')}

## Settings of a session

What changes a prompt is not a variable: two processes must compile the same bytes from the same log. These settings are
recorded on the session, by \`session open\` or \`run.init\`, and hold until they are set again:

\`\`\`sh
throughline session open demo --settings implementerTokens=8000 tokenizer=o200k_base stallThresholds.same_files=4
\`\`\`

| setting | default | meaning |
|---|---|---|
${Object.keys(sessionSettings.shape)
  .map((name) => `| \`${name}\` | ${SESSION_SETTINGS[name]} |`)
  .join('\n')}

## Which NATS server is used

The first of these that is there: \`NATS_URL\`, \`NATS_SERVER_BIN\`, \`nats-server\` on the path (2.12 or newer), the cache,
\`go install\` of the pinned version, the release archive with a checked SHA-256. \`throughline admin nats-server\` says which one
it is.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/configuration.md`);
  });

  it('the reference gives every hook of every client', async () => {
    const answers = {
      context: 'context',
      input: 'the changed input of the tool',
      again: 'go on, with the reason',
    };
    const clients = Object.entries(HOOK_CLIENTS).map(([name, client]: [string, HookClient]) => {
      const rows = client.events.map(({ name: event, moment, answer, matcher }) => {
        const of = matcher === undefined ? '' : ` (tools \`${matcher.replaceAll('|', '\\|')}\`)`;
        return `| \`${event}\`${of} | ${moment} | ${answer === undefined ? '–' : answers[answer]} |`;
      });
      const samples = [
        ...new Set(client.events.flatMap(({ name: event, answer }) => (answer ? [{ event, answer }] : []))),
      ];
      const kinds = [...new Set(samples.map(({ answer }) => answer))].map((kind) => {
        const event = samples.find(({ answer }) => answer === kind)?.event ?? '';
        const value = kind === 'input' ? { prompt: '…' } : '…';
        return `- ${answers[kind]}: \`${JSON.stringify(client.write[kind](value, event))}\``;
      });
      return `## ${client.title}: \`throughline hook ${name}\`

Checked against ${client.checked}. At most ${client.contextTokens} tokens of context and ${client.maxAnswer} characters in one answer.

| event | moment | answer |
|---|---|---|
${rows.join('\n')}

${kinds.join('\n')}

It cannot ${client.cannot.join('; it cannot ')}.
`;
    });
    const page = `# Hooks

The command \`throughline hook CLIENT\` takes one event of a coding agent on standard input and prints what the agent should read.
Clients call it, by their settings. This page is written from
[src/agents/hooks/hook-table.ts](../../src/agents/hooks/hook-table.ts).

## What happens when

| moment | what it does |
|---|---|
${Object.entries(MOMENTS)
  .map(([name, does]) => `| ${name} | ${does} |`)
  .join('\n')}

## Which session

The first of these that is there: \`THROUGHLINE_SESSION\`, the session of the project that \`throughline connect\` has recorded,
\`owner-repo\` of the git remote, the name of the folder with a short hash of its path. All branches and work trees of a
repository share it, and so do hooks, MCP and \`throughline work\`. A \`.throughline.json\` in a folder that is not connected is not used: the hook at the start of a session
says to run \`throughline connect\` once. Signs that a name cannot hold become \`-\`. \`.throughline.json\` lies at the top of the project, or in a folder of it:

\`\`\`json
{
  "session": "checkout",
  "project": "shop",
  "plan": "specs/checkout/tasks.md",
  "agents": { "builder": "implementer", "main": "observer" }
}
\`\`\`

All fields are optional. A new session is given \`project\` and \`plan\` by its first hook. \`agents\` says which role an agent
has, by its name; \`main\` is the agent that the user talks to. Agents named \`implementer\` and \`reviewer\` have that role
without it, also as \`plugin:reviewer\`. An agent that only looks is a \`reader\`, and owes no result: those that a client
brings for that, such as \`Explore\`, are readers without it.

## Turns

A turn that ends without a result is published as that of an observer, if it changed a file, made a commit, ran a program and
said what came of it, decided something or asked a question. Its task is the one that the prompt names, otherwise a name for
the conversation, such as \`claude-2d7116\`. It says what was asked, in one sentence, and the first sentence of the last message
that says what was done; files, commits, branch, and builds, tests and linters with their newest outcome (not behind a pipe,
which hides it); decisions, open points and questions, by the labels and words that announce them. An offer of more work is
left out. The user's short answer to a question is kept with the question. A later turn of the same conversation, or a result of
the task, closes what was left open. \`"agents": {"turns": false}\` switches turns off.

Text between \`<private>\` and \`</private>\` in prompts, messages and commands is taken out first, and so are secrets.

## Results

An agent ends with one JSON object between the lines \`BEGIN_DISPATCH_RESULT\` and \`END_DISPATCH_RESULT\`. The last such
block of its last message is published, of every agent. It gets a \`result_id\` from the conversation, the agent and
its text, so that it counts once however often the client sends the event. Where \`throughline work\` has started the
agent, it is the id of \`THROUGHLINE_RESULT_ID\`, under which that publishes the result as well.

An agent with the role implementer or reviewer, or of any name that was given the contract of a role by a compiled prompt, that returns no result, or one that cannot be read, is sent back once, and
told why and what to return. It is not sent back a second time, nor when another hook has sent it back, nor when no
server answers; nor is a sub-agent that has handed its result in by the MCP tool \`report\`. A block that cannot be read the second time either is published as it is: the next prompt of the task
says so.

## Tasks

A prompt names a task by \`TAS-12\`, or by the word task and an id with a digit: \`task 2.1\`, \`task_id: T014\`. A sub-agent
that is given such a prompt gets the dispatch prompt of that task instead, in the budget of its role: its slice of the
memory, and not all of it. A prompt that has the contract already stays as it is.

## Traces

What a tool did is kept as a trace entry of the conversation: tool, files, command and status; not what the tool was given
or gave. Secrets are taken out before a text is cut and before anything is written. Entries wait in a folder, and are sent by the next hook that
talks to the server, at the latest when 20 of them wait: the hook of a tool needs no connection otherwise.

\`\`\`sh
throughline log checkout --trace claude-3f8c0a52-7a0e-4b57-9d0c-5a2f4a0c7f11
\`\`\`

## A hook never harms the agent

- It ends with code 0, whatever happens. After 220 milliseconds it ends without an answer, and the agent goes on. The start of a
  session may take 3 seconds, and then says in one line that the memory is not reachable. On a busy
  machine, where its start alone takes most of that, it has twice as long as its start took, at most 3 seconds;
  \`throughline hook claude --within 500\` sets another limit.
- Without a server, with a slow one, on a full disk or with an input that it does not know, every other event prints nothing. What went
  wrong is one line in \`~/.local/state/throughline/hook.log\`, or under \`XDG_STATE_HOME\` if it is set.
- Results and trace entries that could not be sent wait there, and go out with the next hook that reaches the server: at
  most 2000 of them.
- A result that the server refuses, such as one larger than it takes, is told to its agent with the limit and the fix: the
  agent is sent back once, or reads it with the next prompt of the session. An event of more than 16 MB is left out.
- If your server does not run, it starts one with all services in the background, and no second one beside another hook. That has
  the options and variables of your last \`throughline up\`: none of the hook's own, which may come from a repository. It never
  does with \`THROUGHLINE_AUTOSTART=0\`, or where \`NATS_URL\` names a server. \`throughline down\` ends it.

${clients.join('\n')}`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/hooks.md`);
  });

  it('the page of agents says what each client cannot do, as the table of hooks does, with its version', async () => {
    const page = await readFile(`${ROOT}docs/reference/agents.md`, 'utf8');
    for (const { title, checked, cannot } of Object.values(HOOK_CLIENTS)) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${title} |`));
      for (const each of [checked, ...cannot]) expect(row).toContain(each);
    }
  });

  it('the reference gives the import rules of every folder as they are', async () => {
    const rows = Object.entries(LAYERS).map(([folder, { holds, imports }]) => {
      const named = imports.map((each) => `\`${each}\``).join(', ');
      return `| \`src/${folder}\` | ${holds} | ${named || '–'} |`;
    });
    const page = `# Source layout

The source has fourteen folders in three groups. Each folder may import only what its row names; this page is generated from
[test/architecture/layers.ts](../../test/architecture/layers.ts), and a test checks every import against it.

- **What it knows**, values in and values out: \`contracts\`, \`ledger\`, \`memory\`, \`prompt\`, with helpers in \`shared\`.
- **What runs it**: \`engine\` (ports in words, event sourcing, jobs), \`nats\`, \`config\`, \`services\`.
- **How people and agents reach it**: \`sdk\`, \`cli\`, \`agents\` (hooks and MCP), \`work\` (runs of a plan), \`page\` (the inspector).

| folder | contains | may import |
|---|---|---|
${rows.join('\n')}

The files at the top of \`src\` are the entry points of the package. ${PURE.map((folder) => `\`${folder}\``).join(', ')} are pure: they use no clock,
no random numbers and no environment. Only \`nats\` imports the NATS client, and only \`config\` reads the environment.

## Tests

\`test\` mirrors \`src\`. Each port has one suite (\`test/engine/ports\`) that runs against memory (\`test/doubles\`) and against a
real nats-server. \`test/e2e\` tests the whole system, \`test/faults\` what it must survive, \`test/architecture\` the import rules
and \`test/docs\` the pages. \`npm run test:unit\` runs the tests that need no server.
\`npm run test:faults\` runs the fault suite, and with \`-- --long\` all of it. [test/tiers.ts](../../test/tiers.ts) says which
tests \`./scripts/test\` runs: [Contributing](../contributing.md) tells when to run which tier.

Sessions have a stream each in these tests, unless they say otherwise; the ports' suites take both layouts each time. In the
tier \`all\` the crash points and what compares layouts do so too, and a part of \`test/e2e\` runs with sessions in shards as well,
as the project \`sharded\` of the test runner: ${BOTH_LAYOUTS.map((path) => `\`${path.replace('test/e2e/', '').replace('.test.ts', '')}\``).join(', ')}.
\`THROUGHLINE_TEST_LAYOUT=sharded npx vitest run --project system test/e2e\` runs all of it so.

## Benchmarks

\`npm run bench\` measures ingest, compile, load, growth, learnings, memory, many sessions, a cluster and start-up, mostly
side by side with something to compare them with, and writes [Benchmarks](../explanation/benchmarks.md), where missed goals stand as well.
\`bench:ingest\` and so on run one, \`--quick\` a smaller one. \`npm run bench -- --check\` fails where a ratio is more than
20 % worse than the committed one, also when it is measured again. BullMQ, which ingest is compared with, is an npm project
of its own: \`npm ci --prefix scripts/bench/bullmq\`, and \`redis-server\` on the path.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/source-layout.md`);
  });
});
