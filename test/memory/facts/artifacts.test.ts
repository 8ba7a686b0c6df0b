import { describe, expect, it } from 'vitest';
import { parseDispatchBody } from '../../../src/contracts/dispatch-body.js';
import { RuleBasedFactExtractor } from '../../../src/memory/facts/fact-extractor.js';
import { evolve } from '../../../src/memory/session/evolve-session.js';
import { emptyState } from '../../../src/memory/session/session-state.js';
import { compilePrompt } from '../../../src/prompt/compile-prompt.js';
import { dispatchRequest } from '../../prompt/parts.js';
import { implementer, recorded, stored } from '../../support/builders.js';

function factsOf(more: object) {
  const body = JSON.stringify({ task_id: '1', status: 'completed', ...more });
  const parsed = parseDispatchBody(new TextEncoder().encode(body), 'implementer', 1_000_000);
  if (!parsed.ok) throw new Error(parsed.reason);
  const { facts } = new RuleBasedFactExtractor().extract(parsed.value, '1');
  return facts
    .filter(({ relation }) => relation !== 'completed_with')
    .map(({ subject, relation, object }) => `${subject} ${relation} ${object}`);
}

describe('the commit and the artifacts of a result', () => {
  it('become facts, in the form of spec-workflow', () => {
    const artifacts = {
      apiEndpoints: [{ method: 'GET', path: '/metrics', purpose: 'Scraped', location: 'src/serve.ts:12' }],
      functions: [{ name: 'serve', signature: 'serve(port: number): Server', location: 'src/serve.ts:3' }],
      components: [{ name: 'Chart', type: 'React', props: 'data: Series', location: 'src/chart.tsx' }],
      classes: [{ name: 'Registry', methods: ['add', 'text'], location: 'src/registry.ts' }],
      integrations: [{ description: 'Chart reads /metrics', dataFlow: 'poll, parse, draw' }],
    };
    expect(factsOf({ commit: 'abc123', branch: 'main', artifacts })).toEqual([
      'endpoint:GET /metrics defined_as Scraped in src/serve.ts:12',
      'function:serve defined_as serve(port: number): Server in src/serve.ts:3',
      'component:Chart defined_as data: Series in src/chart.tsx',
      'class:Registry defined_as add; text in src/registry.ts',
      'integration:Chart reads /metrics defined_as poll, parse, draw',
      'task:1 on_branch main',
      'task:1 at_commit abc123',
    ]);
  });

  it.each([
    [[{ kind: 'function', name: 'serve' }], ['function:serve defined_as serve']],
    [[{ type: 'function', title: 'serve', file: 'a.ts' }], ['function:serve defined_as serve in a.ts']],
    [{ functions: ['serve'] }, ['function:serve defined_as serve']],
    [{ functions: [5, null, { signature: 'x' }] }, []],
    [['serve()'], ['artifact:serve() defined_as serve()']],
    ['none', []],
  ])('are read from %j', (artifacts, facts) => {
    expect(factsOf({ artifacts }).filter((fact) => fact.includes('defined_as'))).toEqual(facts);
  });
});

it('many artifacts leave the places of lasting facts to decisions', () => {
  const decided = { subject: 'storage', relation: 'decided', object: 'sessions live in redis' };
  const artifacts = Array.from({ length: 40 }, (_, n) => ({ kind: 'function', name: `fill${n}` }));
  const events = [
    recorded(1, implementer({ task_id: '1', facts: [decided] })),
    recorded(2, implementer({ task_id: '2', artifacts })),
  ];
  const state = stored(events).reduce(evolve, emptyState('demo'));
  const { prompt } = compilePrompt(state, dispatchRequest({ taskId: '9', taskPrompt: 'Draw the logo' }));
  expect(prompt).toContain('sessions live in redis');
  expect(prompt).not.toContain('fill3');
  const asked = compilePrompt(state, dispatchRequest({ taskId: '9', taskPrompt: 'Call fill3 first' }));
  expect(asked.prompt).toContain('function:fill3 defined as fill3');
});
