import type { JetStreamManager, StreamInfo } from 'nats';
import { API, apiCode } from '../connection/nats-errors.js';

/**
 * All streams with subjects that match. A list of the server leaves out those whose servers have not agreed on who leads them,
 * and says so in no way that the client shows; each of these is asked for by its name.
 *
 * @throws an error of the client where a stream has no leader for longer than the client waits
 */
export async function listStreams(jsm: JetStreamManager, subjects: string): Promise<StreamInfo[]> {
  const names: string[] = [];
  for await (const name of jsm.streams.names(subjects)) names.push(name);
  // A page after one that left something out begins too early: some come twice.
  const found = new Map<string, StreamInfo>();
  for await (const info of jsm.streams.list(subjects)) found.set(info.config.name, info);
  for (const name of names) {
    if (found.has(name)) continue;
    try {
      found.set(name, await jsm.streams.info(name));
    } catch (error) {
      // Removed since it was named.
      if (apiCode(error) !== API.streamNotFound) throw error;
    }
  }
  return [...found.values()];
}
