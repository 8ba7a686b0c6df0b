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
  ]),
];

/** The results that say it. */
export function results({ kind, text, task }) {
  if (kind === 'decision')
    return [{ role: 'implementer', result: { task_id: task, status: 'completed', summary: text } }];
  const work = { task_id: task, status: 'completed', summary: 'First part' };
  const found =
    kind === 'must_fix' ? { required_fixes: [text] } : { issues: [{ severity: 'important', message: text }] };
  return [
    { role: 'implementer', result: work },
    { role: 'reviewer', result: { task_id: task, assessment: 'needs_changes', ...found } },
  ];
}

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
  return pairs.map(([text, asked], index) => ({
    kind,
    text,
    shown: text,
    asked,
    task: `${kind}-${index + 1}`,
  }));
}
