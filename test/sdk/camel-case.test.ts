import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { camelCased, MAPS, STORED } from '../../src/sdk/camel-case.js';

const SCHEMAS = join(import.meta.dirname, '../../schemas');

describe('camelCased', () => {
  it('renames fields in lists and objects, but no keys of maps and nothing that is stored', () => {
    expect(
      camelCased({
        next_task_id: '2',
        tasks: [{ depends_on: ['a_b'], requirement_texts: { REQ_1: 'Read it' } }],
        entries: { a_1: { replan_hint: 'split' } },
        event: { type: 'x', data: { task_id: '1' } },
        at: null,
      }),
    ).toEqual({
      nextTaskId: '2',
      tasks: [{ dependsOn: ['a_b'], requirementTexts: { REQ_1: 'Read it' } }],
      entries: { a_1: { replanHint: 'split' } },
      event: { type: 'x', data: { task_id: '1' } },
      at: null,
    });
  });

  it('names every map in a reply, and no object whose fields have other names', () => {
    const [maps, objects] = [new Set<string>(), new Set<string>()];
    for (const file of readdirSync(SCHEMAS)) {
      if (file === 'error.reply.json' || !file.endsWith('.reply.json')) continue;
      collect(JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8')), maps, objects);
    }
    expect([...MAPS, ...STORED].toSorted()).toEqual([...maps].toSorted());
    expect([...objects].filter((name) => maps.has(name))).toEqual([]);
  });
});

it.each(['dispatch-show', 'timeline-list'])(
  'fields of %s, which a handle passes on as they are, have one word',
  (tool) => {
    const text = readFileSync(join(SCHEMAS, `tool.${tool}.reply.json`), 'utf8');
    const names = new Set<string>();
    collectNames(JSON.parse(text), names);
    expect(names).toContain('sequence');
    expect([...names].filter((name) => name.includes('_'))).toEqual([]);
  },
);

interface Schema {
  readonly properties?: Record<string, Schema>;
  readonly additionalProperties?: unknown;
}

function collect(schema: unknown, maps: Set<string>, objects: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const [name, field] of Object.entries((schema as Schema).properties ?? {})) {
    if (typeof field.additionalProperties === 'object') maps.add(name);
    else if (Object.keys(field.properties ?? {}).some((each) => each.includes('_'))) objects.add(name);
  }
  for (const value of Object.values(schema)) collect(value, maps, objects);
}

function collectNames(schema: unknown, names: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return;
  for (const name of Object.keys((schema as Schema).properties ?? {})) names.add(name);
  for (const value of Object.values(schema)) collectNames(value, names);
}
