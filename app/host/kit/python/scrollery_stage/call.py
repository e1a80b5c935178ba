"""One call of a stage: what it knows, reads and sends."""

import email.utils
import http.client
import json as jsons
import queue
import sys
import threading
import time
import urllib.error
import urllib.request
from collections import namedtuple
from decimal import Decimal

from .bounds import fits
from .messages import pb

BATCH_ITEMS = 50
BATCH_BYTES = 1 << 20
MAX_RECORD = 1 << 20
MAX_STATE = 64 << 10
FAULTS = ("busy", "quota", "refused", "not_found", "misconfigured")
PAUSE, LONGEST = 1, 30  # seconds before the second try of a request, and at most
AHEAD = 4  # batches of input that are asked for in advance

# What a screen returns: the ids of rules that it could not check, and remarks.
Summary = namedtuple("Summary", ("unclear", "notes"), defaults=((), ()))


class Fault(Exception):
    """An error that says whose fault it is: busy, quota, refused, not_found, misconfigured.

    retry_at is in Unix milliseconds; 0 where it is not known.
    """

    def __init__(self, fault, message, retry_at=0):
        if fault not in FAULTS:
            raise ValueError("a fault is one of %s, not %r" % (", ".join(FAULTS), fault))
        super().__init__(message)
        self.fault, self.retry_at = fault, retry_at


class Enough(Exception):
    """The call may emit no more: return what there is. It is no failure."""


class Ended(Exception):
    """The host has ended the call."""


def log(level, message, **fields):
    """Writes into the host's log. Never log a secret."""
    print(jsons.dumps({"@level": level, "@message": message, **fields}), file=sys.stderr, flush=True)


def text_of(seed):
    """The handle or term of a seed, as outcomes name it."""
    return seed.handle or seed.term


def outcome(seed, platform, status, asked=0, returned=0, detail="", cost=None):
    """What came of one seed on one platform; every seed needs one.

    cost is for a stage with a price: see dollars. None means the price of a call and of the
    returned records.
    """
    return pb.Outcome(seed=text_of(seed), platform=platform, status=status, asked=asked, returned=returned, detail=detail, cost=cost)


def dollars(amount):
    """An amount of US dollars, such as "0.002", in the millionths that prices and costs are in."""
    return int(round(Decimal(str(amount)) * 1_000_000))


class Answer(namedtuple("Answer", ("status", "headers", "body"))):
    """An answer of a site over HTTP. headers has them by any case of their names."""

    def text(self):
        return self.body.decode("utf-8", "replace")

    def json(self):
        """The body as JSON; one that is none is a Fault of the site."""
        try:
            return jsons.loads(self.body)
        except ValueError:
            raise Fault("busy", "the site's answer is no JSON")


def retry_after(headers):
    """The seconds that an answer asks to wait; 0 if it does not say."""
    text = headers.get("Retry-After") or ""
    try:
        return max(0, min(int(text), 86400))
    except ValueError:
        pass
    try:
        return max(0, min(email.utils.parsedate_to_datetime(text).timestamp() - time.time(), 86400))
    except (TypeError, ValueError):
        return 0


def judged(answer, host):
    """Returns an answer of 2xx, and says whose fault another one is."""
    wait = retry_after(answer.headers)
    at = int((time.time() + (wait or 3600)) * 1000)
    if 200 <= answer.status < 300:
        return answer
    if answer.status in (401, 403):
        raise Fault("refused", "%s answers %d: it refuses the credentials" % (host, answer.status))
    if answer.status in (404, 410):
        raise Fault("not_found", "%s answers %d" % (host, answer.status))
    if answer.status in (402, 429):
        raise Fault("quota", "%s answers %d: it has had enough for now" % (host, answer.status), at)
    if answer.status in (408,) or answer.status >= 500:
        raise Fault("busy", "%s answers %d" % (host, answer.status), at if wait else 0)
    raise RuntimeError("%s answers %d, which this stage does not know" % (host, answer.status))


class _Direct(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # an interface has no reason to send its callers elsewhere


class Call:
    """What a stage knows of the call that it works on.

    run has the brief, the rules and the prompt; settings and secrets are those that are
    set; scratch is the one folder to write in.
    """

    def __init__(self, opening, defaults, requests):
        self.run, self.scratch, self.proxy = opening.run, opening.scratch, opening.proxy
        self.settings, self.secrets = {**defaults, **dict(opening.settings)}, dict(opening.secrets)
        self.max_records = opening.max_records
        self.timeout = 30  # of a request; less in a check, which has 30 seconds itself
        self.once = False  # a request of a check is not repeated
        self.over = threading.Event()
        self.outgoing = queue.Queue(maxsize=16)
        self._inputs, self._grants = queue.Queue(), queue.Queue()
        self._spending = threading.Lock()
        self.sink = None  # of what a collect emits
        threading.Thread(target=self._read, args=(requests,), daemon=True).start()

    def _read(self, requests):
        try:
            for request in requests:
                if request.HasField("grant"):
                    self._grants.put(request.grant)
                else:
                    self._inputs.put(request.input)
        except Exception:  # the stream was cancelled
            pass
        self._inputs.put(None)
        self._grants.put(None)

    def send(self, message):
        while not self.over.is_set():
            try:
                return self.outgoing.put(message, timeout=0.2)  # the host may be busy
            except queue.Full:
                continue
        raise Ended()

    def progress(self, note=""):
        """Says that the stage still works: one that is silent for too long is ended."""
        self.send(pb.CallResponse(progress=pb.Progress(note=note)))

    def spend(self, quota, units, item=""):
        """Asks for units of a quota of the description, before they are used."""
        with self._spending:
            self.send(pb.CallResponse(spend=pb.Spend(quota=quota, units=units, item=item)))
            grant = self._grants.get()
        if grant is None:
            raise Ended()
        if not grant.granted:
            raise Fault("quota", "quota %s is used up" % quota, grant.retry_at)

    def keep_state(self, seed, state):
        """Has the host give bytes back as seed.state at the next run for the same tenant.

        At most 65,536; none drops what was kept. Call it in collect, after emit returned for
        the videos that the state says were seen: the host stores it with them, or neither.
        """
        if len(state) > MAX_STATE:
            raise ValueError("%d bytes are more than the %d that a state may have" % (len(state), MAX_STATE))
        if self.sink is None:
            raise RuntimeError("only collect keeps states")
        self.sink.flush()
        self.send(pb.CallResponse(keep=pb.Keep(seed=pb.Seed(kind=seed.kind, platform=seed.platform, handle=seed.handle, term=seed.term), state=state)))

    def get(self, address, headers=None, timeout=None, most=8 << 20):
        """Reads an address of a host that the description names, and returns its bytes.

        An answer of 400 or more is an urllib.error.HTTPError; a longer one is cut off.
        """
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        with opener.open(urllib.request.Request(address, headers=headers or {}), timeout=timeout or self.timeout) as answer:
            return answer.read(most)

    def ask(self, address, method="GET", headers=None, body=None, json=None, timeout=None, most=8 << 20, tries=3):
        """Asks a host that the description names, and returns its Answer of 2xx.

        json is sent as JSON in place of body. While the site fails, or asks to wait for at most
        30 seconds, it is asked again, `tries` times in all; a check asks once. Then the error is a
        Fault: refused (401, 403), not_found (404, 410), quota (402, 429) or busy. Redirects are not
        followed.
        """
        headers = dict(headers or {})
        if json is not None:
            body, method = jsons.dumps(json).encode(), "POST" if method == "GET" else method
            headers.setdefault("Content-Type", "application/json")
        request = urllib.request.Request(address, data=body, headers=headers, method=method)
        tries = 1 if self.once else max(tries, 1)
        for n in range(tries):
            try:
                answer = self._once(request, timeout or self.timeout, most)
                wait = max(PAUSE << n, retry_after(answer.headers))
                fails = answer.status in (408, 429) or answer.status >= 500
            except Fault as fault:
                answer, wait, fails = None, PAUSE << n, True
                if n == tries - 1 or "did not declare" in str(fault):  # the box always refuses
                    raise
            if not fails or n == tries - 1 or wait > LONGEST:
                return judged(answer, request.host)
            self.progress("waiting for " + request.host)
            if self.over.wait(wait):
                raise Ended()

    def _once(self, request, timeout, most):
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Direct())
        try:
            with opener.open(request, timeout=timeout) as answer:
                return Answer(answer.status, answer.headers, answer.read(most))
        except urllib.error.HTTPError as error:
            if error.headers.get("Scrollery-Egress") and request.type == "http":  # the box refused it, not the site
                raise Fault("misconfigured", error.read(500).decode("utf-8", "replace").strip())
            return Answer(error.code, error.headers, error.read(most))
        except (OSError, http.client.HTTPException) as error:
            raise Fault("busy", "%s does not answer: %s" % (request.host, getattr(error, "reason", error)))

    def batch(self):
        """The next batch of input; the last one has `last`."""
        received = self._inputs.get()
        if received is None:
            raise Ended()
        return received

    def everything(self, name):
        """All input of a call whose host sends it without being asked."""
        items = []
        while True:
            received = self.batch()
            items.extend(getattr(received, name))
            if received.last:
                return items

    def records(self):
        """Yields the records of a screen or evidence stage, and asks for more as it goes."""
        want = AHEAD
        while True:
            self.send(pb.CallResponse(progress=pb.Progress(want=want)))
            want = 1
            received = self.batch()
            yield from received.records
            if received.last:
                return


class Batcher:
    """Gathers what the author emits, and sends it in batches."""

    def __init__(self, call, kind, wrap, most, lenient):
        self._call, self._type, self._wrap, self._most, self._lenient = call, kind, wrap, most, lenient
        self._items, self._bytes, self._emitted = [], 0, 0
        self._lock = threading.Lock()

    def emit(self, item):
        if not isinstance(item, self._type):
            raise TypeError("emit wants a pb.%s, got %s" % (self._type.DESCRIPTOR.name, type(item).__name__))
        if not self._lenient:
            fits(item)
        size = item.ByteSize()
        if size > MAX_RECORD:
            raise ValueError("%d bytes are more than the %d that one may have" % (size, MAX_RECORD))
        with self._lock:
            if self._most and self._emitted >= self._most:
                raise Enough()
            if self._items and self._bytes + size > BATCH_BYTES:
                self._flush()
            self._items.append(item)
            self._bytes, self._emitted = self._bytes + size, self._emitted + 1
            if len(self._items) == BATCH_ITEMS:
                self._flush()

    def flush(self):
        with self._lock:
            self._flush()

    def _flush(self):
        if self._items:
            items, self._items, self._bytes = self._items, [], 0
            self._call.send(self._wrap(items))
