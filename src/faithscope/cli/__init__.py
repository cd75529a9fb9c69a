"""The command line: faithscope demo, evaluate, audit, plan, monitor, reproduce."""

import os
import sys
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from faithscope.cli import demo, evaluate, logs, monitor
from faithscope.errors import FaithscopeError, MissingExtra
from faithscope.runtime.memory import ran_out
from faithscope.runtime.messages import json_alone, plain_letters
from faithscope.tables.engines import is_interruption

# Other words for options, so that each has one name in all commands and whatever a reader remembers works.
_OTHER_WORDS = {
    "html": "report",
    "when": "by-time",
    "time": "by-time",
    "clusters": "cluster",
    "discretizer": "discretize",
}

app = typer.Typer(
    name="faithscope",
    help="Are these explanations faithful to the model, and how sure can one be?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "token_normalize_func": lambda word: _OTHER_WORDS.get(word, word),
    },
)
for command in (demo.demo, evaluate.evaluate, logs.audit, logs.plan):
    app.command()(json_alone(command))


def add_reproduce(app: typer.Typer) -> None:
    """Add the command of the package that reproduces the paper, if it is installed, and else one that says how to."""
    if find_spec("faithscope_reproduction"):
        app.command()(json_alone(import_module("faithscope_reproduction.command").reproduce))
        return

    @app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
    def reproduce() -> None:
        """Reproduce the paper's tables and figures; needs the package faithscope-reproduction."""
        raise MissingExtra(
            "What reproduces the paper is a package of its own, which is not installed: in a checkout of faithscope, "
            "type pip install ./reproduction, or make reproduce, which installs and runs it."
        )


add_reproduce(app)
app.add_typer(monitor.app)

_WHOLE = "FAITHSCOPE_TRACEBACK"
_INTERRUPTED = 130  # what typer makes of Ctrl-C
_CACHED = ("demo", "evaluate", "reproduce")  # commands with --cache


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        from faithscope import __version__

        typer.echo(f"faithscope {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; a mistake is one line and exit status 2."""
    plain_letters()
    try:
        status = app(standalone_mode=False)  # wrong usage is raised, and reported here
    except FaithscopeError as error:
        status = _mistake(str(error), error)
    except MemoryError as error:
        status = _mistake(ran_out(error, "use fewer rows"))
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except Exception as error:
        status = _INTERRUPTED if is_interruption(error) else _failed(error)
    if status == _INTERRUPTED:
        kept = " With --cache, the next run goes on from here." * (sys.argv[1] in _CACHED)
        _mistake(f"interrupted.{kept}")
    sys.exit(status or 0)


def _failed(error: Any) -> int:
    """One line about what was typed wrong, or the whole help if nothing was typed; or about what nobody foresaw.

    Python's status 1 would say that a limit is below --fail-under.
    """
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        return 2
    if hasattr(error, "format_message"):
        words = " ".join(error.format_message().split())
        command = error.ctx.command_path if getattr(error, "ctx", None) else "faithscope"
        return _mistake(f"{words.rstrip('.')}. See {command} --help.")
    if os.environ.get(_WHOLE):
        traceback.print_exc()
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = " ".join(str(error).split()).rstrip(".")
    told = f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}: {words}."
    return _mistake(told, error, f"Set {_WHOLE}=1 to see the whole traceback.")


def _mistake(message: str, error: Exception | None = None, *more: str) -> int:
    """Say what went wrong, and the notes on an error, which say what was going on when it came up."""
    told = " ".join([message, *getattr(error, "__notes__", ()), *more])
    typer.echo(f"faithscope: {FaithscopeError(told)}", err=True)  # one line, whatever it quotes
    return 2
