// Makes the command line start fast: dist/cli/bin.js and what it loads become a few files, together with the packages
// that every command needs. The modules that the library exports stay as the compiler wrote them.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Packages that go into the bundle. Any other comes from node_modules, when a command needs it. */
const BUNDLED = ['commander', 'lru-cache', 'nats', 'nkeys.js', 'picocolors', 'tweetnacl', 'zod'];

const fileAt = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { version } = JSON.parse(await readFile(fileAt('package.json'), 'utf8'));

const bundle = await rolldown({
  input: { bin: fileAt('dist/cli/bin.js') },
  platform: 'node',
  external: isExternal,
  plugins: [{ name: 'version', load: knownVersion }],
});
await bundle.write({
  dir: fileAt('dist/cli'),
  format: 'esm',
  // Names stay as they are: they stand in stack traces.
  minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
  chunkFileNames: 'bin/[name]-[hash].js',
});
await bundle.close();

function isExternal(id) {
  const isFile = id.startsWith('.') || id.startsWith('/') || /^[A-Za-z]:[/\\]/.test(id);
  return !isFile && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`));
}

/** The library reads it from package.json, by a path that is another one from a bundle. */
function knownVersion(id) {
  return id === fileAt('dist/version.js') ? `export const VERSION = ${JSON.stringify(version)};` : null;
}
