"""What the prose of the course may refer to: cited works, defined terms, and pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coursekit import course
from coursekit.notebooks import citations, glossary, links
from coursekit.notebooks.glossary import Terms
from lmcourse.references import read_references

if TYPE_CHECKING:
    from nbformat import NotebookNode

BIBLIOGRAPHY = "references.bib"
_GLOSSARY = f"{glossary.PAGE}.md"


@dataclass(frozen=True)
class Targets:
    """The targets of references and links, the same for every product."""

    works: Mapping[str, dict[str, str]]  # of the bibliography, by key
    terms: Terms
    pages: frozenset[str]  # the sources that are pages, and the glossary, as paths in the checkout

    @staticmethod
    def of(notebooks: Mapping[course.Source, "NotebookNode"]) -> "Targets":
        """Collect the targets from the sources and their notebooks.

        Raises:
            CourseError: the bibliography cannot be read, or a term is defined twice.
        """
        bibliography = course.root() / BIBLIOGRAPHY
        terms = glossary.terms_of(notebooks)
        pages = {f"{course.FOLDERS[each.kind]}/{each.path.name}" for each in notebooks}
        return Targets(
            works=read_references(bibliography) if bibliography.exists() else {},
            terms=terms,
            pages=frozenset(pages | ({_GLOSSARY} if terms else set())),
        )

    def write_out(self, text: str, folder: str, name: str) -> str:
        """Return a cell's Markdown as a notebook of the workbook has it: with links to notebooks.

        Args:
            folder: of the notebook, relative to the workbook.
            name: of the cell, for the error.

        Raises:
            CourseError: a work, a term or a page that the cell refers to does not exist.
        """
        text = citations.write_out(text, self.works, name)
        text = links.lead_to_notebooks(text, folder, self.pages, name)
        return glossary.write_out(text, self.terms, folder, name)

    def staged(self, text: str, folder: str, name: str, *, defines: bool = False) -> str:
        """Return a text as mystmd reads it: it resolves citations and terms itself.

        Args:
            folder: of the page, relative to the book.
            defines: whether the bold terms of the text are definitions.

        Raises:
            CourseError: a term or a page that the text refers to does not exist.
        """
        glossary.write_out(text, self.terms, folder, name)  # for the error, which names the file
        text = links.lead_to_notebooks(text, folder, self.pages, name, texts=[_GLOSSARY])
        return glossary.with_anchors(text, self.terms) if defines else text
