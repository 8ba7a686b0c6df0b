import { headers, type MsgHdrs } from 'nats';

/** What the headers of a publish say to JetStream, and what else they carry. */
export interface PublishHeaderOptions {
  readonly messageId?: string;
  readonly expectedLastSequence?: number;
  /** The last sequence among some of the stream's subjects. */
  readonly expectedLastOfSubjects?: { readonly sequence: number; readonly subjects: string };
  readonly headers?: Readonly<Record<string, string>>;
}

/** The headers of a publish; none where it says nothing. */
export function publishHeaders(options: PublishHeaderOptions): MsgHdrs | undefined {
  const { messageId, expectedLastSequence, expectedLastOfSubjects, headers: more } = options;
  const expects = expectedLastSequence !== undefined || expectedLastOfSubjects !== undefined;
  if (messageId === undefined && !expects && more === undefined) return undefined;
  const head = headers();
  if (messageId !== undefined) head.set('Nats-Msg-Id', messageId);
  if (expectedLastSequence !== undefined)
    head.set('Nats-Expected-Last-Sequence', String(expectedLastSequence));
  if (expectedLastOfSubjects !== undefined) {
    head.set('Nats-Expected-Last-Subject-Sequence', String(expectedLastOfSubjects.sequence));
    head.set('Nats-Expected-Last-Subject-Sequence-Subject', expectedLastOfSubjects.subjects);
  }
  for (const [name, value] of Object.entries(more ?? {})) head.set(name, value);
  return head;
}
