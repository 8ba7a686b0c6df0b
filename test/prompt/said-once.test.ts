import { describe, expect, it } from 'vitest';
import { maySay } from '../../src/contracts/relations.js';
import type { RoleResult } from '../../src/contracts/results.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { DEFAULT_BUDGET } from '../../src/prompt/prompt-kind.js';
import { implementer, recorded, reviewer, stored } from '../support/builders.js';
import { dispatchRequest, partsOf } from './parts.js';

function promptAfter(results: readonly RoleResult[], asked: Parameters<typeof dispatchRequest>[0] = {}) {
  const events = results.map((returned, at) => recorded(at + 1, returned));
  const state = stored(events).reduce(evolve, emptyState('demo'));
  return partsOf(compilePrompt(state, dispatchRequest(asked), DEFAULT_BUDGET));
}

describe('what a prompt says once', () => {
  it('blockers and required fixes that differ in spelling alone stand once in the ledger', () => {
    const { packet } = promptAfter([
      implementer({ status: 'blocked', blockers: ['Needs the API key.', 'needs the API key'] }),
      reviewer({ required_fixes: ['check the bounds', 'Check the bounds.', 'close the file'] }),
    ]);
    expect(packet).toMatchObject({
      blockers: ['Needs the API key.'],
      required_fixes: ['check the bounds', 'close the file'],
    });
  });

  it('an issue that a required fix repeats gives it severity, file and suggestion, and is not listed again', () => {
    const issue = {
      severity: 'critical' as const,
      file: 'src/a.ts',
      message: 'Check the bounds',
      fix: 'throw',
    };
    const other = { severity: 'minor' as const, message: 'a typo' };
    const { packet } = promptAfter([
      reviewer({ required_fixes: ['check the bounds.'], issues: [issue, other] }),
    ]);
    expect(packet.required_fixes).toEqual(['check the bounds. (critical; src/a.ts; fix: throw)']);
    expect(packet.issues).toEqual(['minor: a typo']);
  });

  it('of the same issue in two files, one stands in the required fix, the other is listed', () => {
    const issues = ['src/a.ts', 'src/b.ts'].map((file) => ({
      severity: 'minor' as const,
      file,
      message: 'check the bounds',
    }));
    const { packet } = promptAfter([reviewer({ required_fixes: ['check the bounds'], issues })]);
    expect(packet.required_fixes).toEqual(['check the bounds (minor; src/a.ts)']);
    expect(packet.issues).toEqual(['minor: src/b.ts: check the bounds']);
  });

  it('a file has one path, however it was written', () => {
    const files_modified = ['/tmp/x/../parser.ts'];
    const { notes, packet } = promptAfter([
      implementer({ files_modified }),
      implementer({ task_id: '2', files_modified: ['/tmp/parser.ts'] }),
    ]);
    // The ledger of the task lists it.
    expect(notes).not.toHaveProperty(['Likely files']);
    expect(JSON.stringify(notes)).not.toContain('/tmp/x');
    expect(packet.changed_files).toEqual(['/tmp/parser.ts']);
  });
});

describe('the beginning of a line', () => {
  const HEADS = /^- (?:critical|important|minor|issue|required fix|blocked|suggested|review)[:,]/i;

  it.each(['critical', 'important', 'minor', 'issue', 'required fix', 'blocked', 'suggested', 'Review'])(
    'a fact, a summary and a follow-up that begin with "%s" do not look like a line of another kind',
    (word) => {
      const object = 'src/a.ts leaks';
      const { notes } = promptAfter(
        [
          implementer({
            task_id: '3',
            summary: `${word}: ${object}`,
            follow_up_actions: [`${word}\u200b: ${object}`],
            facts: [
              ...(maySay('task:3', word) ? [{ subject: 'task:3', relation: word, object }] : []),
              { subject: `${word}, src/b.ts:`, relation: 'and', object },
            ],
          }),
        ],
        { taskPrompt: 'Mend what leaks in src/a.ts' },
      );
      const lines = Object.values(notes).flat();
      expect(lines.filter((line) => line.includes('leaks')).length).toBeGreaterThanOrEqual(2);
      expect(lines.filter((line) => HEADS.test(line))).toEqual([]);
    },
  );

  it('a fact of its own task says its relation first', () => {
    const facts = [
      { subject: 'task:3', relation: 'uses', object: 'a lock' },
      { subject: 'task:3', relation: 'critical', object: 'src/a.ts leaks' },
    ];
    const { notes } = promptAfter([implementer({ task_id: '3', facts })], { taskPrompt: 'Take the lock' });
    const lines = Object.values(notes).flat();
    expect(lines).toContain('- uses: a lock [task:3, 1 Jan]');
    expect(lines).toContain('- the task critical src/a.ts leaks [task:3, 1 Jan]');
  });
});

describe('what is left over', () => {
  const approved = reviewer({
    task_id: '2',
    assessment: 'approved',
    required_fixes: ['name the parser cases'],
  });

  it('what an approval still asks for is a suggestion, and no open finding', () => {
    const { notes } = promptAfter([implementer({ task_id: '2' }), approved], {
      taskPrompt: 'Change the parser cases',
    });
    expect(notes).not.toHaveProperty([
      'Open findings of other tasks, not yours unless you touch their files',
    ]);
    expect(notes['Left to do by other tasks']).toEqual([
      '- suggested: name the parser cases [task:2, 1 Jan]',
    ]);
  });

  it('a suggestion leaves what the work of its task has left to do', () => {
    const follow_up_actions = ['document the parser cases'];
    const { notes } = promptAfter([implementer({ task_id: '2', follow_up_actions }), approved], {
      taskPrompt: 'Change the parser cases',
    });
    expect(notes['Left to do by other tasks']).toHaveLength(2);
  });
});
