// Stands before `throughline` on the path of a client: carries out every command, and writes down what a hook was told and
// what it answered.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [log, bin, ...args] = process.argv.slice(2);
const isHook = args[0] === 'hook';
const started = performance.now();
// On a busy machine a hook may take its time here; how long it takes is measured elsewhere.
const within = isHook ? ['--within', '8000'] : [];
const child = spawn(process.execPath, [bin, ...args, ...within], { stdio: isHook ? 'pipe' : 'inherit' });
child.on('error', () => process.exit(1));
if (!isHook) {
  appendFileSync(log, `${JSON.stringify({ args })}\n`);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('close', (code) => process.exit(code ?? 1));
} else {
  const input = await text(process.stdin);
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const closed = new Promise((resolve) => child.on('close', resolve));
  const [answer, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  const ms = Math.round(performance.now() - started);
  appendFileSync(log, `${JSON.stringify({ args, input, answer, stderr, code, ms })}\n`);
  process.stdout.write(answer, () => process.exit(code ?? 1));
}
