import { describe, expect, it } from 'vitest';
import type { RoleResult } from '../../../src/contracts/results.js';
import { RuleBasedFactExtractor, sessionFact } from '../../../src/memory/facts/fact-extractor.js';
import { tokensOf } from '../../../src/memory/facts/fact-ranking.js';
import { KeywordFactRetriever } from '../../../src/memory/facts/fact-retriever.js';
import { InMemorySessionFactStore } from '../../../src/memory/facts/fact-store.js';
import { type FactQuery, formatSessionFacts } from '../../../src/memory/facts/fact-types.js';
import { fact, implementer, originOf, reviewer, sayings } from '../../support/builders.js';

/** The integration tests of the fact tracker's document, by their names; its auto-invalidation read as rule 3. */

class Session {
  readonly store = new InMemorySessionFactStore();
  readonly #extractor = new RuleBasedFactExtractor();
  readonly #retriever = new KeywordFactRetriever(this.store);
  #dispatches = 0;

  ingest(returned: RoleResult): void {
    this.#dispatches += 1;
    const origin = originOf(this.#dispatches, { taskId: returned.result.task_id });
    const { facts } = this.#extractor.extract(returned, origin.taskId);
    this.store.add(facts.map((fact) => sessionFact(fact, { ...origin, role: returned.role })));
  }

  retrieve(taskId: string, taskDescription: string, limits: Partial<FactQuery> = {}) {
    return this.#retriever.retrieve({ taskId, taskDescription, maxFacts: 10, maxTokens: 500, ...limits });
  }

  context(taskId: string, taskDescription: string): string {
    return formatSessionFacts(this.retrieve(taskId, taskDescription));
  }
}

describe('a session', () => {
  it('the first task in a session produces no session context', () => {
    expect(new Session().context('1', 'define the fact types in src/facts/fact-types.ts')).toBe('');
  });

  it('facts from task 1 appear in the prompt of task 2', () => {
    const session = new Session();
    session.ingest(
      implementer({
        task_id: '1',
        summary: 'Defined the fact types and the store interface',
        files_modified: ['src/facts/fact-types.ts', 'docs/notes.md'],
      }),
    );
    expect(session.context('2', 'Implement the store of src/facts/fact-types.ts').split('\n')).toEqual([
      '[Session Context]',
      '- task:1 summary Defined the fact types and the store interface [task:1]',
      '- src/facts/fact-types.ts modified_by task:1 [task:1]',
      '- task:1 completed_with completed [task:1]',
      '- docs/notes.md modified_by task:1 [task:1]',
    ]);
  });

  it('reviewer conventions persist across tasks', () => {
    const session = new Session();
    const fixes = ['Never mutate a fact', 'Name the field in errors', 'Close the file handle'];
    session.ingest(implementer({ task_id: '2', summary: 'Wrote the store' }));
    session.ingest(
      reviewer({
        task_id: '2',
        issues: [
          { severity: 'important', file: 'src/store.ts', message: 'Always copy a fact before closing it' },
        ],
        required_fixes: fixes,
      }),
    );
    session.ingest(implementer({ task_id: '3', summary: 'Wrote the retriever' }));
    const conventions = () => sayings(session.retrieve('4', 'Write the formatter', { tags: ['convention'] }));
    expect(conventions()).toEqual([
      ...fixes.map((fix) => `task:2 must_fix ${fix}`),
      'task:2 convention Always copy a fact before closing it',
    ]);
    // The fixes are done once the task is approved; the rules outlive it, also the one that was a required fix.
    session.ingest(reviewer({ task_id: '2', assessment: 'approved' }));
    expect(conventions()).toEqual([
      'task:2 convention Always copy a fact before closing it',
      'task:2 convention Never mutate a fact',
    ]);
  });

  it('a newer fact excludes an older one', () => {
    const session = new Session();
    session.ingest(implementer({ task_id: '1', files_modified: ['src/x.ts'] }));
    session.ingest(implementer({ task_id: '2', files_modified: ['src/y.ts'] }));
    session.ingest(implementer({ task_id: '3', files_modified: ['src/x.ts', 'src/z.ts'] }));
    expect(sayings(session.retrieve('4', 'Change src/x.ts again', { tags: ['file_change'] }))).toEqual([
      'src/x.ts modified_by task:3',
      'src/z.ts modified_by task:3',
      'src/y.ts modified_by task:2',
    ]);
  });

  it('a task’s own facts are excluded from its prompt', () => {
    const session = new Session();
    session.ingest(implementer({ task_id: '5', files_modified: ['src/x.ts'] }));
    session.ingest(reviewer({ task_id: '5', required_fixes: ['close it'] }));
    expect(session.retrieve('5', 'Change src/x.ts')).toEqual([]);
    expect(session.retrieve('6', 'Change src/x.ts')).not.toEqual([]);
  });

  it('compaction preserves recent facts', () => {
    const { store } = new Session();
    for (let task = 1; task <= 20; task += 1) {
      const sourceTaskId = String(task);
      const files = Array.from({ length: 30 }, (_, file) => `src/${task}/${file}.ts`);
      store.add(files.map((subject) => fact({ subject, sourceTaskId, sourceSequence: task })));
    }
    expect(store.count()).toBe(600);
    store.compact(500);
    const left = store.getValid();
    expect(left).toHaveLength(500);
    const of = (taskId: string) => left.filter((each) => each.sourceTaskId === taskId).length;
    expect(['1', '2', '3', '4', '5', '20'].map(of)).toEqual([0, 0, 0, 20, 30, 30]);
  });

  it('the token budget truncates the facts', () => {
    const session = new Session();
    session.store.add(
      Array.from({ length: 50 }, (_, file) =>
        fact({ subject: `src/module-${file}.ts`, sourceSequence: file + 1 }),
      ),
    );
    const kept = session.retrieve('9', 'Change the modules', { maxFacts: 50, maxTokens: 100 });
    const spent = kept.reduce((sum, each) => sum + tokensOf(each), 0);
    expect(spent).toBeLessThanOrEqual(100);
    // One more of the same size would not have fitted.
    expect(spent + tokensOf(fact({ subject: 'src/module-10.ts' }))).toBeGreaterThan(100);
  });
});
