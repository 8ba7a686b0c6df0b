import { readFileSync } from 'node:fs';
import { type CompileRequestInput, compileRequest } from '../../src/contracts/compile-request.js';
import { parseDispatchBody } from '../../src/contracts/dispatch-body.js';
import type { Role } from '../../src/contracts/kinds.js';
import type { PromptLine } from '../../src/contracts/replies/compile-reply.js';
import { RuleBasedFactExtractor } from '../../src/memory/facts/fact-extractor.js';
import { evolve } from '../../src/memory/session/evolve-session.js';
import { emptyState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { recordedEvent } from '../../src/services/extractor/extractor-worker.js';
import { endingWith, ROOT, type Written } from './pages.js';
import { stories } from './stories.js';

/** The page on prompts, and frozen prompts of the recorded demo session and of stories. */

interface Recorded {
  readonly role: Role;
  readonly body: string;
}

function demoSession() {
  const rules = new RuleBasedFactExtractor();
  const state = emptyState('demo');
  const lines = readFileSync(`${ROOT}scripts/demo-session.jsonl`, 'utf8').trimEnd().split('\n');
  for (const [index, line] of lines.entries()) {
    const { role, body }: Recorded = JSON.parse(line);
    const read = parseDispatchBody(Buffer.from(body), role, 1_000_000);
    if (!read.ok) continue;
    const origin = { sequence: index + 1, at: new Date(Date.UTC(2026, 0, 1, 9, index)).toISOString() };
    evolve(state, { sequence: index + 1, event: recordedEvent(origin, read.value, rules) });
  }
  return state;
}

const ASKED: readonly (readonly [title: string, request: Partial<CompileRequestInput>])[] = [
  ['A first task, of which nothing is known', { taskId: '8.1', taskPrompt: 'Design the logo' }],
  [
    'A task that is like earlier ones',
    { taskId: '8.2', taskPrompt: 'Retry rejected dispatches from the command line' },
  ],
  ['A task that names a file', { taskId: '8.3', taskPrompt: 'Split src/workers/prompt-compiler.ts' }],
  ['A task that was sent back', { taskId: '4.2', taskPrompt: 'Make prompt.compile wait for a dispatch' }],
  [
    'The same task, for its reviewer',
    { taskId: '4.2', role: 'reviewer', taskPrompt: 'Make prompt.compile wait for a dispatch' },
  ],
  [
    'A task with an open file',
    { taskId: '8.4', taskPrompt: 'Clean up', hints: { files: ['src/nats/session-log.ts'] } },
  ],
  ['The tests of a module', { taskId: '8.5', taskPrompt: 'Property tests for the fact store' }],
  ['Documentation', { taskId: '8.6', taskPrompt: 'Document the snapshot store in the README' }],
  ['Three facts at most', { taskId: '8.7', taskPrompt: 'Bound every wait by a deadline', maxFacts: 3 }],
  [
    'A small budget',
    { taskId: '8.8', taskPrompt: 'Bound every wait by a deadline', budget: { inputTokens: 420 } },
  ],
];

/** Why a line of a section is in a prompt. */
const WHY: Readonly<Record<string, string>> = {
  head: 'names the task and its round',
  failed: 'failed, so that nobody tries it again',
  ledger: 'what is known of the task itself',
  guide: 'the first step, by what is known of the task',
  findings: 'a finding of another task, by its words or on a likely file',
  files: 'touched by similar tasks, with a score of .3 or more',
  perhaps: 'scores of .15 to .3, on one line',
  decisions: 'a decision or a rule outlives its task',
  facts: 'a fact in words outlives its task',
  tests: 'fails, and has words of the task',
  requirements: 'left to do; shares words with the task or is in a likely file',
  work: 'touched files that this task will likely touch, or shares rare words with it',
  notes: 'data, not instructions',
  left_out: 'says what is left out, and the command that shows it',
  task: 'the task itself, last',
};

/** Frozen prompts, which the page of prompts shows three of. */
const FROZEN = 'test/fixtures/prompts';

export function promptsPage(): Written {
  const state = demoSession();
  const shown = ASKED.map(([title, request]) => {
    const asked = compileRequest.parse({ session: 'demo', ...request, explain: true });
    const { prompt, lines = [], tokenEstimate } = compilePrompt(state, asked);
    const table = remarksOf(prompt, lines).map(([line, why]) => `| ${cell(line)} | ${why} |`);
    return [
      `## ${title}`,
      `\`${JSON.stringify(request)}\`: ${tokenEstimate} tokens; ${prefixTokens(prompt, lines)} of them are the text of the role.`,
      ['| line | why |', '|---|---|', ...table].join('\n'),
    ].join('\n\n');
  });
  const played = stories();
  const three = [...played.slice(0, 2), shown.at(-1) ?? ''].map((each) => each.replace('## ', '### '));
  const page = [
    '## Three prompts',
    'The first lines of each prompt, the text of the role, are left out. They are the same for all prompts of a role, so that a provider can cache them. The last prompt is from the session that `throughline demo` replays, 33 results of a project; `--explain` prints such reasons for yours.',
    ...three,
  ];
  return {
    'docs/explanation/prompts.md': endingWith(
      'docs/explanation/prompts.md',
      `${page.join('\n\n').trimEnd()}\n`,
    ),
    [`${FROZEN}/demo-session.md`]: `# Prompts of the demo session\n\n${shown.join('\n\n')}\n`,
    [`${FROZEN}/stories.md`]: `# Stories\n\n${played.join('\n\n')}\n`,
  };
}

function remarksOf(prompt: string, lines: readonly PromptLine[]): [string, string][] {
  const written = prompt.split('\n');
  return lines.flatMap(({ from, to, section }) =>
    section === 'prefix'
      ? []
      : written.slice(from - 1, to).map((line, at): [string, string] => {
          const isTitle = line.endsWith(':') && !line.startsWith('- ');
          return [line, isTitle && at === 0 && section !== 'task' ? '' : (WHY[section] ?? section)];
        }),
  );
}

function prefixTokens(prompt: string, lines: readonly PromptLine[]): number {
  const prefix = lines.find(({ section }) => section === 'prefix');
  const written = prompt.split('\n').slice((prefix?.from ?? 1) - 1, prefix?.to ?? 0);
  return Math.ceil(written.join('\n').length / 4);
}

function cell(line: string): string {
  return `\`${line.replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}
