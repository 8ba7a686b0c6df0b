// The bare relay: consume → publish with Msg-Id → ack on PubAck, nothing parsed, all PubAcks on one own inbox.
// Arguments: input stream, consumer. RELAY_BYTES: publishes bodies of that size in place of those it was given.
import { connect, createInbox, headers } from 'nats';

const [stream, durable] = process.argv.slice(2);
const connection = await connect({ servers: process.env.NATS_URL, name: 'bench relay' });
const js = connection.jetstream();
const prefix = `${createInbox()}.`;
const bytes = Number(process.env.RELAY_BYTES ?? 0);
const body = bytes === 0 ? undefined : Buffer.alloc(bytes, 'x');
const waiting = new Map();
let next = 0;

connection.subscribe(`${prefix}*`, {
  callback: (error, ack) => {
    if (error) throw error;
    const token = ack.subject.slice(prefix.length);
    const message = waiting.get(token);
    waiting.delete(token);
    if (ack.json().seq === undefined) throw new Error(`not stored: ${ack.string()}`);
    message.ack();
  },
});

const consumer = await js.consumers.get(stream, durable);
await consumer.consume({
  max_messages: Number(process.env.RELAY_PULL ?? 1000),
  callback: (message) => {
    next += 1;
    const token = next.toString(36);
    waiting.set(token, message);
    const head = headers();
    head.set('Nats-Msg-Id', `relay:${message.seq}`);
    // in.<session>.implementer → out.<session>
    const session = message.subject.split('.')[1];
    connection.publish(`out.${session}`, body ?? message.data, { reply: prefix + token, headers: head });
  },
});
console.log('ready');
process.on('SIGTERM', () => process.exit(0));
