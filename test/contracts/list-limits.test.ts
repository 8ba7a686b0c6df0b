import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { checkedBy, insideOf, limitOf, longListIn } from '../../src/contracts/checked.js';
import { compileRequest } from '../../src/contracts/compile-request.js';
import { REQUESTS } from '../../src/contracts/requests.js';
import { traceEntry } from '../../src/contracts/trace-entry.js';
import { cpuMs } from '../support/cpu-time.js';

const SCHEMAS: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(Object.entries(REQUESTS).map(([name, { request }]) => [name, request])),
  compileRequest,
  traceEntry,
};

function listsOf(schema: unknown, path: string): { path: string; limit: number | undefined }[] {
  if (schema instanceof z.ZodArray)
    return [{ path, limit: limitOf(schema) }, ...listsOf(schema.element, `${path}[]`)];
  if (schema instanceof z.ZodObject) {
    return Object.entries(schema.shape).flatMap(([key, field]) => listsOf(field, `${path}.${key}`));
  }
  return insideOf(schema).flatMap((inner) => listsOf(inner, path));
}

describe('a list of a request', () => {
  it('a list of a request has a limit, wherever it stands', () => {
    const lists = Object.entries(SCHEMAS).flatMap(([name, schema]) => listsOf(schema, name));
    expect(lists.length).toBeGreaterThan(9);
    // An imported event is taken as another server stored it: its number is limited, and its size by that of a message.
    const asked = lists.filter(({ path }) => !path.startsWith('tool.session-import.history[].'));
    expect(asked.filter(({ limit }) => limit === undefined)).toEqual([]);
    expect(asked).toContainEqual({ path: 'tool.session-import.history', limit: expect.any(Number) });
  });

  const million = Array.from({ length: 250_000 }, () => 'a');
  it.each<[string, z.ZodType, object, number]>([
    ['dependsOn', z.object(REQUESTS['tool.task-add'].shape), { content: 'a', dependsOn: million }, 200],
    ['tags', compileRequest, { session: 's', taskId: '1', taskPrompt: 'p', tags: million }, 20],
    ['entries', REQUESTS['trace.append'].request, { session: 's', entries: million }, 500],
  ])('a list of a MiB is refused by its length alone: %s', (path, schema, request, limit) => {
    const refused = () => checkedBy(schema, request);
    expect(refused).toThrow(
      expect.objectContaining({
        code: 'schema_invalid',
        message: `${path}: has 250000 entries, the limit is ${limit}: send fewer, or several requests`,
        details: { fields: [path], length: 250_000, limit },
      }),
    );
    expect(cpuMs(() => expect(refused).toThrow())).toBeLessThan(20);
  });

  it('a list is found within objects, unions and what is optional, and left alone within its limit', () => {
    const list = z.array(z.string()).max(2);
    const schema = z.object({ a: z.object({ b: z.union([z.string(), list]).optional() }).default({}) });
    expect(longListIn(schema, { a: { b: ['1', '2', '3'] } })).toEqual({ path: 'a.b', length: 3, limit: 2 });
    for (const value of [{ a: { b: ['1', '2'] } }, { a: {} }, {}, null, 'text', { a: { b: 'b' } }]) {
      expect(longListIn(schema, value)).toBeUndefined();
    }
  });
});
