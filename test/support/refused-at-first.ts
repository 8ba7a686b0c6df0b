import { headers } from 'nats';
import { expect } from 'vitest';
import { DISPATCH_STREAM, DISPATCH_SUBJECTS } from '../../src/contracts/names.js';
import type { System } from './system.js';

/**
 * Runs a program that publishes a result of a session, with no stream that takes it at first: it must publish again,
 * under an id that fits the session and that no one can guess. Gives what the program printed.
 */
export async function refusedAtFirst<T>(
  { ports }: System,
  session: string,
  run: () => Promise<T>,
): Promise<T> {
  const jsm = await ports.connection.jetstreamManager();
  const taking = (subjects: string) => jsm.streams.update(DISPATCH_STREAM, { subjects: [subjects] });
  await taking('nothing.yet');
  const first = new Promise<string | undefined>((resolve) => {
    ports.connection.subscribe(`dispatch.${session}.*`, {
      max: 1,
      callback(_, message) {
        // As the server answers where nobody listens.
        message.respond('', { headers: headers(503, 'No Responders') });
        resolve(message.headers?.get('Nats-Msg-Id'));
      },
    });
  });
  const ran = run();
  const id = await Promise.race([first, ran.then(() => undefined)]);
  const [printed] = await Promise.all([ran, taking(DISPATCH_SUBJECTS)]);
  expect(id).toMatch(new RegExp(`^${session}:\\S{26,}$`));
  const stored = await jsm.streams.getMessage(DISPATCH_STREAM, { last_by_subj: `dispatch.${session}.*` });
  expect(stored.header.get('Nats-Msg-Id')).toBe(id);
  return printed;
}
