// So many browsers on the live feed of an inspector, as far as it can tell: says "ready" when each has its first event.
// Arguments: origin, token, how many, and the session that half of them watch.
const [origin, token, count, session] = process.argv.slice(2);

const opened = Array.from({ length: Number(count) }, async (_, each) => {
  const query = each % 2 === 0 ? '' : `&session=${session}`;
  const response = await fetch(`${origin}/api/live?token=${token}${query}`);
  if (!response.ok) throw new Error(`status ${response.status}`);
  const reader = response.body.getReader();
  await reader.read();
  void (async () => {
    while (!(await reader.read()).done);
  })();
});
await Promise.all(opened);
console.log('ready');
