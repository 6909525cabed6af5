"""Write requirements.lock anew: the newest versions that pyproject.toml admits, with hashes.

The hashes are those that the package index lists today: a release gets wheels for a new Python
long after its first day, and uv keeps the hashes of a lock that it finds, so it is given the old
versions without their hashes. For PyTorch the lock also has the hashes of its builds without CUDA,
which only PyTorch's own index lists. Where that index cannot be reached, those of the present lock
stay.
"""

import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from urllib.error import URLError

from coursekit.install import CPU_INDEX, LOCK, PYTHONS, ROOT, read

COMMAND = (
    *("uv", "pip", "compile", "--universal", "--generate-hashes", "--python-version", PYTHONS[0]),
    *("--extra", "course", "--extra", "dev", "--extra", "build", "--extra", "real"),
    *("--quiet", "--custom-compile-command", "make lock", "pyproject.toml", "-o"),
)
TAGS = "|".join("cp{0}-cp{0}".format(python.replace(".", "")) for python in PYTHONS)
SYSTEMS = r"(manylinux_\w+_(x86_64|aarch64)|win_amd64|win_arm64)"
_HASH = r"--hash=(sha256:[0-9a-f]{64})"


def main() -> None:
    """Run uv, and add what it cannot find."""
    path = ROOT / LOCK
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    before = _torch(old)
    lock = resolved(old)
    torch = _torch(lock)
    try:
        found = cpu_hashes(_version(torch))
    except URLError as error:
        if _version(torch) != _version(before):
            sys.exit(f"{CPU_INDEX} cannot be reached ({error.reason}). Connect and run this again.")
        print(f"{CPU_INDEX} cannot be reached ({error.reason}); its hashes stay as they were.")
        found = set(re.findall(_HASH, before))
    path.write_text(lock.replace(torch, with_hashes(torch, found)), encoding="utf-8")


def resolved(old: str) -> str:
    """uv's lock for pyproject.toml: an old lock's versions where they still fit, fresh hashes."""
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / LOCK
        new.write_text(without_hashes(old), encoding="utf-8")
        subprocess.run([sys.executable, "-m", *COMMAND, str(new)], cwd=ROOT, check=True)
        return new.read_text(encoding="utf-8")


def without_hashes(lock: str) -> str:
    """A lock's entries and comments without their hashes."""
    return re.sub(rf" \\\n    {_HASH}", "", lock)


def cpu_hashes(version: str, page: str = f"{CPU_INDEX}/torch/") -> set[str]:
    """The hashes of PyTorch's wheels without CUDA, for the systems and Pythons of the course.

    Raises:
        URLError: the index cannot be reached.
    """
    with urllib.request.urlopen(page, timeout=60) as answer:
        links = answer.read().decode("utf-8")
    wheel = rf"torch-{re.escape(version)}(?:%2B|\+)cpu-(?:{TAGS})-{SYSTEMS}\.whl"
    found = re.finditer(rf"{wheel}#sha256=(?P<digest>[0-9a-f]{{64}})", links)
    return {f"sha256:{each['digest']}" for each in found}


def with_hashes(entry: str, more: set[str]) -> str:
    """An entry of the lock with further hashes."""
    head = entry.split(" \\\n")[0]
    hashes = sorted(more | set(re.findall(_HASH, entry)))
    return " \\\n".join([head, *(f"    --hash={each}" for each in hashes)])


def _version(entry: str) -> str:
    return entry.split(" ")[0].removeprefix("torch==")


def _torch(lock: str) -> str:
    return next((pin.text for pin in read(lock) if pin.name == "torch"), "")


if __name__ == "__main__":
    main()
