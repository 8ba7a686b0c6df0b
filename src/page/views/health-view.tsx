import type { HealthHistoryReply } from '../../contracts/inspector-api.js';
import '../styles/health.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DispatchLag, HealthFinding, HealthShown } from '../../contracts/replies/health-reply.js';
import { fetchOwn } from '../ask.js';
import { Ago, Tag } from '../components/fields.js';
import { PageHead } from '../components/page-header.js';
import { AskedView } from '../components/states.js';
import { plotData } from '../health/health-points.js';
import { Plot } from '../health/plot.js';
import { ServerLimits, ServiceTable } from '../health/service-table.js';
import { connection } from '../live.js';
import { type GlobalViewProps, viewHref } from '../route.js';
import { useAsk } from '../use-ask.js';
import { figure, type Tone } from '../words.js';

/** Refresh interval in milliseconds. */
const EVERY_MS = 5_000;

export function HealthView(_props: GlobalViewProps) {
  const asked = useAsk('tool.health-show', {});
  const past = usePast(asked.refresh);
  return (
    <>
      <PageHead title="Health">
        {asked.reply === undefined ? null : (
          <span class="quiet">
            updated <Ago at={asked.reply.at} />
          </span>
        )}
      </PageHead>
      <AskedView asked={asked} what="the health">
        {(shown) => <Shown shown={shown} past={past} />}
      </AskedView>
    </>
  );
}

function Shown({ shown, past }: { readonly shown: HealthShown; readonly past: HealthHistoryReply }) {
  const findings = [...(shown.findings ?? [])].sort((one, other) => ORDER[one.level] - ORDER[other.level]);
  return (
    <div class="health">
      {shown.missing.map(({ part, message, code }) => (
        <p key={part}>
          <Tag tone="warn">unknown</Tag> {part}: {message} <code>{code}</code>
        </p>
      ))}
      <Figures shown={shown} />
      <Plots past={past} />
      <section aria-labelledby="findings-title">
        <h2 id="findings-title">Findings of the doctor</h2>
        {shown.findings === undefined ? (
          <p class="quiet">The doctor has not run yet.</p>
        ) : (
          <ul class="card rows">
            {findings.map((finding) => (
              <Finding key={`${finding.check} ${finding.message}`} finding={finding} />
            ))}
          </ul>
        )}
      </section>
      {shown.server === undefined ? null : <ServerLimits server={shown.server} />}
      <ServiceTable services={shown.services} />
    </div>
  );
}

const ORDER = { fail: 0, warn: 1, ok: 2 } as const;
const LEVELS: Readonly<Record<HealthFinding['level'], readonly [tone: Tone, word: string]>> = {
  ok: ['good', 'ok'],
  warn: ['warn', 'warning'],
  fail: ['bad', 'fails'],
};

function Finding({ finding }: { readonly finding: HealthFinding }) {
  const [tone, word] = LEVELS[finding.level];
  return (
    <li class="finding">
      <Tag tone={tone}>{word}</Tag>
      <div>
        <p>
          {finding.message} <span class="quiet">{finding.check}</span>
        </p>
        {finding.fix === undefined ? null : <p class="quiet">{finding.fix}</p>}
      </div>
    </li>
  );
}

function Figures({ shown }: { readonly shown: HealthShown }) {
  const { dispatches, rejected, snapshots, sessions, services } = shown;
  return (
    <dl class="health-figures">
      <Figure name="Sessions" value={sessions} href={viewHref('sessions')} />
      <Figure name="Results stored" value={dispatches?.stored} />
      {(dispatches?.consumers ?? []).map((consumer) => (
        <Figure
          key={consumer.consumer}
          name={`Waiting for the ${consumer.consumer}`}
          value={behind(consumer)}
          remark={consumer.redelivered > 0 ? `${consumer.redelivered} redelivered` : undefined}
        />
      ))}
      {dispatches === undefined ? <Figure name="Waiting" value={undefined} /> : null}
      <Figure name="Rejected" value={rejected} href={viewHref('rejected')} />
      <Figure name="Services" value={services.length} />
      <Figure name="Newest result" at={dispatches?.newestAt} />
      <Figure
        name="Newest snapshot"
        at={snapshots?.newestAt}
        remark={snapshots && `${snapshots.kept} stored`}
      />
    </dl>
  );
}

/** A number, or the age of a time if there is no `value`. */
function Figure(props: {
  readonly name: string;
  readonly value?: number | undefined;
  readonly at?: string | undefined;
  readonly href?: string;
  readonly remark?: string | undefined;
}) {
  const { value, at, href } = props;
  const text = value !== undefined ? figure(value) : at !== undefined ? <Ago at={at} /> : '–';
  return (
    <div class="card figure-card">
      <dt class="quiet">{props.name}</dt>
      <dd class="figure-value figure">{href === undefined ? text : <a href={href}>{text}</a>}</dd>
      {props.remark === undefined ? null : <dd class="quiet">{props.remark}</dd>}
    </div>
  );
}

function behind({ pending, unacked }: DispatchLag): number {
  return pending + unacked;
}

function Plots({ past }: { readonly past: HealthHistoryReply }) {
  const series = useMemo(
    () => ({
      pending: plotData(past, 'pending'),
      results: plotData(past, 'resultsPerSecond'),
      compiles: plotData(past, 'compilesPerSecond'),
      mean: plotData(past, 'compileMsMean'),
      rejected: plotData(past, 'rejectedPerSecond'),
      snapshots: plotData(past, 'snapshotLag'),
    }),
    [past],
  );
  return (
    <section aria-labelledby="plots-title">
      <h2 id="plots-title">The last hour</h2>
      <div class="plots">
        <Plot title="Results waiting" unit="" data={series.pending} tone="warn" />
        <Plot title="Results" unit="per second" data={series.results} tone="accent" />
        <Plot title="Prompts compiled" unit="per second" data={series.compiles} tone="accent" />
        <Plot title="Time to compile, mean" unit="ms" data={series.mean} tone="good" dots />
        <Plot title="Rejected" unit="per second" data={series.rejected} tone="bad" />
        <Plot title="Snapshots behind results" unit="s" data={series.snapshots} tone="warn" />
      </div>
    </section>
  );
}

const NOTHING: HealthHistoryReply = { everyMs: 10_000, points: [] };

/** Polls the last hour while the page is visible and the server can be reached. */
function usePast(refresh: () => void): HealthHistoryReply {
  const [past, setPast] = useState(NOTHING);
  const there = connection.value !== 'no-server';
  useEffect(() => {
    if (!there) return;
    let gone = false;
    const look = async () => {
      if (document.visibilityState !== 'visible') return;
      const reply = await fetchOwn<HealthHistoryReply>('/api/health-history').catch(() => undefined);
      if (!gone && reply !== undefined) setPast(reply);
    };
    void look();
    const timer = setInterval(() => {
      void look();
      if (document.visibilityState === 'visible') refresh();
    }, EVERY_MS);
    return () => {
      gone = true;
      clearInterval(timer);
    };
  }, [there]);
  return past;
}
