// A runtime of its own with the OpenTelemetry SDK: in one span it publishes a text without a result and a result, asks for the next prompt, carries out
// a command and runs the hook before a model call. Prints the trace that these belong to.
import { trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { connectThroughline } from '../../dist/index.js';

/** The first word of what the agent says. */
const WORD = process.env.TEXT.split(' ')[0];
const { NATS_URL, SESSION, TEXT, SESSIONS_IN_TRACES } = process.env;
const sdk = new NodeSDK({ serviceName: 'publisher', metricReaders: [], logRecordProcessors: [] });
sdk.start();
const client = await connectThroughline({ url: NATS_URL, traceSessions: SESSIONS_IN_TRACES === '1' });
await trace.getTracer('publisher').startActiveSpan('work', async (span) => {
  await client.publishText(SESSION, 'reviewer', TEXT);
  const result = { taskId: WORD, status: 'completed', summary: TEXT };
  const { sequence } = await client.session(SESSION).publish('implementer', result);
  await client.compile({ session: SESSION, taskId: '2', taskPrompt: TEXT, after: sequence });
  await client.tools.taskAdd({ session: SESSION, content: TEXT });
  await client.hookEngine(SESSION).preLLMRequest('intent');
  await client.tools.noteDelete({ session: SESSION, id: WORD, person: true }).catch(() => {});
  span.end();
  console.log(span.spanContext().traceId);
});
await client.close();
await sdk.shutdown();
