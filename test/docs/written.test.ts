import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../../scripts/docs/clients.js';
import { examplesOf, GROUPS, innerOf, program } from '../../scripts/docs/commands.js';
import { anchorsOf, ROOT } from '../../scripts/docs/pages.js';
import { entry } from '../../scripts/docs/sdk.js';
import { SERVICES, subjects } from '../../scripts/docs/subjects.js';
import { WRITTEN } from '../../scripts/docs/written.js';
import { HOOK_CLIENTS, type HookClientName } from '../../src/agents/hooks/hook-table.js';
import { COMMANDS } from '../../src/cli/command-table.js';
import { ERROR_TEXTS } from '../../src/contracts/error-codes.js';
import { KEPT } from '../../src/contracts/kept-limits.js';
import * as names from '../../src/contracts/names.js';
import { SERVICE_NAMES } from '../../src/contracts/names.js';
import { VERSION } from '../../src/version.js';

const read = (path: string) => readFileSync(ROOT + path, 'utf8');

describe('the files that are written from the code', () => {
  it.each(Object.keys(WRITTEN))('%s is as the code has it', async (path) => {
    await expect(WRITTEN[path]).toMatchFileSnapshot(ROOT + path);
  });

  it.each(Object.keys(WRITTEN).filter((path) => /^docs\/reference\/(commands|sdk)/.test(path)))(
    'each heading of %s has its own anchor',
    (path) => {
      const anchors = anchorsOf(WRITTEN[path] ?? '');
      expect(anchors.filter((each, at) => anchors.indexOf(each) !== at)).toEqual([]);
    },
  );

  it('the reference knows every name of a stream, subject, bucket and service', () => {
    const all = Object.entries(names).flatMap(([name, value]) =>
      typeof value === 'string' && /_(STREAM|SUBJECTS?|BUCKET|SERVICE|CONSUMER)$/.test(name) ? [value] : [],
    );
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter((value) => !subjects.includes(value.replace('$KV.throughline.', '')))).toEqual([]);
    expect(Object.keys(SERVICES).sort()).toEqual(Object.values(SERVICE_NAMES).sort());
  });

  it('every command is on one of the pages, and each has an example in its help', () => {
    const groups = new Set<string>(Object.keys(GROUPS));
    expect(COMMANDS.filter(({ group }) => !groups.has(group))).toEqual([]);
    const named = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]));
    expect(innerOf(program).filter((each) => !named.has(each.name()))).toEqual([]);
    const bare = (command: Command, path: string): string[] => {
      const inner = innerOf(command);
      if (inner.length > 0) return inner.flatMap((each) => bare(each, `${path} ${each.name()}`));
      return examplesOf(command).some((line) => line.includes('throughline')) ? [] : [path];
    };
    expect(innerOf(program).flatMap((each) => bare(each, each.name()))).toEqual([]);
  });

  it('what the package exports has a docstring', () => {
    const all = ['index', 'server', 'facts', 'traces'].flatMap(entry);
    expect(all.length).toBeGreaterThan(50);
    expect(all.filter(({ about }) => about === '').map(({ name }) => name)).toEqual([]);
  });
});

describe('pages by hand that repeat what the code says', () => {
  it('the page of clients has the version that each client was checked against', () => {
    const rows = read('docs/reference/clients.md').split('\n');
    for (const [name, { title }] of Object.entries(HOOK_CLIENTS))
      expect(rows.find((line) => line.startsWith(`| ${title} |`))).toContain(
        CLIENTS[name as HookClientName].checked,
      );
  });

  it('the page of results gives the limits of an event', () => {
    const { text, list } = KEPT.outcome;
    expect(read('docs/how-to/publish-results.md').replaceAll('\n', ' ')).toContain(
      `An event keeps ${text} characters of each text and ${list} items of each list`,
    );
  });

  it('the page of streams gives ages and histories as the code sets them', () => {
    const made = read('src/nats/jetstream/topology.ts');
    expect(made).toContain('PROMPTS_MAX_AGE_DAYS = 30;');
    expect(made).toContain('SHARD_DEDUPE_MS = 30_000;');
    expect(read('src/nats/stores/nats-snapshot-store.ts')).toContain('HISTORY = 5;');
  });

  it('meaning and fix of an error code differ', () => {
    for (const { about, fix } of Object.values(ERROR_TEXTS)) {
      expect(about).not.toBe(fix);
      for (const text of [about, fix]) expect(text).toMatch(/^["a-zA-Z].*[^.]$/);
    }
  });

  it('the Python client has the version of the package', () => {
    expect(read('clients/python/pyproject.toml')).toContain(`version = "${VERSION}"`);
  });
});
