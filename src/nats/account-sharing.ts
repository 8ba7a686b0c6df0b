import type { Permissions } from './role-permissions.js';

/**
 * Exports and imports through which users of another account reach Throughline. Replies return to their own account whatever
 * reply subject they name, so a request cannot have its reply stored in a stream or sent to JetStream.
 */
export interface AccountSharing {
  /** `response_type`: a request may have many replies. `stream`: NATS' name for subjects that others may subscribe to. */
  readonly exports: readonly (
    | { readonly service: string; readonly response_type?: 'stream' }
    | { readonly stream: string }
  )[];
  readonly imports: readonly ({ readonly service: Imported } | { readonly stream: Imported })[];
}

interface Imported {
  readonly account: string;
  readonly subject: string;
}

/** Derives the exports and imports from the permissions of the other account's users. */
export function sharingFor(
  { publish, events = [] }: Pick<Permissions, 'publish'> & Partial<Pick<Permissions, 'events'>>,
  account: string,
): AccountSharing {
  // Overlapping imports would duplicate a request. The JetStream API is exported as a whole, because an account without
  // JetStream answers parts of it by itself; the users' permissions restrict it.
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

/** Batches of messages, and discovery that every instance of a service answers. */
const MANY_ANSWERS = /^\$(JS\.API|SRV)\./;

const API = '$JS.API.';

function covers(wider: string, pattern: string): boolean {
  const [wide, narrow] = [wider.split('.'), pattern.split('.')];
  return wide.length === narrow.length && wide.every((token, at) => token === '*' || token === narrow[at]);
}
