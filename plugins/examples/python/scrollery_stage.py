"""What a stage in Python needs of the protocol, in one file.

It serves scrollery.stage.v1.StageService the way HashiCorp's go-plugin asks for.
Nothing is generated: the messages are made from the published descriptors.
"""

import base64
import json
import os
import pkgutil
import queue
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
from concurrent import futures

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool

try:  # protobuf 4.22 and later
    from google.protobuf.message_factory import GetMessageClass as _message_class
except ImportError:
    from google.protobuf.message_factory import MessageFactory

    _message_class = MessageFactory().GetPrototype

SERVICE = "scrollery.stage.v1.StageService"
MAX_MESSAGE = 8 << 20
BATCH = 50


def _messages():
    """Reads the descriptors that lie in the same archive.

    They are of edition 2023, which Debian's protobuf does not know. As proto2,
    whose fields all have presence, they mean the same bytes.
    """
    published = descriptor_pb2.FileDescriptorSet.FromString(pkgutil.get_data(__name__, "descriptors.binpb"))
    files = {f.name: f for f in published.file if f.package == "scrollery.stage.v1"}
    pool, added = descriptor_pool.DescriptorPool(), set()

    def add(file):
        if file.name in added:
            return
        added.add(file.name)
        for name in file.dependency:
            add(files[name])
        plain = descriptor_pb2.FileDescriptorProto()
        plain.CopyFrom(file)
        plain.syntax = "proto2"
        plain.ClearField("options")
        pool.Add(plain)

    for file in files.values():
        add(file)

    class Messages:
        def __getattr__(self, name):
            return _message_class(pool.FindMessageTypeByName("scrollery.stage.v1." + name))

    return Messages()


pb = _messages()


class Fault(Exception):
    """An error that says whose fault it is: busy, quota, refused, not_found, misconfigured."""

    def __init__(self, fault, message, retry_at=0):
        super().__init__(message)
        self.fault, self.retry_at = fault, retry_at


class Call:
    """What a stage knows of the call that it works on."""

    def __init__(self, opening, send):
        self.run, self.scratch, self.proxy = opening.run, opening.scratch, opening.proxy
        self.settings, self.secrets = dict(opening.settings), dict(opening.secrets)
        self.max_records = opening.max_records
        self._send = send

    def progress(self, note):
        """Says that the stage is still at it; one that is silent for too long is ended."""
        self._send(pb.CallResponse(progress=pb.Progress(note=note)))


def log(level, message, **fields):
    print(json.dumps({"@level": level, "@message": message, **fields}), file=sys.stderr, flush=True)


def _collect(collect):
    """Serves a function of (call, seeds, emit) that answers outcomes."""

    def handler(requests, context):
        opening = next(requests, None)
        if opening is None or not opening.HasField("open"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be Open")
        seeds = []
        for request in requests:
            seeds.extend(request.input.seeds)
            if request.input.last:
                break
        yield from _answers(lambda call, emit: collect(call, seeds, emit), opening.open)

    return handler


class Ended(Exception):
    """The host has ended the call: whoever emits stops."""


def _answers(work, opening):
    """Runs the author's function in a thread of its own and yields what it says."""
    outgoing, over = queue.Queue(maxsize=16), threading.Event()

    def send(message):
        while not over.is_set():
            try:
                return outgoing.put(message, timeout=0.2)  # the host may be busy
            except queue.Full:
                continue
        raise Ended()

    batch = []

    def flush():
        if batch:
            send(pb.CallResponse(records=pb.Records(records=batch)))
            batch.clear()

    def emit(record):
        batch.append(record)
        if len(batch) == BATCH:
            flush()

    def run():
        done = pb.Done()
        try:
            done.outcomes.extend(work(Call(opening, send), emit))
        except Ended:
            return
        except Fault as fault:
            done.error.CopyFrom(pb.Error(fault=fault.fault, message=str(fault), retry_at=fault.retry_at))
        except Exception as error:  # the stage's own
            log("error", "the stage broke", error=repr(error))
            done.error.CopyFrom(pb.Error(fault="internal", message=str(error)))
        try:
            flush()
            send(pb.CallResponse(done=done))
        except Ended:
            pass

    threading.Thread(target=run, daemon=True).start()
    try:
        while True:
            message = outgoing.get()
            yield message
            if message.HasField("done"):
                return
    finally:
        over.set()


def _certificate():
    """A certificate for this run alone, and its key, as PEM."""
    with tempfile.TemporaryDirectory() as folder:
        key, certificate = os.path.join(folder, "key"), os.path.join(folder, "certificate")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
             "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=DNS:localhost"],
            check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with open(key, "rb") as k, open(certificate, "rb") as c:
            return k.read(), c.read()


def _raw(handler):
    return grpc.unary_unary_rpc_method_handler(handler)


def serve(description, collect):
    """Serves a source until the host is done with it; main calls it and nothing else."""
    if os.environ.get("SCROLLERY_STAGE") != "research-stage-1":
        print("This is a plugin of Scrollery: put it into the plugin folder, it is not started by hand.", file=sys.stderr)
        sys.exit(1)
    over = threading.Event()

    def describe(_request, _context):
        return pb.DescribeResponse(description=description)

    def shutdown(_request, _context):
        over.set()
        return b""

    handlers = (
        grpc.method_handlers_generic_handler(SERVICE, {
            "Describe": grpc.unary_unary_rpc_method_handler(
                describe, pb.DescribeRequest.FromString, lambda m: m.SerializeToString()),
            "Collect": grpc.stream_stream_rpc_method_handler(
                _collect(collect), pb.CallRequest.FromString, lambda m: m.SerializeToString()),
        }),
        # Two small services of go-plugin's and gRPC's own, whose messages are as
        # good as constant: SERVING is field 1 with the value 1.
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": _raw(lambda _r, _c: b"\x08\x01")}),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": _raw(shutdown)}),
    )
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[
        ("grpc.max_receive_message_length", MAX_MESSAGE), ("grpc.max_send_message_length", MAX_MESSAGE)])
    server.add_generic_rpc_handlers(handlers)
    # A name of its own in a folder that is this call's alone.
    path = os.path.join(os.environ.get("PLUGIN_UNIX_SOCKET_DIR", tempfile.gettempdir()), "python.sock")
    client, encoded = os.environ.get("PLUGIN_CLIENT_CERT"), ""
    if client:
        key, certificate = _certificate()
        encoded = base64.b64encode(ssl.PEM_cert_to_DER_cert(certificate.decode())).decode().rstrip("=")
        credentials = grpc.ssl_server_credentials([(key, certificate)], client.encode(), True)
        server.add_secure_port("unix:" + path, credentials)
    else:
        server.add_insecure_port("unix:" + path)
    server.start()
    print("1|1|unix|%s|grpc|%s" % (path, encoded), flush=True)
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    over.wait()
    server.stop(0.5).wait()
