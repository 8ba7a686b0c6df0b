import type { ServiceHealth } from '../../contracts/replies/health-reply.js';
import { Empty } from '../components/empty.js';
import { Pair } from '../components/pair.js';
import { Table } from '../components/table.js';
import { Tag } from '../components/tag.js';
import { Ago } from '../components/time.js';
import { durationText, numberLines } from './health-points.js';

/** Every instance of every service, with its own figures. */
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
          <p class="quiet incident">
            <Ago at={lastIncident.at} />: {lastIncident.message}
          </p>
        )}
      </td>
      <td class="number">{service.requests.toLocaleString('en')}</td>
      <td class="number">{service.errorReplies.toLocaleString('en')}</td>
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
