"""QuestionForm: questions as data, which the worker site shows by itself. Pure: read, checked, never rendered here.

Our own structural checks, as for the other kinds: Amazon's schema files are not at hand. Defaults are IsRequired false
and one selection. AnswerFormatRegex is never run: one of a stranger can keep a server busy for ever. Its words are
shown to the worker instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from mturk.exchange.errors import Refused
from mturk.exchange.formatted import Block, Run, read_formatted
from mturk.exchange.reading_xml import (
    HOST,
    SCHEMAS,
    check_bare,
    decimal,
    fail,
    flag,
    members,
    name_of,
    needed,
    plain,
    read_xml,
    space_of,
    whole,
)

SPACES = tuple(f"{{{SCHEMAS}{date}/QuestionForm.xsd}}" for date in ("2017-11-06", "2005-10-01"))
STYLES = ("radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser")
MOST_LINES = 50


@dataclass(frozen=True)
class TextAnswer:
    """A text to be written. Numbers and lengths are None where the form sets no limit."""

    default: str = ""
    lines: int = 1
    is_numeric: bool = False
    least: Decimal | None = None
    most: Decimal | None = None
    shortest: int | None = None
    longest: int | None = None
    hint: str = ""  # the words of an AnswerFormatRegex


@dataclass(frozen=True)
class Selection:
    """One of the choices. `block` is what the worker reads."""

    identifier: str
    block: Block


@dataclass(frozen=True)
class SelectionAnswer:
    """Choices, of which some are to be made; `other` is a text to be written instead of one."""

    selections: tuple[Selection, ...]
    least: int = 1
    most: int = 1
    style: str = ""
    other: TextAnswer | None = None


@dataclass(frozen=True)
class FormQuestion:
    identifier: str
    display_name: str
    is_required: bool
    content: tuple[Block, ...]
    answer: TextAnswer | SelectionAnswer


@dataclass(frozen=True)
class Overview:
    content: tuple[Block, ...]


@dataclass(frozen=True)
class QuestionForm:
    """Overviews and questions in their order."""

    parts: tuple[Overview | FormQuestion, ...]
    questions: tuple[FormQuestion, ...] = field(init=False)

    def __post_init__(self) -> None:
        asked = tuple(part for part in self.parts if isinstance(part, FormQuestion))
        object.__setattr__(self, "questions", asked)


def is_form(root: Element) -> bool:
    return root.tag in {f"{space}QuestionForm" for space in SPACES}


def parse_form(xml: str, *, name: str = "Question") -> QuestionForm:
    """The form in a document; anything else is refused. `name` is the parameter that it came in."""
    root = read_xml(xml)
    if not is_form(root):
        raise fail("It is not a QuestionForm of a known schema.")
    return read_form(root, name=name)


def read_form(root: Element, *, name: str = "Question") -> QuestionForm:
    check_bare(root)
    readers: dict[str, Callable[[Element, str], Overview | FormQuestion]] = {
        f"{space_of(root)}Overview": read_overview,
        f"{space_of(root)}Question": read_question,
    }
    parts: list[Overview | FormQuestion] = []
    for child in root:
        if child.tag not in readers:
            raise fail(f"QuestionForm cannot have {name_of(child)}; it may have Overview and Question.")
        parts.append(readers[str(child.tag)](child, name))
    form = QuestionForm(tuple(parts))
    if not form.questions:
        raise fail("QuestionForm must have a Question.")
    check_once([question.identifier for question in form.questions], "QuestionIdentifier", name)
    return form


def check_once(identifiers: list[str], what: str, name: str) -> None:
    seen: set[str] = set()
    for identifier in identifiers:
        if identifier in seen:
            raise Refused("InvalidParameterValue", value=identifier[:200], name=name, why=f"Each {what} is used once.")
        seen.add(identifier)


def read_overview(element: Element, name: str) -> Overview:
    return Overview(read_content(element, name))


def read_question(element: Element, name: str) -> FormQuestion:
    found = members(element, "QuestionIdentifier DisplayName? IsRequired? QuestionContent AnswerSpecification")
    required = found["IsRequired"]
    return FormQuestion(
        needed(found["QuestionIdentifier"][0]),
        plain(found["DisplayName"][0]) if found["DisplayName"] else "",
        flag(plain(required[0]), "IsRequired") if required else False,
        read_content(found["QuestionContent"][0], name),
        read_specification(found["AnswerSpecification"][0], name),
    )


def read_content(element: Element, name: str) -> tuple[Block, ...]:
    check_bare(element)
    if not len(element):
        raise fail(f"{name_of(element)} is empty.")
    return tuple(block for child in element for block in read_block(child, space_of(element), name))


def read_block(element: Element, space: str, name: str) -> tuple[Block, ...]:
    kind = name_of(element)
    if space_of(element) != space:
        raise fail(f"{kind} is of another schema.")
    if kind == "Title":
        return (Block("title", (Run(needed(element)),)),)
    if kind == "Text":
        return (Block("lines", (Run(plain(element)),)),)
    if kind == "List":
        items = members(element, "ListItem*")["ListItem"]
        return tuple(Block("item", (Run(plain(item)),)) for item in items)
    if kind == "FormattedContent":
        return read_formatted(plain(element))
    if kind in ("Binary", "EmbeddedBinary"):
        return (read_binary(element, name),)
    if kind == "Application":
        raise Refused(
            "InvalidParameterValue", value=kind, name=name, why="This exchange shows no Java applets and no Flash."
        )
    raise fail(f"{kind} is no content of a QuestionForm.")


def read_binary(element: Element, name: str) -> Block:
    """An image, a sound or a film is a link: no page of ours loads anything from elsewhere."""
    order = "MimeType DataURL AltText"
    if name_of(element) == "EmbeddedBinary":
        order = "EmbeddedMimeType DataURL AltText Width? Height? ApplicationParameter*"
    found = members(element, order)
    url = needed(found["DataURL"][0])
    try:
        parts = urlsplit(url)
        is_good = parts.scheme == "https" and HOST.fullmatch(parts.netloc) is not None
    except ValueError:
        is_good = False
    if not is_good:
        raise Refused("InvalidParameterValue", value=url[:200], name=name, why="A DataURL must begin with https.")
    return Block("text", (Run(plain(found["AltText"][0]) or url, href=url),))


def read_specification(element: Element, name: str) -> TextAnswer | SelectionAnswer:
    check_bare(element)
    if len(element) != 1 or space_of(element[0]) != space_of(element):
        raise fail("AnswerSpecification must have one kind of answer.")
    kind = name_of(element[0])
    if kind == "FreeTextAnswer":
        return read_text_answer(element[0])
    if kind == "SelectionAnswer":
        return read_selection_answer(element[0], name)
    if kind == "FileUploadAnswer":
        raise Refused("InvalidParameterValue", value=kind, name=name, why="This exchange takes no files.")
    raise fail(f"{kind} is no answer of a QuestionForm.")


def read_text_answer(element: Element) -> TextAnswer:
    """FreeTextAnswer, and OtherSelection, which is made alike."""
    found = members(element, "Constraints? DefaultText? NumberOfLinesSuggestion?")
    lines = found["NumberOfLinesSuggestion"]
    limits = read_constraints(found["Constraints"][0]) if found["Constraints"] else TextAnswer()
    return replace(
        limits,
        default=plain(found["DefaultText"][0]) if found["DefaultText"] else "",
        lines=min(whole(plain(lines[0]), "NumberOfLinesSuggestion", least=1), MOST_LINES) if lines else 1,
    )


def read_constraints(element: Element) -> TextAnswer:
    found = members(element, "IsNumeric? Length? AnswerFormatRegex*")
    numeric = found["IsNumeric"][0].attrib if found["IsNumeric"] else {}
    length = found["Length"][0].attrib if found["Length"] else {}
    limits = TextAnswer(
        is_numeric=bool(found["IsNumeric"]),
        least=decimal(numeric["minValue"], "minValue") if "minValue" in numeric else None,
        most=decimal(numeric["maxValue"], "maxValue") if "maxValue" in numeric else None,
        shortest=whole(length["minLength"], "minLength", least=0) if "minLength" in length else None,
        longest=whole(length["maxLength"], "maxLength", least=1) if "maxLength" in length else None,
        hint=" ".join(one.attrib.get("errorText", "").strip() for one in found["AnswerFormatRegex"]).strip(),
    )
    if any("regex" not in one.attrib for one in found["AnswerFormatRegex"]):
        raise fail("AnswerFormatRegex must have the attribute regex.")
    if limits.least is not None and limits.most is not None and limits.least > limits.most:
        raise fail("minValue is above maxValue.")
    if limits.shortest is not None and limits.longest is not None and limits.shortest > limits.longest:
        raise fail("minLength is above maxLength.")
    return limits


def read_selection_answer(element: Element, name: str) -> SelectionAnswer:
    found = members(element, "MinSelectionCount? MaxSelectionCount? StyleSuggestion? Selections")
    choices = members(found["Selections"][0], "Selection+ OtherSelection?")
    selections = tuple(read_selection(one, name) for one in choices["Selection"])
    check_once([one.identifier for one in selections], "SelectionIdentifier of a question", name)
    fewest, style = found["MinSelectionCount"], found["StyleSuggestion"]
    least = whole(plain(fewest[0]), "MinSelectionCount", least=0) if fewest else 1
    largest = found["MaxSelectionCount"]
    most = whole(plain(largest[0]), "MaxSelectionCount", least=1) if largest else max(1, least)
    if style and plain(style[0]) not in STYLES:
        raise fail(f"StyleSuggestion must be one of {', '.join(STYLES)}.")
    if least > min(most, len(selections) + len(choices["OtherSelection"])):
        why = "MinSelectionCount is above what can be selected."
        raise Refused("InvalidParameterValue", value=least, name=name, why=why)
    other = read_text_answer(choices["OtherSelection"][0]) if choices["OtherSelection"] else None
    return SelectionAnswer(selections, least, most, plain(style[0]) if style else "", other)


def read_selection(element: Element, name: str) -> Selection:
    check_bare(element)
    if len(element) != 2:
        raise fail("Selection must have SelectionIdentifier and Text, FormattedContent or Binary.")
    order = f"SelectionIdentifier {name_of(element[1])}"
    if name_of(element[1]) not in ("Text", "FormattedContent", "Binary"):
        raise fail(f"Selection cannot have {name_of(element[1])}.")
    found = members(element, order)
    blocks = read_block(element[1], space_of(element), name)
    # A choice is one line, whatever its markup.
    runs = [run for block in blocks for run in (*block.runs, Run(" "))][:-1]
    return Selection(needed(found["SelectionIdentifier"][0]), Block("text", tuple(runs)))
