import type { Msg } from 'nats';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { cli } from '../support/cli.js';
import { plainConnection, startTestNats } from '../support/nats-server.js';
import { ofFile } from '../support/of-file.js';

/** A service that answers as often as the test says, and is killed then. */

const NONE = {
  events: 0,
  dispatches: 0,
  rejected: 0,
  snapshots: 0,
  prompts: 0,
  index: 0,
  learnings: 0,
};
const FOUND = { ...NONE, events: 20, dispatches: 20 };
const RUNNING = { session: 'k22', state: 'running', found: FOUND };

const nats = await ofFile(startTestNats());
const service = await ofFile(plainConnection(nats.url));
let answers: (object | undefined)[];
let asked: object[];

beforeAll(async () => {
  const callback = (_: unknown, message: Msg) => {
    asked.push(JSON.parse(message.string()));
    const answer = answers.shift();
    if (answer !== undefined) message.respond(JSON.stringify(answer));
  };
  for (const subject of ['tool.session-forget', 'tool.session-forget.*'])
    service.subscribe(subject, { callback });
  await service.flush();
});
beforeEach(() => {
  answers = [];
  asked = [];
});

const forget = () => cli(['session', 'rm', 'k22', '--yes'], { env: { NATS_URL: nats.url } });

it('session forget whose service is killed in the middle is told to its end by the next one', async () => {
  answers = [RUNNING, undefined, RUNNING, { ...RUNNING, state: 'counted', found: NONE }];
  expect(await forget()).toMatchObject({ code: 0, stdout: 'removed session k22: 20 events, 20 results\n' });
});

it('session rm asks once and looks by dry runs, so what a new session of the name has received stays', async () => {
  const later = { ...NONE, events: 2, dispatches: 2 };
  answers = [RUNNING, RUNNING, { ...RUNNING, state: 'counted', found: later }];
  expect(await forget()).toMatchObject({ code: 0, stdout: 'removed session k22: 20 events, 20 results\n' });
  expect(asked).toMatchObject([{ dryRun: false }, { dryRun: true }, { dryRun: true }]);
});
