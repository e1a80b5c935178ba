"""The messages of the protocol. Nothing is generated: they are made from its descriptors."""

import pkgutil

from google.protobuf import descriptor_pb2, descriptor_pool

try:  # protobuf 4.22 and later
    from google.protobuf.message_factory import GetMessageClass as _message_class
except ImportError:
    from google.protobuf.message_factory import MessageFactory

    _message_class = MessageFactory().GetPrototype

PACKAGE = "scrollery.stage.v1"


class Messages:
    """Has the class of each message by its name, as pb.Record."""

    def __init__(self):
        published = descriptor_pb2.FileDescriptorSet.FromString(pkgutil.get_data(__package__, "stage.binpb"))
        self._files = {f.name: f for f in published.file if f.package == PACKAGE}
        self._pool, self._added, self._known = descriptor_pool.DescriptorPool(), set(), {}
        for file in self._files.values():
            self._add(file)

    def _add(self, file):
        """Adds a file after those that it needs.

        They are of edition 2023, which older releases of protobuf do not know. As proto2,
        whose fields all have presence, they mean the same bytes.
        """
        if file.name in self._added:
            return
        self._added.add(file.name)
        for name in file.dependency:
            self._add(self._files[name])
        plain = descriptor_pb2.FileDescriptorProto()
        plain.CopyFrom(file)
        plain.syntax = "proto2"
        plain.ClearField("options")
        plain.ClearField("service")
        self._pool.Add(plain)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._known:
            try:
                self._known[name] = _message_class(self._pool.FindMessageTypeByName(PACKAGE + "." + name))
            except KeyError as error:
                raise AttributeError("the protocol has no message " + name) from error
        return self._known[name]


pb = Messages()
