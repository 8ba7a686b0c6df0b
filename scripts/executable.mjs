// The compiler writes plain files: without this, a linked package would lose the command with each build.
import { chmod, writeFile } from 'node:fs/promises';

await chmod(new URL('../dist/cli/bin.js', import.meta.url), 0o755);
// The bundle is CommonJS, in a package of modules.
await writeFile(new URL('../dist/cli/package.json', import.meta.url), '{ "type": "commonjs" }\n');
