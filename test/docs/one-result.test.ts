import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ROOT, tableUnder } from '../../scripts/docs/pages.js';

const page = readFileSync(`${ROOT}docs/explanation/one-result.md`, 'utf8');

describe('the way of one result', () => {
  it('the way of one result names for each stage its file and the test that proves it', () => {
    const stages = tableUnder(`\n${page}`, '# How it works');
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
});
