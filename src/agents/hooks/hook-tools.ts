import type { ThroughlineClient } from '../../client/throughline-client.js';
import type { AgentSession } from '../agent-session.js';
import type { HookState } from './hook-state.js';
import type { HookClient } from './hook-table.js';

/** What a hook works with. */
export interface HookTools {
  /** The name of the client, and its entry in the table. */
  readonly name: string;
  readonly client: HookClient;
  readonly at: AgentSession;
  readonly state: HookState;
  /** Connects, once: only what asks the server pays for it. */
  readonly connect: () => Promise<ThroughlineClient>;
  /** Takes secrets out of a value of JSON. */
  readonly redact: <T>(value: T) => Promise<T>;
  readonly log: (line: string) => void;
  /** Milliseconds that are left. */
  readonly leftMs: () => number;
}
