import { expect, it, vi } from 'vitest';
import { sdkSamples } from '../support/sdk-samples.js';
import { newSession, startSystem } from '../support/system.js';

it('the samples of the page about the SDK do what they show', async () => {
  await using system = await startSystem();
  using printed = vi.spyOn(console, 'log').mockImplementation(() => {});
  const { published, compiled, found, results, code } = await sdkSamples(system.url, newSession('samples'));
  expect(published.result).toMatchObject({ status: 'recorded', task: '1' });
  expect(compiled.prompt).toContain('src/parser.ts');
  expect(found.facts.length).toBeGreaterThan(0);
  expect(results.map(({ learning }) => learning.content)).toEqual(['Run the linter before you hand in']);
  expect(code).toBe('not_found');
  expect(printed).toHaveBeenCalledTimes(7);
});
