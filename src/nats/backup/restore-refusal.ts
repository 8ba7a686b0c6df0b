import { ThroughlineError } from '../../contracts/errors.js';
import { counted } from '../../shared/counted.js';
import { MANIFEST } from './backup-manifest.js';
import { OWN_STREAMS } from './own-streams.js';

/** What a restore finds on the server, and what it was asked for. */
export interface RestoreBegin {
  readonly directory: string;
  /** Id of the backup in it, and when that was made. */
  readonly id: string;
  readonly at: string;
  readonly again: boolean;
  /** Streams of Throughline on the server. */
  readonly there: readonly string[];
  /** Id of the backup that was being restored on the server; `undefined` where none was. */
  readonly marked: string | undefined;
}

/** Removes an installation, and nothing else. */
const REMOVE = `nats stream ls --names --all | grep -E '${OWN_STREAMS}' | xargs -n 1 nats stream rm --force`;

/** Why a restore may not begin or go on, with the commands that help; `undefined` where it may. */
export function restoreRefusal(begin: RestoreBegin): ThroughlineError | undefined {
  const { there } = begin;
  const why = there.length === 0 ? undefined : refused(begin);
  if (why === undefined) return undefined;
  return new ThroughlineError('config_invalid', why, { details: { streams: there.length } });
}

function refused({ directory, id, at, again, there, marked }: RestoreBegin): string | undefined {
  const streams = counted(there.length, 'stream');
  const command = `throughline restore ${directory}`;
  const erase = `To restore ${directory} in their place, erase them for good as an administrator, then run "${command}":\n  ${REMOVE}`;
  if (marked === id) {
    if (again) return undefined;
    return `a restore of this backup, of ${at}, was cut off or still runs: ${streams} of it are there. To go on, run "${command} --again"`;
  }
  const shown = `${streams} of Throughline (${there.slice(0, 5).join(', ')}${there.length > 5 ? ' …' : ''})`;
  if (marked !== undefined)
    return `another backup was being restored on this server, and there are ${shown}. To go on with that one, run "throughline restore DIR --again" with the directory whose ${MANIFEST} has the id ${marked}. ${erase}`;
  const what = again
    ? `no restore was cut off on this server: there are ${shown} already. If the restore had ended, nothing is left to do: start the services with "throughline up" or "throughline serve", and look with "throughline doctor".`
    : `the server has ${shown} already: restore into an empty server or account.`;
  return `${what} ${erase}`;
}
