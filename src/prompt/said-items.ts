import type { NoteType } from '../contracts/session-meta-events.js';
import { questionKey } from '../ledger/task-ledger.js';
import { isTelling, tokens } from '../memory/search/tokens.js';
import { isForPerson, unread } from '../memory/session/notebook.js';
import { ledgersOf, type SessionState } from '../memory/session/session-state.js';
import { clipText, quoted, withoutEnd } from '../shared/text.js';
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
/** Newest notes, messages and answers that are looked at, and characters of each. */
const MOST_READ = 200;
const MAX_READ = 2000;
/** Words that a note and the task must share, one of them telling. */
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
  const planIds = run?.document.tasks.map(({ id }) => id) ?? [];
  const ids = new Set([...board.tasks.keys(), ...planIds].map((id) => id.toLowerCase()));
  const planned = run?.document.tasks.find(({ id }) => id === taskId)?.text ?? '';
  const words = new Set(tokens([taskPrompt, planned, board.tasks.get(taskId)?.content ?? ''].join('\n')));
  const own = taskId.toLowerCase();
  const names = (text: string) => mentionsIn(text).has(own);
  const isForOthers = (text: string) => !names(text) && [...mentionsIn(text)].some((id) => ids.has(id));
  const messages = unread(notebook)
    .slice(-MOST_READ)
    .filter((message) => !isForOthers(message.content) && !isForPerson(message))
    .slice(-MOST_MESSAGES)
    .map(({ id, content }) => ({ label: `Message ${id}`, text: content }));
  const notes = [...notebook.notes.values()]
    .slice(-MOST_READ)
    .flatMap(({ content, type, updated_at: at }) => {
      const label = LABEL[type];
      return label === undefined ? [] : [{ label, text: content, at }];
    });
  const answers = notebook.answers
    .slice(-MOST_READ)
    .filter(({ task }) => task !== taskId)
    .map(({ task, questions, answer, at }) => ({
      label: `Decided for task ${quoted(task)}`,
      text: `${questions.join(' ')} ${answer}`,
      at,
    }));
  const fitting = [...notes, ...answers]
    .filter(({ text }) => names(text) || shares(words, text))
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, MOST_FITTING);
  return [...messages.reverse(), ...fitting].flatMap(({ label, text }) => {
    const said = clipText(quoted(text), MAX_SAID);
    return said === '' ? [] : { forms: beginnings(said).map((form) => `- ${label}: ${form}`) };
  });
}

const LABEL: { readonly [Type in NoteType]?: string } = { decision: 'Decision', stuck: 'Obstacle' };

/**
 * Returns the ids that a text may name, in lower case: words with a digit, and whole numbers only as in `task 2` or `#2`. A
 * dot at the end of a word is punctuation.
 */
function mentionsIn(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { groups } of text.slice(0, MAX_READ).toLowerCase().matchAll(MENTION)) {
    const id = withoutEnd(groups?.id ?? '');
    if (!/^\d+$/.test(id) || groups?.task !== undefined) found.add(id);
  }
  return found;
}

const MENTION =
  /(?:(?<task>\btask(?!\p{L})[ :#-]{0,3}|#)|(?<![\p{L}\p{N}_.-]))(?<id>(?=[\p{L}_.-]{0,40}\p{N})[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63})/gu;

function shares(words: ReadonlySet<string>, text: string): boolean {
  const shared = tokens(text.slice(0, MAX_READ)).filter((word) => words.has(word));
  return shared.length >= SHARED_WORDS && shared.some(isTelling);
}
