"""README is a promise: its examples run and show what they say, and it knows every verb and option."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from templatediff.cli.program import program

ROOT = Path(__file__).parent.parent
CORPORA = ("demo", "demo-gold")  # what the examples in README read
SHELL = "|&;<>()$`*?[]~"  # characters that mean something to a shell, outside of quotes at least
README = (ROOT / "README.md").read_text(encoding="utf-8")


def verbs(group: click.Group = program, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{path}{name}", command
        if isinstance(command, click.Group):
            yield from verbs(command, f"{path}{name} ")


VERBS = dict(verbs())
OPTIONS = [
    pytest.param(verb, option, id=f"{verb} {option.opts[0]}")
    for verb, command in VERBS.items()
    for option in command.params
    if isinstance(option, click.Option)
]


def renewed(text: str) -> str:
    """The text with what its Python and console examples print now, in the current folder."""
    names: dict[str, object] = {}
    text = re.sub(r"(?ms)(?<=^```python\n).*?(?=^```$)", lambda block: python_session(block[0], names), text)
    return re.sub(r"(?ms)(?<=^```console\n).*?(?=^```$)", lambda block: console_session(block[0]), text)


def python_session(block: str, names: dict[str, object]) -> str:
    """The examples of a block with what they print, run one after the other with the same names."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(block):
        first, *rest = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, "README.md", "single"), names)
        lines += [line or "<BLANKLINE>" for line in printed.getvalue().splitlines()]
    return "\n".join((*lines, "", ""))


def console_session(block: str) -> str:
    """The commands of a block with what they print; each must succeed."""
    told = ""
    for command in re.findall(r"(?m)^\$ (.*)$", block):
        name, *arguments = shlex.split(command)
        if name == "templatediff" and not set(command) & set(SHELL):
            status, printed = called(arguments)
        else:
            status, printed = typed(command)
        assert status == 0, f"{command}\n{printed}"
        told += f"$ {command}\n{printed}"
    return told


def called(arguments: list[str]) -> tuple[int, str]:
    """Exit status and output of a command in this process, which needs no start of its own."""
    done = CliRunner().invoke(program, arguments, catch_exceptions=False)
    return done.exit_code, done.output


def typed(command: str) -> tuple[int, str]:
    """The same of what only a shell understands."""
    done = subprocess.run(
        ["bash", "-c", f'templatediff() {{ "{sys.executable}" -m templatediff "$@"; }}\n{command}'],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout


def without_times(text: str) -> str:
    return re.sub(r"\(\d+\.\d s\)", "(... s)", text)


@pytest.fixture
def beside_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the repository to the commands in README, and may be written."""
    for name in CORPORA:
        shutil.copytree(ROOT / "corpora" / name, tmp_path / "corpora" / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_stands_in_readme(verb: str) -> None:
    assert VERBS[verb].help
    assert f"templatediff {verb}" in README


@pytest.mark.parametrize(("verb", "option"), OPTIONS)
def test_every_option_has_help_and_stands_in_readme(verb: str, option: click.Option) -> None:
    assert option.help
    assert any(f"`{name}" in README or f" {name} " in README for name in option.opts)


def test_examples_show_what_they_say(beside_corpora: Path) -> None:
    now = without_times(renewed(README))
    assert now == without_times(README), "PYTHONPATH=. python tests/test_docs.py writes the outputs anew"


def test_the_two_commands_for_a_fresh_machine_stand_in_readme() -> None:
    """What .ci/run does with the package is what README says to do."""
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv .venv && ")]
    assert [command.split(" && ")[1:] for command in commands] == [
        [".venv/bin/pip install .", ".venv/bin/templatediff extract corpora/demo -o demo-out"],
        [".venv/bin/pip install '.[test]'", ".venv/bin/pytest -q -n auto"],
    ]
    for words in ("pip install '.[test]'", 'extract "$repository/corpora/demo" -o demo-out', "\npytest -q -n auto\n"):
        assert words in ci


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for corpus in CORPORA:
            shutil.copytree(ROOT / "corpora" / corpus, Path(folder, "corpora", corpus))
        os.chdir(folder)
        (ROOT / "README.md").write_text(renewed(README), encoding="utf-8")
