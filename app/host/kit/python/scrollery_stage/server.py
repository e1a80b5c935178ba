"""Serves a stage as HashiCorp's go-plugin asks for, with gRPC over a Unix socket."""

import os
import queue
import signal
import sys
import tempfile
import threading
import traceback
from concurrent import futures

import grpc

from .call import Batcher, Call, Ended, Enough, Fault, Summary, log
from .messages import PACKAGE, pb

SERVICE = PACKAGE + ".StageService"
MAX_MESSAGE = 8 << 20
CHECK_TIMEOUT = 20  # seconds of a request in a check, so that it says itself that the site hangs
MAX_WORDS = 500  # characters of an exception

# Of each verb: its name, its input (None: records that it asks for), the field of what it emits, and its message.
VERBS = {
    "plan": ("Plan", "seeds", "seeds", "Seed"),
    "collect": ("Collect", "seeds", "records", "Record"),
    "refresh": ("Refresh", "refs", "records", "Record"),
    "media": ("Media", "refs", "files", "File"),
    "screen": ("Screen", None, "verdicts", "Verdict"),
    "evidence": ("Evidence", None, "findings", "Finding"),
    "brief": ("Brief", "facts", "sentences", "Sentence"),
    "check": ("Check", "nothing", None, None),
}
# The verbs that a stage may have beside the one of its kind; the others are for sources.
FOR_ANY = {"check"}
NEEDED = {"plan": "plan", "source": "collect", "screen": "screen", "evidence": "evidence", "brief": "brief"}


def _wrap(field):
    kind = getattr(pb, field.capitalize())
    return lambda items: pb.CallResponse(**{field: kind(**{field: items})})


def _said(error):
    """The type of an exception and its message, which alone may be empty or a bare key."""
    text = "%s: %s" % (type(error).__name__, error)
    headers, address = getattr(error, "headers", None), getattr(error, "url", "")
    if headers and headers.get("Scrollery-Egress") and str(address).startswith("http:"):  # the box refused it, not the site
        text = error.read(MAX_WORDS).decode("utf-8", "replace").strip()
    text = text.rstrip(": ") if len(text) <= MAX_WORDS else text[:MAX_WORDS] + "…"
    package = os.path.dirname(__file__)
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(os.path.dirname(package)) and not f.filename.startswith(package)]
    # A plugin in one file has main.py by another name.
    return text + " (%s, line %d)" % (os.path.basename(own[-1].filename).replace("__main__", "main"), own[-1].lineno) if own else text


def _work(call, verb, function, lenient):
    """Runs the author's function, and sends Done after it."""
    _, source, field, kind = VERBS[verb]
    # Only these are bounded by the host's number of records.
    most = 0 if field in ("verdicts", "findings", "files") else call.max_records
    sink, done = Batcher(call, getattr(pb, kind) if kind else None, _wrap(field) if field else None, most, lenient), pb.Done()
    call.sink = sink if verb == "collect" else None
    try:
        try:
            answer = function(call) if field is None else function(call, call.records() if source is None else call.everything(source), sink.emit)
        except Enough:
            answer = None
        if verb == "check":
            done.checked = answer or ""
        elif verb == "screen" and answer is not None:
            answer = Summary(*answer)
            done.unclear_rules.extend(answer.unclear)
            done.notes.extend(answer.notes)
        elif verb in ("collect", "refresh", "media"):
            done.outcomes.extend(answer or [])
    except Ended:
        return
    except Fault as fault:
        done.error.CopyFrom(pb.Error(fault=fault.fault, message=str(fault), retry_at=fault.retry_at))
    except Exception as error:  # the stage's own; where it happened is for the log
        log("error", "the stage failed", error=repr(error), stack=traceback.format_exc())
        done.error.CopyFrom(pb.Error(fault="internal", message=_said(error)))
    try:
        sink.flush()
        call.send(pb.CallResponse(done=done))
    except Ended:
        pass


def _handler(verb, function, defaults, lenient):
    def handle(requests, context):
        opening = next(requests, None)
        if opening is None or not opening.HasField("open"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be Open")
        call = Call(opening.open, defaults, requests)
        if verb == "check":
            call.timeout, call.once = CHECK_TIMEOUT, True
        context.add_callback(call.over.set)
        threading.Thread(target=_work, args=(call, verb, function, lenient), daemon=True).start()
        while not call.over.is_set():
            try:
                message = call.outgoing.get(timeout=0.2)
            except queue.Empty:
                continue
            yield message
            if message.HasField("done"):
                break
        call.over.set()

    return grpc.stream_stream_rpc_method_handler(handle, pb.CallRequest.FromString, lambda m: m.SerializeToString())


def _credentials():
    """The keys of this run, which the host made; None where it wants no encryption."""
    host, pair = os.environ.get("PLUGIN_CLIENT_CERT"), os.environ.pop("SCROLLERY_PLUGIN_CERT", "")
    if not host:
        return None
    mark = "-----BEGIN EC PRIVATE KEY-----"
    certificate, _, key = pair.partition(mark)
    if not key:
        raise SystemExit("the host offers no key: its version is older than this package")
    return grpc.ssl_server_credentials([((mark + key).encode(), certificate.encode())], host.encode(), True)


def serve(description, lenient=False, **verbs):
    """Serves the stage until the host ends it. It must be the last call of the program.

    The first emit of a value that is beyond its bounds ends the call. If lenient, the host drops,
    cuts or refuses the value, and counts it.
    """
    needed = NEEDED.get(description.kind)
    if needed not in verbs or not set(verbs) <= set(VERBS) or description.kind != "source" and set(verbs) - FOR_ANY != {needed}:
        raise SystemExit("a stage of the kind %r is served with %s" % (description.kind, needed or "one of " + ", ".join(NEEDED)))
    if os.environ.get("SCROLLERY_STAGE") != "research-stage-1":
        print("This is a plugin of Scrollery: put it into the plugin folder, it is not started by hand.", file=sys.stderr)
        sys.exit(1)
    description.refreshes, description.fetches_media, description.checks = "refresh" in verbs, "media" in verbs, "check" in verbs
    defaults = {setting.name: setting.default for setting in description.settings if setting.default}
    over = threading.Event()

    def shutdown(_request, _context):
        over.set()
        return b""

    methods = {VERBS[verb][0]: _handler(verb, function, defaults, lenient) for verb, function in verbs.items()}
    methods["Describe"] = grpc.unary_unary_rpc_method_handler(
        lambda _r, _c: pb.DescribeResponse(description=description), pb.DescribeRequest.FromString, lambda m: m.SerializeToString())
    handlers = (
        grpc.method_handlers_generic_handler(SERVICE, methods),
        # Two small services of go-plugin's and gRPC's own, whose messages are as good as
        # constant: SERVING is field 1 with the value 1.
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(lambda _r, _c: b"\x08\x01")}),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": grpc.unary_unary_rpc_method_handler(shutdown)}),
    )
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[
        ("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)])
    server.add_generic_rpc_handlers(handlers)
    path = os.path.join(os.environ.get("PLUGIN_UNIX_SOCKET_DIR", tempfile.gettempdir()), "python.sock")
    credentials = _credentials()
    if credentials:
        server.add_secure_port("unix:" + path, credentials)
    else:
        server.add_insecure_port("unix:" + path)
    server.start()
    print("1|1|unix|%s|grpc|" % path, flush=True)
    sys.stdout = sys.stderr  # standard output belongs to the handshake
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    over.wait()
    server.stop(0.5).wait()
