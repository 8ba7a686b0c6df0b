import { LRUCache } from 'lru-cache';
import { compiledResult, resultKey } from '../../contracts/accepted-result.js';
import { parseDispatchBody } from '../../contracts/dispatch-body.js';
import { codeOf } from '../../contracts/errors.js';
import { EVENT_VERSION } from '../../contracts/event.js';
import type { LearningEvent, LearningEventOf } from '../../contracts/learning-events.js';
import { parseDispatchSubject, projectOf, type Token } from '../../contracts/names.js';
import type { AnyResult } from '../../contracts/results.js';
import type { ProjectCommander, ProjectReader, SessionReader } from '../../engine/folding/session-folding.js';
import type { Logger } from '../../engine/ports/clients.js';
import type { DispatchDelivery, DispatchSource } from '../../engine/ports/dispatch-source.js';
import type { LearningLog, SessionLog } from '../../engine/ports/session-log.js';
import type { LearningDecision } from '../../memory/learnings/decide-learning.js';
import { demandsOf, dueProposals, type Proposed } from '../../memory/learnings/harvest.js';
import type { LearningState } from '../../memory/learnings/learnings-state.js';
import { NO_SCANNER, redactJson, type SecretScanner } from '../../memory/redaction/redactor.js';
import { admission, type Forgetting, generationGuard, HELD_BACK_MS } from '../common/open-sessions.js';
import { dispose, retryDelay } from '../extractor/session-lane.js';

/**
 * The learner: records the demands of each review in the project's log, proposes what was demanded in enough tasks, then
 * acknowledges the review. Idempotent per review. Historical and invalid reviews are skipped; rejecting is the extractor's job.
 */
interface LearnerOptions {
  /** Reviews, from a consumer of its own. */
  readonly source: DispatchSource;
  readonly learnings: LearningLog;
  readonly sessions: SessionProjects;
  readonly projects: ProjectReader;
  readonly command: ProjectCommander;
  readonly logger: Logger;
  readonly maxBodyBytes: number;
  /** Ack deadline in milliseconds. */
  readonly ackWaitMs: number;
  /** Deliveries after which a failing review is skipped. */
  readonly maxDeliveries: number;
  /** Number of tasks that must make a demand before it is proposed. */
  readonly recurrence: number;
  readonly random: () => number;
  readonly secrets?: SecretScanner;
  /** Default: no session is forgotten. */
  readonly lifecycle?: Forgetting;
}

export async function startLearner(options: LearnerOptions) {
  const { source, logger, random } = options;
  const inHand = new Map<DispatchDelivery, Promise<void>>();
  const consumption = await source.consume((delivery) => {
    inHand.set(
      delivery,
      handle(delivery).finally(() => inHand.delete(delivery)),
    );
  });
  const telling = setInterval(extendAckDeadlines, options.ackWaitMs / 3);

  /** A review may queue for long in a project with many due proposals. */
  function extendAckDeadlines(): void {
    try {
      for (const delivery of inHand.keys()) delivery.working();
    } catch {
      // The connection is closed: all of them are redelivered.
    }
  }

  async function handle(delivery: DispatchDelivery): Promise<void> {
    const { session } = parseDispatchSubject(delivery.subject);
    const fields = { session, dispatch: delivery.sequence, delivery: delivery.delivery };
    try {
      await options.lifecycle?.refreshed();
      const standing =
        session === undefined ? 'counts' : admission(options.lifecycle, session, delivery.sequence);
      if (standing === 'forgotten') dispose(delivery, { kind: 'done' });
      // Exponential, because each delivery counts although this is not a failure.
      if (standing === 'later')
        dispose(delivery, { kind: 'retry', delayMs: HELD_BACK_MS * 2 ** Math.min(delivery.delivery, 5) });
      if (standing !== 'counts') return;
      if (delivery.delivery > options.maxDeliveries)
        logger.error({ ...fields, code: 'deliveries_exhausted' }, 'review passed over: it keeps failing');
      else await learn(delivery, options);
      dispose(delivery, { kind: 'done' });
    } catch (error) {
      const delayMs = retryDelay(delivery.delivery, random());
      logger.warn(
        { ...fields, code: codeOf(error), retryInMs: delayMs, err: error },
        'review will be delivered again',
      );
      tryAgain(delivery, delayMs, logger);
    }
  }

  return {
    /** Stops fetching and waits for the reviews in progress. */
    async stop() {
      try {
        await consumption.close();
        await Promise.all(inHand.values());
      } finally {
        clearInterval(telling);
      }
    },
  };
}

async function learn(delivery: DispatchDelivery, options: LearnerOptions): Promise<void> {
  const { session, role } = parseDispatchSubject(delivery.subject);
  if (session === undefined || role === undefined) return;
  const { secrets = NO_SCANNER } = options;
  const clean = (json: unknown, text: string) => redactJson(json, secrets, { source: text }).value;
  const parsed = parseDispatchBody(delivery.body, role, options.maxBodyBytes, clean, compiledResult);
  if (!parsed.ok) return;
  const result: AnyResult = parsed.value.result;
  // Check before reading anything.
  if (result.history === true || (result.issues ?? []).length + (result.required_fixes ?? []).length === 0)
    return;
  const assertSameGeneration = await generationGuard(options.lifecycle, session);
  const project = await options.sessions.projectOf(session);
  const demands = demandsOf(project, result);
  if (demands.length === 0) return;
  const data = { session, dispatch: delivery.sequence, task: result.task_id, demands };
  // A republished review is the same review.
  const key = resultKey(parsed.value, delivery.messageId);
  const name = key === undefined ? String(data.dispatch) : `${session}:${key}`;
  await assertSameGeneration();
  await observe(project, delivery.at, data, name, options);
  await assertSameGeneration();
  await propose(project, demands, options);
}

async function observe(
  project: Token,
  at: string,
  data: LearningEventOf<'observed'>['data'],
  name: string,
  { learnings }: LearnerOptions,
): Promise<void> {
  const event: LearningEvent = { v: EVENT_VERSION, type: 'observed', at, data };
  await learnings.append(project, event, { messageId: `observed:${name}` });
}

async function propose(
  project: Token,
  demands: readonly { readonly id: string }[],
  { projects, command, recurrence }: LearnerOptions,
): Promise<void> {
  const ids = demands.map(({ id }) => id);
  const { state } = (await projects.load(project)).folded;
  for (const { data } of dueProposals(state, ids, recurrence)) {
    const due = (current: typeof state) => dueProposals(current, [data.proposal], recurrence);
    await command(project, 'propose', proposing(due));
  }
}

function tryAgain(delivery: DispatchDelivery, delayMs: number, logger: Logger): void {
  try {
    dispose(delivery, { kind: 'retry', delayMs });
  } catch (error) {
    // The connection is closed: the review is redelivered.
    logger.warn(
      { dispatch: delivery.sequence, code: 'unavailable', err: error },
      'review could not be put back',
    );
  }
}

/** Decides to append the first proposal that is still due; another process may have been first. */
export function proposing(due: (state: LearningState) => readonly Proposed[]) {
  return (state: LearningState): LearningDecision => {
    const [event] = due(state);
    const reply = () => ({});
    return event === undefined ? { kind: 'answer', reply } : { kind: 'append', event, reply };
  };
}

interface SessionProjectsOptions {
  readonly log: SessionLog;
  readonly sessions: SessionReader;
  readonly maxKnown: number;
  /** Returns the session's generation: the cache of another one is discarded. Default: a single generation. */
  readonly generationOf?: (session: Token) => string;
}

interface Known {
  /** The project of the last opening that names one. */
  readonly project: string | undefined;
  /** Cursor and epoch of the log. */
  readonly through: number;
  readonly epoch: string | undefined;
  readonly generation: string;
}

/**
 * Caches the project of each session. After one complete fold only openings are read, since nothing else changes the project.
 */
export class SessionProjects {
  readonly #options: SessionProjectsOptions;
  readonly #known: LRUCache<Token, Known>;

  constructor(options: SessionProjectsOptions) {
    this.#options = options;
    this.#known = new LRUCache({ max: options.maxKnown });
  }

  /** @throws ThroughlineError `unavailable` if the log cannot be reached */
  async projectOf(session: Token): Promise<Token> {
    const known =
      (await this.#unopenedSince(session, this.#known.get(session))) ?? (await this.#fold(session));
    this.#known.set(session, known);
    return projectOf(known.project);
  }

  /** Returns the cached project unless there are newer openings or the log was replaced. */
  async #unopenedSince(session: Token, known: Known | undefined): Promise<Known | undefined> {
    if (known === undefined || known.generation !== this.#lifeOf(session)) return undefined;
    const range = { after: known.through, type: 'session.opened' };
    const { events, epoch } = await this.#options.log.read(session, range);
    // Only the fold knows if an opening counts.
    return events.length > 0 || epoch !== known.epoch ? undefined : known;
  }

  #lifeOf(session: Token): string {
    return this.#options.generationOf?.(session) ?? '';
  }

  async #fold(session: Token): Promise<Known> {
    const { state, epoch, generation } = (await this.#options.sessions.load(session)).folded;
    return { project: state.charter.project, through: state.sequence, epoch, generation };
  }
}
