import { readdir, readFile } from 'node:fs/promises';

// Packages that come as copies inside of ours. A build fails where one is in a bundle and not in its list, or the other
// way round: the list of licences and the list of components (SBOM) name what is here.

/** In the command line. */
export const IN_COMMAND_LINE = [
  '@hono/node-server',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@pinojs/redact',
  'atomic-sleep',
  'commander',
  'diff',
  'hono',
  'jsonc-parser',
  'jsonrepair',
  'lru-cache',
  'nats',
  'nkeys.js',
  'on-exit-leak-free',
  'picocolors',
  'pino',
  'pino-std-serializers',
  'quick-format-unescaped',
  'safe-stable-stringify',
  'smol-toml',
  'sonic-boom',
  'thread-stream',
  'tweetnacl',
  'zod',
];

/** In the page of the inspector. */
export const IN_PAGE = ['@preact/signals', '@preact/signals-core', 'preact'];

/** What the packages of a bundle ask to be kept with every copy of them, as one text. */
export async function licencesIn(output, listed) {
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  const found = [...new Set(modules.flatMap((id) => PACKAGE.exec(id)?.[1] ?? []))].sort();
  const others = [
    ...found.filter((name) => !listed.includes(name)),
    ...listed.filter((name) => !found.includes(name)),
  ];
  if (others.length > 0)
    throw new Error(`scripts/licences.mjs lists other packages than are bundled: ${others.join(', ')}`);
  return licencesOf(listed);
}

/** What packages ask to be kept with every copy of them, as one text. */
export async function licencesOf(names) {
  return (await Promise.all(names.map(licenceOf))).join('\n\n');
}

const PACKAGE = /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/;

async function licenceOf(name) {
  return `${name}\n\n${await licenceText(name)}`;
}

/** The licence that a package brings. */
export async function licenceText(name) {
  const folder = new URL(`../node_modules/${name}/`, import.meta.url);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  return readFile(new URL(file, folder), 'utf8');
}
