import { loadTokenizer } from '../../config/load-tokenizer.js';
import { LEARNINGS_SUBJECTS, projectOfSubject, SERVICE_NAMES } from '../../contracts/names.js';
import { waitLimit } from '../../engine/folding/caught-up.js';
import type { ProjectReader } from '../../engine/folding/session-folding.js';
import { systemClock } from '../../engine/ports/clients.js';
import { scannerFor } from '../../memory/redaction/secret-scanner.js';
import { Announcements } from '../../nats/connection/connect-nats.js';
import type { NatsPorts } from '../../nats/open-nats.js';
import { numbersOf, type Serving, type Sessions } from '../common/service-context.js';
import { endpointOf, serveRequests } from '../common/service-shell.js';
import type { Projects } from '../learnings/serve-learnings.js';
import { CompileTimes, createPastPrompts, createPromptCompiler } from './prompt-compiler.js';
import { PromptKeeper, Telemetry } from './prompt-keeper.js';
import { createPromptLearnings } from './prompt-learnings.js';

export async function serveCompiler(
  nats: NatsPorts,
  sessions: Sessions,
  projects: Projects,
  serving: Serving,
): Promise<void> {
  const { config, logger, shutdown, lifecycle, monitoring } = serving;
  const telemetry = new Telemetry({ store: nats.telemetry, log: nats.log, logger, lifecycle });
  shutdown.add('the telemetry', () => telemetry.stop());
  const times = new CompileTimes();
  monitoring.metrics.add(times.collect);
  const stored = { ring: nats.prompts, secrets: scannerFor(config), clock: systemClock };
  const keeper = new PromptKeeper({ ...stored, logger });
  monitoring.metrics.add(() => ({
    throughline_prompts_kept_total: [[{}, keeper.counts.kept]],
    throughline_prompts_dropped_total: [[{}, keeper.counts.dropped]],
  }));
  shutdown.add('the keeper of prompts', () => keeper.stop());
  const { relevance, wordVectors } = projects;
  const announced = new Announcements(nats.connection, LEARNINGS_SUBJECTS, projectOfSubject);
  const reader: Pick<ProjectReader, 'load' | 'loadAsOf'> = {
    load: (project) => projects.reader.loadUnlessQuiet(project, (since) => announced.isQuiet(project, since)),
    loadAsOf: (...asked) => projects.reader.loadAsOf(...asked),
  };
  const options = {
    ...sessions,
    log: nats.log,
    learnings: createPromptLearnings({ reader, relevance, logger }),
    wordVectors,
    tokenizers: loadTokenizer,
    waiters: waitLimit(),
    afterTimeoutMs: config.afterTimeoutMs,
  };
  const compile = createPromptCompiler({ ...options, telemetry, keeper, times });
  const past = createPastPrompts(options);
  const lower = 'maxFacts, maxTokens or a shorter taskPrompt';
  await serveRequests(nats.connection, serving, {
    name: SERVICE_NAMES.compiler,
    description: 'Compiles the next prompt from what a session remembers',
    numbers: () => ({ ...numbersOf(sessions), prompts: keeper.counts, compiled: times.totals }),
    // Requests are redacted only when stored: the prompt contains them as written.
    redacts: false,
    endpoints: [endpointOf('prompt.compile', compile, { lower }), endpointOf('prompt.past', past, { lower })],
  });
}
