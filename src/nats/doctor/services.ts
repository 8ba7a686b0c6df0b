import type { NatsConnection, ServiceStats } from 'nats';
import { z } from 'zod';
import { COMPILER_SERVICE, EXTRACTOR_SERVICE, LEARNINGS_SERVICE } from '../../contracts/names.js';
import { TOOLS_SERVICE } from '../../contracts/tools.js';
import { counted } from '../../counted.js';
import { MAKE_ROOM } from '../errors.js';
import { instancesOf } from '../service-stats.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Which service of `throughline serve --only` answers by which name. */
const SERVED: Readonly<Record<string, string>> = {
  [EXTRACTOR_SERVICE]: 'extractor',
  [COMPILER_SERVICE]: 'compiler',
  [TOOLS_SERVICE]: 'tools',
  [LEARNINGS_SERVICE]: 'learnings',
};

/** What a service met last is how things are for so long. */
const RECENT_MS = 600_000;

const health = z.object({
  host: z.string().optional(),
  errors: z.number(),
  warnings: z.number(),
  lastIncident: z.object({ at: z.string(), message: z.string(), code: z.string().optional() }).nullable(),
});

/** What services are asked for, and measured by. */
export interface ExpectedServices {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Longest wait for an instance that is there and does not answer. */
  readonly timeoutMs: number;
  /** As `throughline serve --only` names them. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Looks only at instances on the machine or container of this name. Default: everywhere. */
  readonly host?: string | undefined;
}

/** The services, as they answer now, and what went wrong in them last. */
export async function serviceFindings(
  connection: NatsConnection,
  { version, now, timeoutMs, only = Object.values(SERVED), host }: ExpectedServices,
): Promise<Finding[]> {
  const asked = Object.entries(SERVED).filter(([, served]) => only.includes(served));
  const where = host === undefined ? '' : ` on ${host}`;
  // At once: each that does not answer takes the whole time.
  const found = await Promise.all(
    asked.map(async ([name, served]) => {
      const everywhere = await instancesOf(connection, name, timeoutMs);
      const instances = everywhere.filter((each) => host === undefined || healthIn(each)?.host === host);
      const check = `service ${name}`;
      if (instances.length === 0)
        return [fail(check, `nobody answers${where}`, `throughline serve --only ${served}`)];
      const findings = instances.flatMap((each) => judged(check, each, version, now));
      const running = counted(instances.length, 'instance answers', 'instances answer');
      return findings.length > 0 ? findings : [ok(check, running)];
    }),
  );
  return found.flat();
}

function judged(check: string, instance: ServiceStats, version: string, now: number): Finding[] {
  const found: Finding[] = [];
  if (instance.version !== version) {
    const message = `an instance is version ${instance.version}, this is ${version}`;
    found.push(warn(check, message, 'run one version everywhere'));
  }
  const told = healthIn(instance);
  if (!told?.lastIncident) return found;
  const { at, message, code = 'no code' } = told.lastIncident;
  if (code === 'store_full') {
    const judge = now - Date.parse(at) < RECENT_MS ? fail : warn;
    found.push(judge(check, `could store no more at ${at}: ${message} (${code})`, MAKE_ROOM));
  } else if (told.errors > 0) {
    found.push(
      warn(
        check,
        `${counted(told.errors, 'error')}; last, at ${at}: ${message} (${code})`,
        'look at its log around that time',
      ),
    );
  }
  return found;
}

/** What an instance tells of itself, as its endpoint `health` does; undefined where that cannot be read. */
function healthIn(instance: ServiceStats): z.infer<typeof health> | undefined {
  const data = instance.endpoints?.find(({ name }) => name === 'health')?.data;
  return health.safeParse(data).data;
}
