"""How texts refer to the labs' exercises, whose order and titles only a lab's package states.

A lab writes ``{exercise}`noise` `` for the number of its exercise with the check ``check_noise``,
in headings and in sentences. Any text writes ``{exercises}`05` `` for the titles of lab 05.
`python -m coursekit.notebooks.exercises` writes the labs' titles into README.md.
"""

import ast
import re

from coursekit import course
from coursekit.notebooks.prose import replace_roles
from lmcourse.errors import CourseError

_ROW = re.compile(r"(?P<link>\[Lab (?P<lab>\d\d)\]\([^()]*\)): [^|\n]*(?= \|$)", re.MULTILINE)


def write_out(text: str, name: str) -> str:
    """Replace the two roles in a Markdown text.

    Args:
        text: of a cell.
        name: of its file; ``05-lab-word-embeddings.md`` refers to the exercises of lab 05.

    Raises:
        CourseError: there is no such lab or exercise.
    """
    if "{exercise" not in text:
        return text

    def number(exercise: str) -> str:
        names = [each for each, _ in listed(name[:2])]
        if exercise not in names:
            raise CourseError(
                f"{name} refers to the exercise {exercise!r}, which its lab does not have.",
                f"Choose one of these: {', '.join(names)}; or add it to "
                f"labs/lab{name[:2]}/__init__.py.",
            )
        return f"{name[:2]}.{names.index(exercise) + 1}"

    return replace_roles(replace_roles(text, "exercise", number), "exercises", titles)


def titles(lab: str) -> str:
    """Return the titles of a lab's exercises in order, in italics, with commas.

    Raises:
        CourseError: there is no such lab.
    """
    return ", ".join(f"*{title}*" for _, title in listed(lab))


def listed(lab: str) -> list[tuple[str, str]]:
    """Return the names and titles that a lab's package lists, without importing it.

    So it is the checkout's lab, whatever package is installed.

    Raises:
        CourseError: there is no such lab, or its list is not Python.
    """
    path = course.root() / "labs" / f"lab{lab}" / "__init__.py"
    try:
        statements = ast.parse(course.read_text(path)).body
    except SyntaxError as error:
        raise CourseError(f"{path} is not Python: {error}.", "Correct that line.") from error
    calls = [each.value for each in statements if isinstance(each, ast.Assign)]
    return [
        (ast.literal_eval(call.args[0]), ast.literal_eval(call.args[1]))
        for call in calls
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "lab.exercise"
    ]


def with_titles(readme: str) -> str:
    """Return README.md with the titles of each lab's exercises in its row.

    Raises:
        CourseError: a row's lab has no exercises.
    """
    return _ROW.sub(lambda found: f"{found['link']}: {titles(found['lab'])}", readme)


def main() -> None:
    """Write the rows of README.md."""
    path = course.root() / "README.md"
    path.write_text(with_titles(course.read_text(path)), encoding="utf-8")


if __name__ == "__main__":
    main()
