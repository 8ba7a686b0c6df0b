import { assertNever, ThroughlineError } from '../../contracts/errors.js';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import { counted, oneLine } from '../../shared/text.js';
import { confidenceText, evidenceText, shortId, similarText } from '../show-learning.js';
import type { Colors } from '../show-reply.js';
import {
  ACTIONS,
  type Action,
  left,
  maySeparate,
  type Review,
  type ReviewDecision,
  type ReviewEvent,
  type Said,
  step,
} from './review-steps.js';

/** Requests of a review to the service. Each rejects with a ThroughlineError. */
export interface ReviewRequests {
  show(id: string): Promise<ProposalView>;
  decide(id: string, decision: ReviewDecision): Promise<ProposalView>;
}

export interface ReviewTerminal {
  write(text: string): void;
  /** The next key; those that were typed while nobody asked are dropped, so that none decides on what was not seen. */
  key(): Promise<string>;
  /** Lets a person change a text; undefined when it is left without one. */
  edit(text: string): Promise<string | undefined>;
  /** The exit code of the signal that ends the review, once there is one. */
  readonly interrupted: Promise<number>;
}

/** Runs a review until it is over, and gives its result. */
export async function runReview(
  start: Review,
  { terminal, requests, pc }: { terminal: ReviewTerminal; requests: ReviewRequests; pc: Colors },
): Promise<Review> {
  const interrupted = terminal.interrupted.then(
    (exitCode): ReviewEvent => ({ kind: 'interrupted', exitCode }),
  );
  let review = start;
  for (;;) {
    terminal.write(screen(pc, review));
    const event = happens(review, terminal, requests);
    if (event === undefined) return review;
    review = step(review, await Promise.race([interrupted, event]));
  }
}

/** Does what a phase waits for. */
function happens(
  { phase, queue, at }: Review,
  terminal: ReviewTerminal,
  requests: ReviewRequests,
): Promise<ReviewEvent> | undefined {
  const id = queue[at] ?? '';
  switch (phase.kind) {
    case 'loading':
      return replied('loaded', requests.show(id));
    case 'choosing':
      return terminal.key().then((key) => ({ kind: 'key', key }));
    case 'editing':
      return terminal.edit(phase.text).then((text) => ({ kind: 'text', text }));
    case 'sending':
      return replied('answered', requests.decide(id, phase.decision));
    case 'over':
      return undefined;
    default:
      return assertNever(phase);
  }
}

async function replied(kind: 'loaded' | 'answered', asked: Promise<ProposalView>): Promise<ReviewEvent> {
  try {
    return { kind, reply: await asked };
  } catch (error) {
    if (error instanceof ThroughlineError) return { kind: 'refused', error };
    throw error;
  }
}

/** A review as text. Lines are only added, never redrawn: whatever ends it leaves a terminal that can be read. */

/** Cases shown with a proposal; `v` shows all. */
const EVIDENCE_SHOWN = 3;

/** Returns the text to write on entering a state; it ends with the question if a key is awaited. */
export function screen(pc: Colors, review: Review): string {
  const said = review.said.map((each) => `${saidText(pc, each, review)}\n`).join('');
  switch (review.phase.kind) {
    case 'choosing':
      return `${said}${question(pc, review.phase.shown)}`;
    case 'over':
      // An interrupted question stands there without its answer.
      return `${review.phase.exitCode === undefined ? '' : '\n'}${said}${pc.dim(summary(review))}\n`;
    default:
      return said;
  }
}

/** The keys that make sense for a proposal. */
export function question(pc: Colors, shown: ProposalView): string {
  const words = actionsFor(shown).map((action) => {
    const { key } = ACTIONS[action];
    const label = LABELS[action];
    return label.startsWith(key)
      ? `${pc.bold(`[${key}]`)}${label.slice(1)}`
      : `${pc.bold(`[${key}]`)} ${label}`;
  });
  return `${words.join('  ')} > `;
}

/** The result of a review: `2 accepted, 1 rejected; 3 still pending`. */
export function summary(review: Review): string {
  const { elsewhere, ...own } = review.tally;
  const parts = Object.entries(own)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => `${number} ${kind}`);
  if (elsewhere > 0) parts.push(`${elsewhere} decided meanwhile`);
  return `-- ${parts.length === 0 ? 'nothing decided' : parts.join(', ')}; ${left(review)} still pending`;
}

const LABELS: Readonly<Record<Action, string>> = {
  accept: 'accept',
  reject: 'reject',
  edit: 'edit',
  skip: 'skip',
  merge: 'merge',
  separate: 'both',
  evidence: 'view evidence',
  quit: 'quit',
  help: 'help',
};

function actionsFor(shown: ProposalView): readonly Action[] {
  const merging: Action[] = maySeparate(shown) ? ['merge', 'separate'] : ['merge'];
  return [
    ...(shown.similar === null ? (['accept'] as const) : merging),
    'reject',
    'edit',
    'skip',
    ...(shown.proposal.evidence.length > EVIDENCE_SHOWN ? (['evidence'] as const) : []),
    'quit',
    'help',
  ];
}

function saidText(pc: Colors, said: Said, review: Review): string {
  switch (said.kind) {
    case 'proposal':
      return proposalText(pc, said.shown, `(${review.at + 1}/${review.queue.length})`);
    case 'evidence':
      return evidenceLines(said.shown, Number.POSITIVE_INFINITY).join('\n');
    case 'help':
      return actionsFor(said.shown)
        .map((action) => `  ${pc.bold(ACTIONS[action].key)}  ${ACTIONS[action].help}`)
        .join('\n');
    case 'done':
      return pc.green(said.text);
    case 'notice':
      return pc.dim(oneLine(said.text));
    case 'trouble':
      return pc.yellow(oneLine(said.text));
    default:
      return assertNever(said);
  }
}

function proposalText(pc: Colors, shown: ProposalView, place: string): string {
  const { proposal, similar } = shown;
  const { id, type, confidence, content, tags, method, source } = proposal;
  const from = [method, ...(source.session === undefined ? [] : [`session ${source.session}`])];
  return [
    '',
    `${pc.dim(place)} ${pc.bold(shortId(id))}  ${pc.cyan(type)}  ${confidenceText(confidence)}  ${pc.dim(oneLine(from.join(', ')))}`,
    `  ${pc.bold(oneLine(content))}`,
    ...(tags.length === 0 ? [] : [`  tags: ${oneLine(tags.join(', '))}`]),
    ...evidenceLines(shown, EVIDENCE_SHOWN),
    ...(similar === null ? [] : [pc.yellow(`  a learning says nearly the same: ${similarText(similar)}`)]),
  ].join('\n');
}

/** The newest cases first. */
function evidenceLines({ proposal }: ProposalView, most: number): string[] {
  const { evidence, source } = proposal;
  if (evidence.length === 0)
    return [`  evidence: ${source.note === undefined ? 'none' : `note ${oneLine(source.note)}`}`];
  const shown = [...evidence].reverse().slice(0, most);
  const more = evidence.length - shown.length;
  return [
    `  evidence: ${counted(evidence.length, 'case')}`,
    ...shown.map((each) => `    ${evidenceText(each)}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ];
}
