"""Checkpoints: a run that is killed at any moment goes on as if nothing had been.

In the folder are, for each of the last few moments that were kept, ``step-N.safetensors`` with the
tensors and ``step-N.json`` with all else, the digest of the tensors included. The JSON is the
checkpoint's entry: it is written last and deleted first, so whatever has an entry is whole. Neither
file is ever half written: each is made under another name and then renamed
(`lmcourse.files.replacing`).
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
from lmcourse.models.inputs import whole_number
from lmcourse.training.run import Run, not_finite, whole
from lmcourse.training.run_config import check_same, plain
from lmcourse.training.state_files import Damaged, read_state, write_state

_NAME = re.compile(r"step-(\d{9,})(-end)?")
_PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle")
_ELSEWHERE = "Or give the checkpoints another folder."


class Checkpoints:
    """Keep a run in a folder, and take it up again from there.

    Args:
        folder: of this run alone. Several machines must all see it.
        every: after so many steps, or after so much time (`datetime.timedelta`); and at the end.
        keep: how many checkpoints stay; at least 1.
        config: whatever else must be the same when the run is taken up again, such as the name of
            the data: a dataclass, or numbers, text, lists and dictionaries.
        changed: settings that may be others than those of the run that is taken up, by the names
            that the refusal gives them: "optimizer.groups", "scheduler", "loop.clip" and others.
            The run then goes on with the new ones. The model's cannot be changed.

    Attributes:
        resumed: the step from which the run was taken up; None if it began.
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
        if not isinstance(folder, str | Path):
            raise CourseError(
                f"folder={folder!r:.60} names no folder.", 'Give a path, such as "runs/bert".'
            )
        if not isinstance(every, timedelta):
            whole_number(every, "every", "Checkpoints (in steps; in time, give a timedelta)")
        elif every < timedelta(0):
            raise CourseError(f"every={every} is no time to wait.", "Give timedelta(minutes=5).")
        whole_number(keep, "keep", "Checkpoints")
        names = [changed] if isinstance(changed, str) else changed
        if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
            raise CourseError(
                f"changed={changed!r:.60} names no settings.", 'Give ["optimizer.groups"], say.'
            )
        self.folder, self.every, self.keep = Path(folder), every, keep
        self.config, self.changed = config, tuple(names)
        self.resumed: int | None = None
        self._saved: tuple[int, int] | None = None  # the moment of the newest checkpoint
        self._looked = 0.0  # when that was, in seconds

    @contextmanager
    def keeping(self, run: Run) -> Iterator[None]:
        """Take the run up, if it is there; keep its beginning otherwise, and its end in any case.

        Raises:
            CourseError: the checkpoint is damaged; or is of a run with another configuration;
                or the folder cannot be written; or another process is using it.
        """
        with self._alone(run):
            self._begin(run)
            yield
            if run.moment != self._saved:
                self.save(run, "This was the last step: the model is in memory")

    def after(self, run: Run) -> None:
        """Keep the run as it is after this step, if it is time to."""
        if not isinstance(self.every, timedelta):
            due = run.step % self.every == 0
        else:
            due = time.monotonic() - self._looked >= self.every.total_seconds()
            if run.processes.count > 1:  # the first one's clock is everyone's
                due = run.processes.summed([float(due and run.processes.rank == 0)])[0] > 0
        if due:
            self.save(run)

    def save(self, run: Run, then: str = "The run goes on") -> None:
        """Keep the run as it is. Where that fails, say so, and let the run go on.

        Hours of training are worth more than one checkpoint: the older ones are whole, and the
        next time there may be space again.

        Raises:
            CourseError: a parameter is not finite. The older checkpoints stay.
        """
        failed = False
        try:
            self._write(run)
        except OSError as error:
            failed = True
            said = files.trouble(error, self.folder, _ELSEWHERE)
            kept = "no checkpoint" if self._saved is None else f"that of step {self._saved[0]}"
            warnings.warn(
                f"Step {run.step} is not kept. {said.cause} {then}, and {kept} is whole.",
                RuntimeWarning,
                stacklevel=2,
            )
        # Only one process writes, and all must know whether there is something left to write.
        if not run.processes.summed([float(failed)])[0]:
            self._saved = run.moment
        self._looked = time.monotonic()

    def rescue(self, run: Run) -> str:
        """Keep what the run was before a step that failed; say from where it can go on, and how."""
        spoiled = not_finite(dict(run.module.named_parameters()))
        for name, tensor in run.module.state_dict().items():  # batches' statistics, for example
            if isinstance(tensor, Tensor) and whole(tensor).isnan().any():
                spoiled.append(name)
        spoiled_anywhere = run.processes.summed([len(spoiled)])[0] > 0
        if not spoiled_anywhere and run.moment != self._saved:
            self.save(run, "The run ends here")
        if self._saved is None:
            return ""
        return (
            f" Step {self._saved[0]} is kept in {self.folder}. To go on from it with other "
            "settings, name them: Checkpoints(…, changed=['optimizer.groups', 'scheduler', "
            "'loop.clip'])."
        )

    def _begin(self, run: Run) -> None:
        config = plain({**run.config(), "config": self.config})
        self._config = config
        self._check_folder()
        names = self._names()
        self._agree(run, names)
        try:
            if names:
                self._resume(run, names)
            else:
                self._write(run)  # all that could go wrong with saving goes wrong now
                self._saved = run.moment
            if run.processes.rank == 0:
                self._clean()
        except OSError as error:
            raise files.trouble(error, self.folder, _ELSEWHERE) from error
        self._looked = time.monotonic()

    def _resume(self, run: Run, names: list[str]) -> None:
        """Take on the newest checkpoint."""
        try:
            state = read_state(self.folder, names[-1])
        except Damaged as error:
            raise CourseError(
                f"The newest checkpoint is damaged: {error}.", self._older(names)
            ) from error
        check_same(state["config"], self._config, self.changed, self.folder)
        run.load_state_dict(state["run"])
        self.resumed, self._saved = run.step, run.moment

    def _older(self, names: list[str]) -> str:
        """What to do when the newest of some checkpoints is damaged."""
        for name in reversed(names[:-1]):
            with suppress(Damaged, OSError):
                read_state(self.folder, name)
                newer = names[names.index(name) + 1 :]
                delete = " and ".join(str(self.folder / f"{each}.json") for each in newer)
                return (
                    f"The one before, of step {_step(name)}, is whole: delete {delete}, and the "
                    "same command goes on from there."
                )
        return f"No other one is whole: give another folder, or delete {self.folder} to begin anew."

    def _write(self, run: Run) -> None:
        state = {"step": run.step, "config": self._config, "run": run.state_dict()}  # all processes
        bad = not_finite(dict(run.module.named_parameters()))
        if bad:
            raise CourseError(
                f"After step {run.step}, {bad[0]} is not finite: that step is not kept.",
                "Lower the learning rate. The checkpoint before it stays as it was.",
            )
        if run.processes.rank == 0:
            name = f"step-{run.step:09d}"
            if name in self._names():  # held-out data was looked at once more, at the end
                name += "-end"  # and what is whole is never written over
            write_state(self.folder, name, state)
            for old in self._names()[: -self.keep]:
                (self.folder / f"{old}.json").unlink(missing_ok=True)
                (self.folder / f"{old}.safetensors").unlink(missing_ok=True)

    def _names(self) -> list[str]:
        """The checkpoints that have an entry, oldest first."""
        found = [path.stem for path in self.folder.glob("step-*.json")]
        return sorted(filter(_NAME.fullmatch, found), key=lambda name: (_step(name), name))

    def _check_folder(self) -> None:
        """See that what is in the folder are checkpoints of ours, if any."""
        if self.folder.exists() and not self.folder.is_dir():
            raise CourseError(
                f"{self.folder} is a file.", "Give a folder, in which checkpoints are kept."
            )
        pickles = sorted(p.name for p in self.folder.glob("*") if p.suffix in _PICKLES)
        if pickles and not self._names():
            raise CourseError(
                f"{self.folder} has no checkpoint of the course, but {pickles[0]}. Such a file is "
                "a pickle, which can run any code when it is opened, and was not opened.",
                "Give another folder, and the run begins there.",
            )

    def _clean(self) -> None:
        """Delete what a run that was killed left half done."""
        entries = set(self._names())
        for path in self.folder.glob("step-*.safetensors"):
            if _NAME.fullmatch(path.stem) and path.stem not in entries:
                path.unlink()
        for path in self.folder.glob(files.TEMPORARY.format("step-*", "*")):
            path.unlink(missing_ok=True)

    def _agree(self, run: Run, names: list[str]) -> None:
        """See that all processes look at the same folder, before one of them changes it."""
        newest = float(_step(names[-1])) if names else -1.0
        total, squares = run.processes.summed([newest, newest**2])
        if total**2 != squares * run.processes.count:  # they are equal, or all see that they differ
            raise CourseError(
                f"Not all processes find the same checkpoints in {self.folder}.",
                "Give a folder that all machines see.",
            )

    @contextmanager
    def _alone(self, run: Run) -> Iterator[None]:
        """Hold the folder: a run in it that is still going on must not be taken up twice."""
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
                f"Another run that is still going on keeps its checkpoints in {self.folder}.",
                "Wait for it or stop it; or give another folder.",
            ) from error
        except NotImplementedError:
            pass  # a file system without locks: then nobody can tell
        except OSError as error:
            raise files.trouble(error, self.folder, _ELSEWHERE) from error
        try:
            yield
        finally:
            lock.release()


def _step(name: str) -> int:
    return int(name.split("-")[1])
