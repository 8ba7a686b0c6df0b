// The real extractor and learnings service on real ports, in a process that dies by SIGKILL at a named point, the N-th time that it
// comes there.
// usage: node mortal-learner.mjs URL POINT N

import { silentLogger } from '../../../dist/engine/ports/logger-and-clock.js';
import { systemClock } from '../../../dist/engine/runtime/pacing.js';
import { Shutdown } from '../../../dist/engine/runtime/shutdown.js';
import { watchConnection } from '../../../dist/nats/connection/connect-nats.js';
import { openProjects, openSessions } from '../../../dist/services/common/process-parts.js';
import { countingLogger } from '../../../dist/services/common/service-health.js';
import { serveRequests } from '../../../dist/services/common/service-shell.js';
import { openExtractor } from '../../../dist/services/extractor/extractor-worker.js';
import { openLearnings } from '../../../dist/services/learnings/serve-learnings.js';
import { openMortal } from './mortality.mjs';

const [url, point, count] = process.argv.slice(2);
const { config, nats, at } = await openMortal('mortal learner', url, point, count);

const KINDS = { observed: 'an observation', proposed: 'a proposal' };

const learnings = {
  read: (project, range) => nats.learnings.read(project, range),
  watch: (project, onEvent) => nats.learnings.watch(project, onEvent),
  projects: () => nats.learnings.projects(),
  async append(project, event, options) {
    const kind = KINDS[event.type] ?? 'a decision';
    at(`before ${kind} is appended`);
    const appended = await nats.learnings.append(project, event, options);
    if (appended.outcome === 'appended') at(`after ${kind} is appended`);
    return appended;
  },
};

const learningSnapshots = {
  load: (project) => nats.learningSnapshots.load(project),
  loadAtOrBefore: (project, sequence) => nats.learningSnapshots.loadAtOrBefore(project, sequence),
  async save(project, snapshot) {
    at('after an append, before the snapshot');
    const saving = nats.learningSnapshots.save(project, snapshot);
    // The request is handed to the socket in a turn of its own: by now it may have arrived or not.
    setImmediate(() => at('during a snapshot write'));
    const outcome = await saving;
    at('after a snapshot write');
    return outcome;
  },
};

const { logger, incidents } = countingLogger(silentLogger, systemClock);
const health = { host: 'here', uptimeMs: () => 0, connection: watchConnection(nats.connection), incidents };
const serving = { config, logger, shutdown: new Shutdown(), health };
const ports = { ...nats, learnings, learningSnapshots };
const sessions = openSessions(nats, config, logger, systemClock);
const projects = openProjects(ports, serving, systemClock);
const parts = { ...serving, nats: ports, sessions, projects };
const serve = (name, service) =>
  serveRequests(nats.connection, serving, { name, description: name }, service);
await serve('extractor', await openExtractor(parts, ports));
await serve('learnings', openLearnings(parts));
console.log('ready');
