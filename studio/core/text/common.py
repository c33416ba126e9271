"""What two texts have in common."""

from __future__ import annotations


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with in common.

    Halves the range and lets slices be compared: texts are long, and mostly alike.
    """
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
