"""Start a run again and again, kill it so many times, and see that its end is always the same.

    python -m tests.runs.killed_run FOLDER KILLS SEED

It prints the number of runs, that of the checkpoints that kills left behind, and whether all runs
ended as one that was never killed.

Each start is a process of its own, forked before any training. Half of the kills come from outside,
at a random time; half strike inside a save: in the middle of a write, at an fsync, before or after
a rename or a deletion.
"""

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

from lmcourse import files
from research.runs import state_files
from tests.training.small_runs import digest, small_run

STEPS = 63  # a step to be kept, and not one to look at held-out data but for the end


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def die_in_a_save(countdown: int) -> None:
    """Have this process killed at that point of its saves, of which each file has several."""
    left = iter(range(countdown, -1, -1))

    def point() -> None:
        if next(left) == 0:
            die()

    def surrounded(function):
        def call(*arguments, **options):
            point()
            result = function(*arguments, **options)
            point()
            return result

        return call

    original = files.replacing

    class HalfWritten:
        def __init__(self, file) -> None:
            self.file = file

        def write(self, data: bytes) -> None:
            self.file.write(data[: len(data) // 2])
            self.file.flush()
            point()
            self.file.write(data[len(data) // 2 :])

    def replacing(path):
        class Around:
            def __enter__(self):
                self.inner = original(path)
                return HalfWritten(self.inner.__enter__())

            def __exit__(self, *error):
                return self.inner.__exit__(*error)

        return Around()

    state_files.replacing = replacing
    os.fsync = lambda descriptor: point()
    Path.replace = surrounded(Path.replace)
    Path.unlink = surrounded(Path.unlink)


def start(folder: str, draw: random.Random, inside: bool, seconds: float) -> bool:
    """Start the run in a process of its own; whether it was killed before its end."""
    countdown, wait = draw.randrange(1, 60), draw.uniform(0, seconds)
    child = os.fork()
    if child == 0:
        try:
            if inside:
                die_in_a_save(countdown)
            small_run(folder, STEPS)
            os._exit(0)
        finally:  # an error
            traceback.print_exc()
            os._exit(1)
    if not inside:
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "it failed by itself"
    return os.WIFSIGNALED(status)


def main(folder: str, kills: int, seed: int) -> None:
    draw = random.Random(seed)
    # What a killed process wrote is there; fsync is for power failures, and takes most of the time.
    os.fsync = lambda descriptor: None
    small_run(None, 2)  # the first step ever takes longer than all others
    began = time.monotonic()
    whole = digest(*small_run(f"{folder}/whole", STEPS))
    seconds = (time.monotonic() - began) / 4
    runs, reached = 1, set()
    while kills > 0:
        here = f"{folder}/{runs}"
        if start(here, draw, kills % 2 == 0, seconds):
            kills -= 1
            reached |= {(runs, path.stem) for path in Path(here).glob("step-*.json")}
        else:  # it came to its end: the next kills have a run of their own
            assert digest(*small_run(here, STEPS)) == whole
            runs += 1
    print(runs, len(reached), digest(*small_run(f"{folder}/{runs}", STEPS)) == whole)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
