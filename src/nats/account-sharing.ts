import type { Permissions } from './role-permissions.js';

/**
 * How users of another account reach Throughline: the account that it runs in exports what they may publish to, and theirs
 * imports it. An answer goes back into their own account, whatever reply subject they named: so nothing that they ask for
 * can be stored in a stream, and no answer can pass for a request to JetStream.
 */
export interface AccountSharing {
  readonly exports: readonly (ServiceExport | EventExport)[];
  readonly imports: readonly (ServiceImport | EventImport)[];
}

interface ServiceExport {
  readonly service: string;
  /** Of what one request may give many answers. */
  readonly response_type?: 'stream';
}

interface ServiceImport {
  readonly service: { readonly account: string; readonly subject: string };
}

/** What is told as it happens: `stream` is the word of NATS for subjects that others may listen to. */
interface EventExport {
  readonly stream: string;
}

interface EventImport {
  readonly stream: { readonly account: string; readonly subject: string };
}

/** What an account must lend for these permissions of users of another one. */
export function sharingFor(
  { publish, events = [] }: Pick<Permissions, 'publish'> & Partial<Pick<Permissions, 'events'>>,
  account: string,
): AccountSharing {
  // Two imports that match one request would have it asked twice. The API of JetStream goes as a whole: an account without
  // JetStream answers any part of it by itself. The permissions of its users say what of it they may ask.
  const all = [...new Set(publish.allow.map((subject) => (subject.startsWith(API) ? `${API}>` : subject)))];
  const subjects = all.filter((subject) => !all.some((other) => other !== subject && covers(other, subject)));
  return {
    exports: [
      ...subjects.map((service) => ({
        service,
        ...(MANY_ANSWERS.test(service) && { response_type: 'stream' as const }),
      })),
      ...events.map((stream) => ({ stream })),
    ],
    imports: [
      ...subjects.map((subject) => ({ service: { account, subject } })),
      ...events.map((subject) => ({ stream: { account, subject } })),
    ],
  };
}

/** A batch of messages, and every instance of a service that is asked who it is. */
const MANY_ANSWERS = /^\$(JS\.API|SRV)\./;

const API = '$JS.API.';

/** Whether every subject that the one pattern matches is matched by the wider one. */
function covers(wider: string, pattern: string): boolean {
  const [wide, narrow] = [wider.split('.'), pattern.split('.')];
  return wide.length === narrow.length && wide.every((token, at) => token === '*' || token === narrow[at]);
}
