import type { Refusal } from '../../../contracts/event.js';
import { RELATIONS } from '../../../contracts/relations.js';
import type { ToolArguments } from '../../../contracts/requests.js';
import type { NoteType } from '../../../contracts/session-meta-events.js';
import { questionKey, type TaskLedger } from '../../../ledger/task-ledger.js';
import { defined } from '../../../shared/collections.js';
import { nearIdsHint } from '../../../shared/nearest-name.js';
import { named, oneSpelling } from '../../../shared/text.js';
import { recordedScope } from '../../facts/fact-extractor.js';
import { isSameScope, ONLY_A_PERSON, outranks, refusalOf, type SessionFact } from '../../facts/fact-types.js';
import { factOfId } from '../../facts/found-facts.js';
import { contrasts } from '../../facts/statements.js';
import { optionNamed } from '../../traces/answers.js';
import { idInPlan } from '../charter.js';
import { isForPerson, notesOf, statementOf, unread } from '../notebook.js';
import { answersOf, asksOf, factsOf, ledgersOf, type SessionState } from '../session-state.js';
import {
  answer,
  append,
  type Decision,
  full,
  fullText,
  MOST,
  type Reply,
  refuse,
  resolveId,
  speakerOf,
  stillThere,
  workedIn,
} from './session-decision.js';

const GO_ON = 'go on in a new session';
const FEWER_NOTES = 'delete outdated ones with note-delete';

/** A labelled line says its type, as in the message of an agent. */
const LABELLED = /^(?<label>decided|rule|found|failed)\s*[:：]\s*(?<content>\S[\s\S]*)$/i;
const TYPE_OF: Readonly<Record<string, NoteType>> = { decided: 'decision', rule: 'rule', failed: 'stuck' };

export function addNote(
  state: SessionState,
  { content: whole, type: chosen, by: named, person, ...scope }: ToolArguments<'note-add'>,
): Decision {
  const { label = '', content = whole } = (chosen === 'learning' && LABELLED.exec(whole)?.groups) || {};
  const type = TYPE_OF[label.toLowerCase()] ?? chosen;
  const number = state.notebook.lastNote + 1;
  const [id, ref] = [`NOT-${number}`, `N${number}`];
  const by = person && speakerOf({ by: named, person });
  const holdsIn = recordedScope(scope);
  const fact = {
    ...statementOf(ref, type, content),
    ...(by !== undefined && { origin: 'person' as const }),
    ...holdsIn,
  };
  const inWords = factsOf(state).inWordsOf({ ...fact, sourceTaskId: ref });
  const known = inWords.find(
    (older) =>
      older.validTo === undefined &&
      oneSpelling(older.note?.content ?? '') === oneSpelling(content) &&
      !outranks(fact, older) &&
      isSameScope(fact, older),
  );
  if (known?.note !== undefined) return answer(showingNote(known.note.id));
  const notes = notesOf(state);
  const refusal =
    withdrawn(person, inWords) ??
    full('notes', notes.size, MOST.notes, FEWER_NOTES) ??
    fullText('notes', notes.values(), content, FEWER_NOTES);
  if (refusal !== undefined) return refusal;
  const found = contrasts(fact, ref, factsOf(state).getValid());
  const ends = found.length > 0 ? found : undefined;
  const data = defined({ note: id, content, type, by, ends, ...holdsIn, ...workedIn(state) });
  const { maxFacts: keeps } = state.limits;
  return append({ type: 'note.added', data }, (now) => ({
    ...showingNote(id)(now),
    ...(factsOf(now).living() >= keeps && { keeps }),
  }));
}

/** Refuses words of an agent that a person has retracted, until a person states them again. */
function withdrawn(person: true | undefined, inWords: readonly SessionFact[]): Refusal | undefined {
  const before = inWords.find(({ retracted }) => retracted !== undefined);
  if (before === undefined || inWords.some(({ validTo }) => validTo === undefined)) return undefined;
  const why = refusalOf(person, before);
  return why === undefined ? undefined : refuse('conflict', why, { id: before.ref });
}

export function editNote(state: SessionState, { id, content, type, person }: ToolArguments<'note-edit'>) {
  if (content === undefined && type === undefined)
    return refuse('schema_invalid', 'content: give content, type or both', { fields: ['content'] });
  const notes = notesOf(state);
  const resolved = noteIn(state, id, person);
  if ('refusal' in resolved) return resolved.refusal;
  const note = resolved.found.id;
  const others = [...notes.values()].filter(({ id }) => id !== note);
  const edited = statementOf(note, type ?? resolved.found.type, content ?? resolved.found.content);
  const refusal =
    withdrawn(person, factsOf(state).inWordsOf({ ...edited, sourceTaskId: note })) ??
    (content === undefined ? undefined : fullText('notes', others, content, FEWER_NOTES));
  if (refusal !== undefined) return refusal;
  const data = defined({ note, content, type });
  return append({ type: 'note.edited', data }, showingNote(note));
}

export function deleteNote(state: SessionState, { id, person }: ToolArguments<'note-delete'>): Decision {
  const resolved = noteIn(state, id, person);
  if ('refusal' in resolved) return resolved.refusal;
  const note = resolved.found.id;
  const data = { note, by: speakerOf({ person }), ...(person && { person }) };
  return append({ type: 'note.deleted', data }, () => ({
    note: null,
    deleted: note,
  }));
}

export function addMessage(
  state: SessionState,
  { content, ...speaker }: ToolArguments<'inbox-add'>,
): Decision {
  const { inbox } = state.notebook;
  const unreadCount = unread(state.notebook).length;
  const refusal =
    full('unread messages', unreadCount, MOST.unread, 'mark some as read with inbox-mark-read') ??
    full('messages', inbox.size, MOST.messages, GO_ON) ??
    fullText('messages', inbox.values(), content, GO_ON);
  if (refusal !== undefined) return refusal;
  const id = `MSG-${state.notebook.lastMessage + 1}`;
  return append(
    { type: 'inbox.added', data: { message: id, content, by: speakerOf(speaker) } },
    showingMessage(id),
  );
}

export function markRead(
  state: SessionState,
  { id, unread, person }: ToolArguments<'inbox-mark-read'>,
): Decision {
  const resolved = resolveId(state.notebook.inbox, id, 'message', 'MSG');
  if ('refusal' in resolved) return resolved.refusal;
  const message = resolved.found;
  // A retrying agent marks it twice: no event, the same answer.
  if (message.read !== unread) return answer(showingMessage(message.id));
  if (!person && isForPerson(message))
    return refuse('conflict', `${message.id} is for a person: ${ONLY_A_PERSON}`, { id });
  const data = { message: message.id, ...(unread && { unread }) };
  return append({ type: 'inbox.read', data }, showingMessage(message.id));
}

/**
 * Answers what a task asked: the question that is named, else all of its newest result, else what blocks the task, else those
 * of earlier results, else what was answered last. The same answer again changes nothing.
 */
export function answerBlocker(state: SessionState, args: ToolArguments<'blocker-answer'>): Decision {
  const { task: asIs, answer: typed, question: words, replaces, ...speaker } = args;
  const statement = questionOf(state, asIs);
  const id = statement?.sourceTaskId ?? idInPlan(state.run, asIs);
  const question = statement?.object ?? words;
  const ledgers = ledgersOf(state);
  // A task of a plan may be named 2: the number of a board task counts only without a result of that name.
  const onTheBoard = ledgers.has(id) ? undefined : resolveId(state.board.tasks, id, 'task', 'TAS');
  const task = onTheBoard !== undefined && 'found' in onTheBoard ? onTheBoard.found.id : id;
  const ledger = ledgers.get(task);
  const waiting = questionsIn(ledger, statement);
  const all = asksOf(state, task, ledger).map(({ text }) => text);
  // A question of an earlier result is answered by name, or once the newest result waits for nothing.
  const withEarlier = ledger !== undefined && (question !== undefined || waiting.length === 0);
  const open = withEarlier ? [...new Set([...waiting, ...all])] : waiting;
  const latest = ledger?.questions ?? [];
  if (question === undefined && latest.length > 1)
    return refuse(
      'conflict',
      `task ${task} has ${latest.length} open questions: ${named(
        latest.map(({ text }) => JSON.stringify(text)),
        5,
      )}; name one with --question or by its id`,
      { task },
    );
  const isMeant = (text: string) =>
    question === undefined || questionKey(text).startsWith(questionKey(question));
  const answers = answersOf(state);
  const given = answers.filter((earlier) => earlier.task === task);
  const last = given.at(-1);
  const replaced = open.length === 0 ? (last?.questions ?? []) : [];
  const answered = question === undefined ? replaced : given.flatMap((earlier) => earlier.questions);
  const questions = [...new Set([...open, ...answered])].filter(isMeant);
  const { questions: asking = [] } = state.dispatches.current().ledgers.get(task) ?? {};
  const options = asking.flatMap((each) => (questions.includes(each.text) && each.options) || []);
  const text = optionNamed(questions.join(' '), options, typed) ?? typed;
  const reply = showingAnswer(task, text, options.includes(text) ? [] : options);
  const before = given.findLast((earlier) => earlier.questions.some((text) => questions.includes(text)));
  if ((open.length === 0 || question !== undefined) && before?.answer === text) return answer(reply);
  const isMine = before?.by === speakerOf(speaker);
  const isOfPerson = speaker.person && before?.agent === undefined;
  if (before !== undefined && !isMine && (replaces === undefined ? isOfPerson : before.answer !== replaces))
    return refuse(
      'conflict',
      `${before.by} answered ${JSON.stringify(before.answer)}: --replace, or that answer as replaces, replaces it`,
      { task, by: before.by, answer: before.answer, at: before.at },
    );
  if (!speaker.person && before !== undefined && before.agent === undefined)
    return refuse(
      'conflict',
      `${before.by} answered ${JSON.stringify(before.answer)}: a person's answer is replaced by a person alone, with "throughline answer ${task}"`,
      { task },
    );
  if (questions.length === 0) {
    const what = question === undefined ? '' : ` ${JSON.stringify(question)}`;
    const texts = open.map((text) => JSON.stringify(text));
    const others = named(texts, 5);
    const nothing =
      (ledger === undefined ? noQuestion(state, asIs) : undefined) ??
      `task ${task} has no open question${what}${others === '' ? '' : `; open: ${others}`}`;
    return refuse('not_found', `${nothing}. To tell other tasks, add a note of type decision`, { task });
  }
  const stored = answers.map(({ answer }) => ({ content: answer }));
  const refusal =
    full('answers', answers.length, MOST.answers, GO_ON) ?? fullText('answers', stored, text, GO_ON);
  if (refusal !== undefined) return refusal;
  const onBoard = state.board.tasks.get(task);
  // A task that someone blocked by hand stays blocked.
  const isBlockedByResult = onBoard?.status === 'blocked' && onBoard.result !== undefined;
  const unblocks = isBlockedByResult && waiting.every(isMeant);
  const data = {
    ref: `N${state.notebook.lastNote + 1}`,
    task,
    questions: [...questions],
    answer: text,
    by: speakerOf(speaker),
    ...(!speaker.person && { agent: true as const }),
    ...(unblocks && { unblocks: true as const }),
  };
  return append({ type: 'question.answered', data }, reply);
}

function showingAnswer(task: string, text: string, options: readonly string[]): Reply {
  return (state) => {
    const statements = factsOf(state).statements();
    const fact = statements.findLast(({ answer }) => answer?.task === task && answer.answer === text);
    const others = options.length > 0 && { options };
    return { answer: stillThere(fact?.answer, task), ref: fact?.ref, ...others };
  };
}

/** Says of the id of a statement, such as `M7`, that it asks nothing or does not exist; undefined for another id. */
function noQuestion(state: SessionState, id: string): string | undefined {
  if (!/^[mn]\d/i.test(id)) return undefined;
  const facts = factsOf(state).all();
  if ('fact' in factOfId(facts, id)) return `${id} asks nothing`;
  const near = nearIdsHint(
    id,
    facts.flatMap(({ ref }) => ref ?? []),
  );
  return `no statement ${id}; "throughline facts ${state.session}" lists them${near}`;
}

/** Returns the question with this id, such as `M9`, or hash, also one that has ended; a task may have such a name. */
function questionOf(state: SessionState, id: string): SessionFact | undefined {
  if (!/^(?:m\d|[0-9a-f]{8,16}$)/i.test(id) || ledgersOf(state).has(id)) return undefined;
  const fact = factOfId(factsOf(state).all(), id);
  return 'fact' in fact && fact.fact.relation === RELATIONS.asks ? fact.fact : undefined;
}

/** Returns the open questions of a task's newest result, in their original wording; of a conversation only the named one. */
function questionsIn(ledger: TaskLedger | undefined, statement: SessionFact | undefined): readonly string[] {
  if (ledger === undefined) return statement?.validTo === undefined && statement ? [statement.object] : [];
  const { questions = [], answers = [], blockers, summary, last } = ledger;
  const open = questions.map(({ text }) => text);
  if (open.length > 0 || last.verdict !== 'blocked') return open;
  return blockers.length > 0 || summary === undefined || answers.length > 0 ? blockers : [summary];
}

/** Finds a note to change, which an agent may not if a person wrote it. The statement `N7` is the note `NOT-7`. */
function noteIn(state: SessionState, id: string, person: true | undefined) {
  const resolved = resolveId(notesOf(state), id.replace(/^n(?=\d)/i, ''), 'note', 'NOT');
  if ('refusal' in resolved) return resolved;
  const fact = factsOf(state)
    .statements()
    .find(({ note }) => note?.id === resolved.found.id);
  const why = fact && refusalOf(person, fact);
  return why === undefined ? resolved : { refusal: refuse('conflict', why, { id }) };
}

function showingNote(id: string): Reply {
  return (state) => ({ note: stillThere(notesOf(state).get(id), id) });
}

function showingMessage(id: string): Reply {
  return ({ notebook }) => ({ message: stillThere(notebook.inbox.get(id), id) });
}
