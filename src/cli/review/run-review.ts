import { assertNever, ThroughlineError } from '../../contracts/errors.js';
import type { ProposalView } from '../../contracts/replies/learning-reply.js';
import type { Colors } from '../show-reply.js';
import { screen } from './review-screen.js';
import { type Review, type ReviewDecision, type ReviewEvent, step } from './review-steps.js';

/** What a review asks of the service. Each rejects with a ThroughlineError. */
export interface ReviewRequests {
  show(id: string): Promise<ProposalView>;
  decide(id: string, decision: ReviewDecision): Promise<ProposalView>;
}

/** Where a review takes place. */
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
