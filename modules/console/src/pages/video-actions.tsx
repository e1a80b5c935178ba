// What a person does with a video: archive, restore, annotate.
import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import type { Deletion } from "../../gen/scrollery/v1/library_deletion_pb";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { Dialog } from "../ui/dialog";
import { TextArea } from "../ui/input";
import { Button, Field } from "../ui/parts";
import { Save } from "../ui/save";
import { Share } from "../ui/share";
import { ProblemView } from "../ui/states";
import { nameOf } from "../ui/video";
import { Delete, Deleted } from "./video-delete";

/** Archives a video or restores it. */
export function useArchive(done: (video: Video, archived: boolean) => void) {
  return useAction(async (video: Video, archived: boolean) => {
    if (!(await allow(researchScopes))) return;
    const { outcome } = await api.library.archiveLibraryVideo({ videoId: video.id, archived });
    if (outcome !== "updated") throw new Error(t("video.missing"));
    announce(t(archived ? "video.archivedNow" : "video.restoredNow"));
    done(video, archived);
  });
}

export function VideoActions({ video, archived, done }: { video: Video; archived: boolean; done: () => void }) {
  const shared = { kind: "video" as const, id: video.id, title: nameOf(video) };
  const archive = useArchive(done);
  const [annotating, setAnnotating] = useState(false);
  const [deleting, setDeleting] = useState(false);
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  if (deletion) return <Deleted deletion={deletion} undone={() => { setDeletion(null); done(); }} />;
  return (
    <>
      <div class="row">
        <Save videos={[video.id]} share={shared} />
        <Share of={shared} />
        <Button data-key="e" onClick={() => void archive.run(video, !archived)} busy={archive.busy}>{t(archived ? "video.restore" : "video.archive")}</Button>
        <Button onClick={() => setAnnotating(true)}>{t("video.annotate")}</Button>
        <Button kind="danger" onClick={() => setDeleting(true)}>{t("delete.open")}</Button>
      </div>
      {archive.problem && <ProblemView problem={archive.problem} />}
      {video.agentMetadata && <Notes notes={video.agentMetadata} />}
      {deleting && <Delete video={video} close={() => setDeleting(false)} done={setDeletion} />}
      {annotating && <Annotate video={video} close={() => setAnnotating(false)} done={done} />}
    </>
  );
}

function Notes({ notes }: { notes: JsonObject }) {
  return (
    <dl class="notes">
      {Object.entries(notes).map(([name, value]) => <div key={name}><dt><bdi>{name}</bdi></dt><dd><bdi>{Array.isArray(value) ? value.join(", ") : String(value)}</bdi></dd></div>)}
    </dl>
  );
}

/** "name: text", a line each; a repeated name is a list. */
export function notesToText(notes: JsonObject | undefined): string {
  return Object.entries(notes ?? {}).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${name}: ${String(one)}`)).join("\n");
}

/** The opposite; null without notes. Lines without a name are notes named "note". */
export function notesFromText(text: string): JsonObject | null {
  const notes = new Map<string, string[]>();
  for (const line of text.split("\n").map((one) => one.trim()).filter(Boolean)) {
    const cut = line.indexOf(":");
    const name = cut > 0 ? line.slice(0, cut).trim() : "note";
    notes.set(name, [...(notes.get(name) ?? []), line.slice(cut > 0 ? cut + 1 : 0).trim()]);
  }
  if (notes.size === 0) return null;
  return Object.fromEntries([...notes].map(([name, texts]) => [name, texts.length === 1 ? (texts[0] ?? "") : texts]));
}

export function Annotate({ video, close, done }: { video: Video; close: () => void; done: (video: Video) => void }) {
  const [text, setText] = useState(notesToText(video.agentMetadata));
  const save = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    const answer = await api.library.annotateLibraryVideo({ videoId: video.id, agentMetadata: fromJson(ValueSchema, notesFromText(text)) });
    announce(t("video.annotated"));
    close();
    done(answer.video ?? video);
  });
  return (
    <Dialog title={t("video.annotate")} onClose={close}>
      <p class="muted"><bdi>{nameOf(video).slice(0, 120)}</bdi></p>
      <form onSubmit={(event) => { event.preventDefault(); void save.run(); }}>
        <Field label={t("video.notes")} hint={t("video.notesHint")}>
          {(ids) => <TextArea rows={5} value={text} maxLength={20000} onText={setText} {...ids} />}
        </Field>
        {save.problem && <ProblemView problem={save.problem} />}
        <div class="row">
          <Button type="submit" kind="primary" busy={save.busy}>{t("video.notesSave")}</Button>
          <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
        </div>
      </form>
    </Dialog>
  );
}
