"""Drives one target with atheris: `python -m tests.fuzz.run TARGET SECONDS [libFuzzer arguments]`.

What it learns is kept in `.fuzz/TARGET/` of the checkout, so that the next run goes on from there; an input that breaks
a promise is written beside it, and the run ends with a traceback. Everything of ours is instrumented as it is imported,
so nothing of ours may be imported before.
"""

from __future__ import annotations

import sys
from hashlib import sha1
from pathlib import Path
from random import Random

import atheris

INSTRUMENTED = ["descriptor", "agentfile", "store", "entryway", "node", "tests", "packaging", "tomllib"]
LONGEST = 2048  # bytes of an input: what is wrong with a longer one is nearly always wrong with a short one
SLOWEST = 5  # seconds for one input
WORK = Path(__file__).parents[2] / ".fuzz"


def main() -> None:
    """Runs for the time given, or until something is found: then the process ends with another code than 0."""
    name, seconds, *arguments = sys.argv[1:]
    with atheris.instrument_imports(include=INSTRUMENTED):
        from tests.fuzz import Mutation, kept, load

        target = load(name)
    mutate: Mutation | None = getattr(target, "mutate", None)

    def mutated(data: bytes, max_size: int, seed: int) -> bytes:
        # Half the time, a target that knows the shape of its inputs changes them itself.
        random = Random(seed)
        other = mutate(data, random) if mutate is not None and random.random() < 0.5 else None
        if other is None or len(other) > max_size:
            return bytes(atheris.Mutate(data, max_size))
        return other

    def judged(data: bytes) -> None:
        try:
            target.one_input(data)
        except BaseException:  # raised again, after the input is kept
            # libFuzzer writes the same file, unless the interpreter is slow to end and its alarm comes first.
            (WORK / name / f"crash-{sha1(data).hexdigest()}").write_bytes(data)
            raise

    learned = WORK / name / "learned"
    learned.mkdir(parents=True, exist_ok=True)
    (WORK / ".gitignore").write_text("*\n")
    words = WORK / name / "dictionary"
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in target.TOKENS))
    folders = [learned, *(folder for kind in ("corpus", "regressions") if (folder := kept(kind, name)).is_dir())]
    options = {
        "max_total_time": seconds,
        "max_len": LONGEST,
        "timeout": SLOWEST,
        "dict": words,
        "artifact_prefix": f"{WORK / name}/",
        "print_final_stats": 1,
    }
    settings = [f"-{option}={value}" for option, value in options.items()]
    atheris.Setup([sys.argv[0], *settings, *arguments, *map(str, folders)], judged, custom_mutator=mutated)
    atheris.Fuzz()


def _escaped(token: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token.encode())


if __name__ == "__main__":
    main()
