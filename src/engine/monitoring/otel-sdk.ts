import type { NodeSDK } from '@opentelemetry/sdk-node';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { LATE, withinDeadline } from '../../shared/backoff.js';
import type { Logger } from '../ports/clients.js';

type Library = Pick<typeof import('@opentelemetry/sdk-node'), 'NodeSDK' | 'resources'>;

interface OtelSdkOptions {
  /** Environment: variables that begin with `OTEL_` configure the SDK. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** Imports the package, which is optional. */
  readonly load?: () => Promise<Library>;
}

const PACKAGE = '@opentelemetry/sdk-node';
const SERVICE_NAME = 'throughline';
/** Deadline of the last flush: an unreachable collector must not block the exit. */
const LAST_SPANS_MS = 2000;

/**
 * Starts the OpenTelemetry SDK that is installed beside Throughline. Its own variables set exporter, sampling and service
 * name; by default spans are sent by OTLP over HTTP to `http://localhost:4318`.
 *
 * @returns flushes the spans and stops the SDK
 * @throws ThroughlineError `config_invalid` if the package is not installed
 */
export async function startOtelSdk({
  env,
  logger,
  load = installed,
}: OtelSdkOptions): Promise<() => Promise<void>> {
  const library = await loadOtelSdk(load);
  const sdk = new library.NodeSDK(settings(library, env));
  sdk.start();
  return () => stopped(sdk, logger);
}

/** Loads the package without starting it. Throws ThroughlineError `config_invalid` if it is not installed. */
export function loadOtelSdk(load: () => Promise<Library> = installed): Promise<Library> {
  return load().catch((cause: unknown) => {
    throw new ThroughlineError(
      'config_invalid',
      `--otel needs the package ${PACKAGE}, which cannot be loaded: install it beside throughline ` +
        `with "npm install ${PACKAGE}" (${messageOf(cause)})`,
      { cause },
    );
  });
}

function installed(): Promise<Library> {
  return import('@opentelemetry/sdk-node');
}

function settings({ resources }: Library, env: OtelSdkOptions['env']) {
  const { envDetector, hostDetector } = resources;
  const isNamed = env.OTEL_SERVICE_NAME || env.OTEL_RESOURCE_ATTRIBUTES?.includes('service.name=');
  return {
    ...(!isNamed && { serviceName: SERVICE_NAME }),
    // The default detectors send the command line, which may hold the password of a NATS URL.
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors: [envDetector, hostDetector] }),
    // Only spans are recorded: open no connections for metrics and logs.
    ...(!env.OTEL_METRICS_EXPORTER && { metricReaders: [] }),
    ...(!env.OTEL_LOGS_EXPORTER && { logRecordProcessors: [] }),
  };
}

async function stopped(sdk: NodeSDK, logger: Logger): Promise<void> {
  try {
    if ((await withinDeadline(LAST_SPANS_MS, sdk.shutdown())) !== LATE) return;
    logger.warn({ code: 'unavailable' }, 'the last spans were not sent in time: does the collector answer?');
  } catch (error) {
    logger.warn({ code: 'unavailable', err: error }, 'the last spans could not be sent');
  }
}
