import { ThroughlineError } from '../../contracts/errors.js';
import { toThroughlineError } from '../connection/nats-errors.js';
import type { AckedPublisher, AckedPublishOptions, PubOutcome } from './acked-publisher.js';

/** A message for a stream that is created if it is missing. */
interface MadeFor {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly options: AckedPublishOptions;
  /** Creates the stream; resolves to false if it existed. */
  readonly make: () => Promise<boolean>;
}

/**
 * Publishes; if the stream is missing, creates it and publishes again.
 *
 * The server reports a missing stream only if nobody subscribes to the subject. With a subscriber the publish times out, as
 * with a slow stream, and the stream is looked up then. Nothing is stored twice, because only a missing stream is retried.
 *
 * @throws ThroughlineError as the publisher, or the error of creating the stream
 */
export async function publishCreating(
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
    // If the lookup fails too, the first error says more.
    const made = await make().catch(() => false);
    if (!made) throw error;
  }
  return publisher.publish(subject, body, options);
}
