"""A method for each request: written from the registry of requests by `npm run docs`."""

from typing import Unpack, cast

from . import types as t
from .groups import Group, SyncGroup, blocking


class Tools(Group):
    """The methods of `session.tools`."""

    async def task_add(self, **fields: Unpack[t.TaskAddRequest]) -> t.TaskAddReply:
        """Add a task."""
        return cast(t.TaskAddReply, await self._send("tool.task-add", fields))

    async def task_status(self, **fields: Unpack[t.TaskStatusRequest]) -> t.TaskStatusReply:
        """Set the status of a task."""
        return cast(t.TaskStatusReply, await self._send("tool.task-status", fields))

    async def task_priority(self, **fields: Unpack[t.TaskPriorityRequest]) -> t.TaskPriorityReply:
        """Set the priority of a task, 0 (critical) to 4 (backlog)."""
        return cast(t.TaskPriorityReply, await self._send("tool.task-priority", fields))

    async def task_depends(self, **fields: Unpack[t.TaskDependsRequest]) -> t.TaskDependsReply:
        """Make a task wait for others."""
        return cast(t.TaskDependsReply, await self._send("tool.task-depends", fields))

    async def task_undepends(self, **fields: Unpack[t.TaskUndependsRequest]) -> t.TaskUndependsReply:
        """Stop a task from waiting for others."""
        return cast(t.TaskUndependsReply, await self._send("tool.task-undepends", fields))

    async def task_content(self, **fields: Unpack[t.TaskContentRequest]) -> t.TaskContentReply:
        """Change the text of a task."""
        return cast(t.TaskContentReply, await self._send("tool.task-content", fields))

    async def task_delete(self, **fields: Unpack[t.TaskDeleteRequest]) -> t.TaskDeleteReply:
        """Delete a task; the last 20 can be restored."""
        return cast(t.TaskDeleteReply, await self._send("tool.task-delete", fields))

    async def task_next(self, **fields: Unpack[t.TaskNextRequest]) -> t.TaskNextReply:
        """Show the next ready task; --claim claims it for an agent."""
        return cast(t.TaskNextReply, await self._send("tool.task-next", fields))

    async def task_release(self, **fields: Unpack[t.TaskReleaseRequest]) -> t.TaskReleaseReply:
        """Give a claimed task back, so that another agent can take it."""
        return cast(t.TaskReleaseReply, await self._send("tool.task-release", fields))

    async def task_list(self, **fields: Unpack[t.TaskListRequest]) -> t.TaskListReply:
        """List the tasks."""
        return cast(t.TaskListReply, await self._send("tool.task-list", fields))

    async def note_add(self, **fields: Unpack[t.NoteAddRequest]) -> t.NoteAddReply:
        """Write a note for later agents."""
        return cast(t.NoteAddReply, await self._send("tool.note-add", fields))

    async def note_edit(self, **fields: Unpack[t.NoteEditRequest]) -> t.NoteEditReply:
        """Change a note."""
        return cast(t.NoteEditReply, await self._send("tool.note-edit", fields))

    async def note_delete(self, **fields: Unpack[t.NoteDeleteRequest]) -> t.NoteDeleteReply:
        """Remove a note; the last 20 can be restored."""
        return cast(t.NoteDeleteReply, await self._send("tool.note-delete", fields))

    async def note_list(self, **fields: Unpack[t.NoteListRequest]) -> t.NoteListReply:
        """List the notes."""
        return cast(t.NoteListReply, await self._send("tool.note-list", fields))

    async def inbox_add(self, **fields: Unpack[t.InboxAddRequest]) -> t.InboxAddReply:
        """Leave a message for the next agent, or with @human a person."""
        return cast(t.InboxAddReply, await self._send("tool.inbox-add", fields))

    async def inbox_mark_read(self, **fields: Unpack[t.InboxMarkReadRequest]) -> t.InboxMarkReadReply:
        """Mark a message as read."""
        return cast(t.InboxMarkReadReply, await self._send("tool.inbox-mark-read", fields))

    async def inbox_list(self, **fields: Unpack[t.InboxListRequest]) -> t.InboxListReply:
        """List the messages that were not read."""
        return cast(t.InboxListReply, await self._send("tool.inbox-list", fields))

    async def blocker_answer(self, **fields: Unpack[t.BlockerAnswerRequest]) -> t.BlockerAnswerReply:
        """Answer the open question of a task: later prompts show it."""
        return cast(t.BlockerAnswerReply, await self._send("tool.blocker-answer", fields))

    async def iteration_start(self, **fields: Unpack[t.IterationStartRequest]) -> t.IterationStartReply:
        """Begin an iteration."""
        return cast(t.IterationStartReply, await self._send("tool.iteration-start", fields))

    async def iteration_complete(self, **fields: Unpack[t.IterationCompleteRequest]) -> t.IterationCompleteReply:
        """End an iteration."""
        return cast(t.IterationCompleteReply, await self._send("tool.iteration-complete", fields))

    async def iteration_summary(self, **fields: Unpack[t.IterationSummaryRequest]) -> t.IterationSummaryReply:
        """Summarize an iteration."""
        return cast(t.IterationSummaryReply, await self._send("tool.iteration-summary", fields))

    async def iteration_list(self, **fields: Unpack[t.IterationListRequest]) -> t.IterationListReply:
        """List the iterations."""
        return cast(t.IterationListReply, await self._send("tool.iteration-list", fields))

    async def session_open(self, **fields: Unpack[t.SessionOpenRequest]) -> t.SessionOpenReply:
        """Set the title and the goal of the session."""
        return cast(t.SessionOpenReply, await self._send("tool.session-open", fields))

    async def session_complete(self, **fields: Unpack[t.SessionCompleteRequest]) -> t.SessionCompleteReply:
        """Complete the session when tasks are done and reviews are settled."""
        return cast(t.SessionCompleteReply, await self._send("tool.session-complete", fields))

    async def session_restart(self, **fields: Unpack[t.SessionRestartRequest]) -> t.SessionRestartReply:
        """Reopen a completed session."""
        return cast(t.SessionRestartReply, await self._send("tool.session-restart", fields))

    async def session_archive(self, **fields: Unpack[t.SessionArchiveRequest]) -> t.SessionArchiveReply:
        """Archive the session: it becomes read-only, and a snapshot replaces its log."""
        return cast(t.SessionArchiveReply, await self._send("tool.session-archive", fields))

    async def session_reopen(self, **fields: Unpack[t.SessionReopenRequest]) -> t.SessionReopenReply:
        """Reopen an archived session."""
        return cast(t.SessionReopenReply, await self._send("tool.session-reopen", fields))

    async def telemetry_show(self, **fields: Unpack[t.TelemetryShowRequest]) -> t.TelemetryShowReply:
        """Show what was counted of the session: results, prompts, progress."""
        return cast(t.TelemetryShowReply, await self._send("tool.telemetry-show", fields))

    async def session_export(self, **fields: Unpack[t.SessionExportRequest]) -> t.SessionExportReply:
        """List the events of the session whole, the oldest first."""
        return cast(t.SessionExportReply, await self._send("tool.session-export", fields))

    async def session_import(self, **fields: Unpack[t.SessionImportRequest]) -> t.SessionImportReply:
        """Make a session from a state, or add history to it."""
        return cast(t.SessionImportReply, await self._send("tool.session-import", fields))

    async def session_forget(self, **fields: Unpack[t.SessionForgetRequest]) -> t.SessionForgetReply:
        """Erase a session for good: events, results, snapshots, prompts, evidence in learnings."""
        return cast(t.SessionForgetReply, await self._send("tool.session-forget", fields))

    async def prompt_list(self, **fields: Unpack[t.PromptListRequest]) -> t.PromptListReply:
        """The prompts that were compiled last, the newest first."""
        return cast(t.PromptListReply, await self._send("tool.prompt-list", fields))

    async def prompt_show(self, **fields: Unpack[t.PromptShowRequest]) -> t.PromptShowReply:
        """Show what a compiled prompt held, and the request to repeat it."""
        return cast(t.PromptShowReply, await self._send("tool.prompt-show", fields))

    async def trace_list(self, **fields: Unpack[t.TraceListRequest]) -> t.TraceListReply:
        """List the intents that have a trace."""
        return cast(t.TraceListReply, await self._send("tool.trace-list", fields))

    async def fact_find(self, **fields: Unpack[t.FactFindRequest]) -> t.FactFindReply:
        """Find facts, where they come from and what closed them."""
        return cast(t.FactFindReply, await self._send("tool.fact-find", fields))

    async def recall(self, **fields: Unpack[t.RecallRequest]) -> t.RecallReply:
        """Search what sessions remember, by words and by meaning."""
        return cast(t.RecallReply, await self._send("tool.recall", fields))

    async def fact_show(self, **fields: Unpack[t.FactShowRequest]) -> t.FactShowReply:
        """Show a fact, its history and the prompts that showed it."""
        return cast(t.FactShowReply, await self._send("tool.fact-show", fields))

    async def fact_retract(self, **fields: Unpack[t.FactRetractRequest]) -> t.FactRetractReply:
        """Withdraw a wrong fact: no later prompt shows it."""
        return cast(t.FactRetractReply, await self._send("tool.fact-retract", fields))

    async def fact_correct(self, **fields: Unpack[t.FactCorrectRequest]) -> t.FactCorrectReply:
        """Replace what a fact says."""
        return cast(t.FactCorrectReply, await self._send("tool.fact-correct", fields))

    async def fact_restore(self, **fields: Unpack[t.FactRestoreRequest]) -> t.FactRestoreReply:
        """Make a fact hold again, whatever ended it."""
        return cast(t.FactRestoreReply, await self._send("tool.fact-restore", fields))

    async def fact_erase(self, **fields: Unpack[t.FactEraseRequest]) -> t.FactEraseReply:
        """Overwrite what a statement says, in the log too; cannot be undone."""
        return cast(t.FactEraseReply, await self._send("tool.fact-erase", fields))

    async def dispatch_show(self, **fields: Unpack[t.DispatchShowRequest]) -> t.DispatchShowReply:
        """Show what became of a result, once the session has it."""
        return cast(t.DispatchShowReply, await self._send("tool.dispatch-show", fields))

    async def timeline_list(self, **fields: Unpack[t.TimelineListRequest]) -> t.TimelineListReply:
        """List what happened, the newest first."""
        return cast(t.TimelineListReply, await self._send("tool.timeline-list", fields))

    async def rejected_list(self, **fields: Unpack[t.RejectedListRequest]) -> t.RejectedListReply:
        """Results that could not be used, the newest first."""
        return cast(t.RejectedListReply, await self._send("tool.rejected-list", fields))


class SyncTools(SyncGroup):
    """The methods of `session.tools`, without asyncio."""

    task_add = blocking(Tools.task_add)
    task_status = blocking(Tools.task_status)
    task_priority = blocking(Tools.task_priority)
    task_depends = blocking(Tools.task_depends)
    task_undepends = blocking(Tools.task_undepends)
    task_content = blocking(Tools.task_content)
    task_delete = blocking(Tools.task_delete)
    task_next = blocking(Tools.task_next)
    task_release = blocking(Tools.task_release)
    task_list = blocking(Tools.task_list)
    note_add = blocking(Tools.note_add)
    note_edit = blocking(Tools.note_edit)
    note_delete = blocking(Tools.note_delete)
    note_list = blocking(Tools.note_list)
    inbox_add = blocking(Tools.inbox_add)
    inbox_mark_read = blocking(Tools.inbox_mark_read)
    inbox_list = blocking(Tools.inbox_list)
    blocker_answer = blocking(Tools.blocker_answer)
    iteration_start = blocking(Tools.iteration_start)
    iteration_complete = blocking(Tools.iteration_complete)
    iteration_summary = blocking(Tools.iteration_summary)
    iteration_list = blocking(Tools.iteration_list)
    session_open = blocking(Tools.session_open)
    session_complete = blocking(Tools.session_complete)
    session_restart = blocking(Tools.session_restart)
    session_archive = blocking(Tools.session_archive)
    session_reopen = blocking(Tools.session_reopen)
    telemetry_show = blocking(Tools.telemetry_show)
    session_export = blocking(Tools.session_export)
    session_import = blocking(Tools.session_import)
    session_forget = blocking(Tools.session_forget)
    prompt_list = blocking(Tools.prompt_list)
    prompt_show = blocking(Tools.prompt_show)
    trace_list = blocking(Tools.trace_list)
    fact_find = blocking(Tools.fact_find)
    recall = blocking(Tools.recall)
    fact_show = blocking(Tools.fact_show)
    fact_retract = blocking(Tools.fact_retract)
    fact_correct = blocking(Tools.fact_correct)
    fact_restore = blocking(Tools.fact_restore)
    fact_erase = blocking(Tools.fact_erase)
    dispatch_show = blocking(Tools.dispatch_show)
    timeline_list = blocking(Tools.timeline_list)
    rejected_list = blocking(Tools.rejected_list)


class Runs(Group):
    """The methods of `session.runs`."""

    async def init(self, **fields: Unpack[t.RunInitRequest]) -> t.RunInitReply:
        """Track the progress of a session in a tasks.md."""
        return cast(t.RunInitReply, await self._send("run.init", fields))

    async def status(self, **fields: Unpack[t.RunStatusRequest]) -> t.RunStatusReply:
        """Show how far a session is and what each task needs next."""
        return cast(t.RunStatusReply, await self._send("run.status", fields))


class SyncRuns(SyncGroup):
    """The methods of `session.runs`, without asyncio."""

    init = blocking(Runs.init)
    status = blocking(Runs.status)


class Traces(Group):
    """The methods of `session.traces`."""

    async def append(self, **fields: Unpack[t.TraceAppendRequest]) -> t.TraceAppendReply:
        """Add entries to the trace of an intent."""
        return cast(t.TraceAppendReply, await self._send("trace.append", fields))

    async def compact(self, **fields: Unpack[t.TraceCompactRequest]) -> t.TraceCompactReply:
        """The compacted history of an intent."""
        return cast(t.TraceCompactReply, await self._send("trace.compact", fields))

    async def get(self, **fields: Unpack[t.TraceGetRequest]) -> t.TraceGetReply:
        """An entry as its event keeps it, with its output."""
        return cast(t.TraceGetReply, await self._send("trace.get", fields))


class SyncTraces(SyncGroup):
    """The methods of `session.traces`, without asyncio."""

    append = blocking(Traces.append)
    compact = blocking(Traces.compact)
    get = blocking(Traces.get)


class ClientTools(Group):
    """The methods of `client.tools`."""

    async def session_list(self, **fields: Unpack[t.SessionListRequest]) -> t.SessionListReply:
        """List the sessions: waiting for a person, then stalled, then the newest."""
        return cast(t.SessionListReply, await self._send("tool.session-list", fields))

    async def health_show(self, **fields: Unpack[t.HealthShowRequest]) -> t.HealthShowReply:
        """Show how the services do, and what has become of results."""
        return cast(t.HealthShowReply, await self._send("tool.health-show", fields))

    async def retention_show(self, **fields: Unpack[t.RetentionShowRequest]) -> t.RetentionShowReply:
        """Show the rules of retention, and what they would do now."""
        return cast(t.RetentionShowReply, await self._send("tool.retention-show", fields))

    async def retention_set(self, **fields: Unpack[t.RetentionSetRequest]) -> t.RetentionSetReply:
        """Set what the keeper does with inactive sessions, everywhere or per project."""
        return cast(t.RetentionSetReply, await self._send("tool.retention-set", fields))

    async def recall(self, **fields: Unpack[t.RecallRequest]) -> t.RecallReply:
        """Search what sessions remember, by words and by meaning."""
        return cast(t.RecallReply, await self._send("tool.recall", fields))

    async def rejected_list(self, **fields: Unpack[t.RejectedListRequest]) -> t.RejectedListReply:
        """Results that could not be used, the newest first."""
        return cast(t.RejectedListReply, await self._send("tool.rejected-list", fields))

    async def rejected_show(self, **fields: Unpack[t.RejectedShowRequest]) -> t.RejectedShowReply:
        """Show a rejected result, its reason and what would fix it."""
        return cast(t.RejectedShowReply, await self._send("tool.rejected-show", fields))

    async def rejected_retry(self, **fields: Unpack[t.RejectedRetryRequest]) -> t.RejectedRetryReply:
        """Publish a rejected result again, corrected or as it came."""
        return cast(t.RejectedRetryReply, await self._send("tool.rejected-retry", fields))

    async def rejected_remove(self, **fields: Unpack[t.RejectedRemoveRequest]) -> t.RejectedRemoveReply:
        """Remove a rejected result for good."""
        return cast(t.RejectedRemoveReply, await self._send("tool.rejected-remove", fields))


class SyncClientTools(SyncGroup):
    """The methods of `client.tools`, without asyncio."""

    session_list = blocking(ClientTools.session_list)
    health_show = blocking(ClientTools.health_show)
    retention_show = blocking(ClientTools.retention_show)
    retention_set = blocking(ClientTools.retention_set)
    recall = blocking(ClientTools.recall)
    rejected_list = blocking(ClientTools.rejected_list)
    rejected_show = blocking(ClientTools.rejected_show)
    rejected_retry = blocking(ClientTools.rejected_retry)
    rejected_remove = blocking(ClientTools.rejected_remove)


class Learnings(Group):
    """The methods of `client.learnings`."""

    async def propose(self, **fields: Unpack[t.LearningProposeRequest]) -> t.LearningProposeReply:
        """Propose a learning, which reaches prompts only after a person accepts it."""
        return cast(t.LearningProposeReply, await self._send("learning.propose", fields))

    async def list(self, **fields: Unpack[t.LearningListRequest]) -> t.LearningListReply:
        """List the learnings of a project, the newest first."""
        return cast(t.LearningListReply, await self._send("learning.list", fields))

    async def search(self, **fields: Unpack[t.LearningSearchRequest]) -> t.LearningSearchReply:
        """Find the learnings that are relevant to a text, as prompts do."""
        return cast(t.LearningSearchReply, await self._send("learning.search", fields))

    async def retract(self, **fields: Unpack[t.LearningRetractRequest]) -> t.LearningRetractReply:
        """Retract a learning: it stays on record, but no longer reaches prompts."""
        return cast(t.LearningRetractReply, await self._send("learning.retract", fields))


class SyncLearnings(SyncGroup):
    """The methods of `client.learnings`, without asyncio."""

    propose = blocking(Learnings.propose)
    list = blocking(Learnings.list)
    search = blocking(Learnings.search)
    retract = blocking(Learnings.retract)


class Proposals(Group):
    """The methods of `client.proposals`."""

    async def list(self, **fields: Unpack[t.ProposalListRequest]) -> t.ProposalListReply:
        """List the proposals of a project, the newest first."""
        return cast(t.ProposalListReply, await self._send("proposal.list", fields))

    async def show(self, **fields: Unpack[t.ProposalShowRequest]) -> t.ProposalShowReply:
        """Show a proposal with its evidence and the most similar learning."""
        return cast(t.ProposalShowReply, await self._send("proposal.show", fields))

    async def accept(self, **fields: Unpack[t.ProposalAcceptRequest]) -> t.ProposalAcceptReply:
        """Make a proposal a learning; near duplicates are merged."""
        return cast(t.ProposalAcceptReply, await self._send("proposal.accept", fields))

    async def reject(self, **fields: Unpack[t.ProposalRejectRequest]) -> t.ProposalRejectReply:
        """Reject a proposal: only a person can propose the same again."""
        return cast(t.ProposalRejectReply, await self._send("proposal.reject", fields))


class SyncProposals(SyncGroup):
    """The methods of `client.proposals`, without asyncio."""

    list = blocking(Proposals.list)
    show = blocking(Proposals.show)
    accept = blocking(Proposals.accept)
    reject = blocking(Proposals.reject)
