// The compiler writes plain files: without this, a linked package would lose the command with each build.
import { chmod } from 'node:fs/promises';

await chmod(new URL('../dist/cli/bin.cjs', import.meta.url), 0o755);
