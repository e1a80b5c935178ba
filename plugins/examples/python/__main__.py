"""A source in Python: it finds the videos that somebody noted down.

The setting `links` names a text file with one address of a video a line.
"""

import re

from scrollery_stage import Fault, pb, serve

FORMS = (
    ("youtube", re.compile(r"^https://(?:www\.)?youtube\.com/shorts/([0-9A-Za-z_-]{11})\b")),
    ("tiktok", re.compile(r"^https://(?:www\.)?tiktok\.com/@[^/]+/video/([0-9]{1,25})\b")),
    ("instagram", re.compile(r"^https://(?:www\.)?instagram\.com/reel/([0-9A-Za-z_-]{1,40})\b")),
)

DESCRIPTION = pb.Description(
    id="links", version="0.1.0", kind="source", summary="Finds the videos whose addresses stand in a file.",
    platforms=[name for name, _ in FORMS],
    settings=[pb.Setting(name="links", path=True, help="A text file with an address a line.")],
    programs=["openssl"],  # for the certificate of the handshake
)


def read(line):
    """The video that a line names, or None."""
    for platform, form in FORMS:
        found = form.match(line)
        if found:
            return pb.Ref(platform=platform, external_id=found.group(1))
    return None


def collect(call, _seeds, emit):
    """Ignores the seeds: the file is what it is asked for, whatever the brief says."""
    path = call.settings.get("links", "")
    if not path:
        raise Fault("misconfigured", "the setting links is missing")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file]
    except OSError as error:
        raise Fault("misconfigured", "links: " + error.strerror)
    asked, found = 0, {}
    for line in lines:
        if not line or line.startswith("#"):
            continue
        asked += 1
        ref = read(line)
        if ref is not None and len(found) < call.max_records:
            found[ref.platform, ref.external_id] = (ref, line)
    for ref, address in found.values():
        emit(pb.Record(ref=ref, source_url=address, seed="links"))
    returned = {platform: sum(1 for name, _ in found if name == platform) for platform, _ in FORMS}
    return [
        pb.Outcome(seed="links", platform=platform, status="ok", asked=asked, returned=count)
        for platform, count in returned.items() if count
    ]


if __name__ == "__main__":
    serve(DESCRIPTION, collect)
