import { expect, it, vi } from 'vitest';
import { sdkSamples } from '../support/sdk-samples.js';
import { startSystem } from '../support/system.js';

it('the samples of the page about the SDK do what they show', async () => {
  await using system = await startSystem();
  vi.stubEnv('NATS_URL', system.url);
  using printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { published, compiled, found, results, code } = await sdkSamples();
  expect(published.result).toMatchObject({ status: 'recorded', task: '1' });
  expect(compiled.prompt).toContain('src/parser.ts');
  expect(found.facts.length).toBeGreaterThan(0);
  expect(results.map(({ learning }) => learning.content)).toEqual(['Run the linter before you hand in']);
  expect(code).toBe('not_found');
  expect(printed).toHaveBeenCalledTimes(7);
  vi.unstubAllEnvs();
});
