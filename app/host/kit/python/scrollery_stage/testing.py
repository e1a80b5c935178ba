"""Runs the functions of a stage on saved input, without a process."""

import io
import urllib.error

from .bounds import fits
from .call import Answer, judged
from .messages import pb


class FakeCall:
    """A call of a test. answers has bytes, or an HTTP status, by address; asked has what ask asked."""

    def __init__(self, run=None, settings=None, secrets=None, answers=None, max_records=0):
        self.run, self.settings, self.secrets = run or pb.Run(number=1, now=1_800_000_000_000), settings or {}, secrets or {}
        self.answers, self.max_records, self.scratch, self.proxy = answers or {}, max_records, "", ""
        self.asked = []  # by ask: method, address, and body or JSON
        self.states = {}  # what was kept, by the handle or term

    def progress(self, note=""):
        pass

    def spend(self, quota, units, item=""):
        pass

    def keep_state(self, seed, state):
        self.states[seed.handle or seed.term] = state

    def ask(self, address, method="GET", headers=None, body=None, json=None, timeout=None, most=8 << 20, tries=3):
        answer = self.answers[address]
        self.asked.append((method if json is None else "POST", address, body if json is None else json))
        host = address.split("/")[2]
        return judged(Answer(answer, {}, b"") if isinstance(answer, int) else Answer(200, {}, answer[:most]), host)

    def get(self, address, headers=None, timeout=None, most=8 << 20):
        answer = self.answers[address]
        if isinstance(answer, int):
            raise urllib.error.HTTPError(address, answer, "answers %d" % answer, {}, io.BytesIO())
        return answer[:most]


def run(function, items, call=None):
    """Returns what a function of a stage emits for some input, and what it returns.

    A value that is beyond its bounds is a ValueError, as in a call.
    """
    emitted = []

    def emit(item):
        fits(item)
        emitted.append(item)

    return emitted, function(call or FakeCall(), items, emit)
