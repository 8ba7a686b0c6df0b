import {
  type CompileRequestInput,
  compileRequest,
  type DispatchRequest,
} from '../../src/contracts/compile-request.js';
import type { SessionState } from '../../src/memory/session/session-state.js';
import { compilePrompt } from '../../src/prompt/compile-prompt.js';
import { type CompiledAs, DEFAULT_BUDGET, type PromptBudget } from '../../src/prompt/prompt-kind.js';

/** A dispatch prompt taken apart, as a reader would: by its headers alone. */
export interface PromptParts {
  readonly prefix: string;
  readonly head: readonly string[];
  /** That the last result of the task could not be read; empty where it could. */
  readonly unreadable: string;
  readonly answers: readonly string[];
  readonly said: readonly string[];
  /** The delta packet; empty without one. */
  readonly packet: Readonly<Record<string, unknown>>;
  readonly replan: readonly string[];
  readonly guide: string;
  /** The session context by the titles of its sections. */
  readonly notes: Readonly<Record<string, readonly string[]>>;
  /** Of the sections of the session context that are not whole, what the title says of that. */
  readonly shortened: Readonly<Record<string, string>>;
  /** What is left out. */
  readonly leftOut: string;
  readonly taskPrompt: string;
}

const TASK = '\n\nTask prompt:\n';

/** Fails where a section stands twice, out of its order, or is not known. */
export function partsOf({
  prompt,
  messages,
}: Pick<CompiledAs<'dispatch'>, 'prompt' | 'messages'>): PromptParts {
  const prefix = messages?.[0]?.content ?? '';
  if (!prompt.startsWith(`${prefix}\n\n`)) throw new Error('the prompt does not begin with its system text');
  const tail = prompt.slice(prefix.length + 2);
  const end = tail.indexOf(TASK);
  if (end < 0) throw new Error('the prompt holds no task prompt');
  const sections = tail.slice(0, end).split('\n\n');
  const take = (opening: string) =>
    sections[0]?.startsWith(opening) ? (sections.shift() ?? '').split('\n') : [];
  const head = take('Task ');
  const unreadable = take('Unreadable: ');
  const answers = take('Questions of this task:\n');
  const said = take('Said by people and other agents:\n');
  const ledger = take('So far:\n').slice(1);
  const replan = take('Replan: ');
  const guide = take('Guide: ');
  const { notes, shortened } = notesOf(take('[Session Context]\n').slice(1));
  take('[Recent Steps]\n');
  const leftOut = take('Not shown: ');
  if (sections.length > 0) throw new Error(`sections that are none of ours: ${JSON.stringify(sections)}`);
  return {
    prefix,
    head,
    unreadable: unreadable.join('\n'),
    packet: packetOf(ledger),
    answers: answers.slice(1),
    said: said.slice(1),
    replan,
    guide: guide.join('\n'),
    notes,
    shortened,
    leftOut: leftOut.join('\n'),
    taskPrompt: tail.slice(end + TASK.length),
  };
}

/** By the titles of the lines. */
export const FIELDS: Readonly<Record<string, string>> = {
  'Required fixes': 'required_fixes',
  Blockers: 'blockers',
  'Findings of the last review': 'issues',
  'Last review': 'assessment',
  'In the plan': 'plan',
  'Last result': 'summary',
  'First result': 'earlier_summary',
  'Changed files': 'changed_files',
  'Failing tests': 'failing_tests',
  'Passing tests': 'passing_tests',
  'Tests sent back': 'refuted_tests',
  'Follow-ups': 'follow_ups',
};

function packetOf(lines: readonly string[]): Record<string, string | string[]> {
  const packet: Record<string, string | string[]> = {};
  let list: string[] | undefined;
  for (const line of lines) {
    if (line.startsWith('- ')) {
      if (list === undefined) throw new Error(`an entry before any title: ${line}`);
      list.push(line.slice(2));
      continue;
    }
    const [, title = '', text] = /^([A-Z][a-z -]+):(?: (.*))?$/.exec(line) ?? [];
    const field = FIELDS[title];
    if (field === undefined || field in packet)
      throw new Error(`a line of the packet that is none of ours: ${line}`);
    list = text === undefined ? [] : undefined;
    packet[field] =
      list ??
      (/^(Changed files|Passing tests|Tests sent back)$/.test(title)
        ? (text ?? '').split(', ')
        : (text ?? ''));
  }
  return packet;
}

function notesOf(lines: readonly string[]): Pick<PromptParts, 'notes' | 'shortened'> {
  const notes: Record<string, string[]> = {};
  const shortened: Record<string, string> = {};
  let own: string[] | undefined;
  for (const line of lines) {
    const [, files] = /^Perhaps these files: (.*)$/.exec(line) ?? [];
    if (files !== undefined) notes.Perhaps = files.split(', ');
    const [, title, rest] = /^([A-Z][a-z, ]+)(?: \((.*)\))?:$/.exec(line) ?? [];
    if (title !== undefined) {
      own = [];
      notes[title] = own;
      if (rest !== undefined) shortened[title] = rest;
    } else if (files !== undefined) own = undefined;
    else if (own !== undefined) own.push(line);
    else throw new Error(`a line of the session context before any title: ${line}`);
  }
  return { notes, shortened };
}

export function explained(input: CompileRequestInput) {
  return { ...compileRequest.parse(input), explain: true as const };
}

export function dispatchRequest(overrides: Partial<CompileRequestInput> = {}) {
  const asked = { session: 'demo', taskId: '1', taskPrompt: 'Change src/store.ts' };
  const request = explained({ ...asked, ...overrides } as CompileRequestInput);
  if (request.kind !== 'dispatch') throw new Error('a dispatch request was asked for');
  return request;
}

export function roomOf(room: number, maxOutputTokens = 1200): PromptBudget {
  const cap = room + maxOutputTokens;
  return {
    ...DEFAULT_BUDGET,
    caps: { implementer: cap, reviewer: cap, observer: cap },
    maxOutputTokens,
  };
}

/** Compiles, or gives the error that it throws. */
export function compiledOrError(
  state: SessionState,
  request: DispatchRequest,
  budget: PromptBudget,
):
  | { readonly ok: true; readonly compiled: CompiledAs<'dispatch'> }
  | { readonly ok: false; readonly error: unknown } {
  try {
    return { ok: true, compiled: compilePrompt(state, request, budget) };
  } catch (error) {
    return { ok: false, error };
  }
}
