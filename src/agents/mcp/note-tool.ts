import type { InboxMessage, Note } from '../../session/notebook.js';
import { oneLine } from '../../shared/text.js';
import type { McpAnswer, McpTool } from './memory.js';
import { needed } from './needed.js';

/** `note`: what agents write down for each other. */
export const noteTool: McpTool<'note'> = async ({ session, client: connect }, input) => {
  const client = await connect();
  const content = () => needed(input, 'content', 'what to write down');
  switch (input.action) {
    case 'note':
    case 'decision': {
      const type = input.action === 'decision' ? 'decision' : input.type;
      const { note } = await client.tools.noteAdd({ session, content: content(), type });
      return written([note], '');
    }
    case 'list':
      return written(
        (await client.tools.noteList({ session, type: input.type })).notes,
        'There are no notes.',
      );
    case 'message': {
      const { message } = await client.tools.inboxAdd({ session, content: content() });
      return written([message], '');
    }
    case 'read': {
      const id = needed(input, 'id', 'the message, such as MSG-2');
      const { message } = await client.tools.inboxMarkRead({ session, id });
      return written([message], '');
    }
    case 'inbox':
      return written((await client.tools.inboxList({ session })).messages, 'There are no unread messages.');
  }
};

function written(entries: readonly (Note | InboxMessage)[], none: string): McpAnswer<'note'> {
  const lines = entries.map((entry) => `${entry.id} ${kindOf(entry)}: ${oneLine(entry.content)}`);
  const data = entries.map((entry) => ({ id: entry.id, content: entry.content, type: kindOf(entry) }));
  return { text: lines.join('\n') || none, data: { entries: data } };
}

function kindOf(entry: Note | InboxMessage): string {
  return 'type' in entry ? entry.type : entry.read ? 'message, read' : 'message, unread';
}
