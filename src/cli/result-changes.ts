import { InvalidArgumentError } from 'commander';
import { applyEdits, modify } from 'jsonc-parser';
import { dispatchJson, parseDispatchBody } from '../contracts/dispatch-body.js';
import { ThroughlineError, usageError, withRemedy } from '../contracts/errors.js';
import { ROLES, type Role } from '../contracts/kinds.js';
import { token } from '../contracts/names.js';
import type { RejectedShown } from '../contracts/replies/rejected-reply.js';
import type { ThroughlineClient } from '../sdk/throughline-client.js';
import { counted } from '../shared/text.js';
import type { Command, Flags, Numbers, Texts } from './cli-command.js';
import { cliOf, note, out, withClient } from './command-context.js';
import { ageInMs, wholeNumber } from './option-parsers.js';
import { asCommand, readBody } from './result-body.js';

/** The commands that change the list of rejected results: `result fix` and `result rm`. */

interface FixOptions extends Flags<'json'>, Texts<'file' | 'session'> {
  readonly set?: readonly FieldChange[];
  readonly role?: Role;
}

type RemoveOptions = Flags<'json'> & Texts<'session'> & Numbers<'olderThan'>;

/** Results that one command removes by their age, or looks through. */
const MAX_REMOVED = 10_000;

export function addFix(rejected: Command): void {
  rejected
    .command('fix')
    .description(
      'Corrects a rejected result, publishes it again, and removes it from the list. \n' +
        'It is checked first: what still cannot be read stays where it is.',
    )
    .argument('<id>', 'its number in `result ls`', wholeNumber(1))
    .option('-f, --file <path>', 'the whole result in place of the stored one; - is standard input')
    .option(
      '--set <field=value>',
      'set a field, such as task_id=2.1 or issues.0.severity=minor; null removes it; may be given again',
      fieldChange,
    )
    .choice('--role <role>', 'publish it as the result of this role', ROLES)
    .option('-s, --session <name>', 'publish it to this session')
    .option('--json', 'one line of JSON: {id, sequence}')
    .examples(
      'throughline result fix 3 --set task_id=2.1 --set status=completed',
      'throughline result fix 3 --role reviewer',
      'throughline result show 3 --raw > result.json; throughline result fix 3 --file result.json',
    )
    .action(async (id: number, options: FixOptions, command: Command) => {
      const { file, set, role, session } = options;
      if ([file, set, role, session].every((given) => given === undefined)) {
        const unchanged = `"throughline result retry ${id}" sends it unchanged`;
        throw usageError(`give --file, --set, --role or --session; ${unchanged}`);
      }
      const cli = cliOf(command);
      const given = file === undefined ? undefined : await readBody(file);
      const sequence = await withClient(cli, async (client) => {
        const whole = await wholeRejected(client, id);
        const corrected = correction(whole, given, options, cli.config.maxBodyBytes);
        return (await client.tools.rejectedRetry({ id, ...corrected })).dispatch;
      });
      out(
        options.json
          ? JSON.stringify({ id, sequence })
          : `${id} corrected and published as result ${sequence}`,
      );
    });
}

export function addRemoval(rejected: Command): void {
  rejected
    .command('rm')
    .description('Removes rejected results for good: by their numbers, or all that came before some time.')
    .argument('[ids...]', 'their numbers in `result ls`', (raw, before: number[] = []) => [
      ...before,
      wholeNumber(1)(raw),
    ])
    .option('--older-than <age>', 'those that came longer ago than this: 30m, 12h, 7d or 2w', ageInMs)
    .option('-s, --session <name>', 'with --older-than: only of this session')
    .option('--json', 'one line of JSON for each: {id}')
    .examples('throughline result rm 3 4', 'throughline result rm --older-than 7d')
    .action(async (ids: readonly number[], options: RemoveOptions, command: Command) => {
      const { olderThan, session, json } = options;
      if ((ids.length === 0) === (olderThan === undefined))
        throw usageError('give either numbers of results or --older-than');
      if (session !== undefined && olderThan === undefined)
        throw usageError('--session goes with --older-than');
      await withClient(cliOf(command), async (client) => {
        const removed = olderThan === undefined ? ids : await olderOnes(client, olderThan, session);
        const missing: ThroughlineError[] = [];
        for (const id of removed.slice(0, MAX_REMOVED)) {
          const gone = await removedOr(client, id);
          if (gone !== undefined) missing.push(gone);
          else out(json ? JSON.stringify({ id }) : `${id} removed`);
        }
        if (removed.length > MAX_REMOVED)
          note(`-- these were the oldest ${MAX_REMOVED}: run it again for the others`);
        note(
          `-- ${counted(Math.min(removed.length, MAX_REMOVED) - missing.length, 'rejected result')} removed`,
        );
        // By its age, one that is gone meanwhile was removed by someone else.
        const [first, ...others] = missing;
        if (first === undefined || olderThan !== undefined) return;
        const more =
          others.length === 0 ? '' : `; ${others.length} more of these numbers are not there either`;
        throw new ThroughlineError('not_found', `${first.message}${more}`);
      });
    });
}

/** Removes one; gives the error of one that is not there. */
async function removedOr(client: ThroughlineClient, id: number): Promise<ThroughlineError | undefined> {
  try {
    await client.tools.rejectedRemove({ id });
    return undefined;
  } catch (error) {
    if (error instanceof ThroughlineError && error.code === 'not_found') return error;
    throw error;
  }
}

/** The oldest first. */
async function olderOnes(
  client: ThroughlineClient,
  olderThan: number,
  session: string | undefined,
): Promise<number[]> {
  const before = Date.now() - olderThan;
  const of = session === undefined ? {} : { session: token(session, '--session') };
  const { entries } = await rejectedEntries(client, of);
  const older = entries.filter(({ at }) => Date.parse(at) < before).map(({ id }) => id);
  return older.reverse();
}

/** Returns the replacement for a rejected result. Throws if it is still unreadable. */
function correction(
  { entry, body: stored }: { readonly entry: RejectedShown; readonly body: Uint8Array },
  given: Uint8Array | undefined,
  options: FixOptions,
  maxBytes: number,
): { role: Role; toSession: string; body?: string } {
  const { id } = entry;
  const role = options.role ?? entry.role;
  const session = options.session === undefined ? entry.session : token(options.session, '--session');
  if (role === undefined || session === undefined) {
    const missing = role === undefined ? '--role' : '--session';
    throw usageError(`the subject of ${id}, ${entry.subject}, does not say it: give ${missing}`);
  }
  const body = changed(id, given ?? stored, options.set);
  const parsed = parseDispatchBody(body, role, maxBytes);
  // An unchanged body is not sent: the service has it.
  if (parsed.ok)
    return { role, toSession: session, ...(body !== stored && { body: new TextDecoder().decode(body) }) };
  const { code, reason, fix } = asCommand(parsed, (other) => `throughline result fix ${id} --role ${other}`);
  const why = `${id} still cannot be read as the result of ${role}: ${reason}`;
  throw new ThroughlineError(code, withRemedy(why, fix));
}

function changed(id: number, body: Uint8Array, set: readonly FieldChange[] | undefined): Uint8Array {
  if (set === undefined) return body;
  const json = dispatchJson(body);
  if (!json.ok)
    throw new ThroughlineError(json.code, `${id} has no fields to set, ${json.reason}: give --file`);
  return new TextEncoder().encode(JSON.stringify(withFields(json.value, set)));
}

const PAGE = 200;

/** Rejected results, the newest first: at most so many, and whether there are more. */
export async function rejectedEntries(
  client: ThroughlineClient,
  asked: { readonly session?: string; readonly role?: Role },
  most = Number.POSITIVE_INFINITY,
): Promise<{ readonly entries: readonly RejectedShown[]; readonly hasMore: boolean }> {
  const entries: RejectedShown[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(PAGE, most - entries.length);
    const page = await client.tools.rejectedList({
      ...asked,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    entries.push(...page.rejected);
    cursor = page.next;
    if (cursor === undefined) return { entries, hasMore: false };
    if (entries.length >= most) return { entries, hasMore: true };
  }
}

export async function wholeRejected(client: ThroughlineClient, id: number) {
  const parts: Uint8Array[] = [];
  for (let offset = 0; ; ) {
    const { rejected: entry, body, encoding, next } = await client.tools.rejectedShow({ id, offset });
    parts.push(Buffer.from(body, encoding));
    if (next === undefined) return { entry, body: Buffer.concat(parts) };
    offset = next;
  }
}

/** Fields of a result that are set on the command line. */
export interface FieldChange {
  /** `task_id`, or `issues`, `0`, `severity`. */
  readonly path: readonly string[];
  /** `null` takes the field out. */
  readonly value: unknown;
}

/** Takes one `field=value` to the changes so far. A value is text, unless it can only be meant as JSON. */
export function fieldChange(pair: string, before: readonly FieldChange[] = []): FieldChange[] {
  const at = pair.indexOf('=');
  if (at < 1)
    throw new InvalidArgumentError('Use field=value, such as task_id=2.1 or issues.0.severity=minor.');
  return [...before, { path: pair.slice(0, at).split('.'), value: settableOf(pair.slice(at + 1)) }];
}

/**
 * The JSON object with the changes made.
 *
 * @throws ThroughlineError `usage` where a path leads into something that is neither an object nor a list
 */
export function withFields(json: unknown, changes: readonly FieldChange[]): unknown {
  let text = JSON.stringify(json);
  for (const { path, value } of changes) {
    const segments = path.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
    try {
      text = applyEdits(text, modify(text, segments, value ?? undefined, {}));
    } catch (cause) {
      throw new ThroughlineError(
        'usage',
        `--set ${path.join('.')}: the result has no such place: name a field of an object, or an item of a list by its number from 0`,
        { cause },
      );
    }
  }
  return JSON.parse(text);
}

/** A number stays text: ids look like numbers, and are none. */
function settableOf(raw: string): unknown {
  if (!/^(?:[[{"]|(?:true|false|null)$)/.test(raw)) return raw;
  try {
    return JSON.parse(raw);
  } catch {
    return raw;
  }
}
