import { describe, expect, it } from 'vitest';
import { ATTACKS } from '../support/attacks.js';
import { cli, startCli, startNode } from '../support/cli.js';
import { plainConnection, startPrivateNats } from '../support/nats-server.js';
import { afterTest, ofFile } from '../support/of-file.js';
import { type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.js';
import { soon } from '../support/soon.js';

const PUBLISHER = new URL('../support/traced-publisher.mjs', import.meta.url).pathname;
/** Stands in everything that the agent says: no span may hold it. */
const CANARY = 'canary-7f3a91';

const nats = await ofFile(startPrivateNats());
const receiver = await ofFile(startOtlpReceiver());
const env = { NATS_URL: nats.url, THROUGHLINE_LOG_LEVEL: 'info', ...receiver.env };
await ofFile(startCli(['admin', 'serve', '--otel'], env));

/** Runs the publisher; gives its trace, once all processes have sent their part of it. */
async function traced(session: string, more: Record<string, string> = {}): Promise<readonly ReceivedSpan[]> {
  const env = {
    NATS_URL: nats.url,
    SESSION: session,
    TEXT: `${CANARY} ${ATTACKS[0]}`,
    ...receiver.env,
    ...more,
  };
  const publisher = await startNode([PUBLISHER], env);
  expect(await publisher.exited).toMatchObject({ code: 0 });
  const spans = () => receiver.spans.filter(({ traceId }) => traceId === publisher.readyLine);
  await soon(async () => {
    expect(spans().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['work', 'answer tool.note-delete.{session}']),
    );
    expect(spans().filter(({ kind }) => kind === 'consumer')).toHaveLength(2);
  });
  return spans();
}

function tree(spans: readonly ReceivedSpan[]): string[] {
  const shown = ({ service, kind, name }: ReceivedSpan) => `${service} ${kind} ${name}`;
  const parent = (id: string) => spans.find(({ spanId }) => spanId === id);
  return spans
    .map((span) => {
      const before = parent(span.parentSpanId);
      return before === undefined ? shown(span) : `${shown(span)} < ${before.name}`;
    })
    .sort();
}

describe('spans', () => {
  it('spans of publisher and services are one trace, from the result to the prompt that has it', async () => {
    const spans = await traced('one-trace');
    expect(tree(spans)).toEqual(
      [
        'publisher client request prompt.compile.{session} < work',
        'publisher client request tool.note-delete.{session} < work',
        'publisher client request tool.task-add.{session} < work',
        'publisher client request trace.compact.{session} < work',
        'publisher internal work',
        'publisher producer publish dispatch.{session}.{role} < work',
        'publisher producer publish dispatch.{session}.{role} < work',
        'throughline consumer extract dispatch.{session}.{role} < publish dispatch.{session}.{role}',
        'throughline consumer extract dispatch.{session}.{role} < publish dispatch.{session}.{role}',
        'throughline server answer prompt.compile.{session} < request prompt.compile.{session}',
        'throughline server answer tool.note-delete.{session} < request tool.note-delete.{session}',
        'throughline server answer tool.task-add.{session} < request tool.task-add.{session}',
        'throughline server answer trace.compact.{session} < request trace.compact.{session}',
      ].sort(),
    );
    expect(spans.find(({ kind, failed }) => kind === 'consumer' && !failed)?.attributes).toEqual({
      'messaging.system': 'nats',
      'messaging.operation.name': 'extract',
      'messaging.operation.type': 'process',
      'messaging.destination.template': 'dispatch.{session}.{role}',
    });
    expect(
      spans.filter(({ failed }) => failed).map(({ name, attributes }) => [name, attributes['error.type']]),
    ).toEqual(
      expect.arrayContaining([
        ['answer tool.note-delete.{session}', 'not_found'],
        ['extract dispatch.{session}.{role}', 'marker_missing'],
      ]),
    );
  });

  it('events name the span that appended them, in their header traceparent', async () => {
    const spans = await traced('in-headers');
    const connection = await plainConnection(nats.url);
    afterTest(() => connection.close());
    const jsm = await connection.jetstreamManager();
    const causeOf = async (place: string) => {
      const subject = `session.in-headers.${place}`;
      const { header } = await jsm.streams.getMessage('SESSION_in-headers', { last_by_subj: subject });
      const [, traceId, spanId] = header.get('traceparent').split('-');
      return spans.find((span) => span.traceId === traceId && span.spanId === spanId)?.name;
    };
    expect(await causeOf('result.*')).toBe('extract dispatch.{session}.{role}');
    expect(await causeOf('command.task.added')).toBe('answer tool.task-add.{session}');
  });

  it('spans hold no text of an agent, and name their session only where that is asked for', async () => {
    await traced('secret-name');
    expect(receiver.text()).not.toContain(CANARY);
    expect(receiver.text()).not.toContain('secret-name');
    const named = await traced('shown-name', { SESSIONS_IN_TRACES: '1' });
    const ofSession = named.filter(({ attributes }) => attributes['gen_ai.conversation.id'] === 'shown-name');
    expect(new Set(ofSession.map(({ service }) => service))).toEqual(new Set(['publisher']));
  });

  it('a command goes on in the trace that its environment names', async () => {
    const traceparent = `00-${'4bf92f3577b34da6a3ce929d0e0e4736'}-00f067aa0ba902b7-01`;
    const env = { NATS_URL: nats.url, TRACEPARENT: traceparent };
    expect(await cli(['tool', 'note-add', '-s', 'inherited', '--content', 'x'], { env })).toMatchObject({
      code: 0,
    });
    await soon(async () => {
      const found = receiver.spans.filter(({ traceId }) => traceparent.includes(traceId));
      expect(found.map(({ name }) => name)).toContain('answer tool.note-add.{session}');
    });
  });
});
