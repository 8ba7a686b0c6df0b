import { ThroughlineError } from '../../contracts/errors.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher, AckedPublishOptions } from './acked-publisher.js';
import type { PubOutcome } from './publish-outcome.js';

/** A message for a stream that is made where it is missing. */
interface MadeFor {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly options: AckedPublishOptions;
  /** Makes the stream, and says whether it had to. */
  readonly make: () => Promise<boolean>;
}

/**
 * Publishes, and where the stream is missing makes it and publishes once more.
 *
 * The server says that no stream takes a subject only while nobody listens to it. With a listener the publish stays without
 * a PubAck, as with a stream that is slow: then one looks. Nothing is stored twice, since only a stream that was missing is
 * published to again.
 *
 * @throws ThroughlineError as the publisher does, or with the code of what keeps the stream from being made
 */
export async function publishMaking(
  publisher: Pick<AckedPublisher, 'publish'>,
  { subject, body, options, make }: MadeFor,
): Promise<PubOutcome> {
  try {
    const published = await publisher.publish(subject, body, options);
    if (published.outcome !== 'no_stream') return published;
    await make().catch((error: unknown) => {
      throw toThroughlineError(error, `making the stream for ${subject}`);
    });
  } catch (error) {
    const mayBeMissing = error instanceof ThroughlineError && error.code === 'unavailable';
    if (!mayBeMissing || error.details?.closed === true) throw error;
    // Where this cannot be told either, the first fault says more.
    const made = await make().catch(() => false);
    if (!made) throw error;
  }
  return publisher.publish(subject, body, options);
}
