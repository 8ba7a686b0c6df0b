import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../src/config/settings.js';
import { STALL_SIGNALS, sessionSettings, TOKENIZERS } from '../../src/contracts/session-settings.js';
import { resolvedSettings } from '../../src/session/resolved-settings.js';
import { LAYERS, PURE } from '../architecture/layers.js';
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
    const page = `# Configuration

Settings of a process are variables of its environment. A wrong value is refused with the name of the variable. This page
is written from [src/config/settings.ts](../../src/config/settings.ts).

| variable | default | meaning |
|---|---|---|
${rows.join('\n')}

A variable \`THROUGHLINE_…\` that is not in this table changes nothing; commands name it on standard error.

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
\`go install\` of the pinned version, the release archive with a checked SHA-256. \`throughline nats-server\` says which one
it is.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/configuration.md`);
  });

  it('the reference gives the import rules of every folder as they are', async () => {
    const rows = Object.entries(LAYERS).map(([folder, { holds, imports }]) => {
      const named = imports.map((each) => `\`${each}\``).join(', ');
      return `| \`src/${folder}\` | ${holds} | ${named || '–'} |`;
    });
    const page = `# Source layout

What each folder of \`src\` holds, and what it may import. This page is written from the rules in
[test/architecture/layers.ts](../../test/architecture/layers.ts), which a test holds the source to.

| folder | holds | may import |
|---|---|---|
${rows.join('\n')}

${PURE.map((folder) => `\`${folder}\``).join(', ')} are pure: values in, values out, without a clock, chance, or the
environment. Only \`nats\` imports the NATS client, and only \`config\` reads the environment.

## Tests

\`test\` mirrors \`src\`. Beside that it holds one suite per port that the in-memory ports (\`test/doubles\`) and real NATS
both run (\`test/ports\`), the whole system (\`test/e2e\`), what must be survived (\`test/faults\`), the import rules
(\`test/architecture\`) and what the pages say (\`test/docs\`). \`npm run test:unit\` runs what needs no server.
\`npm run test:faults\` runs the fault suite, and with \`-- --long\` all of it.

## Benchmarks

\`npm run bench\` measures ingest, compile, load, growth, learnings, memory and start-up, mostly side by side with something
to compare them with, and writes [Benchmarks](../explanation/benchmarks.md), where missed goals stand as well.
\`bench:ingest\` and so on run one, \`--quick\` a smaller one. \`npm run bench -- --check\` fails where a ratio is more than
20 % worse than the committed one, also when it is measured again. BullMQ, which ingest is compared with, is an npm project
of its own: \`npm ci --prefix scripts/bench/bullmq\`, and \`redis-server\` on the path.
`;
    await expect(page).toMatchFileSnapshot(`${ROOT}docs/reference/source-layout.md`);
  });
});
