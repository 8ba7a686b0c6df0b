import { z } from 'zod';
import { STALL_SIGNALS, stallThresholds } from './ledger/stall.js';

/**
 * How variables are read: each from its text, or unset, to its value. What is wrong is said so that it completes the
 * name of the variable.
 */

export const wholeNumber = (low: number, high: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((raw, context) => {
      if (raw === undefined || raw === '') return fallback;
      // Number() takes blanks for 0.
      const value = raw.trim() === '' ? Number.NaN : Number(raw);
      if (Number.isInteger(value) && value >= low && value <= high) return value;
      context.addIssue(`is ${JSON.stringify(raw)}: use a whole number from ${low} to ${high}`);
      return z.NEVER;
    });

export const decimal = (low: number, high: number, fallback: number) =>
  z
    .string()
    .optional()
    .transform((raw, context) => {
      if (raw === undefined || raw === '') return fallback;
      const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(raw) ? Number(raw) : Number.NaN;
      if (value >= low && value <= high) return value;
      context.addIssue(`is ${JSON.stringify(raw)}: use a number from ${low} to ${high}`);
      return z.NEVER;
    });

export const optional = z
  .string()
  .optional()
  .transform((raw) => (raw === '' ? undefined : raw));

/** A web address. What it holds is not repeated: it may be a password. */
export const address = optional.refine((raw) => raw === undefined || isPlainAddress(raw), {
  error: 'is no address: use http://host:port or https://host, without user and password',
});

function isPlainAddress(raw: string): boolean {
  if (!URL.canParse(raw)) return false;
  const { protocol, username, password } = new URL(raw);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Goes into a header of each request; what it holds is not repeated. */
export const secret = optional.refine((raw) => raw === undefined || /^[!-~]+$/.test(raw), {
  error: 'holds characters that no key has: use printable ASCII without spaces',
});

export const flag = z
  .string()
  .optional()
  .transform((raw, context) => {
    if (raw === undefined || raw === '' || raw === '0' || raw === 'false') return false;
    if (raw === '1' || raw === 'true') return true;
    context.addIssue(`is ${JSON.stringify(raw)}: use 1 or 0`);
    return z.NEVER;
  });

export const thresholds = z
  .string()
  .optional()
  .transform((raw, context) => {
    const counts = { ...stallThresholds() };
    for (const part of raw?.split(',').map((text) => text.trim()) ?? []) {
      const [, name, count] = /^(?:([a-z_]+)=)?([1-9]\d{0,3})$/.exec(part) ?? [];
      const signals = STALL_SIGNALS.filter((signal) => name === undefined || signal === name);
      if (part !== '' && (count === undefined || signals.length === 0)) {
        context.addIssue(
          `holds ${JSON.stringify(part)}: use a number, or signal=number with ${STALL_SIGNALS.join(', ')}`,
        );
        return z.NEVER;
      }
      for (const signal of part === '' ? [] : signals) counts[signal] = Number(count);
    }
    return counts;
  });

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

/** One of these words; the error names them all. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
  fallback: Words[number],
) {
  const error = ({ input }: { readonly input?: unknown }) =>
    `is ${JSON.stringify(input)}: use ${words.length === 2 ? words.join(' or ') : `one of ${words.join(', ')}`}`;
  return optional.pipe(z.enum(words, { error }).optional()).transform((word) => word ?? fallback);
}
