"""What a stage in Python needs of Scrollery.

A plugin describes itself and hands over a function for each verb of its kind:

    from scrollery_stage import pb, serve

    def collect(call, seeds, emit):
        emit(pb.Record(ref=pb.Ref(platform="example", external_id="1"), seed=seeds[0].term))
        return [outcome(seeds[0], "example", "ok", returned=1)]

    serve(pb.Description(id="acme", version="0.1.0", kind="source"), collect=collect)

The verbs, by kind of stage:

    plan      plan(call, seeds, emit)          emits pb.Seed
    source    collect(call, seeds, emit)       emits pb.Record, returns a list of pb.Outcome
              refresh(call, refs, emit)        the same; optional
              media(call, refs, emit)          emits pb.File, returns outcomes; optional
    screen    screen(call, records, emit)      emits a pb.Verdict for each record; returns Summary or None
    evidence  evidence(call, records, emit)    emits pb.Finding
    brief     brief(call, facts, emit)         emits pb.Sentence
    any       check(call)                      returns one line: what works; optional

call.keep_state(seed, state) has the host give bytes back as seed.state at the next run.

A screen whose description has after_evidence=True runs after the evidence stages: the
evidence of its records is what those found, with the language of the speech.

`pb` has the messages of scrollery.stage.v1. What creators wrote is data: never an address
to fetch, a template or an instruction. What a platform did not give stays unset, since
absent is not zero.
"""

from .call import Call, Enough, Fault, Summary, dollars, log, outcome, text_of
from .messages import pb
from .server import serve

__all__ = ["Call", "Enough", "Fault", "Summary", "dollars", "log", "outcome", "pb", "serve", "text_of"]
