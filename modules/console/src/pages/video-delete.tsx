// Deleting from the library: what would go is counted first, and a deletion can be undone.
import { useEffect, useState } from "preact/hooks";
import type { DeleteFromLibraryResponse, Deletion } from "../../gen/scrollery/v1/library_deletion_pb";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { dateTime } from "../i18n/format";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { Dialog } from "../ui/dialog";
import { Button, Card } from "../ui/parts";
import { Loading, ProblemView } from "../ui/states";
import { nameOf } from "../ui/video";

type Props = { video: Video; close: () => void; done: (deletion: Deletion) => void };

export function Delete({ video, close, done }: Props) {
  const [all, setAll] = useState(false);
  const [counted, setCounted] = useState<DeleteFromLibraryResponse | null>(null);
  const handle = video.source?.handle?.replace(/^@/, "") ?? "";
  const what = all ? { creator: handle, platform: video.platform } : { videoId: video.id };
  const count = useAction(async () => {
    setCounted(null);
    if (!(await allow(researchScopes))) return close();
    setCounted(await api.library.deleteFromLibrary({ ...what, dryRun: true }));
  });
  const remove = useAction(async () => {
    const { deletion } = await api.library.deleteFromLibrary(what);
    announce(t("delete.done"));
    close();
    if (deletion) done(deletion);
  });
  useEffect(() => { void count.run(); }, [all]);
  return (
    <Dialog title={t("delete.title")} onClose={close}>
      <p class="muted"><bdi>{nameOf(video).slice(0, 120)}</bdi></p>
      {handle && (
        <fieldset class="choices">
          <legend>{t("delete.what")}</legend>
          <label class="choice"><input type="radio" name="what" checked={!all} onChange={() => setAll(false)} /><span>{t("delete.one")}</span></label>
          <label class="choice"><input type="radio" name="what" checked={all} onChange={() => setAll(true)} /><span>{t("delete.all", { name: `@${handle.slice(0, 80)}`, platform: word("platform", video.platform) })}</span></label>
        </fieldset>
      )}
      {counted ? <p role="status">{counted.outcome === "not_found" ? t("video.missing") : t(counted.atLeast ? "delete.atLeast" : "delete.counts", { n: counted.videos, readings: counted.readings })}</p> : count.busy && <Loading lines={1} />}
      <p class="hint">{t(all ? "delete.allHint" : "delete.hint")}</p>
      {[count.problem, remove.problem].map((problem) => problem && <ProblemView key={problem.message} problem={problem} />)}
      <div class="row">
        <Button kind="danger" busy={remove.busy} disabled={!counted || counted.outcome === "not_found"} onClick={() => void remove.run()}>{t("delete.do")}</Button>
        <Button kind="quiet" onClick={close}>{t("state.cancel")}</Button>
      </div>
    </Dialog>
  );
}

/** What was deleted, with the way back. */
export function Deleted({ deletion, undone }: { deletion: Deletion; undone: () => void }) {
  const undo = useAction(async () => {
    if (!(await allow(researchScopes))) return;
    await api.library.undoLibraryDeletion({ id: deletion.id });
    announce(t("delete.undone"));
    undone();
  });
  return (
    <Card>
      <p role="status">{t("delete.done")} {deletion.undoUntil !== undefined && t("delete.until", { at: dateTime(deletion.undoUntil) })}</p>
      {undo.problem && <ProblemView problem={undo.problem} />}
      <Button busy={undo.busy} onClick={() => void undo.run()}>{t("delete.undo")}</Button>
    </Card>
  );
}
