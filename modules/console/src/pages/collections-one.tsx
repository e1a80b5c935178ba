// One collection: its videos in the person's order, with notes. What changes an order or takes a
// video out is shown at once when the server has it.
import { useEffect, useRef, useState } from "preact/hooks";
import type { CollectedVideo, Collection } from "../../gen/scrollery/v1/collections_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { compact, number } from "../i18n/format";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, to } from "../shell/router";
import { Dialog } from "../ui/dialog";
import { Input, TextArea } from "../ui/input";
import { Back, Button, Card, Field, Link, PageHead, Quote } from "../ui/parts";
import { Share } from "../ui/share";
import { Empty, ProblemView, Show } from "../ui/states";
import { Byline, Name, nameOf } from "../ui/video";
import { DraftBrief } from "./collections-brief";
import { wholeCollection, type Whole } from "./collections-read";
import { saveCsv } from "./library-csv";

export function OneCollection({ id }: { id: string }) {
  const read = useQuery((signal) => wholeCollection(id, signal), [id]);
  return (
    <>
      <Back href={to("collections")}>{t("nav.collections")}</Back>
      <Show of={read} lines={8}>
        {(whole) => whole
          ? <Found whole={whole} reload={read.reload} />
          : <><PageHead title={t("collections.missing")} /><Empty title={t("collections.missing")} text={t("collections.missingText")} /></>}
      </Show>
    </>
  );
}

type Removed = { item: CollectedVideo; at: number };

const idOf = (one: CollectedVideo) => one.item?.video?.id ?? "";

function Found({ whole, reload }: { whole: Whole; reload: () => void }) {
  const { collection } = whole;
  const [items, setItems] = useState(whole.videos);
  useEffect(() => setItems(whole.videos), [whole]);
  const [open, setOpen] = useState<"edit" | "delete" | "brief" | CollectedVideo | null>(null);
  const [removed, setRemoved] = useState<Removed | null>(null);
  const dragged = useRef(-1);
  const list = useRef<HTMLOListElement>(null);
  const id = collection.id;

  const move = useAction(async (from: number, place: number) => {
    const [item, anchor] = [items[from], items[place]];
    if (!item || !anchor || from === place || !(await allow(researchScopes))) return;
    const beside = place > from ? { after: idOf(anchor) } : { before: idOf(anchor) };
    const { found } = await more.collections.moveInCollection({ id, videoId: idOf(item), ...beside });
    if (!found) return reload(); // another tab has taken one of them out
    const next = items.filter((one) => one !== item);
    next.splice(place, 0, item);
    setItems(next);
    announce(t("collections.moved", { place: place + 1, n: next.length }));
  });
  /** Moves by a button, which keeps the focus; at the end of the list the other one takes it. */
  const step = async (from: number, by: 1 | -1) => {
    if (!(await move.run(from, from + by))) return;
    requestAnimationFrame(() => {
      const buttons = list.current?.children[from + by]?.querySelectorAll<HTMLButtonElement>("button.place");
      const [up, down] = [buttons?.[0], buttons?.[1]];
      const wanted = by < 0 ? up : down;
      (wanted?.disabled ? (wanted === up ? down : up) : wanted)?.focus();
    });
  };
  const remove = useAction(async (item: CollectedVideo, at: number) => {
    if (!(await allow(researchScopes))) return;
    await more.collections.removeFromCollection({ id, videoIds: [idOf(item)] });
    setItems(items.filter((one) => one !== item));
    setRemoved({ item, at });
    announce(t("collections.removed"));
  });
  const undo = useAction(async ({ item, at }: Removed) => {
    if (!(await allow(researchScopes))) return;
    await more.collections.addToCollection({ id, videoIds: [idOf(item)], note: item.note || undefined });
    const follower = items[at];
    if (follower) await more.collections.moveInCollection({ id, videoId: idOf(item), before: idOf(follower) });
    setItems([...items.slice(0, at), item, ...items.slice(at)]);
    setRemoved(null);
    announce(t("collections.undone"));
  });
  const csv = () => {
    const notes = new Map(items.map((one) => [idOf(one), one.note]));
    saveCsv(items.flatMap((one) => (one.item?.video ? [{ video: one.item.video }] : [])), "scrollery-collection.csv", notes);
  };
  return (
    <>
      <PageHead title={collection.name}>
        <Button onClick={() => setOpen("edit")}>{t("collections.edit")}</Button>
        <Button kind="danger" onClick={() => setOpen("delete")}>{t("collections.delete")}</Button>
      </PageHead>
      {collection.note && <Quote text={collection.note} lines={6} />}
      <Card>
        <div class="row between">
          <p class="muted" role="status">{t("collections.videos", { n: items.length })}</p>
          <div class="row tight">
            <Share of={{ kind: "collection", id, title: collection.name, videos: items.length }} disabled={items.length === 0} />
            <Button disabled={items.length === 0} onClick={() => setOpen("brief")}>{t("collections.brief")}</Button>
            <Button disabled={items.length === 0} onClick={csv}>{t("collections.csv")}</Button>
          </div>
        </div>
        {removed && <div class="row"><p>{t("collections.removed")}</p><Button busy={undo.busy} onClick={() => void undo.run(removed)}>{t("collections.undo")}</Button></div>}
        {[move.problem, remove.problem, undo.problem].map((problem, i) => problem && <ProblemView key={i} problem={problem} />)}
        {items.length === 0 ? <Empty title={t("collections.empty")} text={t("collections.emptyText")} /> : (
          <>
            <p class="hint">{t("collections.order")}</p>
            <ol class="collected" ref={list}>
              {items.map((one, i) => {
                const { video, score } = one.item ?? {};
                if (!video) return null;
                const name = nameOf(video).slice(0, 60);
                return (
                  <li
                    key={video.id} draggable onDragStart={(event) => { dragged.current = i; event.dataTransfer?.setData("text/plain", name); }}
                    onDragOver={(event) => { if (dragged.current >= 0) event.preventDefault(); }} onDragEnd={() => { dragged.current = -1; }}
                    onDrop={(event) => { event.preventDefault(); void move.run(dragged.current, i); dragged.current = -1; }}
                  >
                    <div class="ranked-body">
                      <Link class="name" href={to("library", video.id)}><Name video={video} /></Link>
                      <Byline video={video} />
                      <p class="muted">{score !== undefined && `${number(score, 1)}× · `}{video.metrics?.views === undefined ? "–" : t("hooks.views", { views: compact(video.metrics.views) })}</p>
                      {one.note && <Quote text={one.note} lines={3} />}
                    </div>
                    <div class="row tight">
                      <button type="button" class="button place" disabled={i === 0 || move.busy} aria-label={`${t("collections.up")}: ${name}`} onClick={() => void step(i, -1)}>↑</button>
                      <button type="button" class="button place" disabled={i === items.length - 1 || move.busy} aria-label={`${t("collections.down")}: ${name}`} onClick={() => void step(i, 1)}>↓</button>
                      <Button kind="quiet" aria-label={`${t("collections.videoNote")}: ${name}`} onClick={() => setOpen(one)}>{t("collections.videoNote")}</Button>
                      <Button kind="quiet" disabled={remove.busy} aria-label={`${t("collections.remove")}: ${name}`} onClick={() => void remove.run(one, i)}>{t("collections.remove")}</Button>
                    </div>
                  </li>
                );
              })}
            </ol>
          </>
        )}
      </Card>
      {open === "edit" && <Edit collection={collection} close={() => setOpen(null)} done={reload} />}
      {open === "delete" && <Delete collection={collection} close={() => setOpen(null)} />}
      {open === "brief" && <DraftBrief collection={id} name={collection.name} videos={items} close={() => setOpen(null)} />}
      {open && typeof open === "object" && <Note collection={id} of={open} close={() => setOpen(null)} done={(note) => setItems(items.map((one) => (one === open ? { ...one, note } : one)))} />}
    </>
  );
}

function Edit({ collection, close, done }: { collection: Collection; close: () => void; done: () => void }) {
  const [name, setName] = useState(collection.name);
  const [note, setNote] = useState(collection.note);
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await more.collections.updateCollection({ id: collection.id, name: name.trim(), note: note.trim() });
    announce(t("collections.saved"));
    close();
    done();
  });
  return (
    <Dialog title={t("collections.edit")} onClose={close}>
      <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        <Field label={t("collections.name")}>{(ids) => <Input value={name} onText={setName} required maxLength={100} {...ids} />}</Field>
        <Field label={t("collections.note")}>{(ids) => <TextArea rows={3} value={note} onText={setNote} maxLength={2000} {...ids} />}</Field>
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="row">
          <Button type="submit" kind="primary" busy={save.busy} disabled={!name.trim()}>{t("collections.save")}</Button>
          <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
        </div>
      </form>
    </Dialog>
  );
}

function Delete({ collection, close }: { collection: Collection; close: () => void }) {
  const remove = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await more.collections.deleteCollection({ id: collection.id });
    announce(t("collections.deleted"));
    close();
    navigate(to("collections"));
  });
  return (
    <Dialog title={t("collections.delete")} onClose={close}>
      <p>{t("collections.deleteText", { name: collection.name })}</p>
      {remove.problem && <ProblemView problem={remove.problem} />}
      <div class="row">
        <Button kind="danger" busy={remove.busy} onClick={() => void remove.run()}>{t("delete.do")}</Button>
        <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
      </div>
    </Dialog>
  );
}

function Note({ collection, of, close, done }: { collection: string; of: CollectedVideo; close: () => void; done: (note: string) => void }) {
  const [note, setNote] = useState(of.note);
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await more.collections.addToCollection({ id: collection, videoIds: [idOf(of)], note: note.trim() });
    announce(t("collections.noted"));
    done(note.trim());
    close();
  });
  return (
    <Dialog title={t("collections.videoNote")} onClose={close}>
      <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        {of.item?.video && <p class="muted"><bdi>{nameOf(of.item.video).slice(0, 120)}</bdi></p>}
        <Field label={t("collections.videoNote")} hint={t("collections.videoNoteHint")}>{(ids) => <TextArea rows={3} value={note} onText={setNote} maxLength={1000} {...ids} />}</Field>
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="row">
          <Button type="submit" kind="primary" busy={save.busy}>{t("collections.save")}</Button>
          <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
        </div>
      </form>
    </Dialog>
  );
}
