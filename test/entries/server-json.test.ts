import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../scripts/docs/pages.js';

const read = (path: string) => JSON.parse(readFileSync(ROOT + path, 'utf8'));

describe('server.json', () => {
  it('the entry for the registry of MCP servers names this package and its version', () => {
    const { name, mcpName, version } = read('package.json');
    expect(read('server.json')).toMatchObject({
      name: mcpName,
      version,
      packages: [{ registryType: 'npm', identifier: name, version, transport: { type: 'stdio' } }],
    });
  });

  it('the entry has a name of two parts and a description of at most 100 characters, as the registry wants', () => {
    const { name, description } = read('server.json');
    expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
    expect(description.length).toBeLessThanOrEqual(100);
  });
});
