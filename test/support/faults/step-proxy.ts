import { connect } from 'node:net';
import { startListener } from '../listener.js';
import { urlOnPort } from '../nats-server.js';

/** Subjects of messages that change what is stored: between two of them a process may die at any point with the same result. */
export const WRITES =
  /^(?!\$JS\.(API|ACK|FC)\.|_INBOX|\$SRV|tool\.|prompt\.)|^\$JS\.API\.(STREAM\.(CREATE|UPDATE|DELETE|PURGE|MSG\.DELETE|RESTORE)|CONSUMER\.(CREATE|DURABLE|DELETE))\./;
export const REQUESTS = /^/;

/**
 * Forwards to a NATS server and counts the messages that a process sends on some subjects: these are its steps. At the step
 * given, it kills the process. The server then has that message and none after it; with step 0, none at all.
 */
export async function startStepProxy(server: string, subjects: RegExp) {
  const { hostname, port } = new URL(server);
  let armed: { readonly step: number; readonly kill: () => void } | undefined;
  const steps: string[] = [];
  let isDead = false;
  const die = () => {
    isDead = true;
    armed?.kill();
  };
  const listener = await startListener((socket) => {
    const upstream = connect(Number(port), hostname);
    upstream.on('data', (data: Buffer) => socket.write(data));
    upstream.on('error', () => {}).on('close', () => socket.destroy());
    socket.on('close', () => upstream.end());
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (data: Buffer) => {
      rest = Buffer.concat([rest, data]);
      for (let frame = firstFrame(rest); frame !== undefined && !isDead; frame = firstFrame(rest)) {
        const { subject } = frame;
        const isStep = armed !== undefined && subject !== undefined && subjects.test(subject);
        if (isStep && armed?.step === 0) return die();
        upstream.write(rest.subarray(0, frame.bytes));
        rest = rest.subarray(frame.bytes);
        if (isStep) steps.push(subject);
        if (isStep && steps.length === armed?.step) return die();
      }
    });
  });
  return {
    url: urlOnPort(server, Number(new URL(listener.url).port)),
    /** Subjects of the steps so far. */
    steps: steps as readonly string[],
    /** Counts steps from now on. */
    killAt(step: number, kill: () => void): void {
      armed = { step, kill };
    },
    /** Ends the counting. Returns the number of steps, and true if the process was killed. */
    ended(): { readonly steps: number; readonly killed: boolean } {
      armed = undefined;
      return { steps: steps.length, killed: isDead };
    },
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

/** Returns the first message of the NATS protocol, if it is there whole: PUB and HPUB end with the size of what follows. */
function firstFrame(
  data: Buffer,
): { readonly bytes: number; readonly subject: string | undefined } | undefined {
  const end = data.indexOf('\r\n');
  if (end < 0) return undefined;
  const [verb, subject, ...more] = data.toString('latin1', 0, end).split(' ');
  const isPublished = verb === 'PUB' || verb === 'HPUB';
  const bytes = end + 2 + (isPublished ? Number(more.at(-1)) + 2 : 0);
  return data.length < bytes ? undefined : { bytes, subject: isPublished ? subject : undefined };
}
