import { readdir, readFile } from 'node:fs/promises';

/** What packages ask to be kept with every copy of them, as one text. */
export async function licencesOf(names) {
  const texts = await Promise.all(names.map(licenceOf));
  return texts.join('\n\n');
}

async function licenceOf(name) {
  const folder = new URL(`../node_modules/${name}/`, import.meta.url);
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  return `${name}\n\n${await readFile(new URL(file, folder), 'utf8')}`;
}
