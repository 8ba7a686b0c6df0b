// Makes the built modules load fast for the tests: what the services and the client need is one file, in place of some 500,
// and each module stands beside it under its own path. Loading these one by one takes each process of tests a second.
import { readdir, readFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** What nearly every test reaches. */
const TOGETHER = ['services/serve.js', 'index.js'];
/** Not modules for Node, or a program. */
const LEFT_OUT = /^(inspector|cli\/bin)[./\\]/;

const fileAt = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { version } = JSON.parse(await readFile(fileAt('package.json'), 'utf8'));
const modules = (await readdir(fileAt('dist'), { recursive: true })).filter(
  (path) => path.endsWith('.js') && !LEFT_OUT.test(path),
);
const together = new Set();

const bundle = await rolldown({
  input: Object.fromEntries(modules.map((path) => [path.slice(0, -'.js'.length), fileAt(`dist/${path}`)])),
  platform: 'node',
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  treeshake: false,
  preserveEntrySignatures: 'strict',
  // Most modules are loaded at once here, also those that the command line loads only when it needs them.
  checks: { ineffectiveDynamicImport: false },
  plugins: [{ name: 'throughline', load: knownVersion, buildEnd: collect }],
});
await bundle.write({
  dir: fileAt('.cache/test-modules'),
  cleanDir: true,
  format: 'esm',
  chunkFileNames: 'chunk-[name]-[hash].js',
  codeSplitting: { groups: [{ name: 'together', test: (id) => together.has(id) }] },
});
await bundle.close();

/** It is read from package.json, by a path that is another one from here. */
function knownVersion(id) {
  return id === fileAt('dist/version.js') ? `export const VERSION = ${JSON.stringify(version)};` : null;
}

function collect() {
  const reached = TOGETHER.map((path) => fileAt(`dist/${path}`));
  for (const id of reached) {
    if (together.has(id)) continue;
    together.add(id);
    reached.push(...(this.getModuleInfo(id)?.importedIds ?? []));
  }
}
