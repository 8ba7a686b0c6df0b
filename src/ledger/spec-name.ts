/** What a plan is called where nobody says: its folder, else its file, without what every plan is called. */
const USUAL =
  /^(tasks?|plans?|todos?|specs?|changes|docs?|\.kiro|\.spec-workflow|openspec|\.taskmaster|\.cursor|\.|\.\.)$/i;

/** `parser` for `/work/.kiro/specs/parser/tasks.md`; `plan` where the path says nothing. */
export function specNameOf(path: string): string {
  const parts = path.split(/[/\\]+/).filter((part) => part !== '');
  const file = parts.pop()?.replace(/\.[^.]*$/, '') ?? '';
  const name = [file, ...parts.reverse()].find((part) => part !== '' && !USUAL.test(part));
  return (name ?? 'plan').slice(0, 200);
}
