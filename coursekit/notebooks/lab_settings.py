"""How the course's JupyterLab differs from a bare one; the user's ~/.jupyter stays as it is."""

import json
import os
import secrets
import sys
import tempfile
from pathlib import Path

from coursekit.notebooks import files
from lmcourse.errors import CourseError
from lmcourse.files import expanded

HOST = "127.0.0.1"
START = "/lab/tree/START.md"
FIRST_PORT = 8888
LISTENING = "The course listens on port {}."  # the line of the log that names the port

# Defaults that the student can change in JupyterLab's settings; what they change persists.
OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/docmanager-extension:plugin": {
        "defaultViewers": {"markdown": "Markdown Preview"},
        "autosaveInterval": 30,
    },
}


def write_settings(private: Path) -> Path:
    """Write JupyterLab's settings into the workbook's private folder; return their folder.

    Raises:
        CourseError: they cannot be written.
    """
    lab = files.private_folder(private / "lab")
    overrides = lab / "settings" / "overrides.json"
    data = json.dumps(OVERRIDES, indent=1).encode()
    if not overrides.exists() or overrides.read_bytes() != data:
        files.write(overrides, data)
    return lab


def command(folder: Path, lab: Path, port: int | None, open_browser: bool, page: str) -> list[str]:
    """Return the command that serves a folder, and opens a page, with this Python's JupyterLab.

    Args:
        port: the port that is wanted; ``None`` is the first free one from 8888.
    """
    options = {
        "ServerApp.ip": HOST,
        "ServerApp.port": FIRST_PORT if port is None else port,
        "ServerApp.port_retries": 100 if port is None else 0,
        "ServerApp.root_dir": folder,
        "ServerApp.open_browser": open_browser,
        "LabApp.app_settings_dir": lab / "settings",
        "LabApp.default_url": page,
        "LabApp.news_url": None,
        "LabApp.check_for_updates_class": "jupyterlab.NeverCheckForUpdate",
    }
    own = [sys.executable, "-m", "coursekit.notebooks.server"]
    own += [f"--{name}={value}" for name, value in options.items()]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container one is often root
        own.append("--ServerApp.allow_root=True")
    return own


def environment(folder: Path, lab: Path) -> dict[str, str]:
    """Return the server's environment, which its kernels inherit; it holds the server's token."""
    token = os.environ.get("JUPYTER_TOKEN") or secrets.token_hex(24)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    own = dict(os.environ)
    if own.get("LMCOURSE_TEXT"):  # kernels run in the workbook's folders
        own["LMCOURSE_TEXT"] = str(expanded(own["LMCOURSE_TEXT"]).absolute())
    return own | {
        "JUPYTER_TOKEN": token,  # not an argument: those any user of the machine can list
        "JUPYTER_PREFER_ENV_PATH": "1",  # kernels and extensions of this environment first
        "JUPYTERLAB_SETTINGS_DIR": str(lab / "user-settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(lab / "workspaces"),
        "LMCOURSE_WORKBOOK": str(folder),
        "PATH": programs,  # `!lmcourse` in a cell means this environment's
    }


def require_runtime_folder() -> None:
    """Raise if Jupyter cannot write where it keeps the files of running servers and kernels.

    Raises:
        CourseError: with the variable that names another folder.
    """
    from jupyter_core.paths import jupyter_runtime_dir

    folder = Path(jupyter_runtime_dir())
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CourseError(
            f"Jupyter cannot write into its own folder {folder}: {error.strerror or error}.",
            "Make that folder writable, or set JUPYTER_RUNTIME_DIR to a folder of your own.",
        ) from error
