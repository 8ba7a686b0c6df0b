import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ToolReply } from '../../contracts/requests.js';
import type { ServiceHealth } from '../../contracts/session-requests.js';
import { me } from '../ask.js';
import { Ago, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { QueryView } from '../components/states.js';
import { Table } from '../components/table.js';
import { connection } from '../live.js';
import { type GlobalViewProps, viewHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { counted, durationText, figure } from '../words.js';

/** Refresh interval in milliseconds. */
const EVERY_MS = 5_000;

/** What is wrong, figures, the services, and what the doctor found in order, as one table. */
export function HealthView(_props: GlobalViewProps) {
  const query = useAsk('tool.health-show', {});
  const reachable = connection.value !== 'no-server';
  useEffect(() => {
    if (!reachable) return;
    query.refresh();
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') query.refresh();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [reachable]);
  return (
    <>
      <PageHead title="Health">
        {query.reply === undefined ? null : (
          <span class="quiet">
            updated <Ago at={query.reply.at} />
          </span>
        )}
      </PageHead>
      <QueryView query={query} what="the health">
        {(shown) => (
          <Table label="Health" columns={[{ name: 'Part' }, { name: 'State' }, { name: 'Details' }]}>
            <ServerRow />
            <FindingRows shown={shown} levels={['unknown', 'fail', 'warn']} />
            <ResultRows shown={shown} />
            {shown.services.map((service, at) => (
              <ServiceRow
                key={service.id}
                service={service}
                isFirst={
                  shown.services.findIndex(
                    ({ host, pid }) => host === service.host && pid === service.pid,
                  ) === at
                }
              />
            ))}
            <FindingRows shown={shown} levels={['ok']} />
          </Table>
        )}
      </QueryView>
    </>
  );
}

function Row(props: {
  readonly name: ComponentChildren;
  readonly state: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  return (
    <tr>
      <th scope="row">{props.name}</th>
      <td class="figure">{props.state}</td>
      <td class="health-details">{props.children}</td>
    </tr>
  );
}

/** Names the server for programs and for clients in containers: no client uses a server unnamed that is not its user's own. */
function ServerRow() {
  const server = me.value?.server;
  return server === undefined ? null : (
    <Row name="Server" state="">
      <code>NATS_URL={server}</code>
    </Row>
  );
}

const LEVELS = {
  unknown: ['warn', 'unknown'],
  fail: ['bad', 'fails'],
  warn: ['warn', 'warning'],
  ok: ['good', 'ok'],
} as const;

/** What the doctor found, and the parts that could not be asked. */
function FindingRows(props: {
  readonly shown: ToolReply<'health-show'>;
  /** The levels that are shown, in this order. */
  readonly levels: readonly (keyof typeof LEVELS)[];
}) {
  const { missing, findings = [NOT_YET] } = props.shown;
  const unknown = missing.map(({ part: check, message, code: fix }) => ({
    check,
    message,
    fix,
    level: 'unknown' as const,
  }));
  const rows = props.levels.flatMap((level) =>
    [...unknown, ...findings].filter((row) => row.level === level),
  );
  return (
    <>
      {rows.map(({ check, level, message, fix }) => (
        <Row
          key={`${check} ${message}`}
          name={check}
          state={<Tag tone={LEVELS[level][0]}>{LEVELS[level][1]}</Tag>}
        >
          {message}
          {fix === undefined ? null : <p class="quiet">{fix}</p>}
        </Row>
      ))}
    </>
  );
}

const NOT_YET = {
  check: 'doctor',
  level: 'unknown',
  message: 'It has not run yet.',
  fix: undefined,
} as const;

function ResultRows({ shown: { results } }: { readonly shown: ToolReply<'health-show'> }) {
  return results === undefined ? null : (
    <>
      <Row name="Results stored" state={figure(results.stored)} />
      <Row name="Results in flight" state={figure(results.waiting)} />
      <Row name={<a href={viewHref('sessions')}>Rejected</a>} state={figure(results.rejected)} />
    </>
  );
}

function ServiceRow(props: {
  readonly service: ServiceHealth;
  /** True for the first service of its process: what a process has logged is shown once. */
  readonly isFirst: boolean;
}) {
  const { service, isFirst } = props;
  const { connected, warnings = 0, errors = 0, lastIncident, uptimeSeconds, host, pid } = service;
  const facts = [
    service.version,
    host === undefined ? '' : `on ${host}`,
    pid === undefined ? '' : `pid ${pid}`,
    counted(service.requests, 'request'),
    service.errorReplies === 0 ? '' : `${figure(service.errorReplies)} refused`,
    uptimeSeconds === undefined ? '' : `up ${durationText(uptimeSeconds)}`,
  ];
  return (
    <Row
      name={service.service}
      state={connected === false ? <Tag tone="bad">not connected</Tag> : <Tag tone="good">connected</Tag>}
    >
      {facts.filter((part) => part !== '').join(', ')}{' '}
      {isFirst && errors > 0 ? <Tag tone="bad">{counted(errors, 'error')} of the process</Tag> : null}{' '}
      {isFirst && warnings > 0 ? <Tag tone="warn">{counted(warnings, 'warning')} of the process</Tag> : null}
      {!isFirst || lastIncident === undefined ? null : (
        <p class="quiet small">
          <Ago at={lastIncident.at} />: {lastIncident.message}
        </p>
      )}
    </Row>
  );
}
