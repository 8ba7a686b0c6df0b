import type { ServerFacts, ServiceHealth } from '../../contracts/replies/health-reply.js';
import { Ago, Pair, Tag } from '../components/fields.js';
import { Empty } from '../components/states.js';
import { Share, Table } from '../components/table.js';
import { figure } from '../words.js';
import { bytesText, durationText, figureText, numberLines } from './health-points.js';

export function ServiceTable({ services }: { readonly services: readonly ServiceHealth[] }) {
  return (
    <section aria-labelledby="services-title">
      <h2 id="services-title">Services</h2>
      {services.length === 0 ? (
        <Empty title="No service answers" command="throughline up" />
      ) : (
        <Table
          label="Services"
          columns={[
            { name: 'Service' },
            { name: 'State' },
            { name: 'Requests', number: true },
            { name: 'Refused', number: true },
            { name: 'Up', wide: true },
            { name: 'Figures' },
          ]}
        >
          {services.map((service) => (
            <ServiceRow key={service.id} service={service} />
          ))}
        </Table>
      )}
    </section>
  );
}

function ServiceRow({ service }: { readonly service: ServiceHealth }) {
  const { connected, warnings = 0, errors = 0, lastIncident, uptimeSeconds } = service;
  const figures = numberLines(service.numbers);
  return (
    <tr>
      <td>
        {service.service}
        <br />
        <span class="quiet">
          {service.version}
          {service.host === undefined ? '' : ` on ${service.host}`}
          {service.pid === undefined ? '' : `, pid ${service.pid}`}
        </span>
      </td>
      <td>
        {connected === false ? <Tag tone="bad">not connected</Tag> : <Tag tone="good">connected</Tag>}{' '}
        {errors > 0 ? <Tag tone="bad">{errors} errors</Tag> : null}{' '}
        {warnings > 0 ? <Tag tone="warn">{warnings} warnings</Tag> : null}
        {lastIncident === undefined ? null : (
          <p class="quiet small incident">
            <Ago at={lastIncident.at} />: {lastIncident.message}
          </p>
        )}
      </td>
      <td class="number">{figure(service.requests)}</td>
      <td class="number">{figure(service.errorReplies)}</td>
      <td class="only-wide">{uptimeSeconds === undefined ? '' : durationText(uptimeSeconds)}</td>
      <td>
        {figures.length === 0 ? null : (
          <details>
            <summary>{figures.length} figures</summary>
            <dl class="pairs">
              {figures.map(([name, value]) => (
                <Pair key={name} name={name}>
                  {value}
                </Pair>
              ))}
            </dl>
          </details>
        )}
      </td>
    </tr>
  );
}

/** Usage of the account beside the limits of the server. */
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
    <div class="progress">
      <p class="progress-label">
        <span>{props.name}</span>
        <span class="figure">
          {figureText(used, props.unit)}{' '}
          {limit === undefined ? '(no limit)' : `of ${figureText(limit, props.unit)}`}
        </span>
      </p>
      {limit === undefined ? null : <Share part={used} whole={limit} tone={tone} />}
    </div>
  );
}
