import type { InspectorRole } from '../../src/contracts/inspector-api.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { Shutdown } from '../../src/engine/runtime/shutdown.js';
import { type RunningInspector, serveInspector } from '../../src/services/inspector/serve-inspector.js';
import { TOKEN_HEADER } from '../../src/shared/wire-words.js';
import { SOON_MS } from './soon.js';
import { type System, type SystemOptions, startSystem } from './system.js';

export interface ServedOptions extends SystemOptions {
  /** Default: operator. */
  readonly role?: InspectorRole;
  /** A system to look at, which stays the caller's. Default: one of its own. */
  readonly system?: System;
}

/** An inspector in this process, on a free port, with all services and a server of its own behind it. */
export interface ServedInspector extends AsyncDisposable {
  readonly system: System;
  readonly inspector: RunningInspector;
  /** `http://127.0.0.1:port`, without the token. */
  readonly origin: string;
  readonly token: string;
  /** A request as the page sends it: signed in. `path` begins with a slash. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** `POST /api/ask/<subject>`, with the JSON of the answer. */
  ask(subject: string, body: object): Promise<{ readonly status: number; readonly body: unknown }>;
  stop(): Promise<void>;
}

export async function serveInspected(options: ServedOptions = {}): Promise<ServedInspector> {
  const { role = 'operator', system: given, ...more } = options;
  const system = given ?? (await startSystem(more));
  const shutdown = new Shutdown();
  if (given === undefined) shutdown.add('the system', () => system.stop());
  const stop = () => shutdown.release(SOON_MS);
  try {
    const context = { config: system.config, logger: more.logger ?? silentLogger, shutdown };
    const inspector = await serveInspector(system.url, context, { role, port: 0 });
    const { origin, searchParams } = new URL(inspector.url);
    const token = searchParams.get('token') ?? '';
    const fetchOwn = (path: string, init: RequestInit = {}) =>
      fetch(origin + path, { ...init, headers: { [TOKEN_HEADER]: token, ...init.headers } });
    return {
      system,
      inspector,
      origin,
      token,
      fetch: fetchOwn,
      async ask(subject, body) {
        const response = await fetchOwn(`/api/ask/${subject}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        return { status: response.status, body: await response.json() };
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
}
