import { SETTINGS, TUNING } from '../../src/config/settings.js';
import { LAYERS, PURE } from '../../test/architecture/layers.js';
import { endingWith, type Written } from './pages.js';

/** Pages that are written from the code. */

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

## Which NATS server is used

The first available one of: \`NATS_URL\`, \`NATS_SERVER_BIN\`, \`nats-server\` on the path (2.12 or newer), the cache,
the pinned release archive with its SHA-256, and \`go install\`. \`throughline admin nats-server\` says
which one it is.
`;
  return { 'docs/reference/configuration.md': page };
}

export function sourceLayoutPage(): Written {
  // The files at the top of src are the entry points of the package, which the page of the SDK lists.
  const rows = Object.entries(LAYERS)
    .filter(([folder]) => !folder.endsWith('.ts'))
    .map(([folder, { holds }]) => `| \`src/${folder}\` | ${holds} |`);
  const page = `## Source layout

[test/architecture/layers.ts](../../test/architecture/layers.ts) lists what each folder may import, and a test checks every import. ${PURE.map((folder) => `\`${folder}\``).join(', ')}
are pure: they use no clock, no random numbers and no environment. Only \`nats\` imports the NATS client, and only \`config\` reads the environment.

| folder | contains |
|---|---|
${rows.join('\n')}

The files at the top of \`src\` are the entry points of the package. \`test\` mirrors \`src\`. Each port has one suite (\`test/engine/ports\`) that runs against memory (\`test/doubles\`) and against a real nats-server.
\`test/e2e\` tests the whole system, \`test/faults\` what it must survive, and \`test/docs\` the pages, which \`scripts/docs\` generates.
`;
  return { 'docs/contributing/README.md': endingWith('docs/contributing/README.md', page) };
}
