// Videos that are chosen in a list, in a table or in a grid, and what is done with them together.
import { useEffect, useState } from "preact/hooks";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { allow, api } from "../api/client";
import { useAction } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { Button } from "./parts";
import { Save } from "./save";
import { ProblemView } from "./states";
import { nameOf } from "./video";

export type Selection = {
  ids: Set<string>;
  choose: (id: string, yes: boolean) => void;
  clear: () => void;
};

/** A selection of a list, which is empty again when what the list shows changes. */
export function useSelection(inputs: unknown[]): Selection {
  const [ids, setIds] = useState(new Set<string>());
  const clear = () => setIds(new Set());
  useEffect(clear, inputs); // what is not shown is not saved
  const choose = (id: string, yes: boolean) => setIds((before) => {
    const next = new Set(before);
    if (yes) next.add(id);
    else next.delete(id);
    return next;
  });
  return { ids, choose, clear };
}

export function Choose({ video, of }: { video: Video; of: Selection }) {
  return <input type="checkbox" class="choose-one" checked={of.ids.has(video.id)} onChange={(event) => of.choose(video.id, event.currentTarget.checked)} aria-label={t("select.one", { name: nameOf(video).slice(0, 60) })} />;
}

/** What can be done with what is chosen. `changed`: videos were archived or restored. */
export function Chosen({ of, changed }: { of: Selection; changed: () => void }) {
  const [archived, setArchived] = useState<string[]>([]);
  const archive = useAction(async (ids: string[], yes: boolean) => {
    if (!(await allow(researchScopes))) return;
    try {
      for (const videoId of ids) await api.library.archiveLibraryVideo({ videoId, archived: yes });
      setArchived(yes ? ids : []);
      announce(t(yes ? "select.archived" : "select.restored", { n: ids.length }));
      of.clear();
    } finally {
      changed();
    }
  });
  const n = of.ids.size;
  if (n === 0 && archived.length === 0 && !archive.problem) return null;
  return (
    <div class="row" role="group" aria-label={t("select.title")}>
      {n > 0 && (
        <>
          <Save videos={[...of.ids]} label={t("select.many", { n })} done={of.clear} />
          <Button busy={archive.busy} onClick={() => void archive.run([...of.ids], true)}>{t("select.archive", { n })}</Button>
          <Button kind="quiet" onClick={of.clear}>{t("select.none")}</Button>
        </>
      )}
      {n === 0 && archived.length > 0 && <><p>{t("select.archived", { n: archived.length })}</p><Button busy={archive.busy} onClick={() => void archive.run(archived, false)}>{t("collections.undo")}</Button></>}
      {archive.problem && <ProblemView problem={archive.problem} />}
    </div>
  );
}
