import { REPLIES } from '../../src/contracts/replies/replies.js';
import type { ThroughlineClient } from '../../src/sdk/throughline-client.js';

/** The same client, which fails on a reply that its schema does not allow. */
export function checkingReplies(client: ThroughlineClient): ThroughlineClient {
  const request = client.request.bind(client);
  client.request = async (subject, body) => {
    const reply = await request(subject, body);
    const [, schema] = Object.entries(REPLIES).find(([name]) => `${subject}.`.startsWith(`${name}.`)) ?? [];
    const { error } = schema?.safeParse(reply) ?? {};
    if (error !== undefined) throw new Error(`${subject} was answered against its schema: ${error.message}`);
    return reply;
  };
  return client;
}
