"""`memscape mcp` by the official client of the Model Context Protocol."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

# What an answer may have: the limit of its rows, its link and what was cut.
LONGEST = 22_000


def asked(binary: str, arguments: list[str], ask: Callable[[ClientSession], Awaitable[None]]) -> None:
    """Run a server and a client of it."""

    async def run() -> None:
        server = StdioServerParameters(command=binary, args=["mcp", *arguments])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await ask(session)

    anyio.run(run)


async def told(session: ClientSession, tool: str, **arguments: Any) -> Any:
    """The answer of a tool."""
    with anyio.fail_after(60):
        result = await session.call_tool(tool, arguments)
    [content] = result.content
    assert not is_error(result), content.text
    assert len(content.text) <= LONGEST
    return json.loads(content.text)


async def refused(session: ClientSession, tool: str, **arguments: Any) -> str:
    """The sentence that says why there is no answer."""
    with anyio.fail_after(60):
        result = await session.call_tool(tool, arguments)
    assert is_error(result)
    [content] = result.content
    return content.text


def is_error(result: Any) -> bool:
    # The second version of the SDK renamed it.
    return bool(getattr(result, "is_error", None) or getattr(result, "isError", None))


def statements(answer: Any) -> list[dict[str, Any]]:
    """All of an answer, at any depth."""
    found = []
    if isinstance(answer, dict):
        found += answer.get("statements", [])
        answer = list(answer.values())
    if isinstance(answer, list):
        for part in answer:
            found += statements(part)
    return found


def test_tools_are_listed_with_what_they_are_for(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        wanted = "files summary insights savings call_tree find events segments diff ranks whatif plan sql"
        assert set(wanted.split()) <= set(tools)
        for tool in tools.values():
            schema = getattr(tool, "input_schema", None) or tool.inputSchema
            assert tool.description
            assert schema["type"] == "object"
            assert all(known.get("description") for known in schema["properties"].values())

    asked(binary, [str(samples)], ask)


def test_why_it_ran_out_of_memory_and_what_to_change_takes_three_calls(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        why = await told(session, "insights", topic="oom")
        texts = [statement["text"] for statement in statements(why)]
        assert any("requested 1.88 GiB" in text for text in texts)
        assert any(text.startswith("Fragmentation:") for text in texts)
        fixes = [statement["fix"] for statement in statements(why) if "fix" in statement]
        assert any("expandable_segments:True" in fix for fix in fixes)
        assert why["link"] == "#tab=why&topic=oom&at=oom"
        savings = await told(session, "savings")
        assert statements(savings)
        # Whether the fix helps: what was advised, simulated.
        what_if = await told(session, "whatif", settings=["expandable_segments:True"])
        assert "expandable_segments:True" in json.dumps(what_if)

    asked(binary, [str(samples / "out-of-memory.pickle.gz")], ask)


def test_an_answer_has_what_the_next_question_needs(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        name = "out-of-memory.pickle.gz"
        assert name in [row["file"] for row in (await told(session, "files"))["snapshots"]]
        [oom] = (await told(session, "events", file=name, action="oom"))["rows"]
        live = await told(session, "call_tree", file=name, at=str(oom["event"]))
        assert live["live_bytes"] == oom["live_bytes"]
        assert live["link"] == f"#tab=tree&at={oom['event']}"
        found = await told(session, "find", file=name, query="model.py:88", rows=1)
        number = found["rows"][0]["number"]
        assert found["rows_left_out"] == found["count"] - 1
        [again] = (await told(session, "find", file=name, query=f"#{number}"))["rows"]
        assert again["number"] == number

    asked(binary, [str(samples)], ask)


def test_sql_answers_what_no_other_tool_does(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        [device] = (await told(session, "summary"))["answer"][0]["devices"]
        peak = await told(session, "sql", query="SELECT sum(requested_bytes) AS bytes FROM live_at('peak')")
        assert (peak["columns"], peak["rows"]) == (["bytes"], [[device["peak_requested"]]])
        assert "query is missing" in await refused(session, "sql")
        assert await refused(session, "sql", query="ATTACH 'other.sqlite' AS other")

    asked(binary, [str(samples / "out-of-memory.pickle.gz")], ask)


def test_answers_are_short_and_say_what_was_cut(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        rows = await told(session, "segments", at="oom", rows=200)
        [left_out] = rows["cut"]["left_out"].values()
        assert left_out > 0
        assert "Ask again" in rows["cut"]["for_more"]
        events = await told(session, "events", rows=200)
        assert events["rows"][0]["event"] == 0
        # All insights: their statements, without the tables.
        assert "sheets" not in json.dumps(await told(session, "insights"))

    asked(binary, [str(samples / "out-of-memory.pickle.gz")], ask)


def test_ranks_and_differences(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        await told(session, "ranks")
        await told(session, "diff", file="training.pickle.gz", other="leak.pickle.gz")

    asked(binary, [str(samples)], ask)


def test_what_is_wrong_is_said_and_the_server_goes_on(binary: str, samples: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pickle"
    broken.write_bytes(b"\x80\x04}q\x00.")
    (tmp_path / "good.pickle.gz").write_bytes((samples / "leak.pickle.gz").read_bytes())

    async def ask(session: ClientSession) -> None:
        assert "file is missing" in await refused(session, "summary")
        assert "good.pickle.gz" in await refused(session, "summary", file="none.pickle")
        assert "is outside of" in await refused(session, "summary", file="../../../../../../../../etc/passwd")
        assert "is outside of" in await refused(
            session, "diff", file="good.pickle.gz", other=str(samples / "leak.pickle.gz")
        )
        assert "broken.pickle" in await refused(session, "summary", file="broken.pickle")
        good = {"file": "good.pickle.gz"}
        assert "no argument output" in await refused(session, "find", output="/tmp/x", **good)
        assert "not a text" in await refused(session, "find", query={"a": [1]}, **good)
        assert "rows is not" in await refused(session, "find", rows=10**12, **good)
        assert "no event" in await refused(session, "call_tree", at="999999999", **good)
        assert await refused(session, "insights", topic="nothing", **good)
        assert await refused(session, "whatif", settings=["--help"], **good)
        with anyio.fail_after(60), pytest.raises(MCPError) as unknown:
            await session.call_tool("x" * 10_000, {})
        assert "no tool" in str(unknown.value)
        assert unknown.value.error.code == -32602
        assert "possible values: " in await refused(session, "call_tree", by="nothing", **good)
        # A value is never an option: this is a search without a match.
        assert (await told(session, "find", query="--output=/tmp/x", **good))["count"] == 0
        assert (await told(session, "summary", **good))["answer"][0]["file"] == "good.pickle.gz"

    asked(binary, [str(tmp_path)], ask)


def test_a_call_that_its_client_gives_up_makes_room_for_the_next(binary: str, samples: Path) -> None:
    async def ask(session: ClientSession) -> None:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        with anyio.move_on_after(1) as given_up:
            await session.call_tool("sql", {"query": endless})
        assert given_up.cancelled_caught
        # Its own deadline is after 60 seconds.
        with anyio.fail_after(40):
            assert (await told(session, "sql", query="SELECT 1 AS one"))["rows"] == [[1]]

    asked(binary, [str(samples / "out-of-memory.pickle.gz")], ask)


def test_a_path_that_is_not_there_ends_with_a_sentence(binary: str, tmp_path: Path) -> None:
    import subprocess

    ended = subprocess.run(
        [binary, "mcp", str(tmp_path / "none")], capture_output=True, text=True, check=False, timeout=60, input=""
    )
    assert ended.returncode == 1
    assert "No such file" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '{"jsonrpc": "2.0"}', '{"id": {}}', "\x00" * 100, "{" * 100_000])
def test_what_is_no_message_does_no_harm(binary: str, samples: Path, text: str) -> None:
    import subprocess

    ended = subprocess.run(
        [binary, "mcp", str(samples)], input=text + "\n", capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode in {0, 1}
    assert "panicked" not in ended.stderr
