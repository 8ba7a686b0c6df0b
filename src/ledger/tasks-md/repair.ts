/**
 * Undoes what editors and shells do to a file: the byte order mark, and UTF-8 that was decoded as Windows-1252,
 * Latin-1 or MacRoman (`â€”` or `‚Äî` for a dash). Lines keep their numbers.
 */

export interface Repaired {
  readonly text: string;
  /** The first line (0-based) that was mis-decoded, and what was done about it. */
  readonly misdecoded?: { readonly line: number; readonly message: string };
}

interface Legacy {
  readonly name: string;
  readonly bytes: ReadonlyMap<string, number>;
  /** A character that stands for a lead byte, and those for its continuation bytes. */
  readonly sequence: RegExp;
}

const BOM = /^(?:\uFEFF|ï»¿|Ôªø)/;
const NON_ASCII = /[^\p{ASCII}]/gu;

// The characters of the bytes 80 to FF. TextDecoder does not help: in Node 20 it reads windows-1252 as Latin-1.
const UPPER_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const LATIN_1 = String.fromCharCode(...Array.from({ length: 96 }, (_, at) => 0xa0 + at));
const MAC_ROMAN =
  'ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ';

const LEGACY: readonly Legacy[] = [
  legacy('Windows-1252', UPPER_1252 + LATIN_1),
  legacy('MacRoman', MAC_ROMAN),
];

/** Text without byte order mark, and with mis-decoded characters put right where the whole file speaks for it. */
export function repair(source: string): Repaired {
  const text = source.replace(BOM, '');
  // Plain ASCII takes a byte each.
  if (Buffer.byteLength(text) === text.length) return { text };
  const foreign = text.match(NON_ASCII)?.length ?? 0;
  for (const encoding of LEGACY) {
    const repaired = decodeAgain(text, foreign, encoding);
    if (repaired !== undefined) return repaired;
  }
  const lost = text.indexOf('\uFFFD');
  if (lost === -1) return { text };
  return {
    text,
    misdecoded: { line: lineAt(text, lost), message: 'holds characters that were lost when it was decoded' },
  };
}

/**
 * Only when at least two sequences are found and nine of ten foreign characters belong to one: `café…»` may by
 * chance spell a sequence, a text in which nearly everything does is mis-decoded.
 */
function decodeAgain(text: string, foreign: number, { name, bytes, sequence }: Legacy): Repaired | undefined {
  let first = -1;
  let count = 0;
  let covered = 0;
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const fixed = text.replace(sequence, (found, at: number) => {
    const right = decode(found, bytes, decoder);
    if (right === undefined) return found;
    if (first === -1) first = at;
    count += 1;
    covered += Array.from(found).length;
    return right;
  });
  if (count < 2 || covered < foreign * 0.9) return undefined;
  const message = `UTF-8 that was read as ${name}; ${count} characters were corrected`;
  return { text: fixed, misdecoded: { line: lineAt(text, first), message } };
}

function decode(
  found: string,
  bytes: ReadonlyMap<string, number>,
  decoder: InstanceType<typeof TextDecoder>,
): string | undefined {
  try {
    return decoder.decode(Uint8Array.from(Array.from(found), (character) => bytes.get(character) ?? 0));
  } catch {
    return undefined;
  }
}

function legacy(name: string, characters: string): Legacy {
  const bytes = new Map(Array.from(characters, (character, at) => [character, 0x80 + at] as const));
  // Some tools leave the bytes 80 to 9F as control characters.
  for (let byte = 0x80; byte < 0xa0; byte += 1) {
    const control = String.fromCharCode(byte);
    if (!bytes.has(control)) bytes.set(control, byte);
  }
  const range = (from: number, to: number): string =>
    [...bytes]
      .filter(([, byte]) => byte >= from && byte <= to)
      .map(([character]) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
      .join('');
  const next = `[${range(0x80, 0xbf)}]`;
  const [two, three, four] = [range(0xc2, 0xdf), range(0xe0, 0xef), range(0xf0, 0xf4)];
  return {
    name,
    bytes,
    sequence: new RegExp(`[${four}]${next}{3}|[${three}]${next}{2}|[${two}]${next}`, 'gu'),
  };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\r|\n/).length - 1;
}
