import { SETTINGS, TUNING } from '../../src/config/settings.js';
import { STALL_SIGNALS, sessionSettings, TOKENIZERS } from '../../src/contracts/session-meta-events.js';
import { resolvedSettings } from '../../src/memory/session/charter.js';
import { LAYERS, PURE } from '../../test/architecture/layers.js';
import type { Written } from './pages.js';

/** Pages that are written from the code. */

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

export function configurationPage(): Written {
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

Settings that change a prompt are not variables, because two processes must compile the same bytes from the same log. These settings are
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

The first available one of: \`NATS_URL\`, \`NATS_SERVER_BIN\`, \`nats-server\` on the path (2.12 or newer), the cache,
the pinned release archive with its SHA-256, and \`go install\`. \`throughline admin nats-server\` says
which one it is.
`;
  return { 'docs/reference/configuration.md': page };
}

export function sourceLayoutPage(): Written {
  const rows = Object.entries(LAYERS).map(([folder, { holds, imports }]) => {
    const named = imports.map((each) => `\`${each}\``).join(', ');
    return `| \`src/${folder}\` | ${holds} | ${named || '–'} |`;
  });
  const page = `# Source layout

You find each folder and its allowed imports here. The source has fourteen folders in three groups. Each folder may import only what its row names; this page is generated from
[test/architecture/layers.ts](../../test/architecture/layers.ts), and a test checks every import against it.

- **What it knows**, values in and values out: \`contracts\`, \`ledger\`, \`memory\`, \`prompt\`, with helpers in \`shared\`.
- **What runs it**: \`engine\` (ports in words, event sourcing), \`nats\`, \`config\`, \`services\`.
- **How people and agents reach it**: \`sdk\`, \`cli\`, \`agents\` (hooks and MCP), \`work\` (runs of a plan), \`page\` (the inspector).

| folder | contains | may import |
|---|---|---|
${rows.join('\n')}

The files at the top of \`src\` are the entry points of the package. ${PURE.map((folder) => `\`${folder}\``).join(', ')} are pure: they use no clock,
no random numbers and no environment. Only \`nats\` imports the NATS client, and only \`config\` reads the environment.

## Tests

\`test\` mirrors \`src\`. Each port has one suite (\`test/engine/ports\`) that runs against memory (\`test/doubles\`) and against a
real nats-server. \`test/e2e\` tests the whole system, \`test/faults\` what it must survive, \`test/architecture\` the import rules
and \`test/docs\` the pages, which \`scripts/docs\` generates. \`npm run test:unit\` runs the tests that need no server.
\`npm run test:faults\` runs the fault suite, and with \`-- --long\` all of it. [test/tiers.ts](../../test/tiers.ts) lists the tests of
\`./scripts/test\`, and [Contributing](README.md) explains the tiers.

Tests run once, most of them with a stream per session. Both layouts are one class of log, so only a few tests run on both: the story
\`test/e2e/both-layouts\`, the kill rounds, and the backup. The behaviour of shards alone has separate tests.
\`THROUGHLINE_TEST_LAYOUT=sharded npx vitest run --project system test/e2e\` runs all of \`test/e2e\` with shards.

## Benchmarks

\`npm run bench\` measures ingest, compile, load, growth, learnings, memory, sessions, a cluster and start-up, mostly side by side with a
comparison. It writes [Benchmarks](benchmarks.md) with all goals, also missed ones.
\`bench:ingest\` and so on run one, \`--quick\` a smaller one. \`npm run bench -- --check\` fails where a ratio is more than
20 % worse than the committed one, also when it is measured again. BullMQ, the comparison for ingest, is a separate npm project: \`npm ci --prefix scripts/bench/bullmq\`, and \`redis-server\` on the path.
`;
  return { 'docs/contributing/source-layout.md': page };
}
