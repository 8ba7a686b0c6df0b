import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { AskError, ask } from '../ask.js';
import { Actions, actor, SendForm } from '../components/act.js';
import { Ago, Button, Tag } from '../components/fields.js';
import { useAsk } from '../use-ask.js';
import type { Tone } from '../words.js';
import { whoText } from './statement-details.js';

/** Lists what needs a person: the first few, until a person asks for all. */
export function NeedsList(props: {
  readonly items: readonly ComponentChildren[];
  /** How many of them a person has settled in this view: they stay, so that it can be taken back. */
  readonly settled: number;
  readonly most: number;
}) {
  const { items, most } = props;
  const [all, setAll] = useState(false);
  if (items.length === 0) return null;
  return (
    <section class="card attention" aria-labelledby="needs-you">
      <div class="card-head">
        <h2 id="needs-you">
          Needs you <span class="quiet figure">{items.length - props.settled}</span>
        </h2>
      </div>
      <ul class="rows">{items.slice(0, all ? undefined : most)}</ul>
      {all || items.length <= most ? null : (
        <p class="card-body">
          <Button small onClick={() => setAll(true)}>
            Show {items.length - most} more
          </Button>
        </p>
      )}
    </section>
  );
}

/** One thing that needs a person. Its text has a block of its own, so that it stands where its script begins. */
export function Need(props: {
  readonly tone: Tone;
  readonly tag: string;
  /** The session or the task in question. */
  readonly of?: ComponentChildren;
  readonly text: ComponentChildren;
  readonly action?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const { tone, tag, of, text, action, children } = props;
  return (
    <li class={`attention-row ${action ? 'attention-acts' : ''}`}>
      <Tag tone={tone}>{tag}</Tag>
      <div class="need-text">
        {of}
        <p>{text}</p>
      </div>
      {action ? <div>{action}</div> : null}
      {children ? <div class="need-more">{children}</div> : null}
    </li>
  );
}

/** Parts our words from those that they quote, such as `task 2 is blocked: ` from the reason: each is read in its direction. */
export function quoted(text: string): string[] {
  return text.split(/(?<=(?:^| · )[^:·]*: )|(?= \(\d+ times\)(?:$| · ))/);
}

/** Keeps an item in its place while a person writes about it or may take an answer back, even if it is settled meanwhile. */
export function useDrafts<Item>(items: readonly Item[], keyOf: (item: Item) => string) {
  const [drafts, setDrafts] = useState<ReadonlyMap<string, { readonly item: Item; readonly at: number }>>(
    new Map(),
  );
  const known = new Set(items.map(keyOf));
  const shown = items.filter((item) => !drafts.has(keyOf(item)));
  for (const { item, at } of [...drafts.values()].toSorted((a, b) => a.at - b.at)) shown.splice(at, 0, item);
  const keep = (item: Item, isDraft: boolean) =>
    setDrafts((before) => {
      const key = keyOf(item);
      if (before.has(key) === isDraft) return before;
      const at = shown.findIndex((other) => keyOf(other) === key);
      return new Map(
        isDraft ? [...before, [key, { item, at }]] : [...before].filter(([other]) => other !== key),
      );
    });
  return { shown, settled: [...drafts.keys()].filter((key) => !known.has(key)).length, keep };
}

/**
 * Answers a question of an agent, or what blocks a task: its later prompts show the answer. If another person was faster, it
 * says who answered what, and offers to replace that. An answer can be taken back where it was given.
 */
export function AnswerForm(props: {
  readonly session: string;
  readonly task: string;
  /** The question; without it the answer is to what blocks the task. */
  readonly question?: string | undefined;
  /** Names the subject for a screen reader. */
  readonly of: string;
  readonly options?: readonly string[] | undefined;
  /** See `useDrafts`. */
  readonly onDraft: (isDraft: boolean) => void;
}) {
  const { session, task, question, of, options = [], onDraft } = props;
  const [given, setGiven] = useState<{ readonly answer: string; readonly ref: string }>();
  const [other, setOther] = useState<{ readonly given: GivenAnswer; readonly answer: string }>();
  const mine = useFact(session, given?.ref);
  const newer = useFact(session, mine?.ended?.by ?? mine?.retracted?.instead);
  const isSent = useRef(false);
  const send = async (answer: string, replaces = '') => {
    const request = { session, task, question, answer, replaces, by: actor() };
    try {
      const { ref } = await ask('tool.blocker-answer', request);
      setGiven({ answer, ref });
      setOther(undefined);
    } catch (error) {
      if (!(error instanceof AskError && error.code === 'conflict')) throw error;
      setOther({ given: error.details as GivenAnswer, answer });
    }
    isSent.current = true;
    onDraft(true);
  };
  const takeBack = async (id: string) => {
    await ask('tool.fact-retract', { session, id, by: actor() });
    setGiven(undefined);
  };
  const keepOther = async () => {
    isSent.current = false;
    setOther(undefined);
  };
  if (given !== undefined && (mine?.retracted === undefined || newer !== undefined))
    return (
      <div class="asked answered" role="status">
        <p>
          You answered “{given.answer}”.{newer && ` Replaced by ${whoText(newer)}: “${newer.object}”.`}
        </p>
        {mine?.closed_at === undefined ? (
          <Actions of={of} actions={[{ verb: 'Take it back', run: () => takeBack(given.ref) }]} />
        ) : null}
      </div>
    );
  if (other !== undefined)
    return (
      <div class="asked" role="alert">
        <p>
          {other.given.by} answered “{other.given.answer}” <Ago at={other.given.at} />. Yours is “
          {other.answer}”.
        </p>
        <Actions
          of={of}
          actions={[
            { verb: 'Replace it', run: () => send(other.answer, other.given.answer) },
            { verb: 'Keep it', run: keepOther },
          ]}
        />
      </div>
    );
  return (
    <SendForm
      {...(question === undefined
        ? { label: 'Say something', verb: 'Say', suggestions: [['Unblock', UNBLOCKED]] }
        : { label: 'Your answer', verb: 'Answer', suggestions: options.map((text) => [text, text]) })}
      of={of}
      onSend={send}
      onDraft={(draft) => onDraft(draft !== '' || isSent.current)}
    />
  );
}

function useFact(session: string, id: string | undefined) {
  return useAsk('tool.fact-show', id === undefined ? null : { session, id }, `facts:${session}`).reply?.fact;
}

/** One click sends this as the person's answer to what blocks a task. */
const UNBLOCKED = 'It is no longer blocked: try again.';

/** The error `conflict` carries the answer that holds. */
interface GivenAnswer {
  readonly by: string;
  readonly answer: string;
  readonly at: string;
}
