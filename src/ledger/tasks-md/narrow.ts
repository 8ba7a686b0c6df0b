const WIDE = /[\u3000\uFF01-\uFF5E【】]/;
const ALL_WIDE = new RegExp(WIDE, 'g');

/**
 * Full-width letters, digits and brackets as their ASCII counterparts, one for one: an index into the result is an
 * index into the text.
 */
export function narrow(text: string): string {
  if (!WIDE.test(text)) return text;
  return text.replace(ALL_WIDE, (wide) => {
    if (wide === '\u3000') return ' ';
    if (wide === '【') return '[';
    if (wide === '】') return ']';
    return String.fromCharCode(wide.charCodeAt(0) - 0xfee0);
  });
}
