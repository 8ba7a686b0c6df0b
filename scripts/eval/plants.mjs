// What is planted in a session, and how it is asked for later: in other words than it was said in.

/** `shown`: the part of the text that a prompt must hold. */
export const PLANTS = [
  ...must([
    ['close the file handle when parsing fails', 'Make the parser release its file handles after an error'],
    [
      'validate the size of the upload before buffering',
      'Uploads: check sizes ahead of reading them into a buffer',
    ],
    ['escape user names in the audit log', 'Harden the audit logging against hostile user names'],
    [
      'retry the payment webhook with backoff',
      'Payment webhooks are lost when the receiver is down, add retries',
    ],
    ['cap the cache of compiled templates', 'Template compilation caches grow without limit'],
    ['reject expired refresh tokens', 'Sessions: refreshing a token that has expired must fail'],
    ['lock the migration table while migrating', 'Two deployments run the database migrations at once'],
    ['normalize unicode in the search query', 'Searching with unicode accents finds nothing'],
    ['release the lock when a worker dies', 'Dead workers leave jobs that nobody can take over'],
    ['sanitize markdown before it is rendered', 'Comments in markdown may run scripts'],
    ['pagination must not skip rows that arrive meanwhile', 'Listing pages lose entries while others insert'],
    ['throttle password attempts by address', 'Brute force against the login form'],
    ['flush the write buffer before the process exits', 'The last lines of output go missing on shutdown'],
    ['compare signatures in constant time', 'Verify the signature of incoming hooks'],
    ['check that the archive holds no path outside its folder', 'Unpack archives that plugins come in'],
    [
      'round trips of empty arrays lose their type',
      'Serialize arrays without elements',
      'src/codec/arrays.ts',
    ],
    ['the header row is counted as data', 'The csv import has one line too many', 'src/import/csv.ts'],
    [
      'stale entries survive a rename',
      'Renaming a project leaves its old cache behind',
      'lib/cache/index.js',
    ],
    ['the timer is never cleared', 'The poller keeps running after it is stopped', 'pkg/poller/poller.go'],
    ['a leading zero is taken for octal', 'Version numbers with zeros are misread', 'src/semver/parse.ts'],
    [
      'the connection is returned twice to the pool',
      'Pool size goes negative under load',
      'internal/db/pool.go',
    ],
    ['cancelled orders are still charged', 'Customers pay although they cancelled'],
  ]),
  ...conventions([
    ['Always wrap errors of the storage layer in StorageError', 'Storage: handle errors of the new backend'],
    ['Never log request bodies in the gateway', 'Improve gateway logging of failing requests'],
    ['Prefer integration tests with a real broker over mocks', 'Write tests for the broker integration'],
    ['Avoid default exports in the widget package', 'Add another widget to the widgets package'],
    ['Naming of metrics must follow the pattern service_unit_total', 'Expose metrics for the import service'],
    ['Do not call the clock directly in the scheduler', 'The scheduler fires twice when the clock jumps'],
    ['Always document the public options of the exporter', 'Exporter: support a new option for compression'],
    ['Never block the event loop in the renderer', 'Rendering large documents blocks the loop for seconds'],
    ['Every handler returns a Result and throws nothing', 'Add an endpoint handler that deletes accounts'],
    ['Translations live in one file for each language', 'Translate the checkout into another language'],
    ['Feature code imports the ui kit through its index only', 'Build the settings page with the ui kit'],
    [
      'Migrations are append only, one statement each',
      'Write a migration that adds a column for phone numbers',
    ],
    [
      'Public functions take an options object as last argument',
      'New public function to merge two documents',
    ],
    ['Errors shown to users end with what to do next', 'Show a clearer error when the upload fails'],
    [
      'Environment variables are read in config/env.ts and nowhere else',
      'Make the timeout configurable by an environment variable',
    ],
    ['Snapshots in tests hold no dates', 'Snapshot tests fail every midnight'],
    ['Commands print nothing but JSON to stdout', 'Print progress while the command runs'],
    ['Money is an integer of cents', 'Calculate the money that a refund gives back'],
    ['Use table driven cases', 'More cases for the tokenizer', 'internal/token/token_test.go'],
    ['Colors come from the theme', 'The button has the wrong color in dark mode', 'src/ui/button.tsx'],
    [
      'Queries go through the repository classes',
      'Speed up the slow query of the dashboard',
      'src/dashboard/stats.py',
    ],
    ['Icons are imported one by one', 'Add icons to the toolbar', 'web/toolbar/toolbar.vue'],
  ]),
  ...decisions([
    [
      'Sessions are kept in redis instead of postgres since writes dominate',
      'Where do sessions live, redis or postgres?',
    ],
    [
      'The ingest queue uses at-least-once delivery with deduplication',
      'Messages of the ingest queue arrive twice',
    ],
    ['Dates are stored as UTC epoch milliseconds', 'Which format do stored dates have'],
    ['The billing module rounds half to even', 'Billing: rounding of amounts is off by one cent'],
    ['Avatars are resized in the browser, not on the server', 'Resize avatar images that users send'],
    ['Feature flags are read once at startup', 'Changing a feature flag has no effect until restart'],
    ['The public API is versioned by header, not by path', 'Add a new version of the public API'],
    ['Thumbnails are generated lazily on first request', 'Thumbnail generation slows the first page view'],
    ['Search results are ranked by recency and then by name', 'The order of search results looks random'],
    ['Soft deletes are used for invoices, hard deletes for drafts', 'Delete invoices older than ten years'],
    ['We keep the websocket open and poll only as a fallback', 'Websocket reconnects take too long'],
    ['The parser is written by hand, without a generator', 'Extend the grammar of the parser with comments'],
    ['Uploads go straight to object storage with signed links', 'Large uploads time out at the proxy'],
    ['Permissions are checked in the gateway alone', 'Guests may see private boards: check permissions'],
    ['Emails are sent by a queue, not in the request', 'Send an email when a person joins'],
    ['Identifiers are ULIDs, so that they sort by time', 'Which identifiers do new tables have'],
    ['Configuration is YAML, JSON is accepted too', 'Read the configuration from TOML as well'],
    ['Background jobs run at most five minutes', 'A background job that recalculates all totals'],
    ['Logs are kept for thirty days', 'How long do we keep logs'],
    ['CSS modules replace styled components', 'Restyle the sidebar'],
    ['The desktop client embeds the web client', 'Package the desktop client for Linux'],
    ['Locks are taken in the order of account ids', 'Deadlock when two transfers lock the same accounts'],
  ]),
];

/** The results that say it. */
export function results({ kind, text, task, file, way }) {
  const work = { task_id: task, status: 'completed', summary: 'First part' };
  if (kind === 'decision') {
    const said = { summary: way === 'fact' ? 'First part' : text };
    const facts = [{ subject: task, relation: 'decided', object: text, tags: ['decision'] }];
    return [{ role: 'implementer', result: { ...work, ...said, ...(way === 'fact' && { facts }) } }];
  }
  const issue = { severity: 'important', message: text, ...(file && { file }) };
  const found = kind === 'must_fix' && !file ? { required_fixes: [text] } : { issues: [issue] };
  const facts = [{ subject: task, relation: 'convention', object: text, tags: ['convention'] }];
  const said = kind === 'convention' && way === 'fact' ? { facts } : found;
  return [
    { role: 'implementer', result: { ...work, ...(file && { files_modified: [file] }) } },
    { role: 'reviewer', result: { task_id: task, assessment: 'needs_changes', ...said } },
  ];
}

/** The same as a fact in words, which outlives its task. */
export function lasting({ kind, text, task }) {
  const relation = kind === 'decision' ? 'decided' : 'convention';
  const facts = [{ subject: task, relation, object: text, tags: [kind] }];
  return [
    { role: 'implementer', result: { task_id: task, status: 'completed', summary: 'First part', facts } },
  ];
}

/** Pairs of what is said and how it is asked for, perhaps with the file that it is said of. */
function must(pairs) {
  return planted('must_fix', pairs);
}

function conventions(pairs) {
  return planted('convention', pairs);
}

function decisions(pairs) {
  return planted('decision', pairs);
}

function planted(kind, pairs) {
  return pairs.map(([text, asked, file], index) => ({
    kind,
    text,
    shown: text,
    asked,
    file,
    // A convention and a decision are said by a result's fields, or as a fact in words.
    way: Math.floor(index / 2) % 2 === 0 ? 'field' : 'fact',
    // The ranking was made with the one half in view; the other one tells whether it holds for others.
    half: index % 2 === 0 ? 'seen' : 'held out',
    task: `${kind}-${index + 1}`,
  }));
}
