import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import type { RoleResult } from '../../src/contracts/results.js';
import { readDocument } from '../../src/ledger/read-plan.js';
import { demandsOf, dueProposals } from '../../src/memory/learnings/harvest.js';
import type { LearningsInPrompt } from '../../src/memory/learnings/learnings-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer } from '../../test/support/builders.js';
import { observed, PROJECT, Project } from '../../test/support/learning-project.js';
import { Played } from '../../test/support/played.js';
import {
  DEMAND,
  FIX_ROUNDS,
  HAND_IN,
  LEXER_PLAN,
  LEXER_REQUIREMENTS,
  METRICS_PLAN,
  PORT,
  REAL_LOOP,
  type Rounds,
} from '../../test/support/stories.js';

/** Stories, of which test/e2e/story-*.test.ts play two. */

class Story extends Played {
  readonly shown: string[] = [];

  /** Folds results, and lists their bodies. */
  publish(...results: RoleResult[]): this {
    for (const returned of results) {
      this.foldWhole(recorded(this.events.length + 1, returned));
      this.shown.push(
        `throughline publish ${returned.role} -s demo <<< '${JSON.stringify(returned.result)}'`,
      );
    }
    return this;
  }

  follow(text: string, requirements?: string): this {
    const read = readDocument(text, 'tasks.md', 0, { requirements });
    if (!read.ok) throw new Error(read.message);
    const data = { spec: 'demo', source: { kind: 'document' as const }, document: read.document };
    this.shown.push('throughline plan follow tasks.md -s demo');
    return this.fold({ type: 'run.initialized', data });
  }

  /** The lines of a prompt that come after the text of the role, from one that begins so, up to one that begins so. */
  prompt(asked: Partial<CompileRequestInput>, learnings?: LearningsInPrompt): string {
    const request = compileRequest.parse({ session: 'demo', ...asked, include: ['messages'] });
    if (request.kind !== 'dispatch') throw new Error('the prompt of a task is asked for');
    const { messages } = compilePrompt(this.state, request, undefined, learnings);
    return messages?.[1]?.content ?? '';
  }
}

function story(title: string, situation: string, { shown }: Story, ...prompts: [string, string][]): string {
  const parts = prompts.map(([what, prompt]) => `${what}\n\n\`\`\`text\n${prompt}\n\`\`\``);
  return [`## ${title}`, situation, `\`\`\`sh\n${shown.join('\n')}\n\`\`\``, ...parts].join('\n\n');
}

function answer(): string {
  const played = new Story().follow(METRICS_PLAN);
  const blockers = [PORT];
  played.publish(implementer({ status: 'blocked', summary: 'Metrics need a port', blockers }));
  const asked = { taskId: '1', taskPrompt: 'Serve metrics' };
  played.after('blocker-answer', { task: '1', answer: 'Use 9464.', by: 'anna' });
  played.shown.push('throughline answer 1 "Use 9464." -s demo --by anna');
  return story(
    'An answer',
    'The agent of task 1 needs a decision, and asks. `throughline status`, `session ls` and `log -f` say that a person is needed; anna answers.',
    played,
    ['The next prompt of task 1 has the question and the answer:', played.prompt(asked)],
  );
}

function rounds(title: string, situation: string, what: string, all: Rounds): string {
  const played = new Story();
  for (const [summary, review] of all)
    played.publish(implementer({ summary, files_modified: ['src/pool.ts'] }), reviewer(review));
  return story(title, situation, played, [
    what,
    played.prompt({ taskId: '1', taskPrompt: 'Write the pool' }),
  ]);
}

function plan(): string {
  const played = new Story().follow(LEXER_PLAN, LEXER_REQUIREMENTS);
  return story(
    'A plan with bodies',
    'The plan says in bullets and fields how a task is to be done, and `requirements.md` beside it has the text of its requirements. The prompt is asked for by the id of the task alone.',
    played,
    ["The prompt ends with the plan's own words, each once:", played.prompt({ taskId: '2' })],
  );
}

function learnings(): string {
  const project = new Project();
  const first = new Story();
  for (const task_id of ['1', '2']) {
    const review = reviewer({ task_id, required_fixes: [DEMAND] });
    first.publish(implementer({ task_id }), review);
    const demands = demandsOf(PROJECT, review.result);
    project.happens(observed(first.events.length, demands, { task: task_id }));
    for (const due of dueProposals(
      project.state,
      demands.map(({ id }) => id),
      2,
    ))
      project.happens(due);
  }
  const [id = ''] = project.state.entries.keys();
  project.does('proposal.accept', { project: PROJECT, id, by: 'anna' });
  first.shown.push(`throughline learning accept ${id} --project shop --by anna`);
  const ranked = [...project.state.active.values()].map((learning) => ({ score: 1, learning }));
  const known = { method: 'lexical', ranked, total: ranked.length, pending: [], sequence: 1 } as const;
  const asked = { taskId: '9', taskPrompt: HAND_IN };
  return story(
    'Two sessions, and what the first one taught',
    'Reviewers ask for the same in two tasks, so it becomes a proposal, and anna accepts it. A later session of the project starts without facts.',
    first,
    ['A prompt of the later session has the learning:', new Story().prompt(asked, known)],
  );
}

/** The stories, each with its commands and the prompt that follows. */
export const stories = (): readonly string[] => [
  answer(),
  rounds(
    'Fix rounds',
    'A review sends task 1 back with two findings. The second review has one small finding in another file, so the work makes progress.',
    'The prompt asks for a fix of what is left, and says what was done before:',
    FIX_ROUNDS,
  ),
  rounds(
    'A loop',
    'Three reviews find the same leak. That is repetition: the task makes no progress.',
    'The prompt says what was tried, and why each attempt was refused:',
    REAL_LOOP,
  ),
  plan(),
  learnings(),
];
