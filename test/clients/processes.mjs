import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Runs a program to its end, with `input` on standard input: its code, and all that it wrote. */
export function run(program, args, { timeout = 600_000, input = '', ...options } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, timeout, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    let output = '';
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.on('error', reject).on('close', (code) => resolve({ code, output, stdout }));
  });
}

/** The value, once it is there; after `withinMs` what there is. */
export async function until(isThere, read, withinMs = 15_000) {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await read();
    if (isThere(value) || performance.now() > end) return value;
    await sleep(100);
  }
}

/** Command lines of processes of ours that have a text in their environment; none where that cannot be read. */
export function processesWith(program, text) {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      return line.includes(program) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(text)
        ? [line]
        : [];
    } catch {
      return [];
    }
  });
}
