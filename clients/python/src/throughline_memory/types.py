"""Types of results, options and replies: written from the JSON Schemas by `npm run docs`."""

from typing import Any, Literal, NotRequired, TypedDict

Role = Literal["implementer", "reviewer", "observer"]
TaskStatus = Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]
NoteType = Literal["learning", "stuck", "tip", "decision"]
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
    """Relation of subject and object, such as uses or depends_on."""
    object: str
    """Object of the fact."""
    tags: NotRequired[list[Literal["file_change", "convention", "decision", "error", "dependency", "test"]]]
    """Tags of the fact."""
    origin: NotRequired[str]
    """Of an observer: "user" if the user said it in a conversation."""
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


class PromptOptionsHints(TypedDict):
    """Files and folder that the agent works in; related files rank higher."""

    files: NotRequired[list[str]]
    """Files that are open, relative to the project or absolute."""
    cwd: NotRequired[str]
    """The folder in which the agent works."""


class PromptOptionsBudget(TypedDict):
    """Token budget of prompt and answer. Default: the settings of the session."""

    input_tokens: NotRequired[int]
    """Tokens of the whole prompt, system text included."""
    output_tokens: NotRequired[int]
    """Tokens of the answer, left free of the budget."""


class PromptOptions(TypedDict):
    """Further fields of the request: prompt.compile."""

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
    hints: NotRequired[PromptOptionsHints]
    """Files and folder that the agent works in; related files rank higher."""
    budget: NotRequired[PromptOptionsBudget]
    """Token budget of prompt and answer. Default: the settings of the session."""
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
    role: NotRequired[Literal["implementer", "reviewer", "observer"]]
    """The role of the agent."""
    system_prompt: NotRequired[str]
    """Your own system text, instead of the role's built-in one."""


class TaskAddOptions(TypedDict):
    """Further fields of the request: tool.task-add."""

    priority: NotRequired[int]
    """0 critical, 1 high, 2 medium, 3 low, 4 backlog."""
    status: NotRequired[Literal["remaining", "in_progress", "completed", "blocked", "cancelled"]]
    """Status of the task; remaining means pending."""
    depends_on: NotRequired[str | list[str]]
    """Tasks that it waits for."""


class TaskReleaseOptions(TypedDict):
    """Further fields of the request: tool.task-release."""

    claim: NotRequired[str]
    """The agent that claims the task, or has claimed it."""
    note: NotRequired[str]
    """A note for the next agent of this task."""


class FactFindOptions(TypedDict):
    """Further fields of the request: tool.fact-find."""

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
    is_: NotRequired[Literal["open", "closed", "all"]]
    """Only valid facts, only those that were closed, or all. Default: open."""
    limit: NotRequired[int]
    """Maximum number of entries per page."""
    cursor: NotRequired[str]
    """Cursor of the page: next of the previous page."""


class RecallOptions(TypedDict):
    """Further fields of the request: tool.recall."""

    limit: NotRequired[int]
    """Maximum number of items."""
    max_tokens: NotRequired[int]
    """Maximum tokens of the text."""


class AnswerOptions(TypedDict):
    """Further fields of the request: tool.blocker-answer."""

    question: NotRequired[str]
    """The question, or its first words. Default: all that are open."""
    replaces: NotRequired[str]
    """Refused unless this is the answer so far; empty for none."""
    by: NotRequired[str]
    """Who answers."""
    person: NotRequired[Literal[True]]
    """A person does, and not an agent or a program."""


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
    taskId: str
    """Task of its result."""
    id: str
    """Id of the fact, a hash of its text."""
    dispatch: int
    """Sequence of its result in the DISPATCH stream."""
    eventSequence: int
    """Sequence of its event in the session's stream."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""
    tokens: int
    """Number of tokens."""
    repairs: NotRequired[list[Repair]]
    """Repairs of its result, if any."""


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
    taskId: str
    """Task of its result."""
    id: str
    """Id of the fact, a hash of its text."""
    dispatch: int
    """Sequence of its result in the DISPATCH stream."""
    eventSequence: int
    """Sequence of its event in the session's stream."""
    score: float
    """Share of the query's words that it contains, 0 to 1."""
    tokens: int
    """Number of tokens."""
    repairs: NotRequired[list[Repair]]
    """Repairs of its result, if any."""
    shown: bool
    """Whether the prompt shows it."""
    kind: str
    """Its section: findings, conventions, decisions, tests, requirements, work, files or facts."""
    because: Literal["words", "file", "similar", "meaning", "recent"]
    """The strongest reason, such as words of the task or a file."""
    words: list[str]
    """The words of the task that it contains, as stems."""
    left: NotRequired[Literal["rank", "near-duplicate", "one task", "held", "likely file", "budget"]]
    """Why it is not shown, such as a higher rank of others."""
    duplicateOf: NotRequired[str]
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
    "eventSequence": NotRequired[int],  # Sequence of its event in the session's stream.
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
    tokensBefore: int
    """Tokens of those entries."""
    tokensAfter: int
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
    sessionContext: NotRequired[str]
    """On request: facts and files as the prompt shows them."""
    facts: NotRequired[list[CompiledFact]]
    """On request: the facts shown."""
    factsShown: int
    """How many facts are shown."""
    factsTotal: int
    """Valid facts that the session holds."""
    vectors: NotRequired[str]
    """Name and version of the word vectors; absent without a semantic search."""
    files: NotRequired[list[CompiledFile]]
    """On request: the likely files shown, best first."""
    considered: NotRequired[Considered]
    """On request: the candidates, and why each is shown or not."""
    lines: NotRequired[list[PromptLine]]
    """On request: the source of each line, except those of a template."""
    tokenEstimate: int
    """Tokens of the whole prompt, by the configured tokenizer."""
    budget: BudgetReport
    """The use of the budget, and what was left out."""
    compacted: CompactedReport | None
    """The size of the trace summary; null if there is none."""
    sequence: int
    """The session sequence that the prompt reflects; 0 for no events."""
    snapshotSequence: int
    """Sequence of the snapshot that was loaded; 0 for none."""
    replayed: int
    """Events read and folded for this request."""
    learnings: NotRequired[list[CompiledLearning]]
    """On request: the learnings shown."""
    learningsShown: NotRequired[int]
    """How many learnings are shown."""
    learningsTotal: NotRequired[int]
    """Active learnings in the project."""
    proposalCount: NotRequired[int]
    """Pending proposals."""
    method: NotRequired[Literal["hybrid", "semantic", "lexical", "recency"]]
    """How the learnings were found."""
    learningsSequence: NotRequired[int]
    """The project sequence that the learnings reflect."""
    learningsError: NotRequired[DispatchReplyLearningsError]
    """Why there are no learnings, if they could not be read."""
    messages: NotRequired[list[PromptMessage]]
    """On request: the same prompt as messages, system and user."""
    stablePrefixHash: str
    """Hash of the first part, which stays the same for a role."""
    fullPromptHash: str
    """Hash of the whole prompt."""
    ledger: LedgerReport
    """The ledgers that the prompt was made from."""


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


class Note(TypedDict):
    """A note for later agents."""

    id: str
    """Id of the note, such as NOT-1."""
    content: str
    """The text."""
    type: Literal["learning", "stuck", "tip", "decision"]
    """The kind of note."""
    created_at: str
    """When it was written, ISO 8601 in UTC."""
    updated_at: str
    """When it was last changed, ISO 8601 in UTC."""
    iteration: int
    """Number of the iteration that was running; 0 before the first."""


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
    """The end of a statement by another one."""

    by: str
    """Id of the statement that ended it, or the finished task."""
    how: Literal["replaced", "answered", "settled"]
    """Replaced, answered or settled."""
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
    eventSequence: int
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
    """Who noted or answered it, if known."""
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
    repairs: NotRequired[list[Repair]]
    """Repairs of its result, if any."""


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


class TimelineEntryPrompt(TypedDict):
    """Of a prompt: its figures."""

    id: str
    """Id of the prompt."""
    kind: Literal["dispatch", "iteration", "session-start"]
    """The kind of the prompt."""
    tokens: int
    """Tokens of the prompt."""
    durationMs: float
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
    replaces: NotRequired[list[str]]
    """Ids of the statements that it names to end."""
    not_shown: NotRequired[list[str]]
    """Ids that it names, but that its agent was not shown."""
    ref: NotRequired[str]
    """Id of the statement, such as M7."""
    scope: NotRequired[StatementScope]


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
    factsOmitted: NotRequired[int]
    """Facts beyond the limit."""
    repairs: NotRequired[list[Repair]]
    """Repairs that reading made, if any."""
    repairsOmitted: NotRequired[int]
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


class NextTask(TypedDict):
    """The reply of tool.task-next."""

    task: Task | None
    """The next task of the board; null when none is ready."""
    plan: NotRequired[PlanClaim]
    sequence: int
    """Session sequence that the answer reflects."""


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


class Recalled(TypedDict):
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


class SessionSettings(TypedDict):
    """Settings that were set."""

    implementerTokens: NotRequired[int]
    """Tokens of an implementer's prompt and answer together."""
    reviewerTokens: NotRequired[int]
    """Tokens of a reviewer's prompt and answer together."""
    maxOutputTokens: NotRequired[int]
    """Tokens left for the answer."""
    tokenizer: NotRequired[Literal["approximate", "o200k_base"]]
    """Tokenizer: approximate counts four characters a token; o200k_base is exact and slower."""
    boardFollowsResults: NotRequired[bool]
    """If true, a result moves its task on the board. Default: true."""
    stallThresholds: NotRequired[dict[str, int]]
    """Count at which each stall signal raises its flag."""


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
    inProgress: int
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
    settings: NotRequired[SessionSettings]
    """Settings that were set."""
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
    dispatches: dict[str, int]
    """Results since the session began, by role, and rejected ones."""


class PlanSource(TypedDict):
    kind: Literal["file"]
    """A file that the service reads, or a document sent with requests."""
    path: str
    """Path of the file."""


class PlanFingerprint(TypedDict):
    """Version of the text."""

    mtimeMs: float
    """Modification time in milliseconds; 0 for a document sent with the request."""
    hash: str
    """Hash of the text."""


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


class PlanShortened(TypedDict):
    """Tasks shortened because the plan is so large."""

    texts: NotRequired[float]
    """Tasks with a shortened text."""
    prompts: NotRequired[float]
    """Tasks with a shortened prompt."""
    preamble: NotRequired[float]
    """Characters of the preamble that were left out."""
    requirementTexts: NotRequired[float]
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
    source: PlanSource
    """Where its tasks come from."""
    fingerprint: PlanFingerprint
    """Version of the text."""
    totals: PlanTotals
    """How many tasks it has."""
    active_task_id: Any
    """The task in progress, else the next: unblocked, required before optional."""
    next_task_id: Any
    """The first open task that is not blocked and waits for nothing."""
    held: NotRequired[str]
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


class RunStatusFindings(TypedDict):
    """What reviews found and nobody has closed."""

    total: int
    """Open findings: issues and required fixes."""
    newest: list[str]
    """The newest five, as "src/a.ts: Leaks a handle (critical, task 1)"."""


class StalledTask(TypedDict):
    """A stalled task."""

    task: str
    """Id of the task."""
    where: Literal["board", "plan", "results"]
    """Source of the task; results if neither board nor plan has it."""
    reason: str
    """Why it counts as stalled."""


class RunStatusAsks(TypedDict):
    task: str
    """Id of the task."""
    text: str
    """The question."""
    options: NotRequired[list[str]]
    """Suggested answers."""
    default: NotRequired[str]
    """What the work goes on with until someone answers."""


class RunStatusWorking(TypedDict):
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


class RunStatusTask(TypedDict):
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


class RunStatus(TypedDict):
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
    findings: RunStatusFindings
    """What reviews found and nobody has closed."""
    stalled: list[StalledTask]
    """Stalled tasks: the first five."""
    waiting: list[str]
    """Up to five things that need a person, a sentence each."""
    asks: list[RunStatusAsks]
    """The open questions with which waiting begins."""
    working: list[RunStatusWorking]
    """Who works now, the most recently claimed first: at most five."""
    sequence: int
    """Session sequence that the answer reflects."""
    degraded: NotRequired[str]
    """Why the plan cannot be read; the reply is then older."""
    task: NotRequired[RunStatusTask]
    """What is known of the task that the request names."""
    lists: NotRequired[SessionLists]
    """Set if the request asks for lists."""


DispatchResult = DispatchRecorded | DispatchRefused | DispatchRepeated | DispatchCounted

RESULTS = {
    "implementer": ImplementerResult,
    "reviewer": ReviewerResult,
    "observer": ObserverResult,
}

FIXES: dict[str, str] = {
    "marker_missing": "send one JSON object, or text with one pair of BEGIN_DISPATCH_RESULT and END_DISPATCH_RESULT lines around it; publish several results one by one",
    "json_parse_failed": "send one complete JSON object as UTF-8; correct a stored result with \"throughline result retry --file\"",
    "schema_invalid": "the message names the field and its allowed values: correct it and send it again",
    "stored_reply": "check which users may send requests; remove the message with \"throughline result rm\"",
    "subject_invalid": "publish it on dispatch.<session>.<role>, with 1 to 64 of the characters A-Z a-z 0-9 _ and - for the session",
    "too_large": "send less, ask for fewer items, or raise the limit that the message names",
    "rate_limited": "wait details.retryAfterMs milliseconds and send it again",
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
    "already_decided": "read the decision with \"throughline learning show\"; edit or retract the learning instead",
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
    "unavailable": "start one with \"throughline up\", or set NATS_URL; publish a result again under the id that details.messageId names",
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
