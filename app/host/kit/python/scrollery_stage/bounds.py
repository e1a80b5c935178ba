"""The bounds of what a stage emits, as the host has them."""

import json
import math
import pkgutil
import re

from google.protobuf.message import Message

BOUNDS = json.loads(pkgutil.get_data(__package__, "bounds.json"))


def fits(item, path=""):
    """Raises a ValueError for the first value that the host would drop, cut or refuse, with its name."""
    kind = item.DESCRIPTOR.name
    for field in item.DESCRIPTOR.fields:
        bound, value = BOUNDS.get(kind + "." + field.name, {}), getattr(item, field.name)
        name = (path or kind) + "." + field.name
        if not isinstance(value, (str, bytes, int, float, Message)):  # a list
            if len(value) > bound.get("items", len(value)) or bound.get("needed") and not value:
                raise ValueError("%s: want %s, got %d" % (name, bound["want"], len(value)))
            for n, one in enumerate(value):
                if isinstance(one, Message):
                    fits(one, "%s[%d]" % (name, n))
        elif not item.HasField(field.name) or value == "":
            if bound.get("needed"):
                raise ValueError("%s: want %s, got none" % (name, bound["want"]))
        elif isinstance(value, Message):
            fits(value, name)
        elif not _holds(bound, value):
            raise ValueError("%s: want %s, got %s" % (name, bound.get("want", "a finite number"), _shown(value)))


def _holds(bound, value):
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, int):
        return not bound.get("max") or bound.get("min", 0) <= value <= bound["max"]
    size = len(value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass"))
    return (
        size <= bound.get("bytes", size)
        and len(value) <= bound.get("characters", len(value))
        and value in bound.get("words", [value])
        and re.fullmatch(bound.get("form", r"[\s\S]*"), value if isinstance(value, str) else "") is not None
    )


def _shown(value):
    if not isinstance(value, (str, bytes)):
        return str(value)
    return repr(value) if len(value) <= 80 else "%r… of %d" % (value[:80], len(value))
