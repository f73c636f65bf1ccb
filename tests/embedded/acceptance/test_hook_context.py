"""Context that hooks give: under which heading each memory stands."""

import pytest

from tests.support.assistants import Assistant, context_of

FACT = "The shop listens on port 8443"


@pytest.fixture
def assistant(tmp_path):
    return Assistant(tmp_path, tmp_path / "memory.db")


def say(assistant, text, *, session="before", folder=None):
    """Store a prompt in a session of its own, in a project."""
    transcript = assistant.transcript(f"{session}.jsonl", session)
    transcript.user(text)
    stop = assistant.events(f"{session}.jsonl", session)["Stop"]
    assistant.hook("Stop", {**stop, "cwd": str(folder or assistant.project)})


def ask(assistant, prompt, *, session="now", **variables):
    """The context for a prompt of another session."""
    asked = {**assistant.events(f"{session}.jsonl", session)["UserPromptSubmit"], "prompt": prompt}
    return context_of(assistant.hook("UserPromptSubmit", asked, **variables))


def lines(context):
    """The lines of a context by the heading of their project."""
    found, heading = {}, None
    for line in context.splitlines():
        if line.startswith("# "):
            heading = line
        elif line.startswith("- "):
            found.setdefault(heading, []).append(line)
    return found


class TestProjects:
    def test_lines_of_another_project_stand_under_its_name_where_they_are_all_there_is(self, assistant):
        blog = assistant.folder / "blog"
        (blog / ".git").mkdir(parents=True)
        (blog / ".git" / "config").write_text('[remote "origin"]\n\turl = git@github.com:ana/blog.git\n')
        say(assistant, "In this repo you may push to main directly", folder=blog)
        assert lines(ask(assistant, "Push my changes to main")) == {
            "# Elsewhere: github.com/ana/blog": ["- user: In this repo you may push to main directly"]
        }

    def test_memories_of_no_project_stand_between_those_of_this_one_and_of_others(self, assistant):
        blog = assistant.folder / "blog"
        (blog / ".git").mkdir(parents=True)
        say(assistant, "The port of the blog is 9000", session="blog", folder=blog)
        say(assistant, FACT)
        with assistant.memory() as memory:
            memory.agent().remember("The port of the router is 8080", subject="router", predicate="port")
        found = lines(ask(assistant, "Which port does the blog, the shop and the router use?"))
        assert [heading.partition(":")[0] for heading in found] == [
            "# This project",
            "# Without a project",
            "# Elsewhere",
        ]
        own, of_none, elsewhere = found.values()
        assert ("8443" in own[0], "8080" in of_none[0], "9000" in elsewhere[0]) == (True, True, True)

    def test_what_is_known_of_the_user_is_of_no_project(self, assistant):
        with assistant.memory() as memory:
            memory.agent().remember(
                "tabs", subject="user", predicate="indents with", tags=["project:github.com/ana/blog"]
            )
        assert list(lines(ask(assistant, "Do I indent with tabs?"))) == ["# Without a project"]
