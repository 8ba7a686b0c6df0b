"""A task from beginning to end: an agent takes it and asks something, a person answers, the next agent goes on."""

import asyncio

import throughline_memory


async def main() -> None:
    async with throughline_memory.connect() as client:
        session = client.session("demo")
        watching = asyncio.create_task(watch(session))

        task = await session.task_add("Extend the parser", priority=1)
        claimed = (await session.task_claim("agent-1"))["task"]
        assert claimed is not None and claimed["id"] == task["id"]

        # The prompt goes to a model; what the model returned is published, as text or as a dict.
        await session.prompt(task["id"], task["content"])
        result: throughline_memory.types.ImplementerResult = {
            "task_id": task["id"],
            "status": "blocked",
            "summary": "The parser needs a separator",
            "blockers": ["Which separator, comma or semicolon?"],
        }
        published = await session.publish(result, role="implementer", wait=True)

        await session.answer(task["id"], "Use a semicolon.", by="anna", person=True)
        reply = await session.prompt(task["id"], task["content"], after=published.sequence)
        print("answered" if "Use a semicolon." in reply["prompt"] else "not answered")

        try:
            await session.task_complete("TAS-99")
        except throughline_memory.ThroughlineError as error:
            print(error.code, "-", error.fix)
        await watching


async def watch(session: throughline_memory.Session) -> None:
    """Prints what happens in the session from its beginning, until a person has answered."""
    async for event in session.watch(after=0):
        print(event["kind"], event["type"], event.get("task", ""))
        if event["type"] == "question.answered":
            return


asyncio.run(main())
