import { type NatsConnection, RequestStrategy, type ServiceStats } from 'nats';
import { z } from 'zod';
import { SERVICE_NAMES } from '../../contracts/names.js';
import { type ServiceHealth, serviceHealth } from '../../contracts/session-requests.js';
import { counted } from '../../shared/text.js';
import { isNoResponders, MAKE_ROOM, toThroughlineError } from '../connection/nats-errors.js';
import { type Finding, fail, ok, warn } from './server-findings.js';

/** Returns the health of all instances that answer. */
export async function healthOfServices(
  connection: NatsConnection,
  services: readonly string[],
  waitMs: number,
): Promise<ServiceHealth[]> {
  const found = await Promise.all(services.map((service) => instancesOf(connection, service, waitMs)));
  return found.flat().map(healthIn);
}

const { lastIncident } = serviceHealth.shape;
const base = serviceHealth.pick({ host: true, pid: true, uptimeSeconds: true, warnings: true, errors: true });
const common = z.looseObject({
  ...base.shape,
  connection: serviceHealth.pick({ connected: true, disconnects: true }).exactOptional(),
  lastIncident: lastIncident.unwrap().nullable().optional(),
});

function healthIn({ name, id, version, endpoints = [] }: ServiceStats): ServiceHealth {
  const data: unknown = endpoints.find((endpoint) => endpoint.name === 'health')?.data;
  const { data: health = {} } = common.safeParse(data);
  const { connection, lastIncident } = health;
  const sum = (count: (endpoint: (typeof endpoints)[number]) => number) =>
    endpoints.reduce((total, endpoint) => total + count(endpoint), 0);
  return {
    service: name,
    id,
    version,
    requests: sum(({ num_requests }) => num_requests),
    errorReplies: sum(({ num_errors }) => num_errors),
    ...base.parse(health),
    ...connection,
    ...(lastIncident && { lastIncident }),
    numbers: Object.fromEntries(Object.entries(health).filter(([key]) => !Object.hasOwn(common.shape, key))),
  };
}

/** Wait for further instances after each answer. */
const QUIET_MS = 100;

/** Returns the statistics of all instances that answer, sorted by name and id. Without any, the server answers at once. */
export async function instancesOf(
  connection: NatsConnection,
  service: string,
  waitMs: number,
): Promise<ServiceStats[]> {
  const found: ServiceStats[] = [];
  const strategy = RequestStrategy.JitterTimer;
  const monitor = connection.services.client({ strategy, maxWait: waitMs, jitter: QUIET_MS });
  try {
    for await (const stats of await monitor.stats(service)) found.push(stats);
  } catch (error) {
    if (!isNoResponders(error)) throw toThroughlineError(error, `reading the statistics of ${service}`);
  }
  // Answers arrive in any order.
  const order = ({ name, id }: ServiceStats) => `${name} ${id}`;
  return found.sort((one, other) => order(one).localeCompare(order(other)));
}

const SHOWN = 3;
const MEND =
  'remove the cause: they continue by themselves within a minute; "throughline result retry" brings back what was rejected meanwhile';
const NO_ANSWER = 'check that the stream of the session has a leader: nats stream info SESSION_<session>';

/** Time that the last incident of a service describes its current state. */
const RECENT_MS = 600_000;

const waiting = z.object({ session: z.string(), code: z.string(), reason: z.string(), since: z.string() });
const setAside = z.object({ sessions: z.number(), dispatches: z.number(), worst: z.array(waiting) });

interface ExpectedServices {
  readonly version: string;
  readonly now: number;
  /** Longest wait for an instance that does not answer. */
  readonly timeoutMs: number;
  /** Names of `throughline admin serve --only`. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Checks only instances on this machine or container. Default: everywhere. */
  readonly host?: string | undefined;
}

export async function serviceFindings(
  connection: NatsConnection,
  { version, now, timeoutMs, only, host }: ExpectedServices,
): Promise<Finding[]> {
  const expected = Object.entries(SERVICE_NAMES).filter(([served]) => only?.includes(served) ?? true);
  const where = host === undefined ? '' : ` on ${host}`;
  // In parallel: each silent service takes the whole timeout.
  const found = await Promise.all(
    expected.map(async ([served, name]) => {
      const everywhere = await healthOfServices(connection, [name], timeoutMs);
      const instances = everywhere.filter((instance) => host === undefined || instance.host === host);
      const check = `service ${name}`;
      if (instances.length === 0)
        return [fail(check, `no instance answers${where}`, `throughline admin serve --only ${served}`)];
      const findings = instances.flatMap((instance) => judged(check, instance, version, now));
      const running = counted(instances.length, 'instance answers', 'instances answer');
      return findings.length > 0 ? findings : [ok(check, running)];
    }),
  );
  return found.flat();
}

function judged(check: string, instance: ServiceHealth, version: string, now: number): Finding[] {
  const { lastIncident, errors = 0, numbers } = instance;
  const found: Finding[] = [];
  if (instance.version !== version) {
    const message = `an instance is version ${instance.version}, this is ${version}`;
    found.push(warn(check, message, 'run one version everywhere'));
  }
  const { data } = setAside.safeParse(numbers.setAside);
  if (data !== undefined) found.push(...setAsideFindings(check, data));
  if (lastIncident === undefined) return found;
  const { at, message, code = 'no code' } = lastIncident;
  if (code === 'store_full') {
    const judge = now - Date.parse(at) < RECENT_MS ? fail : warn;
    found.push(judge(check, `could store no more at ${at}: ${message} (${code})`, MAKE_ROOM));
  } else if (errors > 0) {
    const text = `${counted(errors, 'error')}; last, at ${at}: ${message} (${code})`;
    found.push(warn(check, text, 'look at its log around that time'));
  }
  return found;
}

/** Reports sessions whose logs reject writes: their dispatches wait in the extractor, and are finally rejected. */
function setAsideFindings(
  check: string,
  { sessions, dispatches, worst }: z.infer<typeof setAside>,
): Finding[] {
  const found = worst.slice(0, SHOWN).map(({ session, code, reason, since }) => {
    const message = `has set aside the results of session ${session} since ${since}: ${reason} (${code})`;
    return code === 'unavailable' ? warn(check, message, NO_ANSWER) : fail(check, message, MEND);
  });
  if (sessions <= found.length) return found;
  const message = `has set aside ${counted(dispatches, 'result')} of ${counted(sessions, 'session')}, including these`;
  return [...found, fail(check, message, MEND)];
}
