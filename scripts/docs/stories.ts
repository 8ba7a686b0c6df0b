import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import type { RoleResult } from '../../src/contracts/results.js';
import { readDocument } from '../../src/ledger/read-plan.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { implementer, recorded, reviewer } from '../../test/support/builders.js';
import { Played } from '../../test/support/played.js';
import { FIX_ROUNDS, METRICS_PLAN, PORT, type Rounds } from '../../test/support/stories.js';

/** Two stories, of which test/e2e/story-answer.test.ts plays the first. */

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

  follow(text: string): this {
    const read = readDocument(text, 'tasks.md', 0);
    if (!read.ok) throw new Error(read.message);
    const data = { spec: 'demo', source: { kind: 'document' as const }, document: read.document };
    this.shown.push('throughline plan follow tasks.md -s demo');
    return this.fold({ type: 'run.initialized', data });
  }

  /** The lines of a prompt that come after the text of the role, from one that begins so, up to one that begins so. */
  prompt(task: Partial<CompileRequestInput>): string {
    const request = compileRequest.parse({ session: 'demo', ...task, include: ['messages'] });
    if (request.kind !== 'dispatch') throw new Error('the prompt of a task is asked for');
    const { messages } = compilePrompt(this.state, request);
    return messages?.[1]?.content ?? '';
  }
}

function story(
  title: string,
  situation: string,
  { shown }: Pick<Story, 'shown'>,
  ...prompts: [string, string][]
): string {
  const parts = prompts.map(([what, prompt]) => `${what}\n\n\`\`\`text\n${prompt}\n\`\`\``);
  return [`### ${title}`, situation, `\`\`\`sh\n${shown.join('\n')}\n\`\`\``, ...parts].join('\n\n');
}

function answer(): string {
  const played = new Story().follow(METRICS_PLAN);
  const blockers = [PORT];
  played.publish(implementer({ status: 'blocked', summary: 'Metrics need a port', blockers }));
  const asked = { taskId: '1', taskPrompt: 'Serve metrics' };
  played.after('blocker-answer', { task: '1', answer: 'Use 9464.', by: 'anna', person: true });
  played.shown.push('throughline answer 1 "Use 9464." -s demo --by anna');
  return story(
    'An answer',
    'The agent of task 1 needs a decision, and asks. `throughline status` and `session ls` say that a person is needed; anna answers.',
    // Another page follows a plan in the session of that name.
    { shown: played.shown.map((line) => line.replace('-s demo', '-s metrics')) },
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

/** The stories, each with its commands and the prompt that follows. */
export const stories = (): readonly string[] => [
  answer(),
  rounds(
    'Fix rounds',
    'A review sends task 1 back with two findings. The second review has one small finding in another file, so the work makes progress.',
    'The prompt asks for a fix of what is left, and says what was done before:',
    FIX_ROUNDS,
  ),
];
