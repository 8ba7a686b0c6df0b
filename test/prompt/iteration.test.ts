import { describe, expect, it } from 'vitest';
import { emptyState } from '../../src/memory/session/session-state.js';
import {
  checkTemplate,
  ITERATION_TEMPLATE,
  ITERATION_VARIABLES,
} from '../../src/prompt/iteration-template.js';
import { implementer, recorded } from '../support/builders.js';
import { progressTask, runInitialized } from '../support/ledgers.js';
import { type Given, Played } from '../support/played.js';
import { compiled, full, type More, promptOf } from './iterations.js';

describe('the variables of an iteration template', () => {
  const state = full().state;
  const shown = (name: string, more: More = {}) =>
    promptOf(state, { now: state.lastEventAt, ...more, template: `<{{${name}}}>` });

  it.each([
    ['session', '<demo>'],
    ['iteration', '<2>'],
    ['ready_count', '<1>'],
    ['blocked_count', '<1>'],
    ['completed_count', '<1>'],
    ['begin', '<>'],
    ['goal', '<Goal: Write a parser>'],
    ['plan', '<>'],
    ['history', '<- #1 (5min ago): Lexer done>'],
    ['spec', '<> # A parser\n>\n> It parses.>'],
    ['inbox', '<## Inbox\n- [MSG-1] (3min ago) from an agent (mcp): Look at the build>'],
    ['notes', '<## Notes\nLEARNING:\n  - [NOT-1] No docker>'],
    [
      'tasks',
      '<REMAINING:\n  - [P2] [TAS-2] Write the parser\n  - [P2] [TAS-3] Measure it (blocked by: TAS-2)\n\n' +
        'COMPLETED:\n  - [P0] [TAS-1] Write the lexer [iteration #1]>',
    ],
    ['binary', '<throughline>'],
    ['extra', '<>'],
  ])('an iteration template gets the value of {{%s}}', (name, text) => {
    expect(shown(name)).toBe(text);
  });

  it('an iteration template gets the progress of the plan as {{plan}}, and its goal where the session has none', () => {
    const plan = [
      progressTask('1', { status: 'completed' }),
      progressTask('2', { text: 'Write the lexer' }),
      progressTask('3'),
    ];
    const played = new Played().fold(runInitialized(plan));
    const template = '{{goal}}\n{{plan}}';
    expect(promptOf(played.state, { template })).toBe(
      'Goal: a parser that never throws\nPlan: 1 of 3 done, next 2 Write the lexer',
    );
    played.foldWhole(recorded(1, implementer({ task_id: '2', status: 'failed' })));
    expect(promptOf(played.state, { template })).toContain(
      'next 2 Write the lexer (last result: implementer_failed)',
    );
  });

  it('an iteration template gets the notes on what is ahead as {{sessionContext}}', () => {
    expect(shown('sessionContext')).toMatch(
      /^<\[Session Context\]\nAlso known:\n- Found: No docker \[N1, 1 Mar 00:07\]\nRelated work:\n- made the lexer of the parser/,
    );
  });

  it('an iteration template may use all variables at once', () => {
    const template = ITERATION_VARIABLES.map((name) => `${name}=<{{${name}}}>`).join('\n');
    const prompt = promptOf(state, { template, extra: 'last words', binary: './tl', now: state.lastEventAt });
    for (const name of ITERATION_VARIABLES) {
      const alone = shown(name, { extra: 'last words', binary: './tl' });
      // Notes that the template lists are not repeated in the context.
      expect(prompt).toContain(
        `${name}=${alone.replace('Also known:\n- Found: No docker [N1, 1 Mar 00:07]\n', '')}`,
      );
      expect(ITERATION_TEMPLATE, 'the built-in template uses it').toContain(`{{${name}}}`);
    }
    expect(prompt).not.toContain('{{');
  });

  it('an iteration template takes binary and extra from the request', () => {
    expect(shown('extra', { extra: 'Be brief.' })).toBe('<Be brief.>');
    expect(shown('binary', { binary: 'npx throughline' })).toBe('<npx throughline>');
  });

  it.each<[Given<'session-open'>, string]>([
    [{ spec: 'the text', specPath: 'a.md', goal: 'g' }, '<> the text>'],
    [{ specPath: 'specs/a.md', goal: 'g' }, '<See specs/a.md>'],
    // A template that shows no goal of its own shows it here.
    [{ goal: 'Only a goal' }, '<Only a goal>'],
    [{}, '<No spec given>'],
  ])('the spec of %j is %s in an iteration template', (opened, text) => {
    const { state } = new Played().after('session-open', opened);
    expect(promptOf(state, { template: '<{{spec}}>' })).toBe(text);
  });

  it('the workflow adds missing tasks where the session has a spec, and nowhere else', () => {
    const pick = (opened: Given<'session-open'>) =>
      promptOf(new Played().after('session-open', opened).state, { template: '{{pick}}' });
    expect(pick({ spec: 'the text' })).toContain(', after adding any missing spec tasks via task-add.');
    expect(pick({ goal: 'g' })).not.toContain('task-add');
  });
});

describe('an iteration prompt', () => {
  it('an iteration prompt counts ages from the time of the request, and says none without one', () => {
    const played = new Played().after('inbox-add', { content: 'x', by: 'ann', person: true });
    const sent = played.state.lastEventAt;
    const inbox = (more: More = {}) => promptOf(played.state, { template: '{{inbox}}', ...more });
    expect(inbox({ now: sent })).toBe('## Inbox\n- [MSG-1] (just now) from ann: x');
    const later = new Date(Date.parse(sent) + 69 * 60_000).toISOString();
    expect(inbox({ now: later })).toBe('## Inbox\n- [MSG-1] (1hr 9min ago) from ann: x');
    expect(inbox()).toBe('## Inbox\n- [MSG-1] from ann: x');
  });

  it('an iteration prompt chooses facts by the goal and the ready tasks, or by the words of the request', () => {
    const played = new Played().after('task-add', { content: 'Make the lexer faster' });
    played.foldWhole(recorded(1, implementer({ task_id: '1', summary: 'wrote the lexer' })));
    played.foldWhole(recorded(2, implementer({ task_id: '2', summary: 'wrote the printer' })));
    const first = (more: More) => compiled(played.state, { maxFacts: 1, include: ['facts'], ...more }).facts;
    expect(first({})).toMatchObject([{ object: 'wrote the lexer' }]);
    expect(first({ taskPrompt: 'the printer' })).toMatchObject([{ object: 'wrote the printer' }]);
    expect(compiled(played.state, { maxFacts: 0, explain: true })).toMatchObject({
      factsShown: 0,
      sessionContext: '',
    });
  });

  it.each([
    ['{{taks}}', 'taks'],
    ['a\n{{tasks}} {{ready-count}}', 'ready-count'],
  ])(
    'an iteration prompt is refused for a template with %j, and the error names what is unknown',
    (template, name) => {
      const line = template.split('\n').length;
      const refused = expect.objectContaining({
        code: 'template_invalid',
        message: expect.stringMatching(
          `^unknown placeholders: \\{\\{${name}\\}\\} in line ${line}\\. Known: session, `,
        ),
        details: { unknown: [name] },
      });
      expect(() => promptOf(emptyState('demo'), { template })).toThrow(refused);
      expect(() => checkTemplate(template)).toThrow(refused);
    },
  );
});
