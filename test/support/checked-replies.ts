import { REQUEST_NAMES, rowOf } from '../../src/contracts/requests.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';

/** The same client, which fails on a reply that its schema does not allow. */
export function checkingReplies(client: ThroughlineClient): ThroughlineClient {
  const request = client.request.bind(client);
  client.request = async (subject, body) => {
    const reply = await request(subject, body);
    const name = REQUEST_NAMES.find((each) => `${subject}.`.startsWith(`${each}.`));
    const { error } = name === undefined ? {} : rowOf(name).reply.safeParse(reply);
    if (error !== undefined) throw new Error(`${subject} was answered against its schema: ${error.message}`);
    return reply;
  };
  return client;
}
