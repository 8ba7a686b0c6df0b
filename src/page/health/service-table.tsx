import type { ServerFacts, ServiceHealth } from '../../contracts/replies/health-reply.js';
import { Ago, Pair, Tag } from '../components/fields.js';
import { Empty } from '../components/states.js';
import { Table } from '../components/table.js';
import { figure } from '../words.js';
import { bytesText, durationText } from './health-points.js';

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
    </tr>
  );
}

/** Usage of the account, and the limits of the server. */
export function ServerLimits({ server }: { readonly server: ServerFacts }) {
  const { storage, memory, streams, consumers } = server;
  return (
    <section aria-labelledby="server-title">
      <h2 id="server-title">Server and account</h2>
      <dl class="card card-body pairs pairs-wide">
        <Pair name="nats-server">
          {server.version}, {server.name}
          {server.cluster === undefined ? '' : `, cluster ${server.cluster}`}
        </Pair>
        <Limit name="JetStream on disk" used={storage} text={bytesText} />
        <Limit name="JetStream in memory" used={memory} text={bytesText} />
        <Limit name="Streams" used={streams} text={figure} />
        <Limit name="Consumers" used={consumers} text={figure} />
        <Pair name="Largest message">{bytesText(server.maxPayload)}</Pair>
      </dl>
    </section>
  );
}

function Limit(props: {
  readonly name: string;
  readonly used: ServerFacts['storage'];
  readonly text: (value: number) => string;
}) {
  if (props.used === undefined) return null;
  const { used, limit } = props.used;
  const isNear = limit !== undefined && used > 0.8 * limit;
  return (
    <Pair name={props.name}>
      {props.text(used)} {limit === undefined ? '(no limit)' : `of ${props.text(limit)}`}{' '}
      {isNear ? <Tag tone="warn">{Math.round((used / limit) * 100)} % used</Tag> : null}
    </Pair>
  );
}
