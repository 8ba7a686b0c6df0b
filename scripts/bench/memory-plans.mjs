// Plans for the benchmark of what memory is worth: results of a project, in which a few facts stand, and tasks that need
// them. A fact and the task that needs it are worded on their own, from lists that neither knows the other's choice: they
// name the same area in two of its names, and the same property in two of its wordings. Pure, from a seed.

/** Names of areas of a product, as people vary them. The first ones share words, the others mostly do not. */
const AREAS = [
  ['the login form', 'sign-in', 'the authentication screen'],
  ['invoice export', 'downloading bills', 'the export of invoices'],
  ['the search index', 'full-text lookup', 'searching'],
  ['the upload service', 'file uploads', 'receiving attachments'],
  ['the payment gateway', 'card charges', 'taking payments'],
  ['email notifications', 'outgoing mail', 'the mailer'],
  ['the report scheduler', 'nightly reports', 'planned reporting jobs'],
  ['the image resizer', 'thumbnails', 'scaling of pictures'],
  ['webhook delivery', 'calls to subscribers', 'the hook dispatcher'],
  ['the session cache', 'remembered sessions', 'keeping people signed in'],
  ['the audit log', 'the trail of changes', 'recording who did what'],
  ['address validation', 'checking postal addresses', 'the address checker'],
  ['the rate limiter', 'throttling', 'request quotas'],
  ['CSV import', 'reading spreadsheets', 'the importer of tables'],
  ['the price calculator', 'quotes for customers', 'computing totals'],
  ['stock reservations', 'holding inventory', 'the reservation of goods'],
  ['the chat widget', 'live support', 'talking to visitors'],
  ['translation files', 'localised texts', 'languages of the interface'],
  ['the backup job', 'disaster copies', 'saving the database'],
  ['the mobile sync', 'offline changes', 'synchronising phones'],
  ['feature switches', 'the flag service', 'gradual rollouts'],
  ['the recommendation feed', 'suggested articles', 'what readers see next'],
  ['password resets', 'forgotten credentials', 'recovering an account'],
  ['the billing ledger', 'bookkeeping entries', 'the accounts of customers'],
];

/** What may be fixed for an area: how it is said, how a task needs it, and what its value looks like. */
const PROPERTIES = [
  {
    said: ['gives up after V milliseconds', 'has a timeout of V ms', 'waits at most V ms for an answer'],
    needed: ['respect its time limit', 'apply the same timeout', 'make it stop waiting when it should'],
    value: (n) => `${n}`,
  },
  {
    said: ['listens on port V', 'is served on port V', 'was moved to port V'],
    needed: ['connect to its port', 'add a health probe that reaches it', 'open the firewall for it'],
    value: (n) => `${n}`,
  },
  {
    said: ['stores its rows in the table V', 'writes to V', 'keeps its data in V'],
    needed: ['add a column to its table', 'migrate its data', 'query what it stores'],
    value: (n, word) => `${word}_${n}`,
  },
  {
    said: ['is switched by the flag V', 'only runs behind V', 'is enabled through V'],
    needed: ['turn it on for testers', 'remove its feature flag', 'enable it by default'],
    value: (n, word) => `enable-${word}-${n}`,
  },
  {
    said: ['sends the header V', 'expects V among the headers', 'is traced by the header V'],
    needed: ['pass its header through the proxy', 'accept the header that it sends', 'document its headers'],
    value: (n, word) => `X-${word}-${n}`,
  },
  {
    said: ['takes its lock under the name V', 'is guarded by the mutex V', 'must hold V while it runs'],
    needed: ['lock it before changing anything', 'avoid two of them at once', 'release its lock on errors'],
    value: (n, word) => `lock:${word}:${n}`,
  },
  {
    said: ['publishes to the topic V', 'announces changes on V', 'emits its events as V'],
    needed: ['subscribe to its events', 'consume what it announces', 'react when it changes'],
    value: (n, word) => `${word}.events.${n}`,
  },
];

const WORDS = [
  'amber',
  'birch',
  'cobalt',
  'delta',
  'ember',
  'fjord',
  'garnet',
  'harbor',
  'indigo',
  'juniper',
];
const VERBS = ['Extend', 'Change', 'Rework', 'Fix', 'Continue', 'Improve'];
const CHATTER = [
  'split the module in two and moved the helpers',
  'raised the coverage, no change of behaviour',
  'renamed variables after the review',
  'the flaky case passes now, it waited too short',
  'updated dependencies and regenerated the lock file',
  'documented the public functions',
  'removed code that nothing called',
];

/** Results before the tasks of a plan. */
const RESULTS = 220;
const TASKS = 4;
const NEAREST = 10;
const FARTHEST = 200;

/** The plan of a number: `results` in order, and `tasks`, each with the `value` that it needs and how far back that stands. */
export function memoryPlan(number) {
  const random = generator(number * 7919 + 17);
  const pick = (items) => items[Math.floor(random() * items.length)];
  const used = new Set();
  const value = (property) => {
    for (;;) {
      const made = property.value(1000 + Math.floor(random() * 9000), pick(WORDS));
      if (!used.has(made)) {
        used.add(made);
        return made;
      }
    }
  };
  const tasks = [];
  const planted = new Map();
  const taken = new Set();
  while (tasks.length < TASKS) {
    const area = pick(AREAS);
    const property = pick(PROPERTIES);
    const distance = NEAREST + Math.floor(random() * (FARTHEST - NEAREST + 1));
    const place = RESULTS - distance;
    const key = `${AREAS.indexOf(area)} ${PROPERTIES.indexOf(property)}`;
    if (taken.has(key) || planted.has(place)) continue;
    taken.add(key);
    const v = value(property);
    const [saidAs, neededAs] = twoOf(area, random);
    const fact = `${capital(saidAs)} ${pick(property.said).replace('V', v)}`;
    planted.set(place, fact);
    tasks.push({
      id: `T${tasks.length + 1}`,
      text: `${pick(VERBS)} ${neededAs}: ${pick(property.needed)}`,
      value: v,
      fact,
      distance,
    });
  }
  const results = Array.from({ length: RESULTS }, (_, at) => {
    const fact = planted.get(at) ?? distractor();
    return resultOf(`W${at + 1}`, fact, random, pick);
  });
  return { number, results, tasks };

  /** Another property of an area, the same property of another one, or nothing of use; never the answer to a task. */
  function distractor() {
    if (random() < 0.4) return `${capital(pick(pick(AREAS)))}: ${pick(CHATTER)}`;
    for (;;) {
      const area = pick(AREAS);
      const property = pick(PROPERTIES);
      if (taken.has(`${AREAS.indexOf(area)} ${PROPERTIES.indexOf(property)}`)) continue;
      return `${capital(pick(area))} ${pick(property.said).replace('V', value(property))}`;
    }
  }
}

/** A result that says something, in one of the places in which agents say things. */
function resultOf(task_id, said, random, pick) {
  const file = `src/${pick(WORDS)}/${pick(WORDS)}.ts`;
  const done = { task_id, status: 'completed', files_modified: [file] };
  const way = random();
  const chatter = capital(pick(CHATTER));
  if (way < 0.5) return { ...done, summary: `${chatter}. ${said}.` };
  if (way < 0.75) return { ...done, summary: chatter, follow_up_actions: [`Keep in mind: ${said}`] };
  return {
    ...done,
    summary: chatter,
    facts: [{ subject: task_id, relation: 'decided', object: said, tags: ['decision'] }],
  };
}

function twoOf(names, random) {
  const first = Math.floor(random() * names.length);
  const second = (first + 1 + Math.floor(random() * (names.length - 1))) % names.length;
  return [names[first], names[second]];
}

function capital(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The same numbers for the same seed. */
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
