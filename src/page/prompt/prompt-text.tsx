import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type {
  CompiledLearning,
  CompileReply,
  ConsideredFact,
  ExplainedFact,
} from '../../contracts/replies/compile-reply.js';

/** A compiled prompt line by line. The line under the pointer, else the one in focus, is told to the view. */
export function PromptText(props: {
  readonly rows: readonly PromptRow[];
  /** Colour of a section, by its place in the bar; undefined for none. */
  readonly hueOf: (section: string | undefined) => number | undefined;
  readonly shown: number | undefined;
  readonly onShow: (line: number) => void;
  readonly onPin: (line: number) => void;
}) {
  const { rows, hueOf } = props;
  const [focused, setFocused] = useState(1);
  const list = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => setFocused((line) => Math.min(line, rows.length)), [rows.length]);
  const go = (line: number) => {
    const target = Math.min(rows.length, Math.max(1, line));
    list.current?.querySelector<HTMLElement>(`[data-line="${target}"]`)?.focus();
  };
  return (
    <div
      ref={list}
      class="prompt-text"
      role="listbox"
      aria-label="Lines of the prompt"
      onKeyDown={(event) => {
        const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 20, PageUp: -20 }[event.key];
        const target = event.key === 'Home' ? 1 : event.key === 'End' ? rows.length : undefined;
        if (step === undefined && target === undefined) return;
        event.preventDefault();
        go(target ?? focused + (step ?? 0));
      }}
    >
      {rows.map((row) => {
        const hue = hueOf(row.section);
        return (
          <div
            key={row.number}
            role="option"
            aria-selected={row.number === props.shown}
            data-line={row.number}
            data-row={row.number === focused ? true : undefined}
            tabIndex={row.number === focused ? 0 : -1}
            class={`prompt-line ${linked(row) ? 'prompt-line-linked' : ''} ${row.opens ? 'prompt-line-opens' : ''}`}
            onFocus={() => {
              setFocused(row.number);
              props.onPin(row.number);
            }}
            onMouseEnter={() => props.onShow(row.number)}
          >
            <span class={`prompt-mark ${hue === undefined ? '' : `hue-${hue % 8}`}`} aria-hidden="true" />
            <span class="prompt-number" aria-hidden="true">
              {row.number}
            </span>
            <span class="prompt-words">
              {row.text.trim() === '' ? <span class="visually-hidden">empty line</span> : row.text}
            </span>
            {row.opens ? <span class="prompt-section">{sectionName(row.section)}</span> : null}
          </div>
        );
      })}
    </div>
  );
}

/** Whether a line has an origin of its own. */
function linked({ fact, file, learning, dispatch }: PromptRow): boolean {
  return [fact, file, learning, dispatch].some((each) => each !== undefined);
}

/** The lines of a compiled prompt, each with what it comes from. */

/** One line. Where a fact says it, `fact` is that fact, with its dispatch and event. */
export interface PromptRow {
  /** 1 for the first of the prompt. */
  readonly number: number;
  readonly text: string;
  /** The part of the prompt: one of the budget, or head, prefix, guide and so on. */
  readonly section?: string;
  /** Whether it is the first line of its section. */
  readonly opens: boolean;
  readonly fact?: ExplainedFact;
  readonly file?: string;
  readonly learning?: CompiledLearning;
  readonly task?: string;
  readonly dispatch?: number;
  readonly event?: number;
}

/** The lines of a prompt that was compiled with `explain`. */
export function promptRows(
  reply: Pick<CompileReply, 'prompt' | 'lines' | 'facts' | 'learnings'>,
): PromptRow[] {
  const { prompt, lines = [], facts, learnings = [] } = reply;
  const explained = facts.filter((fact): fact is ExplainedFact => 'id' in fact);
  const rows = prompt
    .split('\n')
    .map((text, index): PromptRow => ({ number: index + 1, text, opens: false }));
  let before: string | undefined;
  for (const { from, to, section, task, file, dispatch, ...origin } of lines) {
    const fact = explained.find(({ id }) => id === origin.fact);
    const learning = learnings.find(({ id }) => id === origin.learning);
    for (let number = from; number <= to; number += 1) {
      const row = rows[number - 1];
      if (row === undefined) continue;
      rows[number - 1] = {
        ...row,
        section,
        opens: section !== before,
        ...(fact !== undefined && { fact }),
        ...(file !== undefined && { file }),
        ...(learning !== undefined && { learning }),
        ...(task !== undefined && { task }),
        ...(dispatch !== undefined && { dispatch }),
        ...(origin.eventSequence !== undefined && { event: origin.eventSequence }),
      };
      before = section;
    }
  }
  return rows;
}

/** What each part of a prompt is, in words. */
const SECTIONS: Readonly<Record<string, readonly [name: string, about: string]>> = {
  prefix: [
    'Stable prefix',
    'The same bytes for a role at every call: a provider can keep it in its prompt cache.',
  ],
  head: ['Head', 'What the prompt is for.'],
  unreadable: ['Unreadable result', 'The last result of the task could not be read: the agent is told why.'],
  ledger: ['Ledger', 'What the results and reviews of this very task came to, as JSON.'],
  required_fixes: ['Required fixes', 'What a review demands of this task. Never left out.'],
  blockers: ['Blockers', 'What keeps the task from going on. Never left out.'],
  places: ['Places of fixes', 'File and suggested fix of each required fix.'],
  replan: ['Replan', 'The task goes in circles: what was tried already.'],
  guide: ['Guide', 'What to do first, by the state of the task.'],
  history: ['Compacted history', 'A summary of the trace of the active intent.'],
  compacted: ['Compacted history', 'A summary of the trace of the active intent.'],
  recent: ['Recent steps', 'The newest steps of the trace of the active intent.'],
  notes: ['Session context', 'What the session knows that matters for the task.'],
  findings: ['Open findings', 'What reviews of other tasks found and no result has settled.'],
  files: [
    'Likely files',
    'Files that the task will likely touch, by past results and the words of the task.',
  ],
  work: ['Related work', 'What was done in tasks like this one.'],
  decisions: ['Decisions and conventions', 'What was agreed in this session.'],
  tests: ['Failing tests', 'Tests that failed when they ran last.'],
  requirements: ['Left to do by other tasks', 'What other tasks require or are blocked by.'],
  facts: ['Also known', 'Other facts that hold words of the task.'],
  rest: ['Less related', 'For the room that is left: what fits the task a little, then the newest.'],
  learnings: ['Learnings', 'What the project has learned, as people accepted it.'],
  left_out: ['Left out', 'What had no room, and the commands that show it.'],
  task: ['Task prompt', 'What the agent is asked to do.'],
  goal: ['Goal', 'What the session is for.'],
  plan: ['Plan', 'How far the plan is.'],
  inbox: ['Inbox', 'Messages that no agent has marked as read.'],
  spec: ['Specification', 'The specification of the session.'],
  tasks: ['Board', 'The tasks of the board.'],
  state: ['Session state', 'How the session stands.'],
  agent_notes: ['Notes of agents', 'What earlier agents noted.'],
  proposals: ['Proposals', 'Learnings that wait for a person.'],
  project: ['Project', 'The project whose learnings the session uses.'],
  roles: ['Results by role', 'How many results each role has returned.'],
  ready: ['Ready tasks', 'Tasks of the board that can begin.'],
  waiting: ['Waiting tasks', 'Tasks of the board that wait for others.'],
  in_progress: ['Tasks in progress', 'Tasks of the board that an agent works on.'],
  blocked: ['Blocked tasks', 'Tasks of the board that are blocked.'],
  completed: ['Completed tasks', 'Tasks of the board that are done.'],
};

/** The name of a part of a prompt, for people. */
export function sectionName(section: string | undefined): string {
  return section === undefined ? 'Template' : (SECTIONS[section]?.[0] ?? section);
}

/** What a part of a prompt is for. */
export function sectionAbout(section: string | undefined): string {
  return section === undefined ? 'Text of the template.' : (SECTIONS[section]?.[1] ?? '');
}

/** Why a fact is not in the prompt. */
export function whyLeft({ left, duplicateOf }: Pick<ConsideredFact, 'left' | 'duplicateOf'>): string {
  switch (left) {
    case 'near-duplicate':
      return duplicateOf === undefined
        ? 'says nearly the same as another'
        : `says nearly the same as ${duplicateOf}`;
    case 'one task':
      return 'its task has enough places';
    case 'held':
      return 'its places were held for findings and conventions';
    case 'likely file':
      return 'a likely file says it already';
    case 'budget':
      return 'no room was left';
    case 'rank':
      return 'others came first';
    default:
      return '';
  }
}

/** What speaks for a fact. */
export function whyChosen({ because, words }: Pick<ConsideredFact, 'because' | 'words'>): string {
  const said = {
    words: 'words of the task',
    file: 'a likely or open file',
    similar: 'a similar result',
    recent: 'room was left for it',
  }[because];
  return words.length === 0 ? said : `${said}: ${words.join(', ')}`;
}
