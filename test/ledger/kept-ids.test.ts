import { describe, expect, it } from 'vitest';
import type { TasksDocument } from '../../src/contracts/plan-requests.js';
import { withKeptIds } from '../../src/ledger/kept-ids.js';
import { documentOf } from '../../src/ledger/plan-document.js';
import { parseTasksMd } from '../../src/ledger/tasks-md/parse-tasks-md.js';
import { unnamedOf } from '../../src/ledger/tasks-md/parsed-tasks.js';
import * as fc from '../support/properties.js';

const NOTHING: TasksDocument = { fingerprint: { mtimeMs: 0, hash: '' }, tasks: [], problems: 0 };

function next(text: string, before = NOTHING, known: Iterable<string> = []): TasksDocument {
  const parsed = parseTasksMd(text);
  const ids = new Set(known);
  return withKeptIds(documentOf(parsed, NOTHING.fingerprint), unnamedOf(parsed.tasks), before, (id) =>
    ids.has(id),
  );
}

/** The tasks without subtasks, as `1#1 Add Priority field`. */
function shown({ tasks }: TasksDocument): string[] {
  const parents = new Set(tasks.map(({ parent }) => parent));
  return tasks.flatMap(({ id, text }) => (parents.has(id) ? [] : `${id} ${text}`));
}

const PLAN = `### 1. Priority
- [ ] Add Priority field
- [ ] Sort by priority

### 2. Search
- [ ] Index the words
- [ ] Add Priority field
`;

describe('a generated id', () => {
  it('stays with its words when a line comes above them, and the new line gets one that no other had', () => {
    const edited = PLAN.replace('- [ ] Add', '- [ ] Write the migration first\n- [ ] Add');
    expect(shown(next(edited, next(PLAN), ['1#1']))).toEqual([
      '1#3 Write the migration first',
      '1#1 Add Priority field',
      '1#2 Sort by priority',
      '2#1 Index the words',
      '2#2 Add Priority field',
    ]);
  });

  it('stays with its words when the headings are renumbered, and when phases change places', () => {
    const renumbered = `### 1. Setup\n- [ ] Install it\n\n${PLAN.replace('1. ', '2. ').replace('2. Search', '3. Search')}`;
    expect(shown(next(renumbered, next(PLAN), ['1#1']))).toEqual([
      '1#3 Install it',
      '1#1 Add Priority field',
      '1#2 Sort by priority',
      '2#1 Index the words',
      '2#2 Add Priority field',
    ]);
    const [one = '', other = ''] = PLAN.split('\n\n');
    const moved = `${other.replace('2.', '1.')}\n${one.replace('1.', '2.')}\n`;
    expect(shown(next(moved, next(PLAN), ['1#1', '2#2']))).toEqual([
      '2#1 Index the words',
      '2#2 Add Priority field',
      '1#1 Add Priority field',
      '1#2 Sort by priority',
    ]);
  });

  it.each([
    ['a typo', 'Add Priorty field', true],
    ['more words', 'Add a Priority field to the task', true],
    ['another object', 'Add Status field', false],
    ['another verb', 'Remove Priority field', false],
    ['other words', 'Write the docs', false],
    ['another number', 'Add Priority field 2', false],
  ])('and its place: after %s, %j', (_, text, isSame) => {
    const edited = PLAN.replace('Add Priority field', text);
    const after = next(edited, next(PLAN), ['1#1']);
    expect(shown(after)[0]).toBe(`${isSame ? '1#1' : '1#3'} ${text}`);
    expect(after.tasks[1]?.was).toBe(isSame ? 'Add Priority field' : undefined);
    expect(after.left).toEqual(isSame ? undefined : [{ id: '1#1', text: 'Add Priority field' }]);
  });

  it('compares with the words of the first result: many small edits do not add up', () => {
    const [one, two, three] = [
      'Add a small priority field',
      'Add a small priority column',
      'Add a small status column',
    ];
    const first = next(`- [ ] ${one}\n`);
    const second = next(`- [ ] ${two}\n`, first, ['#1']);
    const third = next(`- [ ] ${three}\n`, second, ['#1']);
    expect([shown(second), shown(third)]).toEqual([[`#1 ${two}`], [`#2 ${three}`]]);
    expect(third.left).toEqual([{ id: '#1', text: one }]);
    // Without a result, the task has the words that it has now.
    expect(shown(next(`- [ ] ${three}\n`, next(`- [ ] ${two}\n`, first)))).toEqual([`#1 ${three}`]);
  });

  it('comes back with its words', () => {
    const without = next(PLAN.replace('- [ ] Sort by priority\n', ''), next(PLAN), ['1#2']);
    expect(without.left).toEqual([{ id: '1#2', text: 'Sort by priority' }]);
    const again = next(PLAN, without, ['1#2']);
    expect([shown(again), again.left]).toEqual([shown(next(PLAN)), undefined]);
  });

  it('of equal lines goes by their order, under the same heading', () => {
    const text = '## Parser\n- [ ] Write tests\n\n## Store\n- [ ] Write tests\n- [ ] Write tests\n';
    const before = next(text);
    expect(shown(next(`## Setup\n- [ ] Write tests\n\n${text}`, before, ['parser#1']))).toEqual([
      'setup#1 Write tests',
      'parser#1 Write tests',
      'store#1 Write tests',
      'store#2 Write tests',
    ]);
  });

  it('of a list number does not follow the number', () => {
    const before = next('1. [ ] Add Priority field\n2. [ ] Sort by priority\n');
    const text = '1. [ ] Write the migration\n2. [ ] Add Priority field\n3. [ ] Sort by priority\n';
    expect(shown(next(text, before, ['1']))).toEqual([
      '1~2 Write the migration',
      '1 Add Priority field',
      '2 Sort by priority',
    ]);
  });

  it('is renamed wherever the plan names it', () => {
    const before = next('1. [ ] Parse\n2. [ ] Store\n');
    const text = '1. [ ] Read\n2. [ ] Parse\n   - [ ] Names\n3. [ ] Store\n   - Depends on: 2\n';
    const { tasks } = next(text, before);
    expect(tasks.map(({ id, parent, dependsOn }) => [id, parent, dependsOn])).toEqual([
      ['1~2', undefined, undefined],
      ['1', undefined, undefined],
      ['2#1', '1', undefined],
      ['2', undefined, ['1']],
    ]);
  });

  it('works in any script', () => {
    const before = next('- [ ] 优先级字段を追加\n- [ ] 文書を書く\n');
    const text = '- [ ] 移行を先に書く\n- [ ] 优先级の字段を追加\n- [ ] 文書を書く\n';
    expect(shown(next(text, before, ['#1']))).toEqual([
      '#3 移行を先に書く',
      '#1 优先级の字段を追加',
      '#2 文書を書く',
    ]);
  });
});

describe('an id that the author wrote', () => {
  const before = next('- [ ] T001 Write the parser\n- [ ] T002 Write tests\n');

  it.each([
    ['keeps its results while it shares a word', 'T001 Replace the old parser', 'T001'],
    ['has none of words that share nothing with it', 'T001 Deploy to the cloud', 'T001~2'],
    ['has none of words that share what other tasks say too', 'T001 Write a changelog', 'T001~2'],
  ])('%s: %s', (_, line, id) => {
    const after = next(`- [ ] ${line}\n- [ ] T002 Write tests\n`, before, ['T001']);
    expect(after.tasks[0]).toMatchObject({ id, ...(id !== 'T001' && { written: 'T001' }) });
    const again = next(`- [ ] ${line}\n- [x] T002 Write tests\n`, after, ['T001', id]);
    expect(again.tasks[0]?.id).toBe(id);
  });

  it('has none of words that moved to another id or came from one', () => {
    const renumbered = '- [ ] T001 Write the schema\n- [ ] T002 Write the parser\n- [ ] T003 Write tests\n';
    expect(shown(next(renumbered, before, ['T001', 'T002']))).toEqual([
      'T001~2 Write the schema',
      'T002~2 Write the parser',
      'T003 Write tests',
    ]);
    expect(shown(next('- [ ] T001 Write tests\n', before, ['T001', 'T002']))).toEqual(['T001~2 Write tests']);
  });

  it('stays as it is written without results, and with those that came before any plan', () => {
    expect(shown(next('- [ ] T001 Deploy to the cloud\n', before, ['T003']))).toEqual([
      'T001 Deploy to the cloud',
    ]);
    expect(shown(next('- [ ] T003 Deploy\n', before, ['T003']))).toEqual(['T003 Deploy']);
  });
});

describe('whatever the edits of a plan', () => {
  const NOUNS = 'parser lexer store index query cache board prompt ledger budget session event'.split(' ');
  const VERBS = ['Write the', 'Add a', 'Test the', 'Remove an old'];
  /** Different lines share at most their verb. */
  const nounOf = (at: number) => `${NOUNS[at % NOUNS.length]}${'x'.repeat(at)}`;
  const verbOf = (at: number) => VERBS[at % VERBS.length];
  const edit = fc.record({
    kind: fc.constantFrom('insert', 'delete', 'move', 'swap', 'copy'),
    from: fc.nat(20),
    to: fc.nat(20),
  });
  type Edit = { readonly kind: string; readonly from: number; readonly to: number };
  const STYLES: Record<string, (text: string, at: number) => string> = {
    boxes: (text) => `- [ ] ${text}`,
    'list numbers': (text, at) => `${at + 1}. [ ] ${text}`,
    'written ids': (text, at) => `- [ ] T${String(at + 1).padStart(3, '0')} ${text}`,
    'numbered phases': (text, at) =>
      `${at % 3 === 0 ? `### ${1 + at / 3}. Phase of ${text.split(' ').at(-1)}\n` : ''}- [ ] ${text}`,
    'named phases': (text, at) => `${at % 4 === 0 ? '## Phase\n' : ''}- [ ] ${text}`,
  };

  function edited(lines: readonly string[], { kind, from, to }: Edit, fresh: () => string): string[] {
    const after = [...lines];
    const [one, other] = [from % Math.max(1, lines.length), to % Math.max(1, lines.length)];
    if (kind === 'insert') after.splice(one, 0, fresh());
    if (kind === 'delete') after.splice(one, 1);
    if (kind === 'copy' && lines.length > 0) after.splice(other, 0, after[one] ?? '');
    if (kind === 'move') after.splice(other, 0, ...after.splice(one, 1));
    if (kind === 'swap' && lines.length > 1)
      [after[one], after[other]] = [after[other] ?? '', after[one] ?? ''];
    return after;
  }

  it.each(Object.keys(STYLES))('no task is approved whose words were not, and none twice: %s', (style) => {
    const write = STYLES[style] ?? String;
    // A written id stays with its line while that shares a word of its own.
    const lineOf = (at: number) => (style === 'written ids' ? nounOf(at) : `${verbOf(at)} ${nounOf(at)}`);
    const versions = fc.array(
      fc.record({ edits: fc.array(edit, { maxLength: 4 }), approve: fc.array(fc.nat(20), { maxLength: 3 }) }),
      { minLength: 1, maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), versions, (size, rounds) => {
        let used = size;
        const fresh = () => {
          used += 1;
          return lineOf(used);
        };
        let lines = Array.from({ length: size }, (_, at) => lineOf(at));
        let plan = NOTHING;
        const approved = new Map<string, string>();
        const equal = new Set<string>();
        for (const { edits, approve } of rounds) {
          lines = edits.reduce((before, one) => edited(before, one, fresh), lines);
          plan = next(lines.map((text, at) => write(text, at)).join('\n'), plan, approved.keys());
          const tasks = plan.tasks.filter(({ text }) => lines.includes(text));
          expect(new Set(plan.tasks.map(({ id }) => id)).size).toBe(plan.tasks.length);
          for (const { id, text } of tasks) expect(approved.get(id) ?? text).toBe(text);
          for (const text of lines) if (lines.indexOf(text) < lines.lastIndexOf(text)) equal.add(text);
          // Nothing is lost either: words that never stood twice keep their approval wherever they go.
          if (style !== 'written ids')
            for (const [id, text] of approved)
              if (lines.includes(text) && !equal.has(text))
                expect(tasks.find((task) => task.text === text)?.id).toBe(id);
          for (const at of approve) {
            const task = tasks[at % Math.max(1, tasks.length)];
            // One approval of each text, so that one that moved can be told.
            if (task && ![...approved.values()].includes(task.text)) approved.set(task.id, task.text);
          }
        }
      }),
      { numRuns: 400 },
    );
  });
});
