import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { z } from 'zod';

/** A real receiver of OTLP over HTTP as JSON: what an SDK sends to a collector. */
export interface OtlpReceiver extends AsyncDisposable {
  /** The variables that make an SDK send here. */
  readonly env: Readonly<Record<string, string>>;
  /** All spans until now. */
  readonly spans: readonly ReceivedSpan[];
  /** Everything as it came, as text. */
  text(): string;
}

export interface ReceivedSpan {
  /** `service.name` of the process. */
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const value = z
  .object({})
  .catchall(z.unknown())
  .transform((of) => Object.values(of)[0]);
const attributes = z
  .array(z.object({ key: z.string(), value }))
  .transform((all) => Object.fromEntries(all.map(({ key, value: of }) => [key, of])));
const body = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              ...{ traceId: z.string(), spanId: z.string(), parentSpanId: z.string().default('') },
              ...{ name: z.string(), kind: z.number(), attributes, status: z.object({ code: z.number() }) },
            }),
          ),
        }),
      ),
    }),
  ),
});

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const received: unknown[] = [];
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void json(request).then((sent) => {
      received.push(sent);
      for (const { resource, scopeSpans } of body.parse(sent).resourceSpans) {
        const service = String(resource.attributes['service.name']);
        for (const { kind, status, ...span } of scopeSpans.flatMap((scope) => scope.spans)) {
          spans.push({ ...span, service, kind: KINDS[kind] ?? '', failed: status.code === 2 });
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    spans,
    text: () => JSON.stringify(received),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
