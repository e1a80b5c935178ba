// A brief drafted from a collection: what it costs is said first, and each sentence leads to the
// videos that it rests on.
import { useState } from "preact/hooks";
import type { DraftBriefResponse } from "../../gen/scrollery/v1/briefs_service_pb";
import type { CollectedVideo } from "../../gen/scrollery/v1/collections_service_pb";
import { more } from "../api/more";
import { useAction } from "../api/query";
import { t, word } from "../i18n/t";
import { announce } from "../shell/announce";
import { to } from "../shell/router";
import { Dialog } from "../ui/dialog";
import { Button, Copy, Link } from "../ui/parts";
import { ProblemView } from "../ui/states";
import { nameOf } from "../ui/video";
import { ShareForm } from "./collections-share";

const parts = ["works", "opening", "trend", "make"];

type Props = { collection: string; name: string; videos: CollectedVideo[]; close: () => void };

export function DraftBrief({ collection, name, videos, close }: Props) {
  const [sharing, setSharing] = useState(false);
  const [brief, setBrief] = useState<DraftBriefResponse | null>(null);
  const draft = useAction(async () => {
    const answer = await more.briefs.draftBrief({ collectionId: collection });
    setBrief(answer);
    announce(answer.status === "drafted" ? t("collections.briefRests", { outliers: answer.outliers, hooks: answer.hooks, credits: answer.credits }) : t("collections.briefNone"));
  });
  if (sharing && brief) {
    const shared = { kind: "brief" as const, title: name, sentences: brief.sentences.map((one) => one.text), videoIds: [...new Set(brief.sentences.flatMap((one) => one.videoIds))] };
    return <Dialog title={t("share.title")} onClose={close}><ShareForm of={shared} close={close} /></Dialog>;
  }
  const names = new Map(videos.flatMap(({ item }) => (item?.video ? [[item.video.id, nameOf(item.video).slice(0, 80)] as const] : [])));
  const text = () => parts.flatMap((part) => {
    const said = brief?.sentences.filter((one) => one.part === part) ?? [];
    return said.length > 0 ? [word("briefPart", part), ...said.map((one) => `- ${one.text}`), ""] : [];
  }).join("\n");
  return (
    <Dialog title={t("collections.brief")} onClose={close}>
      {!brief && <p>{t("collections.briefText")}</p>}
      {brief && brief.status !== "drafted" && <p>{t("collections.briefNone")}</p>}
      {brief?.status === "drafted" && (
        <div class="drafted" tabIndex={0} role="group" aria-label={t("collections.brief")}>
          <p class="muted">{t("collections.briefRests", { outliers: brief.outliers, hooks: brief.hooks, credits: brief.credits })}</p>
          {parts.map((part) => {
            const said = brief.sentences.filter((one) => one.part === part);
            return said.length > 0 && (
              <section key={part}>
                <h3>{word("briefPart", part)}</h3>
                <ul class="bullets">
                  {said.map((one) => (
                    <li key={one.text}>
                      <bdi lang="en">{one.text}</bdi>
                      <div class="row tight small">{one.videoIds.map((id) => <Link key={id} href={to("library", id)}><bdi>{names.get(id) ?? t("table.video")}</bdi></Link>)}</div>
                    </li>
                  ))}
                </ul>
              </section>
            );
          })}
          {brief.notes.length > 0 && <ul class="bullets muted small" lang="en">{brief.notes.map((note) => <li key={note}>{note}</li>)}</ul>}
        </div>
      )}
      {draft.problem && <ProblemView problem={draft.problem} />}
      <div class="row">
        {brief?.status === "drafted" ? <><Copy text={text()} /><Button onClick={() => setSharing(true)}>{t("share.do")}</Button></> : !brief && <Button kind="primary" busy={draft.busy} onClick={() => void draft.run()}>{t("collections.briefDo")}</Button>}
        <Button kind="quiet" onClick={close}>{t(brief ? "save.close" : "state.cancel")}</Button>
      </div>
    </Dialog>
  );
}
