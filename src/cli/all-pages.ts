/** All pages of a list, in their order: each but the last says where the next begins. */
export async function allPages<Page extends { readonly next?: string }>(
  ask: (cursor: { readonly cursor?: string }) => Promise<Page>,
): Promise<readonly [Page, ...Page[]]> {
  const first = await ask({});
  const rest: Page[] = [];
  for (let { next } = first; next !== undefined; ) {
    const page = await ask({ cursor: next });
    rest.push(page);
    next = page.next;
  }
  return [first, ...rest];
}
