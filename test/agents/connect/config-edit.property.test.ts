import { parse } from 'jsonc-parser';
import { parse as parseToml, stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { CONNECT_CLIENTS, CONNECT_NAMES, type ConfigFile } from '../../../src/agents/connect/client-table.js';
import { connectedText, disconnectedText, entryState } from '../../../src/agents/connect/config-edit.js';
import * as fc from '../../support/properties.js';

const where = {
  scope: 'project' as const,
  project: '/work/app',
  home: '/home/u',
  env: {},
  exists: () => false,
  read: () => undefined,
};
const FILES: readonly ConfigFile[] = CONNECT_NAMES.flatMap((name) => CONNECT_CLIENTS[name].files(where));
const jsonFile = fc.constantFrom(...FILES.filter(({ kind }) => kind === 'json'));
const [tomlFile] = FILES.filter(({ path }) => path.endsWith('.toml'));

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const hook = fc.record({ type: fc.constant('command'), command: word });
const group = fc.oneof(
  fc.record({ matcher: word, hooks: fc.array(hook, { minLength: 1, maxLength: 2 }) }),
  hook,
);
const server = fc.record({ command: word, args: fc.array(fc.string(), { maxLength: 2 }) });
/** Configurations with hooks and servers of others, at the places where ours go. */
const config = fc.record(
  {
    model: fc.string(),
    hooks: fc.dictionary(
      fc.constantFrom('Stop', 'SessionStart', 'stop', 'AfterTool', 'Notification'),
      fc.array(group, { minLength: 1, maxLength: 3 }),
      { minKeys: 1 },
    ),
    mcpServers: fc.dictionary(word, server, { minKeys: 1, maxKeys: 3 }),
    mcp: fc.dictionary(word, server, { minKeys: 1, maxKeys: 3 }),
    more: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

/** The same values in the style of a person: indented or not, with comments behind values, with commas at the end. */
const written = fc
  .tuple(
    config,
    fc.constantFrom(undefined, 2, 4, '\t'),
    fc.boolean(),
    fc.boolean(),
    fc.constantFrom('\n', '\r\n'),
  )
  .map(([value, indent, comments, commas, eol]) => {
    let text = JSON.stringify(value, null, indent);
    if (indent !== undefined && commas) text = text.replace(/(["\]}\d])\n(\s*[\]}])/g, '$1,\n$2');
    if (indent !== undefined && comments) text = text.replace(/([,[{}\]"])\n/g, '$1 // why, {"a": [1]}\n');
    return `${comments ? '// mine\n' : ''}${text}\n`.replaceAll('\n', eol);
  });

function values(text: string | undefined): unknown {
  return parse(text ?? '{}', [], { allowTrailingComma: true });
}

/** Returns true if `whole` contains `part`; lists are compared from their first item. */
function keeps(whole: unknown, part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null || Array.isArray(whole) !== Array.isArray(part))
    return false;
  const [all, some] = [new Map(Object.entries(whole)), Object.entries(part)];
  return some.every(([key, value]) => all.has(key) && keeps(all.get(key), value));
}

const RUNS = { numRuns: 50 };

describe('connecting, in a file of JSON', () => {
  it('taking out what was connected gives the values of before, also without a copy of the file', () => {
    fc.assert(
      fc.property(jsonFile, written, (file, text) => {
        const connected = connectedText(file, text);
        expect(entryState(file, connected)).toBe('connected');
        fc.pre(Object.keys(values(text) as object).length > 0);
        expect(values(disconnectedText(file, connected, undefined))).toEqual(values(text));
      }),
      RUNS,
    );
  });

  it('taking out gives the bytes of any file that there is a copy of', () => {
    const empties = fc.constantFrom(
      '{}',
      '{\n}',
      '{"hooks": {}}',
      '{ "mcpServers": {} }',
      '',
      ' \n',
      '{"hooks":{"Stop":[]}}',
    );
    fc.assert(
      fc.property(jsonFile, fc.oneof(written, empties), (file, text) => {
        expect(disconnectedText(file, connectedText(file, text), text)).toBe(text);
      }),
      RUNS,
    );
  });

  it('connecting keeps every value, and connecting again changes nothing', () => {
    fc.assert(
      fc.property(jsonFile, written, (file, text) => {
        const connected = connectedText(file, text);
        expect(keeps(values(connected), values(text))).toBe(true);
        expect(connectedText(file, connected)).toBe(connected);
      }),
      RUNS,
    );
  });

  it('what was written after connecting survives, and nothing of us does', () => {
    fc.assert(
      fc.property(jsonFile, written, word, (file, text, key) => {
        const connected = connectedText(file, text)
          .trimEnd()
          .replace(/,?(\s*)\}$/, `$1, "x${key}": 1}`);
        fc.pre(!/\/\/[^\n]*\s*, "x\w+": 1\}$/.test(connected));
        const rest = disconnectedText(file, connected, text);
        expect(rest).not.toMatch(/throughline/);
        expect(values(rest)).toEqual({ ...(values(text) as object), [`x${key}`]: 1 });
      }),
      RUNS,
    );
  });
});

describe('connecting, in a hostile file', () => {
  it('a file of thousands of entries that run throughline gets each once', () => {
    const [file] = FILES.filter(({ kind, path }) => kind === 'json' && path.endsWith('settings.json'));
    if (file === undefined) throw new Error('no client has settings');
    const hooks = Array(10_000).fill({ hooks: [{ type: 'command', command: 'throughline hook claude' }] });
    const connected = connectedText(file, JSON.stringify({ hooks: { Stop: hooks } }));
    expect(connected.match(/hook claude/g)?.length).toBeLessThan(20);
  });
});

describe('connecting, in a file of Markdown', () => {
  const line = fc.oneof(word, fc.constantFrom('', '# Rules', '<!-- mine -->', '```', '- `a`'));

  it('taking out what was connected gives the bytes of before, and what was written behind it stays', () => {
    const [file] = FILES.filter(({ path }) => path.endsWith('.md'));
    if (file === undefined) throw new Error('no client has Markdown');
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('\n', '\r\n'), (lines, eol) => {
        const before = lines.join(eol);
        const connected = connectedText(file, before);
        expect(entryState(file, connected)).toBe('connected');
        expect(connectedText(file, connected)).toBe(connected);
        const isBlank = before.trim() === '';
        expect(disconnectedText(file, connected, undefined) ?? '').toBe(isBlank ? '' : before);
        const later = `${eol}# Later${eol}`;
        if (!isBlank) expect(disconnectedText(file, connected + later, undefined)).toBe(`${before}${later}`);
      }),
      RUNS,
    );
  });
});

describe('connecting, in a file of TOML', () => {
  const tables = fc
    .record(
      {
        model: fc.string(),
        hooks: fc.dictionary(
          fc.constantFrom('Stop', 'SessionStart', 'Other'),
          fc.array(group, { minLength: 1 }),
        ),
        mcp_servers: fc.dictionary(word, server),
      },
      { requiredKeys: [] },
    )
    .map((value) => stringify(value));
  const text = fc
    .tuple(
      tables,
      fc.constantFrom('', '# mine\n', '# [hooks] are mine\n\n'),
      fc.constantFrom('', '\n', '\n\n\n'),
    )
    .map(([body, head, tail]) => head + body.trimEnd() + tail);

  it('taking out what was connected gives the bytes of before', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (lines, crlf) => {
        const before = crlf ? lines.replaceAll('\n', '\r\n') : lines;
        if (tomlFile === undefined) throw new Error('no client has TOML');
        const connected = connectedText(tomlFile, before);
        expect(entryState(tomlFile, connected)).toBe('connected');
        expect(connectedText(tomlFile, connected)).toBe(connected);
        expect(disconnectedText(tomlFile, connected, undefined) ?? '').toBe(
          before.trim() === '' ? '' : before,
        );
        expect(disconnectedText(tomlFile, connected, before)).toBe(before);
      }),
      RUNS,
    );
  });

  it('what was written behind our tables survives', () => {
    fc.assert(
      fc.property(text, (before) => {
        if (tomlFile === undefined) throw new Error('no client has TOML');
        const later = '\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "later"\n';
        const rest = disconnectedText(tomlFile, connectedText(tomlFile, before) + later, before);
        expect(rest).not.toMatch(/throughline/);
        expect(parseToml(rest ?? '')).toEqual(parseToml(`${before}\n${later}`));
      }),
      RUNS,
    );
  });
});
