"""Checkpoints: a run that is killed at any moment resumes as if it had not been interrupted.

The folder contains, for each of the last few moments that were saved, ``step-N.safetensors`` with
the tensors and ``step-N.json`` with the rest, including the digest of the tensors. The JSON file is
written last and deleted first, so a checkpoint with one is complete. No file is ever half written:
each is written under another name and then renamed (`lmcourse.files.replacing`).
"""

import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from torch import Tensor

from lmcourse import files
from lmcourse.errors import CourseError
from lmcourse.training.checks import not_finite
from lmcourse.training.loop import Run
from research.runs.run_config import check_same, plain
from research.runs.state_files import Damaged, read_state, write_state
from research.runs.states import RunState

_NAME = re.compile(r"step-(\d{9,})(-end)?")
_ELSEWHERE = "Or choose another folder for the checkpoints."


class Checkpoints:
    """Save a run in a folder, and resume it from there.

    Args:
        folder: for this run alone. Several machines must share it.
        every: the number of steps between two checkpoints, or the time (`datetime.timedelta`). The
            first and the last step are saved, too.
        keep: how many checkpoints are kept; at least 1.
        config: whatever else must be the same when the run is resumed, such as the name of the
            data: a dataclass, or numbers, strings, lists and dictionaries.
        changed: settings that may differ from those of the saved run, by the names in the error
            message: "optimizer.groups", "scheduler", "loop.clip" and others. The run continues with
            the new ones. The model cannot be changed.

    Attributes:
        resumed: the step from which the run was resumed; None if it is new.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        every: int | timedelta = timedelta(minutes=5),
        keep: int = 2,
        config: Any = None,
        changed: str | Sequence[str] = (),
    ) -> None:
        self.folder, self.every, self.keep, self.config = Path(folder), every, keep, config
        self.changed = (changed,) if isinstance(changed, str) else tuple(changed)
        self.resumed: int | None = None
        self._saved: tuple[int, int] | None = None  # the moment of the newest checkpoint
        self._time = 0.0  # when it was saved, in seconds

    @contextmanager
    def keeping(self, run: Run) -> Iterator[None]:
        """Resume the run if it is there, else save its beginning; and save its end.

        Raises:
            CourseError: the checkpoint is damaged, or belongs to a run with another configuration;
                or the folder cannot be written, or is in use.
        """
        self._state = RunState(run)
        with self._alone(run):
            self._begin(run)
            yield
            if self._state.moment != self._saved:
                self.save(run, "This was the last step: the model is in memory")

    def before(self, run: Run) -> None:
        """Remember what the next step changes even if it fails or is incomplete."""
        self._state.begin_step()

    def after(self, run: Run) -> None:
        """Save the run after this step, if it is time to."""
        self._state.end_step()
        if not isinstance(self.every, timedelta):
            due = run.step % self.every == 0
        else:
            due = time.monotonic() - self._time >= self.every.total_seconds()
            if run.processes.count > 1:  # by the clock of the first one
                due = run.processes.summed([float(due and run.processes.rank == 0)])[0] > 0
        if due:
            self.save(run)

    def save(self, run: Run, then: str = "The run continues") -> None:
        """Save the run. If the disk fails, warn and let the run continue.

        A long training is worth more than a checkpoint: the older ones are complete, and there may
        be space again for the next one.

        Raises:
            CourseError: a parameter is not finite. The older checkpoints stay.
        """
        failed = False
        try:
            self._write(run)
        except OSError as error:
            failed = True
            cause = files.trouble(error, self.folder, _ELSEWHERE).cause
            newest = "no checkpoint" if self._saved is None else f"that of step {self._saved[0]}"
            warnings.warn(
                f"Step {run.step} is not saved. {cause} {then}, and {newest} is complete.",
                RuntimeWarning,
                stacklevel=2,
            )
        # Only one process writes, and all must know whether it failed.
        if not run.processes.summed([float(failed)])[0]:
            self._saved = self._state.moment
        self._time = time.monotonic()

    def rescue(self, run: Run) -> str:
        """Save the run before a step that failed; return a sentence on how to continue."""
        spoiled = not_finite(dict(run.module.named_parameters()))
        for name, tensor in run.module.state_dict().items():  # batch statistics, for example
            if isinstance(tensor, Tensor) and tensor.isnan().any():
                spoiled.append(name)
        spoiled_anywhere = run.processes.summed([len(spoiled)])[0] > 0
        if not spoiled_anywhere and self._state.moment != self._saved:
            self.save(run, "The run ends here")
        if self._saved is None:
            return ""
        return (
            f" Step {self._saved[0]} is saved in {self.folder}. To continue from it with other "
            "settings, name them: Checkpoints(…, changed=['optimizer.groups', 'scheduler', "
            "'loop.clip'])."
        )

    def _begin(self, run: Run) -> None:
        config = plain({**self._state.config(), "config": self.config})
        self._config = config
        names = self._names()
        self._agree(run, names)
        try:
            if names:
                self._resume(run, names)
            else:
                self._write(run)  # so that problems with saving appear now
                self._saved = self._state.moment
            if run.processes.rank == 0:
                self._clean()
        except OSError as error:
            raise files.trouble(error, self.folder, _ELSEWHERE) from error
        self._time = time.monotonic()

    def _resume(self, run: Run, names: list[str]) -> None:
        """Load the newest checkpoint."""
        try:
            state = read_state(self.folder, names[-1])
        except Damaged as error:
            raise CourseError(
                f"The newest checkpoint is damaged: {error}.", self._older(names)
            ) from error
        check_same(state["config"], self._config, self.changed, self.folder)
        self._state.load_state_dict(state["run"])
        self.resumed, self._saved = run.step, self._state.moment

    def _older(self, names: list[str]) -> str:
        """What to do when the newest of some checkpoints is damaged."""
        for name in reversed(names[:-1]):
            with suppress(Damaged, OSError):
                read_state(self.folder, name)
                newer = names[names.index(name) + 1 :]
                delete = " and ".join(str(self.folder / f"{each}.json") for each in newer)
                return (
                    f"The previous one, of step {_step(name)}, is complete: delete {delete}, and "
                    "the same command continues from there."
                )
        return f"No other one is complete: use another folder, or delete {self.folder} to restart."

    def _write(self, run: Run) -> None:
        state = {
            "step": run.step,
            "config": self._config,
            "run": self._state.state_dict(),
        }  # all processes
        bad = not_finite(dict(run.module.named_parameters()))
        if bad:
            raise CourseError(
                f"After step {run.step}, {bad[0]} is not finite: that step is not saved.",
                "Lower the learning rate. The previous checkpoint is unchanged.",
            )
        if run.processes.rank == 0:
            name = f"step-{run.step:09d}"
            if name in self._names():  # there was one more evaluation, at the end
                name += "-end"  # a complete checkpoint is never overwritten
            write_state(self.folder, name, state)
            for old in self._names()[: -self.keep]:
                (self.folder / f"{old}.json").unlink(missing_ok=True)
                (self.folder / f"{old}.safetensors").unlink(missing_ok=True)

    def _names(self) -> list[str]:
        """The complete checkpoints, oldest first."""
        found = [path.stem for path in self.folder.glob("step-*.json")]
        return sorted(filter(_NAME.fullmatch, found), key=lambda name: (_step(name), name))

    def _clean(self) -> None:
        """Delete incomplete files of a run that was killed."""
        entries = set(self._names())
        for path in self.folder.glob("step-*.safetensors"):
            if _NAME.fullmatch(path.stem) and path.stem not in entries:
                path.unlink()
        for path in self.folder.glob(files.TEMPORARY.format("step-*", "*")):
            path.unlink(missing_ok=True)

    def _agree(self, run: Run, names: list[str]) -> None:
        """Check that all processes share the folder, before one of them changes it."""
        newest = float(_step(names[-1])) if names else -1.0
        total, squares = run.processes.summed([newest, newest**2])
        if total**2 != squares * run.processes.count:  # all find out whether they differ
            raise CourseError(
                f"Not all processes find the same checkpoints in {self.folder}.",
                "Choose a folder that all machines share.",
            )

    @contextmanager
    def _alone(self, run: Run) -> Iterator[None]:
        """Lock the folder: a run must not be resumed while it is in progress."""
        from filelock import FileLock, Timeout

        if run.processes.rank != 0 or (self.folder.exists() and not self.folder.is_dir()):
            yield
            return
        lock = FileLock(self.folder / ".lock")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout as error:
            raise CourseError(
                f"A run in progress saves its checkpoints in {self.folder}.",
                "Wait for it or stop it; or choose another folder.",
            ) from error
        except NotImplementedError:
            pass  # a file system without locks
        except OSError as error:
            raise files.trouble(error, self.folder, _ELSEWHERE) from error
        try:
            yield
        finally:
            lock.release()


def _step(name: str) -> int:
    return int(name.split("-")[1])
