import { assertNever, type ThroughlineError } from '../../contracts/errors.js';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import { sameText } from '../../memory/learnings/learning-text.js';
import { decisionText, shortId } from '../show-learning.js';

/**
 * The state machine of a review, pure: `loading` a proposal, `choosing` what becomes of it, `editing` its text,
 * `sending` a decision, and at last `over`. Each decision is sent before the next proposal is shown, so that a review
 * may end at any moment: what was decided stays decided, the rest stays pending.
 */
export interface Review {
  /** Ids of the proposals that were pending at the start. */
  readonly queue: readonly string[];
  /** Place of the current one, from 0. */
  readonly at: number;
  readonly phase: Phase;
  /** Messages to show on entering this state. */
  readonly said: readonly Said[];
  readonly tally: Tally;
}

export type Phase =
  | { readonly kind: 'loading' }
  /** `draft`: what was written and refused, for the next edit to begin with. */
  | { readonly kind: 'choosing'; readonly shown: ProposalView; readonly draft?: string | undefined }
  | { readonly kind: 'editing'; readonly shown: ProposalView; readonly text: string }
  | { readonly kind: 'sending'; readonly shown: ProposalView; readonly decision: ReviewDecision }
  /** Ended: with a signal's exit code, by a fault, or as it should. */
  | { readonly kind: 'over'; readonly exitCode?: number; readonly fault?: ThroughlineError };

type PhaseOf<Kind extends Phase['kind']> = Extract<Phase, { kind: Kind }>;

export type ReviewDecision =
  | { readonly kind: 'accepted' | 'merged' | 'separate' | 'rejected' }
  | { readonly kind: 'edited'; readonly content: string };

export type Said =
  | { readonly kind: 'proposal' | 'evidence'; readonly shown: ProposalView }
  | { readonly kind: 'help'; readonly shown: ProposalView }
  | { readonly kind: 'done' | 'notice' | 'trouble'; readonly text: string };

/** Counts of decisions; `elsewhere`: decided meanwhile by someone else. */
interface Tally {
  readonly accepted: number;
  readonly merged: number;
  readonly rejected: number;
  readonly edited: number;
  readonly skipped: number;
  readonly elsewhere: number;
}

export type ReviewEvent =
  | { readonly kind: 'loaded' | 'answered'; readonly reply: ProposalView }
  | { readonly kind: 'refused'; readonly error: ThroughlineError }
  | { readonly kind: 'key'; readonly key: string }
  /** The text that an editor was left with; undefined when it was left without one. */
  | { readonly kind: 'text'; readonly text: string | undefined }
  | { readonly kind: 'interrupted'; readonly exitCode: number };

export function startReview(queue: readonly string[]): Review {
  const tally = { accepted: 0, merged: 0, rejected: 0, edited: 0, skipped: 0, elsewhere: 0 };
  return {
    queue,
    at: 0,
    phase: queue.length === 0 ? { kind: 'over' } : { kind: 'loading' },
    said: [],
    tally,
  };
}

/** Returns the next state. An event that does not fit the phase, such as a late answer, is ignored. */
export function step(review: Review, event: ReviewEvent): Review {
  const { phase } = review;
  if (phase.kind === 'over') return review;
  if (event.kind === 'interrupted') return interrupted(review, event.exitCode);
  switch (phase.kind) {
    case 'loading':
      if (event.kind === 'loaded') return loaded(review, event.reply);
      return event.kind === 'refused' ? to(review, { kind: 'over', fault: event.error }) : review;
    case 'choosing':
      return event.kind === 'key' ? chosen(review, phase, actionOf(event.key)) : review;
    case 'editing':
      return event.kind === 'text' ? written(review, phase.shown, event.text) : review;
    case 'sending':
      if (event.kind === 'answered') return answered(review, phase.decision, event.reply);
      return event.kind === 'refused' ? refused(review, phase, event.error) : review;
    default:
      return assertNever(phase);
  }
}

/** True if a proposal with a near-duplicate may be kept beside it. */
export function maySeparate({ proposal, similar }: ProposalView): boolean {
  return similar !== null && !sameText(proposal.content, similar.content);
}

/** Proposals of this review that nobody has decided on. */
export function left({ queue, tally }: Review): number {
  const { accepted, merged, rejected, elsewhere } = tally;
  return queue.length - accepted - merged - rejected - elsewhere;
}

function loaded(review: Review, shown: ProposalView): Review {
  if (shown.proposal.status !== 'pending') return elsewhere(review, shown);
  return to(review, { kind: 'choosing', shown }, { kind: 'proposal', shown });
}

function chosen(review: Review, { shown, draft }: PhaseOf<'choosing'>, action: Action | undefined): Review {
  const { similar } = shown;
  const stay = (...said: Said[]) => to(review, { kind: 'choosing', shown, draft }, ...said);
  const send = (decision: ReviewDecision) => to(review, { kind: 'sending', shown, decision });
  switch (action) {
    case 'accept':
      return similar === null ? send({ kind: 'accepted' }) : stay(trouble(duplicateText(shown)));
    case 'merge':
      return similar === null ? stay(trouble('no learning says nearly the same')) : send({ kind: 'merged' });
    case 'separate':
      if (similar === null) return stay(trouble('no learning says nearly the same: a accepts it'));
      return maySeparate(shown) ? send({ kind: 'separate' }) : stay(trouble(duplicateText(shown)));
    case 'reject':
      return send({ kind: 'rejected' });
    case 'edit':
      return to(review, { kind: 'editing', shown, text: draft ?? shown.proposal.content });
    case 'skip':
      return next(count(review, 'skipped'), { kind: 'notice', text: 'skipped, still pending' });
    case 'evidence':
      return stay({ kind: 'evidence', shown });
    case 'quit':
      return to(review, { kind: 'over' });
    case 'help':
      return stay({ kind: 'help', shown });
    case undefined:
      return stay(trouble('no such key: ? lists them'));
    default:
      return assertNever(action);
  }
}

function written(review: Review, shown: ProposalView, text: string | undefined): Review {
  const content = text?.trim() ?? '';
  if (content === '' || content === shown.proposal.content) {
    return to(review, { kind: 'choosing', shown }, { kind: 'notice', text: 'not changed' });
  }
  return to(review, { kind: 'sending', shown, decision: { kind: 'edited', content } });
}

function answered(review: Review, decision: ReviewDecision, shown: ProposalView): Review {
  if (decision.kind === 'edited') {
    // Edited while another person accepted it: the learning was changed, and there is nothing left to decide.
    if (shown.proposal.status !== 'pending') return elsewhere(count(review, 'edited'), shown);
    return to(count(review, 'edited'), { kind: 'choosing', shown }, { kind: 'proposal', shown });
  }
  const kind = decision.kind === 'separate' ? 'accepted' : decision.kind;
  const into = shown.proposal.mergedInto;
  const text =
    into === undefined
      ? decision.kind === 'separate'
        ? 'accepted, both kept'
        : kind
      : `merged into ${shortId(into)}`;
  return next(count(review, kind), { kind: 'done', text });
}

function refused(review: Review, { shown, decision }: PhaseOf<'sending'>, error: ThroughlineError): Review {
  const said = error.code === 'already_decided' ? [] : [trouble(`${error.message} (${error.code})`)];
  // Another person has decided, or a learning that says nearly the same has come or gone: see what is there now.
  const changed = ['already_decided', 'near_duplicate', 'not_found'].includes(error.code);
  const draft = decision.kind === 'edited' ? decision.content : undefined;
  return to(review, changed ? { kind: 'loading' } : { kind: 'choosing', shown, draft }, ...said);
}

function elsewhere(review: Review, { proposal }: ProposalView): Review {
  const text = `${shortId(proposal.id)} was decided meanwhile: ${decisionText(proposal)}`;
  return next(count(review, 'elsewhere'), { kind: 'notice', text });
}

function interrupted(review: Review, exitCode: number): Review {
  const { phase } = review;
  const open = phase.kind === 'sending' ? review.queue[review.at] : undefined;
  const said = open === undefined ? [] : [trouble(openText(open))];
  return to(review, { kind: 'over', exitCode }, ...said);
}

function openText(id: string): string {
  return `the last decision was sent, not answered: see "throughline learning show ${shortId(id)}"`;
}

function duplicateText(shown: ProposalView): string {
  const both = maySeparate(shown) ? ', b keeps both' : ', r rejects it';
  return `a learning says ${maySeparate(shown) ? 'nearly ' : ''}the same: m merges${both}`;
}

function next(review: Review, ...said: Said[]): Review {
  const at = review.at + 1;
  return to({ ...review, at }, { kind: at < review.queue.length ? 'loading' : 'over' }, ...said);
}

function count(review: Review, kind: keyof Tally): Review {
  return { ...review, tally: { ...review.tally, [kind]: review.tally[kind] + 1 } };
}

function to(review: Review, phase: Phase, ...said: readonly Said[]): Review {
  return { ...review, phase, said };
}

function trouble(text: string): Said {
  return { kind: 'trouble', text };
}

export const ACTIONS = {
  accept: { key: 'a', help: 'accept it: it becomes a learning' },
  reject: { key: 'r', help: 'reject it' },
  edit: { key: 'e', help: 'edit its text, then decide' },
  skip: { key: 's', help: 'skip it: it stays pending' },
  merge: { key: 'm', help: 'merge it: its evidence goes to the learning that says nearly the same' },
  separate: { key: 'b', help: 'keep both, beside the learning that says nearly the same' },
  evidence: { key: 'v', help: 'view all its evidence' },
  quit: { key: 'q', help: 'quit: what is decided stays decided, the rest stays pending' },
  help: { key: '?', help: 'this help' },
} as const;

export type Action = keyof typeof ACTIONS;

const NAMES = Object.keys(ACTIONS).filter((name): name is Action => Object.hasOwn(ACTIONS, name));

/** Returns the action of a key, ignoring case. */
export function actionOf(key: string): Action | undefined {
  // Ctrl-D ends the input of any other program.
  if (key === '\u0004') return 'quit';
  return NAMES.find((name) => ACTIONS[name].key === key.toLowerCase());
}
