"""Types of results, requests and replies: written from the JSON Schemas by `npm run docs`."""

from typing import Any, Literal, NotRequired, TypedDict

Role = Literal["implementer", "reviewer", "observer"]
TaskStatus = Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
NoteType = Literal["learning", "stuck", "tip", "decision", "rule"]
ErrorCode = Literal["marker_missing", "json_parse_failed", "schema_invalid", "stored_reply", "subject_invalid", "too_large", "rate_limited", "deliveries_exhausted", "token_invalid", "limit_reached", "not_caught_up", "dispatch_rejected", "session_forgotten", "session_exists", "not_found", "ambiguous", "duplicate", "near_duplicate", "already_decided", "project_bound", "cycle", "open_tasks", "open_fixes", "session_completed", "session_archived", "summary_exists", "template_invalid", "prompt_overflow", "progress_ledger_missing_tasks", "progress_ledger_parse_failed", "plan_too_long", "progress_ledger_incomplete", "conflict", "unavailable", "store_full", "store_in_use", "store_unusable", "auth_failed", "tls_failed", "permission_denied", "server_unsupported", "server_missing", "config_invalid", "not_connected", "usage", "reply_invalid", "internal"]


class TestRun(TypedDict):
    """A run of tests."""

    command: str
    """The command that ran the tests."""
    passed: bool
    """True if they passed."""
    failures: NotRequired[list[str]]
    """The failures, one text each."""


RenamedFile = TypedDict("RenamedFile", {
    "from": str,  # Its path before.
    "to": str,  # Its path now.
})


class Artifact(TypedDict):
    """Something that later tasks can call."""

    kind: NotRequired[str]
    """What it is: endpoint, function, component, class or integration."""
    name: str
    """Its name, such as parse or GET /metrics."""
    signature: NotRequired[str]
    """How it is called."""
    location: NotRequired[str]
    """Where it is, such as src/parse.ts:12."""


class Question(TypedDict):
    """A question to a person."""

    text: str
    """The question, in one sentence."""
    options: NotRequired[list[str]]
    """The possible answers."""
    default: NotRequired[str]
    """The answer that is used until someone gives another."""


class StatementScope(TypedDict):
    """Where a statement holds. Absent: everywhere."""

    task: NotRequired[str]
    """Only for this task."""
    paths: NotRequired[list[str]]
    """Only for files that fit one of these, such as legacy/**."""
    branch: NotRequired[str]
    """Only on this git branch."""


class ExplicitFact(TypedDict):
    """A fact in the words of an agent."""

    subject: str
    """Subject of the fact."""
    relation: str
    """Relation of subject and object, such as uses, decided or depends_on."""
    object: str
    """Object of the fact."""
    tags: NotRequired[list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]]
    """Tags of the fact."""
    origin: NotRequired[str]
    """Of an observer: "user" if the user said it in a conversation."""
    by: NotRequired[str]
    """Name of that user."""
    replaces: NotRequired[list[str]]
    """Ids of the statements that it replaces, answers or settles: M7."""
    not_shown: NotRequired[list[str]]
    """Ids that it names, but that its agent was not shown."""
    scope: NotRequired[StatementScope]


class ImplementerResult(TypedDict):
    """The result of an agent as implementer, on dispatch.<session>.implementer."""

    task_id: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    status: Literal["completed", "blocked", "failed"]
    """The verdict on the task, which decides what happens next."""
    summary: NotRequired[str]
    """The work or findings, in a few sentences."""
    files_modified: NotRequired[list[str]]
    """Paths of the files that were changed."""
    tests: NotRequired[list[TestRun]]
    """Test commands that were run."""
    follow_up_actions: NotRequired[list[str]]
    """Remaining work."""
    blockers: NotRequired[list[str]]
    """Blockers."""
    intent_id: NotRequired[str]
    """Id of the intent whose trace records the result."""
    result_id: NotRequired[str]
    """Idempotency key: the result counts once, however often it is published."""
    branch: NotRequired[str]
    """The git branch that it was done on."""
    commit: NotRequired[str]
    """The git commit of the work."""
    files_deleted: NotRequired[list[str]]
    """Paths of the files that were deleted."""
    files_renamed: NotRequired[list[RenamedFile]]
    """Files that were renamed or moved."""
    at: NotRequired[str]
    """When it happened, ISO 8601, if long before it is published."""
    artifacts: NotRequired[list[Artifact]]
    """What the work adds that later tasks can call."""
    history: NotRequired[bool]
    """From before the session: it adds facts, and needs no next action."""
    questions: NotRequired[list[Question]]
    """Questions to a person; a default lets work go on without answer."""
    facts: NotRequired[list[ExplicitFact]]
    """Further knowledge for later agents, as subject, relation and object."""


class ReviewIssue(TypedDict):
    """Something that a review found wrong."""

    severity: Literal["critical", "important", "minor"]
    """Severity."""
    file: NotRequired[str]
    """The file that it is in."""
    message: str
    """The problem, in a sentence."""
    fix: NotRequired[str]
    """The suggested fix."""


class ReviewerResult(TypedDict):
    """The result of an agent as reviewer, on dispatch.<session>.reviewer."""

    task_id: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    assessment: Literal["approved", "needs_changes", "blocked"]
    """The verdict on the task, which decides what happens next."""
    strengths: NotRequired[list[str]]
    """Strengths of the work."""
    issues: NotRequired[list[ReviewIssue]]
    """Problems of the work."""
    required_fixes: NotRequired[list[str]]
    """Fixes required for approval."""
    summary: NotRequired[str]
    """The work or findings, in a few sentences."""
    intent_id: NotRequired[str]
    """Id of the intent whose trace records the result."""
    result_id: NotRequired[str]
    """Idempotency key: the result counts once, however often it is published."""
    branch: NotRequired[str]
    """The git branch that it was done on."""
    commit: NotRequired[str]
    """The git commit of the work."""
    files_deleted: NotRequired[list[str]]
    """Paths of the files that were deleted."""
    files_renamed: NotRequired[list[RenamedFile]]
    """Files that were renamed or moved."""
    at: NotRequired[str]
    """When it happened, ISO 8601, if long before it is published."""
    artifacts: NotRequired[list[Artifact]]
    """What the work adds that later tasks can call."""
    history: NotRequired[bool]
    """From before the session: it adds facts, and needs no next action."""
    questions: NotRequired[list[Question]]
    """Questions to a person; a default lets work go on without answer."""
    facts: NotRequired[list[ExplicitFact]]
    """Further knowledge for later agents, as subject, relation and object."""


class ObserverResult(TypedDict):
    """The result of an agent as observer, on dispatch.<session>.observer."""

    task_id: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    summary: NotRequired[str]
    """The work or findings, in a few sentences."""
    files_modified: NotRequired[list[str]]
    """Paths of the files that were changed."""
    tests: NotRequired[list[TestRun]]
    """Test commands that were run."""
    follow_up_actions: NotRequired[list[str]]
    """Remaining work."""
    intent_id: NotRequired[str]
    """Id of the intent whose trace records the result."""
    result_id: NotRequired[str]
    """Idempotency key: the result counts once, however often it is published."""
    branch: NotRequired[str]
    """The git branch that it was done on."""
    commit: NotRequired[str]
    """The git commit of the work."""
    files_deleted: NotRequired[list[str]]
    """Paths of the files that were deleted."""
    files_renamed: NotRequired[list[RenamedFile]]
    """Files that were renamed or moved."""
    at: NotRequired[str]
    """When it happened, ISO 8601, if long before it is published."""
    artifacts: NotRequired[list[Artifact]]
    """What the work adds that later tasks can call."""
    history: NotRequired[bool]
    """From before the session: it adds facts, and needs no next action."""
    questions: NotRequired[list[Question]]
    """Questions to a person; a default lets work go on without answer."""
    facts: NotRequired[list[ExplicitFact]]
    """Further knowledge for later agents, as subject, relation and object."""


class TaskAddRequest(TypedDict):
    """Add a task."""

    content: str
    """The work to do."""
    priority: NotRequired[int]
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""
    status: NotRequired[Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]]
    """Status of the task; remaining means pending."""
    depends_on: NotRequired[str | list[str]]
    """Tasks that it waits for."""
    by: NotRequired[str]
    """Who adds it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class Handover(TypedDict):
    """What the agent left that gave the task back."""

    note: str
    """What it wants the next agent to know."""
    by: NotRequired[str]
    """The agent."""
    at: str
    """When it was given back, ISO 8601 in UTC."""


class TaskResult(TypedDict):
    """Its newest result, if that changed the status after the last command."""

    dispatch: int
    """Its sequence in the DISPATCH stream."""
    at: str
    """When it arrived, ISO 8601 in UTC."""
    outcome: str
    """Its role and verdict."""


class TaskUnresolved(TypedDict):
    id: str
    """Id of a task that it waits for."""
    why: Literal["missing", "remaining", "in_progress", "blocked", "cancelled"]
    """The status of that task, or missing."""


class Task(TypedDict):
    """A task of the board."""

    id: str
    """Id of the task, such as TAS-1."""
    content: str
    """The work to do."""
    by: NotRequired[str]
    """Who wrote it."""
    status: Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
    """Its status."""
    priority: int
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""
    depends_on: list[str]
    """Tasks that it waits for."""
    created_at: str
    """When it was added, ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, ISO 8601 in UTC."""
    iteration: int
    """Iteration in which its status last changed; 0 before the first one."""
    claimed_by: NotRequired[str]
    """Agent that claimed it."""
    claimed_at: NotRequired[str]
    """When that agent claimed it, ISO 8601 in UTC."""
    handover: NotRequired[Handover]
    reason: NotRequired[str]
    """Reason given for its status."""
    status_at: NotRequired[str]
    """When a command last set its status, ISO 8601 in UTC."""
    result: NotRequired[TaskResult]
    """Its newest result, if that changed the status after the last command."""
    unresolved: list[TaskUnresolved]
    """Unfinished dependencies, and why."""


class TaskAddReply(TypedDict):
    """The reply of tool.task-add."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""
    created: NotRequired[Literal[True]]
    """Set if the session did not exist, and begins with it."""


class TaskStatusRequest(TypedDict):
    """Set the status of a task."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    status: Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
    """Status of the task; remaining means pending."""
    reason: NotRequired[str]
    """Why, in words."""


class TaskStatusReply(TypedDict):
    """The reply of tool.task-status."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskPriorityRequest(TypedDict):
    """Set the priority of a task, 0 (critical) to 4 (backlog)."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    priority: int
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""


class TaskPriorityReply(TypedDict):
    """The reply of tool.task-priority."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskDependsRequest(TypedDict):
    """Make a task wait for others."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    depends_on: str | list[str]
    """The tasks that it waits for."""


class TaskDependsReply(TypedDict):
    """The reply of tool.task-depends."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskUndependsRequest(TypedDict):
    """Stop a task from waiting for others."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    depends_on: str | list[str]
    """The tasks that it waits for."""


class TaskUndependsReply(TypedDict):
    """The reply of tool.task-undepends."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskContentRequest(TypedDict):
    """Change the text of a task."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    content: str
    """The work to do."""
    by: NotRequired[str]
    """Who writes it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class TaskContentReply(TypedDict):
    """The reply of tool.task-content."""

    task: Task
    """The task as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskDeleteRequest(TypedDict):
    """Delete a task; the last 20 can be restored."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    undo: NotRequired[bool]
    """Restore it instead."""


class TaskDeleteReply(TypedDict):
    """The reply of tool.task-delete."""

    task: Task | None
    """Null: the task is deleted."""
    deleted: NotRequired[str]
    """Id of the deleted task."""
    sequence: int
    """Session sequence that the answer reflects."""


class TaskNextRequest(TypedDict):
    """Show the next ready task; --claim claims it for an agent."""

    claim: NotRequired[str]
    """The agent that claims the task, or has claimed it."""
    id: NotRequired[str]
    """A task of the board or the plan. Default: the next one."""
    ttl_ms: NotRequired[int]
    """How long the claim holds, in milliseconds. Claiming again renews it."""


class PlanClaim(TypedDict):
    """A task of the plan with the agent that works on it."""

    id: str
    """Id of the task in the plan."""
    text: str
    """The work to do."""
    claimed_by: NotRequired[str]
    """Agent that claimed it."""
    claimed_at: NotRequired[str]
    """When that agent claimed it, ISO 8601 in UTC."""
    handover: NotRequired[Handover]


class TaskNextReply(TypedDict):
    """The reply of tool.task-next."""

    task: Task | None
    """The next task of the board; null when none is ready."""
    plan: NotRequired[PlanClaim]
    sequence: int
    """Session sequence that the answer reflects."""


class TaskReleaseRequest(TypedDict):
    """Give a claimed task back, so that another agent can take it."""

    id: str
    """Its id: TAS-12, tas-12, 12, or a unique prefix."""
    claim: NotRequired[str]
    """The agent that claims the task, or has claimed it."""
    note: NotRequired[str]
    """A note for the next agent of this task."""


class TaskReleaseReply(TypedDict):
    """The reply of tool.task-release."""

    task: Task | None
    """The task as it is now; null for one of the plan."""
    plan: NotRequired[PlanClaim]
    sequence: int
    """Session sequence that the answer reflects."""


class TaskListRequest(TypedDict):
    """List the tasks."""

    status: NotRequired[Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]]
    """Status of the task; remaining means pending."""


class TaskListReply(TypedDict):
    """The reply of tool.task-list."""

    tasks: list[Task]
    """The tasks."""
    sequence: int
    """Session sequence that the answer reflects."""


class NoteAddRequest(TypedDict):
    """Write a note for later agents."""

    content: str
    """The text."""
    type: NotRequired[Literal["learning", "stuck", "tip", "decision", "rule"]]
    """The kind of note."""
    by: NotRequired[str]
    """Who says it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""
    task: NotRequired[str]
    """Only for this task."""
    paths: NotRequired[list[str]]
    """Only for files that fit one of these, such as legacy/**."""
    branch: NotRequired[str]
    """Only on this git branch."""


class Note(TypedDict):
    """A note for later agents."""

    id: str
    """Id of the note, such as NOT-1."""
    content: str
    """The text."""
    type: Literal["learning", "stuck", "tip", "decision", "rule"]
    """The kind of note."""
    created_at: str
    """When it was written, ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, ISO 8601 in UTC."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class NoteAddReply(TypedDict):
    """The reply of tool.note-add."""

    note: Note
    """The note as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""
    created: NotRequired[Literal[True]]
    """Set if the session did not exist, and begins with it."""
    keeps: NotRequired[int]
    """How many statements a full session keeps."""


class NoteEditRequest(TypedDict):
    """Change a note."""

    id: str
    """Its id, such as NOT-1 or N1."""
    content: NotRequired[str]
    """The text."""
    type: NotRequired[Literal["learning", "stuck", "tip", "decision", "rule"]]
    """The kind of note."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class NoteEditReply(TypedDict):
    """The reply of tool.note-edit."""

    note: Note
    """The note as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class NoteDeleteRequest(TypedDict):
    """Remove a note; the last 20 can be restored."""

    id: str
    """Its id, such as NOT-1 or N1."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class NoteDeleteReply(TypedDict):
    """The reply of tool.note-delete."""

    note: None
    """Null: the note is deleted."""
    deleted: str
    """Id of the note."""
    sequence: int
    """Session sequence that the answer reflects."""


class NoteListRequest(TypedDict):
    """List the notes."""

    type: NotRequired[Literal["learning", "stuck", "tip", "decision", "rule"]]
    """The kind of note."""


class NoteListReply(TypedDict):
    """The reply of tool.note-list."""

    notes: list[Note]
    """The notes."""
    sequence: int
    """Session sequence that the answer reflects."""


class InboxAddRequest(TypedDict):
    """Leave a message for the next agent, or with @human a person."""

    content: str
    """The text."""
    by: NotRequired[str]
    """Who leaves it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class Message(TypedDict):
    """A message for the next agent."""

    id: str
    """Id of the message, such as MSG-1."""
    content: str
    """The text."""
    by: NotRequired[str]
    """Who left it; absent in older events."""
    created_at: str
    """When it was left, ISO 8601 in UTC."""
    read: bool
    """Whether it was read."""


class InboxAddReply(TypedDict):
    """The reply of tool.inbox-add."""

    message: Message
    """The message as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""
    created: NotRequired[Literal[True]]
    """Set if the session did not exist, and begins with it."""


class InboxMarkReadRequest(TypedDict):
    """Mark a message as read."""

    id: str
    """Its id, such as MSG-1."""
    unread: NotRequired[bool]
    """Mark it as unread again."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class InboxMarkReadReply(TypedDict):
    """The reply of tool.inbox-mark-read."""

    message: Message
    """The message as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class InboxListRequest(TypedDict):
    """List the messages that were not read."""

    all: NotRequired[bool]
    """Include read messages."""


class InboxListReply(TypedDict):
    """The reply of tool.inbox-list."""

    messages: list[Message]
    """The messages."""
    sequence: int
    """Session sequence that the answer reflects."""


class BlockerAnswerRequest(TypedDict):
    """Answer the open question of a task: later prompts show it."""

    task: str
    """The task that asked, or the id of its question."""
    answer: str
    """The answer."""
    question: NotRequired[str]
    """The question, or its first words. Default: the only open one."""
    replaces: NotRequired[str]
    """Refused unless this is the answer so far; empty for none."""
    by: NotRequired[str]
    """Who answers."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class Answer(TypedDict):
    """An answer to what an agent asked."""

    task: str
    """The task whose agent asked."""
    questions: list[str]
    """The questions that it answers."""
    answer: str
    """The answer."""
    by: str
    """Who answered."""
    agent: NotRequired[Literal[True]]
    """An agent answered, and not a person."""
    at: str
    """When it was given, ISO 8601 in UTC."""


class BlockerAnswerReply(TypedDict):
    """The reply of tool.blocker-answer."""

    answer: Answer
    """The answer, with what it answers."""
    ref: str
    """Id of its statement, such as N7."""
    options: NotRequired[list[str]]
    """The suggested answers, if it is none of them."""
    sequence: int
    """Session sequence that the answer reflects."""


class IterationStartRequest(TypedDict):
    """Begin an iteration."""

    number: NotRequired[int]
    """Number of the iteration. Default: the running or next one."""


class Iteration(TypedDict):
    """One round of work of an agent."""

    number: int
    """Number of the iteration, 1 for the first."""
    started_at: str
    """When it began, ISO 8601 in UTC."""
    ended_at: NotRequired[str]
    """When it ended; absent while it runs, ISO 8601 in UTC."""
    implied: NotRequired[Literal[True]]
    """It was started implicitly, by the first write of an agent."""
    complete: bool
    """False if the next iteration started before it ended."""
    summary: NotRequired[str]
    """Its summary."""
    tasks_worked: list[str]
    """Tasks whose status changed in it, or that its summary names."""


class IterationStartReply(TypedDict):
    """The reply of tool.iteration-start."""

    iteration: Iteration
    """The iteration as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class IterationCompleteRequest(TypedDict):
    """End an iteration."""

    number: NotRequired[int]
    """Number of the iteration. Default: the running or next one."""


class IterationCompleteReply(TypedDict):
    """The reply of tool.iteration-complete."""

    iteration: Iteration
    """The iteration as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class IterationSummaryRequest(TypedDict):
    """Summarize an iteration."""

    summary: str
    """Summary of the iteration."""
    number: NotRequired[int]
    """Number of the iteration. Default: the running or next one."""
    tasks_worked: NotRequired[str | list[str]]
    """Tasks that were worked on."""
    replace: NotRequired[bool]
    """Replace an existing summary."""


class IterationSummaryReply(TypedDict):
    """The reply of tool.iteration-summary."""

    iteration: Iteration
    """The iteration as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class IterationListRequest(TypedDict):
    """List the iterations."""



class IterationListReply(TypedDict):
    """The reply of tool.iteration-list."""

    iterations: list[Iteration]
    """The iterations, the oldest first."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionOpenRequest(TypedDict):
    """Set the title and the goal of the session."""

    title: NotRequired[str]
    """Title, shown in lists; one line, may be changed."""
    goal: NotRequired[str]
    """Goal of the session."""
    spec: NotRequired[str]
    """The specification itself."""
    spec_path: NotRequired[str]
    """Path of the specification."""
    project: NotRequired[str]
    """The project whose learnings it uses."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class SessionArchived(TypedDict):
    """Set while it is archived and read-only."""

    at: str
    """Since when, ISO 8601 in UTC."""
    reason: NotRequired[str]
    """Why, in words."""


class BoardCounts(TypedDict):
    """The tasks of a board by status. Each counts once."""

    total: int
    """All tasks of the board."""
    ready: int
    """Tasks that an agent could begin now."""
    waiting: int
    """Open tasks that are blocked or wait for others."""
    remaining: int
    """Pending tasks."""
    in_progress: int
    """Tasks in progress."""
    blocked: int
    """Blocked tasks."""
    completed: int
    """Completed tasks."""
    cancelled: int
    """Cancelled tasks."""


class PlanTotals(TypedDict):
    """The tasks of a plan by status."""

    total: int
    """Tasks of the plan, without cancelled ones and groups."""
    completed: int
    """Completed tasks."""
    in_progress: int
    """Tasks in progress."""
    pending: int
    """Pending tasks."""


class Session(TypedDict):
    """The figures of a session."""

    name: str
    """Name of the session."""
    status: Literal["open", "completed"]
    """Its status."""
    title: NotRequired[str]
    """Title, shown in lists."""
    goal: NotRequired[str]
    """Its goal."""
    spec: NotRequired[str]
    """The specification itself."""
    spec_path: NotRequired[str]
    """Path of the specification."""
    project: NotRequired[str]
    """The project whose learnings it uses."""
    completed_reason: NotRequired[str]
    """Why it was completed with open tasks."""
    archived: NotRequired[SessionArchived]
    """Set while it is archived and read-only."""
    sequence: int
    """Sequence of its newest event; 0 for a session without events."""
    started_at: Any
    """When it began, ISO 8601 in UTC; null without an event."""
    last_event_at: Any
    """When its newest event was, ISO 8601 in UTC; null without any."""
    iteration: int
    """Number of the newest iteration; 0 before the first."""
    board: BoardCounts
    """Counts of its board."""
    plan: PlanTotals | None
    """Counts of its plan; null before run.init."""
    notes: int
    """How many notes it has."""
    unread: int
    """Unread messages."""
    facts: int
    """Valid facts."""
    dropped: NotRequired[int]
    """Facts of least use that a full session no longer keeps."""
    dispatches: dict[str, int]
    """Results since the session began, by role, and rejected ones."""


class SessionOpenReply(TypedDict):
    """The reply of tool.session-open."""

    session: Session
    """The session as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionCompleteRequest(TypedDict):
    """Complete the session when tasks are done and reviews are settled."""

    force: NotRequired[bool]
    """Complete it although tasks or fixes are open; needs a reason."""
    reason: NotRequired[str]
    """Why, in words."""


class SessionCompleteReply(TypedDict):
    """The reply of tool.session-complete."""

    session: Session
    """The session as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionRestartRequest(TypedDict):
    """Reopen a completed session."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionRestartReply(TypedDict):
    """The reply of tool.session-restart."""

    session: Session
    """The session as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionArchiveRequest(TypedDict):
    """Archive the session: it becomes read-only, and a snapshot replaces its log."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionArchiveReply(TypedDict):
    """The reply of tool.session-archive."""

    session: Session
    """The session as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionReopenRequest(TypedDict):
    """Reopen an archived session."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionReopenReply(TypedDict):
    """The reply of tool.session-reopen."""

    session: Session
    """The session as it is now."""
    sequence: int
    """Session sequence that the answer reflects."""


class SessionListRequest(TypedDict):
    """List the sessions: waiting for a person, then stalled, then the newest."""

    text: NotRequired[str]
    """Only sessions with these words, as in title, goal, questions or files."""
    status: NotRequired[Literal["open", "completed", "archived"]]
    """Only sessions that are open, completed, or archived."""
    names: NotRequired[list[str]]
    """Only these sessions."""
    active: NotRequired[bool]
    """Only open sessions with an event within 24 hours."""
    older_than: NotRequired[str]
    """Only sessions without an event for this long, such as 30d."""
    since: NotRequired[str]
    """Only sessions with an event at this time or later."""
    archived: NotRequired[bool]
    """Include archived sessions."""
    project: NotRequired[str]
    """Only sessions of this project."""
    stalled: NotRequired[bool]
    """Only sessions with a stalled task."""
    brief: NotRequired[bool]
    """Only names and times; only the filter text works with it."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class SessionFiguresBoard(TypedDict):
    """The tasks of its board by status."""

    open: int
    """Tasks that are neither completed nor cancelled."""
    done: int
    """Completed tasks."""


class SessionFiguresPlan(TypedDict):
    """The tasks of its plan by status, if it has one."""

    spec: str
    """Name of the specification."""
    done: int
    """Completed tasks."""
    total: int
    """Tasks, without cancelled ones and groups."""


class StalledTask(TypedDict):
    """A stalled task."""

    task: str
    """Id of the task."""
    where: Literal["board", "plan", "results"]
    """Source of the task; results if neither board nor plan has it."""
    reason: str
    """Why it counts as stalled."""


class SessionFiguresAsks(TypedDict):
    task: str
    """Id of the task."""
    text: str
    """The question."""
    options: NotRequired[list[str]]
    """Suggested answers."""
    default: NotRequired[str]
    """What the work goes on with until someone answers."""


class SessionFiguresWorking(TypedDict):
    task: str
    """Id of the task, of the board or the plan."""
    agent: str
    """The agent that has claimed it."""
    since: str
    """When it was claimed, ISO 8601 in UTC."""


class SessionFiguresFoundTasks(TypedDict):
    id: str
    """Id of the task."""
    text: str
    """Its text, up to 60 characters."""


class SessionFiguresFound(TypedDict):
    """The searched tasks and files that have all words of text."""

    tasks: list[SessionFiguresFoundTasks]
    """Open tasks of the board and the plan."""
    files: list[str]
    """Paths of files."""


class SessionFiguresArchived(TypedDict):
    """Set while it is archived and read-only."""

    at: str
    """When it was archived, ISO 8601 in UTC."""
    reason: NotRequired[str]
    """Why, in words."""


class SessionFigures(TypedDict):
    """A session in a list, with its figures."""

    session: str
    """Name of the session."""
    sequence: int
    """Sequence of its newest event."""
    at: str
    """When its newest event was stored, ISO 8601 in UTC."""
    brief: Literal[False]
    """All figures are there."""
    status: Literal["open", "completed"]
    """Its status."""
    started_at: NotRequired[str]
    """When it began, ISO 8601 in UTC."""
    project: NotRequired[str]
    """The project whose learnings it uses."""
    title: NotRequired[str]
    """Its title, in one line."""
    goal: NotRequired[str]
    """Its goal, up to 300 characters."""
    last: NotRequired[str]
    """The task and summary of its newest result."""
    results: int
    """Results that could be read."""
    rejected: int
    """Results that could not be used."""
    facts: int
    """Valid facts."""
    board: SessionFiguresBoard
    """The tasks of its board by status."""
    plan: NotRequired[SessionFiguresPlan]
    """The tasks of its plan by status, if it has one."""
    stalled: list[StalledTask]
    """Stalled tasks: the first five."""
    waiting: list[str]
    """Up to five things that need a person, a sentence each."""
    asks: list[SessionFiguresAsks]
    """The open questions with which waiting begins."""
    working: list[SessionFiguresWorking]
    """Who works now, the most recently claimed first: at most five."""
    unread: int
    """Unread messages."""
    found: NotRequired[SessionFiguresFound]
    """The searched tasks and files that have all words of text."""
    archived: NotRequired[SessionFiguresArchived]
    """Set while it is archived and read-only."""


class SessionName(TypedDict):
    """A session in a list, by name and time alone."""

    session: str
    """Name of the session."""
    sequence: int
    """Sequence of its newest event."""
    at: str
    """When its newest event was stored, ISO 8601 in UTC."""
    brief: Literal[True]
    """Not read yet; without a keeper, only the newest 1,000 are read."""


class SessionListReply(TypedDict):
    """The reply of tool.session-list."""

    sessions: list[SessionFigures | SessionName]
    """Waiting first, then stalled, then others; changed ones may come again."""
    total: int
    """All matching sessions."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class TelemetryShowRequest(TypedDict):
    """Show what was counted of the session: results, prompts, progress."""



class TelemetryShowReply(TypedDict):
    """The reply of tool.telemetry-show."""

    session: str
    """The session."""
    sequence: int
    """Session sequence that the answer reflects."""
    dispatches: dict[str, float]
    """Counted results by role, and rejected ones."""
    rejections: dict[str, float]
    """Kept rejected results by error code, of the newest 1,000."""
    approval_loops: int
    """How often tasks were reviewed without an approval."""
    rebuilds: int
    """How often the plan was read again."""
    compiles: int
    """Prompts kept, at most the newest 200; the rest is of these."""
    ledger_modes: dict[str, float]
    """Prompts by ledger mode."""
    fallbacks: dict[str, float]
    """Prompts without the progress ledger, by reason."""
    shortened: int
    """Prompts that left something out to fit their budget."""
    tokens_wanted: int
    """Tokens of all prompts if nothing had been left out."""
    tokens_used: int
    """Tokens of all prompts."""
    retrieval_ms: float
    """Time from request to reply, in milliseconds, of all prompts together."""
    retrieval_max_ms: float
    """The longest of these times."""


class HealthShowRequest(TypedDict):
    """Show how the services do, and what has become of results."""



class ServiceHealthLastIncident(TypedDict):
    """The last warning or error."""

    at: str
    """When it was, ISO 8601 in UTC."""
    message: str
    """What happened."""
    code: NotRequired[str]
    """A stable error code."""


class ServiceHealth(TypedDict):
    """Health of one service instance."""

    service: str
    """Name of the service."""
    id: str
    """Id of the instance."""
    version: str
    """Its version."""
    requests: int
    """Requests that it has answered, errors included."""
    error_replies: int
    """Requests that it has refused or failed."""
    host: NotRequired[str]
    """The machine or container that it runs on."""
    pid: NotRequired[int]
    """Its process id there."""
    uptime_seconds: NotRequired[float]
    """Seconds since it started."""
    connected: NotRequired[bool]
    """Whether it is connected."""
    disconnects: NotRequired[int]
    """How often it has lost its connection."""
    warnings: NotRequired[int]
    """Warnings that it has logged."""
    errors: NotRequired[int]
    """Errors that it has logged."""
    last_incident: NotRequired[ServiceHealthLastIncident]
    """The last warning or error."""
    numbers: dict[str, Any]
    """Figures of that service, such as memory, work in flight and repairs."""


class HealthShowReplyResults(TypedDict):
    """Results by what has become of them."""

    stored: int
    """Stored results."""
    waiting: int
    """Results among them that are not folded yet."""
    rejected: int
    """Messages of rejected results."""


class MissingPart(TypedDict):
    """A part of the answer that timed out or failed."""

    part: Literal["services", "results"]
    """The part of the answer."""
    code: str
    """Why it is missing: a stable error code."""
    message: str
    """Why it is missing, for people."""


class HealthShowReply(TypedDict):
    """The reply of tool.health-show."""

    at: str
    """When it was asked, ISO 8601 in UTC."""
    services: list[ServiceHealth]
    """Every instance of every service that answered."""
    results: NotRequired[HealthShowReplyResults]
    """Results by what has become of them."""
    missing: list[MissingPart]
    """Parts that timed out or failed, and why."""


class SessionExportRequest(TypedDict):
    """List the events of the session whole, the oldest first."""

    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class ExportedEvent(TypedDict):
    """An event of a session with its sequence."""

    sequence: int
    """Its sequence in the log of the session."""
    after: NotRequired[int]
    """The sequence that its append expected."""
    event: dict[str, Any]
    """The event, in the event schemas."""


class SessionExportReply(TypedDict):
    """The reply of tool.session-export."""

    session: str
    """Name of the session."""
    events: list[ExportedEvent]
    """The events, the oldest first: as many as fit one reply."""
    skipped: int
    """Messages in between that this version cannot read as events."""
    sequence: int
    """Sequence of the newest event at the first page; paging ends there."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class SessionImportRequestCheckpointDataNewestDispatch(TypedDict):
    """The newest counted result."""

    sequence: int
    """Sequence in the DISPATCH stream."""
    at: str
    """When it was published, ISO 8601 in UTC."""


class SessionImportRequestCheckpointData(TypedDict):
    """What happened."""

    covers: int
    """The last sequence of this log whose event the state has."""
    state: str
    """The state: JSON of version and state, gzip, Base64."""
    reason: Literal["archived", "imported", "erased"]
    """`archived`, `imported` from a session file, or a statement was `erased`."""
    events: NotRequired[int]
    """Number of events that it replaces, if known."""
    newest_dispatch: NotRequired[SessionImportRequestCheckpointDataNewestDispatch]
    """The newest counted result."""


class SessionImportRequestCheckpoint(TypedDict):
    """The state that the new session begins with."""

    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.checkpoint"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestCheckpointData
    """What happened."""


class Outcome(TypedDict):
    """A result's own words, besides its facts."""

    status: NotRequired[Literal["completed", "blocked", "failed", "approved", "needs_changes"]]
    """Verdict of work."""
    assessment: NotRequired[Literal["completed", "blocked", "failed", "approved", "needs_changes"]]
    """Verdict of a review."""
    summary: NotRequired[str]
    """The work or findings."""
    files_modified: NotRequired[list[str]]
    """Paths of the files that were changed."""
    tests: NotRequired[list[TestRun]]
    """Test commands that were run."""
    follow_up_actions: NotRequired[list[str]]
    """Remaining work."""
    blockers: NotRequired[list[str]]
    """Blockers."""
    strengths: NotRequired[list[str]]
    """Strengths of the work."""
    issues: NotRequired[list[ReviewIssue]]
    """Problems of the work."""
    required_fixes: NotRequired[list[str]]
    """Fixes required for approval."""
    intent_id: NotRequired[str]
    """Id of the intent whose trace records the result."""
    branch: NotRequired[str]
    """The git branch that it was done on."""
    commit: NotRequired[str]
    """The git commit of the work."""
    files_deleted: NotRequired[list[str]]
    """Paths of the files that were deleted."""
    files_renamed: NotRequired[list[RenamedFile]]
    """Files that were renamed or moved."""
    questions: NotRequired[list[Question]]
    """Questions to a person; a default lets work go on without answer."""
    at: NotRequired[str]
    """When it happened, ISO 8601 in UTC, if long before publication."""
    history: NotRequired[Literal[True]]
    """It is from before the session, so ledgers skip it."""


class SessionImportRequestHistoryDataDispatch(TypedDict):
    """The result."""

    sequence: int
    """Sequence in the DISPATCH stream."""
    task: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    at: str
    """When it was published, ISO 8601 in UTC."""
    newest: NotRequired[int]
    """The highest such sequence the session has counted, if not its own."""
    result_key: NotRequired[str]
    """Recognizes the result if it is published again."""
    role: Literal["implementer", "reviewer", "observer"]
    """The role that it was published with."""
    outcome: Outcome
    """Its own words, besides its facts."""


class RecordedFact(TypedDict):
    """A fact as its event stores it."""

    subject: str
    """Subject of the fact."""
    relation: str
    """Relation of subject and object."""
    object: str
    """Object of the fact."""
    tags: list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]
    """Tags of the fact."""
    severity: NotRequired[Literal["critical", "important", "minor"]]
    """Severity of a finding."""
    fix: NotRequired[str]
    """Suggested fix of a finding."""
    confidence: NotRequired[float]
    """Confidence, 0 to 1; left out for 1."""
    origin: NotRequired[Literal["person", "user", "agent"]]
    """Who states it; left out for an agent."""
    by: NotRequired[str]
    """Name of the user who states it."""
    replaces: NotRequired[list[str]]
    """Ids of the statements that it names to end."""
    not_shown: NotRequired[list[str]]
    """Ids that it names, but that its agent was not shown."""
    ref: NotRequired[str]
    """Id of the statement, such as M7."""
    scope: NotRequired[StatementScope]


class SessionImportRequestHistoryDataEnds(TypedDict):
    id: str
    """Id of the statement that ends."""
    by: str
    """The statement, task or limit that ended it, or who removed it."""
    how: Literal["replaced", "answered", "settled", "done", "removed", "evicted"]
    """Replaced, answered, settled, done, removed or evicted."""
    term: NotRequired[str]
    """The term that both are about, if it was not named."""


class SessionImportRequestHistoryDataNotEnded(TypedDict):
    id: str
    """The id that it names."""
    why: Literal["unknown", "ended", "rank", "not_shown"]
    """Why nothing ends."""


class Repair(TypedDict):
    """A change that reading made to a result."""

    kind: str
    """Kind of the repair."""
    field: str
    """Path of the field; of several, the first."""
    detail: NotRequired[str]
    """Old or new value; one short line."""
    count: NotRequired[int]
    """Number of items of one list; left out for one."""


class SessionImportRequestHistoryData(TypedDict):
    """What happened."""

    dispatch: SessionImportRequestHistoryDataDispatch
    """The result."""
    facts: list[RecordedFact]
    """Its explicit facts. The others derive from the outcome."""
    facts_complete: NotRequired[Literal[True]]
    """The outcome was truncated, so `facts` also has those derived from it."""
    refs: NotRequired[dict[str, list[str]]]
    """Ids of its statements by relation, in the order of the facts."""
    ends: NotRequired[list[SessionImportRequestHistoryDataEnds]]
    """The statements that it ends."""
    not_ended: NotRequired[list[SessionImportRequestHistoryDataNotEnded]]
    """Ids that it names without ending anything."""
    facts_omitted: NotRequired[int]
    """Facts beyond the limit."""
    repairs: NotRequired[list[Repair]]
    """The first repairs, including what was cut for this event."""
    repairs_omitted: NotRequired[int]
    """Further repairs."""


class SessionImportRequestHistory(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["fact.recorded"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    data: SessionImportRequestHistoryData
    """What happened."""


class SessionImportRequestHistory2DataDispatch(TypedDict):
    """The result."""

    sequence: int
    """Sequence in the DISPATCH stream."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role that it was published with."""
    task: NotRequired[str]
    """The task, if it could be read."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    newest: NotRequired[int]
    """The highest such sequence the session has counted, if not its own."""


class SessionImportRequestHistory2DataError(TypedDict):
    """Why it could not be used."""

    code: str
    """A stable error code."""
    reason: str
    """The problem."""
    fix: NotRequired[str]
    """The fix that makes the result readable."""
    meant: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role it seems to belong to, if published with another."""


class SessionImportRequestHistory2Data(TypedDict):
    """What happened."""

    dispatch: SessionImportRequestHistory2DataDispatch
    """The result."""
    error: SessionImportRequestHistory2DataError
    """Why it could not be used."""


class SessionImportRequestHistory2(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["dispatch.rejected"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    data: SessionImportRequestHistory2Data
    """What happened."""


class SessionImportRequestHistory3DataSource(TypedDict):
    """The result that stated it."""

    sequence: int
    """Sequence in the DISPATCH stream; 0 or less for an imported result."""
    task: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    at: str
    """When it was published, ISO 8601 in UTC."""
    role: Literal["implementer", "reviewer", "observer"]
    """The role that it was published with."""
    event: int
    """Sequence of its event in the session's stream."""
    history: NotRequired[Literal[True]]
    """It is from before the session."""


class SessionImportRequestHistory3Data(TypedDict):
    """What happened."""

    fact: RecordedFact
    """The fact as it was."""
    source: SessionImportRequestHistory3DataSource
    """The result that stated it."""
    after: NotRequired[int]
    """The newest dispatch that was seen then; later ones count as later."""
    reason: NotRequired[str]
    """Why, in words."""
    instead: NotRequired[str]
    """Object of the fact that replaces it; absent if none does."""
    ref: NotRequired[str]
    """Id of the statement that replaces it."""
    by: str
    """Who retracted it."""
    agent: NotRequired[Literal[True]]
    """An agent did, and not a person."""


class SessionImportRequestHistory3(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["fact.retracted"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory3Data
    """What happened."""


class SessionImportRequestHistory4DataSource(TypedDict):
    """The result that stated it."""

    sequence: int
    """Sequence in the DISPATCH stream; 0 or less for an imported result."""
    task: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    at: str
    """When it was published, ISO 8601 in UTC."""
    role: Literal["implementer", "reviewer", "observer"]
    """The role that it was published with."""
    event: int
    """Sequence of its event in the session's stream."""
    history: NotRequired[Literal[True]]
    """It is from before the session."""


class SessionImportRequestHistory4Data(TypedDict):
    """What happened."""

    fact: RecordedFact
    """The fact as it was."""
    source: SessionImportRequestHistory4DataSource
    """The result that stated it."""
    after: NotRequired[int]
    """The newest dispatch that was seen then; later ones count as later."""
    reason: NotRequired[str]
    """Why, in words."""
    by: str
    """Who restored it."""
    agent: NotRequired[Literal[True]]
    """An agent did, and not a person."""


class SessionImportRequestHistory4(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["fact.restored"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory4Data
    """What happened."""


class SessionImportRequestHistory5Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    content: str
    """The work to do."""
    status: Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
    """Its status."""
    priority: int
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""
    depends_on: list[str]
    """The tasks that it waits for."""
    by: NotRequired[str]
    """Who wrote its text."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory5(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.added"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory5Data
    """What happened."""


class SessionImportRequestHistory6Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    status: Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
    """Its status."""
    reason: NotRequired[str]
    """The reason given."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory6(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.status"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory6Data
    """What happened."""


class SessionImportRequestHistory7Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    priority: int
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory7(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.priority"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory7Data
    """What happened."""


class SessionImportRequestHistory8Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    depends_on: list[str]
    """The tasks that it waits for."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory8(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.depends"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory8Data
    """What happened."""


class SessionImportRequestHistory9Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    depends_on: list[str]
    """The tasks that it waits for."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory9(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.undepends"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory9Data
    """What happened."""


class SessionImportRequestHistory10Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    content: str
    """The work to do."""
    by: NotRequired[str]
    """Who wrote its text."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory10(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.content"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory10Data
    """What happened."""


class SessionImportRequestHistory11Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, such as TAS-1."""
    undo: NotRequired[Literal[True]]
    """It is restored."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory11(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.deleted"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory11Data
    """What happened."""


class SessionImportRequestHistory12Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, of the board (TAS-1) or the plan."""
    agent: str
    """Agent that claimed it, in place of any other."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory12(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.claimed"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory12Data
    """What happened."""


class SessionImportRequestHistory13Data(TypedDict):
    """What happened."""

    task: str
    """Id of the task, of the board (TAS-1) or the plan."""
    agent: NotRequired[str]
    """Agent that held it."""
    note: NotRequired[str]
    """A note for the next agent."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


class SessionImportRequestHistory13(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["task.released"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory13Data
    """What happened."""


class SessionImportRequestHistory14DataEnds(TypedDict):
    id: str
    """Id of the statement that ends."""
    by: str
    """The statement, task or limit that ended it, or who removed it."""
    how: Literal["replaced", "answered", "settled", "done", "removed", "evicted"]
    """Replaced, answered, settled, done, removed or evicted."""
    term: NotRequired[str]
    """The term that both are about, if it was not named."""


class SessionImportRequestHistory14Data(TypedDict):
    """What happened."""

    note: str
    """Id of the note, such as NOT-1."""
    content: str
    """The text."""
    type: Literal["learning", "stuck", "tip", "decision", "rule"]
    """The kind of note."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""
    by: NotRequired[str]
    """The person who says it; absent for an agent."""
    ends: NotRequired[list[SessionImportRequestHistory14DataEnds]]
    """The statements that it ends."""
    scope: NotRequired[StatementScope]


class SessionImportRequestHistory14(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["note.added"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory14Data
    """What happened."""


class SessionImportRequestHistory15Data(TypedDict):
    """What happened."""

    note: str
    """Id of the note, such as NOT-1."""
    content: NotRequired[str]
    """The text."""
    type: NotRequired[Literal["learning", "stuck", "tip", "decision", "rule"]]
    """The kind of note."""


class SessionImportRequestHistory15(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["note.edited"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory15Data
    """What happened."""


class SessionImportRequestHistory16Data(TypedDict):
    """What happened."""

    note: str
    """Id of the note, such as NOT-1."""
    by: NotRequired[str]
    """Who removed it."""
    person: NotRequired[Literal[True]]
    """A person did, and not an agent."""


class SessionImportRequestHistory16(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["note.deleted"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory16Data
    """What happened."""


class SessionImportRequestHistory17Data(TypedDict):
    """What happened."""

    message: str
    """Id of the message, such as MSG-1."""
    content: str
    """The text."""
    by: NotRequired[str]
    """Who left it."""


class SessionImportRequestHistory17(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["inbox.added"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory17Data
    """What happened."""


class SessionImportRequestHistory18Data(TypedDict):
    """What happened."""

    message: str
    """Id of the message, such as MSG-1."""
    unread: NotRequired[bool]
    """True if it is unread again."""


class SessionImportRequestHistory18(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["inbox.read"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory18Data
    """What happened."""


class SessionImportRequestHistory19Data(TypedDict):
    """What happened."""

    ref: str
    """Id of the statement that it becomes, such as N7."""
    task: str
    """The task whose agent asked."""
    questions: list[str]
    """The questions that it answers, as they were asked."""
    answer: str
    """The answer."""
    by: str
    """Who answered."""
    agent: NotRequired[Literal[True]]
    """An agent answered, and not a person."""
    unblocks: NotRequired[Literal[True]]
    """The task of the board can go on."""


class SessionImportRequestHistory19(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["question.answered"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory19Data
    """What happened."""


class SessionImportRequestHistory20Data(TypedDict):
    """What happened."""

    number: int
    """Number of the iteration."""


class SessionImportRequestHistory20(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["iteration.started"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory20Data
    """What happened."""


class SessionImportRequestHistory21Data(TypedDict):
    """What happened."""

    number: int
    """Number of the iteration."""


class SessionImportRequestHistory21(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["iteration.completed"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory21Data
    """What happened."""


class SessionImportRequestHistory22Data(TypedDict):
    """What happened."""

    number: int
    """Number of the iteration."""
    summary: str
    """Summary of the iteration."""
    tasks_worked: list[str]
    """Tasks that the summary names."""


class SessionImportRequestHistory22(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["iteration.summary"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory22Data
    """What happened."""


class SessionImportRequestHistory23Data(TypedDict):
    """What happened."""

    title: NotRequired[str]
    """Title, shown in lists."""
    goal: NotRequired[str]
    """Goal of the session."""
    spec: NotRequired[str]
    """The specification itself."""
    spec_path: NotRequired[str]
    """Path of the specification."""
    project: NotRequired[str]
    """The project whose learnings it uses."""
    person: NotRequired[Literal[True]]
    """A person set it."""


class SessionImportRequestHistory23(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.opened"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory23Data
    """What happened."""


class SessionImportRequestHistory24Data(TypedDict):
    """What happened."""

    forced: bool
    """True if tasks were still open."""
    reason: NotRequired[str]
    """Why, in words."""


class SessionImportRequestHistory24(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.completed"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory24Data
    """What happened."""


class SessionImportRequestHistory25Data(TypedDict):
    """What happened."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionImportRequestHistory25(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.restarted"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory25Data
    """What happened."""


class SessionImportRequestHistory26Data(TypedDict):
    """What happened."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionImportRequestHistory26(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.archived"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory26Data
    """What happened."""


class SessionImportRequestHistory27Data(TypedDict):
    """What happened."""

    reason: NotRequired[str]
    """Why, in words."""


class SessionImportRequestHistory27(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.reopened"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory27Data
    """What happened."""


class SessionImportRequestHistory28DataNewestDispatch(TypedDict):
    """The newest counted result."""

    sequence: int
    """Sequence in the DISPATCH stream."""
    at: str
    """When it was published, ISO 8601 in UTC."""


class SessionImportRequestHistory28DataErased(TypedDict):
    """The statement that was erased."""

    id: str
    """Id of the statement, such as M7."""
    by: str
    """Who erased it."""
    events: list[int]
    """Sequences of the events that had its text."""
    dispatches: list[int]
    """Sequences of such results in the DISPATCH stream."""


class SessionImportRequestHistory28Data(TypedDict):
    """What happened."""

    covers: int
    """The last sequence of this log whose event the state has."""
    state: str
    """The state: JSON of version and state, gzip, Base64."""
    reason: Literal["archived", "imported", "erased"]
    """`archived`, `imported` from a session file, or a statement was `erased`."""
    events: NotRequired[int]
    """Number of events that it replaces, if known."""
    newest_dispatch: NotRequired[SessionImportRequestHistory28DataNewestDispatch]
    """The newest counted result."""
    erased: NotRequired[SessionImportRequestHistory28DataErased]
    """The statement that was erased."""


class SessionImportRequestHistory28(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.checkpoint"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory28Data
    """What happened."""


class SessionImportRequestHistory29Data(TypedDict):
    """What happened."""

    event: dict[str, Any]
    """The event as its file has it."""
    sequence: NotRequired[int]
    """Where it stood, if it was overwritten."""


class SessionImportRequestHistory29(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["session.history"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory29Data
    """What happened."""


class PlanSource(TypedDict):
    kind: Literal["file"]
    """A file that the service reads, or a document sent with requests."""
    path: str
    """Path of the file."""


class PlanSource2(TypedDict):
    kind: Literal["document"]
    """A file that the service reads, or a document sent with requests."""


class PlanVersion(TypedDict):
    """The version of a plan in its repository."""

    file: str
    """Path of the plan in its repository."""
    commits: list[str]
    """Newest commits that changed it, newest first; none if changed since."""


class PlanDocumentFingerprint(TypedDict):
    """Version of the text."""

    mtime_ms: float
    """Modification time in milliseconds; 0 for a document sent with the request."""
    hash: str
    """Hash of the text."""


class PlanLine(TypedDict):
    """A task as it was read from a plan."""

    id: str
    """Id of the task."""
    text: str
    """The work to do."""
    was: NotRequired[str]
    """Its words when its first result came, if they have changed since."""
    written: NotRequired[str]
    """Its id in the file, if other words had that id before."""
    status: Literal["pending", "in-progress", "completed"]
    """Its status."""
    optional: NotRequired[Literal[True]]
    """Optional."""
    blocked: NotRequired[Literal[True]]
    """Marked as blocked; the status is pending."""
    reason: NotRequired[str]
    """Why it is blocked."""
    cancelled: NotRequired[Literal[True]]
    """Cancelled: not in any total."""
    group: NotRequired[Literal[True]]
    """Its status derives from its subtasks, and only they are counted."""
    parent: NotRequired[str]
    """Its parent task."""
    prompt: NotRequired[str]
    """The plan's own words about it, line by line."""
    requirements: NotRequired[list[str]]
    """Its requirements."""
    depends_on: NotRequired[list[str]]
    """Ids of tasks to complete first, as written; some may be unknown."""


class LeftTask(TypedDict):
    """A task that the plan had in an earlier version."""

    id: str
    """Its id."""
    text: str
    """Its words."""
    written: NotRequired[str]
    """Its id in the file, if other words had that id before."""


class PlanProblem(TypedDict):
    """A line of a plan that was not read, or by guess."""

    code: str
    """Kind of the problem."""
    line: int
    """Number of the line, 1 for the first."""
    message: str
    """The problem."""
    placed: NotRequired[Literal[True]]
    """The line was read by a guess."""


class PlanDocumentShortened(TypedDict):
    """Tasks shortened because the plan is so large."""

    texts: NotRequired[float]
    """Tasks with a shortened text."""
    prompts: NotRequired[float]
    """Tasks with a shortened prompt."""
    preamble: NotRequired[float]
    """Characters of the preamble that were left out."""
    requirement_texts: NotRequired[float]
    """Requirements with a shortened or missing text."""


class PlanDocument(TypedDict):
    """The content of a plan."""

    fingerprint: PlanDocumentFingerprint
    """Version of the text."""
    tasks: list[PlanLine]
    """The tasks."""
    left: NotRequired[list[LeftTask]]
    """Tasks of earlier versions, the newest last."""
    preamble: NotRequired[str]
    """The text before the first task."""
    requirement_texts: NotRequired[dict[str, str]]
    """Texts of the named requirements, from the document beside the plan."""
    design: NotRequired[str]
    """Path of the design document beside the plan."""
    problems: float
    """Lines that could not be read."""
    guesses: NotRequired[float]
    """Lines that were read by a guess."""
    unnamed: NotRequired[float]
    """Tasks without an id, named by their position or text."""
    first_problems: NotRequired[list[PlanProblem]]
    """The first of these problems."""
    more_problems: NotRequired[float]
    """Number of further problems."""
    shortened: NotRequired[PlanDocumentShortened]
    """Tasks shortened because the plan is so large."""


class SessionImportRequestHistory30Data(TypedDict):
    """What happened."""

    spec: str
    """Name of the specification."""
    goal: NotRequired[str]
    """Goal of the run."""
    source: PlanSource | PlanSource2
    """Where the tasks come from."""
    version: NotRequired[PlanVersion]
    document: PlanDocument
    """The content of the plan."""


class SessionImportRequestHistory30(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["run.initialized"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory30Data
    """What happened."""


class SessionImportRequestHistory31Data(TypedDict):
    """What happened."""



class SessionImportRequestHistory31(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["run.ended"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory31Data
    """What happened."""


class SessionImportRequestHistory32Data(TypedDict):
    """What happened."""

    version: NotRequired[PlanVersion]
    document: PlanDocument
    """The content of the plan."""


class SessionImportRequestHistory32(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["progress.rebuilt"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory32Data
    """What happened."""


class StoredEntryStored(TypedDict):
    """The masked output."""

    text: NotRequired[str]
    """All of it, up to 4,000 characters."""
    first: NotRequired[str]
    """The first 1,000 characters of a longer one."""
    last: NotRequired[str]
    """The last 1,000 characters of a longer one."""
    length: float
    """Original length of the output in characters."""


class StoredEntry(TypedDict):
    """A trace entry as its event stores it."""

    id: str
    """Names the entry."""
    intent: Any
    """The intent that it was done for."""
    action: Literal["TOOL_EXECUTION", "CONTEXT_LOAD", "INTENT_SELECTION", "SCOPE_VIOLATION", "BUDGET_EXHAUSTED", "STATE_TRANSITION", "ERROR"]
    """The kind of step."""
    status: Literal["SUCCESS", "FAILURE", "DENIED"]
    """Outcome."""
    at: NotRequired[str]
    """The entry's own time, ISO 8601 in UTC; not kept in state."""
    state: NotRequired[Literal["REQUEST", "REASONING", "ACTION"]]
    """The step of work that it belongs to."""
    tool: NotRequired[str]
    """Name of the tool."""
    target: NotRequired[str]
    """Target other than files or a command: the task of a result."""
    files: NotRequired[list[str]]
    """Files that it touched."""
    files_omitted: NotRequired[int]
    """Further files that were left out."""
    command: NotRequired[str]
    """The command that was run."""
    reasoning: NotRequired[str]
    """Why it was done."""
    output: NotRequired[str]
    """Output."""
    error: NotRequired[str]
    """The error."""
    constraints: NotRequired[list[str]]
    """The constraints in a request."""
    constraints_omitted: NotRequired[int]
    """Further constraints that were left out."""
    size: float
    """Original size in characters."""
    stored: NotRequired[StoredEntryStored]
    """The masked output."""


class SessionImportRequestHistory33Data(TypedDict):
    """What happened."""

    entries: list[StoredEntry]
    """The entries."""
    malformed: int
    """Entries of the same request that could not be read."""
    malformed_because: NotRequired[str]
    """Why the first of them could not be read."""


class SessionImportRequestHistory33(TypedDict):
    v: Literal[1]
    """Version of the format of the event."""
    type: Literal["trace.appended"]
    """Type of the event."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    id: NotRequired[str]
    """Id of the command, so that a retry finds its own event."""
    data: SessionImportRequestHistory33Data
    """What happened."""


class SessionImportRequest(TypedDict):
    """Make a session from a state, or add history to it."""

    id: str
    """Unique to this import: a repeated request is stored once."""
    checkpoint: NotRequired[SessionImportRequestCheckpoint]
    """The state that the new session begins with."""
    history: NotRequired[list[SessionImportRequestHistory | SessionImportRequestHistory2 | SessionImportRequestHistory3 | SessionImportRequestHistory4 | SessionImportRequestHistory5 | SessionImportRequestHistory6 | SessionImportRequestHistory7 | SessionImportRequestHistory8 | SessionImportRequestHistory9 | SessionImportRequestHistory10 | SessionImportRequestHistory11 | SessionImportRequestHistory12 | SessionImportRequestHistory13 | SessionImportRequestHistory14 | SessionImportRequestHistory15 | SessionImportRequestHistory16 | SessionImportRequestHistory17 | SessionImportRequestHistory18 | SessionImportRequestHistory19 | SessionImportRequestHistory20 | SessionImportRequestHistory21 | SessionImportRequestHistory22 | SessionImportRequestHistory23 | SessionImportRequestHistory24 | SessionImportRequestHistory25 | SessionImportRequestHistory26 | SessionImportRequestHistory27 | SessionImportRequestHistory28 | SessionImportRequestHistory29 | SessionImportRequestHistory30 | SessionImportRequestHistory31 | SessionImportRequestHistory32 | SessionImportRequestHistory33]]
    """Next events of the file: they are listed, and change nothing."""
    from_: NotRequired[int]
    """Number of events of the history before these."""


class SessionImportReply(TypedDict):
    """The reply of tool.session-import."""

    session: str
    """Name of the session."""
    sequence: int
    """Sequence of the newest event that the import stored; 0 for none."""


class SessionForgetRequest(TypedDict):
    """Erase a session for good: events, results, snapshots, prompts, evidence in learnings."""

    confirm: NotRequired[str]
    """The name of the session once more, except for a dry run."""
    dry_run: NotRequired[bool]
    """Only count what would be erased."""
    with_learnings: NotRequired[bool]
    """Also remove accepted learnings that only this session supports."""


class StoredCounts(TypedDict):
    """How much is stored, by kind."""

    events: int
    """Events."""
    dispatches: int
    """Results as they were published."""
    rejected: int
    """Messages of rejected results."""
    snapshots: int
    """Snapshots."""
    prompts: int
    """Compiled prompts."""
    index: int
    """Entries of the index of sessions."""
    learnings: int
    """Proposals, learnings and review demands erased, or losing a source."""


class SessionForgetReply(TypedDict):
    """The reply of tool.session-forget."""

    session: str
    """Name of the session."""
    state: Literal["counted", "running", "done"]
    """counted: dry run; running: the keeper erases it; done: forgotten before."""
    found: StoredCounts
    """What is stored now."""
    forgotten: NotRequired[Literal[True]]
    """It had been forgotten before, and nothing was left."""


class RetentionShowRequest(TypedDict):
    """Show the rules of retention, and what they would do now."""



class RetentionRule(TypedDict):
    """What happens to sessions without activity."""

    project: NotRequired[str]
    """Left out for the rule of the whole installation."""
    action: Literal["archive", "forget", "keep"]
    """What happens to a session."""
    after: NotRequired[str]
    """Days without activity, such as 90d."""
    at: str
    """When it was set, ISO 8601 in UTC."""


class RetentionShowReply(TypedDict):
    """The reply of tool.retention-show."""

    rules: list[RetentionRule]
    """The rules. Without rules everything is kept."""
    archive: int
    """Sessions that the rules would archive now."""
    forget: int
    """Sessions that the rules would forget now."""


class RetentionSetRequest(TypedDict):
    """Set what the keeper does with inactive sessions, everywhere or per project."""

    project: NotRequired[str]
    """Only for sessions of this project."""
    action: Literal["archive", "forget", "keep", "remove"]
    """archive, forget or keep; remove deletes the rule."""
    after: NotRequired[str]
    """Age since the last event, such as 90d, to archive or forget."""
    dry_run: NotRequired[bool]
    """Only show what the rules would do."""


class RetentionSetReply(TypedDict):
    """The reply of tool.retention-set."""

    rules: list[RetentionRule]
    """The rules. Without rules everything is kept."""
    archive: int
    """Sessions that the rules would archive now."""
    forget: int
    """Sessions that the rules would forget now."""


class DispatchRequestHints(TypedDict):
    """What the caller sees where the agent works."""

    missing: NotRequired[list[str]]
    """Files of a reply that do not exist where the agent works."""


class DispatchRequestBudget(TypedDict):
    """Token budget of prompt and answer. Default: by kind and role."""

    input_tokens: NotRequired[int]
    """Tokens of the whole prompt, system text included."""
    output_tokens: NotRequired[int]
    """Tokens of the answer, left free of the budget."""


class DispatchRequest(TypedDict):
    """Asks for the prompt of one task."""

    kind: NotRequired[Literal["dispatch"]]
    """The kind of the prompt. Default: dispatch."""
    max_learnings: NotRequired[int]
    """Maximum number of learnings. Default: 3; iteration and session start: 5."""
    min_similarity: NotRequired[float]
    """Minimum similarity of learnings found by meaning."""
    learnings_as_of: NotRequired[int]
    """A project sequence: the learnings as of then; 0 for none."""
    project: NotRequired[str]
    """The project whose learnings to use, instead of the session's own."""
    max_files: NotRequired[int]
    """Maximum number of files that the task will likely touch."""
    hints: NotRequired[DispatchRequestHints]
    """What the caller sees where the agent works."""
    budget: NotRequired[DispatchRequestBudget]
    """Token budget of prompt and answer. Default: by kind and role."""
    max_tokens: NotRequired[int]
    """Maximum tokens of facts and learnings. Default: as many as fit."""
    degraded: NotRequired[str]
    """Why the plan cannot be read. Default: found out."""
    tags: NotRequired[list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]]
    """Only facts with one of these tags."""
    max_facts: NotRequired[int]
    """Maximum number of facts. Default: as many as fit."""
    binary: NotRequired[str]
    """The command that the prompt tells its reader to use."""
    after: NotRequired[int]
    """Waits until the result with this DISPATCH sequence has become facts."""
    after_timeout_ms: NotRequired[int]
    """Timeout of after in milliseconds, below the caller's own."""
    as_of: NotRequired[int]
    """A session sequence: compiles the prompt as of that event."""
    include: NotRequired[list[Literal["facts", "files", "learnings", "sessionContext", "considered", "lines", "messages"]]]
    """Parts to add to the reply."""
    active_intent_id: NotRequired[str]
    """The active intent: its compacted history is placed before the prompt."""
    explain: NotRequired[bool]
    """Includes every part of the reply."""
    task_id: str
    """The task, as the run names it: 2.1, T001, TAS-4."""
    task_prompt: NotRequired[str]
    """The task of the agent. Its words select facts, files and learnings."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role of the agent."""
    system_prompt: NotRequired[str]
    """Your own system text, instead of the role's built-in one."""


class IterationRequestHints(TypedDict):
    """What the caller sees where the agent works."""

    missing: NotRequired[list[str]]
    """Files of a reply that do not exist where the agent works."""


class IterationRequestBudget(TypedDict):
    """Token budget of prompt and answer. Default: by kind and role."""

    input_tokens: NotRequired[int]
    """Tokens of the whole prompt, system text included."""
    output_tokens: NotRequired[int]
    """Tokens of the answer, left free of the budget."""


class IterationRequest(TypedDict):
    """Asks for the prompt of one iteration."""

    kind: Literal["iteration"]
    """The kind of the prompt. Default: dispatch."""
    max_learnings: NotRequired[int]
    """Maximum number of learnings. Default: 3; iteration and session start: 5."""
    min_similarity: NotRequired[float]
    """Minimum similarity of learnings found by meaning."""
    learnings_as_of: NotRequired[int]
    """A project sequence: the learnings as of then; 0 for none."""
    project: NotRequired[str]
    """The project whose learnings to use, instead of the session's own."""
    max_files: NotRequired[int]
    """Maximum number of files that the task will likely touch."""
    hints: NotRequired[IterationRequestHints]
    """What the caller sees where the agent works."""
    budget: NotRequired[IterationRequestBudget]
    """Token budget of prompt and answer. Default: by kind and role."""
    max_tokens: NotRequired[int]
    """Maximum tokens of facts and learnings. Default: as many as fit."""
    degraded: NotRequired[str]
    """Why the plan cannot be read. Default: found out."""
    tags: NotRequired[list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]]
    """Only facts with one of these tags."""
    max_facts: NotRequired[int]
    """Maximum number of facts. Default: as many as fit."""
    binary: NotRequired[str]
    """The command that the prompt tells its reader to use."""
    after: NotRequired[int]
    """Waits until the result with this DISPATCH sequence has become facts."""
    after_timeout_ms: NotRequired[int]
    """Timeout of after in milliseconds, below the caller's own."""
    as_of: NotRequired[int]
    """A session sequence: compiles the prompt as of that event."""
    include: NotRequired[list[Literal["facts", "files", "learnings", "sessionContext", "considered", "lines"]]]
    """Parts to add to the reply."""
    active_intent_id: NotRequired[str]
    """The active intent: its compacted history is placed before the prompt."""
    explain: NotRequired[bool]
    """Includes every part of the reply."""
    task_prompt: NotRequired[str]
    """The task of the agent. Its words select facts, files and learnings."""
    task_id: NotRequired[str]
    """The task, as the run names it: 2.1, T001, TAS-4."""
    template: NotRequired[str]
    """Your own template, instead of the built-in one."""
    now: NotRequired[str]
    """The present time, ISO 8601 in UTC: the prompt then says ages."""
    extra: NotRequired[str]
    """Text at the end of the prompt."""


class SessionStartRequestHints(TypedDict):
    """What the caller sees where the agent works."""

    missing: NotRequired[list[str]]
    """Files of a reply that do not exist where the agent works."""


class SessionStartRequestBudget(TypedDict):
    """Token budget of prompt and answer. Default: by kind and role."""

    input_tokens: NotRequired[int]
    """Tokens of the whole prompt, system text included."""
    output_tokens: NotRequired[int]
    """Tokens of the answer, left free of the budget."""


class SessionStartRequest(TypedDict):
    """Asks for the prompt that an agent reads first in a session."""

    kind: Literal["session-start"]
    """The kind of the prompt. Default: dispatch."""
    max_learnings: NotRequired[int]
    """Maximum number of learnings. Default: 3; iteration and session start: 5."""
    min_similarity: NotRequired[float]
    """Minimum similarity of learnings found by meaning."""
    learnings_as_of: NotRequired[int]
    """A project sequence: the learnings as of then; 0 for none."""
    project: NotRequired[str]
    """The project whose learnings to use, instead of the session's own."""
    max_files: NotRequired[int]
    """Maximum number of files that the task will likely touch."""
    hints: NotRequired[SessionStartRequestHints]
    """What the caller sees where the agent works."""
    budget: NotRequired[SessionStartRequestBudget]
    """Token budget of prompt and answer. Default: by kind and role."""
    max_tokens: NotRequired[int]
    """Maximum tokens of facts and learnings. Default: as many as fit."""
    degraded: NotRequired[str]
    """Why the plan cannot be read. Default: found out."""
    after: NotRequired[int]
    """Waits until the result with this DISPATCH sequence has become facts."""
    after_timeout_ms: NotRequired[int]
    """Timeout of after in milliseconds, below the caller's own."""
    as_of: NotRequired[int]
    """A session sequence: compiles the prompt as of that event."""
    now: NotRequired[str]
    """The present time, ISO 8601 in UTC: the prompt then says ages."""
    branch: NotRequired[str]
    """The git branch of the agent: results on it rank first."""
    task_prompt: NotRequired[str]
    """The task of the agent. Its words select facts, files and learnings."""
    binary: NotRequired[str]
    """The command that the prompt tells its reader to use."""
    include: NotRequired[list[Literal["facts", "files", "learnings", "sessionContext", "considered", "lines"]]]
    """Parts to add to the reply."""
    explain: NotRequired[bool]
    """Includes every part of the reply."""


class CompiledFact(TypedDict):
    """A fact that a prompt shows, with its source."""

    subject: str
    """Subject of the fact."""
    relation: str
    """Relation of subject and object."""
    object: str
    """Object of the fact."""
    severity: NotRequired[Literal["critical", "important", "minor"]]
    """Severity of a finding."""
    fix: NotRequired[str]
    """Suggested fix of a finding."""
    task: str
    """Task of its result."""
    id: str
    """Id of the fact, a hash of its text."""
    ref: NotRequired[str]
    """Id of the statement, such as M7; absent for other facts."""
    dispatch: int
    """Sequence of its result in the DISPATCH stream."""
    event_sequence: int
    """Sequence of its event in the session's stream."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""
    tokens: int
    """Number of tokens."""


class CompiledFile(TypedDict):
    """A file that the task will likely touch."""

    path: str
    """Path of the file."""
    score: float
    """0 to 1, from all its reasons; comparable within a reply."""
    uses: int
    """How many results touched it."""
    tasks: list[str]
    """Up to three tasks that touched it, the most similar first."""


class ConsideredFact(TypedDict):
    """A fact that was considered for a prompt."""

    subject: str
    """Subject of the fact."""
    relation: str
    """Relation of subject and object."""
    object: str
    """Object of the fact."""
    severity: NotRequired[Literal["critical", "important", "minor"]]
    """Severity of a finding."""
    fix: NotRequired[str]
    """Suggested fix of a finding."""
    task: str
    """Task of its result."""
    id: str
    """Id of the fact, a hash of its text."""
    ref: NotRequired[str]
    """Id of the statement, such as M7; absent for other facts."""
    dispatch: int
    """Sequence of its result in the DISPATCH stream."""
    event_sequence: int
    """Sequence of its event in the session's stream."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""
    tokens: int
    """Number of tokens."""
    shown: bool
    """Whether the prompt shows it."""
    kind: str
    """Its section: findings, conventions, decisions, tests, requirements, work, files or facts."""
    because: Literal["words", "file", "similar", "meaning", "recent"]
    """The strongest reason, such as words of the task or a file."""
    words: list[str]
    """The words of the task that it contains, as stems."""
    left: NotRequired[Literal["rank", "near-duplicate", "one task", "reserved", "likely file", "budget"]]
    """Why it is not shown, such as a higher rank of others."""
    duplicate_of: NotRequired[str]
    """Id of the fact that says nearly the same."""


class ConsideredFile(TypedDict):
    """A file that was considered for a prompt."""

    path: str
    """Path of the file."""
    score: float
    """0 to 1, from all its reasons; comparable within a reply."""
    uses: int
    """How many results touched it."""
    tasks: list[str]
    """Up to three tasks that touched it, the most similar first."""
    shown: bool
    """Whether the prompt shows it."""
    reasons: dict[str, float]
    """The parts of its score, such as similar results, mentions or recency."""
    left: NotRequired[Literal["rank", "budget"]]
    """Why it is not shown: others ranked higher, or no budget left."""


class Considered(TypedDict):
    """The candidates of a prompt."""

    facts: list[ConsideredFact]
    """The best 30 facts."""
    files: list[ConsideredFile]
    """The best 30 files."""


PromptLine = TypedDict("PromptLine", {
    "from": int,  # The first line, 1 for the first of the prompt.
    "to": int,  # The last line.
    "section": str,  # A section of the budget, or a part such as head.
    "why": NotRequired[str],  # Why they are shown.
    "fact": NotRequired[str],  # Id of their fact.
    "file": NotRequired[str],  # Path of their likely file.
    "learning": NotRequired[str],  # Id of their learning.
    "task": NotRequired[str],  # The task that they come from, or that they are about.
    "dispatch": NotRequired[int],  # Sequence in DISPATCH of the result that they come from.
    "event_sequence": NotRequired[int],  # Sequence of its event in the session's stream.
})


class SectionReport(TypedDict):
    """The items of one prompt section, shown and in total."""

    name: str
    """Name of the section."""
    shown: int
    """Items shown; some may be shortened."""
    total: int
    """Items available."""
    tokens: int
    """Tokens of the items shown."""


class BudgetReport(TypedDict):
    """The use of a prompt's budget."""

    room: int
    """Token budget of the whole prompt, system text included."""
    used: int
    """Tokens of the prompt."""
    wanted: int
    """Tokens of the prompt if nothing had been left out."""
    sections: list[SectionReport]
    """Sections with items."""
    dropped: int
    """Items left out, in all sections."""
    tokenizer: str
    """Name of the tokenizer."""


class CompactedReport(TypedDict):
    """The size of a trace summary and of the entries it replaces."""

    entries: int
    """Entries that the summary replaces."""
    blocks: int
    """Blocks in which they were compacted."""
    tokens_before: int
    """Tokens of those entries."""
    tokens_after: int
    """Tokens of the summary."""


class CompiledLearning(TypedDict):
    """A learning that a prompt shows."""

    id: str
    """Id of the learning."""
    type: Literal["pattern", "insight", "self_knowledge"]
    """Kind of learning."""
    content: str
    """The learning, one sentence."""
    score: float
    """Fused rank by words and meaning: 1 first in both, 0 recency."""


class DispatchReplyLearningsError(TypedDict):
    """Why there are no learnings, if they could not be read."""

    code: str
    """A stable error code."""
    message: str
    """Error message, for people."""


class PromptMessage(TypedDict):
    """One message of a prompt."""

    role: Literal["system", "user"]
    """Author of the message."""
    content: str
    """Text of the message."""


class LedgerReport(TypedDict):
    """The progress data of the task, and if all was used."""

    mode: Literal["none", "ledger", "ledger_plus_fallback"]
    """none: nothing is known; ledger: all used; ledger_plus_fallback: incomplete or outdated."""
    reason: NotRequired[Literal["rebuild_failed", "progress_ledger_incomplete"]]
    """Why a part is missing or may be out of date."""
    message: NotRequired[str]
    """Error message, for people."""


class DispatchReply(TypedDict):
    """The prompt of one task. Without learnings, their fields are left out."""

    kind: Literal["dispatch"]
    """The prompt of one task."""
    prompt: str
    """The whole prompt."""
    session_context: NotRequired[str]
    """On request: facts and files as the prompt shows them."""
    facts: NotRequired[list[CompiledFact]]
    """On request: the facts shown."""
    facts_shown: int
    """How many facts are shown."""
    facts_total: int
    """Valid facts that the session holds."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    files: NotRequired[list[CompiledFile]]
    """On request: the likely files shown, best first."""
    considered: NotRequired[Considered]
    """On request: the candidates, and why each is shown or not."""
    lines: NotRequired[list[PromptLine]]
    """On request: the source of each line, except those of a template."""
    token_estimate: int
    """Tokens of the whole prompt, by the tokenizer of the budget."""
    budget: BudgetReport
    """The use of the budget, and what was left out."""
    compacted: CompactedReport | None
    """The size of the trace summary; null if there is none."""
    sequence: int
    """The session sequence that the prompt reflects; 0 for no events."""
    snapshot_sequence: int
    """Sequence of the snapshot that was loaded; 0 for none."""
    replayed: int
    """Events read and folded for this request."""
    learnings: NotRequired[list[CompiledLearning]]
    """On request: the learnings shown."""
    learnings_shown: NotRequired[int]
    """How many learnings are shown."""
    learnings_total: NotRequired[int]
    """Active learnings in the project."""
    proposal_count: NotRequired[int]
    """Pending proposals."""
    method: NotRequired[Literal["hybrid", "semantic", "lexical", "recency"]]
    """How the learnings were found."""
    learnings_sequence: NotRequired[int]
    """The project sequence that the learnings reflect."""
    learnings_error: NotRequired[DispatchReplyLearningsError]
    """Why there are no learnings, if they could not be read."""
    messages: NotRequired[list[PromptMessage]]
    """On request: the same prompt as messages, system and user."""
    stable_prefix_hash: str
    """Hash of the first part, which stays the same for a role."""
    full_prompt_hash: str
    """Hash of the whole prompt."""
    ledger: LedgerReport
    """The ledgers that the prompt was made from."""


class IterationReplyLearningsError(TypedDict):
    """Why there are no learnings, if they could not be read."""

    code: str
    """A stable error code."""
    message: str
    """Error message, for people."""


class IterationReply(TypedDict):
    """The prompt of one iteration. Without learnings, their fields are left out."""

    kind: Literal["iteration"]
    """The prompt of one iteration."""
    prompt: str
    """The whole prompt."""
    session_context: NotRequired[str]
    """On request: facts and files as the prompt shows them."""
    facts: NotRequired[list[CompiledFact]]
    """On request: the facts shown."""
    facts_shown: int
    """How many facts are shown."""
    facts_total: int
    """Valid facts that the session holds."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    files: NotRequired[list[CompiledFile]]
    """On request: the likely files shown, best first."""
    considered: NotRequired[Considered]
    """On request: the candidates, and why each is shown or not."""
    lines: NotRequired[list[PromptLine]]
    """On request: the source of each line, except those of a template."""
    token_estimate: int
    """Tokens of the whole prompt, by the tokenizer of the budget."""
    budget: BudgetReport
    """The use of the budget, and what was left out."""
    compacted: CompactedReport | None
    """The size of the trace summary; null if there is none."""
    sequence: int
    """The session sequence that the prompt reflects; 0 for no events."""
    snapshot_sequence: int
    """Sequence of the snapshot that was loaded; 0 for none."""
    replayed: int
    """Events read and folded for this request."""
    learnings: NotRequired[list[CompiledLearning]]
    """On request: the learnings shown."""
    learnings_shown: NotRequired[int]
    """How many learnings are shown."""
    learnings_total: NotRequired[int]
    """Active learnings in the project."""
    proposal_count: NotRequired[int]
    """Pending proposals."""
    method: NotRequired[Literal["hybrid", "semantic", "lexical", "recency"]]
    """How the learnings were found."""
    learnings_sequence: NotRequired[int]
    """The project sequence that the learnings reflect."""
    learnings_error: NotRequired[IterationReplyLearningsError]
    """Why there are no learnings, if they could not be read."""


class SessionStartReply(TypedDict):
    """The prompt that an agent reads first in a session."""

    kind: Literal["session-start"]
    """The prompt that an agent reads first in a session."""
    needs_setup: bool
    """True while the session has no project, goal, spec or plan."""
    prompt: str
    """The whole prompt."""
    session_context: NotRequired[str]
    """On request: facts and files as the prompt shows them."""
    facts: NotRequired[list[CompiledFact]]
    """On request: the facts shown."""
    facts_shown: int
    """How many facts are shown."""
    facts_total: int
    """Valid facts that the session holds."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    files: NotRequired[list[CompiledFile]]
    """On request: the likely files shown, best first."""
    considered: NotRequired[Considered]
    """On request: the candidates, and why each is shown or not."""
    lines: NotRequired[list[PromptLine]]
    """On request: the source of each line, except those of a template."""
    token_estimate: int
    """Tokens of the whole prompt, by the tokenizer of the budget."""
    budget: BudgetReport
    """The use of the budget, and what was left out."""
    compacted: CompactedReport | None
    """The size of the trace summary; null if there is none."""
    sequence: int
    """The session sequence that the prompt reflects; 0 for no events."""
    snapshot_sequence: int
    """Sequence of the snapshot that was loaded; 0 for none."""
    replayed: int
    """Events read and folded for this request."""
    learnings: NotRequired[list[CompiledLearning]]
    """On request: the learnings shown."""
    learnings_shown: int
    """How many learnings are shown."""
    learnings_total: int
    """Active learnings in the project."""
    proposal_count: int
    """Pending proposals."""
    method: Literal["hybrid", "semantic", "lexical", "recency"]
    """How the learnings were found."""
    learnings_sequence: int
    """The project sequence that the learnings reflect."""


class PromptListRequest(TypedDict):
    """The prompts that were compiled last, the newest first."""

    task: NotRequired[str]
    """Only prompts of this task."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class TracedFact(TypedDict):
    """A fact that a compiled prompt showed."""

    id: str
    """Id of the fact."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""


class TracedLeftFact(TypedDict):
    """A fact that a compiled prompt left out."""

    id: str
    """Id of the fact."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""
    why: Literal["rank", "near-duplicate", "one task", "reserved", "likely file", "budget"]
    """Why the prompt does not show it, as in a fact's `left`."""


class PromptTrace(TypedDict):
    """A prompt that was compiled, with what it showed and left out."""

    id: str
    """Id of the prompt."""
    at: str
    """When it was compiled, ISO 8601 in UTC."""
    kind: Literal["dispatch", "iteration", "session-start"]
    """The kind of the prompt."""
    task: NotRequired[str]
    """The task that it is for."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role of the agent that it is for."""
    sequence: int
    """The session sequence that it reflects."""
    tokens: int
    """Tokens of the prompt."""
    hash: str
    """The first 16 hexadecimal digits of the SHA-256 of the whole prompt."""
    prefix_hash: NotRequired[str]
    """Hash of the role's stable part; only of a dispatch prompt."""
    room: int
    """Token budget."""
    wanted: NotRequired[int]
    """Tokens if nothing had been left out."""
    ledger: NotRequired[LedgerReport]
    """Progress data it was made from; only of a dispatch prompt."""
    dropped: int
    """Items left out, in all sections."""
    duration_ms: float
    """Time from request to reply, in milliseconds."""
    facts_shown: int
    """How many facts it shows."""
    facts_total: int
    """Valid facts that the session held."""
    facts: list[TracedFact]
    """The facts shown, in the order of the prompt."""
    left: list[TracedLeftFact]
    """The best facts that were left out, at most 10."""
    learnings: list[str]
    """Ids of the learnings shown."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    learnings_sequence: NotRequired[int]
    """The project sequence that the learnings reflect."""
    cut: NotRequired[Literal[True]]
    """The stored request was truncated or redacted: compiling again may differ."""


class PromptListReply(TypedDict):
    """The reply of tool.prompt-list."""

    prompts: list[PromptTrace]
    """The newest first, of the newest 200 of the session."""
    total: int
    """How many of them are kept, on all pages."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class PromptShowRequest(TypedDict):
    """Show what a compiled prompt held, and the request to repeat it."""

    id: str
    """Id of the prompt, from prompt-list."""


class PromptShowReply(TypedDict):
    """The reply of tool.prompt-show."""

    prompt: PromptTrace
    """The prompt."""
    request: dict[str, Any]
    """The request for prompt.past, with `asOf`: it returns this prompt."""


class TraceEntryPayload(TypedDict):
    """Details. Further fields are dropped."""

    tool_name: NotRequired[str]
    """Name of the tool."""
    target_files: NotRequired[list[str]]
    """Files that it touched."""
    command: NotRequired[str]
    """The command that was run."""
    reasoning: NotRequired[str]
    """Why it was done."""


class TraceEntryResult(TypedDict):
    """Outcome. Default by action: ERROR fails, SCOPE_VIOLATION is denied, TOOL_EXECUTION succeeds."""

    status: Literal["SUCCESS", "FAILURE", "DENIED"]
    """Outcome."""
    output_summary: NotRequired[str]
    """Output."""
    error_message: NotRequired[str]
    """The error."""


class TraceEntry(TypedDict):
    """One step that an agent took for an intent."""

    id: NotRequired[str]
    """Idempotency key of the entry."""
    timestamp: NotRequired[str]
    """When it was done, ISO 8601 in UTC."""
    intent_id: str | None
    """The intent that it was done for."""
    state: NotRequired[Literal["REQUEST", "REASONING", "ACTION"]]
    """The step of work that it belongs to."""
    action_type: Literal["TOOL_EXECUTION", "CONTEXT_LOAD", "INTENT_SELECTION", "SCOPE_VIOLATION", "BUDGET_EXHAUSTED", "STATE_TRANSITION", "ERROR"]
    """The kind of step."""
    payload: NotRequired[TraceEntryPayload]
    """Details. Further fields are dropped."""
    result: NotRequired[TraceEntryResult]
    """Outcome. Default by action: ERROR fails, SCOPE_VIOLATION is denied, TOOL_EXECUTION succeeds."""


class TraceAppendRequest(TypedDict):
    """Add entries to the trace of an intent."""

    entries: list[TraceEntry]
    """What an agent did, one entry or several."""


class TraceAppendReplyMalformed(TypedDict):
    index: int
    """Index in the request."""
    message: str
    """The problem."""


class TraceAppendReply(TypedDict):
    """The reply of trace.append."""

    appended: int
    """Entries that were stored."""
    malformed: list[TraceAppendReplyMalformed]
    """Entries that could not be read."""
    sequence: int
    """Session sequence that the answer reflects."""


class TraceCompactRequest(TypedDict):
    """The compacted history of an intent."""

    intent_id: str
    """Id of the intent."""


class TraceCompactReply(TypedDict):
    """The reply of trace.compact."""

    summary: Any
    """The compacted history; null below the threshold."""
    compacted: CompactedReport | None
    """The size of the summary; null below the threshold."""
    recent: list[str]
    """Entries since, one line each."""
    total: int
    """Entries of the intent."""
    malformed: int
    """Entries of the whole session that could not be read."""
    without_intent: int
    """Entries of the whole session that named no intent."""
    sequence: int
    """Session sequence that the answer reflects."""


class TraceGetRequest(TypedDict):
    """An entry as its event keeps it, with its output."""

    id: str
    """Id of the entry, as summary and recent lines show it."""
    intent_id: NotRequired[str]
    """The intent, if entries of several intents have the id."""


class TraceGetReply(TypedDict):
    """The reply of trace.get."""

    entry: StoredEntry
    """The newest entry with the id, as its event stores it."""
    at: str
    """When its event was written, ISO 8601 in UTC."""
    sequence: int
    """Sequence of its event."""


class TraceListRequest(TypedDict):
    """List the intents that have a trace."""

    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class IntentListed(TypedDict):
    """An intent with a trace."""

    id: str
    """Id of the intent."""
    entries: int
    """Number of its entries."""
    compacted: int
    """Entries that its summary stands for."""
    blocks: int
    """Blocks in which they were compacted."""
    request: NotRequired[str]
    """What was asked for, up to 300 characters."""
    last: NotRequired[str]
    """Its newest entry in one line, if that is not compacted yet."""


class TraceListReply(TypedDict):
    """The reply of tool.trace-list."""

    intents: list[IntentListed]
    """Remembered intents, the most recent first."""
    total: int
    """All of them."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    sequence: int
    """Session sequence that the answer reflects."""


class RunInitRequest(TypedDict):
    """Track the progress of a session in a tasks.md."""

    spec: NotRequired[str]
    """Name of the specification. Default: the previous name, otherwise from the path."""
    goal: NotRequired[str]
    """Goal of the run. Default: the previous goal."""
    tasks_path: NotRequired[str]
    """A file under one of the service's roots."""
    tasks_text: NotRequired[str]
    """The document itself; counts if the file at tasksPath has another text."""
    requirements_text: NotRequired[str]
    """With tasksText: the requirements document that its tasks refer to."""
    version: NotRequired[PlanVersion]
    unfollow: NotRequired[Literal[True]]
    """Follow no plan: tasks leave, results stay; excludes tasksPath and tasksText."""


class PlanFingerprint(TypedDict):
    """Version of the text."""

    mtime_ms: float
    """Modification time in milliseconds; 0 for a document sent with the request."""
    hash: str
    """Hash of the text."""


class PlanShortened(TypedDict):
    """Tasks shortened because the plan is so large."""

    texts: NotRequired[float]
    """Tasks with a shortened text."""
    prompts: NotRequired[float]
    """Tasks with a shortened prompt."""
    preamble: NotRequired[float]
    """Characters of the preamble that were left out."""
    requirement_texts: NotRequired[float]
    """Requirements with a shortened or missing text."""


class PlanDrift(TypedDict):
    task: str
    """Id of the task."""
    kind: Literal["approved_but_open", "ticked_but_needs_changes", "words_gone"]
    """Kind of the contradiction."""
    message: str
    """What is wrong, and what to do."""


class Plan(TypedDict):
    """The figures of a plan."""

    spec: str
    """Name of the specification."""
    goal: NotRequired[str]
    """Goal of the run."""
    source: PlanSource | PlanSource2
    """Where its tasks come from."""
    version: NotRequired[PlanVersion]
    fingerprint: PlanFingerprint
    """Version of the text."""
    totals: PlanTotals
    """How many tasks it has."""
    active_task_id: Any
    """The task in progress, else the next: unblocked, required before optional."""
    next_task_id: Any
    """The first open task that is not blocked and waits for nothing."""
    why_none: NotRequired[str]
    """Why no open task is next, such as "2 blocked, 1 optional"."""
    problems: int
    """Lines of the plan that could not be read."""
    guesses: int
    """Lines of the plan that were read by a guess."""
    unnamed: int
    """Tasks of the plan without an id, named by position or text."""
    problem_lines: NotRequired[list[PlanProblem]]
    """The first lines that were not read, or read by a guess."""
    more_problems: NotRequired[int]
    """Number of further such lines."""
    shortened: NotRequired[PlanShortened]
    """Tasks shortened because the plan is so large."""
    drift: NotRequired[list[PlanDrift]]
    """Contradictions between plan and results, if any."""


class TaskProgress(TypedDict):
    """The results of a task, and its next action."""

    task: str
    """Id of the task."""
    board: NotRequired[Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]]
    """Its status on the board, if it is there."""
    plan: NotRequired[Literal["pending", "in-progress", "completed"]]
    """Its status in the plan."""
    dispatches: int
    """Results of the task."""
    last_outcome: str
    """Role and verdict of its last result."""
    next_action: Literal["dispatch_reviewer", "retry_with_constraints", "retry", "next_task", "spec_completed", "dispatch_fixes", "halt_and_escalate", "wait_for_answer"]
    """The next action."""
    required_fixes: int
    """Fixes that its last review required."""
    rounds: int
    """Reviews that asked for changes."""
    findings: int
    """Findings that its last review left open."""
    blockers: int
    """Its blockers."""
    blocker: NotRequired[str]
    """The first of them."""
    summary: NotRequired[str]
    """What its last result says, shortened."""
    last_dispatch: int
    """Sequence of its last result in the DISPATCH stream."""
    questions: NotRequired[list[Question]]
    """Questions that no one has answered."""
    stalled: bool
    """True if it is stalled."""
    replan_hint: NotRequired[str]
    """Why it is stalled."""


class UnreadableResult(TypedDict):
    """A task whose last result could not be read."""

    task: str
    """Id of the task."""
    dispatch: int
    """Sequence of the result in the DISPATCH stream."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role that it was published with."""
    code: str
    """A stable error code."""
    reason: str
    """The problem."""
    fix: NotRequired[str]
    """The fix that makes it readable."""
    meant: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role it seems to belong to, if published with another."""


class RunInitReplyFindings(TypedDict):
    """The open findings of reviews."""

    total: int
    """Open findings: issues and required fixes."""
    newest: list[str]
    """The newest five, as "src/a.ts: Leaks a handle (critical, task 1)"."""


class RunInitReplyAsks(TypedDict):
    task: str
    """Id of the task."""
    text: str
    """The question."""
    options: NotRequired[list[str]]
    """Suggested answers."""
    default: NotRequired[str]
    """What the work goes on with until someone answers."""


class RunInitReplyWorking(TypedDict):
    task: str
    """Id of the task, of the board or the plan."""
    agent: str
    """The agent that has claimed it."""
    since: str
    """When it was claimed, ISO 8601 in UTC."""


class RunInitReply(TypedDict):
    """The reply of run.init."""

    session: Session
    """The session."""
    run: Plan | None
    """The run; null before run.init."""
    unfollowed: NotRequired[Literal[True]]
    """It follows no plan, because a person said so."""
    tasks: list[TaskProgress]
    """Tasks with a result, the most recent at the end."""
    unreadable: list[UnreadableResult]
    """Tasks whose last result could not be read, from the newest rejections."""
    findings: RunInitReplyFindings
    """The open findings of reviews."""
    stalled: list[StalledTask]
    """Stalled tasks: the first five."""
    waiting: list[str]
    """Up to five things that need a person, a sentence each."""
    asks: list[RunInitReplyAsks]
    """The open questions with which waiting begins."""
    working: list[RunInitReplyWorking]
    """Who works now, the most recently claimed first: at most five."""
    sequence: int
    """Session sequence that the answer reflects."""
    problems: list[PlanProblem]
    """The first 1,000 lines that were not read, or read by guess."""


class RunStatusRequest(TypedDict):
    """Show how far a session is and what each task needs next."""

    task: NotRequired[str]
    """Include what is known of this task, such as its ledger."""
    lists: NotRequired[list[Literal["board", "plan", "iterations", "notes", "messages"]]]
    """Include these lists: one whole, or several of up to 200 entries."""
    status: NotRequired[Literal["pending", "in-progress", "completed", "blocked", "cancelled"]]
    """Only tasks with this status in the list of the plan."""


class RunStatusReplyFindings(TypedDict):
    """The open findings of reviews."""

    total: int
    """Open findings: issues and required fixes."""
    newest: list[str]
    """The newest five, as "src/a.ts: Leaks a handle (critical, task 1)"."""


class RunStatusReplyAsks(TypedDict):
    task: str
    """Id of the task."""
    text: str
    """The question."""
    options: NotRequired[list[str]]
    """Suggested answers."""
    default: NotRequired[str]
    """What the work goes on with until someone answers."""


class RunStatusReplyWorking(TypedDict):
    task: str
    """Id of the task, of the board or the plan."""
    agent: str
    """The agent that has claimed it."""
    since: str
    """When it was claimed, ISO 8601 in UTC."""


class PlanTask(TypedDict):
    """A task of a plan, with its results."""

    id: str
    """Id of the task."""
    text: str
    """The work to do."""
    depth: int
    """Depth in the tree of tasks."""
    status: Literal["pending", "in-progress", "completed"]
    """Its status in the plan."""
    written: NotRequired[str]
    """Its id in the file, if other words had that id before."""
    parent: NotRequired[str]
    """Its parent task."""
    group: NotRequired[Literal[True]]
    """Its status derives from its subtasks, and only they are counted."""
    blocked: NotRequired[Literal[True]]
    """Its line, its last result or a parent says it is blocked."""
    reason: NotRequired[str]
    """Why it is blocked."""
    optional: NotRequired[Literal[True]]
    """Optional."""
    cancelled: NotRequired[Literal[True]]
    """Cancelled: not in any total."""
    depends_on: NotRequired[list[str]]
    """Ids of tasks to complete first, as written; some may be unknown."""
    waits_for: NotRequired[list[str]]
    """Unfinished dependencies, its own and those of its parents."""
    unknown_dependencies: NotRequired[list[str]]
    """Dependencies that the plan does not have, which are ignored."""
    requirements: NotRequired[list[str]]
    """Its requirements."""
    requirement_texts: NotRequired[dict[str, str]]
    """Texts of the named requirements, from the document beside the plan."""
    prompt: NotRequired[str]
    """The plan's own words about it, line by line."""
    claimed_by: NotRequired[str]
    """Agent that claimed it."""
    dispatches: NotRequired[int]
    """Results of the task."""
    last_outcome: NotRequired[str]
    """Role and verdict of its last result."""
    next_action: NotRequired[Literal["dispatch_reviewer", "retry_with_constraints", "retry", "next_task", "spec_completed", "dispatch_fixes", "halt_and_escalate", "wait_for_answer"]]
    """The next action."""


class RunStatusReplyTask(TypedDict):
    """What is known of the task that the request names."""

    id: str
    """Id of the task."""
    entries: dict[str, Any]
    """The entries ledger.task.* and ledger.progress.* with content; empty if nothing is known."""
    remark: NotRequired[str]
    """Set if neither plan nor board has the task; names similar ones."""
    board: NotRequired[Task]
    plan: NotRequired[PlanTask]
    preamble: NotRequired[str]
    """The text before the first task."""


class SessionLists(TypedDict):
    """Lists of a session; those the request does not name are empty."""

    board: list[Task]
    """The tasks of the board."""
    plan: list[PlanTask]
    """The tasks of the plan, in its order."""
    iterations: list[Iteration]
    """The iterations."""
    notes: list[Note]
    """The notes."""
    messages: list[Message]
    """The messages, read ones too."""
    left_out: dict[str, int]
    """Number of omitted items: done, read and old ones first."""


class RunStatusReply(TypedDict):
    """The reply of run.status."""

    session: Session
    """The session."""
    run: Plan | None
    """The run; null before run.init."""
    unfollowed: NotRequired[Literal[True]]
    """It follows no plan, because a person said so."""
    tasks: list[TaskProgress]
    """Tasks with a result, the most recent at the end."""
    unreadable: list[UnreadableResult]
    """Tasks whose last result could not be read, from the newest rejections."""
    findings: RunStatusReplyFindings
    """The open findings of reviews."""
    stalled: list[StalledTask]
    """Stalled tasks: the first five."""
    waiting: list[str]
    """Up to five things that need a person, a sentence each."""
    asks: list[RunStatusReplyAsks]
    """The open questions with which waiting begins."""
    working: list[RunStatusReplyWorking]
    """Who works now, the most recently claimed first: at most five."""
    sequence: int
    """Session sequence that the answer reflects."""
    degraded: NotRequired[str]
    """Why the plan cannot be read; the reply is then older."""
    task: NotRequired[RunStatusReplyTask]
    """What is known of the task that the request names."""
    lists: NotRequired[SessionLists]
    """Set if the request asks for lists."""


class FactFindRequest(TypedDict):
    """Find facts, where they come from and what closed them."""

    text: NotRequired[str]
    """Its id, a unique prefix, or its words or person."""
    task: NotRequired[str]
    """Only facts from results of this task."""
    subject: NotRequired[str]
    """Only facts about this, such as a file."""
    relation: NotRequired[str | list[str]]
    """Only facts with this relation, or one of these."""
    kind: NotRequired[Literal["decision", "rule", "failed", "found", "question", "follow-up", "note"] | list[Literal["decision", "rule", "failed", "found", "question", "follow-up", "note"]]]
    """Only statements of this kind, or one of these."""
    tag: NotRequired[Literal["file_change", "convention", "decision", "error", "dependency", "test"] | list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]]
    """Only facts with this tag, or one of these."""
    by: NotRequired[str]
    """Only statements of this person."""
    is_: NotRequired[Literal["open", "closed", "all"]]
    """Only valid facts, only those that were closed, or all. Default: open."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class Retraction(TypedDict):
    """The withdrawal of a fact by a person or an agent."""

    by: str
    """Who retracted it."""
    agent: NotRequired[Literal[True]]
    """An agent did, and not a person."""
    at: str
    """When, ISO 8601 in UTC."""
    reason: NotRequired[str]
    """Why, in words."""
    instead: NotRequired[str]
    """Id of the fact that replaces it."""
    erased: NotRequired[Literal[True]]
    """Its text is overwritten."""


class Ended(TypedDict):
    """The end of a statement."""

    by: str
    """The statement, task or limit that ended it, or who removed it."""
    how: Literal["replaced", "answered", "settled", "done", "removed", "evicted"]
    """Replaced, answered, settled, done, removed or evicted."""
    term: NotRequired[str]
    """The term that both are about, if it was not named."""


class FoundFact(TypedDict):
    """A fact with its source and the result that closed it."""

    subject: str
    """Subject of the fact."""
    relation: str
    """Relation of subject and object."""
    object: str
    """Object of the fact."""
    severity: NotRequired[Literal["critical", "important", "minor"]]
    """Severity of a finding."""
    fix: NotRequired[str]
    """Suggested fix of a finding."""
    id: str
    """Id of the fact, a hash of its text."""
    tags: list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]
    """Tags of the fact."""
    task: str
    """Task of its result."""
    role: Literal["implementer", "reviewer", "observer"]
    """Role of that result."""
    dispatch: int
    """Sequence of that result in the DISPATCH stream."""
    event_sequence: int
    """Sequence of its event in the session's stream."""
    at: str
    """When that result arrived, ISO 8601 in UTC."""
    confidence: NotRequired[float]
    """Confidence, 0 to 1; left out for 1."""
    ref: NotRequired[str]
    """Id of the statement, such as M7; absent for other facts."""
    kind: NotRequired[Literal["decision", "rule", "failed", "found", "question", "follow-up", "note"]]
    """Its kind, if it is a statement."""
    origin: NotRequired[Literal["person", "user", "agent"]]
    """Who states it; left out for an agent."""
    by: NotRequired[str]
    """Who stated, noted or answered it, if known."""
    scope: NotRequired[StatementScope]
    """Where it holds; left out for everywhere."""
    history: NotRequired[Literal[True]]
    """Its result is from before the session."""
    closed_by: NotRequired[int]
    """Sequence of the result that closed it; absent while it is valid."""
    closed_at: NotRequired[str]
    """When that dispatch arrived, or the retraction, ISO 8601 in UTC."""
    retracted: NotRequired[Retraction]
    """Who retracted it, and why."""
    corrects: NotRequired[str]
    """Id of the fact that it replaced."""
    ended: NotRequired[Ended]
    """The statement that ended it."""


class LearningsKeptNewest(TypedDict):
    id: str
    """Its id."""
    content: str
    """The text."""


class LearningsKept(TypedDict):
    """Accepted learnings of the project, with all that holds."""

    project: str
    """The project."""
    total: int
    """How many there are."""
    newest: list[LearningsKeptNewest]
    """At most 20."""


class FactFindReply(TypedDict):
    """The reply of tool.fact-find."""

    facts: list[FoundFact]
    """Valid facts first, then closed ones; each the newest first."""
    total: int
    """All matching facts."""
    kinds: dict[str, int]
    """The statements among those that match, of any kind."""
    past: int
    """How many statements match, of any kind, and no longer hold."""
    keeps: NotRequired[int]
    """How many facts a full session keeps; older ones are gone."""
    learnings: NotRequired[LearningsKept]
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    sequence: int
    """Session sequence that the answer reflects."""


class RecallRequest(TypedDict):
    """Search what sessions remember, by words and by meaning."""

    query: str
    """What to search for, in any words."""
    project: NotRequired[str]
    """All sessions of this project. Default: the session; without one, all sessions."""
    limit: NotRequired[int]
    """Maximum number of items."""
    max_tokens: NotRequired[int]
    """Maximum tokens of the text."""


class RecalledItem(TypedDict):
    """Something that a session remembers."""

    id: str
    """Its id: M7 of a statement, else the hash of the fact."""
    session: str
    """The session that remembers it."""
    task: str
    """Task of its result."""
    result: int
    """Sequence of that result in the DISPATCH stream."""
    text: str
    """The whole text."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    score: float
    """Relevance, 0 to 1: comparable within a reply."""
    why: str
    """The words of the query that speak for it, or its meaning."""


class RecallReply(TypedDict):
    """The reply of tool.recall."""

    items: list[RecalledItem]
    """The best first."""
    text: str
    """The best items as prompt lines; empty if nothing fits the query."""
    searched: int
    """How many sessions were searched."""
    sessions: int
    """How many sessions there are. The newest are searched."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""


class FactShowRequest(TypedDict):
    """Show a fact, its history and the prompts that showed it."""

    id: str
    """Its id, such as M7, or a unique prefix of its hash."""


class FactShowReplyClosedBy(TypedDict):
    """The result that closed it; absent while it is valid."""

    dispatch: int
    """Its sequence in the DISPATCH stream."""
    at: str
    """When it arrived, ISO 8601 in UTC."""
    event: NotRequired[int]
    """Sequence of its event, if facts of it are kept."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """Role of that result, if facts of it are kept."""
    task: NotRequired[str]
    """Task of that result, if facts of it are kept."""


class PromptTraceBrief(TypedDict):
    """A prompt that was compiled."""

    id: str
    """Id of the prompt."""
    at: str
    """When it was compiled, ISO 8601 in UTC."""
    kind: Literal["dispatch", "iteration", "session-start"]
    """The kind of the prompt."""
    task: NotRequired[str]
    """The task that it is for."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role of the agent that it is for."""
    sequence: int
    """The session sequence that it reflects."""
    tokens: int
    """Tokens of the prompt."""
    hash: str
    """The first 16 hexadecimal digits of the SHA-256 of the whole prompt."""


class FactShowReply(TypedDict):
    """The reply of tool.fact-show."""

    fact: FoundFact
    """The newest fact with this text."""
    history: list[FoundFact]
    """Up to 50 other facts about the same subject, newest first."""
    closed_by: NotRequired[FactShowReplyClosedBy]
    """The result that closed it; absent while it is valid."""
    shown_in: list[PromptTraceBrief]
    """Remembered prompts that showed it, the newest first: at most 20."""
    sequence: int
    """Session sequence that the answer reflects."""


class FactRetractRequest(TypedDict):
    """Withdraw a wrong fact: no later prompt shows it."""

    id: str
    """Its id, such as M7, or a unique prefix of its hash."""
    reason: NotRequired[str]
    """Why, in words."""
    by: NotRequired[str]
    """Who retracts it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class FactRetractReply(TypedDict):
    """The reply of tool.fact-retract."""

    fact: FoundFact
    """The retracted fact."""
    sequence: int
    """Session sequence that the answer reflects."""


class FactCorrectRequest(TypedDict):
    """Replace what a fact says."""

    id: str
    """Its id, such as M7, or a unique prefix of its hash."""
    text: str
    """What it should say."""
    reason: NotRequired[str]
    """Why, in words."""
    by: NotRequired[str]
    """Who corrects it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class FactCorrectReply(TypedDict):
    """The reply of tool.fact-correct."""

    fact: FoundFact
    """The fact that replaces it."""
    corrected: FoundFact
    """The replaced fact."""
    sequence: int
    """Session sequence that the answer reflects."""


class FactRestoreRequest(TypedDict):
    """Make a fact hold again, whatever ended it."""

    id: str
    """Its id, such as M7, or a unique prefix of its hash."""
    reason: NotRequired[str]
    """Why, in words."""
    by: NotRequired[str]
    """Who restores it."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


class FactRestoreReply(TypedDict):
    """The reply of tool.fact-restore."""

    fact: FoundFact
    """The fact that holds again."""
    sequence: int
    """Session sequence that the answer reflects."""


class FactEraseRequest(TypedDict):
    """Overwrite what a statement says, in the log too; cannot be undone."""

    id: str
    """Its id, such as M7, or a unique prefix of its hash."""
    by: NotRequired[str]
    """Who erases it."""
    person: Literal[True]
    """A person decides it, and not an agent or a program."""


class FactEraseReply(TypedDict):
    """The reply of tool.fact-erase."""

    fact: FoundFact
    """What is left of the statement."""
    events: int
    """Stored events that had its text."""
    sequence: int
    """Session sequence that the answer reflects."""


class DispatchShowRequest(TypedDict):
    """Show what became of a result, once the session has it."""

    dispatch: int
    """A DISPATCH sequence, from a publisher's PubAck."""
    timeout_ms: NotRequired[int]
    """Longest wait in milliseconds, as afterTimeoutMs of a prompt."""


class DispatchRecorded(TypedDict):
    """It was read, and counts."""

    dispatch: int
    """Its DISPATCH sequence."""
    sequence: int
    """Session sequence that the answer reflects."""
    status: Literal["recorded"]
    """It was read and recorded."""
    role: Literal["implementer", "reviewer", "observer"]
    """The role that it was published with."""
    task: str
    """Its task."""
    facts: list[RecordedFact]
    """Its facts, as its event stores them."""
    facts_omitted: NotRequired[int]
    """Facts beyond the limit."""
    repairs: NotRequired[list[Repair]]
    """Repairs that reading made, if any."""
    repairs_omitted: NotRequired[int]
    """Repairs beyond the limit."""


class DispatchRefused(TypedDict):
    """It could not be used, and is kept unchanged in DISPATCH_REJECTED."""

    dispatch: int
    """Its DISPATCH sequence."""
    sequence: int
    """Session sequence that the answer reflects."""
    status: Literal["rejected"]
    """It could not be used."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role that it was published with."""
    task: NotRequired[str]
    """Its task, if that could be read."""
    code: str
    """A stable error code."""
    reason: str
    """The problem."""
    fix: NotRequired[str]
    """The fix that makes it readable."""
    meant: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role it seems to belong to, if published with another."""


class DispatchRepeated(TypedDict):
    """A duplicate: the same result_id or message id was counted before."""

    dispatch: int
    """Its DISPATCH sequence."""
    sequence: int
    """Session sequence that the answer reflects."""
    status: Literal["repeated"]
    """It had been counted before."""
    role: Literal["implementer", "reviewer", "observer"]
    """The role that it was published with."""
    task: str
    """Its task."""


class DispatchCounted(TypedDict):
    """Counted, but nothing of it is kept: a repetition, or since replaced."""

    dispatch: int
    """Its DISPATCH sequence."""
    sequence: int
    """Session sequence that the answer reflects."""
    status: Literal["counted"]
    """It was counted."""


class TimelineListRequest(TypedDict):
    """List what happened, the newest first."""

    kinds: NotRequired[list[Literal["result", "rejected", "command", "trace", "prompt"]]]
    """Only entries of these kinds."""
    task: NotRequired[str]
    """Only entries of this task, of the board or the plan."""
    failed: NotRequired[bool]
    """Only what failed: bad verdicts, rejected results, failed actions."""
    since: NotRequired[str]
    """Only entries of this time or later."""
    until: NotRequired[str]
    """Only entries of this time or earlier."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""
    after: NotRequired[int]
    """Only entries after this session sequence."""
    up_to: NotRequired[int]
    """Only entries up to this session sequence."""


class TimelineEntryPrompt(TypedDict):
    """Of a prompt: its figures."""

    id: str
    """Id of the prompt."""
    kind: Literal["dispatch", "iteration", "session-start"]
    """The kind of the prompt."""
    tokens: int
    """Tokens of the prompt."""
    duration_ms: float
    """Milliseconds that it took."""
    dropped: int
    """Items left out to fit the budget."""
    hash: str
    """The first 16 hexadecimal digits of the SHA-256 of the whole prompt."""


class TimelineEntry(TypedDict):
    """One thing that happened in a session."""

    key: str
    """Unique within the session."""
    kind: Literal["result", "rejected", "command", "trace", "prompt"]
    """Result, rejected result, command, trace entries or compiled prompt."""
    at: str
    """When it happened, ISO 8601 in UTC."""
    sequence: int
    """Sequence of its event; of a prompt the sequence that it reflects."""
    type: str
    """Type of its event; prompt.compiled for a prompt."""
    task: NotRequired[str]
    """Its task."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """Of a result or a prompt: its role."""
    verdict: NotRequired[Literal["completed", "blocked", "failed", "approved", "needs_changes"]]
    """Of a result: its verdict."""
    failed: NotRequired[Literal[True]]
    """A failure: a bad verdict, a rejected result, a failed action."""
    summary: str
    """What happened, one line of at most 300 characters."""
    dispatch: NotRequired[int]
    """Of a result: its sequence in the DISPATCH stream."""
    facts: NotRequired[int]
    """Of a result: number of its facts."""
    repairs: NotRequired[int]
    """Of a result: number of repairs."""
    asks: NotRequired[list[str]]
    """What a result asks a person, without questions that have defaults."""
    prompt: NotRequired[TimelineEntryPrompt]
    """Of a prompt: its figures."""


class TimelineListReply(TypedDict):
    """The reply of tool.timeline-list."""

    entries: list[TimelineEntry]
    """Newest first. A page may be short or empty: continue while `next`."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    sequence: int
    """Session sequence that the answer reflects."""


class RejectedListRequest(TypedDict):
    """Results that could not be used, the newest first."""

    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """Only results that were published with this role."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class RejectedShown(TypedDict):
    """A result that could not be used, without its body."""

    id: int
    """Its number, for rejected-show, rejected-retry and rejected-remove."""
    at: str
    """When it arrived, ISO 8601 in UTC."""
    session: NotRequired[str]
    """The session it was published to; left out for invalid names."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role it was published with; left out if unknown."""
    subject: str
    """The subject that it was published to."""
    sequence: int
    """Its sequence in the DISPATCH stream; 0 if never stored there."""
    code: str
    """A stable error code."""
    reason: str
    """The problem."""
    fix: NotRequired[str]
    """The fix that makes it readable."""
    meant: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role it seems to belong to, if published with another."""
    bytes: int
    """Bytes of its body."""


class RejectedListReply(TypedDict):
    """The reply of tool.rejected-list."""

    rejected: list[RejectedShown]
    """The newest first."""
    total: int
    """Number of rejected results."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class RejectedShowRequest(TypedDict):
    """Show a rejected result, its reason and what would fix it."""

    id: int
    """Number of the rejected result, from rejected-list."""


class RejectedShowReply(TypedDict):
    """The reply of tool.rejected-show."""

    rejected: RejectedShown
    """The rejected result."""
    body: str
    """Its body, or the beginning if it does not fit a reply."""
    encoding: Literal["utf8", "base64"]
    """Encoding of the body: text for UTF-8 that fits, else base64."""
    truncated: NotRequired[Literal[True]]
    """Set where this is only the beginning."""


class RejectedRetryRequest(TypedDict):
    """Publish a rejected result again, corrected or as it came."""

    id: int
    """Number of the rejected result, from rejected-list."""
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """Publish it with this role."""
    body: NotRequired[str]
    """The corrected result. If it still cannot be read, nothing is published."""


class RejectedRetryReply(TypedDict):
    """The reply of tool.rejected-retry."""

    id: int
    """Its number. The list no longer has it."""
    dispatch: int
    """Sequence in the DISPATCH stream under which it was published again."""


class RejectedRemoveRequest(TypedDict):
    """Remove a rejected result for good."""

    id: int
    """Number of the rejected result, from rejected-list."""


class RejectedRemoveReply(TypedDict):
    """The reply of tool.rejected-remove."""

    id: int
    """Its number. The list no longer has it."""
    removed: Literal[True]
    """It is removed."""


class LearningProposeRequestSource(TypedDict):
    """Its source."""

    session: NotRequired[str]
    """Name of the session."""
    dispatch: NotRequired[int]
    """Sequence in the DISPATCH stream."""
    note: NotRequired[str]
    """Id of the note."""


class LearningProposeRequest(TypedDict):
    """Propose a learning, which reaches prompts only after a person accepts it."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    content: str
    """One sentence of at most 200 characters."""
    type: NotRequired[Literal["pattern", "insight", "self_knowledge"]]
    """Kind of learning."""
    tags: NotRequired[list[str]]
    """Search words."""
    confidence: NotRequired[float]
    """Confidence, 0 to 1. Default: 0.5."""
    source: NotRequired[LearningProposeRequestSource]
    """Its source."""


class LearningSource(TypedDict):
    """Source of a learning."""

    session: NotRequired[str]
    """Name of the session."""
    dispatch: NotRequired[int]
    """Sequence in the DISPATCH stream."""
    note: NotRequired[str]
    """Id of the note."""


class LearningEvidence(TypedDict):
    """A result that supports a learning."""

    session: str
    """Name of the session."""
    dispatch: int
    """Sequence in the DISPATCH stream."""
    task: str
    """Id of the task."""


class Proposal(TypedDict):
    """A proposed learning as it is now, with its newest decision."""

    id: str
    """Id of the proposal, and of the learning that it may become."""
    type: Literal["pattern", "insight", "self_knowledge"]
    """Kind of learning."""
    content: str
    """One line of at most 200 characters."""
    tags: list[str]
    """Search words."""
    source: LearningSource
    """Its source."""
    evidence: list[LearningEvidence]
    """Results that support it, the newest last."""
    extracted_at: str
    """When it was proposed, ISO 8601 in UTC."""
    confidence: NotRequired[float]
    """Confidence, 0 to 1."""
    status: Literal["pending", "accepted", "rejected", "retracted"]
    """The newest decision."""
    method: Literal["note", "recurring_fix", "recurring_issue", "convention", "manual"]
    """The way it came about."""
    decided_at: NotRequired[str]
    """When it was decided, ISO 8601 in UTC."""
    decided_by: NotRequired[str]
    """Who decided it."""
    reason: NotRequired[str]
    """Reason of the decision."""
    merged_into: NotRequired[str]
    """The learning that it was merged into."""


class Learning(TypedDict):
    """Knowledge about a project for later sessions."""

    id: str
    """Id of the proposal, and of the learning that it may become."""
    type: Literal["pattern", "insight", "self_knowledge"]
    """Kind of learning."""
    content: str
    """One line of at most 200 characters."""
    tags: list[str]
    """Search words."""
    source: LearningSource
    """Its source."""
    evidence: list[LearningEvidence]
    """Results that support it, the newest last."""
    extracted_at: str
    """When it was proposed, ISO 8601 in UTC."""
    confidence: NotRequired[float]
    """Confidence, 0 to 1."""
    confirmed_at: str
    """When it became a learning, ISO 8601 in UTC."""


class LearningProposeReplySimilar(TypedDict):
    learning: str
    """Id of the learning."""
    content: str
    """The text."""
    similarity: float
    """0.7 to 1; 1 for the same words."""


class LearningProposeReply(TypedDict):
    """The reply of learning.propose."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposal: Proposal
    """The proposal."""
    learning: Learning | None
    """The active learning it became or was merged into; null for none."""
    similar: LearningProposeReplySimilar | None
    """An active learning that says nearly the same; null for none."""
    existing: bool
    """True if it was already proposed, or a learning."""


class LearningListRequest(TypedDict):
    """List the learnings of a project, the newest first."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    limit: NotRequired[int]
    """Maximum length of the list."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class LearningListReply(TypedDict):
    """The reply of learning.list."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    learnings: list[Learning]
    """The newest first."""
    total: int
    """Entries of all pages."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""


class LearningSearchRequest(TypedDict):
    """Find the learnings that are relevant to a text, as prompts do."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    query: str
    """Topic of the learnings."""
    max_results: NotRequired[int]
    """Maximum number of learnings."""
    min_similarity: NotRequired[float]
    """Minimum similarity of learnings that are found by meaning."""


class LearningSearchReplyResults(TypedDict):
    learning: Learning
    """The learning."""
    score: float
    """Fused rank by words and meaning: 1 first in both, 0 recency."""


class LearningSearchReply(TypedDict):
    """The reply of learning.search."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    method: Literal["hybrid", "semantic", "lexical", "recency"]
    """How they were found."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    results: list[LearningSearchReplyResults]
    """The most relevant first."""
    total: int
    """Learnings of the project."""


class LearningRetractRequest(TypedDict):
    """Retract a learning: it stays on record, but no longer reaches prompts."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    id: str
    """Its id, or a unique prefix of at least three characters."""
    reason: NotRequired[str]
    """Why, in words."""
    by: NotRequired[str]
    """Who decides it."""
    person: Literal[True]
    """A person decides it, and not an agent or a program."""


class LearningRetractReplySimilar(TypedDict):
    learning: str
    """Id of the learning."""
    content: str
    """The text."""
    similarity: float
    """0.7 to 1; 1 for the same words."""


class LearningRetractReply(TypedDict):
    """The reply of learning.retract."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposal: Proposal
    """The proposal."""
    learning: Learning | None
    """The active learning it became or was merged into; null for none."""
    similar: LearningRetractReplySimilar | None
    """An active learning that says nearly the same; null for none."""


class ProposalListRequest(TypedDict):
    """List the proposals of a project, the newest first."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    status: NotRequired[Literal["pending", "accepted", "rejected", "retracted", "all"]]
    """Which proposals to list."""
    projects: NotRequired[bool]
    """Also count the proposals and learnings of all projects."""
    limit: NotRequired[int]
    """Maximum length of the list."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class ProposalListReplyProjects(TypedDict):
    project: str
    """Name of the project."""
    pending: int
    """Proposals to decide on."""
    active: int
    """Accepted learnings."""


class ProposalListReply(TypedDict):
    """The reply of proposal.list."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposals: list[Proposal]
    """The newest first."""
    total: int
    """Entries of all pages."""
    next: NotRequired[str]
    """Cursor of the next page; absent on the last page."""
    rules_paused: NotRequired[bool]
    """Set when so many are pending that rules pause."""
    sessions_paused: NotRequired[list[str]]
    """Sessions with so many pending that rules pause for them."""
    projects: NotRequired[list[ProposalListReplyProjects]]
    """Up to 500 projects with learnings, those with most to decide first."""


class ProposalShowRequest(TypedDict):
    """Show a proposal with its evidence and the most similar learning."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    id: str
    """Its id, or a unique prefix of at least three characters."""


class ProposalShowReplySimilar(TypedDict):
    learning: str
    """Id of the learning."""
    content: str
    """The text."""
    similarity: float
    """0.7 to 1; 1 for the same words."""


class ProposalShowReply(TypedDict):
    """The reply of proposal.show."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposal: Proposal
    """The proposal."""
    learning: Learning | None
    """The active learning it became or was merged into; null for none."""
    similar: ProposalShowReplySimilar | None
    """An active learning that says nearly the same; null for none."""


class ProposalAcceptRequest(TypedDict):
    """Make a proposal a learning; near duplicates are merged."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    id: str
    """Its id, or a unique prefix of at least three characters."""
    by: NotRequired[str]
    """Who decides it."""
    person: Literal[True]
    """A person decides it, and not an agent or a program."""
    merge: NotRequired[bool]
    """Add it to the learning that says nearly the same."""
    separate: NotRequired[bool]
    """Keep it beside a learning that says nearly the same."""


class ProposalAcceptReplySimilar(TypedDict):
    learning: str
    """Id of the learning."""
    content: str
    """The text."""
    similarity: float
    """0.7 to 1; 1 for the same words."""


class ProposalAcceptReply(TypedDict):
    """The reply of proposal.accept."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposal: Proposal
    """The proposal."""
    learning: Learning | None
    """The active learning it became or was merged into; null for none."""
    similar: ProposalAcceptReplySimilar | None
    """An active learning that says nearly the same; null for none."""


class ProposalRejectRequest(TypedDict):
    """Reject a proposal: only a person can propose the same again."""

    project: NotRequired[str]
    """The project. Default: the project of sessions that name none."""
    id: str
    """Its id, or a unique prefix of at least three characters."""
    reason: NotRequired[str]
    """Why, in words."""
    by: NotRequired[str]
    """Who decides it."""
    person: Literal[True]
    """A person decides it, and not an agent or a program."""


class ProposalRejectReplySimilar(TypedDict):
    learning: str
    """Id of the learning."""
    content: str
    """The text."""
    similarity: float
    """0.7 to 1; 1 for the same words."""


class ProposalRejectReply(TypedDict):
    """The reply of proposal.reject."""

    project: str
    """The project."""
    sequence: int
    """Sequence in the stream LEARNINGS that the answer reflects."""
    proposal: Proposal
    """The proposal."""
    learning: Learning | None
    """The active learning it became or was merged into; null for none."""
    similar: ProposalRejectReplySimilar | None
    """An active learning that says nearly the same; null for none."""


PromptCompileReply = DispatchReply | IterationReply | SessionStartReply
DispatchShowReply = DispatchRecorded | DispatchRefused | DispatchRepeated | DispatchCounted

RESULTS = {
    "implementer": ImplementerResult,
    "reviewer": ReviewerResult,
    "observer": ObserverResult,
}

MAPS = {"dispatches", "entries", "event", "fallbacks", "kinds", "ledgerModes", "left_out", "numbers", "reasons", "rejections", "request", "requirement_texts"}
"""Fields of replies whose value, if it is a dict, has keys that are data."""

FIXES: dict[str, str] = {
    "marker_missing": "send one JSON object, or text with one pair of BEGIN_DISPATCH_RESULT and END_DISPATCH_RESULT lines around it; publish several results one by one",
    "json_parse_failed": "send one complete JSON object as UTF-8; correct a stored result with \"throughline result retry --file\"",
    "schema_invalid": "the message names the field and its allowed values: correct it and send it again",
    "stored_reply": "check which users may send requests; remove the message with \"throughline result rm\"",
    "subject_invalid": "publish it on dispatch.<session>.<role>, with 1 to 64 of the characters A-Z a-z 0-9 _ and - for the session",
    "too_large": "send less, ask for fewer items, or raise the limit that the message names",
    "rate_limited": "wait details.retry_after_ms milliseconds and send it again",
    "deliveries_exhausted": "run \"throughline doctor\" to see why nothing could be stored, then \"throughline result retry\"",
    "token_invalid": "use 1 to 64 characters of A-Z a-z 0-9 _ and -",
    "limit_reached": "finish or delete some of the items that the message counts; decide on proposals with \"throughline learning ls\"",
    "not_caught_up": "check with \"throughline admin health\" that the extractor answers, then ask again; take after from the PubAck of a result of the same session",
    "dispatch_rejected": "correct it with \"throughline result retry --file\", or publish a corrected result and name its sequence in after",
    "session_forgotten": "wait some seconds and send it again: a new session of that name then starts empty",
    "session_exists": "import it under another name with --as NAME; \"throughline session rm\" erases the one that is here",
    "not_found": "list what there is: \"throughline session ls\", \"throughline task ls\", \"throughline prompt ls\" and so on",
    "ambiguous": "give more of the id: details names those that fit",
    "duplicate": "use the task whose id the message names; remove the result with \"throughline result rm\"",
    "near_duplicate": "accept it with merge, which adds its evidence to the learning that the message names, reject it, or keep both with separate",
    "already_decided": "read the decision with \"throughline learning show\"; retract the learning instead",
    "project_bound": "leave the project out, or use another session",
    "cycle": "leave out one of the dependencies that details.cycle lists",
    "open_tasks": "finish or cancel the tasks that the message names, or complete the session anyway with force and a reason (--force --reason)",
    "open_fixes": "have the tasks that the message names approved, or complete the session anyway with force and a reason (--force --reason)",
    "session_completed": "run \"throughline session restart\", or work in another session",
    "session_archived": "run \"throughline session reopen\", then \"throughline result retry\" for its results, or work in another session",
    "summary_exists": "set replace to replace it",
    "template_invalid": "use one of the placeholders that the message lists; \"throughline prompt template\" prints a template with all of them",
    "prompt_overflow": "raise budget.inputTokens (--room) to the value in the message, or shorten the task prompt",
    "progress_ledger_missing_tasks": "correct the path, or add its folder to THROUGHLINE_TASKS_ROOTS of the services",
    "progress_ledger_parse_failed": "write its tasks in one of the forms that are read",
    "plan_too_long": "take out what is done, or split it into several plans with a session each",
    "progress_ledger_incomplete": "use an id of the plan; the prompt is compiled anyway, from results alone",
    "conflict": "send it again",
    "unavailable": "start one with \"throughline up\", or set NATS_URL; publish a result again under the id that details.message_id names",
    "store_full": "free some space, or raise the limit that the message names; \"throughline doctor\" tests whether anything can be stored",
    "store_in_use": "run \"throughline down\", or give another directory with --store",
    "store_unusable": "choose another directory with --store, or give the user the right to write there",
    "auth_failed": "check NATS_USER and NATS_PASSWORD, NATS_TOKEN, NATS_NKEY or NATS_CREDS",
    "tls_failed": "check NATS_CA, NATS_CERT, NATS_KEY and THROUGHLINE_TLS_FIRST",
    "permission_denied": "compare with \"throughline admin permissions --role ROLE\", and set THROUGHLINE_INBOX_PREFIX",
    "server_unsupported": "run a newer one with -js and a store directory; \"throughline up\" brings its own",
    "server_missing": "install one as the message says, and name it in NATS_SERVER_BIN if it is not on the path",
    "config_invalid": "the message names the variable or file and what it may hold",
    "not_connected": "look at its .throughline.json and run \"throughline connect\" in its folder once, or name the session by -s or THROUGHLINE_SESSION",
    "usage": "add --help to the command for its options and an example",
    "reply_invalid": "use the same version on both sides",
    "internal": "try again, run \"throughline doctor\", and report it with the line of the log",
}
