import type { NoteType } from '../contracts/session-meta-events.js';
import { questionKey } from '../ledger/task-ledger.js';
import { tokens } from '../memory/search/tokens.js';
import { unread } from '../memory/session/notebook.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { clipText, quoted } from '../shared/text.js';
import { beginnings, type Item } from './prompt-items.js';

/**
 * The words of people and other agents to the agent of a task: answers to its questions, unread messages, and the notes
 * and answers of other tasks that fit it. Newest first.
 */

const MAX_ANSWER = 600;
const MAX_SAID = 400;
const MOST_ANSWERS = 10;
const MOST_MESSAGES = 5;
const MOST_FITTING = 5;
/** Words that a note and the task must share. */
const SHARED_WORDS = 2;

/** The questions of a task, each with its answer; those without one name the default that the work goes on with. */
export function answerItems(state: SessionState, taskId: string): Item[] {
  const open = ledgersOf(state).get(taskId)?.questions ?? [];
  const latest = new Map(
    state.notebook.answers
      .filter(({ task }) => task === taskId)
      .map((given) => [given.questions.map(questionKey).join('\n'), given]),
  );
  const given = [...latest.values()].slice(-MOST_ANSWERS).map(({ questions, answer, by }) => {
    const asked = questions.map((text) => JSON.stringify(quoted(text))).join(' and ');
    return `- Asked: ${asked} Answered by ${quoted(by)}: ${JSON.stringify(clipText(quoted(answer), MAX_ANSWER))}`;
  });
  const waiting = open.map(({ text, options = [], default: usual }) => {
    const choice = options.length === 0 ? '' : ` (${options.map(quoted).join(' | ')})`;
    const until = usual === undefined ? '' : `; go on with ${JSON.stringify(quoted(usual))}`;
    return `- Asked: ${JSON.stringify(quoted(text))}${choice} No answer yet${until}.`;
  });
  return [...given, ...waiting].map((line) => ({ forms: [line] }));
}

/** Messages that no one has read, and decisions, obstacles and answers that fit the task. */
export function saidItems(state: SessionState, taskId: string, taskPrompt: string): Item[] {
  const { notebook, board, run } = state;
  const ids = new Set([...board.tasks.keys(), ...(run?.document.tasks.map(({ id }) => id) ?? [])]);
  const planned = run?.document.tasks.find(({ id }) => id === taskId)?.text ?? '';
  const words = new Set(tokens([taskPrompt, planned, board.tasks.get(taskId)?.content ?? ''].join('\n')));
  const isForOthers = (text: string) => [...ids].some((id) => id !== taskId && names(text, id));
  const messages = unread(notebook)
    .filter(({ content }) => names(content, taskId) || !isForOthers(content))
    .slice(-MOST_MESSAGES)
    .map(({ id, content }) => ({ label: `Message ${id}`, text: content }));
  const notes = [...notebook.notes.values()].flatMap(({ content, type, updated_at: at }) => {
    const label = LABEL[type];
    return label === undefined ? [] : [{ label, text: content, at }];
  });
  const answers = notebook.answers
    .filter(({ task }) => task !== taskId)
    .map(({ task, questions, answer, at }) => ({
      label: `Decided for task ${quoted(task)}`,
      text: `${questions.join(' ')} ${answer}`,
      at,
    }));
  const fitting = [...notes, ...answers]
    .filter(({ text }) => names(text, taskId) || shares(words, text))
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, MOST_FITTING);
  return [...messages.reverse(), ...fitting].flatMap(({ label, text }) => {
    const said = clipText(quoted(text), MAX_SAID);
    return said === '' ? [] : { forms: beginnings(said).map((form) => `- ${label}: ${form}`) };
  });
}

const LABEL: { readonly [Type in NoteType]?: string } = { decision: 'Decision', stuck: 'Obstacle' };

/** True if a text names a task: by an id with a letter or a dot as a word of its own, by a number only as `task 2` or `#2`. */
function names(text: string, id: string): boolean {
  const [said, word] = [text.toLowerCase(), id.toLowerCase()];
  for (let at = said.indexOf(word); at >= 0; at = said.indexOf(word, at + 1)) {
    const before = said.slice(Math.max(0, at - MAX_BEFORE), at);
    const after = said.slice(at + word.length, at + word.length + 2);
    if (/^(?:[\p{L}\p{N}_-]|\.\d)/u.test(after)) continue;
    if (/^\d+$/.test(word) ? /(?:\btask[ :#-]{0,3}|#)$/.test(before) : !/[\p{L}\p{N}_.-]$/u.test(before))
      return true;
  }
  return false;
}

/** Characters before an id that may be `task: #`. */
const MAX_BEFORE = 8;

function shares(words: ReadonlySet<string>, text: string): boolean {
  return new Set(tokens(text).filter((word) => words.has(word))).size >= SHARED_WORDS;
}
