import type { ServerFacts } from '../../contracts/replies/health-reply.js';
import { Share } from '../components/bar.js';
import { Pair } from '../components/pair.js';
import { bytesText, figureText } from './health-points.js';

/** What the account uses of what the server allows. */
export function ServerLimits({ server }: { readonly server: ServerFacts }) {
  const { storage, memory, streams, consumers } = server;
  return (
    <section aria-labelledby="server-title">
      <h2 id="server-title">Server and account</h2>
      <div class="card server">
        <div class="server-limits">
          <Limit name="JetStream on disk" used={storage} unit="bytes" />
          <Limit name="JetStream in memory" used={memory} unit="bytes" />
          <Limit name="Streams" used={streams} unit="" />
          <Limit name="Consumers" used={consumers} unit="" />
        </div>
        <dl class="pairs">
          <Pair name="nats-server">{server.version}</Pair>
          <Pair name="Name">{server.name}</Pair>
          {server.cluster === undefined ? null : <Pair name="Cluster">{server.cluster}</Pair>}
          <Pair name="Largest message">{bytesText(server.maxPayload)}</Pair>
        </dl>
      </div>
    </section>
  );
}

function Limit(props: {
  readonly name: string;
  readonly used: ServerFacts['storage'];
  readonly unit: string;
}) {
  if (props.used === undefined) return null;
  const { used, limit } = props.used;
  const tone =
    limit === undefined || used < 0.8 * limit ? '' : used < 0.95 * limit ? 'share-warn' : 'share-bad';
  return (
    <div class="limit">
      <p class="progress-label">
        <span>{props.name}</span>
        <span class="figure">
          {figureText(used, props.unit)}{' '}
          {limit === undefined ? 'of no limit' : `of ${figureText(limit, props.unit)}`}
        </span>
      </p>
      {limit === undefined ? null : <Share part={used} whole={limit} tone={tone} />}
    </div>
  );
}
