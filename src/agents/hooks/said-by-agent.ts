import { BEGIN } from '../../contracts/reading/result-marks.js';
import { isObject } from '../../shared/is-object.js';

/** What a sub-agent said, in what the tool answered that called it. */
export function saidByAgent(response: unknown): string {
  return textsIn(isObject(response) ? response.llmContent : response)
    .map(innerText)
    .join('\n');
}

function textsIn(content: unknown): string[] {
  if (typeof content === 'string') return [content];
  if (Array.isArray(content)) return content.flatMap(textsIn);
  return isObject(content) && typeof content.text === 'string' ? [content.text] : [];
}

/** Agents with a form to fill in answer by an object of JSON, with their text in one of its fields. */
function innerText(text: string): string {
  if (!text.includes(BEGIN)) return text;
  try {
    const value: unknown = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
    const texts = isObject(value) ? Object.values(value) : [];
    return texts.find((each): each is string => typeof each === 'string' && each.includes(BEGIN)) ?? text;
  } catch {
    return text;
  }
}
