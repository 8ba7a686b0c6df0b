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

/** The page on prompts: of two stories, and of the recorded demo session. */

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

/** A task whose prompt must be short. */
const ASKED = {
  taskId: '8.8',
  taskPrompt: 'Bound every wait by a deadline',
  budget: { inputTokens: 420 },
} satisfies Partial<CompileRequestInput>;

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

export function promptsPage(): Written {
  const asked = compileRequest.parse({ session: 'demo', ...ASKED, explain: true });
  const { prompt, lines = [], tokenEstimate } = compilePrompt(demoSession(), asked);
  const table = remarksOf(prompt, lines).map(([line, why]) => `| ${cell(line)} | ${why} |`);
  const page = [
    '## Three prompts',
    'The first lines of each prompt, the text of the role, are left out. They are the same for all prompts of a role, so that a provider can cache them. The last prompt is from a recorded session, 33 results of a project; `--explain` prints such reasons for yours.',
    ...stories(),
    '### A small budget',
    `\`${JSON.stringify(ASKED)}\`: ${tokenEstimate} tokens; ${prefixTokens(prompt, lines)} of them are the text of the role.`,
    ['| line | why |', '|---|---|', ...table].join('\n'),
  ];
  const path = 'docs/explanation/prompts.md';
  return { [path]: endingWith(path, `${page.join('\n\n').trimEnd()}\n`) };
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
