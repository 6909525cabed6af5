"""``lmcourse new chapter 13``: a chapter and its lab, to be filled.

What it writes runs, and passes every test but those that ask for content; it prints these.
"""

import re
from pathlib import Path

from coursekit import course, form, outline
from lmcourse.errors import CourseError

_SKELETON = Path(__file__).parent / "skeleton"


def new_chapter(number: str, title: str | None = None, question: str | None = None) -> str:
    """Write the sources of a chapter and a lab; return what is written, and what is missing.

    Args:
        number: two digits.
        title, question: of the chapter; None: those that the outline plans.

    Raises:
        CourseError: the number is none, or is taken; or the outline does not plan it and there is
            no title or question.
    """
    if not re.fullmatch(r"\d\d?", number):
        raise CourseError(f"{number!r} is not the number of a chapter.", "Write two digits: 13.")
    number = number.zfill(2)
    planned = {it.number: it for part in outline.read() for it in part.chapters}.get(number)
    if planned is not None and planned.sources:
        raise CourseError(
            f"Chapter {number} is there: {planned.sources[0].path.name}.",
            "Choose a number that is planned or free.",
        )
    title = title or (planned.title if planned else None)
    question = question or (planned.question if planned else None)
    if not title or not question or not question.endswith("?"):
        raise CourseError(
            f"The outline plans no chapter {number}, and it needs a title and a question.",
            f'Write: lmcourse new chapter {number} --title "Name" --question "What …?"',
        )
    slug = "-".join(re.findall(r"[a-z0-9]+", title.lower()))
    words = {
        **{"@NUMBER@": number, "@TITLE@": title, "@SLUG@": slug, "@QUESTION@": question},
        **{"@YAML_TITLE@": _yaml(title), "@YAML_QUESTION@": _yaml(question)},
        "@YAML_LAB@": _yaml(f"Lab {number}: {title}"),
    }
    root = course.root()
    files = {
        root / "chapters" / f"{number}-{slug}.md": "chapter.md",
        root / "labs" / f"{number}-lab-{slug}.md": "lab.md",
        root / "labs" / f"lab{number}" / "__init__.py": "lab_init.py.txt",
        root / "labs" / f"lab{number}" / "tasks.py": "lab_tasks.py.txt",
        root / "tests" / "labs" / f"right{number}.py": "right.py.txt",
    }
    if there := [path for path in files if path.exists()]:
        raise CourseError(f"{there[0]} exists.", "Move it away, or choose another number.")
    for path, name in files.items():
        text = (_SKELETON / name).read_text(encoding="utf-8")
        for mark, word in words.items():
            text = text.replace(mark, word)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    _list_in_outline(number, planned is not None)
    names = [path.relative_to(root).as_posix() for path in files]
    lines = [f"Written: {', '.join(names)}; outline.yml lists the chapter.", "What they need:"]
    lines += [f"- {it}" for source in course.select(number) for it in form.breaches(source)]
    lines += [
        f"- README.md: a row for chapter {number} and its lab, whose exercises "
        "`python -m coursekit.notebooks.exercises` lists there.",
        f"Run them with `make test ONLY={number}`.",
    ]
    return "\n".join(lines)


def _yaml(text: str) -> str:
    """Return a text as the value of a line of YAML, with quotes where it needs them."""
    import yaml

    return yaml.safe_dump(text, allow_unicode=True, width=10_000).removesuffix("...\n").strip()


def _list_in_outline(number: str, planned: bool) -> None:
    """Drop the title and question of a planned chapter, or add a number to the last part."""
    path = course.root() / outline.OUTLINE
    text = course.read_text(path)
    if planned:
        entry = re.compile(
            rf'(?P<head>^    - number: "{number}"\n)(?:      (?:title|question): .*\n)*',
            re.MULTILINE,
        )
        text = entry.sub(lambda found: found["head"], text)
    else:
        at = re.search(r"^- part: .*\n  gallery:", text, re.MULTILINE)
        place = at.start() if at else len(text)
        text = f'{text[:place]}    - number: "{number}"\n      needs: []\n{text[place:]}'
    path.write_text(text, encoding="utf-8")
