import picocolors from 'picocolors';
import type { Finding } from '../nats/doctor/finding.js';
import { visible } from '../shared/terminal-text.js';

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** A finding, and on a second line what to do about it. */
export function findingLines({ check, level, message, fix }: Finding, coloured: boolean): string {
  const pc = picocolors.createColors(coloured);
  const lines = [`${levelText(level, coloured)}  ${check}: ${visible(message)}`];
  if (fix !== undefined) lines.push(`      ${pc.dim(`→ ${visible(fix)}`)}`);
  return lines.join('\n');
}

/** `ok  `, `warn` or `fail`, in its colour. */
export function levelText(level: Finding['level'], coloured: boolean): string {
  return picocolors.createColors(coloured)[COLOURS[level]](level.padEnd(4));
}
