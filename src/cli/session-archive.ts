import { setTimeout as sleep } from 'node:timers/promises';
import type { ThroughlineClient } from '../client/throughline-client.js';
import type { ToolReply } from '../contracts/replies/replies.js';
import { counted } from '../shared/counted.js';
import { patiently } from './patient-request.js';
import { progressLine } from './progress-line.js';

/** Between two looks at how far it is. */
const LOOK_MS = 200;

/** Archives a session to the end: in shards its events are removed one by one. */
export async function archiveSession(
  client: ThroughlineClient,
  request: object,
  isQuiet: boolean,
): Promise<ToolReply<'session-archive'>> {
  const progress = progressLine(!isQuiet);
  let reply = await client.requestTool('session-archive', request);
  while (reply.removing !== undefined) {
    const { removed, of } = reply.removing;
    if (of > 0)
      progress.reached(
        () => `-- removed ${removed} of ${counted(of, 'event')} that the checkpoint stands for`,
      );
    await sleep(LOOK_MS);
    reply = await patiently(() => client.requestTool('session-archive', request));
  }
  progress.ended();
  return reply;
}
