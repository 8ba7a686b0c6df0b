// An echo over NATS request/reply: answers every request with the payload that it was last given.
import { connect } from 'nats';

const connection = await connect({ servers: process.env.NATS_URL, name: 'bench echo' });
let reply = new Uint8Array();
connection.subscribe('echo.set', {
  callback: (_, message) => {
    reply = message.data;
    message.respond();
  },
});
connection.subscribe('echo', { callback: (_, message) => message.respond(reply) });
await connection.flush();
console.log('ready');
process.on('SIGTERM', () => process.exit(0));
