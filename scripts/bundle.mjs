// Makes the command line start fast: dist/cli/bin.cjs and what it loads are a few files, together with the packages
// that every command needs. The modules that the library exports stay as the compiler wrote them.
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { IN_COMMAND_LINE, licencesIn } from './licences.mjs';

/**
 * What is loaded together is one file: first what a hook needs that only writes a file, then what every command needs,
 * then what asks a service, then what also checks a result. Each as the modules that it begins with; a module belongs to the first that reaches it.
 */
const TOGETHER = [
  ['hook', ['cli/bin.js', 'cli/hook-command.js']],
  ['program', ['cli/program.js']],
  ['client', ['cli/open-client.js', 'cli/prompt-command.js']],
  ['publish', ['cli/publish-command.js']],
];

const fileAt = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const { version } = JSON.parse(await readFile(fileAt('package.json'), 'utf8'));
/** By module, the name of the file that it belongs to. */
const fileOf = new Map();

const bundle = await rolldown({
  input: { bin: fileAt('dist/cli/bin.js') },
  platform: 'node',
  external: isExternal,
  // What is only for loaders of before modules asks for its parts by name, when it is run.
  resolve: { mainFields: ['module', 'main'] },
  plugins: [{ name: 'throughline', load: knownVersion, buildEnd: divide }],
});
const { output } = await bundle.write({
  dir: fileAt('dist/cli'),
  // Node starts it in less time than modules: a hook is a process for each event.
  format: 'cjs',
  // Names of functions stand in the stack of an error that nobody expected.
  minify: { compress: { keepNames: { function: true, class: true } }, mangle: { keepNames: true } },
  entryFileNames: '[name].cjs',
  chunkFileNames: 'bin/[name]-[hash].cjs',
  codeSplitting: {
    groups: TOGETHER.map(([name], index) => ({
      name,
      priority: TOGETHER.length - index,
      test: (id) => fileOf.get(id) === name,
    })),
  },
});
await bundle.close();
await mkdir(fileAt('dist/words'), { recursive: true });
for (const name of ['word-vectors.bin', 'LICENSE.txt'])
  await copyFile(fileAt(`scripts/words/${name}`), fileAt(`dist/words/${name}`));
await writeFile(fileAt('dist/cli/bin/LICENSES.txt'), await licencesIn(output, IN_COMMAND_LINE));

/** A package that is not in the bundle comes from node_modules, when a command needs it. */
function isExternal(id) {
  const isFile = id.startsWith('.') || id.startsWith('/') || /^[A-Za-z]:[/\\]/.test(id);
  return !isFile && !IN_COMMAND_LINE.some((name) => id === name || id.startsWith(`${name}/`));
}

/** The library reads it from package.json, by a path that is another one from a bundle. */
function knownVersion(id) {
  return id === fileAt('dist/version.js') ? `export const VERSION = ${JSON.stringify(version)};` : null;
}

function divide() {
  for (const [name, roots] of TOGETHER) {
    const reached = roots.map((path) => fileAt(`dist/${path}`));
    for (const id of reached) {
      // Of zod a command needs a part: what each loads is found by what it uses.
      if (fileOf.has(id) || id.includes('/node_modules/zod/')) continue;
      fileOf.set(id, name);
      reached.push(...(this.getModuleInfo(id)?.importedIds ?? []));
    }
  }
}
