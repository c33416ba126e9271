"""Texts inside the commands of GitHub's workflow log."""

from __future__ import annotations

from studio.core.text.workflow_commands import command_property, command_text


def test_a_message_stays_on_its_line_and_reads_back() -> None:
    """A new line would begin another command; what is escaped already is not taken for it."""
    assert command_text("100%0A\n::error::\r") == "100%250A%0A::error::%0D"


def test_a_property_ends_only_at_its_own_colon_and_comma() -> None:
    """A file of this name must not set another property."""
    assert command_property("a,line=9::b%") == "a%2Cline=9%3A%3Ab%25"
