import { DiagLogLevel, diag } from '@opentelemetry/api';
import type { NodeSDK } from '@opentelemetry/sdk-node';
import { messageOf, ThroughlineError } from '../../contracts/errors.js';
import { LATE, withinDeadline } from '../../shared/deadline.js';
import { clipText, oneLine } from '../../shared/text.js';
import type { Logger } from '../ports/logger.js';

type Library = Pick<typeof import('@opentelemetry/sdk-node'), 'NodeSDK' | 'resources'>;

interface OtelSdkOptions {
  /** The variables of the process: those that begin with `OTEL_` set up the SDK. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  /** The package, which is optional: it is loaded only here. */
  readonly load?: () => Promise<Library>;
}

const PACKAGE = '@opentelemetry/sdk-node';
const SERVICE_NAME = 'throughline';
/** Longest wait for the last spans to be taken: a collector that is gone must not keep the process. */
const LAST_SPANS_MS = 2000;
const SAID_EVERY_MS = 60_000;
const MAX_WHY = 300;

/**
 * Starts the OpenTelemetry SDK that is installed beside Throughline. Exporter, sampling and service name are its own
 * variables: by default spans go by OTLP over HTTP to `http://localhost:4318`.
 *
 * @returns sends what is left, and stops it
 * @throws ThroughlineError `config_invalid` when the package is not installed
 */
export async function startOtelSdk({
  env,
  logger,
  load = installed,
}: OtelSdkOptions): Promise<() => Promise<void>> {
  const library = await loadOtelSdk(load);
  // The SDK has a log of its own, which is for those who set `OTEL_LOG_LEVEL`.
  if (!env.OTEL_LOG_LEVEL) sayWhatFails(logger);
  const sdk = new library.NodeSDK(settings(library, env));
  sdk.start();
  return () => stopped(sdk, logger);
}

/**
 * Loads the package without starting anything.
 *
 * @throws ThroughlineError `config_invalid` when it is not installed
 */
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

/** Warns that spans are not sent: at first at once, then once a minute while it lasts. */
function sayWhatFails(logger: Logger): void {
  let next = Number.NEGATIVE_INFINITY;
  const warn = (why: string) => {
    const now = performance.now();
    if (now < next) return;
    next = now + SAID_EVERY_MS;
    const fields = { code: 'unavailable', why: clipText(oneLine(why), MAX_WHY) };
    logger.warn(
      fields,
      'spans are not sent: does the collector that OTEL_EXPORTER_OTLP_ENDPOINT names answer?',
    );
  };
  const ignore = () => {};
  const log = { error: warn, warn: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(log, { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true });
}

function installed(): Promise<Library> {
  return import('@opentelemetry/sdk-node');
}

function settings({ resources }: Library, env: OtelSdkOptions['env']) {
  const { envDetector, hostDetector } = resources;
  const isNamed = env.OTEL_SERVICE_NAME || env.OTEL_RESOURCE_ATTRIBUTES?.includes('service.name=');
  return {
    ...(!isNamed && { serviceName: SERVICE_NAME }),
    // By default it would send the command line, which may hold the password of a NATS URL.
    ...(!env.OTEL_NODE_RESOURCE_DETECTORS && { resourceDetectors: [envDetector, hostDetector] }),
    // There are only spans: no connection is kept for what is never sent.
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
