import type { JetStreamManager, JetStreamUsageAccountLimits, NatsConnection } from 'nats';
import { DISPATCH_STREAM } from '../../contracts/names.js';
import { API, apiCode, isNoResponders, toThroughlineError } from '../connection/nats-errors.js';
import { timeOfServer } from '../jetstream/server-clock.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Usage ratios of a limit that cause a warning or a failure. */
const NEARLY_FULL = 0.8;
const FULL = 0.95;
/** Largest clock difference that still orders events of several machines correctly, in milliseconds. */
const MAX_SKEW_MS = 2000;

export function serverFindings(connection: NatsConnection): Finding[] {
  const { version, server_name, cluster } = connection.info ?? {};
  const where = cluster === undefined ? '' : `, cluster ${cluster}`;
  return [ok('server', `nats-server ${version}, ${server_name}${where}`)];
}

/** Warns of a server on loopback without credentials, which other users of the machine can reach. */
export function accessFindings(connection: NatsConnection): Finding[] {
  const isOpen = connection.info?.auth_required !== true && connection.info?.tls_verify !== true;
  if (!isOpen || !/^(127\.|localhost:|\[?::1\]?:)/.test(connection.getServer())) return [];
  const message =
    'asks for no credentials: every user and program of this machine can read and change everything';
  return [warn('access', message, 'throughline down, then throughline up --auth')];
}

/** Returns true if the account lacks JetStream, although the server has it. */
export function jetStreamIsOff(jsm: JetStreamManager): Promise<boolean> {
  return jsm.getAccountInfo().then(
    () => false,
    (error: unknown) => isNoResponders(error) || apiCode(error) === API.jetStreamOff,
  );
}

export async function limitFindings(jsm: JetStreamManager): Promise<Finding[]> {
  const stats = await jsm.getAccountInfo().catch((error: unknown) => {
    throw toThroughlineError(error, 'asking for the limits of JetStream');
  });
  // An account with tiers has its limits there, per number of replicas.
  const tiers = Object.entries(stats.tiers ?? {});
  return tiers.length === 0
    ? accountFindings(stats)
    : tiers.flatMap(([tier, each]) => accountFindings(each, ` ${tier}`));
}

function accountFindings(of: JetStreamUsageAccountLimits, tier = ''): Finding[] {
  const { max_storage, max_memory, max_streams, max_consumers } = of.limits;
  return [
    used(`storage${tier}`, of.storage, max_storage, 'bytes'),
    used(`memory${tier}`, of.memory, max_memory, 'bytes'),
    used(`streams${tier}`, of.streams, max_streams, 'streams'),
    used(`consumers${tier}`, of.consumers, max_consumers, 'consumers'),
  ];
}

function used(what: string, count: number, limit: number, unit: string): Finding {
  const check = `JetStream ${what}`;
  if (limit <= 0) return ok(check, `${count} ${unit} used, no limit of the account`);
  const message = `${count} of ${limit} ${unit} used`;
  const fix = `raise the limit of the account, or delete what you no longer need: nats stream ls`;
  if (count >= limit * FULL) return fail(check, message, fix);
  return count >= limit * NEARLY_FULL ? warn(check, message, fix) : ok(check, message);
}

/** Compares this machine's clock with the server's: commands are timed here, dispatches there. */
export async function clockFindings(
  connection: NatsConnection,
  timeoutMs: number,
  now: () => number,
): Promise<Finding[]> {
  const asked = now();
  const time = await timeOfServer(connection, DISPATCH_STREAM, timeoutMs);
  const answered = now();
  if (time === undefined) {
    return [warn('clock', 'the server does not tell its time without a stream', 'start the services first')];
  }
  const skew = Math.round(time - (asked + answered) / 2);
  const uncertain = Math.ceil((answered - asked) / 2);
  const message = `the server's clock is ${Math.abs(skew)} ms ${skew < 0 ? 'behind' : 'ahead'} (±${uncertain})`;
  const fix = 'synchronize both clocks with NTP: times of events are compared';
  return [Math.abs(skew) - uncertain > MAX_SKEW_MS ? warn('clock', message, fix) : ok('clock', message)];
}
