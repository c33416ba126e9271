"""Pygments tables for the content of a line, one lexer for each template language."""

from functools import cache
from typing import Any, ClassVar

from pygments.lexer import ExtendedRegexLexer, bygroups, include, words
from pygments.token import (
    Comment,
    Error,
    Generic,
    Keyword,
    Literal,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Token,
    _TokenType,
)

Delimiter = Token.Template.Delimiter
VariableToken = Token.Template.Variable
Filter = Token.Template.Filter
ReferenceToken = Token.Template.Reference
Heading = Token.Markdown.Heading
ListMark = Token.Markdown.List
Link = Token.Markdown.Link
Code = Token.Markdown.Code

_STYLES: dict[_TokenType, str] = {
    Text: "",
    Token: "",
    Comment: "comment",
    Keyword: "keyword",
    Keyword.Constant: "constant",
    Name: "",
    Name.Tag: "key",
    Name.Attribute: "attribute",
    Name.Function: "name",
    Name.Class: "name",
    Name.Builtin: "filter",
    Name.Decorator: "attribute",
    Name.Label: "strong",
    Name.Exception: "name",
    Name.Variable: "variable",
    String: "string",
    Literal: "string",
    Literal.Scalar: "string",
    Number: "number",
    Operator: "operator",
    Operator.Word: "keyword",
    Punctuation: "punctuation",
    Generic.Heading: "heading",
    Generic.Strong: "strong",
    Generic.Emph: "emphasis",
    Generic.Deleted: "error",
    Generic.Inserted: "string",
    # Incomplete code is not marked as wrong; real problems are underlined.
    Error: "",
    Delimiter: "delimiter",
    VariableToken: "variable",
    Filter: "filter",
    ReferenceToken: "reference",
    Heading: "heading",
    ListMark: "list",
    Link: "link",
    Code: "code",
}


@cache
def style_of(kind: _TokenType) -> str:
    """Return the style of a Pygments token, or of its nearest ancestor with a style."""
    node: _TokenType | None = kind
    while node is not None:
        if node in _STYLES:
            return _STYLES[node]
        node = node.parent
    return ""


_REFERENCE = (r"\$\{(?:env|file|params):[^}\n]*\}?", ReferenceToken)

_TYPED = r"(?:true|false|null|~|[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?:#.*)?$"
_PLAIN = rf"(?!{_TYPED})[^\s\"'\[\]{{}}#|>&*!$-](?:[^{{}}#$\n]|(?<=\S)#)*"
"""Matches a plain scalar after its key, up to a comment, a reference or an expression."""

_YAML: list[object] = [
    (r"[ \t]*#.*$", Comment),
    (r"\s+#.*$", Comment),
    (r"^([ \t]*)(-)(?=\s|$)", bygroups(Text, ListMark)),
    (r"[ \t]+", Text),
    (r"""(?:"[^"\n]*"|'[^'\n]*'|[A-Za-z_$][\w .$/-]*?)(?=\s*:(?:\s|$))""", Name.Tag),
    (rf"(:)([ \t]+)({_PLAIN})", bygroups(Punctuation, Text, Literal.Scalar)),
    (r":(?=\s|$)", Punctuation),
    include("yaml-value"),
]

_YAML_VALUE: list[object] = [
    _REFERENCE,
    (r"\s+#.*$", Comment),
    (r'"(?:\\.|[^"\\\n])*"?', String),
    (r"'(?:''|[^'\n])*'?", String),
    (r"(?:true|false|null|yes|no|~)(?=\s*(?:[,\]}#]|$))", Keyword.Constant),
    (r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?=\s*(?:[,\]}#]|$))", Number),
    (r"[|>][+-]?\d?(?=\s*$)", Punctuation),
    (r"[&*!][\w.-]+", Name.Decorator),
    (r"[{}\[\],]", Punctuation),
    (r"[^\s#\"'\[\]{},:$|>&*!-][^\s\[\]{},:$]*", Literal.Scalar),
    (r"\s+", Text),
    (r".", Literal.Scalar),
]

_SCALAR: list[object] = [_REFERENCE, (r"[^${\n]+", String), (r".", String), (r"\n", Text)]

_PROSE = r"(?:[^\n{}`*_!\[h$]+|h(?!ttps?://)|!(?!\[)|\$(?!\{))+"
"""Matches characters that begin nothing special."""

_MARKDOWN: list[object] = [
    # First, as most text is prose and would otherwise be tried against all other rules. At the
    # start of a line only for a character that begins no heading, quote, list or label.
    (rf"(?:(?!^)|(?![ \t#>+\-\dTAOFQ])){_PROSE}", Text),
    (r"\n", Text),
    (r"^[ ]{0,3}#{1,6}\s[^{\n]*", Heading),
    (r"^[ ]{0,3}>", ListMark),
    (r"^([ \t]*)([-*+]|\d+[.)])(\s)", bygroups(Text, ListMark, Text)),
    (r"^!\[thread\]\s*$", Keyword),
    (
        r"(!)(\[)([^\]\n]*)(\])(\()([^)\n]*)(\))",
        bygroups(Keyword, Punctuation, Name.Attribute, Punctuation, Punctuation, Link, Punctuation),
    ),
    (
        r"(\[)([^\]\n{]+)(\])(\()([^)\n]*)(\))",
        bygroups(Punctuation, String, Punctuation, Punctuation, Link, Punctuation),
    ),
    (r"`[^`\n]+`", Code),
    (r"\*\*[^*\n{]+\*\*", Generic.Strong),
    (r"(?<![\w*])\*[^*\s{][^*\n{]*\*(?!\w)", Generic.Emph),
    (r"(?<!\w)_[^_\s{][^_\n{]*_(?!\w)", Generic.Emph),
    (r"https?://[^\s)>\]{]+", Link),
    (
        r"^(Thought|Action|Action Input|Args|Observation|Final Answer|Question)(:)",
        bygroups(Name.Label, Punctuation),
    ),
    _REFERENCE,
    (_PROSE, Text),
    (r".", Text),
]

_JINJA_KEYWORDS = tuple(
    """
    if elif else endif for endfor in is not and or set endset macro endmacro call endcall filter
    endfilter block endblock raw endraw with endwith include import from as recursive do break
    continue autoescape endautoescape
""".split()
)
_JINJA_CONSTANTS = r"(?:true|false|none|True|False|None)\b"
_JINJA_NAME = r"[A-Za-z_]\w*"


class JinjaLine(ExtendedRegexLexer):
    """Lines whose template language is Jinja."""

    tokens: ClassVar[dict[str, Any]] = {
        "template": [
            (r"\{#", Comment, "comment"),
            (r"\{%[-+]?", Delimiter, "statement"),
            (r"\{\{[-+]?", Delimiter, "expression"),
        ],
        "comment": [
            (r"#\}", Comment, "#pop"),
            (r"[^#\n]+", Comment),
            (r"#", Comment),
            (r"\n", Text),
        ],
        "statement": [(r"[-+]?%\}", Delimiter, "#pop"), include("inside")],
        "expression": [(r"[-+]?\}\}", Delimiter, "#pop"), include("inside")],
        "inside": [
            (r"\s+", Text),
            # Names first, since they make up most of an expression.
            (
                rf"(?<!\.)(?!(?:{'|'.join(_JINJA_KEYWORDS)})\b|{_JINJA_CONSTANTS}){_JINJA_NAME}",
                VariableToken,
            ),
            (rf"(\|)(\s*)({_JINJA_NAME})", bygroups(Operator, Text, Filter)),
            (rf"(\bis\s+(?:not\s+)?)({_JINJA_NAME})", bygroups(Keyword, Filter)),
            (words(_JINJA_KEYWORDS, suffix=r"\b"), Keyword),
            (_JINJA_CONSTANTS, Keyword.Constant),
            (r"\d+(?:\.\d+)?", Number),
            (r'"(?:\\.|[^"\\\n])*"?', String),
            (r"'(?:\\.|[^'\\\n])*'?", String),
            (rf"(?<=\.){_JINJA_NAME}", Name.Attribute),
            (_JINJA_NAME, VariableToken),
            (r"[-+*/%=<>!~|]+", Operator),
            (r"[.,:()\[\]{}]", Punctuation),
            (r".", Text),
        ],
        "front": _YAML,
        "front-scalar": _SCALAR,
        "yaml-value": _YAML_VALUE,
        "yaml": [include("template"), *_YAML],
        "yaml-scalar": [include("template"), *_SCALAR],
        "text": [*_MARKDOWN[:1], include("template"), *_MARKDOWN[1:]],
    }


class MustacheLine(ExtendedRegexLexer):
    """Lines whose template language is mustache."""

    tokens: ClassVar[dict[str, Any]] = {
        **JinjaLine.tokens,
        "template": [
            (r"\{\{!", Comment, "comment"),
            (r"(\{\{)([#^/>&=]?)", bygroups(Delimiter, Keyword), "expression"),
        ],
        "comment": [
            (r"\}\}", Comment, "#pop"),
            (r"[^}\n]+", Comment),
            (r"\}", Comment),
            (r"\n", Text),
        ],
        "expression": [
            (r"\}?\}\}", Delimiter, "#pop"),
            (r"\{", Delimiter),
            (r"\s+", Text),
            (r"[\w-]+", VariableToken),
            (r"\.", Punctuation),
            (r".", Text),
        ],
    }


class FstringLine(ExtendedRegexLexer):
    """Lines whose template language is Python's format strings."""

    tokens: ClassVar[dict[str, Any]] = {
        **JinjaLine.tokens,
        "template": [
            (r"\{\{|\}\}", Punctuation),
            (
                r"(\{)([A-Za-z_]\w*)([^{}\n]*)(\})",
                bygroups(Delimiter, VariableToken, Filter, Delimiter),
            ),
        ],
    }


LINE_LEXERS = {"jinja2": JinjaLine(), "mustache": MustacheLine(), "fstring": FstringLine()}
"""A shared lexer for each template language."""
