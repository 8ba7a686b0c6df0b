// Stands for `throughline` on the path of a client: writes down what it was called with, and what it was told. A hook is
// answered with nothing; any other command is carried out.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [log, bin, ...args] = process.argv.slice(2);
const isHook = args[0] === 'hook';
const input = isHook ? await text(process.stdin) : '';
appendFileSync(log, `${JSON.stringify({ args, input })}\n`);
if (!isHook) {
  const child = spawn(process.execPath, [bin, ...args], { stdio: 'inherit' });
  child.on('close', (code) => process.exit(code ?? 1));
}
