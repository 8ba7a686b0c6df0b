import { signal } from '@preact/signals';
import type { InspectorMe } from '../contracts/inspector-api.js';
import type { ReplyTo, RequestInput, RequestName } from '../contracts/requests.js';
import { LIVE_PATH, TOKEN_HEADER } from '../shared/wire-words.js';
import { COMMANDS } from './words.js';

/** A request that failed. `code` is stable; the message is for people. */
export class AskError extends Error {
  override readonly name = 'AskError';
  /** `offline` if the server cannot be reached, `unauthorized` without a token, or a code of the services. */
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

const TOKEN = 'throughline-token';

/** Takes the token out of the address and keeps it in this origin's storage, which pages of other ports cannot read. */
export function keepToken(): void {
  const url = new URL(location.href);
  const token = url.searchParams.get('token');
  if (token === null) return;
  localStorage.setItem(TOKEN, token);
  url.searchParams.delete('token');
  history.replaceState(null, '', url);
}

function keptToken(): string {
  return localStorage.getItem(TOKEN) ?? '';
}

export function livePath(): string {
  return `${LIVE_PATH}?token=${encodeURIComponent(keptToken())}`;
}

/** True if the last reply said that this browser has no valid token. */
export const unauthorized = signal(false);

/**
 * Sends a request to a service; the inspector's server forwards it.
 *
 * @throws AskError for an error reply, and with code `offline` if the server cannot be reached
 */
export function ask<Subject extends RequestName>(
  subject: Subject,
  body: Omit<RequestInput<Subject>, 'person'>,
  abort?: AbortSignal,
): Promise<ReplyTo<Subject>> {
  return request<ReplyTo<Subject>>(`/api/ask/${subject}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(abort === undefined ? {} : { signal: abort }),
  });
}

/** Permissions of this browser; undefined, and nothing allowed, until the server has answered. */
export const me = signal<InspectorMe | undefined>(undefined);

/** Loads `me`. Fails silently: the next request of a view reports the reason. */
export async function loadMe(): Promise<void> {
  me.value = await request<InspectorMe>('/api/me', {}).catch(() => me.value);
}

async function request<Reply>(path: string, init: RequestInit): Promise<Reply> {
  const headers = { [TOKEN_HEADER]: keptToken() };
  const response = await fetch(path, { ...init, headers }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new AskError('offline', `The inspector cannot be reached. Is "${COMMANDS.up()}" still running?`);
  });
  const reply: unknown = await response.json().catch(() => undefined);
  unauthorized.value = response.status === 401;
  // Server and page have the same version, so the reply has the shape of the contract.
  if (response.ok && reply !== undefined) return reply as Reply;
  throw refusal(response.status, reply);
}

/** A proxy in between may answer with anything else. */
function refusal(status: number, reply: unknown): AskError {
  const { error } = (reply ?? {}) as { readonly error?: Partial<AskError> };
  const { code = `http_${status}`, message = `The inspector answered with status ${status}.` } = error ?? {};
  return new AskError(code, message, error?.details);
}
