// The inside of the dialog that saves videos: one press on a collection saves, and what was done
// can be undone.
import { useState } from "preact/hooks";
import type { Collection } from "../../gen/scrollery/v1/collections_service_pb";
import { allow } from "../api/client";
import { more } from "../api/more";
import { useAction, useQuery } from "../api/query";
import { researchScopes } from "../api/session";
import { t } from "../i18n/t";
import { announce } from "../shell/announce";
import { navigate, to } from "../shell/router";
import { Input } from "../ui/input";
import { Button, Field } from "../ui/parts";
import type { Shared } from "../ui/share";
import { ProblemView, Show } from "../ui/states";
import { allCollections } from "./collections-read";
import { ShareForm } from "./collections-share";

/** The most videos of one call. */
const most = 100;

type Saved = { collection: Collection; added: number; missing: number };

type Props = { videos: string[]; share?: Shared | undefined; close: (saved: boolean) => void };

export function SaveTo({ videos, share, close }: Props) {
  const collections = useQuery(allCollections, []);
  const [name, setName] = useState("");
  const [saved, setSaved] = useState<Saved | null>(null);
  const save = useAction(async (into: Collection | string) => {
    if (!(await allow(researchScopes))) return;
    const collection = typeof into === "string" ? (await more.collections.createCollection({ name: into })).collection : into;
    if (!collection) return;
    const all: Saved = { collection, added: 0, missing: 0 };
    for (let i = 0; i < videos.length; i += most) {
      const answer = await more.collections.addToCollection({ id: collection.id, videoIds: videos.slice(i, i + most) });
      if (!answer.found) throw new Error(t("collections.missing"));
      if (answer.collection) all.collection = answer.collection;
      all.added += answer.added;
      all.missing += answer.missing.length;
    }
    announce(t("save.done", { name: collection.name }));
    setSaved(all);
  });
  if (saved) return <Done saved={saved} videos={videos} share={share} close={close} />;
  return (
    <>
      <Show of={collections}>
        {(list) => (
          <>
            {list.length > 0 && (
              <ul class="choose" aria-label={t("save.choose")}>
                {list.map((one) => <li key={one.id}><Button busy={save.busy} onClick={() => void save.run(one)}><bdi>{one.name}</bdi> <small>{t("collections.videos", { n: one.videos })}</small></Button></li>)}
              </ul>
            )}
            <form onSubmit={(event) => { event.preventDefault(); void save.run(name.trim() || t("save.first")); }}>
              <Field label={t("collections.new")}>
                {(ids) => <Input value={name} onText={setName} maxLength={100} placeholder={t("save.first")} required={list.some((one) => one.name === t("save.first"))} {...ids} />}
              </Field>
              {save.problem && <ProblemView problem={save.problem} />}
              <div class="row">
                <Button type="submit" kind={list.length === 0 ? "primary" : undefined} busy={save.busy}>{t("save.new")}</Button>
                <Button kind="quiet" onClick={() => close(false)}>{t("state.cancel")}</Button>
              </div>
            </form>
          </>
        )}
      </Show>
    </>
  );
}

function Done({ saved: { collection, added, missing }, videos, share, close }: Props & { saved: Saved }) {
  const [sharing, setSharing] = useState(false);
  const undo = useAction(async () => {
    for (let i = 0; i < videos.length; i += most) await more.collections.removeFromCollection({ id: collection.id, videoIds: videos.slice(i, i + most) });
    announce(t("save.undone"));
    close(false);
  });
  const { name } = collection;
  return (
    <>
      <p role="status"><bdi>{added === videos.length ? t("save.done", { name }) : added > 0 || videos.length > 1 ? t("save.some", { added, n: videos.length, name }) : missing > 0 ? "" : t("save.there", { name })}</bdi> {missing > 0 && t("save.gone", { n: missing })}</p>
      {sharing && <><h3>{t("share.title")}</h3><ShareForm of={share ?? { kind: "collection", id: collection.id, title: name, videos: collection.videos }} close={() => close(true)} /></>}
      {undo.problem && <ProblemView problem={undo.problem} />}
      {!sharing && <div class="row">
        <Button kind="primary" onClick={() => close(true)}>{t("save.close")}</Button>
        <Button onClick={() => setSharing(true)}>{t(share ? "share.do" : "share.doCollection")}</Button>
        <Button onClick={() => { close(true); navigate(to("collections", collection.id)); }}>{t("save.open")}</Button>
        {/* Some of them may have been there before: an undo must not take those out. */}
        {added === videos.length && <Button busy={undo.busy} onClick={() => void undo.run()}>{t("collections.undo")}</Button>}
      </div>}
    </>
  );
}
