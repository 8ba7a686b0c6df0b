import type { RequestName, ToolName } from '../../src/contracts/requests.js';
import { silentLogger } from '../../src/engine/ports/logger-and-clock.js';
import { checkedHandler, type Handlers } from '../../src/services/common/service-shell.js';
import { createSessionTools } from '../../src/services/tools/serve-tools.js';
import { createSessionQueries } from '../../src/services/tools/session-queries.js';

/** Calls tools by name with requests as they come in: as the services do, without the network. */
export type CallTool = (name: ToolName, request: object) => Promise<object>;

export function calling(handlers: Partial<Handlers<RequestName>>): CallTool {
  return async (name, request) => {
    const handle = handlers[`tool.${name}`];
    if (handle === undefined) throw new Error(`there is no handler of ${name}`);
    return checkedHandler<RequestName>(`tool.${name}`, handle as never)(request) as Promise<object>;
  };
}

type Ports = Omit<Parameters<typeof createSessionTools>[0], 'logger'>;

/** The commands of a session and the lists that it shows, on a log. */
export function callingSession(ports: Ports): CallTool {
  const { reader, command } = ports;
  const none = {} as never;
  const rest = { log: none, snapshots: none, prompts: none, projects: none };
  return calling({
    ...createSessionTools({ ...ports, logger: silentLogger }),
    ...createSessionQueries({ reader, command, ...rest }),
  });
}
