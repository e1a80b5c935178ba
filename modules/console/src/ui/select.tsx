// Videos that are chosen in a list, in a table or in a grid, and what is done with them together.
import { useEffect, useState } from "preact/hooks";
import type { Video } from "../../gen/scrollery/v1/library_pb";
import { t } from "../i18n/t";
import { Button } from "./parts";
import { Save } from "./save";
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

export function Chosen({ of }: { of: Selection }) {
  if (of.ids.size === 0) return null;
  return (
    <div class="row" role="group" aria-label={t("select.title")}>
      <Save videos={[...of.ids]} label={t("select.many", { n: of.ids.size })} done={of.clear} />
      <Button kind="quiet" onClick={of.clear}>{t("select.none")}</Button>
    </div>
  );
}
