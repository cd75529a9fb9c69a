"""Code in a process of its own, without the two seconds of imports: forks of one helper that has imported already."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path


def python(code, *words, cwd=None, env=None, check=True):
    """Run code as ``python -c code words...`` would, in a fork that has the heavy imports behind it.

    Not for tests of imports, of start-up or of hash seeds: those want a Python of their own.
    """
    if not hasattr(os, "fork"):
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=check)
    asked = {"code": code, "words": list(words), "cwd": str(cwd or Path.cwd()), "env": dict(env or os.environ)}
    process = _helper()
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    assert answer, "the helper that forks children has ended"
    done = subprocess.CompletedProcess(["python", "-c", code, *words], **json.loads(answer))
    if check and done.returncode:
        raise AssertionError(f"The child ended with status {done.returncode}:\n{done.stderr}")
    return done


@cache
def _helper():
    """One helper per worker; one thread, since a fork of more may hang."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, __file__], env={**os.environ, **single}, **pipes)
    atexit.register(process.kill)
    return process


def _serve():
    """Fork once per line of JSON on standard input, and answer with how each fork ended."""
    import numpy
    import pandas
    import pyarrow
    import scipy.stats
    import sklearn.ensemble

    import faithscope
    from listed import names

    assert all((numpy, pandas, pyarrow, scipy.stats, sklearn.ensemble))
    for name in {*names(faithscope)} - {"Audit", "audit", "Monitor", "explainers"}:
        getattr(faithscope, name)  # loaded when first used: here, and not in every fork
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        asked = json.loads(line)
        folder = tempfile.mkdtemp()
        out, err = Path(folder, "out"), Path(folder, "err")
        number = os.fork()
        if number == 0:
            _become(asked, out, err)
        _, status = os.waitpid(number, 0)
        told = {"stdout": out.read_text(), "stderr": err.read_text()}
        shutil.rmtree(folder)
        answers.write(json.dumps({"returncode": os.waitstatus_to_exitcode(status), **told}) + "\n")
        answers.flush()


def _become(asked, out, err):
    """Run the code in this fork, then end it as an interpreter ends."""
    status = 1
    try:
        for path, number in ((out, 1), (err, 2)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(asked["cwd"])
        os.environ.clear()
        os.environ.update(asked["env"])
        sys.argv = ["-c", *asked["words"]]
        sys.path[0] = ""
        exec(compile(asked["code"], "<string>", "exec"), {"__name__": "__main__"})
        status = 0
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        if isinstance(leaving.code, str):
            print(leaving.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    _serve()
