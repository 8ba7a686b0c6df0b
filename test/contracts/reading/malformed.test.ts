import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import type { ErrorCode } from '../../../src/contracts/error-codes.js';
import type { Role } from '../../../src/contracts/kinds.js';
import { factsFrom, sayings } from '../../support/builders.js';

type Malformed = { readonly name: string; readonly role?: Role; readonly body: string } & (
  | {
      readonly facts?: readonly string[];
      readonly more?: readonly string[];
      readonly repairs: readonly string[];
    }
  | { readonly rejected: ErrorCode; readonly reason: string; readonly task?: string }
);

const COMPLETED = ['task:2.1 completed_with completed', 'task:2.1 summary Added the parser'];

const FILE = new URL('../../fixtures/malformed/results.yaml', import.meta.url);
const ALL: readonly Malformed[] = parse(readFileSync(FILE, 'utf8'));

describe('what models return instead of a valid result', () => {
  it('the corpus of malformed results has at least 55 that can be read', () => {
    expect(ALL.filter((each) => 'repairs' in each).length).toBeGreaterThanOrEqual(55);
  });

  it.each(ALL)('a malformed result gives what is expected of it: $name', (malformed) => {
    const { role = 'implementer', body } = malformed;
    const result = parseDispatchBody(Buffer.from(body), role, 256 * 1024);
    if ('rejected' in malformed) {
      const { rejected: code, reason, task } = malformed;
      expect(result).toMatchObject({ ok: false, code, reason: expect.stringContaining(reason) });
      expect(result.ok || result.task).toBe(task);
      expect(result).toHaveProperty('fix');
    } else {
      if (!result.ok) expect.fail(result.reason);
      const { facts = COMPLETED, more = [] } = malformed;
      expect(sayings(factsFrom(1, result.value))).toEqual([...facts, ...more]);
      expect(result.repairs.map(({ kind, field }) => `${kind} ${field}`)).toEqual(malformed.repairs);
    }
  });
});
