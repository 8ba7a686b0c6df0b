import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ROOT, tableUnder } from '../../scripts/docs/pages.js';

it('the way of a result into a prompt names for each stage its file and the test that proves it', () => {
  const page = readFileSync(`${ROOT}docs/explanation/prompts.md`, 'utf8');
  const stages = tableUnder(`\n${page}`, '# From a result to a prompt');
  expect(stages.map(([stage]) => stage)).toEqual([
    'publish',
    'validate',
    'extract',
    'append',
    'fold',
    'snapshot',
    'learn',
    'decide',
    'compile',
  ]);
  for (const [, , file, proof] of stages) {
    expect(file).toMatch(/\(\.\.\/\.\.\/src\//);
    expect(proof).toMatch(/\(\.\.\/\.\.\/test\/.*\.test\.ts\)/);
  }
});
