"""Actions of others are named by their commit: a tag can be moved to other code."""

from __future__ import annotations

import re

from tests.packaging.tool import ROOT


def test_actions_are_pinned_by_commit_with_their_version_beside_it() -> None:
    files = [*(ROOT / ".github" / "workflows").glob("*.yml"), ROOT / "action.yml"]
    uses = [
        line.partition("uses:")[2].strip()
        for path in files
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert len(uses) >= 15
    loose = [each for each in uses if not re.fullmatch(r"\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)]
    assert not loose
    commits = {each.split()[0] for each in uses}
    assert len(commits) == len({each.partition("@")[0] for each in uses}), "one commit of each"
