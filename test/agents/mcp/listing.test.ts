import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { createMcpServer } from '../../../src/agents/mcp/mcp-server.js';
import { MCP_TOOLS, type Memory } from '../../../src/agents/mcp/mcp-tools.js';
import { token } from '../../../src/contracts/names.js';

/** The listing is in the context of every agent at every turn. */

const MOST_TOKENS = 1300;
const PROTOCOLS = ['2025-11-25', '2026-07-28'];

function memory(session: string): Memory {
  return {
    session: token(session, 'session'),
    claims: new Map(),
    isPausedNow: () => false,
    state: { peek: () => undefined, remember() {} },
    client: () => Promise.reject(new Error('a listing needs no server')),
    keep: () => Promise.reject(new Error('a listing keeps nothing')),
  };
}

async function listed(protocol: string, session = 'demo'): Promise<string> {
  const handler = createMcpHandler(() => createMcpServer(memory(session)));
  const envelope = {
    [PROTOCOL_VERSION_META_KEY]: protocol,
    [CLIENT_INFO_META_KEY]: { name: 'test', version: '1' },
    [CLIENT_CAPABILITIES_META_KEY]: {},
  };
  const params = protocol === '2026-07-28' ? { _meta: envelope } : {};
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocol,
      'mcp-method': 'tools/list',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params }),
  });
  const body = await (await handler.fetch(request)).text();
  const start = body.indexOf('"tools":') + '"tools":'.length;
  let depth = 0;
  for (let at = start; at < body.length; at += 1) {
    if (body[at] === '[') depth += 1;
    if (body[at] === ']') depth -= 1;
    if (depth === 0) return body.slice(start, at + 1);
  }
  throw new Error(`no list of tools: ${body}`);
}

describe('the tools of the MCP server', () => {
  it('a model reads the fields of a test run and of an issue where they are given', async () => {
    const [, report] = JSON.parse(await listed(PROTOCOLS[0] ?? ''));
    const { tests, issues } = report.inputSchema.properties;
    expect(tests.items.properties).toMatchObject({
      command: { type: 'string' },
      passed: { type: 'boolean' },
    });
    expect(issues.items.properties).toMatchObject({ message: { type: 'string' } });
  });

  it.each(PROTOCOLS)(
    'the definitions of all tools take less than 1,300 tokens in protocol %s',
    async (protocol) => {
      const sent = await listed(protocol);
      expect(JSON.parse(sent).map(({ name }: { name: string }) => name)).toEqual([
        'context',
        'report',
        'task',
        'note',
        'recall',
      ]);
      expect(countTokens(sent)).toBeLessThan(MOST_TOKENS);
    },
  );

  it('a field has one text of at most 12 words', async () => {
    const texts = [...(await listed('2026-07-28')).matchAll(/"description":"([^"]*)"/g)].map(
      ([, text]) => text,
    );
    const tools = Object.values(MCP_TOOLS).map(({ description }) => description as string);
    const fields = texts.filter((text) => text !== undefined && !tools.includes(text));
    expect(fields.length).toBeGreaterThan(10);
    expect(fields.filter((text) => (text?.split(' ').length ?? 0) > 12)).toEqual([]);
  });

  it('the list of tools is the same byte for byte at every call, in every session and in both protocols', async () => {
    const calls = PROTOCOLS.flatMap((protocol) => [listed(protocol), listed(protocol, 'other')]);
    expect(new Set(await Promise.all(calls)).size).toBe(1);
  });

  it('the first 200 characters of the instructions name what an agent must do', async () => {
    const { server } = createMcpServer(memory('demo'));
    const { _instructions: text = '' } = server as unknown as { readonly _instructions?: string };
    expect(text.slice(0, 200)).toMatch(/context.*report.*note.*recall.*data, not instructions/);
  });

  it('clients that defer tools keep those at hand that each task needs, and find the others by what they are for', async () => {
    const tools: { readonly name: string; readonly _meta: object }[] = JSON.parse(await listed('2026-07-28'));
    const always = tools.filter(({ _meta }) => 'anthropic/alwaysLoad' in _meta).map(({ name }) => name);
    expect(always).toEqual(['context', 'report']);
    for (const { name, _meta } of tools)
      if (!always.includes(name)) expect(_meta).toHaveProperty('anthropic/searchHint', expect.any(String));
    const structured = tools.filter((tool) => 'outputSchema' in tool).map(({ name }) => name);
    expect(structured).toEqual(['report']);
  });

  it('tools that only read say so, and none is destructive', () => {
    const reading = Object.entries(MCP_TOOLS).filter(([, { annotations }]) => 'readOnlyHint' in annotations);
    expect(reading.map(([name]) => name)).toEqual(['context', 'recall']);
    const writing = Object.values(MCP_TOOLS).filter(({ annotations }) => !('readOnlyHint' in annotations));
    for (const { annotations } of writing) expect(annotations).toHaveProperty('destructiveHint', false);
  });
});
